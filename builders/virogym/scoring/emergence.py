"""Emergence: does a model rank the changes that rise from one period to the next above those that do not?

Each window is scored by itself and windows stand in the order of time: what a model saw of T1 is for its user to say.
Scored are the candidates whose label is known; changes that the source does not count (deletions, reversions, masked
sites) are no negatives, nor are changes that it does not list under a rule that cannot say what that means. For each
label - the window's own rule, every other rule of `label_rules`, and novel - AUROC,
average precision, and precision and recall among the first k; over all candidates and over those that one nucleotide
reaches. Ties count as expected values, so that a count that is 0 for most candidates gets no luck.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from builders.virogym.baselines import rising
from builders.virogym.scoring import truth
from builders.virogym.scoring.predictions import Predictions, matched, refuse_unknown
from builders.virogym.scoring.ranking import Floats, Ranking, auroc, average_precision
from schemas import DatasetFolder, GoldsmithError

MODEL = "model"
FIRST = (50, 100, 500)
NOVEL = "novel"
_COLUMNS = (
    "window_id", "mutation", "wt", "mut", "status", "count_T", "min_nt_dist", "is_novel", "is_emergent", "emergent_by",
)  # fmt: skip


@dataclass(frozen=True)
class LabelScore:
    """One label of one window over one set of candidates.

    Attributes:
        label: `novel`, or a rule of `label_rules`.
        reach: `all`, or `one_nucleotide`.
        by_model: model -> metric -> value; nan where there is no positive candidate.
    """

    window_id: str
    label: str
    reach: str
    candidates: int
    positive: int
    by_model: Mapping[str, Mapping[str, float]]


def measure(label: npt.NDArray[np.bool_], score: Floats) -> dict[str, float]:
    """AUROC, AP, P@k and R@k of scores, shape (n,), expected over ties; nan without a positive candidate."""
    ranking = Ranking.of(score)
    found = {"auroc": auroc(label, ranking), "ap": average_precision(label, ranking)}
    total = int(label.sum())
    for k in FIRST:
        hits = float(ranking.within(k)[label].sum())
        found[f"p@{k}"] = hits / min(k, len(label)) if total else float("nan")
        found[f"r@{k}"] = hits / total if total else float("nan")
    return found


METRICS = tuple(measure(np.array([True]), np.zeros(1)))


class EmergenceTruth:
    """The labelled candidates of a dataset, windows in the order of time, with the baselines' scores.

    `rules` says of each rule whether a change that the source does not list counts as zero, so that it has a label.
    """

    def __init__(self, folder: DatasetFolder) -> None:
        windows = truth.table(folder, "windows", ("window_id", "start_T", "start_T1", "label_rule"))
        self.windows = windows.sort("start_T1", "start_T", "window_id")
        self.candidates = truth.table(folder, "emergence", _COLUMNS)
        rules = truth.table(folder, "label_rules", ("label_rule", "definition"))
        definitions = [json.loads(text) for text in rules["definition"].to_list()]
        self.rules = {
            rule: definition["absent"] == "zero"
            for rule, definition in zip(rules["label_rule"], definitions, strict=True)
        }
        self.rows = rising.with_baselines(self.candidates.filter(pl.col("is_emergent").is_not_null()))


def score(known: EmergenceTruth, predictions: Predictions) -> tuple[list[LabelScore], int]:
    """Every label of every predicted window, and how many predictions are for candidates without a label.

    Raises:
        GoldsmithError: a window is predicted in part, or a prediction is for no candidate.
    """
    rows = matched(known.rows, predictions, predictions.rows)
    left = predictions.rows.height - rows.height
    if left:
        refuse_unknown(predictions, known.candidates)
    if not rows.height:
        raise GoldsmithError(f"[{predictions.name}] predicts no candidate whose label is known: nothing to score")
    found = []
    for window_id, rule in known.windows.select("window_id", "label_rule").iter_rows():
        part = rows.filter(pl.col("window_id") == window_id)
        if part.height:
            for label in (rule, *(each for each in known.rules if each != rule), NOVEL):
                zero = known.rules.get(label, True)
                found += _label(window_id, label, part if zero else part.filter(pl.col("status") == "counted"))
    return found, left


def _label(window_id: str, label: str, part: pl.DataFrame) -> list[LabelScore]:
    """A label over all of its candidates, and over those that one nucleotide reaches."""
    models = {MODEL: "score_model"} | {name: f"score_{name}" for name in rising.BASELINES}
    is_positive = pl.col("is_novel") if label == NOVEL else pl.col("emergent_by").list.contains(label)
    part = part.with_columns(positive=is_positive.fill_null(False))
    found = []
    for reach in ("all", "one_nucleotide"):
        rows = part if reach == "all" else part.filter(pl.col("min_nt_dist") == 1)
        if rows.height:
            positive = rows["positive"].to_numpy()
            by_model = {name: measure(positive, rows[column].to_numpy()) for name, column in models.items()}
            found.append(LabelScore(window_id, label, reach, rows.height, int(positive.sum()), by_model))
    return found
