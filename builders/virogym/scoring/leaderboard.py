"""The leaderboard: one self-contained page with every model's scores beside the baselines, and plots of each assay."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.virogym import baselines
from builders.virogym.scoring import emergence, neutralisation
from builders.virogym.scoring.metrics import FORMS, METRICS
from builders.virogym.scoring.predictions import Predictions
from builders.virogym.scoring.report import HEADINGS, number
from builders.virogym.scoring.score import Scorer
from schemas import DatasetFolder, GoldsmithError
from schemas.files import replace_text

_TEMPLATES = Path(__file__).parent / "templates"
_BASELINES = {
    "dms": ("blosum62", "grantham", "hydrophobicity", "site-mean"),
    "neutralisation": ("hamming",),
    "emergence": ("persistence", "codon-blosum62", "codon", "blosum62-emergence"),
}
_TABLES = {"dms": "variants", "neutralisation": "neutralisation", "emergence": "emergence"}
_SHOWN = {"site-mean": "site mean", "hamming": "Hamming to the immunogen", "blosum62": "BLOSUM62",
          "grantham": "Grantham", "hydrophobicity": "hydrophobicity", "codon-blosum62": "codon, then BLOSUM62",
          "codon": "codon distance", "persistence": "persistence", "blosum62-emergence": "BLOSUM62"}  # fmt: skip


def write(folder: DatasetFolder, files: Sequence[tuple[str, Path]], out: Path) -> None:
    """Score files of predictions and the dataset's baselines, and write the page to `out`.

    Args:
        files: name of the model, its predictions. A model may have a file for each task.

    Raises:
        GoldsmithError: a file cannot be scored, or two files of one model are for the same task.
    """
    scorer = Scorer(folder)
    entries: dict[str, list[dict[str, Any]]] = {task: [] for task in _TABLES}
    for name, path in files:
        report = scorer.score(Predictions.read(path)).to_json()
        _add(entries, name, False, report)
    for task, names in _BASELINES.items():
        if not list((folder.path / "data" / _TABLES[task]).glob("*.parquet")):
            continue
        for name in names:
            rows = baselines.predict(name, folder, {})
            if rows.height:
                report = scorer.score(Predictions.of(name, task, rows)).to_json()
                _add(entries, _SHOWN[name], True, report)
    page = _render(folder, entries)
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_text(out, page)


def _add(entries: dict[str, list[dict[str, Any]]], name: str, baseline: bool, report: dict[str, Any]) -> None:
    mine = entries[report["task"]]
    kind = report.get("supervised", False)
    if any(each["name"] == name and each["report"].get("supervised", False) == kind for each in mine):
        raise GoldsmithError(f"[leaderboard > {name}] has two files for {report['task']}: give each model its own name")
    mine.append({"name": name, "baseline": baseline, "report": report})


def _render(folder: DatasetFolder, entries: Mapping[str, list[dict[str, Any]]]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["number"] = number
    read = {name: Markup((_TEMPLATES / f"leaderboard.{name}").read_text(encoding="utf-8")) for name in ("css", "js")}  # noqa: S704
    dms = [each for each in entries["dms"] if not each["report"]["supervised"]]
    data = json.dumps({"assays": _assays(dms), "headings": HEADINGS}, ensure_ascii=False).replace("<", "\\u003c")
    return environment.get_template("leaderboard.html.j2").render(
        dataset=folder.build["dataset"],
        version=folder.build["version"],
        css=read["css"],
        js=read["js"],
        data=Markup(data),  # noqa: S704 - JSON without `<`
        headings=HEADINGS,
        metrics=METRICS,
        forms=FORMS,
        dms=_ranked(dms),
        splits=_splits(entries["dms"]),
        titres=_titres(entries["neutralisation"]),
        titre_metrics=neutralisation.METRICS,
        windows=_windows(entries["emergence"]),
        emergence_metrics=emergence.METRICS,
    )


def _ranked(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the first table: coverage, means with intervals, and what is gained over BLOSUM62, most first."""
    rows = []
    for each in entries:
        report, means = each["report"], each["report"]["sections"][0]["means"]
        own = {form: means[form]["model"] for form in FORMS}
        rows.append(
            {
                "name": each["name"],
                "baseline": each["baseline"],
                "assays": report["groups"],
                "of": report["groups_of_dataset"],
                "means": own,
                "gain": means["tie_safe"]["blosum62"]["less_model"]["spearman"],
            }
        )
    return sorted(rows, key=lambda row: -(row["gain"]["difference"] or 0))


def _assays(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each assay with the tie-safe metrics of every model, for the plot and its table."""
    found: dict[str, dict[str, Any]] = {}
    for each in entries:
        for assay in each["report"]["sections"][0]["assays"]:
            row = found.setdefault(
                assay["assay_id"],
                {key: assay[key] for key in ("assay_id", "phenotype", "cluster_90", "rows")} | {"models": []},
            )
            scores = [assay["by_model"]["model"]["tie_safe"][name] for name in METRICS]
            row["models"].append({"name": each["name"], "baseline": each["baseline"], "scores": scores})
    return sorted(found.values(), key=lambda row: row["phenotype"])


def _splits(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Spearman within folds of each model under each split, and the rows that the split deals."""
    rows: dict[str, dict[str, Any]] = {}
    for each in entries:
        for section in each["report"]["sections"]:
            if section["split"]:
                row = rows.setdefault(section["split"], {"split": section["split"], "models": []})
                row["eligible"] = max(row.get("eligible", 0), section["eligible"])
                row["of"] = max(row.get("of", 0), section["rows"])
                row["models"].append(
                    {
                        "name": each["name"],
                        "supervised": each["report"]["supervised"],
                        "value": section["within_folds"]["model"],
                        "assays": len(section["assays"]),
                    }
                )
    for row in rows.values():
        row["models"].sort(key=lambda model: -(model["value"] or 0))
    return list(rows.values())


def _titres(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each species the models' means, and each cohort."""
    species: dict[str, dict[str, Any]] = {}
    for each in entries:
        for name, models in each["report"]["species"].items():
            row = species.setdefault(name, {"species": name, "models": [], "cohorts": {}})
            row["models"].append({"name": each["name"], "baseline": each["baseline"], **models["model"]})
        for cohort in each["report"]["cohorts"]:
            cohorts = species[cohort["species"]]["cohorts"]
            shown = cohorts.setdefault((cohort["task_id"], cohort["cohort"]), {**cohort, "models": []})
            shown["models"].append({"name": each["name"], **cohort["by_model"]["model"]})
    for row in species.values():
        row["models"].sort(key=lambda model: -(model["mean"]["spearman"] or 0))
        row["cohorts"] = list(row["cohorts"].values())
    return list(species.values())


def _windows(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each window: its own rule first, then the other labels that have a positive candidate; best AP first."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in entries:
        for row in each["report"]["windows"]:
            shown = found.setdefault((row["window_id"], row["label"], row["reach"]), {**row, "models": []})
            shown["models"].append(
                {"name": each["name"], "baseline": each["baseline"], "scores": row["by_model"]["model"]}
            )
    windows: dict[str, dict[str, Any]] = {}
    for row in found.values():
        row["models"].sort(key=lambda model: -(model["scores"]["ap"] or 0))
        window = windows.setdefault(
            row["window_id"], {"window_id": row["window_id"], "rule": row["label"], "first": [], "others": []}
        )
        if row["positive"]:
            window["first" if row["label"] == window["rule"] else "others"].append(row)
    return list(windows.values())
