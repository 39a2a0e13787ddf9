"""Tombstones: what is known of rows that were withdrawn, and whether a dataset folder keeps to it.

How rows are withdrawn is the business of `releases.hub.withdraw`.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from releases.damage import readable
from releases.digest import read_batches
from schemas import DatasetFolder


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


def read_tombstones(folder: Path) -> tuple[Tombstone, ...]:
    """The tombstones of a dataset folder or a release, none where it has no such file.

    Raises:
        GoldsmithError: the file is damaged.
    """
    path = DatasetFolder(folder).tombstones
    if not path.is_file():
        return ()
    with readable(path):
        return tuple(Tombstone(**line) for line in pq.read_table(path).to_pylist())


def needed(folder: Path, previous: Path) -> tuple[Tombstone, ...]:
    """The tombstones of `previous`, where `folder` lacks one of them or holds a row that was withdrawn; else none.

    They are to be applied (`releases.hub.withdraw.apply_tombstones`) before `folder` is checked and released.
    """
    tombstones = read_tombstones(previous)
    return tombstones if [*lost(folder, tombstones), *_back(folder, tombstones)] else ()


def problems(folder: Path, previous: Path | None) -> Iterator[str]:
    """A line for each table with rows that were withdrawn from `folder` or `previous` and are back, or whose
    tombstones `folder` has lost."""
    before = read_tombstones(previous) if previous else ()
    for table, ids in lost(folder, before):
        yield f"tombstones of the previous release are missing ({table} > {ids[0]}{_more(ids)}): apply them"
    for table, ids in _back(folder, [*read_tombstones(folder), *before]):
        yield f"withdrawn rows are back ({table} > {ids[0]}{_more(ids)}): apply the tombstones of the previous release"


def returned_rows(folder: Path) -> Iterator[str]:
    """A line for each table of a release in which rows are back that its tombstones say were withdrawn."""
    for table, ids in _back(folder, read_tombstones(folder)):
        yield f"[{table} > {ids[0]}] was withdrawn and is back ({len(ids)} such rows): apply the tombstones"


def _more(ids: list[str]) -> str:
    return f" and {len(ids) - 1:,} more" if len(ids) > 1 else ""


def lost(folder: Path, tombstones: Iterable[Tombstone]) -> list[tuple[str, list[str]]]:
    """(table, ids) of `tombstones` that `folder` has not."""
    here = {(tombstone.table, tombstone.id) for tombstone in read_tombstones(folder)}
    gone = _by_table(tombstone for tombstone in tombstones if (tombstone.table, tombstone.id) not in here)
    return [(table, sorted(ids)) for table, ids in sorted(gone.items())]


def _back(folder: Path, tombstones: Iterable[Tombstone]) -> list[tuple[str, list[str]]]:
    """(table, ids) of the rows of `tombstones` that `folder` holds."""
    dataset = DatasetFolder(folder)
    found = [(table, sorted(set(present(dataset, table, ids)))) for table, ids in _by_table(tombstones).items()]
    return sorted((table, ids) for table, ids in found if ids)


def _by_table(tombstones: Iterable[Tombstone]) -> dict[str, set[str]]:
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for tombstone in tombstones:
        ids[tombstone.table].add(tombstone.id)
    return dict(ids)


def present(folder: DatasetFolder, name: str, ids: Collection[str]) -> Iterator[str]:
    """Those of `ids` that are rows of a table."""
    wanted = set(ids)
    table = next((table for table in folder.schema.tables if table.name == name), None)
    if table is None:  # a later version may have no such table
        return
    for path in folder.all_shards(name):
        for batch in read_batches(path, table.key):
            yield from wanted.intersection(table.row_ids(batch).to_pylist())
