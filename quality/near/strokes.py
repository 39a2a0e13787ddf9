"""Nearly the same drawing: drawn into a small picture, hashed as pictures are, and compared point by point.

Where a drawing lies, how large it is, how fast and in which order it was drawn, and how many points a line has, does
not matter. Many drawings of a circle are alike without being copies: what is found is for people to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from quality.near import hamming
from quality.near.pictures import SIDE, hashes
from quality.near.store import Pairs, Seen, Wanted

_POINTS = 192
_STEP = 0.5
_LONGEST = 4_000
"""Points that a line is drawn with at most."""
_TOGETHER = 500
_BATCH = 256


class Drawings:
    """A searcher of `strokes`; see `store.Searcher`. Values are lists of structs with lists `x` and `y`.

    Memory: a byte a row, the hashes (8 bytes a row) and a batch of small pictures; points lie in a file, 768 bytes a
    row.
    """

    reasons: tuple[str, ...] = ("", "no line, or one that is a point")

    def __init__(self, kind: str, rows: int, folder: Path, least: float) -> None:
        self._least, self._rows = least, rows
        self.skipped = np.ones(rows, np.uint8)
        self._hashes = np.zeros(rows, np.uint64)
        shape = (max(rows, 1), 2 * _POINTS)
        self._points = np.lib.format.open_memmap(folder / "points", "w+", np.float16, shape)

    def add(self, rows: np.ndarray, values: pa.Array) -> None:
        """Take in drawings."""
        for start in range(0, len(rows), _BATCH):
            self._add(rows[start : start + _BATCH], values.slice(start, _BATCH))

    def _add(self, rows: np.ndarray, values: pa.Array) -> None:
        x, y, stroke, drawing = points(values)
        places, usable = placed(x, y, drawing, len(rows))
        self.skipped[rows[usable]] = 0
        dots, owner = along(places, stroke, drawing)
        if len(dots):
            with threadpool_limits(1, "blas"):
                self._hashes[rows] = hashes(drawn(dots, owner, len(rows)), windows=1)[0]
            chosen = rows[np.unique(owner)]
            self._points[chosen] = spread(dots, owner).reshape(len(chosen), -1)

    def pairs(self, wanted: Wanted) -> Iterator[Pairs]:
        """Pairs with nearly equal hashes, compared."""
        members = np.flatnonzero(self.skipped == 0)
        found = self._hashes[members]
        seen = Seen(self._rows)
        for one, other in hamming.near(found, found):
            a, b = members[one], members[other]
            kept = (a < b) & wanted(a, b)
            a, b = seen.fresh(a[kept], b[kept])
            for start in range(0, len(a), _TOGETHER):
                part = slice(start, start + _TOGETHER)
                like = self._like(a[part], b[part])
                good = like >= self._least
                yield a[part][good], b[part][good], like[good]

    def _like(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """1 less the mean distance from a point of either drawing to the nearest of the other, in sizes of it."""
        one, other = (self._points[rows].astype(np.float32).reshape(-1, _POINTS, 2) for rows in (a, b))
        squares = (one**2).sum(2)[:, :, None] + (other**2).sum(2)[:, None] - 2 * one @ other.transpose(0, 2, 1)
        nearest = [np.sqrt(np.maximum(squares.min(axis=axis), 0)).mean(axis=1) for axis in (1, 2)]
        return 1 - np.maximum(*nearest).astype(np.float64)


def points(values: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All points of some drawings: x and y (float64), and the number of the stroke and of the drawing of each.

    Strokes whose x and y differ in number, and what is not finite, are left out.
    """
    drawings = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    strokes = values.flatten()
    xs, ys = strokes.field("x"), strokes.field("y")
    lengths = [part.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) for part in (xs, ys)]
    even = lengths[0] == lengths[1]
    if strokes.null_count:
        even &= strokes.is_valid().to_numpy(zero_copy_only=False)
    flat = []
    for part, length in ((xs, lengths[0]), (ys, lengths[1])):
        numbers = part.flatten().cast(pa.float64()).to_numpy(zero_copy_only=False)
        flat.append(numbers[np.repeat(even, length)])
    count = np.where(even, lengths[0], 0)
    stroke = np.repeat(np.arange(len(count)), count)
    drawing = np.repeat(np.repeat(np.arange(len(drawings)), drawings), count)
    finite = np.isfinite(flat[0]) & np.isfinite(flat[1])
    return flat[0][finite], flat[1][finite], stroke[finite], drawing[finite]


def placed(x: np.ndarray, y: np.ndarray, drawing: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points with the drawing's box, kept in shape, in the middle of the unit square: float64 of shape (points, 2);
    and which drawings have an extent: bool of shape (count,)."""
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    raw = np.stack([x, y], axis=1)
    np.minimum.at(low, drawing, raw)
    np.maximum.at(high, drawing, raw)
    size = np.where(np.isfinite(low).all(axis=1), (high - low).max(axis=1), 0)  # a drawing without points has none
    usable = (size > 0) & np.isfinite(size)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = low / 2 + high / 2
        places = (raw - middle[drawing]) / size[drawing, None] + 0.5
    return np.where(usable[drawing, None], places, np.nan), usable


def along(places: np.ndarray, stroke: np.ndarray, drawing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points half a dot apart along all lines: shape (dots, 2) in the unit square, and the drawing of each."""
    good = np.isfinite(places).all(axis=1)
    places, stroke, drawing = places[good], stroke[good], drawing[good]
    if not len(places):
        return places, drawing
    step = np.zeros_like(places)
    joined = stroke[1:] == stroke[:-1]
    step[:-1][joined] = (places[1:] - places[:-1])[joined]
    far = np.linalg.norm(step, axis=1) * SIDE / _STEP
    count = np.clip(np.ceil(far), 1, _LONGEST).astype(np.int64)
    owner = np.repeat(np.arange(len(places)), count)
    part = (np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)) / count[owner]
    return places[owner] + step[owner] * part[:, None], drawing[owner]


def drawn(dots: np.ndarray, owner: np.ndarray, count: int) -> np.ndarray:
    """Small pictures of lines two dots wide: float32 of shape (count, SIDE, SIDE), 0 to 1."""
    margin = 4
    place = margin + dots * (SIDE - 1 - 2 * margin)
    cell = np.floor(place).astype(np.int64)
    rest = place - cell
    grey = np.zeros(count * SIDE * SIDE)
    for down in (0, 1):
        for across in (0, 1):
            weight = np.abs(1 - across - rest[:, 0]) * np.abs(1 - down - rest[:, 1])
            at = (owner * SIDE + cell[:, 1] + down) * SIDE + cell[:, 0] + across
            grey += np.bincount(at, weight, len(grey))
    return np.minimum(grey, 1).reshape(count, SIDE, SIDE).astype(np.float32)


def spread(dots: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Evenly chosen ones of the dots of each drawing that has any: float64 of shape (drawings, _POINTS, 2)."""
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), owner[1:] != owner[:-1]]))
    sizes = np.diff(np.append(begins, len(owner)))
    chosen = begins[:, None] + (sizes[:, None] * (np.arange(_POINTS) + 0.5) / _POINTS).astype(np.int64)
    return dots[chosen]
