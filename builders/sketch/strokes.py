"""From rows of numbers to strokes: what is mended, and what is refused.

Mended: a label row that stands twice, a stroke without points, a time that runs backwards. Refused: rows of different
length, what is no finite number, coordinates no canvas has, strokes with several labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from builders.sketch.forms import BadDrawingError, Stroke

FARTHEST = 1_000_000
"""No canvas has a coordinate farther out."""
MOST_POINTS = 200_000
"""No drawing by hand has more."""
MOST_GROUPS = 250
"""Parts of one drawing; its ownership map has a byte a pixel."""


def numbers(row: Any, what: str) -> np.ndarray:
    """A list of numbers as float64 (n,).

    Raises:
        BadDrawingError: it is anything else, or holds a number that is not finite.
    """
    if not isinstance(row, list | np.ndarray):
        raise BadDrawingError("bad_row", f"the {what} are a {type(row).__name__}, no list of numbers")
    try:
        values = np.asarray(row)
    except ValueError:
        raise BadDrawingError("bad_row", f"the {what} are no list of numbers") from None
    if len(values) and (values.ndim != 1 or values.dtype.kind not in "iuf"):
        raise BadDrawingError("bad_row", f"the {what} hold something that is no number")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise BadDrawingError("not_finite", f"the {what} hold a number that is not finite")
    return values


def points(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates as float32, of the same length.

    Raises:
        BadDrawingError: they are not, or lie beyond `FARTHEST`.
    """
    xs, ys = numbers(x, "x"), numbers(y, "y")
    if len(xs) != len(ys):
        raise BadDrawingError("uneven_rows", f"a stroke has {len(xs)} x and {len(ys)} y")
    if len(xs) and max(np.abs(xs).max(), np.abs(ys).max()) > FARTHEST:
        raise BadDrawingError("far_coordinate", f"a coordinate lies beyond {FARTHEST:,}")
    return xs.astype(np.float32), ys.astype(np.float32)


def label(row: Any, count: int) -> int:
    """The one label of a stroke from a row that repeats it for each point.

    Raises:
        BadDrawingError: the row has another length, holds no whole numbers, or more than one.
    """
    values = numbers(row, "labels")
    if len(values) != count:
        raise BadDrawingError("uneven_rows", f"a stroke has {count} points and {len(values)} labels")
    found = np.unique(values)
    if len(found) > 1:
        raise BadDrawingError("mixed_labels", f"a stroke has the labels {found[:4].tolist()}")
    if found[0] != int(found[0]):
        raise BadDrawingError("bad_row", f"a label is {found[0]}, no whole number")
    return int(found[0])


def timed(strokes: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[list[Stroke], list[str]]:
    """Strokes with times in ms, counted from the first point.

    Times that run backwards, or for longer than a day, say nothing: they are dropped for the whole drawing, which the
    repair `times_dropped` tells.
    """
    everything = np.concatenate([t for _, _, t in strokes]) if strokes else np.zeros(0)
    usable = len(everything) > 0 and bool((np.diff(everything) >= 0).all())
    usable = usable and everything[-1] - everything[0] < 86_400_000
    if not usable:
        return [Stroke(x, y) for x, y, _ in strokes], ["times_dropped"]
    start = everything[0]
    return [Stroke(x, y, np.round(t - start).astype(np.int32)) for x, y, t in strokes], []


def from_offsets(offsets: np.ndarray) -> list[Stroke]:
    """Strokes from stroke-3 rows (dx, dy, pen), where pen is 1 at a stroke's last point.

    Raises:
        BadDrawingError: the rows are no such numbers.
    """
    if offsets.ndim != 2 or offsets.shape[1] < 3 or not len(offsets):
        raise BadDrawingError("bad_row", f"the points have the shape {offsets.shape}, no rows of three numbers")
    if not np.isin(offsets[:, 2], (0.0, 1.0)).all():
        raise BadDrawingError("bad_pen", "a pen is neither 0 nor 1")
    with np.errstate(over="ignore"):  # Then it is not finite, and refused.
        places = np.cumsum(offsets[:, :2], axis=0)
    return from_pen(places, offsets[:, 2])


def from_pen(places: np.ndarray, pen: np.ndarray) -> list[Stroke]:
    """Strokes from points (n, 2) and a pen (n,) that is 1 at a stroke's last point."""
    ends = np.flatnonzero(pen == 1) + 1
    pieces = [piece for piece in np.split(places, ends) if len(piece)]
    return [Stroke(*points(piece[:, 0], piece[:, 1])) for piece in pieces]


def table(rows: Any, what: str) -> np.ndarray:
    """A list of equally long rows as float64 (n, m).

    Raises:
        BadDrawingError: it is anything else.
    """
    if not isinstance(rows, list) or not rows:
        raise BadDrawingError("no_strokes", f"the {what} are missing or no list")
    try:
        values = np.asarray(rows)
    except ValueError:
        values = np.zeros(0)
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise BadDrawingError("bad_row", f"the {what} are no equally long rows of numbers")
    if not np.isfinite(values).all():
        raise BadDrawingError("not_finite", f"the {what} hold a number that is not finite")
    return values.astype(np.float64)


def usable(strokes: Sequence[Stroke]) -> tuple[tuple[Stroke, ...], list[str]]:
    """The strokes that have points, and the repair `empty_stroke` where some have none.

    Raises:
        BadDrawingError: none has, there are too many points, or all lie in one place, so that there is no scale.
    """
    kept = tuple(stroke for stroke in strokes if len(stroke.x))
    if not kept:
        raise BadDrawingError("no_strokes", "the drawing has no points")
    if sum(len(stroke.x) for stroke in kept) > MOST_POINTS:
        raise BadDrawingError("too_long", f"the drawing has more than {MOST_POINTS:,} points")
    x = np.concatenate([stroke.x for stroke in kept])
    y = np.concatenate([stroke.y for stroke in kept])
    if x.min() == x.max() and y.min() == y.max():
        raise BadDrawingError("no_extent", "all points of the drawing lie in one place")
    return kept, ["empty_stroke"] if len(kept) < len(strokes) else []
