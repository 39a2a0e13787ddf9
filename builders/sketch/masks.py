"""Masks on the canvas as COCO's compressed run lengths, and boxes around them. Runs go down the columns."""

from __future__ import annotations

from typing import Any

import numpy as np


def encode(mask: np.ndarray) -> str:
    """The run lengths of bool (height, width), as text."""
    import rlemasklib

    rle: Any = rlemasklib.encode(np.ascontiguousarray(mask).view(np.uint8))
    return rle["counts"].decode("ascii")


def decode(counts: str, height: int, width: int) -> np.ndarray:
    """bool (height, width) of run lengths that `encode` made."""
    import rlemasklib

    return rlemasklib.decode({"size": [height, width], "counts": counts.encode("ascii")}) > 0


def box(mask: np.ndarray) -> list[float]:
    """x, y, width, height around the pixels of a mask that has some."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    sides = columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1
    return [float(value) for value in (columns[0], rows[0], *sides)]
