"""Small dataset folders for the tests of releases: written by the project's writer, checked and documented by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas import Column, Dataset, DatasetFolder, Float, Int, Label, List, Table, Text
from schemas.folder import FINDING_SCHEMA, LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.parquet import write_parquet

ASSAYS = Table(
    "assays",
    "The experiments.",
    (Column("assay", Text(), "Its name."), Column("virus", Text(), "The virus.", nullable=True)),
    key=("assay",),
)
VARIANTS = Table(
    "variants",
    "The measured variants.",
    (
        Column("assay", Text(), "The assay.", references="assays.assay"),
        Column("site", Int(), "The site.", minimum=1),
        Column("score", Float(), "The effect.", unit="log2", nullable=True),
        Column("effect", Label(("harmful", "neutral")), "The class."),
        Column("tags", List(Text()), "Notes."),
    ),
    key=("assay", "site"),
    splits=("train", "test"),
)
DATASET = Dataset("scans", "Scans", "Small scans.", (VARIANTS, ASSAYS))

Rows = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]
"""table -> split -> rows."""


def variant(site: int, score: float | None = 0.5, effect: int = 0, tags: Sequence[str] = ("a",)) -> dict[str, Any]:
    """A row of `variants`."""
    return {"assay": "H3", "site": site, "score": score, "effect": effect, "tags": list(tags)}


def rows() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The rows of the clean dataset: 6 + 2 variants of one assay."""
    train = [variant(site, site / 2, site % 2) for site in range(1, 7)]
    test = [variant(site, None, 1) for site in (7, 8)]
    return {
        "variants": {"train": train, "test": test},
        "assays": {"train": [{"assay": "H3", "virus": "influenza"}]},
    }


def source(name: str = "lab", **fields: Any) -> dict[str, Any]:
    """A source's record in build.json."""
    record = {
        "name": name,
        "url": f"https://example.org/{name}.csv",
        "sha256": hashlib.sha256(name.encode()).hexdigest(),
        "size": 100,
        "licence": "CC-BY-4.0",
        "redistribute": True,
        "accessed": "2026-01-01",
        "citation": "A paper.",
        "facts": {},
    }
    return {**record, **fields}


def check(
    name: str, status: str = "passed", severity: str = "block", table: str = "variants", failures: int = 0
) -> Any:
    """A check's entry in report.json."""
    return {
        "name": name,
        "meaning": name,
        "severity": severity,
        "table": table,
        "kind": "check",
        "status": status,
        "failures": failures,
    }


def write_dataset(
    path: Path,
    data: Rows | None = None,
    schema: Dataset = DATASET,
    shards: int = 1,
    merged: Mapping[str, str] | None = None,
    **fields: Any,
) -> DatasetFolder:
    """Build a folder: data in `shards` shards a split, lineage, empty rejects, build.json.

    Args:
        merged: row id of `variants` -> a second place that was merged into it.
        fields: of build.json, instead of the usual ones.
    """
    data = rows() if data is None else data
    files, accounting = [], []
    for table in schema.tables:
        (path / "data" / table.name).mkdir(parents=True)
        lineage: list[dict[str, str]] = []
        splits = data.get(table.name, {})
        for split, content in splits.items():
            batch = pa.RecordBatch.from_pylist(list(content), table.arrow)
            size = -(-len(content) // shards) or 1
            for index in range(shards):
                name = f"data/{table.name}/{shard_name(split, index, shards)}"
                written = write_parquet(path / name, table.arrow, [batch.slice(index * size, size)])
                files.append({"path": name, "table": table.name, "split": split, **vars(written)})
            for row_id in table.row_ids(batch).to_pylist() if not table.derived else ():
                places = [f"line {len(lineage) + 1}", *([merged[row_id]] if merged and row_id in merged else [])]
                lineage += [_lineage(row_id, place) for place in places]
        total = sum(len(content) for content in splits.values())
        for folder, arrow, content in (("lineage", LINEAGE_SCHEMA, lineage), ("rejects", REJECT_SCHEMA, [])):
            name = f"{folder}/{table.name}.parquet"
            (path / folder).mkdir(exist_ok=True)
            written = write_parquet(path / name, arrow, [pa.RecordBatch.from_pylist(content, arrow)])
            files.append({"path": name, "table": table.name, **vars(written)})
        if table.derived:
            continue
        more = len(lineage) - total
        accounting.append(
            {
                "source": "lab",
                "table": table.name,
                "records": len(lineage),
                "rows": total,
                "merged": more,
                "rejects": {},
            }
        )
    build = {
        "format": 1,
        "dataset": schema.name,
        "version": "1",
        "sample": True,
        "redistributable_only": False,
        "schema": schema.to_json(),
        "code": "c0de" * 16,
        "tools": {"python": "3.11.7", "pyarrow": "26.0.1"},
        "sources": [source()],
        "left_out": [],
        "shards": [],
        "files": files,
        "accounting": accounting,
        **fields,
    }
    (path / "build.json").write_text(json.dumps(build, sort_keys=True, indent=1))
    return DatasetFolder(path)


def _lineage(row_id: str, place: str) -> dict[str, str]:
    return {"id": row_id, "source": "lab", "sha256": source()["sha256"], "place": place, "licence": "CC-BY-4.0"}


def write_report(folder: DatasetFolder, checks: Sequence[Any] = (), findings: Sequence[Mapping[str, Any]] = ()) -> None:
    """What `goldsmith check` leaves: findings and a report about the files as they are now.

    A check that failed gets as many findings as it has failures where `findings` has none of it; else it has as many
    failures as findings.
    """
    folder.report_json.parent.mkdir(exist_ok=True)
    paths = [p for part in ("data", "lineage", "rejects") for p in sorted((folder.path / part).rglob("*.parquet"))]
    files = [
        {"path": p.relative_to(folder.path).as_posix(), "sha256": hashlib.sha256(p.read_bytes()).hexdigest()}
        for p in [*paths, folder.build_json]
    ]
    known = list(checks) or [check("key_unique")]
    listed = list(findings)
    for entry in known:
        own = [one for one in findings if (one["check"], one["table"]) == (entry["name"], entry["table"])]
        entry["failures"] = len(own) or entry["failures"]
        if not own:
            found = {name: entry[name] for name in ("severity", "table")} | {"check": entry["name"], "message": "bad"}
            listed += [{**found, "id": f"row {number}"} for number in range(entry["failures"])]
    passed = all(c["status"] != "failed" or c["severity"] != "block" for c in known)
    report = {"format": 1, "dataset": "scans", "version": "1", "files": files, "passed": passed, "checks": known}
    pq.write_table(pa.Table.from_pylist(listed, FINDING_SCHEMA), folder.findings)
    sha256 = hashlib.sha256(folder.findings.read_bytes()).hexdigest()
    report["findings"] = {"rows": len(listed), "sha256": sha256}
    folder.report_json.write_text(json.dumps(report))
    folder.report_html.write_text("<p>fine</p>")


def write_documents(folder: DatasetFolder) -> None:
    """What `goldsmith card` leaves."""
    for name in ("README.md", "DATASHEET.md", "croissant.json", "CITATION.cff"):
        (folder.path / name).write_text(f"{name} of scans\n")


def write_ready(path: Path, data: Rows | None = None, **arguments: Any) -> DatasetFolder:
    """A folder that may be released."""
    folder = write_dataset(path, data, **arguments)
    write_report(folder)
    write_documents(folder)
    return folder


def waivers_file(path: Path, check: str = "near_duplicates", until: str = "2027-01-31", **more: str) -> Path:
    """A waivers file with one waiver."""
    fields = {"check": check, "reason": "known upstream", "by": "data team", **more}
    lines = "".join(f'{name} = "{value}"\n' for name, value in fields.items())
    path.write_text(f"[[waiver]]\n{lines}until = {until}\n")
    return path


def with_columns(table: str, change: Callable[[tuple[Column, ...]], tuple[Column, ...]], **fields: Any) -> Dataset:
    """The schema with other columns, or other attributes, in one table."""
    tables = tuple(replace(t, columns=change(t.columns), **fields) if t.name == table else t for t in DATASET.tables)
    return replace(DATASET, tables=tables)
