"""The rows of two versions of a table, compared by row id in DuckDB with bounded memory.

First only ids, splits and a 64-bit hash of each row are joined; the values themselves are read again for the rows whose
hash differs, so the cost grows with what changed. What a change means is the business of `releases.diff`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from schemas import Bool, DatasetFolder, GoldsmithError, Label, Table, sql
from schemas.rooms import Room

MEMORY = "1GB"
SAMPLES = 5
SHOWN = 60


@dataclass(frozen=True)
class Sample:
    """A row as an example: its id, and what it held before and after, as text for people."""

    id: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class Some:
    """So many rows, and the first few by id."""

    rows: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class RowChanges:
    """What happened to the rows of a table.

    Attributes:
        changed: rows in both versions with another value in any compared column.
        columns: the changed rows of each column that has any, in the schema's order.
        moved: rows in both versions that stand in another split: (before, after).
    """

    added: Some
    removed: Some
    changed: int
    columns: Mapping[str, Some]
    moved: Mapping[tuple[str, str], Some]


def compare_rows(old: DatasetFolder, new: DatasetFolder, table: str) -> RowChanges:
    """Compare `table` in two folders. Columns that are not in both, or have another type, are not compared.

    Raises:
        GoldsmithError: an id is there twice in a version, so rows cannot be matched; or a shard cannot be read.
    """
    try:
        with _connection() as connection:
            return _compare(connection, old, new, table)
    except duckdb.Error as error:
        cause = str(error).splitlines()[0]
        raise GoldsmithError(f"[{new.path} > {table}] cannot be compared ({cause}): run `goldsmith check`") from None


def _compare(connection: duckdb.DuckDBPyConnection, old: DatasetFolder, new: DatasetFolder, table: str) -> RowChanges:
    before, after = old.schema.table(table), new.schema.table(table)
    types = {column.name: column.type for column in before.columns}
    shared = [c.name for c in after.columns if types.get(c.name) == c.type and c.name not in after.key]
    for side, folder, declared in (("old", old, before), ("new", new, after)):
        connection.execute(f"CREATE VIEW {side} AS {_rows_sql(folder, declared, shared)}")
        values = sql.names(shared) or "0"
        connection.execute(f"CREATE TABLE {side}_hash AS SELECT __id, __split, hash({values}) AS h FROM {side}")
        _refuse_twice(connection, side, folder, table)
    connection.execute(
        "CREATE TABLE delta AS SELECT coalesce(o.__id, n.__id) AS id, o.__split AS was, n.__split AS now, "
        "o.h <> n.h AS differs FROM old_hash o FULL JOIN new_hash n ON o.__id = n.__id "
        "WHERE o.__id IS NULL OR n.__id IS NULL OR o.__split <> n.__split OR o.h <> n.h"
    )
    changed, columns = _column_changes(connection, after, shared)
    return RowChanges(
        added=_some(connection, "was IS NULL"),
        removed=_some(connection, "now IS NULL"),
        changed=changed,
        columns=columns,
        moved=_moves(connection),
    )


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with Room("diff") as spill:
        config: dict[str, Any] = {"memory_limit": MEMORY, "temp_directory": spill, "preserve_insertion_order": "false"}
        with duckdb.connect(str(Path(spill, "diff.duckdb")), config=config) as connection:
            yield connection


def _rows_sql(folder: DatasetFolder, table: Table, columns: Sequence[str]) -> str:
    """All rows of a table with their id and split; `__` keeps both apart from the table's own columns."""
    values = "".join(f", {sql.name(name)}" for name in columns)
    selects = []
    for split, paths in folder.shards(table.name).items():
        selected = f"{table.row_id_sql()} AS __id, {sql.literal(split)} AS __split{values}"
        selects.append(f"SELECT {selected} FROM {sql.scan(paths)}")
    if not selects:
        raise GoldsmithError(f"[{folder.path} > {table.name}] has no shard: build the dataset again")
    return " UNION ALL ".join(selects)


def _refuse_twice(connection: duckdb.DuckDBPyConnection, side: str, folder: DatasetFolder, table: str) -> None:
    query = f"SELECT __id FROM {side}_hash GROUP BY __id HAVING count(*) > 1 ORDER BY __id LIMIT 1"
    if twice := connection.execute(query).fetchone():
        place = f"{folder.path} > {table} > {twice[0]}"
        raise GoldsmithError(f"[{place}] is there more than once, so rows cannot be matched: run `goldsmith check`")


def _some(connection: duckdb.DuckDBPyConnection, where: str) -> Some:
    count, ids = _one(connection, f"SELECT count(*), min(id, {SAMPLES}) FROM delta WHERE {where}")
    return Some(count, tuple(Sample(row_id) for row_id in ids or ()))


def _moves(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], Some]:
    found = connection.execute(
        f"SELECT was, now, count(*), min(id, {SAMPLES}) FROM delta WHERE was <> now GROUP BY was, now ORDER BY was, now"
    ).fetchall()
    return {(was, now): Some(rows, tuple(Sample(i, was, now) for i in ids)) for was, now, rows, ids in found}


def _column_changes(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str]
) -> tuple[int, dict[str, Some]]:
    """How many rows changed at all, and how many in each column."""
    if not columns or not _one(connection, "SELECT count(*) FROM delta WHERE differs")[0]:
        return 0, {}
    differ = [f"o.{sql.name(name)} IS DISTINCT FROM n.{sql.name(name)}" for name in columns]
    both = "FROM delta d JOIN old o ON o.__id = d.id JOIN new n ON n.__id = d.id WHERE d.differs"
    counts = ", ".join(f"count(*) FILTER ({d}), min(d.id, {SAMPLES}) FILTER ({d})" for d in differ)
    changed, *found = _one(connection, f"SELECT count(*) FILTER ({' OR '.join(differ)}), {counts} {both}")
    changes = {}
    for name, rows, ids in zip(columns, found[::2], found[1::2], strict=True):
        if rows:
            values = f"o.{sql.name(name)}, n.{sql.name(name)}"
            pairs = connection.execute(
                f"SELECT d.id, {values} {both} AND d.id IN (SELECT unnest(?)) ORDER BY d.id", [ids]
            )
            changes[name] = Some(rows, tuple(_sample(table, name, *pair) for pair in pairs.fetchall()))
    return changed, changes


def _sample(table: Table, column: str, row_id: str, before: Any, after: Any) -> Sample:
    kind = table.column(column).type
    if isinstance(kind, Label):
        before, after = (kind.names[v] if v is not None and 0 <= v < len(kind.names) else v for v in (before, after))
    return Sample(row_id, *_shown(_plain(before), _plain(after)))


def _plain(value: Any) -> str:
    """A value as text; bytes as their number and a part of their hash, since nobody reads them."""
    match value:
        case None:
            return "null"
        case bytes():
            return f"<{len(value)} bytes>"
        case dict() | list():
            return json.dumps(value, ensure_ascii=False, default=_plain)
        case _:
            return str(value)


def _shown(before: str, after: str) -> tuple[str, str]:
    """Both texts, short, from a little before the place where they part."""
    parts = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = max(0, parts - 10) if max(len(before), len(after)) > SHOWN else 0

    def cut(text: str) -> str:
        return ("…" if start else "") + text[start : start + SHOWN] + ("…" if len(text) > start + SHOWN else "")

    return cut(before), cut(after)


def rows_text(count: int) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def is_label(table: Table, column: str) -> bool:
    """Whether a column holds what a model learns to say: a class label, or true or false."""
    return isinstance(table.column(column).type, Label | Bool)


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row
