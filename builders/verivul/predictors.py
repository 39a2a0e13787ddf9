"""Predictors that know nothing of programs: a score means something only beside theirs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from builders.verivul import neardup
from builders.verivul.predictions import LABELS, Prediction


def _constant(programs: Sequence[Mapping[str, Any]]) -> dict[str, Prediction]:
    return {row["program_id"]: {"label": "vulnerable", "lines": [], "score": 1.0} for row in programs}


def _length(programs: Sequence[Mapping[str, Any]]) -> dict[str, Prediction]:
    """Shorter than the median is vulnerable: fixes add lines."""
    middle = float(np.median([len(row["code"]) for row in programs]))
    return {
        row["program_id"]: {"label": "vulnerable" if len(row["code"]) < middle else "safe", "score": -len(row["code"])}
        for row in programs
    }


def _ngrams(programs: Sequence[Mapping[str, Any]]) -> dict[str, Prediction]:
    """Naive Bayes over token 5-grams, each repository predicted by what the others have."""
    grams = {row["program_id"]: neardup.shingles(row["code"]) for row in programs}
    folds = sorted({_fold(row) for row in programs})
    found: dict[str, Prediction] = {}
    for fold in folds:
        counts = {label: Counter() for label in LABELS}
        for row in programs:
            if _fold(row) != fold:
                counts[row["label"]].update(grams[row["program_id"]])
        for row in programs:
            if _fold(row) == fold:
                ratio = sum(
                    math.log((counts["vulnerable"][gram] + 1) / (counts["safe"][gram] + 1))
                    for gram in grams[row["program_id"]]
                )
                found[row["program_id"]] = {"label": "vulnerable" if ratio > 0 else "safe", "score": ratio}
    return found


def _fold(row: Mapping[str, Any]) -> str:
    return "/".join((row["repository"], *row["cve"]))


BASELINES: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], dict[str, Prediction]]] = {
    "all vulnerable": _constant,
    "shorter is vulnerable": _length,
    "token 5-grams": _ngrams,
}
"""By name."""
