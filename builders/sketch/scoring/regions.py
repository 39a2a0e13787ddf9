"""Regions of a map's grid on the canvas of a rendering, and how far they agree with a part.

All shapes are exact: a cell stands for its pixels, so that a coarse map is measured as the region that it lights.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import ndimage

from builders.sketch.render import CANVAS

UNITS = ("box", "mask", "ink")
"""`box`: the rectangle around the region's heaviest component against the part's box. `mask`: the region's pixels
against the part's. `ink`: the region's pixels of ink against the part's."""
TAUS = (0.1, 0.3, 0.5)
_IN_PLANE = np.zeros((3, 3, 3), int)
_IN_PLANE[1] = 1


class Grid:
    """A canvas cut into rows and columns; pixel y is of row y * rows // CANVAS."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """First pixel of each row and of each column, and the end."""
        return _edges(self.rows), _edges(self.columns)

    def counts(self, mask: np.ndarray) -> np.ndarray:
        """[..., CANVAS, CANVAS] of 0 and 1 to pixels a cell, [..., rows * columns]."""
        high, wide = self.edges
        sums = np.add.reduceat(mask.astype(np.float32), high[:-1], -2)
        return np.add.reduceat(sums, wide[:-1], -1).reshape(*mask.shape[:-2], -1)

    @cached_property
    def area(self) -> np.ndarray:
        """Pixels of each cell."""
        high, wide = self.edges
        return np.outer(np.diff(high), np.diff(wide)).ravel().astype(np.float32)


def _edges(count: int) -> np.ndarray:
    return -(-np.arange(count + 1) * CANVAS // count)


def lit(maps: np.ndarray, threshold: float) -> np.ndarray:
    """The region of each map [n, rows, columns]: cells of at least `threshold` times its highest value. A map of zeros
    lights nothing."""
    peak = maps.max((1, 2), keepdims=True)
    return (maps >= threshold * peak) & (peak > 0)


def components(lit_cells: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """8-connected components of many grids at once.

    Returns:
        labels [n, rows, columns] (0: not lit; numbers run on over the grids), and for each component 1... the sum of
        its values and its grid.
    """
    found: Any = ndimage.label(lit_cells, structure=_IN_PLANE)
    labels, count = found
    flat = labels.ravel()
    mass = np.bincount(flat, values.ravel(), count + 1)[1:]
    grid = np.zeros(count + 1, np.int64)
    where = np.flatnonzero(flat)
    grid[flat[where]] = where // (labels.shape[1] * labels.shape[2])
    return labels, mass, grid[1:]


def rectangles(lit_cells: np.ndarray, values: np.ndarray, grid: Grid) -> np.ndarray:
    """[n, 4] x0, y0, x1, y1 (ends excluded) in pixels around the component of the greatest mass; zeros where none."""
    labels, mass, of = components(lit_cells, values)
    best = np.zeros(len(lit_cells), np.int64)
    order = np.lexsort((-np.arange(len(mass)), mass))
    best[of[order]] = order + 1
    chosen = (labels == best[:, None, None]) & lit_cells
    rows, columns = chosen.any(2), chosen.any(1)
    high, wide = grid.edges
    y0, y1 = rows.argmax(1), grid.rows - rows[:, ::-1].argmax(1)
    x0, x1 = columns.argmax(1), grid.columns - columns[:, ::-1].argmax(1)
    found = np.stack([wide[x0], high[y0], wide[x1], high[y1]], 1).astype(float)
    return found * chosen.any((1, 2))[:, None]


def box_iou(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """[n, 4] and [k, 4] of x0, y0, x1, y1 to [n, k]; 0 for an empty box."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    inter = np.clip(high - low, 0, None).prod(2)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)[:, None] + (others[:, 2:] - others[:, :2]).prod(1)[None]
    return inter / np.maximum(area - inter, 1e-9)


def cell_iou(lit_cells: np.ndarray, parts: np.ndarray, size: np.ndarray) -> np.ndarray:
    """IoU in pixels of regions [n, cells] with parts [k, cells] (pixels of the part a cell), to [n, k].

    Args:
        size: [cells], the pixels that count: a cell's area, or its ink.
    """
    regions = lit_cells.astype(np.float32)
    inter = regions @ parts.T
    union = (regions @ size)[:, None] + parts.sum(1)[None] - inter
    return inter / np.maximum(union, 1e-9)


def best_cells(parts: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The IoU of the best region of cells for each part [k, cells]: what no map of this grid can pass, [k].

    Cells sorted by their share of the part: a best region is a prefix of that order, for a ratio of two sums is
    greatest on a set of cells above some share.
    """
    share = np.where(size > 0, parts / np.maximum(size, 1), 0)
    order = np.argsort(-share, axis=1, kind="stable")
    inter = np.take_along_axis(parts, order, 1).cumsum(1)
    union = size[order].cumsum(1) + parts.sum(1, keepdims=True) - inter
    return (inter / np.maximum(union, 1e-9)).max(1)


def best_rectangle(box: np.ndarray, grid: Grid) -> float:
    """The IoU of the best rectangle of whole cells with a box (x0, y0, x1, y1)."""
    high, wide = grid.edges
    sides = []
    for low, top, edges in ((box[0], box[2], wide), (box[1], box[3], high)):
        first = np.searchsorted(edges, low, "right") - 1
        last = np.searchsorted(edges, top, "left")
        sides.append([(a, b) for a in edges[first : first + 2] for b in edges[last - 1 : last + 1] if a < b])
    every = np.array([[x0, y0, x1, y1] for x0, x1 in sides[0] for y0, y1 in sides[1]], float)
    return float(box_iou(every, box[None]).max())
