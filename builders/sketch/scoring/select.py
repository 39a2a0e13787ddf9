"""Heads, thresholds and the band, as the calibration half chooses them. `examine` reports them on the other half."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from builders.sketch.scoring import heads as rule
from builders.sketch.scoring import locus
from builders.sketch.scoring.grounding import THRESHOLD, Target, smooth
from builders.sketch.scoring.halves import Calibration, Group, Report, Selection
from builders.sketch.scoring.regions import UNITS, Grid, lit
from schemas import GoldsmithError

SELECTIONS = ("two_criteria", "two_criteria_in_band", "best_iou", "best_iou_in_band")
"""By the two-criterion rule, which knows no truth, and by IoU with the truth of the calibration half; among all heads
and among those of its band (the band prior, off and on)."""
RANDOM = 200
"""Sums of as many random heads: the null of a selection."""
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
UNIT = "ink"
"""The unit that heads are chosen and the locus is found by: thin strokes cap the others."""


@dataclass(frozen=True)
class Measured:
    """Every head on the drawings of a half.

    Attributes:
        iou: by unit a drawing each, [heads, maps, parts].
        classes: a drawing each, the class (category, part) of each part.
        sums, entropy, bottom: [questions, heads].
    """

    iou: Mapping[str, list[np.ndarray]]
    classes: list[list[tuple[str, str]]]
    sums: np.ndarray
    entropy: np.ndarray
    bottom: np.ndarray

    def null(self) -> locus.Null:
        """Heads against shuffled labels."""
        return locus.shuffled_labels(self.iou[UNIT], locus.class_weights(self.classes))

    def matrix(self, unit: str, tau: float) -> np.ndarray:
        """[heads], mAcc@tau."""
        weights = locus.class_weights(self.classes)
        return sum(
            (np.diagonal(block, 0, 1, 2) >= tau) @ weight for block, weight in zip(self.iou[unit], weights, strict=True)
        )  # type: ignore[return-value]


def measure(half: Calibration | Report) -> Measured:
    """Each head of each map of a half against each part of its drawing; a map lights what is above half of its peak."""
    iou: dict[str, list[np.ndarray]] = {unit: [] for unit in UNITS}
    classes, sums, entropy, bottom = [], [], [], []
    for group in half.groups():
        target = target_of(group)
        k, heads, rows, columns = group.maps.shape
        maps = group.maps.reshape(k * heads, rows, columns)
        for unit, values in target.agree(lit(maps, THRESHOLD), maps).items():
            iou[unit].append(values.reshape(k, heads, -1).transpose(1, 0, 2).astype(np.float32))
        value, fills = rule.spatial_entropy(maps)
        entropy.append(value.reshape(k, heads))
        bottom.append(fills.reshape(k, heads))
        sums.append(group.sums)
        classes.append([(group.drawing.category, part) for part in group.parts])
    if not classes:
        raise GoldsmithError(f"[maps] none is of the {half.split} half: probe drawings of both halves")
    return Measured(iou, classes, *(np.concatenate(each) for each in (sums, entropy, bottom)))


@dataclass(frozen=True)
class Choice:
    """What the calibration half said, with the selection that can be reported.

    Attributes:
        heads: of each of SELECTIONS, (layer, head) of each that is summed.
        apparent: of each, its mean IoU of ink on the drawings that chose it: never to be reported as a result.
        ranking: (layer, head) by the two criteria, best first.
    """

    selection: Selection
    heads: Mapping[str, tuple[tuple[int, int], ...]]
    apparent: Mapping[str, float]
    ranking: tuple[tuple[int, int], ...]
    band: locus.Band | None
    null: locus.Null
    elbow: float


def choose(calibration: Calibration) -> Choice:
    """Choose heads and thresholds.

    Without a band (nothing is above the null) the prior has no say: the selections in the band are those without.
    """
    layers, per_layer = calibration.size[:2]
    measured = measure(calibration)
    null = measured.null()
    found = locus.band(null.excess.reshape(layers, per_layer))
    ranked = {
        "two_criteria": rule.rank_by_rule(measured.sums, measured.entropy, measured.bottom),
        "best_iou": np.argsort(-null.score, kind="stable"),
    }
    layer_of = np.arange(layers * per_layer) // per_layer
    inside = np.ones(len(layer_of), bool) if found is None else (layer_of >= found.first) & (layer_of <= found.last)
    picked = {}
    for name, order in ranked.items():
        picked[name] = order[: rule.HEADS]
        banded = order[inside[order]][: rule.HEADS]
        picked[f"{name}_in_band"] = banded if len(banded) else np.flatnonzero(inside)[: rule.HEADS]
    rng = np.random.default_rng(0)
    count = min(rule.HEADS, len(layer_of))
    draws = [rng.choice(len(layer_of), count, replace=False) for _ in range(RANDOM)]
    rows = [*(picked[name] for name in SELECTIONS), *draws]
    sums = np.zeros((len(rows), len(layer_of)), np.float32)
    for row, each in enumerate(rows):
        sums[row, each] = 1
    thresholds, reached = _thresholds(calibration, sums)
    names = (*SELECTIONS, *(f"random_{index}" for index in range(RANDOM)))
    place = {name: tuple(_place(head, per_layer) for head in picked[name]) for name in SELECTIONS}
    ranking = tuple(_place(head, per_layer) for head in ranked["two_criteria"])
    apparent: dict[str, float] = dict(zip(SELECTIONS, reached.tolist(), strict=False))
    selection = Selection(calibration, names, sums, thresholds)
    return Choice(selection, place, apparent, ranking, found, null, rule.elbow(measured.sums.mean(0)))


def _thresholds(calibration: Calibration, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best threshold of each sum on the calibration half, and the mean IoU of ink that it reaches there."""
    groups = [(group.drawing.category, group.parts) for group in calibration.groups()]
    weights = locus.class_weights([[(category, part) for part in parts] for category, parts in groups])
    reached = np.zeros((len(THRESHOLDS), len(sums)))
    for group, weight in zip(calibration.groups(), weights, strict=True):
        target, maps = target_of(group), summed(group, sums)
        for row, threshold in enumerate(THRESHOLDS):
            for part, each in enumerate(maps):
                got = target.agree(lit(each, threshold), each)[UNIT][:, part]
                reached[row] += got * weight[part]
    best = reached.argmax(0)
    return np.array(THRESHOLDS)[best], reached.max(0)


def target_of(group: Group) -> Target:
    return Target.of(group.drawing, group.parts, Grid(*group.maps.shape[2:]))


def summed(group: Group, sums: np.ndarray) -> np.ndarray:
    """[k, n, rows, columns]: the smoothed sums of heads of each map."""
    k, heads, rows, columns = group.maps.shape
    added = sums @ group.maps.reshape(k, heads, -1)
    return smooth(added.reshape(-1, rows, columns)).reshape(k, len(sums), rows, columns)


def _place(head: np.integer[Any] | int, per_layer: int) -> tuple[int, int]:
    return int(head) // per_layer, int(head) % per_layer
