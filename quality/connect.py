"""Opens DuckDB over a dataset folder: the views that all SQL of this room, and of the datasets' own checks, reads.

Views (columns that are not said are the schema's):

* each table of the dataset under its name: the schema's columns, then `_split`, the split of the row;
* `previous_<table>`, the same of an earlier release where one is given;
* `rejects` (reason, message, source, place, record, table_name), all tables';
* `lineage` (id, source, sha256, place, licence, table_name), all tables';
* `sources` (name, url, path, sha256, size, licence, redistribute, accessed, citation,
  bom, encoding);
* `accounting` (source, table_name, records, rows, merged, rejected, reasons MAP(reason, n));
* `files` (path, table_name, split, sha256, rows, bytes), those that build.json names.

The connection reads the dataset folders and its own spill folder, and nothing else: no network, no
extension is fetched, no other file. A table of a dataset may not bear a name of this list.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa

from quality import duck, json_text
from quality.digest import Digest
from quality.failures import MEMORY, said_if_short
from schemas import Dataset, DatasetFolder, GoldsmithError, Table, sql
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA
from schemas.rooms import Room

if TYPE_CHECKING:
    from quality.repeats import Suspects

_SMALL_BYTES = 4 << 20

RESERVED = ("rejects", "lineage", "sources", "accounting", "files", "findings")


def _columns(texts: Sequence[str], numbers: Sequence[str], **others: str) -> dict[str, str]:
    return {**dict.fromkeys(texts, "VARCHAR"), **dict.fromkeys(numbers, "BIGINT"), **others}


_SOURCES = _columns(
    ("name", "url", "path", "sha256", "licence", "accessed", "citation", "encoding"),
    ("size",),
    redistribute="BOOLEAN",
    bom="BOOLEAN",
)
_ACCOUNTING = _columns(
    ("source", "table_name"), ("records", "rows", "merged", "rejected"), reasons="MAP(VARCHAR, BIGINT)"
)
_FILES = _columns(("path", "table_name", "split", "sha256"), ("rows", "bytes"))


@dataclass
class Session:
    """A connection with its views, and what the checks need to know about the dataset.

    Attributes:
        names: tables and views that SQL can read, beyond DuckDB's own.
        spill: a folder that ends with the session.
        lineage: table -> its lineage files that can be read.
        raw: table -> view of it with JSON as text, for tables with broken JSON; see `quality.json_text`.
        suspects: (table, columns) -> rows that may repeat one another, where a scan has looked already.
        ids: table -> the digest of its row ids, where a scan has made it.
        buffers: memory for hashes that no scan uses now.
        sort_bytes: how much memory the sort of hashes may take before a GROUP BY that spills takes over.
    """

    con: duckdb.DuckDBPyConnection
    folder: DatasetFolder
    previous: DatasetFolder | None
    sort_bytes: int
    spill: Path
    names: set[str] = field(default_factory=set)
    lineage: dict[str, list[str]] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    suspects: dict[tuple[str, tuple[str, ...]], Suspects] = field(default_factory=dict)
    ids: dict[str, Digest] = field(default_factory=dict)
    buffers: list[np.ndarray] = field(default_factory=list)

    @property
    def dataset(self) -> Dataset:
        """The schema of the folder under examination."""
        return self.folder.schema

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a small result."""
        return self.con.execute(query).fetchall()

    def one(self, query: str) -> tuple[Any, ...]:
        """The single row of an aggregate."""
        return self.con.execute(query).fetchall()[0]


@contextmanager
def opened(
    folder: DatasetFolder,
    previous: DatasetFolder | None,
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Iterator[Session]:
    """A session without views; what does not fit in memory spills into a folder beside the data.

    Args:
        memory_limit: for DuckDB, such as `2GB`; if not given, what `GOLDSMITH_MEMORY` says, else 2 GB.
        threads: of DuckDB; all cores if not given.

    Raises:
        GoldsmithError: the memory is none or too little, or the folder cannot be written to.
    """
    limit = (os.environ.get(MEMORY) or "2GB") if memory_limit is None else memory_limit
    try:
        spill = Room("check", folder.path)
    except OSError as error:
        raise GoldsmithError(f"[{folder.path}] cannot be written to ({error.strerror}): check a copy of it") from None
    with spill as spill_path, said_if_short(folder.path, limit):
        con = _connect(folder, previous, Path(spill_path), limit, threads)
        try:
            yield Session(con, folder, previous, _bytes(con) // 4, Path(spill_path))
        finally:
            con.close()


def _connect(
    folder: DatasetFolder, previous: DatasetFolder | None, spill: Path, memory_limit: str, threads: int | None
) -> duckdb.DuckDBPyConnection:
    readable = (folder.path, previous.path if previous else folder.path, spill)
    con = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    try:
        con.execute(f"SET memory_limit = {sql.literal(memory_limit)}")
        _bytes(con)  # what is below 0 is no limit to DuckDB, and has no size
    except (duckdb.ParserException, duckdb.InvalidInputException):
        con.close()
        raise GoldsmithError(f"[check > memory] {memory_limit} is no amount of memory: give it as in 2GB") from None
    if threads is not None:
        con.execute(f"SET threads = {int(threads)}")
    con.execute(f"SET temp_directory = {sql.literal(str(spill))}")
    # GLOBAL where a setting is else of one connection: the checks beside run on a cursor.
    con.execute("SET preserve_insertion_order = false")
    con.execute("SET GLOBAL parquet_metadata_cache = true")
    con.execute("SET GLOBAL scheduler_process_partial = true")  # else a long query hears of no signal until it ends
    # Without it DuckDB trusts a file's statistics, which leave NaN out, and answers isnan() with false.
    con.execute("SET GLOBAL parquet_can_have_nan = true")
    # Both cost memory by the row group and gain nothing on files that the system caches already.
    con.execute("SET GLOBAL disable_parquet_prefetching = true")
    con.execute("SET enable_external_file_cache = false")
    con.execute("SET GLOBAL python_enable_replacements = false")
    con.execute("SET enable_progress_bar = false")
    con.execute(f"SET allowed_directories = {sql.allowed(readable)}")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con


def _bytes(con: duckdb.DuckDBPyConnection) -> int:
    return int(con.execute("SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchall()[0][0])


def add_views(session: Session, unreadable: set[str]) -> None:
    """Create the views of the module's first lines.

    Args:
        unreadable: paths of build.json whose files are missing or broken; they are left out of the views, and a
            blocking check has failed for each.

    Raises:
        GoldsmithError: a table or column has a name that the views need.
    """
    for table in session.dataset.tables:
        if table.name in RESERVED or table.name.startswith("previous_"):
            raise GoldsmithError(
                f"[{session.dataset.name} > {table.name}] is a name of the checks' own: rename the table"
            )
        if duck.SPLIT in table.names:
            raise GoldsmithError(f"[{table.name} > {duck.SPLIT}] is a name of the checks' own: rename the column")
        _table_view(session, table, session.folder, table.name, unreadable)
    if session.previous is not None:
        for table in session.previous.schema.tables:
            _table_view(session, table, session.previous, f"previous_{table.name}", set())
    _side_view(session, "rejects", REJECT_SCHEMA, unreadable)
    _side_view(session, "lineage", LINEAGE_SCHEMA, unreadable)
    build = session.folder.build
    _register(session, "sources", _SOURCES, [{**entry, **entry["facts"]} for entry in build["sources"]])
    _register(session, "accounting", _ACCOUNTING, [_account(entry) for entry in build["accounting"]])
    _register(session, "files", _FILES, [{**entry, "table_name": entry["table"]} for entry in build["files"]])


def _table_view(session: Session, table: Table, folder: DatasetFolder, view: str, unreadable: set[str]) -> None:
    shards = {
        split: there
        for split, paths in data_files(folder, table.name).items()
        if (there := [folder.path.resolve() / path for path in paths if path not in unreadable])
    }
    session.names.add(view)
    _create_view(session, table, view, shards, sql.names(table.names))
    if not shards or not json_text.broken(session.con, table, view):
        if sum(path.stat().st_size for paths in shards.values() for path in paths) <= _SMALL_BYTES:
            _keep_in_memory(session, view)
        return
    copies = {}
    for split, paths in shards.items():
        copies[split] = [session.spill / f"{view}-{path.name}" for path in paths]
        for path, copy in zip(paths, copies[split], strict=True):
            json_text.copy_as_text(path, copy)
    _create_view(session, table, view, copies, json_text.repaired(table))
    session.raw[view] = f"_raw_{view}"
    _create_view(session, table, session.raw[view], copies, sql.names(table.names))


def _keep_in_memory(session: Session, view: str) -> None:
    """Read a small table once: many checks read it, and many small files cost more to open than to read."""
    kept = sql.name(f"_kept_{view}")
    try:
        session.con.execute(f"CREATE TABLE {kept} AS FROM {sql.name(view)}")
    except duckdb.Error:
        return  # a column that cannot be read is the business of the check that reads it
    session.con.execute(f"CREATE OR REPLACE VIEW {sql.name(view)} AS FROM {kept}")


def _create_view(session: Session, table: Table, view: str, shards: dict[str, list[Path]], columns: str) -> None:
    parts = [
        f"SELECT {columns}, {sql.literal(split)} AS {duck.SPLIT} FROM {sql.scan(paths)}"
        for split, paths in shards.items()
    ]
    if not parts:
        typed = [f"NULL::{duck.type_of(column.type)} AS {sql.name(column.name)}" for column in table.columns]
        parts = [f"SELECT {', '.join(typed)}, ''::VARCHAR AS {duck.SPLIT} WHERE false"]
    session.con.execute(f"CREATE OR REPLACE VIEW {sql.name(view)} AS {' UNION ALL '.join(parts)}")


def data_files(folder: DatasetFolder, table: str) -> dict[str, list[str]]:
    """The data files of a table by split, as build.json names them."""
    found: dict[str, list[str]] = {}
    for entry in folder.build["files"]:
        if entry["table"] == table and entry["path"].startswith("data/"):
            found.setdefault(entry.get("split") or "", []).append(entry["path"])
    return found


def _side_view(session: Session, kind: str, schema: pa.Schema, unreadable: set[str]) -> None:
    parts = []
    for entry in session.folder.build["files"]:
        if entry["path"].startswith(f"{kind}/") and entry["path"] not in unreadable:
            path = str(session.folder.path.resolve() / entry["path"])
            if kind == "lineage":
                session.lineage.setdefault(entry["table"], []).append(path)
            scan = sql.scan([path])
            columns = sql.names(schema.names)
            parts.append(f"SELECT {columns}, {sql.literal(entry['table'])} AS table_name FROM {scan}")
    if not parts:
        typed = ", ".join(f"NULL::VARCHAR AS {sql.name(column)}" for column in [*schema.names, "table_name"])
        parts = [f"SELECT {typed} WHERE false"]
    session.con.execute(f"CREATE VIEW {kind} AS {' UNION ALL '.join(parts)}")
    session.names.add(kind)


def _register(session: Session, view: str, columns: dict[str, str], records: list[dict[str, Any]]) -> None:
    form = sql.literal(json.dumps([columns]))
    query = f"CREATE TABLE {view} AS SELECT unnest(from_json(?, {form}), max_depth := 2)"
    session.con.execute(query, [json.dumps(records)])
    session.names.add(view)


def _account(entry: dict[str, Any]) -> dict[str, Any]:
    reasons = entry["rejects"]
    return {
        **{name: entry[name] for name in ("source", "records", "rows", "merged")},
        "table_name": entry["table"],
        "rejected": sum(reasons.values()),
        "reasons": dict(sorted(reasons.items())),
    }
