"""Makes tables with broken JSON readable: DuckDB refuses a whole scan for one value that is no JSON.

Such a table's files are copied into the spill folder with JSON as plain text. The constraint checks read the copy,
and so find the broken values; everything else reads the table with JSON null in their place.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from quality import duck
from schemas import Json, List, Struct, Table, sql
from schemas.types import Type


def holds_json(kind: Type) -> bool:
    """Whether a type is Json or has Json within."""
    match kind:
        case List(of):
            return holds_json(of)
        case Struct(fields):
            return any(holds_json(of) for _, of in fields)
    return isinstance(kind, Json)


def broken(con: duckdb.DuckDBPyConnection, table: Table, view: str) -> bool:
    """Whether reading the table's JSON columns fails. Reads them whole."""
    columns = [column.name for column in table.columns if holds_json(column.type)]
    if not columns:
        return False
    try:
        con.execute(f"SELECT bit_xor(hash({sql.names(columns)})) FROM {sql.name(view)}").fetchall()
    except duckdb.InvalidInputException:
        return True
    return False


def copy_as_text(source: Path, target: Path) -> None:
    """Copy a Parquet file with JSON as plain text, batch by batch."""
    with pq.ParquetFile(source) as file:
        schema = pa.schema([(field.name, _plain(field.type)) for field in file.schema_arrow])
        with pq.ParquetWriter(target, schema) as writer:
            for batch in file.iter_batches():
                arrays = [_as_plain(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def repaired(table: Table) -> str:
    """The columns of a table read from such a copy, in SQL, with JSON again where it is JSON."""
    parts = []
    for column in table.columns:
        value = sql.name(column.name)
        if holds_json(column.type):
            cast = f"TRY_CAST({value} AS {duck.type_of(column.type)})"
            if isinstance(column.type, Json):
                cast = f"coalesce({cast}, CASE WHEN {value} IS NOT NULL THEN 'null'::JSON END)"
            value = f"{cast} AS {value}"
        parts.append(value)
    return ", ".join(parts)


def _plain(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain(field.type)) for field in kind])
    return kind


def _as_plain(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.ExtensionArray):
        return values.storage
    if pa.types.is_list(kind):
        items = _as_plain(values.values, kind.value_type)
        return pa.ListArray.from_arrays(values.offsets, items, kind, mask=values.is_null())
    if pa.types.is_struct(kind):
        children = [_as_plain(values.field(index), field.type) for index, field in enumerate(kind)]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=values.is_null())
    return values
