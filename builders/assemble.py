"""From finished shards to a dataset folder: numbered files, lineage, rejects, accounting, and `build.json` last.

Everything is laid out beside the old data, which is replaced only when the new is whole and synced. From the moment the
old `build.json` goes until the new one comes, the folder is no dataset; a build that is run again finishes the move.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.api import Builder
from schemas import Dataset, DatasetFolder, GoldsmithError
from schemas.derived import derive
from schemas.errors import DataError
from schemas.files import replace_json, sync
from schemas.folder import BUILD_FORMAT, LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.parquet import SMALL_GROUP_BYTES, Written, write_parquet

WORK = ".build"
"""The builder's own folder inside a dataset folder; no part of the dataset."""

MADE = ("data", "lineage", "rejects")
STALE = ("quality", "README.md", "DATASHEET.md", "croissant.json", "CITATION.cff")
"""What a build makes, and what later steps made of an earlier one."""

_SHARD_FILE = re.compile(r"data/\w+/\w+-\d{5}-of-\d{5}\.parquet|(lineage|rejects)/\w+\.parquet")

Record = Mapping[str, Any]


def refuse_foreign(out: Path, name: str) -> None:
    """Refuse a folder that holds anything but an earlier build of the same dataset.

    Raises:
        GoldsmithError: it does; nothing was touched.
    """
    folder = DatasetFolder(out)
    if out.exists() and not out.is_dir():
        raise GoldsmithError(f"[{out}] is a file: give a folder to -o")
    if folder.manifest_json.exists():
        raise GoldsmithError(f"[{out}] is a release, which never changes: build into another folder")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not folder.build_json.exists() and not (out / WORK).is_dir():
        raise GoldsmithError(f"[{out}] holds other things: give an empty folder or an earlier build of {name} to -o")
    there = _dataset(folder, name)
    if there != name:
        raise GoldsmithError(f"[{out}] holds the dataset {there}: build {name} into another folder")
    for made in MADE:
        for path in sorted((out / made).rglob("*")):
            relative = path.relative_to(out).as_posix()
            if not path.is_dir() and not _SHARD_FILE.fullmatch(relative):
                raise GoldsmithError(f"[{path}] is not of goldsmith's making and would be lost: move it elsewhere")


def _dataset(folder: DatasetFolder, name: str) -> str:
    """The name of the dataset in a folder. Without a readable build.json it is an unfinished one of `name`, if there is
    a builder's own folder in it."""
    if not folder.build_json.exists():
        return name
    try:
        return str(folder.build.get("dataset"))
    except GoldsmithError:
        if (folder.path / WORK).is_dir():
            return name
        raise GoldsmithError(
            f"[{folder.build_json}] cannot be read, so whose the folder is cannot be told: remove it or build elsewhere"
        ) from None


def account(builder: Builder, records: Iterable[Record], rejects: Path) -> list[dict[str, Any]]:
    """Add up the shards' accounting by source and table, and hold it against the reject budget.

    Args:
        rejects: where the rejects can be read, for the message.

    Raises:
        DataError: more of a source's records were rejected than the budget allows.
    """
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        for line in record["accounting"]:
            empty = {"records": 0, "rows": 0, "merged": 0, "rejects": Counter()}
            total = sums.setdefault((line["source"], line["table"]), empty)
            total["rows"] += line["rows"]
            total["merged"] += line["merged"]
            total["rejects"].update(line["rejects"])
            known = None not in (total["records"], line["records"])
            total["records"] = total["records"] + line["records"] if known else None
    lines = []
    for (source, table), total in sorted(sums.items()):
        reasons = dict(sorted(total["rejects"].items()))
        bad = {reason: n for reason, n in reasons.items() if reason not in builder.expected_rejects}
        everything = total["rows"] + total["merged"] + sum(reasons.values())
        if sum(bad.values()) > builder.reject_budget * everything:
            counts = ", ".join(
                f"{n} {reason}" for reason, n in sorted(bad.items(), key=lambda item: (-item[1], item[0]))
            )
            raise DataError(
                f"[{source} > {table}] {sum(bad.values())} of {everything} records were rejected ({counts}), the "
                f"budget is {builder.reject_budget:.2%}: see {rejects / table}.parquet, mend the source or the builder"
            )
        lines.append({"source": source, "table": table, **total, "rejects": reasons})
    return lines


def assemble(out: Path, builder: Builder, records: Sequence[Record], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Make the dataset folder of `records` (the plan's `shard.json`s, in its order) and return its `build.json`.

    Args:
        facts: the fields of `build.json` that do not come from the shards.

    Raises:
        DataError: the reject budget is exceeded; the old data stay.
        OSError: the disk is full; the old data stay.
    """
    shards, following = out / WORK / "shards", out / WORK / "next"
    shutil.rmtree(following, ignore_errors=True)
    files: list[dict[str, Any]] = []
    for table in builder.schema.tables:
        if not table.derived:
            files += _data(following, shards, builder, table.name, records)
    files += _derived(following, builder.schema)
    for table in builder.schema.tables:
        for kind, schema in (("lineage", LINEAGE_SCHEMA), ("rejects", REJECT_SCHEMA)):
            path = following / kind / f"{table.name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            written = write_parquet(path, schema, _rows(shards, records, kind, table.name), SMALL_GROUP_BYTES)
            files.append(_entry(f"{kind}/{table.name}.parquet", table.name, written))
    order = [table.name for table in builder.schema.tables]
    files.sort(key=lambda file: order.index(file["table"]))
    accounting = account(builder, records, following / "rejects")
    build = {
        "format": BUILD_FORMAT,
        **facts,
        "shards": [
            {name: record[name] for name in ("name", "key")} | {"inputs": sorted(record["inputs"])}
            for record in records
        ],
        "files": files,
        "accounting": accounting,
    }
    replace_json(following / "build.json", build)
    for folder in [path for path in following.rglob("*") if path.is_dir()] + [following]:
        sync(folder)
    _swap(out, following)
    return build


def _data(
    following: Path, shards: Path, builder: Builder, table: str, records: Sequence[Record]
) -> Iterator[dict[str, Any]]:
    """Number a table's shard files, split by split in the plan's order; a table without rows gets one empty file."""
    folder = following / "data" / table
    folder.mkdir(parents=True)
    splits = builder.schema.table(table).splits
    found: dict[str, list[tuple[Path, Record]]] = {split: [] for split in splits}
    for record in records:
        for file in record["files"]:
            if file["kind"] == "data" and file["table"] == table:
                found[file["split"]].append((shards / record["key"] / file["name"], file))
    for split, parts in found.items():
        for index, (path, file) in enumerate(parts):
            name = shard_name(split, index, len(parts))
            _link(path, folder / name)
            written = Written(file["rows"], file["bytes"], file["sha256"])
            yield _entry(f"data/{table}/{name}", table, written, split)
    if not any(found.values()):
        name = shard_name(splits[0], 0, 1)
        written = write_parquet(folder / name, builder.schema.table(table).arrow, ())
        yield _entry(f"data/{table}/{name}", table, written, splits[0])


def _derived(following: Path, dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Make the tables that are sums over the others."""
    given = [table.name for table in dataset.tables if not table.derived]
    shards = {name: sorted((following / "data" / name).glob("*.parquet")) for name in given}
    for table in dataset.tables:
        if table.derived:
            path = following / "data" / table.name / shard_name(table.splits[0], 0, 1)
            path.parent.mkdir(parents=True)
            written = write_parquet(path, table.arrow, derive(dataset, table, shards))
            yield _entry(f"data/{table.name}/{path.name}", table.name, written, table.splits[0])


def _entry(path: str, table: str, written: Written, split: str | None = None) -> dict[str, Any]:
    where = {"path": path, "table": table} | ({"split": split} if split else {})
    return {**where, "rows": written.rows, "bytes": written.bytes, "sha256": written.sha256}


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # A file system without hard links.
        shutil.copyfile(source, target)
        sync(target)


def _rows(shards: Path, records: Iterable[Record], kind: str, table: str) -> Iterator[pa.RecordBatch]:
    for record in records:
        for file in record["files"]:
            if file["kind"] == kind and file["table"] == table:
                with pq.ParquetFile(shards / record["key"] / file["name"]) as parquet:
                    for group in range(parquet.num_row_groups):  # All at once, what was read is held to the end.
                        yield from parquet.iter_batches(row_groups=[group], use_threads=False)  # Each keeps memory.


def _swap(out: Path, following: Path) -> None:
    """Put the new in the place of the old. Killed anywhere, it leaves a folder that says it is unfinished."""
    old = out / WORK / "old"
    shutil.rmtree(old, ignore_errors=True)
    old.mkdir()
    DatasetFolder(out).build_json.unlink(missing_ok=True)
    sync(out)
    for name in (*MADE, *STALE):
        if (out / name).exists():
            (out / name).rename(old / name)
    for name in MADE:
        (following / name).rename(out / name)
    sync(out)
    (following / "build.json").rename(DatasetFolder(out).build_json)
    sync(out)
    shutil.rmtree(old)
    shutil.rmtree(following)
