"""What the SQL of the checks has of its own: the column of splits, DuckDB's types, ids of rows and numbers."""

from __future__ import annotations

from schemas import Bool, Date, Float, Int, Json, Label, List, Struct, Table, Text, Timestamp, sql
from schemas.types import MEDIA, Type

SPLIT = "_split"
"""The column beside a table's own that holds the split of a row."""


def type_of(kind: Type) -> str:
    """The DuckDB type of a column of type `kind`, as DuckDB names it in `DESCRIBE`."""
    match kind:
        case Text():
            return "VARCHAR"
        case Int(bits):
            return {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}[bits]
        case Float(bits):
            return {32: "FLOAT", 64: "DOUBLE"}[bits]
        case Bool():
            return "BOOLEAN"
        case Date():
            return "DATE"
        case Timestamp():
            return "TIMESTAMP"
        case Label():
            return "BIGINT"
        case Json():
            return "JSON"
        case List(of):
            return f"{type_of(of)}[]"
        case Struct(fields):
            return f"STRUCT({', '.join(f'{sql.name(field)} {type_of(of)}' for field, of in fields)})"
    if kind.arrow == MEDIA:
        return 'STRUCT("bytes" BLOB, path VARCHAR)'
    raise TypeError(f"{kind} has no DuckDB type")


def row_id(table: Table, alias: str = "") -> str:
    """The id of a row, never null: a null key, which is a fault of its own, still has to be named."""
    prefix = f"{alias}." if alias else ""
    shown = " || '/' || ".join(f"coalesce({prefix}{sql.name(key)}::VARCHAR, 'null')" for key in table.key)
    return f"coalesce({table.row_id_sql(alias)}, {shown})"


def number(value: float) -> str:
    """A finite number as people and DuckDB write it, exactly: 5 (not 5.0), 0.25, 1e-07."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
