"""Counts an audit, and writes `audit/<name>/` in the dataset folder: what is published with a release, and what
`goldsmith check` makes its findings of.

    design.json          the question, how the sample was drawn, of which bytes, and how much people saw
    population.parquet   the rows it speaks for (`quality.annotation.population`)
    judgements.parquet   one line an answer, under pseudonyms
    labels.parquet       one line a sampled row: what people found
    report.json, report.html

No name, no address, no text that people wrote, no time of day and no sign of which items were gold leaves the folder of
the audit.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quality.annotation.count import count
from quality.annotation.judgements import Judgement
from quality.annotation.measure import SURE, report
from quality.annotation.result import FORMAT, AuditReport, to_json
from quality.annotation.work import Plan, Work
from schemas import DatasetFolder, GoldsmithError

LABELS = pa.schema(
    [
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("stratum", pa.string(), nullable=False),
        pa.field("judges", pa.int32(), nullable=False),
        pa.field("state", pa.string(), nullable=False),
        pa.field("label", pa.string()),
        pa.field("confidence", pa.float64()),
        pa.field("agreement", pa.float64()),
    ]
)
"""`state`: right, wrong, unsure or unjudged (the last two count as wrong in the bound); `judged` where the dataset has
no answer of its own. `label`: what people say, for kinds with labels. `agreement`: how alike the answers are."""

JUDGEMENTS = pa.schema(
    [
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("annotator", pa.string(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),
        pa.field("label", pa.string()),
        pa.field("similarity", pa.float64()),
        pa.field("seconds", pa.float64()),
    ]
)


def write(folder: DatasetFolder, work: Work) -> AuditReport:
    """Count the audit and replace `audit/<name>/` in the dataset folder.

    Raises:
        GoldsmithError: the folder holds other bytes than the sample was drawn from, or nothing was fetched.
    """
    from quality.annotation import report_html

    made = report(work)
    plan = made.plan
    files = {file["path"]: file["sha256"] for file in folder.build["files"] if file["path"].startswith("data/")}
    if folder.schema.name != plan.dataset or files != plan.files:
        raise GoldsmithError(f"[{folder.path}] is not what this audit was drawn from: plan it again on these data")
    out = folder.path / "audit" / plan.audit.name
    partial = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        shutil.copy(work.population, partial / "population.parquet")
        pq.write_table(_labels(made), partial / "labels.parquet", compression="zstd")
        pq.write_table(_judgements(plan, work), partial / "judgements.parquet", compression="zstd")
        _json(partial / "design.json", _design(plan))
        _json(partial / "report.json", to_json(made))
        report_html.write(made, work, partial / "report.html")
        shutil.rmtree(out, ignore_errors=True)
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return made


def _labels(made: AuditReport) -> pa.Table:
    rows = [
        {
            "item_id": one.item.item_id,
            "stratum": one.item.stratum,
            "judges": one.judges,
            "state": one.state,
            "label": one.label,
            "confidence": one.confidence,
            "agreement": one.agreement,
        }
        for one in made.found
    ]
    return pa.Table.from_pylist(rows, LABELS)


def _judgements(plan: Plan, work: Work) -> pa.Table:
    """The answers to sampled rows. Gold items stay unknown, so that they can be used again."""
    votes = count(plan, [Judgement(**line) for line in work.lines("judgements.jsonl")])
    try:
        rows = votes.con.sql(
            "SELECT item_id, annotator, row_number() OVER (PARTITION BY annotator ORDER BY place) AS place, "
            "nullif(label, '') AS label, similarity, round(seconds, 1) AS seconds "
            "FROM judged WHERE NOT gold ORDER BY item_id, annotator"
        ).to_arrow_table()
    finally:
        votes.con.close()
    return rows.cast(JUDGEMENTS)


def _design(plan: Plan) -> dict[str, Any]:
    audit = asdict(plan.audit)
    del audit["gold_sql"]
    people_of = Counter(len(item.people) for item in plan.items if item.role == "sample")
    return {
        "format": FORMAT,
        "dataset": plan.dataset,
        "audit": audit,
        "seed": plan.seed,
        "files": dict(sorted(plan.files.items())),
        "strata": [asdict(stratum) for stratum in plan.strata],
        "annotators": sorted(plan.people),
        "items_by_judges": {str(n): items for n, items in sorted(people_of.items())},
        "gold_items": sum(item.role == "gold" for item in plan.items),
        "rules": {
            "sample": "simple random within each stratum, drawn after the data were closed, seeded by their bytes",
            "label": "Dawid-Skene over all answers, gold items known; ties go to the label declared first",
            "unsure": f"less likely than {SURE:g}: counts as wrong, as an unjudged row does",
            "bound": "hypergeometric, exact, one-sided, by stratum",
        },
    }


def _json(path: Path, form: Any) -> None:
    text = json.dumps(form, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
