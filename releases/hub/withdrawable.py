"""Which rows can be withdrawn: those that were made of source records.

Rows of a derived table follow from the rows of others and leave with them; rows that say how the dataset was made are
facts, without which the documents would say something else.
"""

from __future__ import annotations

import duckdb

from schemas import DatasetFolder, GoldsmithError, Table, sql
from schemas.derived import parents


def refuse_others(folder: DatasetFolder, table: Table, row_id: str) -> None:
    """Refuse a row that cannot be withdrawn, with what can be.

    Raises:
        GoldsmithError: its table is derived from others, or says how the dataset was made.
    """
    place = f"{folder.path} > {table.name} > {row_id}"
    if table.describes_build:
        names = [each.name for each in folder.schema.tables if not (each.derived or each.describes_build)]
        text = "says how the dataset was made, no source record holds it, and so it cannot be withdrawn"
        raise GoldsmithError(f"[{place}] {text}: name rows of {', '.join(names)}, or change it and build again")
    if table.derived:
        names = parents(table)
        found = next((hint for parent in names if (hint := _made_of(folder, table, parent, row_id))), "")
        text = f"is computed from {', '.join(names)}, and leaves with its rows there: withdraw those"
        raise GoldsmithError(f"[{place}] {text}{found}")


def _made_of(folder: DatasetFolder, table: Table, name: str, row_id: str) -> str:
    """The query for the rows of the table `name` that have the row's key, and the first of them; "" if none has."""
    parent = folder.schema.table(name)
    if not set(table.key) <= set(parent.names):
        return ""
    parts = row_id.split("/") if len(table.key) > 1 else [row_id]
    values = [part.replace("%2F", "/").replace("%25", "%") for part in parts] if len(parts) > 1 else parts
    pairs = zip(table.key, values, strict=True)
    same = " AND ".join(f"{sql.name(key)}::VARCHAR = {sql.literal(value)}" for key, value in pairs)
    files = sql.literal(f"{sql.pattern(folder.data(name))}/*.parquet")
    query = f"SELECT {parent.row_id_sql()} AS id FROM {files} WHERE {same}"
    with duckdb.connect() as connection:
        ids = [row[0] for row in connection.execute(f"{query} ORDER BY id").fetchall()]
    return f" (such as --row {name}:{ids[0]}; all {len(ids):,}: {query})" if ids else ""
