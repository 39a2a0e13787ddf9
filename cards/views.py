"""A dataset folder as DuckDB views: all that a figure may be computed from.

Views: each table under its own name; `lineage` and `rejects` of all tables (column `table_name`); `sources` and
`accounting` from build.json; `data_files` from the footers of the Parquet files; `check_results` from
quality/report.json (no rows where the dataset has not been checked); `tombstones`, the rows that were
withdrawn. Queries can neither write nor reach another file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from schemas import DatasetFolder, GoldsmithError, sandbox, sql
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA, TOMBSTONE_SCHEMA
from schemas.hub_files import HubFile

RESERVED = ("accounting", "check_results", "data_files", "lineage", "rejects", "sources", "tombstones")
"""Names that no table may have."""

_SOURCES = pa.schema(
    [
        ("name", pa.string()),
        ("url", pa.string()),
        ("licence", pa.string()),
        ("redistribute", pa.bool_()),
        ("accessed", pa.string()),
        ("citation", pa.string()),
        ("sha256", pa.string()),
        ("size", pa.int64()),
        ("secret", pa.bool_()),
    ]
)
_ACCOUNTING = pa.schema(
    [
        ("source", pa.string()),
        ("table_name", pa.string()),
        ("records", pa.int64()),
        ("rows", pa.int64()),
        ("merged", pa.int64()),
    ]
)
_DATA_FILES = pa.schema(
    [
        ("position", pa.int64()),
        ("table_name", pa.string()),
        ("split", pa.string()),
        ("path", pa.string()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
_CHECK_RESULTS = pa.schema(
    [
        ("name", pa.string()),
        ("meaning", pa.string()),
        ("severity", pa.string()),
        ("table_name", pa.string()),
        ("status", pa.string()),
        ("failures", pa.int64()),
    ]
)


def table_files(folder: DatasetFolder) -> dict[str, dict[str, list[HubFile]]]:
    """The data files by table and split, in the schema's order, as their footers describe them."""
    return {
        table.name: {
            split: [HubFile.read(folder.path, path.relative_to(folder.path).as_posix()) for path in paths]
            for split, paths in folder.shards(table.name).items()
        }
        for table in folder.schema.tables
    }


def connect(folder: DatasetFolder, files: Mapping[str, Mapping[str, list[HubFile]]]) -> duckdb.DuckDBPyConnection:
    """A connection that sees the views and nothing else.

    One thread: a sum of floats then has one order, and a document one text.

    Raises:
        GoldsmithError: a table has the name of one of the other views.
    """
    connection = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    allowed: list[Path] = []
    for table in folder.schema.tables:
        if table.name in RESERVED:
            raise GoldsmithError(f"[schema > {table.name}] is the name of a view that documents use: rename the table")
        paths = folder.all_shards(table.name)
        allowed += paths
        _view(connection, table.name, paths, table.arrow)
    tables = [table.name for table in folder.schema.tables]
    allowed += _union(connection, "lineage", {name: folder.lineage(name) for name in tables}, LINEAGE_SCHEMA)
    allowed += _union(connection, "rejects", {name: folder.rejects(name) for name in tables}, REJECT_SCHEMA)
    for name, rows in _records(folder, files).items():
        connection.register(name, rows)
    sandbox.lock(connection, allowed)
    return connection


def _view(connection: duckdb.DuckDBPyConnection, name: str, paths: list[Path], schema: pa.Schema) -> None:
    if paths:
        connection.execute(f"CREATE VIEW {sql.name(name)} AS SELECT * FROM {sql.scan(paths)}")
    else:
        connection.register(name, schema.empty_table())


def _union(
    connection: duckdb.DuckDBPyConnection, name: str, files: Mapping[str, Path], schema: pa.Schema
) -> list[Path]:
    """A view over one file a table, with the table's name as a column; returns the files there are."""
    there = {table: path for table, path in files.items() if path.is_file()}
    if not there:
        empty = pa.schema([pa.field("table_name", pa.string()), *schema])
        connection.register(name, empty.empty_table())
        return []
    parts = []
    for table, path in there.items():
        parts.append(f"SELECT {sql.literal(table)} AS table_name, * FROM {sql.scan([path])}")
    connection.execute(f"CREATE VIEW {sql.name(name)} AS {' UNION ALL BY NAME '.join(parts)}")
    return list(there.values())


def _records(folder: DatasetFolder, files: Mapping[str, Mapping[str, list[HubFile]]]) -> dict[str, pa.Table]:
    """The views that are not Parquet: what the JSON records and the footers say."""
    build = folder.build
    data_files = [
        {"table_name": table, "split": split, "path": file.path, "rows": file.rows, "bytes": file.size}
        for table, splits in files.items()
        for split, shards in splits.items()
        for file in shards
    ]
    sources = [_source(source) for source in build["sources"]]
    checks = folder.report["checks"] if folder.report_json.is_file() else []
    return {
        "data_files": _table([{"position": i, **row} for i, row in enumerate(data_files)], _DATA_FILES),
        "sources": _table(sources, _SOURCES),
        "accounting": _table([_renamed(row) for row in build["accounting"]], _ACCOUNTING),
        "check_results": _table([_renamed(row) for row in checks], _CHECK_RESULTS),
        "tombstones": _tombstones(folder),
    }


def _source(source: Mapping[str, Any]) -> dict[str, Any]:
    """What a source was. A user's own file in place of the pinned one is not what the pin's address and day say."""
    if source.get("override") and source.get("url"):
        return {**source, "url": None, "accessed": "own file, not the pinned one"}
    return {**source, "url": source.get("url") or source.get("path")}


def _tombstones(folder: DatasetFolder) -> pa.Table:
    there = folder.tombstones.is_file()
    rows = pq.read_table(folder.tombstones) if there else TOMBSTONE_SCHEMA.empty_table()
    return rows.rename_columns({"table": "table_name"})


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "table_name": row.get("table")}


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema)
