"""Small dataset folders, written as builders write them, with or without a defect."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quality.results import Report, Result
from schemas import Dataset, DatasetFolder, Table
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.parquet import write_parquet

Rows = Sequence[Mapping[str, Any]]
SOURCE = {
    "name": "raw",
    "url": "https://example.org/raw.csv",
    "sha256": "0" * 64,
    "size": 10,
    "licence": "CC-BY-4.0",
    "redistribute": True,
    "accessed": "2026-11-30",
    "citation": "Nobody (2026).",
    "facts": {},
}


def write_folder(
    path: Path,
    dataset: Dataset,
    rows: Mapping[str, Mapping[str, Rows]],
    *,
    lineage: Mapping[str, Rows] | None = None,
    rejects: Mapping[str, Rows] | None = None,
    accounting: list[dict[str, Any]] | None = None,
    sources: list[dict[str, Any]] | None = None,
    shard_rows: int = 1_000_000,
) -> DatasetFolder:
    """Write a dataset folder: `rows` is table -> split -> rows. Lineage and accounting fit the rows unless given."""
    files: list[dict[str, Any]] = []

    def add(relative: str, schema: pa.Schema, content: pa.Table, table: str, split: str | None = None) -> None:
        target = path / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        written = write_parquet(target, schema, content.combine_chunks().to_batches())
        entry = {
            "path": relative,
            "table": table,
            "rows": written.rows,
            "bytes": written.bytes,
            "sha256": written.sha256,
        }
        files.append({**entry, **({"split": split} if split else {})})

    counted: list[dict[str, Any]] = []
    for table in dataset.tables:
        ids: list[str] = []
        for split, split_rows in rows.get(table.name, {}).items():
            content = to_arrow(table, split_rows)
            ids += [str(value) for value in table.row_ids(content).to_pylist()]
            starts = range(0, max(1, content.num_rows), shard_rows)
            for index, start in enumerate(starts):
                name = f"data/{table.name}/{shard_name(split, index, len(starts))}"
                add(name, table.arrow, content.slice(start, shard_rows), table.name, split)
        lines = (lineage or {}).get(table.name, [line(row, f"line {place}") for place, row in enumerate(ids, 1)])
        refused = (rejects or {}).get(table.name, [])
        add(
            f"lineage/{table.name}.parquet",
            LINEAGE_SCHEMA,
            pa.Table.from_pylist(list(lines), LINEAGE_SCHEMA),
            table.name,
        )
        add(
            f"rejects/{table.name}.parquet",
            REJECT_SCHEMA,
            pa.Table.from_pylist(list(refused), REJECT_SCHEMA),
            table.name,
        )
        reasons: dict[str, int] = {}
        for reject in refused:
            reasons[reject["reason"]] = reasons.get(reject["reason"], 0) + 1
        entry = {"source": "raw", "table": table.name, "rows": len(ids), "merged": 0, "rejects": reasons}
        counted.append({**entry, "records": len(ids) + len(refused)})
    build = {
        "format": 1,
        "dataset": dataset.name,
        "version": "1",
        "sample": False,
        "redistributable_only": False,
        "schema": dataset.to_json(),
        "code": hashlib.sha256(b"code").hexdigest(),
        "tools": {},
        "sources": [SOURCE] if sources is None else sources,
        "left_out": [],
        "shards": [],
        "files": files,
        "accounting": counted if accounting is None else accounting,
    }
    (path / "build.json").write_text(json.dumps(build, indent=1, sort_keys=True), encoding="utf-8")
    return DatasetFolder(path)


def to_arrow(table: Table, rows: Rows) -> pa.Table:
    """Rows as the table's Arrow schema has them."""
    plain = [pa.array([row.get(field.name) for row in rows], _plain(field.type)) for field in table.arrow]
    columns = [values.cast(field.type) for values, field in zip(plain, table.arrow, strict=True)]
    return pa.Table.from_arrays(columns, schema=table.arrow)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Arrow makes no extension arrays from Python values."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain(field.type)) for field in kind])
    return kind


def line(row: str, place: str = "line 1", source: str = "raw") -> dict[str, str]:
    """A line of the lineage."""
    return {"id": row, "source": source, "sha256": "0" * 64, "place": place, "licence": "CC-BY-4.0"}


def results(report: Report) -> dict[str, Result]:
    """The results of a report by name."""
    return {result.name: result for result in report.results}


def failing(folder: DatasetFolder) -> dict[str, list[str]]:
    """Check -> ids of its findings, as findings.parquet has them."""
    found: dict[str, list[str]] = {}
    for row in pq.read_table(folder.findings).to_pylist():
        found.setdefault(row["check"], []).append(row["id"])
    return found
