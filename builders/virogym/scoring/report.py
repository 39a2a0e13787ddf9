"""What a score says, as JSON and as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builders.virogym.scoring import emergence, neutralisation
from builders.virogym.scoring.metrics import METRICS
from schemas import GoldsmithError

_GROUPS = {"dms": "assays", "neutralisation": "sera", "emergence": "windows"}
HEADINGS = {"spearman": "Spearman", "auc": "AUC", "mcc": "MCC", "ndcg": "NDCG", "top_recall": "top 10 %"}


@dataclass(frozen=True)
class ScoreReport:
    """The scores of one file of predictions.

    Attributes:
        result: as `to_json` gives it, with nan where a value is not defined.
    """

    result: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """For programs: nan is null."""
        return _plain(self.result)

    @property
    def items(self) -> tuple[tuple[str, str, float], ...]:
        """Of each assay of mutations, and each window and label of emergence: its id, what it measures, and the model's
        Spearman (tie-safe) or AUROC above chance, 0 to 1.

        Raises:
            GoldsmithError: the predictions are of titres: sera are too many and too alike to be items.
        """
        if self.result["task"] == "neutralisation":
            raise GoldsmithError(f"[{self.result['predictions']}] sera are no items: leave --items out")
        found = []
        for section in self.result.get("sections", ()):
            for assay in section["assays"] if not section["split"] else ():
                rho = assay["by_model"]["model"]["tie_safe"]["spearman"]
                found.append((assay["assay_id"], assay["phenotype"], max(0.0, rho)))
        for window in self.result.get("windows", ()):
            auroc = window["by_model"]["model"]["auroc"]
            item = f"{window['window_id']} {window['label']} {window['reach']}"
            found.append((item, "emergence", max(0.0, 2 * auroc - 1)))
        return tuple(item for item in found if math.isfinite(item[2]))

    def text(self) -> str:
        """For people."""
        result = self.result
        lines = [
            f"{result['predictions']}: {_GROUPS[result['task']]} {result['groups']} of {result['groups_of_dataset']}, "
            f"{result['rows']:,} predictions, {result['left_aside']:,} of them for rows that are not scored"
        ]
        parts = {"dms": _dms, "neutralisation": _neutralisation, "emergence": _emergence}
        return "\n".join([*lines, *parts[result["task"]](result)])


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def number(value: float | None, width: int = 0, digits: int = 3) -> str:
    """A value to so many digits, or a dash where it is not defined."""
    undefined = value is None or math.isnan(value)
    return ("-" if undefined else f"{value:z.{digits}f}").rjust(width)


def _dms(result: Mapping[str, Any]) -> list[str]:
    lines = []
    for section in result["sections"]:
        if section["means"]:
            lines += _section(section)
    folds = [section for section in result["sections"] if section["within_folds"]]
    if folds:
        models = list(folds[0]["within_folds"])
        lines += ["", "Spearman within folds, by split, averaged in the same way"]
        lines.append(f"  {'split':12} {'eligible rows':>20} " + " ".join(f"{name:>14}" for name in models))
        for section in folds:
            some = f"{section['eligible']:,} of {section['rows']:,}"
            cells = " ".join(number(section["within_folds"][name], 14) for name in models)
            lines.append(f"  {section['split']:12} {some:>20} {cells}")
    return lines


def _section(section: Mapping[str, Any]) -> list[str]:
    words = f"split {section['split']}: out-of-fold" if section["split"] else "all"
    lines = []
    for form, title in (("tie_safe", "ties as expected values"), ("proteingym", "as ProteinGym defines it")):
        means = section["means"][form]
        lines += [
            "",
            f"{words} predictions of {len(section['assays'])} assays, {section['eligible']:,} substitutions; {title}",
            "mean over phenotypes of means over proteins, with 95 % intervals over assays, drawn by protein",
        ]
        lines.append(f"  {'':16} " + " ".join(f"{HEADINGS[name]:>21}" for name in METRICS))
        for model, row in means.items():
            lines.append(f"  {model:16} " + " ".join(_with_interval(row, name) for name in METRICS))
    rows = section["means"]["tie_safe"]
    lines += ["", f"  {'Spearman by phenotype':47} " + " ".join(f"{model:>14}" for model in rows)]
    for phenotype in next(iter(rows.values()))["by_phenotype"]:
        cells = " ".join(number(row["by_phenotype"][phenotype]["spearman"], 14) for row in rows.values())
        lines.append(f"  {phenotype:47} {cells}")
    lines += ["", f"  {'Spearman by assay':47} " + " ".join(f"{model:>14}" for model in rows) + f" {'rows':>8}"]
    for assay in section["assays"]:
        cells = " ".join(number(each["tie_safe"]["spearman"], 14) for each in assay["by_model"].values())
        lines.append(f"  {assay['assay_id']:47} {cells} {assay['rows']:8,}")
    return lines


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    ends = row["interval"][name]
    shown = f" [{number(ends[0])}, {number(ends[1])}]" if ends else ""
    return (number(row["mean"][name]) + shown).rjust(21)


def _neutralisation(result: Mapping[str, Any]) -> list[str]:
    lines = []
    names = neutralisation.METRICS
    for species, models in result["species"].items():
        lines += ["", f"{species} sera: mean over sera, then over cohorts, with 95 % intervals over sera"]
        lines.append(f"  {'':16} " + " ".join(f"{name:>23}" for name in names) + f" {'of means':>9} {'cohorts':>8}")
        for model, row in models.items():
            cells = " ".join(_with_interval(row, name).rjust(23) for name in names)
            lines.append(f"  {model:16} {cells} {number(row['of_means'], 9)} {row['cohorts']:8}")
    heads = " ".join(f"{name:>11}" for name in (*names, "of means"))
    lines += ["", f"  {'cohort':48} {'sera':>5} {'titres':>7} {'censored':>9} {'':10} {heads}"]
    tasks = [cohort["task_id"] for cohort in result["cohorts"]]
    for cohort in result["cohorts"]:
        name = cohort["task_id"] + (f" {cohort['cohort']}" if tasks.count(cohort["task_id"]) > 1 else "")
        for i, (model, row) in enumerate(cohort["by_model"].items()):
            about = f"{cohort['sera']:5} {cohort['titres']:7,} {cohort['censored']:9.1%}" if not i else " " * 23
            cells = " ".join(number(row[key], 11) for key in (*names, "of_means"))
            lines.append(f"  {'' if i else name:48} {about} {model:10} {cells}")
    return lines


def _emergence(result: Mapping[str, Any]) -> list[str]:
    lines = []
    for each in result["windows"]:
        reach = "reachable by one nucleotide" if each["reach"] == "one_nucleotide" else "all"
        lines += ["", f"{each['window_id']}, {each['label']}: {each['positive']:,} of {each['candidates']:,} {reach}"]
        if not each["positive"]:
            continue
        lines.append(f"  {'':16} " + " ".join(f"{name:>7}" for name in emergence.METRICS))
        for model, row in each["by_model"].items():
            lines.append(f"  {model:16} " + " ".join(number(row[name], 7) for name in emergence.METRICS))
    return lines
