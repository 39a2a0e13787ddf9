"""Carries what audits found (`audit/`) along when rows leave a dataset.

What people found stays true of the rows that stay (see `quality.annotation.findings` for how a bound is kept). Of rows
that are to be forgotten nothing is kept: neither what was said of them nor the fingerprint of what they held.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.files import copy_file
from releases.manifest import walk
from schemas import DatasetFolder

FOLDER = "audit"
_ID = "item_id"


def copy_audits(folder: DatasetFolder, into: Path, forgotten: Mapping[str, Collection[str]]) -> None:
    """Copy `audit/` to `into`; of the rows of `forgotten` (table -> ids) every trace is left out.

    An audit's page names rows, so it is left out where any of its table are forgotten.
    """
    for path in walk(folder.path):
        parts = Path(path).parts
        if parts[0] != FOLDER:
            continue
        gone = forgotten.get(_table(folder.path / FOLDER / parts[1]), ())
        if not gone:
            copy_file(folder.path, path, into)
        elif path.endswith(".parquet"):
            _copy_without(folder.path / path, into / path, gone)
        elif path.endswith(".json"):
            copy_file(folder.path, path, into)


def _table(audit: Path) -> str:
    return json.loads((audit / "design.json").read_text(encoding="utf-8"))["audit"]["table"]


def _copy_without(source: Path, target: Path, gone: Collection[str]) -> None:
    rows = pq.read_table(source)
    named = pc.call_function("is_in", [rows.column(_ID)], pc.SetLookupOptions(pa.array(sorted(gone), pa.string())))
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows.filter(pc.call_function("invert", [named])), target, compression="zstd")
