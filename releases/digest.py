"""The digest of rows: what a table says, whatever file, engine or order it is kept in.

Each row becomes bytes by its declared type (every value with a mark for null and, where its size varies, its length, so
that no two rows share bytes) and is hashed with sha256; the hashes are sorted and hashed again. So the digest is over
the multiset of rows: order, shards, row groups, batches, compression, `string` or `large_string`, dictionaries and the
writer do not enter, while a row that is there twice counts twice (an xor would cancel it; a sum of hashes can be
forged). It is as hard to forge as sha256, and costs 32 bytes of memory a row of the largest split.

Equal by definition: every NaN, and 0.0 and -0.0. Different: null, NaN, an empty text and an empty list. JSON is its
text. Names and types of columns are part of it; meanings, units and bounds are not.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.damage import readable
from releases.manifest import Rows, TableRows
from schemas import (
    Audio,
    Bool,
    DatasetFolder,
    Date,
    Float,
    GoldsmithError,
    Image,
    Int,
    Label,
    List,
    Struct,
    Table,
    Text,
    Timestamp,
    Type,
)

BATCH_BYTES = 16 << 20
BATCH_ROWS = 16_384

_MEDIA = Struct((("bytes", Text()), ("path", Text())))
_Cells = tuple[list[np.ndarray], list[pa.LargeBinaryArray]]
"""A column as bytes: blocks of a fixed width, uint8 of shape (rows, width), and parts of varying length."""


def digest_dataset(folder: DatasetFolder) -> dict[str, TableRows]:
    """The digest of every table in `folder`, by name.

    Raises:
        GoldsmithError: a shard's columns are not the schema's.
    """
    return {table.name: digest_table(table, folder.shards(table.name)) for table in folder.schema.tables}


def digest_whole(tables: Mapping[str, TableRows]) -> str:
    """One digest over all tables."""
    return _sha256(json.dumps({name: rows.digest for name, rows in tables.items()}, sort_keys=True))


def digest_table(table: Table, shards: Mapping[str, Sequence[Path]]) -> TableRows:
    """The digest of a table whose shards are given by split. A split without rows is as if it were not there.

    Raises:
        GoldsmithError: a shard's columns are not the table's.
    """
    splits = {split: digest_rows(table, _read(table, paths)) for split, paths in shards.items()}
    splits = {split: rows for split, rows in sorted(splits.items()) if rows.rows}
    parts = {split: [rows.rows, rows.digest] for split, rows in splits.items()}
    digest = _sha256(json.dumps({"table": _header(table), "splits": parts}, sort_keys=True))
    return TableRows(sum(rows.rows for rows in splits.values()), digest, splits)


def digest_rows(table: Table, batches: Iterable[pa.RecordBatch]) -> Rows:
    """The digest of rows of `table`, in whatever batches they come.

    Raises:
        GoldsmithError: a batch's columns are not the table's.
    """
    hashes = bytearray()
    for batch in batches:
        if batch.num_rows:
            hashes += _row_hashes(table, batch)
    np.frombuffer(hashes, "S32").sort()  # in place
    whole = hashlib.sha256(_header(table).encode() + b"\0")
    whole.update(hashes)
    return Rows(len(hashes) // 32, whole.hexdigest())


def _header(table: Table) -> str:
    columns = [[column.name, column.type.to_json()] for column in table.columns]
    return json.dumps(["goldsmith rows 1", table.name, columns], ensure_ascii=False, sort_keys=True)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(table: Table, paths: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with readable(path):
            names = pq.read_schema(path).names
        if sorted(names) != sorted(table.names):
            raise GoldsmithError(f"[{path}] has other columns than table {table.name}: build the dataset again")
        yield from read_batches(path)


def read_batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file, about BATCH_BYTES at a time: a row may hold a recording or a picture.

    Raises:
        GoldsmithError: the file is missing or damaged.
    """
    with readable(path), pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
        row_bytes = max((group.total_byte_size / max(1, group.num_rows) for group in groups), default=1.0)
        size = int(min(BATCH_ROWS, max(1, BATCH_BYTES // max(1, row_bytes))))
        yield from file.iter_batches(batch_size=size, columns=list(columns) if columns else None)


def _row_hashes(table: Table, batch: pa.RecordBatch) -> bytes:
    """The sha256 of each row, 32 bytes each, joined."""
    try:
        cells = [_cells(column.type, batch.column(column.name)) for column in table.columns]
    except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise GoldsmithError(f"[{table.name}] rows are not of its schema ({error}): build the dataset again") from None
    rows = _join(cells, batch.num_rows)
    data = memoryview(rows.buffers()[2])
    ends = _offsets(rows).tolist()
    fresh = hashlib.sha256().copy  # a copy of a fresh hash is cheaper than a new one
    hashes = []
    for start, end in itertools.pairwise(ends):
        row = fresh()
        row.update(data[start:end])
        hashes.append(row.digest())
    return b"".join(hashes)


def _join(cells: Sequence[_Cells], rows: int) -> pa.LargeBinaryArray:
    """Columns as one value a row: first all that has a fixed width, which holds the lengths of what follows."""
    fixed = np.hstack([block for blocks, _ in cells for block in blocks])
    ends = np.arange(rows + 1, dtype=np.int64) * fixed.shape[1]
    first = pa.Array.from_buffers(pa.large_binary(), rows, [None, pa.py_buffer(ends), pa.py_buffer(fixed.tobytes())])
    parts = [part for _, parts in cells for part in parts]
    separator = pa.scalar(b"", pa.large_binary())
    return pc.call_function("binary_join_element_wise", [first, *parts, separator]) if parts else first


def _offsets(values: pa.LargeBinaryArray) -> np.ndarray:
    return np.frombuffer(values.buffers()[1], np.int64)[values.offset : values.offset + len(values) + 1]


def _cells(kind: Type, values: pa.Array) -> _Cells:
    """A column as bytes; nulls are a mark and zeros."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    valid = _column(values.is_valid().cast(pa.uint8()))
    match kind:
        case List(of=of):
            blocks, parts = _list(of, values)
        case Struct(fields=fields):
            blocks, parts = _struct(fields, values)
        case Image() | Audio():
            blocks, parts = _struct(_MEDIA.fields, values)
        case Int() | Float() | Bool() | Label() | Date() | Timestamp():
            blocks, parts = [_number(kind, values)], []
        case _:
            blocks, parts = _bytes(values)
    return [valid, *blocks], parts


def _column(values: pa.Array) -> np.ndarray:
    """Numbers without nulls as bytes: uint8 of shape (rows, width), little endian."""
    numbers = np.ascontiguousarray(values.to_numpy(zero_copy_only=False))
    return numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).view(np.uint8).reshape(len(numbers), -1)


def _number(kind: Type, values: pa.Array) -> np.ndarray:
    values = values.cast(kind.arrow)
    match kind:
        case Bool():
            return _column(values.fill_null(False).cast(pa.uint8()))
        case Date():
            return _column(values.cast(pa.int32()).fill_null(0))
        case Timestamp():
            return _column(values.cast(pa.int64()).fill_null(0))
        case Float():
            numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
            numbers = np.where(np.isnan(numbers), np.array(np.nan, numbers.dtype), numbers) + numbers.dtype.type(0)
            return _column(pa.array(numbers))
        case _:
            return _column(values.fill_null(0))


def _bytes(values: pa.Array) -> _Cells:
    filled = values.cast(pa.large_binary()).fill_null(b"")
    return [_column(pc.call_function("binary_length", [filled]))], [filled]


def _struct(fields: Sequence[tuple[str, Type]], values: pa.Array) -> _Cells:
    names = [field.name for field in values.type]
    if sorted(names) != sorted(name for name, _ in fields):
        raise KeyError(f"fields {', '.join(names)}")
    children = values.flatten()  # a null struct has null fields
    cells = [_cells(kind, children[names.index(name)]) for name, kind in fields]
    return [block for blocks, _ in cells for block in blocks], [part for _, parts in cells for part in parts]


def _list(of: Type, values: pa.Array) -> _Cells:
    """A list: its length, and its elements as one value. Elements end where their own bytes say, so none can blend."""
    lengths = pc.call_function("list_value_length", [values]).fill_null(0).cast(pa.int64())
    flat = values.flatten()  # a null list has no element
    ends = np.concatenate([[0], np.cumsum(lengths.to_numpy(zero_copy_only=False))])
    if len(flat):
        elements = _join([_cells(of, flat)], len(flat))
        ends, data = np.ascontiguousarray(_offsets(elements)[ends]), elements.buffers()[2]
    else:
        data = pa.py_buffer(b"")
    grouped = pa.Array.from_buffers(pa.large_binary(), len(values), [None, pa.py_buffer(ends.astype(np.int64)), data])
    return [_column(lengths)], [grouped]
