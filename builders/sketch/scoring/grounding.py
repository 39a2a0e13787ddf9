"""How far regions agree with parts, averaged as mAcc@tau, beside what a map gets that looks nowhere in particular.

mAcc@tau has no published definition. Here it is, for one unit: of each class of parts (source, category, part) the
share of questions with IoU >= tau, and of these shares the mean. Intervals resample categories.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import ndimage

from builders.sketch.render import CANVAS
from builders.sketch.scoring.regions import (
    TAUS,
    UNITS,
    Grid,
    best_cells,
    best_rectangle,
    box_iou,
    cell_iou,
    lit,
    rectangles,
)
from builders.sketch.scoring.truth import Drawing

BASELINES = ("all_ink", "whole_box", "centre", "random", "ceiling")
METRICS = ("miou", *(f"macc@{tau}" for tau in TAUS))
THRESHOLD = 0.5
"""Of a map's highest value, where no threshold was chosen on other drawings."""
SMOOTHING = 1.0
"""Standard deviation in cells of the Gaussian over a sum of heads, as in the paper of the two-criterion rule."""
RESAMPLES = 1000


@dataclass(frozen=True)
class Target:
    """The parts of a drawing that are asked for, on a grid.

    Attributes:
        parts: their names, k of them.
        cells: [k, cells], pixels of each a cell.
        ink: [cells], pixels of ink.
        boxes: of each, its instances' boxes.
    """

    drawing: Drawing
    parts: tuple[str, ...]
    grid: Grid
    cells: np.ndarray
    ink: np.ndarray
    boxes: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, drawing: Drawing, parts: Sequence[str], grid: Grid) -> Target:
        """The named parts of a drawing."""
        index = [drawing.parts.index(part) for part in parts]
        cells, ink = grid.counts(drawing.pixels()[index]), grid.counts(drawing.ink)
        return cls(drawing, tuple(parts), grid, cells, ink, tuple(drawing.boxes[each] for each in index))

    def agree(self, region: np.ndarray, values: np.ndarray, boxes: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """IoU of each region [n, rows, columns] with each part, by unit, [n, k].

        Args:
            values: of the map, to weigh the components of a region.
            boxes: [n, 4], where a box is given and not found around the region.
        """
        flat = region.reshape(len(region), -1)
        found = rectangles(region, values, self.grid) if boxes is None else boxes
        return {
            "box": np.stack([box_iou(found, each).max(1) for each in self.boxes], 1),
            "mask": cell_iou(flat, self.cells, self.grid.area),
            "ink": cell_iou(flat & (self.ink > 0), self.cells, self.ink),
        }

    def ceiling(self) -> dict[str, np.ndarray]:
        """The best that a map of this grid can reach for each part, by unit, [k]."""
        best = [max(best_rectangle(box, self.grid) for box in boxes) for boxes in self.boxes]
        return {
            "box": np.array(best),
            "mask": best_cells(self.cells, self.grid.area),
            "ink": best_cells(self.cells, self.ink),
        }


_PIXELS = Grid(CANVAS, CANVAS)


def baselines(target: Target) -> dict[str, dict[str, np.ndarray]]:
    """IoU by baseline and unit, [k].

    All ink and the box of the whole drawing are regions of pixels; `centre` is a round spot in the middle; `random` is
    a noise map of the model's own grid, another for each part, smoothed as sums of heads are; `ceiling` is the best
    region of whole cells.
    """
    drawing = target.drawing
    fine = Target.of(drawing, target.parts, _PIXELS)
    rows, columns = np.flatnonzero(drawing.ink.any(1)), np.flatnonzero(drawing.ink.any(0))
    whole = np.zeros_like(drawing.ink)
    whole[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
    away = (np.arange(CANVAS) - (CANVAS - 1) / 2) / (CANVAS / 4)
    spot = np.exp(-0.5 * (away[:, None] ** 2 + away**2))
    fixed = np.stack([drawing.ink, whole, lit(spot[None], THRESHOLD)[0]])
    got = fine.agree(fixed, np.stack([drawing.ink, whole, spot]).astype(float))
    seed = int.from_bytes(hashlib.sha256(drawing.id.encode()).digest()[:8], "big")
    noise = smooth(np.random.default_rng(seed).random((len(target.parts), target.grid.rows, target.grid.columns)))
    random = target.agree(lit(noise, THRESHOLD), noise)
    found = {name: {unit: got[unit][row] for unit in UNITS} for row, name in enumerate(BASELINES[:3])}
    found["random"] = {unit: random[unit].diagonal() for unit in UNITS}
    return {**found, "ceiling": target.ceiling()}


def smooth(maps: np.ndarray) -> np.ndarray:
    """[n, rows, columns], each blurred by SMOOTHING cells."""
    return ndimage.gaussian_filter(maps, (0, SMOOTHING, SMOOTHING), mode="nearest")


@dataclass(frozen=True)
class Value:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Grounding:
    """What one predictor got: metrics by unit, of how many questions, classes and categories."""

    name: str
    questions: int
    classes: int
    categories: int
    units: Mapping[str, Mapping[str, Value]]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        units = {unit: {name: vars(value) for name, value in values.items()} for unit, values in self.units.items()}
        return {**vars(self), "units": units}


class Tally:
    """Collects IoUs of one predictor by class and averages them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._classes: dict[tuple[str, str], list[list[float]]] = defaultdict(list)

    def add(self, category: str, parts: Iterable[str], iou: Mapping[str, np.ndarray]) -> None:
        """IoUs of the parts of a drawing, by unit, [k]."""
        for part, *values in zip(parts, *(iou[unit].tolist() for unit in UNITS), strict=True):
            self._classes[category, part].append(values)

    def result(self) -> Grounding | None:
        """The averages; None where nothing was collected."""
        if not self._classes:
            return None
        classes = sorted(self._classes)
        means = np.stack([_metrics(np.array(self._classes[name])) for name in classes])
        names, of = np.unique([category for category, _ in classes], return_inverse=True)
        low, high = by_category(means.reshape(len(classes), -1), of, len(names))
        shape = means.shape[1:]
        low, high, mean = low.reshape(shape), high.reshape(shape), means.mean(0)
        units = {
            unit: {
                name: Value(float(mean[row, column]), float(low[row, column]), float(high[row, column]))
                for column, name in enumerate(METRICS)
            }
            for row, unit in enumerate(UNITS)
        }
        questions = sum(map(len, self._classes.values()))
        return Grounding(self._name, questions, len(classes), len(names), units)


def _metrics(iou: np.ndarray) -> np.ndarray:
    """[questions, units] to [units, metrics]."""
    shares = [(iou >= tau).mean(0) for tau in TAUS]
    return np.stack([iou.mean(0), *shares], 1)


def by_category(values: np.ndarray, category: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % percentile interval of the mean over rows [n, m], of which the categories are resampled; always the same."""
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, category, values)
    sizes = np.bincount(category, minlength=count).astype(float)
    rng = np.random.default_rng(0)
    drawn = np.stack([np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(RESAMPLES)])
    low, high = np.percentile(drawn @ sums / (drawn @ sizes)[:, None], [2.5, 97.5], axis=0)
    return low, high
