"""The records of a collection, read from CSV, TSV, JSONL or the published Parquet, and the sounds they point to.

Records come in the table's order under our field names, as text. A record that cannot be read is a record with a
problem, never an exception: the builder makes a reject of it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.vaani.collection import Collection
from schemas import GoldsmithError

_PARQUET_ROWS = 64


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a table.

    Attributes:
        place: where it stands, such as `clips.tsv line 12`.
        fields: our field -> text; missing values are left out.
        extra: kept columns as they are.
        data: the sound, where it is inside the table; else `fields["path"]` leads to it.
        problem: (reason, message) where the record itself cannot be used.
    """

    place: str
    fields: dict[str, str]
    extra: dict[str, Any]
    raw: str
    data: bytes | None = None
    problem: tuple[str, str] | None = None


class Records:
    """Reads the tables of a collection in `folder`."""

    def __init__(self, folder: Path, collection: Collection) -> None:
        self.folder = folder
        self.collection = collection
        self._root = folder.resolve()

    def read(self, table: str, first: int = 0, count: int | None = None, *, sounds: bool = True) -> Iterator[Record]:
        """The records `first` to `first + count` of a table.

        Args:
            sounds: whether records of a Parquet table come with their sound.

        Raises:
            GoldsmithError: the file as a whole cannot be read, or lacks a column that the collection names.
        """
        path = self.folder / table
        if path.suffix == ".parquet":
            yield from self._parquet(table, first, count, sounds)
            return
        _refuse_utf_16(path, table)
        if path.suffix in (".jsonl", ".ndjson"):
            with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
                lines = ((number, line) for number, line in enumerate(file, start=1) if line.strip())
                for number, line in islice(lines, first, None if count is None else first + count):
                    yield self._json_record(f"{table} line {number}", line)
        else:
            yield from self._csv(table, first, count)

    def sizes(self, table: str) -> list[int]:
        """Bytes of the sound that ends with each record: of its file, or, in Parquet, of a whole row group with its
        last record (shards are best cut between row groups). A file that is missing has none."""
        if not table.endswith(".parquet"):
            return [self._size(record) for record in self.read(table)]
        metadata = pq.read_metadata(self.folder / table)
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        return [
            size for group in groups for size in [*[0] * (group.num_rows - 1), group.total_byte_size][: group.num_rows]
        ]

    def _size(self, record: Record) -> int:
        try:
            return self.inside(record.fields.get("path", "")).stat().st_size
        except (OSError, ValueError):
            return 0

    def sound(self, record: Record) -> bytes:
        """The encoded sound of a record.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: its path leads out of the collection.
        """
        if record.data is not None:
            return record.data
        return self.inside(record.fields.get("path", "")).read_bytes()

    def inside(self, path: str) -> Path:
        """A path of the collection as a file.

        Raises:
            ValueError: it leads out of the collection.
        """
        full = self.folder / path
        if not path or "\0" in path or not full.resolve().is_relative_to(self._root):
            raise ValueError(f"path {path!r} is not inside the collection")
        return full

    def _csv(self, table: str, first: int, count: int | None) -> Iterator[Record]:
        path = self.folder / table
        tabs = path.suffix == ".tsv"
        quotes = not tabs if self.collection.quotes is None else self.collection.quotes
        quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, delimiter="\t" if tabs else ",", quoting=quoting)
            try:
                header = next(reader, [])
                self._check_header(table, header)
                rows = (row for row in reader if row)
                for row in islice(rows, first, None if count is None else first + count):
                    place = f"{table} line {reader.line_num}"
                    raw = ("\t" if tabs else ",").join(row)
                    if len(row) != len(header):
                        message = f"{len(row)} fields, the header has {len(header)}"
                        yield Record(place, {}, {}, raw, problem=("ragged_row", message))
                    else:
                        yield self._record(place, dict(zip(header, row, strict=True)), raw)
            except csv.Error as error:
                raise GoldsmithError(f"[{table} > line {reader.line_num}] cannot be read ({error}): mend it") from None

    def _json_record(self, place: str, line: str) -> Record:
        try:
            row = json.loads(line)
        except ValueError as error:
            return Record(place, {}, {}, line.strip(), problem=("bad_json", str(error)))
        if not isinstance(row, dict):
            return Record(place, {}, {}, line.strip(), problem=("bad_json", "the line is no object"))
        return self._record(place, row, line.strip())

    def _parquet(self, table: str, first: int, count: int | None, sounds: bool) -> Iterator[Record]:
        with pq.ParquetFile(self.folder / table) as file:
            wanted = {*self.collection.columns.values(), *self.collection.keep} & set(file.schema_arrow.names)
            audio = [name for name in ("audio", "image") if name in file.schema_arrow.names][:1]
            leaves = audio if sounds else [f"{name}.path" for name in audio]
            end = file.metadata.num_rows if count is None else first + count
            start = 0
            for group in range(file.metadata.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if start < end and start + size > first:
                    row = start
                    for batch in file.iter_batches(_PARQUET_ROWS, [group], [*sorted(wanted), *leaves]):
                        yield from self._batch(table, batch, row, first, end, audio)
                        row += batch.num_rows
                start += size

    def _batch(
        self, table: str, batch: pa.RecordBatch, start: int, first: int, end: int, audio: list[str]
    ) -> Iterator[Record]:
        for offset, row in enumerate(batch.to_pylist()):
            if first <= start + offset < end:
                media = row.pop(audio[0], None) or {} if audio else {}
                shown = json.dumps({**row, "path": media.get("path")}, ensure_ascii=False, default=str)
                yield self._record(
                    f"{table} row {start + offset}", row, shown, media.get("bytes"), {"path": media.get("path")}
                )

    def _record(
        self, place: str, row: dict[str, Any], raw: str, data: bytes | None = None, more: dict[str, Any] | None = None
    ) -> Record:
        columns = self.collection.columns
        given = {**(more or {}), **{name: row.get(column) for name, column in columns.items()}}
        fields = {**self.collection.constants}
        for name, value in given.items():
            text = "" if value is None else str(value)
            if text.strip() and text.strip() not in self.collection.null:
                fields[name] = text
        extra = {name: row[name] for name in self.collection.keep if row.get(name) not in (None, "")}
        problem = None
        if not raw.isascii() and any("\ud800" <= character <= "\udfff" for character in raw):
            problem = ("not_utf8", "the line is not UTF-8")
        return Record(place, fields, extra, raw, data, problem)

    def _check_header(self, table: str, header: list[str]) -> None:
        for name, column in self.collection.columns.items():
            if column not in header:
                known = ", ".join(header) or "none"
                raise GoldsmithError(
                    f"[{table} > {column}] is no column, collection.toml names it as {name}: the columns are {known}"
                )
        for column in self.collection.keep:
            if column not in header:
                raise GoldsmithError(f"[{table} > {column}] is no column, collection.toml keeps it: take it out there")


def _refuse_utf_16(path: Path, table: str) -> None:
    with open(path, "rb") as file:
        start = file.read(64)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
        raise GoldsmithError(f"[{table}] is not UTF-8, but UTF-16 or no text: save it as UTF-8 (Excel: CSV UTF-8)")
