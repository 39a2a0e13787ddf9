"""Many mutated sequences at once: as one block of letters, without a Python string for each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def substituted(sequence: str, count: int, row: np.ndarray, position: np.ndarray, letters: str) -> pa.Array:
    """`count` copies of the sequence, with `letters[i]` at `position[i]` (from 1) of copy `row[i]`, as Arrow text."""
    block = np.tile(np.frombuffer(sequence.encode(), np.uint8), (count, 1))
    block[row, position - 1] = np.frombuffer(letters.encode(), np.uint8)
    return _as_text(block)


def shortened(sequence: str, position: np.ndarray) -> pa.Array:
    """For each position (from 1) the sequence without its residue, as Arrow text."""
    whole = np.frombuffer(sequence.encode(), np.uint8)
    keep = np.ones((len(position), len(whole)), bool)
    keep[np.arange(len(position)), position - 1] = False
    return _as_text(np.tile(whole, (len(position), 1))[keep].reshape(len(position), len(whole) - 1))


def _as_text(block: np.ndarray) -> pa.Array:
    count, width = block.shape
    offsets = np.arange(count + 1, dtype=np.int64) * width
    return pa.Array.from_buffers(pa.large_string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(block)])
