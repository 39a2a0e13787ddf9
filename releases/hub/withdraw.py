"""Withdrawal: rows leave a dataset because consent or a licence was withdrawn, and stay out.

A withdrawn row leaves a tombstone: its id, why and when, and nothing of what it held. Tombstones are released with the
data in `tombstones.parquet` and carried from version to version; `releases.lint` finds withdrawn rows that are back,
and `publish` refuses a version that has lost tombstones. What was published before cannot be unpublished: the card says
which versions must not be used any more.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from releases.digest import read_batches
from releases.drops import take_out
from releases.files import whole_folder
from releases.manifest import read_manifest, verify_files
from schemas import DatasetFolder, GoldsmithError
from schemas.folder import TOMBSTONE_SCHEMA
from schemas.parquet import write_parquet

FILE = DatasetFolder("").tombstones.name
REASON = "withdrawn"
"""The reason of such rows in rejects/<table>.parquet and in build.json."""


@dataclass(frozen=True, order=True)
class Tombstone:
    """A row that was withdrawn.

    Attributes:
        reason: for people; it must not say what the row held.
        date: when it was withdrawn.
        last_version: the last release that held it.
    """

    table: str
    id: str
    reason: str
    date: datetime.date
    last_version: str


def withdraw(
    release: Path,
    into: Path,
    rows: Mapping[str, Collection[str]],
    *,
    reason: str,
    date: datetime.date | None = None,
) -> tuple[Tombstone, ...]:
    """Make the dataset folder `into` from a release, without the rows named (table -> ids).

    With them go the rows of other tables that are made of nothing but the same source records. The folder is to be
    checked, documented and released as the next version.

    Returns:
        All tombstones of the new folder, those of the release before it among them.

    Raises:
        GoldsmithError: `release` is no release or damaged, a row is not in it, no reason is given, or `into` is there.
    """
    if not reason.strip():
        raise GoldsmithError("[withdraw] no reason is given: say why, without what the rows held")
    if problems := verify_files(release):
        raise GoldsmithError(f"[{release}] is damaged ({problems[0]}): get the release again")
    folder, version = DatasetFolder(release), read_manifest(release).version
    names = [table.name for table in folder.schema.tables]
    for table, ids in rows.items():
        if table not in names:
            raise GoldsmithError(f"[{release} > {table}] is no table: name one of {', '.join(names)}")
        if missing := set(ids) - set(_present(folder, table, ids)):
            raise GoldsmithError(f"[{release} > {table} > {min(missing)}] is no row: check the id")
    when = date or datetime.datetime.now(datetime.UTC).date()
    named = {(table, row_id) for table, ids in rows.items() for row_id in ids}
    if not named:
        raise GoldsmithError(f"[{release}] no row is named: give the ids of the rows to withdraw")
    gone = named | _made_of_the_same(folder, named)
    new = [Tombstone(table, row_id, reason.strip(), when, version) for table, row_id in gone]
    return apply_tombstones(folder, into, [*read_tombstones(release), *new])


def _made_of_the_same(folder: DatasetFolder, named: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """The (table, id) of rows in other tables all of whose source records are records of the rows named."""
    tables = [table.name for table in folder.schema.tables if not table.derived]
    lines = " UNION ALL ".join(
        f"SELECT '{name}' AS table_name, id, source, place FROM read_parquet(?)"  # names of declared tables
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
            " HAVING bool_and(r.tables IS NOT NULL AND NOT list_contains(r.tables, l.table_name))",
            [str(folder.lineage(name)) for name in tables],
        )
        return set(found.fetchall())


def apply_tombstones(folder: DatasetFolder, into: Path, tombstones: Iterable[Tombstone]) -> tuple[Tombstone, ...]:
    """Copy a dataset folder to `into` without the rows that were withdrawn, where it has any, and with the tombstones.

    So a dataset that was built anew, or regenerated, does without them, too.

    Raises:
        GoldsmithError: `into` is there already, or a row has no lineage.
    """
    ordered = tuple(sorted(set(tombstones)))
    whys: dict[str, dict[str, tuple[str, str]]] = {}
    for table in {tombstone.table for tombstone in ordered}:
        told = {t.id: (REASON, f"withdrawn on {t.date}: {t.reason}") for t in ordered if t.table == table}
        if found := {row_id: told[row_id] for row_id in _present(folder, table, told)}:
            whys[table] = found
    with whole_folder(into) as partial:
        take_out(folder, partial, whys, forget=True)
        batch = pa.RecordBatch.from_pylist([asdict(tombstone) for tombstone in ordered], TOMBSTONE_SCHEMA)
        write_parquet(DatasetFolder(partial).tombstones, TOMBSTONE_SCHEMA, [batch])
    return ordered


def read_tombstones(folder: Path) -> tuple[Tombstone, ...]:
    """The tombstones of a dataset folder or a release, none where it has no such file."""
    path = DatasetFolder(folder).tombstones
    return tuple(Tombstone(**line) for line in pq.read_table(path).to_pylist()) if path.is_file() else ()


def returned_rows(folder: Path) -> Iterator[str]:
    """A line for each table of a release in which rows are back that its tombstones say were withdrawn."""
    tombstones = read_tombstones(folder)
    for table in sorted({tombstone.table for tombstone in tombstones}):
        ids = {tombstone.id for tombstone in tombstones if tombstone.table == table}
        if found := sorted(_present(DatasetFolder(folder), table, ids)):
            yield f"[{table} > {found[0]}] was withdrawn and is back ({len(found)} such rows): apply the tombstones"


def _present(folder: DatasetFolder, name: str, ids: Collection[str]) -> Iterator[str]:
    """Those of `ids` that are rows of a table."""
    wanted = set(ids)
    table = next((table for table in folder.schema.tables if table.name == name), None)
    if table is None:  # a later version may have no such table
        return
    for path in folder.all_shards(name):
        for batch in read_batches(path, table.key):
            yield from wanted.intersection(table.row_ids(batch).to_pylist())
