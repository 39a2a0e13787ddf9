"""Take the rows that `drop` checks named out of a dataset, as if their source records had been rejected.

The result is a dataset folder of its own that can be checked, documented and released: the rows are gone from the data
and the lineage, their records stand in `rejects/<table>.parquet` with the check's name as reason, and build.json
accounts for all of it. The folder that was checked is never changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.audits import copy_audits
from releases.damage import readable
from releases.digest import read_batches
from releases.files import copy_file, refuse_inside, whole_folder, write_file
from releases.gate import stale, stopping
from releases.manifest import Waiver, to_text, walk
from schemas import DatasetFolder, GoldsmithError, Table
from schemas.derived import derive, parents
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA
from schemas.parquet import Written, write_parquet


@dataclass
class _Drop:
    """What leaves one table.

    Attributes:
        why: id -> (check, message), from the findings.
        forget: the rows are not to be kept in `records` and `rejects`.
        records: id -> the row as JSON.
        rejects: the lines for rejects/<table>.parquet, one a source record.
        rows, merged: by source, how many of those records were a row of their own, and how many were merged into one.
        written: the files that were written anew.
    """

    table: Table
    why: Mapping[str, tuple[str, str]]
    forget: bool = False
    records: dict[str, str] = field(default_factory=dict)
    rejects: list[dict[str, str]] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    written: dict[str, Written] = field(default_factory=dict)

    @cached_property
    def ids(self) -> pa.Array:
        """The ids of `why`, for Arrow."""
        return pa.array(self.why, pa.string())


def apply_drops(folder: DatasetFolder, into: Path, *, waived: Sequence[Waiver] = ()) -> dict[str, dict[str, int]]:
    """Copy `folder` to `into` (data, lineage, rejects, audits, build.json) without the rows that failed a `drop` check.

    A row that failed several is counted under the first in the report's order. Rows of a waived check stay.

    Returns:
        Rows dropped: check, table, count. Where there are none it is empty and `into` is not made.

    Raises:
        GoldsmithError: the findings are not about these files, a row to drop is derived or has no lineage, or `into` is
            there already or cannot be written.
    """
    whys = {table.name: why for table in folder.schema.tables if (why := _why(folder, table, waived))}
    if not whys:
        return {}
    if problems := stale(folder):
        raise GoldsmithError(f"[{folder.path}] {problems[0]}")
    _refuse_derived(folder, whys)
    refuse_inside(folder.path, into)
    with whole_folder(into) as partial:
        return take_out(folder, partial, whys)


def _refuse_derived(folder: DatasetFolder, whys: Mapping[str, Mapping[str, tuple[str, str]]]) -> None:
    """Refuse to drop rows of a derived table: they would be computed again from the rows that stay."""
    for table in folder.schema.tables:
        if table.derived and table.name in whys:
            row_id, (check, _) = min(whys[table.name].items())
            made_of = ", ".join(parents(table))
            raise GoldsmithError(
                f"[{folder.path} > {table.name} > {row_id}] {check} drops it, but it is computed from {made_of} and "
                f"would come back: let {check} name the rows of {made_of} that are at fault, make it warn or block, or "
                f"waive it"
            )


def take_out(
    folder: DatasetFolder, into: Path, whys: Mapping[str, Mapping[str, tuple[str, str]]], *, forget: bool = False
) -> dict[str, dict[str, int]]:
    """Write `folder` (data, lineage, rejects, audits, build.json) into the empty folder `into` without some rows.

    Args:
        whys: what leaves: table -> row id -> (reason, message); the reason stands in the rejects.
        forget: what the rows held is not kept in the rejects, nor what audits found of them.

    Returns:
        Rows taken out: reason, table, count.

    Raises:
        GoldsmithError: a row is not there or has no lineage.
    """
    drops = [_Drop(folder.schema.table(name), why, forget) for name, why in whys.items()]
    for drop in drops:
        _drop_rows(folder, into, drop)
        _drop_lineage(folder, into, drop)
        _add_rejects(folder, into, drop)
    for path in walk(folder.path):
        if path.split("/")[0] in ("data", "lineage", "rejects") and not (into / path).exists():
            copy_file(folder.path, path, into)
    if folder.tombstones.is_file():
        copy_file(folder.path, folder.tombstones.name, into)
    copy_audits(folder, into, whys if forget else {})
    derived = _derive_again(folder, into)
    counts = _counts(drops)
    write_file(into, folder.build_json.name, to_text(_build(folder, drops, counts, derived)))
    return counts


def _derive_again(folder: DatasetFolder, into: Path) -> dict[str, Written]:
    """Make the tables that are sums over the others anew, from what stayed: path -> what was written."""
    shards = {
        table.name: [into / path.relative_to(folder.path) for path in folder.all_shards(table.name)]
        for table in folder.schema.tables
        if not table.derived
    }
    written: dict[str, Written] = {}
    for table in folder.schema.tables:
        for shard in folder.all_shards(table.name) if table.derived else ():
            path = shard.relative_to(folder.path).as_posix()
            written[path] = write_parquet(into / path, table.arrow, derive(folder.schema, table, shards))
    return written


def _why(folder: DatasetFolder, table: Table, waived: Sequence[Waiver]) -> dict[str, tuple[str, str]]:
    """The ids of a table that leave, each with the first check that says so and its message."""
    names = [
        check["name"]
        for check in stopping(folder.report)
        if check["severity"] == "drop" and check["kind"] == "check" and check["table"] == table.name
        if not any(waiver.covers(check["name"], table.name) for waiver in waived)
    ]
    if not names:
        return {}
    columns = ["check", "table", "id", "message"]
    with readable(folder.findings, "run `goldsmith check`"):
        found = pq.read_table(
            folder.findings, columns=columns, filters=[("check", "in", names), ("table", "=", table.name)]
        )
    lines = sorted(found.to_pylist(), key=lambda line: (names.index(line["check"]), line["id"], line["message"]))
    why: dict[str, tuple[str, str]] = {}
    for line in lines:
        why.setdefault(line["id"], (line["check"], line["message"]))
    return why


def _drop_rows(folder: DatasetFolder, into: Path, drop: _Drop) -> None:
    """Write the shards that hold such rows without them; a shard keeps its name even if it is empty then."""
    for path in folder.all_shards(drop.table.name):
        if any(_named(drop.table.row_ids(batch), drop).true_count for batch in read_batches(path, drop.table.key)):
            kept = _kept_rows(read_batches(path), drop)
            _write(into, path.relative_to(folder.path).as_posix(), drop.table.arrow, kept, drop)
    if missing := sorted(drop.why.keys() - drop.records.keys()):
        place = f"{folder.path} > {drop.table.name} > {missing[0]}"
        raise GoldsmithError(f"[{place}] is in the findings but no row: mend the SQL of {drop.why[missing[0]][0]}")


def _named(ids: pa.Array, drop: _Drop) -> pa.BooleanArray:
    """Which of the ids leave."""
    return pc.call_function("is_in", [ids], pc.SetLookupOptions(drop.ids))


def _others(named: pa.BooleanArray) -> pa.BooleanArray:
    return pc.call_function("invert", [named])


def _kept_rows(batches: Iterable[pa.RecordBatch], drop: _Drop) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        named = _named(drop.table.row_ids(batch), drop)
        gone = batch.filter(named)
        ids = drop.table.row_ids(gone).to_pylist()
        for row_id, row in zip(ids, gone.to_pylist(), strict=True):
            record = "" if drop.forget else json.dumps(row, ensure_ascii=False, sort_keys=True, default=_plain)
            drop.records[row_id] = record
        kept = batch.filter(_others(named))
        yield pa.RecordBatch.from_arrays(kept.columns, schema=drop.table.arrow)


def _plain(value: Any) -> str:
    """What JSON cannot say: bytes as their number (the source has them), dates as text."""
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else str(value)


def _drop_lineage(folder: DatasetFolder, into: Path, drop: _Drop) -> None:
    """Keep the lineage of the rows that stay; each line of the others is a source record that is now rejected."""
    met: set[str] = set()

    def kept() -> Iterator[pa.RecordBatch]:
        for batch in read_batches(folder.lineage(drop.table.name)):
            gone = _named(batch.column("id"), drop)
            for line in batch.filter(gone).to_pylist():
                first = line["id"] not in met
                (drop.rows if first else drop.merged)[line["source"]] += 1
                met.add(line["id"])
                drop.rejects.append(_reject(drop, line))
            yield batch.filter(_others(gone))

    path = folder.lineage(drop.table.name).relative_to(folder.path).as_posix()
    _write(into, path, LINEAGE_SCHEMA, kept(), drop)
    if missing := sorted(drop.records.keys() - met):
        place = f"{folder.path} > {drop.table.name} > {missing[0]}"
        raise GoldsmithError(f"[{place}] has no lineage, so its record cannot be kept: build the dataset again")


def _reject(drop: _Drop, line: Mapping[str, str]) -> dict[str, str]:
    check, message = drop.why[line["id"]]
    record = drop.records[line["id"]]
    return {"reason": check, "message": message, "source": line["source"], "place": line["place"], "record": record}


def _add_rejects(folder: DatasetFolder, into: Path, drop: _Drop) -> None:
    old = folder.rejects(drop.table.name)
    new = pa.RecordBatch.from_pylist(drop.rejects, REJECT_SCHEMA)
    _write(into, old.relative_to(folder.path).as_posix(), REJECT_SCHEMA, [*read_batches(old), new], drop)


def _write(into: Path, path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], drop: _Drop) -> None:
    (into / path).parent.mkdir(parents=True, exist_ok=True)
    drop.written[path] = write_parquet(into / path, schema, batches)


def _counts(drops: Sequence[_Drop]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for drop in drops:
        for check, rows in sorted(Counter(drop.why[row_id][0] for row_id in drop.records).items()):
            counts.setdefault(check, {})[drop.table.name] = rows
    return counts


def _build(
    folder: DatasetFolder,
    drops: Sequence[_Drop],
    counts: Mapping[str, Mapping[str, int]],
    derived: Mapping[str, Written],
) -> dict[str, Any]:
    """The build.json of the result: other files, other accounts, and what was dropped."""
    written = {path: one for drop in drops for path, one in drop.written.items()} | dict(derived)
    by_table = {drop.table.name: drop for drop in drops}
    files = []
    for entry in folder.build["files"]:
        new = written.get(entry["path"])
        files.append({**entry, "rows": new.rows, "bytes": new.bytes, "sha256": new.sha256} if new else entry)
    accounting = [
        _account(entry, by_table[entry["table"]]) if entry["table"] in by_table else entry
        for entry in folder.build["accounting"]
    ]
    return {**folder.build, "files": files, "accounting": accounting, "dropped": _sum(folder, counts)}


def _sum(folder: DatasetFolder, counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """What was dropped before and now."""
    total = {reason: dict(tables) for reason, tables in folder.build.get("dropped", {}).items()}
    for reason, tables in counts.items():
        before = total.get(reason, {})
        total[reason] = {**before, **{table: before.get(table, 0) + rows for table, rows in tables.items()}}
    return total


def _account(entry: Mapping[str, Any], drop: _Drop) -> dict[str, Any]:
    """A source's account after the drop: the same records, fewer rows, more rejects."""
    source = entry["source"]
    rejects = Counter(entry["rejects"])
    rejects.update(reject["reason"] for reject in drop.rejects if reject["source"] == source)
    return {
        **entry,
        "rows": entry["rows"] - drop.rows[source],
        "merged": entry["merged"] - drop.merged[source],
        "rejects": dict(sorted(rejects.items())),
    }
