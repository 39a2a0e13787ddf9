"""One shard: from a builder's batches to files, whole or not at all.

A shard is written into a folder of its own under a temporary name, synced, and renamed to its key. Memory is bounded by
a row group for each open file. Not its business: which shards there are and what becomes of them (`builders.build`).
"""

from __future__ import annotations

import re
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.api import Batch, Builder, Read, Reject, Shard
from builders.sources import Sources
from schemas import GoldsmithError, Table
from schemas.files import replace_json, sync
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA
from schemas.parquet import SMALL_GROUP_BYTES, ParquetFile
from schemas.stop import refuse_if_stopped

RECORD = "shard.json"
_REJECTS_AT_ONCE = 10_000
_REPORT_EVERY_S = 0.2
_SPLIT = re.compile(r"\w+")


@dataclass(frozen=True)
class Job:
    """A shard to be built: its key, and what the key is made of (kept in `shard.json`, so that a change has a name)."""

    shard: Shard
    key: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """Rows and rejects since the last report."""

    rows: int
    rejects: int


@dataclass(frozen=True)
class ShardWork:
    """The work that `builders.engine.run` does on a `Job`: build the shard into `folder/<key>`, return its record."""

    builder: Builder
    sources: Sources
    folder: Path

    def __call__(self, job: Job, report: Callable[[Progress], None]) -> dict[str, Any]:
        final = self.folder / job.key
        temporary = self.folder / f".{job.key}.{uuid.uuid4().hex}"
        temporary.mkdir(parents=True)
        try:
            content = _Content(self.builder, job.shard, self.sources, temporary, report)
            record = {"format": 1, "name": job.shard.name, "key": job.key, **job.facts, **content.write()}
            replace_json(temporary / RECORD, record)
            sync(temporary)
            refuse_if_stopped()
            if not (final / RECORD).is_file():  # Else another process was faster, with the same bytes.
                shutil.rmtree(final, ignore_errors=True)
                temporary.rename(final)
            sync(self.folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return record


class _Content:
    """What one shard yields, checked and written as it comes."""

    def __init__(
        self, builder: Builder, shard: Shard, sources: Sources, folder: Path, report: Callable[[Progress], None]
    ) -> None:
        self._builder = builder
        self._shard = shard
        self._sources = sources.only(shard.inputs)
        self._folder = folder
        self._report = report
        self._tables = {table.name: table for table in builder.schema.tables}
        self._files: dict[tuple[str, str, str], ParquetFile] = {}
        self._stack = ExitStack()
        self._read: Counter[tuple[str, str]] = Counter()
        self._rows: Counter[tuple[str, str]] = Counter()
        self._merged: Counter[tuple[str, str]] = Counter()
        self._rejected: dict[tuple[str, str], Counter[str]] = {}
        self._waiting: dict[str, list[tuple[str, str, str, str, str]]] = {}
        self._news = [0, 0]
        self._told = time.monotonic()

    def write(self) -> dict[str, Any]:
        """Build everything; the files and the accounting, for `shard.json`."""
        with self._stack:
            for item in self._builder.build(self._shard, self._sources):
                match item:
                    case Batch():
                        self._batch(item)
                    case Reject():
                        self._reject(item)
                    case Read():
                        self._read[self._pair(item.source, item.table)] += item.records
                    case _:
                        raise GoldsmithError(
                            f"[{self._shard.name}] yields {type(item).__name__}: yield Batch, Reject or Read"
                        )
            for table in list(self._waiting):
                self._flush_rejects(table)
            files = [self._close(*where) for where in sorted(self._files)]
        self._tell()
        return {"files": files, "accounting": self._accounting()}

    def _batch(self, batch: Batch) -> None:
        pair = self._pair(batch.source, batch.table)
        table = self._tables[batch.table]
        where = f"{self._shard.name} > {table.name}"
        if batch.split not in table.splits or not _SPLIT.fullmatch(batch.split):
            raise GoldsmithError(f"[{where}] has split {batch.split!r}: its splits are {', '.join(table.splits)}")
        rows = _as_declared(where, table, batch.rows)
        if len(batch.places) != rows.num_rows:
            raise GoldsmithError(f"[{where}] has {len(batch.places)} places for {rows.num_rows} rows: give one a row")
        if rows.num_rows == 0:
            return
        self._file("data", table.name, batch.split, table.arrow).write(rows)
        self._file("lineage", table.name, "", LINEAGE_SCHEMA).write(self._lineage(where, table, rows, batch))
        self._rows[pair] += rows.num_rows
        self._merged[pair] += len(batch.merged)
        self._count(rows.num_rows, 0)

    def _lineage(self, where: str, table: Table, rows: pa.RecordBatch, batch: Batch) -> pa.RecordBatch:
        """A line for each row, followed by one for each record that was merged into it."""
        ids = table.row_ids(rows)
        places = pa.array(batch.places, pa.string()) if not isinstance(batch.places, pa.Array) else batch.places
        if ids.null_count:
            bare = pc.index(ids.is_valid(), False).as_py()
            lacking = " and ".join(name for name in table.key if not rows.column(name)[bare].is_valid)
            more = f", nor {ids.null_count - 1:,} more rows of the batch" if ids.null_count > 1 else ""
            place = f"{where} > {batch.source} > {places[bare]}"
            raise GoldsmithError(f"[{place}] has no {lacking}, which the key needs{more}: reject it instead")
        if batch.merged:
            into = np.array([index for index, _ in batch.merged])
            if into.min() < 0 or into.max() >= rows.num_rows:
                raise GoldsmithError(f"[{where}] merges a record into no row of its batch: give the row's index")
            owner = np.concatenate([np.arange(rows.num_rows), into])
            order = np.argsort(owner, kind="stable")
            ids = ids.take(pa.array(owner[order]))
            places = pa.concat_arrays([places, pa.array([place for _, place in batch.merged], pa.string())]).take(
                pa.array(order)
            )
        source = self._sources.resolve(batch.source)
        licence = self._sources.spec(batch.source).licence
        constant = {"source": batch.source, "sha256": source.sha256, "licence": licence}
        columns = {name: pa.repeat(pa.scalar(value), len(ids)) for name, value in constant.items()}
        columns |= {"id": ids, "place": places}
        return pa.RecordBatch.from_arrays([columns[name] for name in LINEAGE_SCHEMA.names], schema=LINEAGE_SCHEMA)

    def _reject(self, reject: Reject) -> None:
        pair = self._pair(reject.source, reject.table)
        self._rejected.setdefault(pair, Counter())[reject.reason] += 1
        # A lone surrogate, from bytes that were no text, cannot be written: keep it readable.
        record = reject.record.encode("utf-8", "backslashreplace").decode()
        waiting = self._waiting.setdefault(reject.table, [])
        waiting.append((reject.reason, reject.message, reject.source, reject.place, record))
        if len(waiting) >= _REJECTS_AT_ONCE:
            self._flush_rejects(reject.table)
        self._count(0, 1)

    def _flush_rejects(self, table: str) -> None:
        columns = zip(*self._waiting.pop(table), strict=True)
        arrays = [pa.array(column, pa.string()) for column in columns]
        rows = pa.RecordBatch.from_arrays(arrays, schema=REJECT_SCHEMA)
        self._file("rejects", table, "", REJECT_SCHEMA).write(rows)

    def _pair(self, source: str, table: str) -> tuple[str, str]:
        if table not in self._tables:
            raise GoldsmithError(f"[{self._shard.name}] yields for table {table!r}: declare it in the schema")
        if source not in self._shard.inputs:
            raise GoldsmithError(f"[{self._shard.name}] yields from source {source!r}: add it to the shard's inputs")
        return source, table

    def _file(self, kind: str, table: str, split: str, schema: pa.Schema) -> ParquetFile:
        where = (kind, table, split)
        if where not in self._files:
            path = self._folder / (".".join(part for part in where if part) + ".parquet")
            group = None if kind == "data" else SMALL_GROUP_BYTES
            self._files[where] = self._stack.enter_context(ParquetFile(path, schema, group))
        return self._files[where]

    def _close(self, kind: str, table: str, split: str) -> dict[str, Any]:
        written = self._files[kind, table, split].close()
        name = ".".join(part for part in (kind, table, split) if part) + ".parquet"
        sizes = {"rows": written.rows, "bytes": written.bytes, "sha256": written.sha256}
        return {"kind": kind, "table": table, "split": split, "name": name, **sizes}

    def _accounting(self) -> list[dict[str, Any]]:
        """A line for each source and table; the sums of what was read and what became of it must agree."""
        lines = []
        for pair in sorted({*self._read, *self._rows, *self._rejected}):
            rejects = dict(sorted(self._rejected.get(pair, Counter()).items()))
            rows, merged, records = self._rows[pair], self._merged[pair], self._read.get(pair)
            rejected = sum(rejects.values())
            if records is not None and records != rows + merged + rejected:
                raise GoldsmithError(
                    f"[{self._shard.name} > {pair[0]} > {pair[1]}] {records} records were read, but {rows} rows + "
                    f"{merged} merged + {rejected} rejects = {rows + merged + rejected}: the builder "
                    "loses or doubles some"
                )
            counts = {"records": records, "rows": rows, "merged": merged, "rejects": rejects}
            lines.append({"source": pair[0], "table": pair[1], **counts})
        return lines

    def _count(self, rows: int, rejects: int) -> None:
        self._news[0] += rows
        self._news[1] += rejects
        if time.monotonic() - self._told > _REPORT_EVERY_S:
            self._tell()

    def _tell(self) -> None:
        self._report(Progress(*self._news))
        self._news, self._told = [0, 0], time.monotonic()


def _as_declared(where: str, table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows under the table's own schema (with its metadata); nothing is converted."""
    if rows.schema.names != table.names:
        raise GoldsmithError(f"[{where}] has columns {rows.schema.names}: the schema says {table.names}")
    for declared in table.arrow:
        found = rows.schema.field(declared.name).type
        if found != declared.type:
            raise GoldsmithError(f"[{where} > {declared.name}] is {found}, the schema says {declared.type}: cast it")
    return pa.RecordBatch.from_arrays(rows.columns, schema=table.arrow)
