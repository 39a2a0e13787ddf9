"""What chosen heads, and all others, are worth on the report half.

`choose` takes a `Calibration`, `examine` its choice and a `Report`: there is no way to give both the same drawings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from builders.sketch.scoring import locus
from builders.sketch.scoring.grounding import BASELINES, Grounding, Tally, Target, baselines
from builders.sketch.scoring.halves import Report
from builders.sketch.scoring.regions import TAUS, UNITS, cell_iou, lit
from builders.sketch.scoring.select import SELECTIONS, UNIT, Choice, measure, summed, target_of


@dataclass(frozen=True)
class Finding:
    """One selection on the report half.

    Attributes:
        apparent: its mean IoU of ink on the drawings that chose it.
        p_random: share of sums of random heads (with itself) that reach its mean IoU of ink.
        p_shuffled: the same for shuffled labels.
        elsewhere: mean IoU of ink with the same part of the other drawings of the category: what knowing where such a
            part usually is would get. None where each category has one drawing.
    """

    heads: tuple[tuple[int, int], ...]
    threshold: float
    grounding: Grounding
    apparent: float
    p_random: float
    p_shuffled: float
    elsewhere: float | None


@dataclass(frozen=True)
class Locus:
    """Everything about heads, on the report half unless said otherwise.

    Attributes:
        matrices: mAcc by unit and tau, [layers, heads].
        score, chance, p: mean IoU of ink, its chance and its p by head, [layers, heads].
        band: of the calibration half; `held`: the share of this half's mass that lies in it.
        depth: of the centre of this half's mass.
        attention: mean S_img, [layers, heads]; `elbow` as on the calibration half.
        random: low, middle and high (2.5, 50, 97.5 %) of the mean IoU of ink of sums of random heads.
    """

    size: tuple[int, int, int, int]
    drawings: tuple[int, int]
    matrices: Mapping[str, np.ndarray]
    score: np.ndarray
    chance: np.ndarray
    p: np.ndarray
    attention: np.ndarray
    entropy: np.ndarray
    band: locus.Band | None
    held: float | None
    depth: float | None
    elbow: float
    findings: Mapping[str, Finding]
    random: tuple[float, float, float]
    baselines: Mapping[str, Grounding]
    ranking: tuple[tuple[int, int], ...]


def examine(choice: Choice, report: Report) -> Locus:
    """Report a choice on a half that it has not seen.

    Raises:
        GoldsmithError: the half has a category, drawer or drawing that chose the heads.
    """
    report.admit(choice.selection)
    measured = measure(report)
    null = measured.null()
    shape = report.size[:2]
    excess = null.excess.reshape(shape)
    held = None
    if choice.band is not None and excess.sum() > 0:
        held = float(excess[choice.band.first : choice.band.last + 1].sum() / excess.sum())
    findings, random = _findings(choice, report)
    finite = np.where(np.isfinite(measured.entropy), measured.entropy, np.nan)
    known = np.isfinite(finite).any(0)
    entropy = np.where(known, np.nansum(finite, 0) / np.maximum(np.isfinite(finite).sum(0), 1), np.nan)
    return Locus(
        report.size,
        (len(choice.selection.seen.drawings), len(report)),
        {f"{unit}@{tau}": measured.matrix(unit, tau).reshape(shape) for unit in UNITS for tau in TAUS},
        null.score.reshape(shape),
        null.chance.reshape(shape),
        null.p.reshape(shape),
        measured.sums.mean(0).reshape(shape),
        entropy.reshape(shape),
        choice.band,
        held,
        locus.centre(excess),
        choice.elbow,
        findings,
        random,
        grounding_baselines(report),
        choice.ranking,
    )


def _findings(choice: Choice, report: Report) -> tuple[dict[str, Finding], tuple[float, float, float]]:
    selection = choice.selection
    tallies = {name: Tally(name) for name in SELECTIONS}
    blocks: list[np.ndarray] = []
    classes = []
    others = _Others()
    for group in report.groups():
        target, maps = target_of(group), summed(group, selection.sums)
        block = np.zeros((len(selection.names), len(group.parts), len(group.parts)))
        for part, each in enumerate(maps):
            region = np.concatenate([lit(one[None], t) for one, t in zip(each, selection.thresholds, strict=True)])
            got = target.agree(region, each)
            block[:, part] = got[UNIT]
            others.add((group.drawing.category, group.parts[part]), region[: len(SELECTIONS)], target, part)
            for row, name in enumerate(SELECTIONS):
                iou = {unit: got[unit][row, part : part + 1] for unit in UNITS}
                tallies[name].add(group.drawing.category, group.parts[part : part + 1], iou)
        blocks.append(block)
        classes.append([(group.drawing.category, part) for part in group.parts])
    weights = locus.class_weights(classes)
    reached = sum(np.trace(block * weight, axis1=1, axis2=2) for block, weight in zip(blocks, weights, strict=True))
    random = np.asarray(reached)[len(SELECTIONS) :]
    elsewhere = others.means()
    found = {}
    for row, name in enumerate(SELECTIONS):
        grounding = tallies[name].result()
        assert grounding is not None, "measure refuses a half without maps"
        own = np.asarray(reached)[row]
        p_random = (1 + (random >= own - 1e-12).sum()) / (1 + len(random))
        p_shuffled = locus.shuffled_labels([block[row : row + 1] for block in blocks], weights).p[0]
        threshold = float(selection.thresholds[row])
        found[name] = Finding(
            choice.heads[name],
            threshold,
            grounding,
            choice.apparent[name],
            float(p_random),
            float(p_shuffled),
            None if elsewhere is None else float(elsewhere[row]),
        )
    low, middle, high = np.percentile(random, [2.5, 50, 97.5]).tolist()
    return found, (low, middle, high)


class _Others:
    """Regions of each class of parts, to be laid on the same part of other drawings."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}

    def add(self, name: tuple[str, str], regions: np.ndarray, target: Target, part: int) -> None:
        """Regions [n, rows, columns] for a part of a drawing."""
        flat = regions.reshape(len(regions), -1)
        self._seen.setdefault(name, []).append((flat, target.cells[part : part + 1], target.ink))

    def means(self) -> np.ndarray | None:
        """[n], mean IoU of ink over classes; None where no class has two drawings."""
        found = []
        for group in self._seen.values():
            if len(group) > 1:
                regions = np.stack([flat for flat, _, _ in group])
                sums = np.zeros(regions.shape[:2])
                for other, (_, cells, ink) in enumerate(group):
                    got = cell_iou(regions.reshape(-1, regions.shape[2]) & (ink > 0), cells, ink)
                    sums += got.reshape(sums.shape) * (np.arange(len(group)) != other)[:, None]
                found.append(sums.mean(0) / (len(group) - 1))
        return np.mean(found, 0) if found else None


def grounding_baselines(half: Report) -> dict[str, Grounding]:
    """Baselines and ceiling on the questions of a half."""
    tallies = {name: Tally(name) for name in BASELINES}
    for group in half.groups():
        for name, iou in baselines(target_of(group)).items():
            tallies[name].add(group.drawing.category, group.parts, iou)
    results = {name: tally.result() for name, tally in tallies.items()}
    return {name: result for name, result in results.items() if result is not None}


def summary(found: Locus) -> dict[str, Any]:
    """A locus as JSON values."""
    return {
        "size": dict(zip(("layers", "heads", "rows", "columns"), found.size, strict=True)),
        "drawings": dict(zip(("calibration", "report"), found.drawings, strict=True)),
        "unit": UNIT,
        "alpha": locus.ALPHA,
        "matrices": {name: _rounded(values) for name, values in found.matrices.items()},
        "score": _rounded(found.score),
        "chance": _rounded(found.chance),
        "p": _rounded(found.p),
        "attention": _rounded(found.attention),
        "entropy": _rounded(found.entropy),
        "elbow": found.elbow,
        "band": None if found.band is None else {**vars(found.band), "depth": found.band.depth},
        "band_holds_on_report": found.held,
        "depth": found.depth,
        "random_heads": dict(zip(("low", "middle", "high"), found.random, strict=True)),
        "selections": {
            name: {**vars(each), "grounding": each.grounding.to_json()} for name, each in found.findings.items()
        },
        "baselines": {name: each.to_json() for name, each in found.baselines.items()},
        "ranking": list(found.ranking[:20]),
    }


def _rounded(values: np.ndarray) -> list[list[float | None]]:
    return [[round(float(value), 6) if np.isfinite(value) else None for value in row] for row in values]
