"""Deep mutational scans: the metrics of each assay, their averages, and how far the folds change the picture.

Scored are substitutions, single and multiple (`kind` `sub` and `multi`), as in ProteinGym. Predictions for other
variants are counted and left aside. Higher must mean a higher `score` of the table: fitter, or more escape in an assay
whose direction is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from builders.virogym.baselines import substitutions
from builders.virogym.scoring import truth
from builders.virogym.scoring.averages import Groups, interval
from builders.virogym.scoring.metrics import FORMS, METRICS, Assay
from builders.virogym.scoring.predictions import SPLITS, Predictions, matched, refuse_unknown
from builders.virogym.scoring.ranking import Floats, Ranking, correlation
from schemas import DatasetFolder, GoldsmithError

MODEL = "model"
BASELINES = tuple(substitutions.MATRICES)
SCORED = ("sub", "multi")
_COLUMNS = ("assay_id", "variant_id", "mutant", "kind", "score", "bin", *(f"split_{name}" for name in SPLITS))


@dataclass(frozen=True)
class AssayScore:
    """What models reach on one assay.

    Attributes:
        rows: how many substitutions were scored.
        by_model: model -> form -> metric -> value; nan where it is not defined.
        within_folds: mean over the folds of Spearman within a fold, by model; empty without a split.
    """

    assay_id: str
    phenotype: str
    cluster: str
    rows: int
    by_model: Mapping[str, Mapping[str, Mapping[str, float]]]
    within_folds: Mapping[str, float]


@dataclass(frozen=True)
class Section:
    """All predicted assays under one way to split them.

    Attributes:
        split: None for a model that was not trained on the assays.
        eligible: rows that the split deals into folds, of `rows` substitutions.
    """

    split: str | None
    eligible: int
    rows: int
    assays: Sequence[AssayScore]

    @property
    def groups(self) -> Groups:
        """Phenotypes and clusters of its assays."""
        return Groups.of([each.phenotype for each in self.assays], [each.cluster for each in self.assays])

    @property
    def models(self) -> list[str]:
        """The model, then the baselines."""
        return list(self.assays[0].by_model)

    def values(self, form: str) -> Floats:
        """Shape (assays, models x metrics). ProteinGym rounds each assay's value to three decimals first."""
        rows = [[each.by_model[m][form][name] for m in self.models for name in METRICS] for each in self.assays]
        return np.round(rows, 3) if form == "proteingym" else np.array(rows, np.float64)


class DmsTruth:
    """The substitutions of a dataset, read once for all models that are scored."""

    def __init__(self, folder: DatasetFolder) -> None:
        self.variants = truth.table(folder, "variants", _COLUMNS)
        assays = truth.table(folder, "assays", ("assay_id", "phenotype", "reference_id"))
        references = truth.table(folder, "references", ("reference_id", "cluster_90"))
        self.assays = assays.join(references, on="reference_id", maintain_order="left")
        self.scored = self.variants.filter(pl.col("kind").is_in(SCORED))
        self._prepared: dict[tuple[str, str | None], Assay] = {}

    def prepared(self, assay_id: str, split: str | None, rows: pl.DataFrame) -> Assay:
        """Ranks and gains of an assay's rows, made once."""
        if (assay_id, split) not in self._prepared:
            bins = rows["bin"]
            if bins.null_count():
                raise GoldsmithError(f"[{assay_id}] has substitutions without a bin: build virogym again")
            self._prepared[assay_id, split] = Assay.of(rows["score"].to_numpy(), bins.to_numpy() == 1)
        return self._prepared[assay_id, split]


def score(known: DmsTruth, predictions: Predictions) -> tuple[list[Section], int]:
    """The sections of a report, and how many predictions are for variants that are not scored.

    A model that was not trained has one section for all substitutions, and one for each split that shows it on the
    same rows as supervised models. A supervised model has a section for each split that it predicts.
    """
    matched_rows = 0
    sections = []
    for split in [each for each in SPLITS if each in predictions.rows["split"]] if predictions.supervised else [None]:
        mine = predictions.rows.filter(pl.col("split") == split) if split else predictions.rows
        rows = matched(_eligible(known.scored, split), predictions, mine)
        matched_rows += rows.height
        if rows.height:
            rows = _with_baselines(rows)
            sections.append(_section(known, split, rows))
            if split is None:
                sections += [_section(known, name, rows, folds_only=True) for name in SPLITS]
    left = predictions.rows.height - matched_rows
    if left or not sections:
        refuse_unknown(predictions, known.variants)
    if not sections:
        raise GoldsmithError(f"[{predictions.name}] predicts no substitution: only substitutions are scored")
    return sections, left


def _eligible(rows: pl.DataFrame, split: str | None) -> pl.DataFrame:
    return rows if split is None else rows.filter(pl.col(f"split_{split}").is_not_null())


def _with_baselines(rows: pl.DataFrame) -> pl.DataFrame:
    more = {f"score_{name}": substitutions.score(name, rows["mutant"]) for name in BASELINES}
    return rows.with_columns(**{name: pl.Series(values) for name, values in more.items()})


def _section(known: DmsTruth, split: str | None, rows: pl.DataFrame, folds_only: bool = False) -> Section:
    """Score the assays of `rows`, all or those of a split's folds."""
    eligible = _eligible(rows, split)
    about = {row["assay_id"]: row for row in known.assays.iter_rows(named=True)}
    scores = []
    for part in eligible.partition_by("assay_id", maintain_order=True):
        assay = about[part["assay_id"][0]]
        models = {name: part[f"score_{name}"].to_numpy() for name in (MODEL, *BASELINES)}
        found = {}
        if not folds_only:
            prepared = known.prepared(assay["assay_id"], split, part)
            found = {name: prepared.score(values) for name, values in models.items()}
        within = _within_folds(part, split, models) if split else {}
        scores.append(
            AssayScore(assay["assay_id"], assay["phenotype"], assay["cluster_90"], part.height, found, within)
        )
    return Section(split, eligible.height, rows.height, scores)


def _within_folds(rows: pl.DataFrame, split: str, models: Mapping[str, Floats]) -> dict[str, float]:
    """Mean over the folds of Spearman within each, so that a fold's own level counts for nothing."""
    fold = rows[f"split_{split}"].rank("dense").to_numpy()
    parts = [np.flatnonzero(fold == each) for each in np.unique(fold)]
    y = rows["score"].to_numpy()
    ranks = [Ranking.of(y[part]).middle() for part in parts]
    found = {}
    for name, values in models.items():
        rhos = [correlation(r, Ranking.of(values[p]).middle()) for r, p in zip(ranks, parts, strict=True)]
        found[name] = float(np.mean(np.nan_to_num(rhos)))
    return found


def summary(section: Section) -> dict[str, dict[str, dict[str, object]]]:
    """form -> model -> {metric: mean, `by_phenotype`, `interval`, `over_assays`}; one number for a section."""
    groups, out = section.groups, {}
    for form in FORMS:
        values = section.values(form)
        overall, phenotypes = groups.overall(values), groups.by_phenotype(values)
        plain = [float(np.nanmean(column)) if not np.isnan(column).all() else float("nan") for column in values.T]
        draws = groups.draws(values)
        out[form] = {}
        for i, model in enumerate(section.models):
            at = {name: i * len(METRICS) + j for j, name in enumerate(METRICS)}
            out[form][model] = {
                "mean": {name: float(overall[place]) for name, place in at.items()},
                "interval": {name: interval(draws[:, place]) for name, place in at.items()},
                "over_assays": {name: plain[place] for name, place in at.items()},
                "by_phenotype": {
                    phenotype: {name: float(phenotypes[row, place]) for name, place in at.items()}
                    for row, phenotype in enumerate(groups.phenotypes)
                },
                "less_model": _differences(draws, overall, i) if i else {},
            }
    return out


def _differences(draws: Floats, overall: Floats, i: int) -> dict[str, dict[str, object]]:
    """How far the model is above a baseline, drawn together: the difference and its interval."""
    found: dict[str, dict[str, object]] = {}
    for j, name in enumerate(METRICS):
        place = i * len(METRICS) + j
        found[name] = {
            "difference": float(overall[j] - overall[place]),
            "interval": interval(draws[:, j] - draws[:, place]),
        }
    return found
