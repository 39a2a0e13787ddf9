"""Neutralisation: does a model order the strains as each serum does?

Per serum, over the strains it was tested against: Spearman with log2 titre over the measured titres; and, with the
censored ones, concordance and Kendall's tau-b over the pairs whose order is known. A titre `<40` is below every
measured titre above 40 and in no known order to another `<40`. Then the mean over the sera of a cohort, and over the
cohorts of a species. Human and ferret sera stand apart: people's sera neutralise the strains of their youth best, a
ferret's the one strain it met, so that the same distance has another sign.

ViroGym has one titre for each strain, a cohort's mean; the rank correlation with those means is given beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from builders.virogym.baselines import titres
from builders.virogym.scoring import truth
from builders.virogym.scoring.averages import Groups, interval
from builders.virogym.scoring.predictions import Predictions, matched, refuse_unknown
from builders.virogym.scoring.ranking import Floats, Ranking, correlation
from schemas import DatasetFolder

METRICS = ("spearman", "concordance", "kendall")
MODEL = "model"
LEAST = 5
"""Strains with a measured titre, or in known order, that a serum needs for a metric."""


@dataclass(frozen=True)
class CohortScore:
    """Sera of one species in one task and cohort.

    Attributes:
        censored: share of the titres that are limits.
        sera: one row a serum, in the order of `METRICS` within that of `models`; nan where not defined.
        of_means: Spearman with the cohort's mean log2 titre of each strain (a limit counts as itself), by model.
    """

    task_id: str
    cohort: str
    species: str
    rows: int
    censored: float
    models: Sequence[str]
    sera: Floats
    of_means: Mapping[str, float]


def bounds(log2_titre: Floats, censor: Sequence[str]) -> tuple[Floats, Floats]:
    """The lowest and highest value that each titre may have."""
    kind = np.asarray(censor)
    low = np.where(kind == "left", -np.inf, log2_titre)
    return low, np.where(kind == "right", np.inf, log2_titre)


def pairs(low: Floats, high: Floats, score: Floats) -> tuple[float, float]:
    """Concordance (Harrell's C) and Kendall's tau-b over the pairs in known order; nan where there are none.

    A tie of scores is half concordant. tau-b is scipy's where nothing is censored: a pair of unknown order counts as a
    tie of the truth.

    Args:
        low, high: from `bounds`, shape (n,).
        score: higher for a higher titre, shape (n,).
    """
    above = low[:, None] > high[None, :]
    step = np.sign(score[:, None] - score[None, :])
    known = int(above.sum())
    balance = float(step[above].sum())
    apart = int(np.count_nonzero(step)) // 2
    concordance = (balance / known + 1) / 2 if known else float("nan")
    return concordance, balance / np.sqrt(known * apart) if known and apart else (0.0 if known else float("nan"))


def serum(log2_titre: Floats, censor: Sequence[str], score: Floats) -> list[float]:
    """One serum's metrics, in the order of `METRICS`; nan where fewer than `LEAST` strains can say something."""
    measured = np.asarray(censor) == "none"
    rho = float("nan")
    if measured.sum() >= LEAST and len(np.unique(log2_titre[measured])) > 1:
        ranks = Ranking.of(log2_titre[measured]).middle()
        rho = float(np.nan_to_num(correlation(ranks, Ranking.of(score[measured]).middle())))
    if len(score) < LEAST:
        return [rho, float("nan"), float("nan")]
    return [rho, *pairs(*bounds(log2_titre, censor), score)]


class TitreTruth:
    """The titres of a dataset, with the baseline's distance of each strain."""

    def __init__(self, folder: DatasetFolder) -> None:
        rows = truth.table(folder, "neutralisation", ("task_id", "serum_id", "strain_id", "log2_titre", "censor"))
        sera = truth.table(folder, "sera", ("serum_id", "species", "cohort"))
        self.rows = rows.join(sera, on="serum_id", maintain_order="left").join(
            titres.hamming(folder), on=["serum_id", "strain_id"], how="left", maintain_order="left"
        )


def score(known: TitreTruth, predictions: Predictions) -> tuple[list[CohortScore], int]:
    """The predicted cohorts, and how many predictions are for no titre.

    Raises:
        GoldsmithError: a serum is predicted in part, or a prediction is for no serum or strain of the dataset.
    """
    rows = matched(known.rows, predictions, predictions.rows)
    left = predictions.rows.height - rows.height
    if left:
        _refuse(known, predictions)
    parts = rows.partition_by("task_id", "cohort", maintain_order=True)
    return [_cohort(part) for part in parts], left


def _refuse(known: TitreTruth, predictions: Predictions) -> None:
    """Every serum with every strain may be predicted; titres are missing for some."""
    strains = known.rows.select("strain_id").unique()
    refuse_unknown(predictions, known.rows.select("serum_id").unique().join(strains, how="cross"))


def _cohort(part: pl.DataFrame) -> CohortScore:
    models = {MODEL: "score_model"} | ({"hamming": "score_hamming"} if not part["score_hamming"].null_count() else {})
    sera = []
    for one in part.partition_by("serum_id", maintain_order=True):
        y, censor = one["log2_titre"].to_numpy(), one["censor"].to_list()
        sera.append([value for column in models.values() for value in serum(y, censor, one[column].to_numpy())])
    means = part.group_by("strain_id", maintain_order=True).agg(pl.col("log2_titre", *models.values()).mean())
    ranks = Ranking.of(means["log2_titre"].to_numpy()).middle()
    first = part.row(0, named=True)
    return CohortScore(
        first["task_id"],
        first["cohort"],
        first["species"],
        part.height,
        float(np.mean(part["censor"].to_numpy() != "none")),
        list(models),
        np.array(sera, np.float64),
        {name: correlation(ranks, Ranking.of(means[column].to_numpy()).middle()) for name, column in models.items()},
    )


def summary(cohorts: Sequence[CohortScore], species: str) -> dict[str, dict[str, object]]:
    """model -> {`mean`, `interval`}: the mean over the sera of a cohort, then over the cohorts of one species.

    The interval is a bootstrap over sera within their cohorts. A model that some cohort lacks (a distance where no
    vaccine strain is known) is averaged over the others, and `cohorts` says how many.
    """
    mine = [cohort for cohort in cohorts if cohort.species == species]
    found: dict[str, dict[str, object]] = {}
    for model in dict.fromkeys(name for cohort in mine for name in cohort.models):
        some = [cohort for cohort in mine if model in cohort.models]
        at = {cohort.task_id + cohort.cohort: list(cohort.models).index(model) * len(METRICS) for cohort in some}
        values = np.concatenate([c.sera[:, at[c.task_id + c.cohort] :][:, : len(METRICS)] for c in some])
        names = [c.task_id + c.cohort for c in some for _ in range(len(c.sera))]
        groups = Groups.of(names, [str(i) for i in range(len(names))])
        overall, draws = groups.overall(values), groups.draws(values, 1000)
        found[model] = {
            "cohorts": len(some),
            "sera": len(names),
            "mean": {name: float(overall[j]) for j, name in enumerate(METRICS)},
            "interval": {name: interval(draws[:, j]) for j, name in enumerate(METRICS)},
            "of_means": float(np.mean([c.of_means[model] for c in some])),
        }
    return found
