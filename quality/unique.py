"""Rows that repeat one another: keys, declared unique columns, whole rows, and rows in two splits.

Equal rows have equal hashes. So the hashes (`quality.repeats`) are sorted, and only rows whose hash occurs twice are
compared in full: exact, and several times cheaper than grouping everything. Above the memory budget the hashes are
grouped in DuckDB, which spills to disk, with the same result.
"""

from __future__ import annotations

from quality import duck
from quality.ledger import Ledger
from quality.repeats import find_suspects
from schemas import Audio, Check, GoldsmithError, Image, Json, List, Struct, Table, Text, Unique, sql


def check_keys(ledger: Ledger, table: Table) -> None:
    """`<table>.key_unique`: no two rows have the same key."""
    unique = Unique(
        f"{table.name}.key_unique",
        f"The key ({', '.join(table.key)}) names one row",
        "block",
        table.name,
        table.key,
        "Mend the key in the builder, or merge the rows there.",
    )
    check_unique(ledger, unique)


def check_unique(ledger: Ledger, unique: Unique) -> None:
    """Run a `Unique`: each row after the first (by split and id) that has the same values fails."""
    known = {table.name: table for table in ledger.session.dataset.tables}
    if unique.table not in known:
        raise GoldsmithError(
            f"[{unique.name}] {unique.table} is a view, and `Unique` looks at tables: give SQL instead"
        )
    table = known[unique.table]
    suspect = find_suspects(ledger.session, table, unique.columns)
    if not suspect:
        ledger.listed(as_check(unique), ())
        return
    word = sql.literal("same " + ", ".join(unique.columns) + " as row ")
    query = f"SELECT id, {word} || first AS message FROM ({_groups(table, unique.columns, suspect)}) WHERE n > 1"
    ledger.check(as_check(unique), query)


def as_check(unique: Unique) -> Check:
    """A `Unique` with SQL for people to read."""
    columns, table = sql.names(unique.columns), sql.name(unique.table)
    shown = f"SELECT {columns}, count(*) FROM {table} GROUP BY ALL HAVING count(*) > 1"
    return Check(unique.name, unique.meaning, unique.severity, unique.table, shown, advice=unique.advice)


def check_duplicates(ledger: Ledger, table: Table) -> None:
    """`<table>.duplicate_rows` (the same content twice) and `<table>.leakage` (the same content in two splits)."""
    content = content_columns(table)
    listed = sql.names(content) or "*"
    shown = f"SELECT {listed}, count(*) FROM {sql.name(table.name)} GROUP BY ALL HAVING count(*) > 1"
    duplicates = Check(
        f"{table.name}.duplicate_rows",
        f"No two rows have the same content ({_said(table)}), whatever their keys",
        "warn",
        table.name,
        shown,
        advice="Merge them in the builder, or say in the datasheet why they repeat.",
    )
    leakage = Check(
        f"{table.name}.leakage",
        "No row's content is in two splits",
        "block",
        table.name,
        shown.replace("count(*) > 1", f"count(DISTINCT {duck.SPLIT}) > 1"),
        advice="Split by content, not by row: keep equal rows in one split.",
    )
    if not content:
        why = "beside its key the table has only numbers, categories and references, which repeat by nature"
        if table.content is not None:
            why = "by its schema, rows under different keys may be equal"
        ledger.skip(duplicates, why)
        ledger.skip(leakage, why)
        return
    suspect = find_suspects(ledger.session, table, content)
    groups = _groups(table, content, suspect)
    if suspect:
        message = (
            "CASE WHEN id = first THEN 'same key and content as another row' ELSE 'same content as row ' || first END"
        )
        ledger.check(duplicates, f"SELECT id, {message} AS message FROM ({groups}) WHERE n > 1")
    else:
        ledger.listed(duplicates, ())
    if len(table.splits) < 2:
        ledger.skip(leakage, "the table has one split")
        return
    if not suspect:
        ledger.listed(leakage, ())
        return
    message = (
        f"'in split ' || {duck.SPLIT} || ', same content as row ' || first || ' in split ' || first_split AS message"
    )
    ledger.check(leakage, f"SELECT id, {message} FROM ({groups}) WHERE {duck.SPLIT} <> first_split")


def content_columns(table: Table) -> tuple[str, ...]:
    """What the schema says; else all columns but the row's own name, or none where they are not enough to tell rows
    apart: numbers, categories and references repeat by nature. The leading parts of a compound key (an assay, a
    speaker) are content."""
    if table.content is not None:
        return table.content
    columns = [column for column in table.columns if column.name != table.key[-1]]
    free = [column for column in columns if column.allowed is None and column.references is None]
    if any(isinstance(column.type, Text | Json | Image | Audio | List | Struct) for column in free):
        return tuple(column.name for column in columns)
    return ()


def _said(table: Table) -> str:
    """The content in words."""
    return f"all columns but {table.key[-1]}" if table.content is None else ", ".join(table.content)


def _groups(table: Table, columns: tuple[str, ...], suspect: str) -> str:
    """Suspected rows: id, _split, and by exact values n (place in its group), first, first_split."""
    values = [f"_{index}" for index in range(len(columns))]
    renamed = ", ".join(f"{sql.name(column)} AS {value}" for column, value in zip(columns, values, strict=True))
    rows = f"SELECT {duck.row_id(table)} AS _id, {duck.SPLIT}, {renamed} FROM {sql.name(table.name)} WHERE {suspect}"
    order = f"ORDER BY list_position([{sql.literals(table.splits)}], {duck.SPLIT}), _id"
    return (
        f"SELECT _id AS id, {duck.SPLIT}, row_number() OVER w AS n, first_value(_id) OVER w AS first, "
        f"first_value({duck.SPLIT}) OVER w AS first_split "
        f"FROM ({rows}) WINDOW w AS (PARTITION BY {', '.join(values)} {order})"
    )
