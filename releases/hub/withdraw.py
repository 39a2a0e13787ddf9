"""Withdrawal: rows leave a dataset because consent or a licence was withdrawn, and stay out.

A withdrawn row leaves a tombstone: its id, why and when, and nothing of what it held. Tombstones are released with the
data in `tombstones.parquet` and carried from version to version; the gate and `releases.lint` find withdrawn rows that
are back, and the gate and `publish` refuse a version that has lost tombstones. What was published before cannot be
unpublished: the card says which versions must not be used any more.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import duckdb
import pyarrow as pa

from releases.drops import take_out
from releases.files import refuse_inside, whole_folder
from releases.hub.withdrawable import refuse_others
from releases.manifest import read_manifest, verify_files
from releases.tombstones import Tombstone, present, read_tombstones
from schemas import Column, DatasetFolder, GoldsmithError, List, Table, sql
from schemas.folder import TOMBSTONE_SCHEMA
from schemas.parquet import write_parquet

__all__ = ["FILE", "REASON", "Tombstone", "apply_tombstones", "read_tombstones", "withdraw"]

FILE = DatasetFolder("").tombstones.name
REASON = "withdrawn"
"""The reason of such rows in rejects/<table>.parquet and in build.json."""


def withdraw(
    release: Path,
    into: Path,
    rows: Mapping[str, Collection[str]],
    *,
    reason: str,
    date: datetime.date | None = None,
) -> tuple[Tombstone, ...]:
    """Make the dataset folder `into` from a release, without the rows named (table -> ids).

    With them go the rows that refer to them, the rows of other tables that are made of nothing but the same source
    records, and so on until there are none. The folder is to be checked, documented and released as the next version.

    Returns:
        All tombstones of the new folder, those of the release before it among them.

    Raises:
        GoldsmithError: `release` is no release or damaged, a row is not in it or cannot be withdrawn, no
            reason is given, or `into` is there.
    """
    if not reason.strip():
        raise GoldsmithError("[withdraw] no reason is given: say why, without what the rows held")
    refuse_inside(release, into)
    if problems := verify_files(release):
        raise GoldsmithError(f"[{release}] is damaged ({problems[0]}): get the release again")
    folder, version = DatasetFolder(release), read_manifest(release).version
    names = [table.name for table in folder.schema.tables]
    for table, ids in rows.items():
        if table not in names:
            raise GoldsmithError(f"[{release} > {table}] is no table: name one of {', '.join(names)}")
        if missing := set(ids) - set(present(folder, table, ids)):
            raise GoldsmithError(f"[{release} > {table} > {min(missing)}] {_absent(release, table, min(missing))}")
        if ids:
            refuse_others(folder, folder.schema.table(table), min(ids))
    when = date or datetime.datetime.now(datetime.UTC).date()
    named = {(table, row_id) for table, ids in rows.items() for row_id in ids}
    if not named:
        raise GoldsmithError(f"[{release}] no row is named: give the ids of the rows to withdraw")
    gone = named
    while more := (_made_of_the_same(folder, gone) | _referring(folder, gone)) - gone:
        gone |= more
    new = [Tombstone(table, row_id, reason.strip(), when, version) for table, row_id in gone]
    return apply_tombstones(folder, into, [*read_tombstones(release), *new])


def _absent(release: Path, table: str, row_id: str) -> str:
    """Why a row is not there, and what to do."""
    for tombstone in read_tombstones(release):
        if (tombstone.table, tombstone.id) == (table, row_id):
            return f"was withdrawn on {tombstone.date}: take it out of the call"
    return "is no row: check the id"


def _referring(folder: DatasetFolder, gone: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """The (table, id) of rows that refer to a value which no row has any more once `gone` have left."""
    found: set[tuple[str, str]] = set()
    with duckdb.connect() as connection:
        for table in folder.schema.tables:
            for column in table.columns if not table.derived else ():
                parent = (column.references or "").rpartition(".")[0]
                ids = [row_id for name, row_id in gone if name == parent]
                if ids:
                    found |= {(table.name, row_id) for row_id in _dangling(connection, folder, table, column, ids)}
    return found


def _dangling(
    connection: duckdb.DuckDBPyConnection, folder: DatasetFolder, table: Table, column: Column, gone: Sequence[str]
) -> list[str]:
    """The ids of the rows whose reference in `column` has no target but the rows `gone`."""
    parent, _, target = (column.references or "").rpartition(".")
    values = f"unnest({sql.name(column.name)})" if isinstance(column.type, List) else sql.name(column.name)
    parents, rows = (sql.scan(folder.all_shards(name)) for name in (parent, table.name))
    kept = f"{folder.schema.table(parent).row_id_sql()} NOT IN (SELECT unnest($gone))"
    query = (
        f"WITH target AS (SELECT {sql.name(target)} AS value, {kept} AS kept FROM {parents}),"
        " lost AS (SELECT value FROM target GROUP BY value HAVING NOT bool_or(kept))"
        f" SELECT DISTINCT id FROM (SELECT {table.row_id_sql()} AS id, {values} AS value FROM {rows})"
        " WHERE value IN (SELECT value FROM lost)"
    )
    return [row[0] for row in connection.execute(query, {"gone": list(gone)}).fetchall()]


def _made_of_the_same(folder: DatasetFolder, named: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """The (table, id) of rows in other tables all of whose source records are records of the rows named."""
    tables = [table.name for table in folder.schema.tables if not table.derived]
    lines = " UNION ALL ".join(
        f"SELECT {sql.literal(name)} AS table_name, id, source, place FROM {sql.scan([folder.lineage(name)])}"
        for name in tables
    )
    rows = pa.table({"table_name": [table for table, _ in named], "id": [row_id for _, row_id in named]})
    with duckdb.connect() as connection:
        connection.register("named", rows)
        found = connection.execute(
            f"WITH line AS ({lines}), record AS ("
            "  SELECT DISTINCT table_name, source, place FROM line SEMI JOIN named USING (table_name, id))"
            " SELECT l.table_name, l.id FROM line AS l LEFT JOIN ("
            "  SELECT source, place, list(table_name) AS tables FROM record GROUP BY ALL"
            " ) AS r USING (source, place) GROUP BY l.table_name, l.id"
            " HAVING bool_and(r.tables IS NOT NULL AND NOT list_contains(r.tables, l.table_name))"
        )
        return set(found.fetchall())


def _age(tombstone: Tombstone) -> datetime.date:
    return tombstone.date


def apply_tombstones(folder: DatasetFolder, into: Path, tombstones: Iterable[Tombstone]) -> tuple[Tombstone, ...]:
    """Copy a dataset folder to `into` without the rows that were withdrawn, where it has any, and with the tombstones.

    Its own tombstones stay; of two about a row the earlier counts. So a dataset that was built anew, or regenerated,
    does without them, too.

    Raises:
        GoldsmithError: `into` is there already, or a row has no lineage.
    """
    refuse_inside(folder.path, into)
    first = {(t.table, t.id): t for t in sorted({*tombstones, *read_tombstones(folder.path)}, key=_age, reverse=True)}
    ordered = tuple(sorted(first.values()))
    whys: dict[str, dict[str, tuple[str, str]]] = {}
    for table in {tombstone.table for tombstone in ordered}:
        told = {t.id: (REASON, f"withdrawn on {t.date}: {t.reason}") for t in ordered if t.table == table}
        if found := {row_id: told[row_id] for row_id in present(folder, table, told)}:
            whys[table] = found
    with whole_folder(into) as partial:
        take_out(folder, partial, whys, forget=True)
        batch = pa.RecordBatch.from_pylist([asdict(tombstone) for tombstone in ordered], TOMBSTONE_SCHEMA)
        write_parquet(DatasetFolder(partial).tombstones, TOMBSTONE_SCHEMA, [batch])
    return ordered
