"""Scores predictions against VeriVul: detection, pairs, weakness, root cause, and explanations grounded in the trace.

A prediction is a JSON object a line: {"program_id", "label": "vulnerable"|"safe", "score"?, "cwe"?, "lines"?: [most
suspicious first], "claims"?: [{"line"?, "variable"?, "value"?}]}. A program without a prediction, or with one that
cannot be read, counts as wrong. Intervals are bootstraps over groups (pairs of one CVE stay together).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from builders.verivul import neardup
from schemas import DatasetFolder, GoldsmithError

RESAMPLES = 1000
_SEED = 20261130
_LABELS = ("vulnerable", "safe")
_HITS = (1, 3, 5)


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
        unreadable: lines of the predictions that could not be read; `missing` programs without a prediction.
    """

    scores: tuple[Score, ...]
    unreadable: int
    missing: int

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
        lines.append(f"{self.missing} programs without a prediction, {self.unreadable} lines that cannot be read")
        return "\n".join(lines)


Prediction = Mapping[str, Any]


def score(folder: DatasetFolder | Path, predictions: Path) -> ScoreReport:
    """Score a file of predictions.

    Raises:
        GoldsmithError: the file is absent, or the folder has no programs.
    """
    root = folder.path if isinstance(folder, DatasetFolder) else folder
    programs, pairs = _table(root, "programs"), _table(root, "pairs")
    found, unreadable = read(predictions)
    missing = sum(row["program_id"] not in found for row in programs)
    own = evaluate("predictions", programs, pairs, found)
    baselines = [evaluate(name, programs, pairs, make(programs)) for name, make in BASELINES.items()]
    return ScoreReport((own, *baselines), unreadable, missing)


def _table(root: Path, name: str) -> list[dict[str, Any]]:
    files = sorted((root / "data" / name).glob("*.parquet"))
    if not files:
        raise GoldsmithError(f"[{root}] has no table {name}: give the folder of a built VeriVul")
    return pl.concat([pl.read_parquet(file) for file in files]).to_dicts()


def read(path: Path) -> tuple[dict[str, Prediction], int]:
    """(predictions by program, number of lines that cannot be read); of two for a program the last counts.

    Raises:
        GoldsmithError: there is no such file.
    """
    if not path.is_file():
        raise GoldsmithError(f"[{path}] is no file: give the predictions as JSON lines")
    found, unreadable = {}, 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            entry = line
        if isinstance(entry, dict) and isinstance(entry.get("program_id"), str) and entry.get("label") in _LABELS:
            found[entry["program_id"]] = entry
        elif entry is not None:
            unreadable += 1
    return found, unreadable


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
            for key, value in _of_vulnerable(row, answer).items():
                samples[key].append((group, value))
    for pair in pairs:
        outcome = _pair_outcome(found.get(pair["vulnerable_id"], {}), found.get(pair["safe_id"], {}))
        lines = by_id[pair["vulnerable_id"]]
        samples["fix line hit@5"].append(
            (pair["group"], _hit(found.get(lines["program_id"], {}), pair["fix_lines"], 5))
        )
        for key in ("P-C", "P-V", "P-B", "P-R"):
            samples[key].append((pair["group"], float(outcome == key)))
    values = {key: _interval(samples[key]) for key in _ORDER if samples[key]}
    if scores := _false_negatives(programs, found):
        values["VD-S (FNR)"] = scores
    return Score(name, values)


_ORDER = ("accuracy", "recall", "specificity", "P-C", "P-V", "P-B", "P-R", "CWE exact", "CWE candidate", "line hit@1",
          "line hit@3", "line hit@5", "line MRR", "fix line hit@5", "claims true", "trace covered")  # fmt: skip


def _pair_outcome(vulnerable: Prediction, safe: Prediction) -> str:
    """Both right, both called vulnerable, both called benign, both reversed; without an answer, the worst: reversed."""
    first = vulnerable.get("label", "safe") == "vulnerable"
    second = safe.get("label", "vulnerable") == "vulnerable"
    return {(True, False): "P-C", (True, True): "P-V", (False, False): "P-B", (False, True): "P-R"}[first, second]


def _of_vulnerable(row: Mapping[str, Any], answer: Prediction) -> dict[str, float]:
    found = {}
    if row["cwe_primary"] is not None:
        guess = _number(answer.get("cwe"))
        found["CWE exact"] = float(guess == row["cwe_primary"])
        found["CWE candidate"] = float(guess is not None and guess in {*row["cwe"], row["cwe_primary"]})
    for count in _HITS:
        found[f"line hit@{count}"] = _hit(answer, [row["violating_line"]], count)
    lines = _lines(answer)
    place = lines.index(row["violating_line"]) + 1 if row["violating_line"] in lines else None
    found["line MRR"] = 1 / place if place else 0.0
    claims = [claim for claim in answer.get("claims") or () if isinstance(claim, dict)]
    true = [claim for claim in claims if holds(claim, row)]
    found["claims true"] = len(true) / len(claims) if claims else 0.0
    steps = {step["line"] for step in row["trace"] if step["line"]} | {row["violating_line"]}
    named = {_number(claim.get("line")) for claim in true} & steps
    found["trace covered"] = len(named) / len(steps) if steps else 0.0
    return found


def holds(claim: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether a claim (a line, a variable, a value: what is given of them) is a step of the trace or its violation."""
    line, variable, value = _number(claim.get("line")), claim.get("variable"), claim.get("value")
    if line is None and variable is None:
        return False
    if variable is None and value is None and line == row["violating_line"]:
        return True
    return any(
        (line is None or step["line"] == line)
        and (variable is None or step["variable"] == variable)
        and (value is None or _same(step["value"], value))
        for step in row["trace"]
    )


def _same(one: str, other: object) -> bool:
    return _plain(one) == _plain(str(other))


def _plain(text: str) -> str:
    text = text.strip().rstrip("uUlLfF") if re.match(r"\s*-?[\d.]", text) else text.strip()
    try:
        return repr(float(int(text, 0)) if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)", text) else float(text))
    except ValueError:
        return text.lower()


def _number(value: object) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    match = re.search(r"\d+", str(value))
    return int(match[0]) if match else None


def _lines(answer: Prediction) -> list[int]:
    lines = answer.get("lines")
    return [line for line in lines if isinstance(line, int)] if isinstance(lines, list) else []


def _hit(answer: Prediction, wanted: Sequence[int], count: int) -> float:
    return float(not set(wanted).isdisjoint(_lines(answer)[:count]))


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
    scores: dict[str, list[float]] = {label: [] for label in _LABELS}
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
        counts = {label: Counter() for label in _LABELS}
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
"""Predictors that know nothing of programs: a score means something only beside theirs."""
