"""Find what differs between two versions of a dataset: schema, sources, rows and labels.

Which step in version a change takes is said in `releases.difference`; rows are compared in `releases.rows`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq

from releases.damage import readable
from releases.difference import Change, Difference, TableChange
from releases.manifest import read_manifest
from releases.rows import RowChanges, Some, compare_rows, is_label, rows_text
from schemas import Column, Dataset, DatasetFolder, GoldsmithError, Table
from schemas.files import sha256_file

_CONSTRAINTS = ("minimum", "maximum", "allowed", "pattern", "references")


def diff(old: DatasetFolder, new: DatasetFolder) -> Difference:
    """Compare two dataset folders, released or not; rows are matched by their id.

    Raises:
        GoldsmithError: they are not versions of one dataset, or an id is there twice.
    """
    if old.schema.name != new.schema.name:
        names = f"{old.schema.name} and {new.schema.name}"
        raise GoldsmithError(f"[{old.path}, {new.path}] are two datasets, {names}: give two versions of one")
    changes = [*_dataset_changes(old.schema, new.schema), *_source_changes(old, new), *_build_changes(old, new)]
    tables = []
    before, after = ({table.name: table for table in folder.schema.tables} for folder in (old, new))
    for name in [*after, *(name for name in before if name not in after)]:
        if name not in before:
            tables.append(TableChange(name, None, _count(new, name)))
            changes.append(Change("table added", name, None, rows_text(_count(new, name))))
        elif name not in after:
            tables.append(TableChange(name, _count(old, name), None))
            changes.append(Change("table removed", name, None, rows_text(_count(old, name))))
        else:
            changes += _table_changes(before[name], after[name])
            rows = _rows(old, new, name)
            changes += _row_changes(after[name], rows) if rows else []
            counts = (rows.added.rows, rows.removed.rows, rows.changed) if rows else ()
            tables.append(TableChange(name, _count(old, name), _count(new, name), *counts))
    return Difference(new.schema.name, _version(old), _version(new), tuple(tables), tuple(changes))


def _version(folder: DatasetFolder) -> str:
    if folder.manifest_json.is_file():
        return read_manifest(folder.path).version
    return f"(build {folder.build['version']})"


def _count(folder: DatasetFolder, table: str) -> int:
    rows = 0
    for path in folder.all_shards(table):
        with readable(path, "run `goldsmith check`"):
            rows += pq.read_metadata(path).num_rows
    return rows


def _rows(old: DatasetFolder, new: DatasetFolder, table: str) -> RowChanges | None:
    """None where the rows cannot differ (the same files) or cannot be matched (another key)."""
    if old.schema.table(table).key != new.schema.table(table).key:
        return None
    files = [{path.name: sha256_file(path) for path in folder.all_shards(table)} for folder in (old, new)]
    return None if files[0] == files[1] else compare_rows(old, new, table)


def _dataset_changes(old: Dataset, new: Dataset) -> Iterator[Change]:
    for name in ("title", "summary", "language", "tasks", "tags"):
        if getattr(old, name) != getattr(new, name):
            yield Change("description changed", None, None, name)


def _build_changes(old: DatasetFolder, new: DatasetFolder) -> Iterator[Change]:
    if old.build["code"] != new.build["code"]:
        yield Change("build changed", None, None, f"builder {old.build['version']} -> {new.build['version']}")
    tools = [dict(folder.build["tools"]) for folder in (old, new)]
    for name in sorted(tools[0].keys() | tools[1].keys()):
        if tools[0].get(name) != tools[1].get(name):
            yield Change("build changed", None, None, f"{name} {tools[0].get(name)} -> {tools[1].get(name)}")


def _source_changes(old: DatasetFolder, new: DatasetFolder) -> Iterator[Change]:
    before, after = ({source["name"]: source for source in folder.build["sources"]} for folder in (old, new))
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was is None or now is None:
            licence = (was or now or {})["licence"]
            yield Change("source added" if was is None else "source removed", None, None, f"{name} ({licence})")
            continue
        if was["licence"] != now["licence"]:
            yield Change("licence changed", None, None, f"{name}: {was['licence']} -> {now['licence']}")
        others = [key for key in sorted(was.keys() | now.keys()) if key != "licence" and was.get(key) != now.get(key)]
        if others:
            yield Change("source changed", None, None, f"{name}: {', '.join(others)}")


def _table_changes(old: Table, new: Table) -> Iterator[Change]:
    name = new.name
    if old.meaning != new.meaning:
        yield Change("description changed", name, None, "meaning")
    if old.key != new.key:
        text = f"{'/'.join(old.key)} -> {'/'.join(new.key)}; rows are not compared"
        yield Change("key changed", name, None, text)
    for kind, splits, others in (("split added", new.splits, old.splits), ("split removed", old.splits, new.splits)):
        for split in splits:
            if split not in others:
                yield Change(kind, name, None, split)
    for column in new.columns:
        if column.name not in old.names:
            yield Change("column added", name, column.name, column.type.label)
        else:
            yield from _column_changes(name, old.column(column.name), column)
    for column in old.columns:
        if column.name not in new.names:
            yield Change("column removed", name, column.name, column.type.label)


def _column_changes(table: str, old: Column, new: Column) -> Iterator[Change]:
    def changed(kind: str, was: object, now: object) -> Change:
        return Change(kind, table, new.name, f"{was} -> {now}")

    if old.type != new.type:
        same = old.type.label == new.type.label
        was, now = (old.type, new.type) if same else (old.type.label, new.type.label)
        yield changed("column retyped", was, now)
    if old.unit != new.unit:
        yield changed("unit changed", old.unit, new.unit)
    if old.nullable != new.nullable:
        kind = "nulls allowed" if new.nullable else "constraint changed"
        yield Change(kind, table, new.name, "may be null" if new.nullable else "may no longer be null")
    for constraint in _CONSTRAINTS:
        was, now = getattr(old, constraint), getattr(new, constraint)
        if was != now:
            yield Change("constraint changed", table, new.name, f"{constraint} {was} -> {now}")
    if old.meaning != new.meaning:
        yield Change("description changed", table, new.name, "meaning")


def _row_changes(table: Table, rows: RowChanges) -> Iterator[Change]:
    def change(kind: str, column: str | None, some: Some, text: str = "") -> Change:
        return Change(kind, table.name, column, text + rows_text(some.rows), some.rows, some.samples)

    if rows.removed.rows:
        yield change("rows removed", None, rows.removed)
    if rows.added.rows:
        yield change("rows added", None, rows.added)
    for (was, now), some in rows.moved.items():
        leak = was.startswith("train") and now.startswith("test")
        yield change("train to test" if leak else "split moved", None, some, f"{was} -> {now}, ")
    for column, some in rows.columns.items():
        yield change("labels changed" if is_label(table, column) else "values changed", column, some)
