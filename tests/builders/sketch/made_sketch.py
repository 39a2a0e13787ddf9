"""The bundled sample as rows, to plant defects in, and the folder that `quality` checks."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.api import Batch, Read, Reject
from builders.sketch.builder import BUILDER
from builders.sketch.checks import CHECKS
from builders.sketch.schema import SKETCH
from builders.sources import Sources
from quality.results import Result
from quality.run import check
from schemas import CheckSet, DatasetFolder
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.parquet import write_parquet

Row = dict[str, Any]
Tables = dict[str, list[Row]]
"""Rows by table; `_split` is the split of each."""


class Yielded:
    """What the shards of some sources yield: rows by table, rejects, and the accounting by (source, table)."""

    def __init__(self, sources: Sources) -> None:
        self.tables: Tables = {table.name: [] for table in SKETCH.tables}
        self.rejects: list[Reject] = []
        self.read: Counter[tuple[str, str]] = Counter()
        self.became: Counter[tuple[str, str]] = Counter()
        for shard in BUILDER.plan(sources):
            for each in BUILDER.build(shard, sources.only(shard.inputs)):
                if isinstance(each, Batch):
                    assert each.rows.schema.equals(SKETCH.table(each.table).arrow)
                    assert len(each.places) == each.rows.num_rows
                    self.tables[each.table] += [{**row, "_split": each.split} for row in each.rows.to_pylist()]
                    self.became[each.source, each.table] += each.rows.num_rows + len(each.merged)
                elif isinstance(each, Reject):
                    self.rejects.append(each)
                    self.became[each.source, each.table] += 1
                elif isinstance(each, Read):
                    self.read[each.source, each.table] += each.records

    def reasons(self, source: str) -> dict[str, int]:
        """Rejects of a source by reason."""
        return dict(Counter(reject.reason for reject in self.rejects if reject.source == source))


def given(**folders: Path) -> Yielded:
    """What the real builder makes of folders of one's own, by the name of their source."""
    return Yielded(Sources.load(BUILDER.folder, overrides=folders, offline=True))


@cache
def sample() -> Yielded:
    """What the bundled sample yields, made once."""
    return Yielded(Sources.load(BUILDER.folder, sample=True, offline=True))


def some() -> Tables:
    """Valid tables, small enough to be written often: two labelled categories, scenes, pixels and characters."""
    return pickle.loads(_some())


@cache
def _some() -> bytes:
    keep = {"house", "flower", "friss scene 0", "friss scene 3", "sketchyscene scene train-1", "runes character 01"}
    tables = sample().tables
    kept = {row["sketch_id"] for row in tables["sketches"] if row["category"] in keep and row["source"] != "quickdraw"}

    def wanted(row: Row) -> bool:
        return row["sketch_id"] in kept if row.get("sketch_id") else row["category"] in keep

    return pickle.dumps({name: list(filter(wanted, rows)) for name, rows in tables.items()})


def folder(path: Path, tables: Mapping[str, list[Row]]) -> DatasetFolder:
    """Write a dataset folder of these rows."""
    files: list[Row] = []

    def add(relative: str, rows: pa.Table, table: str, split: str | None = None) -> None:
        target = path / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        written = write_parquet(target, rows.schema, rows.combine_chunks().to_batches())
        entry = {"path": relative, "table": table, "rows": written.rows, "bytes": written.bytes}
        files.append({**entry, "sha256": written.sha256, **({"split": split} if split else {})})

    for table in SKETCH.tables:
        for split in table.splits:
            rows = [row for row in tables[table.name] if row["_split"] == split]
            columns = [pa.array([row[f.name] for row in rows], f.type) for f in table.arrow]
            add(f"data/{table.name}/{shard_name(split, 0, 1)}", pa.table(columns, table.arrow), table.name, split)
        add(f"rejects/{table.name}.parquet", REJECT_SCHEMA.empty_table(), table.name)
        add(f"lineage/{table.name}.parquet", LINEAGE_SCHEMA.empty_table(), table.name)
    build = {"format": 1, "dataset": SKETCH.name, "version": "1", "schema": SKETCH.to_json(), "files": files}
    build |= {"sources": [], "accounting": [], "tools": {}}
    (path / "build.json").write_text(json.dumps(build), encoding="utf-8")
    return DatasetFolder(path)


def run(made: DatasetFolder, *names: str) -> dict[str, Result]:
    """The results of the named checks (all if none is named), by the engine that users run."""
    chosen = tuple(each for each in CHECKS.checks if not names or each.name in names)
    assert len(chosen) == len(names) or not names, f"no check is called one of {names}"
    report = check(made, CheckSet(chosen, CHECKS.views), groups=("own",), threads=1)
    return {result.name: result for result in report.results}


def failed(results: Mapping[str, Result]) -> dict[str, int]:
    """Name -> failures of the checks that failed."""
    return {name: result.failures for name, result in results.items() if result.status == "failed"}
