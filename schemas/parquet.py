"""The one Parquet writer: the same rows give the same bytes.

Bytes would otherwise depend on how the incoming batches were cut, so rows are put together in chunks of a size of our
own, and row groups are whole chunks. Both are cut by bytes: groups large enough for content-defined chunking to pay,
small enough for the Hub's viewer and for memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.types import MEDIA

ROW_GROUP_BYTES = 64 << 20
"""Arrow bytes after which a row group is closed. The Hub's viewer wants at most 100 MB."""

MEDIA_GROUP_BYTES = 12 << 20
"""The same for tables with sound or pictures: a build holds a group for each split. Four rows before 100 MB of sound
send 4 % of it again, where groups of 64 MB send 2 %."""

SMALL_GROUP_BYTES = 1 << 20
"""The same for lineage and rejects, of which few rows are read at a time: a build holds a group of them in memory."""

CHUNK_BYTES = 2 << 20
"""Arrow bytes that are copied together: what a group takes beside itself. 200 rows before a million send 22 % of them
again, where a group is one chunk 20 %."""

ZSTD_LEVEL = 3


@dataclass(frozen=True)
class Written:
    """What was written: rows, bytes on disk, and the sha256 of those bytes (hashed on the way out)."""

    rows: int
    bytes: int
    sha256: str


class _HashingFile:
    """A write-only file that hashes what passes through it.

    A failed write is remembered and raised by `check`: PyArrow 26 ends the whole process when its sink raises while it
    cuts pages by content (a failed check in column_writer.cc), be it for a full disk or for Ctrl-C.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.sha256 = hashlib.sha256()
        self.size = 0
        self.closed = False
        self.error: BaseException | None = None
        self.broken = False

    def write(self, data: bytes | memoryview) -> int:
        if not self.broken:
            try:
                self.file.write(data)
            except BaseException as error:
                self.error, self.broken = error, True
        self.sha256.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def check(self) -> None:
        """Raise what went wrong."""
        if self.error is not None:
            raise self.error


class ParquetFile:
    """A Parquet file that grows batch by batch and appears under its name only when it is whole and synced.

    Use it as a context manager: leaving it by an error leaves no file. Memory is one row group and one chunk. Groups
    are of `group_bytes`; default `ROW_GROUP_BYTES`, or `MEDIA_GROUP_BYTES` where the schema has media.

    Raises:
        OSError: the disk is full or not writable.
        pa.ArrowInvalid: a batch has another schema.
    """

    def __init__(self, path: Path, schema: pa.Schema, group_bytes: int | None = None) -> None:
        self._path = path
        media = any(field.type == MEDIA for field in schema)
        self._group_bytes = group_bytes or (MEDIA_GROUP_BYTES if media else ROW_GROUP_BYTES)
        self._chunk_bytes = min(CHUNK_BYTES, self._group_bytes)
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._chunk_size = 0
        self._group: list[pa.RecordBatch] = []
        self._group_size = 0
        self._rows = 0
        self._file = _HashingFile(open(self._temporary, "wb"))  # noqa: SIM115 (closed by close or __exit__)
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.broken = True
        if self._writer is not None:
            self._writer.close()  # Otherwise it closes itself later, into the file that is gone.
        with suppress(OSError):
            self._file.file.close()  # What it still holds is not wanted.
        self._temporary.unlink(missing_ok=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows. The borders of chunks and row groups depend on the rows alone, never on how they are batched."""
        ends = np.cumsum(_row_bytes(batch.to_struct_array()))
        start = done = 0
        while start < batch.num_rows:
            cut = int(np.searchsorted(ends, done + self._chunk_bytes - self._chunk_size)) + 1
            stop = min(cut, batch.num_rows)
            self._waiting.append(batch.slice(start, stop - start))
            self._chunk_size += int(ends[stop - 1]) - done
            start, done = stop, int(ends[stop - 1])
            if self._chunk_size >= self._chunk_bytes:
                self._close_chunk()

    def close(self) -> Written:
        """Finish the file and move it into place."""
        self._close_chunk()
        self._close_group()
        self._opened().close()
        self._file.check()
        self._file.file.flush()
        os.fsync(self._file.file.fileno())
        self._file.file.close()
        self._temporary.replace(self._path)
        return Written(self._rows, self._file.size, self._file.sha256.hexdigest())

    def _close_chunk(self) -> None:
        """Put the waiting rows together: the writer's page borders follow the chunks."""
        if self._waiting:
            self._group.append(pa.concat_batches(self._waiting))
            self._group_size += self._chunk_size
        self._waiting, self._chunk_size = [], 0
        if self._group_size >= self._group_bytes:
            self._close_group()

    def _close_group(self) -> None:
        if self._group:
            writer = self._opened(self._group[0])
            group = pa.Table.from_batches(self._group, self._schema)
            writer.write_table(group, row_group_size=group.num_rows)
            self._file.check()
            self._rows += group.num_rows
            self._group, group = [], None
            pa.default_memory_pool().release_unused()  # It would keep tens of MB, and more with each group.
        self._group_size = 0

    def _opened(self, first: pa.RecordBatch | None = None) -> pq.ParquetWriter:
        """The writer, opened for the file's first chunk: how its numbers are best written depends on them."""
        if self._writer is None:
            self._writer = _parquet_writer(self._file, self._schema, () if first is None else _numbering(first))
        return self._writer


def write_parquet(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group_bytes: int | None = None
) -> Written:
    """Write `batches` to `path`, synced to the disk. An empty iterable gives a file with the schema and no row.

    Raises:
        OSError: the disk is full or not writable; no file is left at `path`.
        pa.ArrowInvalid: a batch has another schema.
    """
    with ParquetFile(path, schema, group_bytes) as file:
        for batch in batches:
            file.write(batch)
        return file.close()


def _numbering(first: pa.RecordBatch) -> list[str]:
    """The columns of integers most of which differ, such as keys: a dictionary of them holds nearly all of them, where
    their differences take a few bits. (10 million keys in order: 48 kB instead of 14 MB, read in a fifth of the time.)
    """
    return [
        field.name
        for field, values in zip(first.schema, first.columns, strict=True)
        if pa.types.is_integer(field.type) and pc.call_function("count_distinct", [values]).as_py() * 2 > len(values)
    ]


def _parquet_writer(file: _HashingFile, schema: pa.Schema, numbering: Collection[str]) -> pq.ParquetWriter:
    blobs = [field.name for field in schema if field.type == MEDIA]
    plain = [leaf for leaf in _leaves(schema) if leaf.split(".")[0] not in blobs]
    options: dict[str, Any] = {
        "compression": {leaf: "zstd" if leaf in plain else "none" for leaf in _leaves(schema)},
        "compression_level": dict.fromkeys(plain, ZSTD_LEVEL),
        "use_dictionary": [leaf for leaf in plain if leaf not in numbering],
        "column_encoding": dict.fromkeys(numbering, "DELTA_BINARY_PACKED") or None,
        "write_statistics": plain,
        "write_page_index": True,
        "use_content_defined_chunking": True,
    }
    return pq.ParquetWriter(pa.PythonFile(file, mode="w"), schema, **options)


def _row_bytes(values: pa.Array) -> np.ndarray:
    """The logical size of each row in bytes, int64 of shape (rows,): independent of how the rows are chunked."""
    # Arrow cannot flatten an empty list of a type that holds an extension type.
    values = values.cast(_storage(values.type))
    kind = values.type
    if pa.types.is_struct(kind):
        return sum((_row_bytes(child) for child in values.flatten()), np.zeros(len(values), np.int64))
    if pa.types.is_list(kind):
        ends = np.cumsum(_lengths("list_value_length", values), dtype=np.int64)
        items = np.concatenate([[0], np.cumsum(_row_bytes(values.flatten()))])
        return np.diff(items[np.concatenate([[0], ends])]) + 4
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _lengths("binary_length", values).astype(np.int64) + 4
    return np.full(len(values), max(1, kind.bit_width // 8), np.int64)


def _lengths(function: str, values: pa.Array) -> np.ndarray:
    """The length of each value, 0 for a null. (`to_numpy` and `fill_null` import pandas, which takes half a second.)"""
    found = pc.call_function(function, [values])
    if not found.null_count:
        return np.from_dlpack(found)
    lengths = np.zeros(len(found), np.int64)
    lengths[np.from_dlpack(found.is_valid().cast(pa.uint8())) == 1] = np.from_dlpack(found.drop_null())
    return lengths


def _storage(kind: pa.DataType) -> pa.DataType:
    """The type with what its extension types are stored as."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_list(kind):
        return pa.list_(_storage(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_storage(field.type)) for field in kind])
    return kind


def _leaves(schema: pa.Schema) -> list[str]:
    """The Parquet path of every leaf column, such as `spans.list.element.start`."""

    def walk(path: str, kind: pa.DataType) -> Iterator[str]:
        if pa.types.is_struct(kind):
            for field in kind:
                yield from walk(f"{path}.{field.name}", field.type)
        elif pa.types.is_list(kind):
            yield from walk(f"{path}.list.element", kind.value_type)
        else:
            yield path

    return [leaf for field in schema for leaf in walk(field.name, field.type)]
