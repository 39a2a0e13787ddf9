"""The one Parquet writer: the same rows give the same bytes.

Bytes would otherwise depend on how the incoming batches were cut, so each row group is put together as one chunk.
Row groups are cut by bytes (large enough for content-defined chunking to pay, small enough for the Hub's viewer).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.types import MEDIA

ROW_GROUP_BYTES = 64 << 20
"""Arrow bytes after which a row group is closed. The Hub's viewer wants at most 100 MB."""

ZSTD_LEVEL = 3


@dataclass(frozen=True)
class Written:
    """What was written: rows, bytes on disk, and the sha256 of those bytes (hashed on the way out)."""

    rows: int
    bytes: int
    sha256: str


class _HashingFile:
    """A write-only file that hashes what passes through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.sha256 = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        self.sha256.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()

    def close(self) -> None:
        self.closed = True


def write_parquet(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Written:
    """Write `batches` to `path`, synced to the disk. An empty iterable gives a file with the schema and no row.

    Raises:
        OSError: the disk is full or not writable; no file is left at `path`.
        pa.ArrowInvalid: a batch has another schema.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            hashing = _HashingFile(file)
            rows = _write(hashing, schema, batches)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return Written(rows, hashing.size, hashing.sha256.hexdigest())


def _write(file: _HashingFile, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    blobs = [field.name for field in schema if field.type == MEDIA]
    plain = [leaf for leaf in _leaves(schema) if leaf.split(".")[0] not in blobs]
    rows = 0
    with pq.ParquetWriter(
        pa.PythonFile(file, mode="w"),
        schema,
        compression={leaf: "zstd" if leaf in plain else "none" for leaf in _leaves(schema)},
        compression_level={leaf: ZSTD_LEVEL for leaf in plain},
        use_dictionary=plain,
        write_statistics=plain,
        write_page_index=True,
        use_content_defined_chunking=True,
    ) as writer:
        for group in _row_groups(schema, batches):
            writer.write_table(group, row_group_size=max(1, group.num_rows))
            rows += group.num_rows
    return rows


def _row_groups(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut the rows into groups; the borders depend on the rows alone, never on the incoming batches."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        start = 0
        ends = size + np.cumsum(_row_bytes(batch.to_struct_array()))
        while len(ends) and ends[-1] >= ROW_GROUP_BYTES:
            cut = int(np.searchsorted(ends, ROW_GROUP_BYTES)) + 1
            waiting.append(batch.slice(start, cut))
            yield pa.Table.from_batches(waiting, schema).combine_chunks()
            waiting, start = [], start + cut
            ends = ends[cut:] - ends[cut - 1]
        if start < batch.num_rows:
            waiting.append(batch.slice(start))
        size = int(ends[-1]) if len(ends) else 0 if start else size
    if waiting:
        yield pa.Table.from_batches(waiting, schema).combine_chunks()


def _row_bytes(values: pa.Array) -> np.ndarray:
    """The logical size of each row in bytes, int64 of shape (rows,): independent of how the rows are chunked."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    kind = values.type
    if pa.types.is_struct(kind):
        return sum((_row_bytes(child) for child in values.flatten()), np.zeros(len(values), np.int64))
    if pa.types.is_list(kind):
        ends = np.cumsum(pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False), dtype=np.int64)
        items = np.concatenate([[0], np.cumsum(_row_bytes(values.flatten()))])
        return np.diff(items[np.concatenate([[0], ends])]) + 4
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False).astype(np.int64) + 4
    return np.full(len(values), max(1, kind.bit_width // 8), np.int64)


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
