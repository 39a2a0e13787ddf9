"""`goldsmith score virogym PREDICTIONS`: read the predictions, score them for the task they are for, and report."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from builders.virogym.scoring import dms, emergence, neutralisation
from builders.virogym.scoring.predictions import Predictions
from builders.virogym.scoring.report import ScoreReport
from schemas import DatasetFolder


def score(folder: DatasetFolder, predictions: Path) -> ScoreReport:
    """Score a file of predictions against a dataset folder or release.

    Raises:
        GoldsmithError: the file cannot be read or does not fit the dataset; one line says where.
    """
    return Scorer(folder).score(Predictions.read(predictions))


class Scorer:
    """The truth of a dataset, read when a task first needs it and once for all models."""

    def __init__(self, folder: DatasetFolder) -> None:
        self.folder = folder

    @cached_property
    def dms(self) -> dms.DmsTruth:
        """The deep mutational scans."""
        return dms.DmsTruth(self.folder)

    @cached_property
    def titres(self) -> neutralisation.TitreTruth:
        """The neutralisation titres."""
        return neutralisation.TitreTruth(self.folder)

    @cached_property
    def emergence(self) -> emergence.EmergenceTruth:
        """The emergence windows."""
        return emergence.EmergenceTruth(self.folder)

    def score(self, predictions: Predictions) -> ScoreReport:
        """Score predictions for whichever task they are for."""
        if predictions.task == "dms":
            return ScoreReport(self._dms(predictions))
        if predictions.task == "neutralisation":
            return ScoreReport(self._neutralisation(predictions))
        return ScoreReport(self._emergence(predictions))

    def _head(self, predictions: Predictions, left: int, of: int) -> dict[str, Any]:
        return {
            "task": predictions.task,
            "predictions": predictions.name,
            "rows": predictions.rows.height,
            "left_aside": left,
            "groups": len(predictions.groups),
            "groups_of_dataset": of,
        }

    def _dms(self, predictions: Predictions) -> dict[str, Any]:
        known = self.dms
        sections, left = dms.score(known, predictions)
        return {
            **self._head(predictions, left, known.scored["assay_id"].n_unique()),
            "supervised": predictions.supervised,
            "sections": [_section(section) for section in sections],
        }

    def _neutralisation(self, predictions: Predictions) -> dict[str, Any]:
        known = self.titres
        cohorts, left = neutralisation.score(known, predictions)
        species = sorted({cohort.species for cohort in cohorts})
        return {
            **self._head(predictions, left, known.rows["serum_id"].n_unique()),
            "species": {each: neutralisation.summary(cohorts, each) for each in species},
            "cohorts": [_cohort(cohort) for cohort in cohorts],
        }

    def _emergence(self, predictions: Predictions) -> dict[str, Any]:
        known = self.emergence
        scores, left = emergence.score(known, predictions)
        return {
            **self._head(predictions, left, known.windows.height),
            "windows": [
                {
                    "window_id": each.window_id,
                    "label": each.label,
                    "reach": each.reach,
                    "candidates": each.candidates,
                    "positive": each.positive,
                    "by_model": each.by_model,
                }
                for each in scores
            ],
        }


def _section(section: dms.Section) -> dict[str, Any]:
    models = list(section.assays[0].within_folds)
    folds = np.array([[each.within_folds[model] for model in models] for each in section.assays], np.float64)
    within = dict(zip(models, section.groups.overall(folds).tolist(), strict=True))
    return {
        "split": section.split,
        "eligible": section.eligible,
        "rows": section.rows,
        "within_folds": within,
        "means": dms.summary(section) if section.models else {},
        "assays": [
            {
                "assay_id": each.assay_id,
                "phenotype": each.phenotype,
                "cluster_90": each.cluster,
                "rows": each.rows,
                "within_folds": each.within_folds,
                "by_model": each.by_model,
            }
            for each in section.assays
        ],
    }


def _cohort(cohort: neutralisation.CohortScore) -> dict[str, Any]:
    k = len(neutralisation.METRICS)
    means = {}
    for i, model in enumerate(cohort.models):
        values = cohort.sera[:, i * k : (i + 1) * k]
        known = ~np.isnan(values)
        total = np.where(known, values, 0).sum(axis=0)
        means[model] = {
            name: float(total[j] / known[:, j].sum()) if known[:, j].any() else float("nan")
            for j, name in enumerate(neutralisation.METRICS)
        } | {"of_means": cohort.of_means[model]}
    return {
        "task_id": cohort.task_id,
        "cohort": cohort.cohort,
        "species": cohort.species,
        "sera": len(cohort.sera),
        "titres": cohort.rows,
        "censored": cohort.censored,
        "by_model": means,
    }
