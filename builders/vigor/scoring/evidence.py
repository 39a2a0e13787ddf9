"""Evidence of a model in one form: groups of pixels that have one value.

A heat map of 24 x 24 says nothing finer than its cells, so it is not smoothed onto the picture: a cell's pixels share
its value, and every metric is exact on cells. Boxes and masks are two groups, inside and outside. Full maps and points
are cut into 4,096 values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from builders.vigor.masks import BadMaskError, Mask, from_box, from_coco, union
from builders.vigor.values import FARTHEST

GEOMETRIES = ("stretch", "pad", "crop")
"""How the model fitted the picture: stretched, padded to a square (LLaVA 1.5), or cropped to its middle (CLIP)."""
STEPS = 4096
KINDS = ("heat", "boxes", "points", "mask")


class BadEvidenceError(Exception):
    """Evidence that cannot be read; the message says why."""


def numbers(value: Any, what: str) -> np.ndarray:
    """An array of finite numbers.

    Raises:
        BadEvidenceError: there is anything else in it, or its rows are not equally long.
    """
    try:
        found = np.asarray(value)
    except ValueError:
        raise BadEvidenceError(f"{what} has rows of different lengths") from None
    if found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise BadEvidenceError(f"{what} holds what is no finite number")
    return found.astype(float)


@dataclass(frozen=True)
class Groups:
    """Pixels by value.

    Attributes:
        values: (groups,) not negative.
        pixels: (groups,) how many there are.
        inside: (groups,) how many of them the truth has.
    """

    values: np.ndarray
    pixels: np.ndarray
    inside: np.ndarray

    @property
    def empty(self) -> bool:
        """Whether it points at nothing: all values that count are 0."""
        return not (self.values > 0).any()


class Evidence:
    """Where a model looked, for one concept. `kind` is one of `KINDS`."""

    def __init__(self, kind: str, height: int, width: int) -> None:
        self.kind = kind
        self.height = height
        self.width = width

    def groups(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups:
        """Against a truth, uint8 (height, width); of the pixels that count (None: all)."""
        raise NotImplementedError

    def ceiling(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups | None:
        """The best evidence of the same form; None where the form can say the truth itself."""
        return None


class Cells(Evidence):
    """A heat map of some rows and columns that covers the picture as the model saw it."""

    def __init__(self, values: np.ndarray, geometry: str, height: int, width: int) -> None:
        super().__init__("heat", height, width)
        self.values = values
        self.geometry = geometry
        self._last: tuple[np.ndarray, tuple[np.ndarray, np.ndarray]] | None = None

    def groups(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups:
        pixels, inside = self._counts(truth, counted)
        values = np.append(self.values.ravel(), 0.0)
        here = pixels > 0
        return Groups(values[here], pixels[here], inside[here])

    def ceiling(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups | None:
        pixels, inside = self._counts(truth, counted)
        here = pixels > 0
        return Groups(inside[here] / pixels[here], pixels[here], inside[here])

    def _counts(self, truth: np.ndarray, counted: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Pixels and true pixels of each cell, and at the end of what the model did not see."""
        if self._last is not None and self._last[0] is truth:
            return self._last[1]
        edges = _edges(self.height, self.width, *self.values.shape, self.geometry)
        shown = truth if counted is None else truth * counted
        inside = _sums(shown, edges)
        every = np.outer(np.diff(edges[0]), np.diff(edges[1])) if counted is None else _sums(counted, edges)
        total = truth.size if counted is None else int(counted.sum())
        found = (
            np.append(every.ravel(), total - every.sum()).astype(float),
            np.append(inside.ravel(), int(shown.sum()) - inside.sum()).astype(float),
        )
        self._last = (truth, found)
        return found


class Region(Evidence):
    """A mask or boxes: inside is 1, outside 0."""

    def __init__(self, kind: str, mask: Mask) -> None:
        super().__init__(kind, mask.height, mask.width)
        self.mask = mask

    def groups(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups:
        return _two(self.mask.decode(), truth, counted)

    def ceiling(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups | None:
        if self.kind == "mask":
            return None
        rows, columns = np.flatnonzero(truth.any(1)), np.flatnonzero(truth.any(0))
        best = np.zeros_like(truth)
        best[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = 1
        return _two(best, truth, counted)


class Map(Evidence):
    """A value for each pixel of the picture."""

    def __init__(self, kind: str, values: np.ndarray) -> None:
        super().__init__(kind, *values.shape)
        self.values = values

    def groups(self, truth: np.ndarray, counted: np.ndarray | None) -> Groups:
        top = float(self.values.max()) or 1.0
        step = np.minimum((self.values / top * (STEPS - 1) + 0.5).astype(np.int64), STEPS - 1).ravel()
        weight = None if counted is None else counted.ravel().astype(float)
        pixels = np.bincount(step, weight, STEPS).astype(float)
        true = truth.ravel().astype(float) if weight is None else truth.ravel() * weight
        inside = np.bincount(step, true, STEPS)
        here = pixels > 0
        return Groups(np.arange(STEPS)[here] / (STEPS - 1) * top, pixels[here], inside[here])


def read(form: Mapping[str, Any], height: int, width: int) -> Evidence:
    """Evidence from its JSON form (see the README): one of heat, boxes, points, mask.

    Raises:
        BadEvidenceError: it is none of them, or its numbers make no sense.
    """
    kinds = [kind for kind in KINDS if kind in form]
    if len(kinds) != 1:
        raise BadEvidenceError(f"it has {len(kinds)} of {', '.join(KINDS)}: give one")
    match kinds[0]:
        case "heat":
            return heat(numbers(form["heat"], "a heat map"), form.get("geometry", "stretch"), height, width)
        case "mask":
            try:
                return Region("mask", from_coco(form["mask"], height, width))
            except BadMaskError as error:
                raise BadEvidenceError(str(error)) from None
        case "boxes":
            return boxes(numbers(form["boxes"], "a list of boxes"), height, width)
        case _:
            sigma = numbers(form.get("sigma", 0.02 * float(np.hypot(height, width))), "sigma")
            return points(numbers(form["points"], "a list of points"), sigma, height, width)


def boxes(places: np.ndarray, height: int, width: int) -> Evidence:
    """Boxes (n, 4) as x, y, width, height. They may reach over the edge; what is outside the picture is cut off."""
    if places.ndim != 2 or places.shape[1] != 4:
        raise BadEvidenceError("boxes are lists of x, y, width, height, one or more")
    if (places[:, 2:] <= 0).any() or np.abs(places).max() > FARTHEST:
        raise BadEvidenceError(f"a box has a width or height of 0 or less, or a number beyond {FARTHEST:,}")
    return Region("boxes", union([from_box((x, y, w, h), height, width) for x, y, w, h in places.tolist()]))


def heat(values: np.ndarray, geometry: Any, height: int, width: int) -> Evidence:
    """A heat map of any resolution; of the picture's own, every pixel counts for itself."""
    if values.ndim != 2 or values.size == 0 or values.min() < 0:
        raise BadEvidenceError("a heat map is rows of numbers of 0 or more")
    if geometry not in GEOMETRIES:
        raise BadEvidenceError(f"geometry {geometry!r} is none of {', '.join(GEOMETRIES)}")
    values = values / (values.max() or 1.0)  # No metric depends on the scale, and sums of huge numbers overflow.
    if values.shape == (height, width) and values.size > STEPS:
        return Map("heat", values)
    return Cells(values, geometry, height, width)


def points(places: np.ndarray, sigma: np.ndarray, height: int, width: int) -> Evidence:
    """Points (n, 2) as the sum of Gaussians of `sigma` pixels. Points outside the picture point at nothing in it."""
    if places.ndim != 2 or places.shape[1] != 2:
        raise BadEvidenceError("points are lists of x, y, one or more")
    if sigma.ndim or not 0.1 <= sigma <= FARTHEST:
        raise BadEvidenceError("sigma is one number of pixels, 0.1 or more")
    rows, columns = np.arange(height)[:, None] + 0.5, np.arange(width)[None] + 0.5
    values = np.zeros((height, width))
    for x, y in places:
        if 0 <= x <= width and 0 <= y <= height:
            values += np.exp(-((columns - x) ** 2) / (2 * sigma**2)) * np.exp(-((rows - y) ** 2) / (2 * sigma**2))
    return Map("points", values)


def centre(height: int, width: int) -> Cells:
    """The prior that things are in the middle: a Gaussian of a quarter of each side, 24 x 24."""
    steps = (np.arange(24) + 0.5) / 24 - 0.5
    fall = np.exp(-(steps**2) / (2 * 0.25**2))
    return Cells(np.outer(fall, fall), "stretch", height, width)


def _two(region: np.ndarray, truth: np.ndarray, counted: np.ndarray | None) -> Groups:
    weight = np.ones_like(truth) if counted is None else counted
    inside = np.array([float((truth * weight)[region == value].sum()) for value in (1, 0)])
    pixels = np.array([float(weight[region == value].sum()) for value in (1, 0)])
    here = pixels > 0
    return Groups(np.array([1.0, 0.0])[here], pixels[here], inside[here])


def _sums(pixels: np.ndarray, edges: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The sum of each cell, int64 (rows, columns). Plain sums: a matrix product would wake all cores for little."""
    for axis, edge in enumerate(edges):
        first, last = int(edge[0]), int(edge[-1])
        part = pixels[first:last] if axis == 0 else pixels[:, first:last]
        full = edge[:-1] < edge[1:]  # `reduceat` knows no empty runs.
        sums = np.add.reduceat(part, edge[:-1][full] - first, axis=axis, dtype=np.int64)
        size = (len(full), part.shape[1]) if axis == 0 else (part.shape[0], len(full))
        pixels = np.zeros(size, np.int64)
        pixels[(full, slice(None)) if axis == 0 else (slice(None), full)] = sums
    return pixels


@lru_cache(maxsize=64)
def _edges(height: int, width: int, rows: int, columns: int, geometry: str) -> tuple[np.ndarray, np.ndarray]:
    """Where cells begin, and the last one ends, in pixel rows (rows + 1,) and columns (columns + 1,). A pixel is of the
    cell that holds its middle; cells in a padding are empty, pixels beyond a crop are in none."""
    side = {"pad": max(height, width), "crop": min(height, width)}.get(geometry)
    found = []
    for size, cells in ((height, rows), (width, columns)):
        whole = side or size
        place = np.floor((np.arange(size) + 0.5 + (whole - size) / 2) / whole * cells)
        found.append(np.searchsorted(place, np.arange(cells + 1)))
    return found[0], found[1]
