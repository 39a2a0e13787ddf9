"""Scores predictions against VeriVul: detection, pairs, weakness, root cause, and explanations grounded in the trace.

A prediction is a JSON object a line: {"program_id", "label": "vulnerable"|"safe", "score"?, "cwe"?, "lines"?: [most
suspicious first], "claims"?: [{"line"?, "variable"?, "value"?}]}. A program without a prediction, or with a label that
is neither, counts as wrong. Intervals are bootstraps over groups (pairs of one CVE stay together).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from builders.verivul.predictions import LABELS, Prediction, hit, of_vulnerable, pair_outcome, read
from builders.verivul.predictors import BASELINES
from schemas import DatasetFolder, GoldsmithError

RESAMPLES = 1000
_SEED = 20261130


@dataclass(frozen=True)
class Value:
    """A measured value with its 95 % interval; `count` is of what it is an average."""

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Score:
    """The scores of one predictor by name."""

    name: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class ScoreReport:
    """The scores of the predictions and of the baselines.

    Attributes:
        unreadable: predictions with a label that is neither; `missing`: programs without a prediction.
        items: of each program its id, weakness and whether its label is right (1 or 0).
    """

    scores: tuple[Score, ...]
    unreadable: int
    missing: int
    items: tuple[tuple[str, str, float], ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "format": 1,
            "unreadable": self.unreadable,
            "missing": self.missing,
            "scores": {
                score.name: {name: vars(value) for name, value in score.values.items()} for score in self.scores
            },
        }

    def text(self) -> str:
        """For people: a table, one column a predictor."""
        names = list(dict.fromkeys(name for score in self.scores for name in score.values))
        lines = [" " * 22 + "".join(f"{score.name:>26}" for score in self.scores)]
        for name in names:
            cells = []
            for score in self.scores:
                value = score.values.get(name)
                cells.append(f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]" if value else "")
            lines.append(f"{name:22}" + "".join(f"{cell:>26}" for cell in cells))
        lines.append(f"{self.missing} programs without a prediction, {self.unreadable} labels that cannot be read")
        return "\n".join(lines)


def score(folder: DatasetFolder | Path, predictions: Path) -> ScoreReport:
    """Score a file of predictions.

    Raises:
        GoldsmithError: the file or a line of it cannot be read (it is named), or the folder has no programs.
    """
    root = folder.path if isinstance(folder, DatasetFolder) else folder
    programs, pairs = _table(root, "programs"), _table(root, "pairs")
    found = read(predictions, {row["program_id"] for row in programs})
    unreadable = sum(not answer for answer in found.values())
    missing = sum(row["program_id"] not in found for row in programs)
    own = evaluate("predictions", programs, pairs, found)
    baselines = [evaluate(name, programs, pairs, make(programs)) for name, make in BASELINES.items()]
    items = (
        (
            row["program_id"],
            (row["cwe"] or [""])[0],
            float(found.get(row["program_id"], {}).get("label") == row["label"]),
        )
        for row in programs
    )
    return ScoreReport((own, *baselines), unreadable, missing, tuple(items))


def _table(root: Path, name: str) -> list[dict[str, Any]]:
    files = sorted((root / "data" / name).glob("*.parquet"))
    if not files:
        raise GoldsmithError(f"[{root}] has no table {name}: give the folder of a built VeriVul")
    return pl.concat([pl.read_parquet(file, glob=False) for file in files]).to_dicts()


def evaluate(
    name: str,
    programs: Sequence[Mapping[str, Any]],
    pairs: Sequence[Mapping[str, Any]],
    found: Mapping[str, Prediction],
) -> Score:
    """All scores of one predictor."""
    groups = {row["pair_id"]: row["group"] for row in pairs}
    samples: dict[str, list[tuple[str, float]]] = defaultdict(list)
    by_id = {row["program_id"]: row for row in programs}
    for row in programs:
        answer, group = found.get(row["program_id"], {}), groups[row["pair_id"]]
        right = answer.get("label") == row["label"]
        samples["accuracy"].append((group, float(right)))
        samples["recall" if row["label"] == "vulnerable" else "specificity"].append((group, float(right)))
        if row["label"] == "vulnerable":
            for key, value in of_vulnerable(row, answer).items():
                samples[key].append((group, value))
    for pair in pairs:
        outcome = pair_outcome(found.get(pair["vulnerable_id"], {}), found.get(pair["safe_id"], {}))
        lines = by_id[pair["vulnerable_id"]]
        samples["fix line hit@5"].append((pair["group"], hit(found.get(lines["program_id"], {}), pair["fix_lines"], 5)))
        for key in ("P-C", "P-V", "P-B", "P-R"):
            samples[key].append((pair["group"], float(outcome == key)))
    values = {key: _interval(samples[key]) for key in _ORDER if samples[key]}
    if scores := _false_negatives(programs, found):
        values["VD-S (FNR)"] = scores
    return Score(name, values)


_ORDER = ("accuracy", "recall", "specificity", "P-C", "P-V", "P-B", "P-R", "CWE exact", "CWE candidate", "line hit@1",
          "line hit@3", "line hit@5", "line MRR", "fix line hit@5", "claims true", "trace covered")  # fmt: skip


def _interval(samples: Sequence[tuple[str, float]]) -> Value:
    """The mean, and its percentile interval over resampled groups."""
    names = sorted({group for group, _ in samples})
    index = {name: number for number, name in enumerate(names)}
    sums, counts = np.zeros(len(names)), np.zeros(len(names))
    for group, value in samples:
        sums[index[group]] += value
        counts[index[group]] += 1
    chosen = np.random.default_rng(_SEED).integers(0, len(names), (RESAMPLES, len(names)))
    means = sums[chosen].sum(1) / counts[chosen].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Value(float(sums.sum() / counts.sum()), float(low), float(high), len(samples))


def _false_negatives(programs: Sequence[Mapping[str, Any]], found: Mapping[str, Prediction]) -> Value | None:
    """VD-S: the share of vulnerable programs missed where at most 0.5 % are false alarms; needs all scores."""
    scores: dict[str, list[float]] = {label: [] for label in LABELS}
    for row in programs:
        value = found.get(row["program_id"], {}).get("score")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        scores[row["label"]].append(float(value))
    safe, vulnerable = np.sort(scores["safe"])[::-1], np.array(scores["vulnerable"])
    if not len(safe) or not len(vulnerable):
        return None
    threshold = safe[int(0.005 * len(safe))]
    missed = float((vulnerable <= threshold).mean())
    draws = np.random.default_rng(_SEED).choice(vulnerable, (RESAMPLES, len(vulnerable)))
    low, high = np.quantile((draws <= threshold).mean(1), (0.025, 0.975))
    return Value(missed, float(low), float(high), len(vulnerable))
