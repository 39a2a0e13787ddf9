"""The layout of a dataset folder: the interface between the steps, and the only thing they share.

A folder is whole when it has `build.json`, which is written last. What each file holds is said here once; who writes it
is said beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemas.errors import GoldsmithError
from schemas.table import Dataset

BUILD_FORMAT = 1

LINEAGE_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
        pa.field("place", pa.string(), nullable=False),
        pa.field("licence", pa.string(), nullable=False),
    ]
)
"""`lineage/<table>.parquet`: where each row came from. A row made of several source records has a line for each.
`place` is a line (`line 12`), an offset, a record or a commit and path: what `explain` needs to show the record."""

REJECT_SCHEMA = pa.schema(
    [
        pa.field("reason", pa.string(), nullable=False),
        pa.field("message", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("place", pa.string(), nullable=False),
        pa.field("record", pa.string(), nullable=False),
    ]
)
"""`rejects/<table>.parquet`: source records that became no row. `reason` is a code, `record` the raw text."""

FINDING_SCHEMA = pa.schema(
    [
        pa.field("check", pa.string(), nullable=False),
        pa.field("severity", pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("message", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
    ]
)
"""`quality/findings.parquet`: every failing row of every check, and every figure outside its bounds (`id`: subject)."""

TOMBSTONE_SCHEMA = pa.schema(
    [
        pa.field("table", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("date", pa.date32(), nullable=False),
        pa.field("last_version", pa.string(), nullable=False),
    ]
)
"""`tombstones.parquet`: rows that were withdrawn (consent, licence): why, when, and the last release that held them."""

_SHARD = re.compile(r"(?P<split>\w+)-(?P<index>\d{5})-of-(?P<count>\d{5})\.parquet")


def shard_name(split: str, index: int, count: int) -> str:
    """The file name of a shard, as the Hub and `load_dataset` expect it."""
    return f"{split}-{index:05d}-of-{count:05d}.parquet"


_BUILD = {"dataset": str, "version": str, "schema": dict, "files": list, "sources": list, "accounting": list}
"""What build.json must hold, beside its format, for the other rooms to read it."""


class DatasetFolder:
    """A dataset folder on disk: names of its files, and the records in it. It never writes.

    Raises (from the properties that read):
        GoldsmithError: the folder is no finished dataset, or was written by another goldsmith.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def build_json(self) -> Path:
        """Written by `build`, last."""
        return self.path / "build.json"

    @property
    def findings(self) -> Path:
        """Written by `check`."""
        return self.path / "quality" / "findings.parquet"

    @property
    def report_json(self) -> Path:
        """Written by `check`: what ran, on which bytes, with which result."""
        return self.path / "quality" / "report.json"

    @property
    def report_html(self) -> Path:
        """Written by `check`, for people."""
        return self.path / "quality" / "report.html"

    @property
    def manifest_json(self) -> Path:
        """Written by `release`: its presence makes a folder a release."""
        return self.path / "manifest.json"

    @property
    def lock(self) -> Path:
        """Written by `release`: all that is needed to make it again."""
        return self.path / "goldsmith.lock"

    @property
    def tombstones(self) -> Path:
        """Written by `withdraw`, and carried from release to release; absent where nothing was withdrawn."""
        return self.path / "tombstones.parquet"

    def data(self, table: str) -> Path:
        """The folder of a table's shards."""
        return self.path / "data" / table

    def lineage(self, table: str) -> Path:
        """Where each row of `table` came from."""
        return self.path / "lineage" / f"{table}.parquet"

    def rejects(self, table: str) -> Path:
        """The source records that became no row of `table`."""
        return self.path / "rejects" / f"{table}.parquet"

    def shards(self, table: str) -> dict[str, list[Path]]:
        """The shard files of `table` by split, in the schema's order of splits and then by number."""
        found: dict[str, list[Path]] = {split: [] for split in self.schema.table(table).splits}
        for path in sorted(self.data(table).glob("*.parquet")):
            match = _SHARD.fullmatch(path.name)
            if match is None or match["split"] not in found:
                raise GoldsmithError(f"[{path}] is no shard of table {table}: move it out of the dataset folder")
            found[match["split"]].append(path)
        return {split: paths for split, paths in found.items() if paths}

    def all_shards(self, table: str) -> list[Path]:
        """The shard files of `table`, all splits."""
        return [path for paths in self.shards(table).values() for path in paths]

    @cached_property
    def build(self) -> Mapping[str, Any]:
        """The content of build.json; see `builders.assemble` for its fields."""
        if not self.build_json.is_file():
            raise GoldsmithError(f"[{self.path}] is no finished dataset (it has no build.json): run `goldsmith build`")
        try:
            record = json.loads(self.build_json.read_text(encoding="utf-8"))
        except ValueError as error:
            raise GoldsmithError(f"[{self.build_json}] is not JSON ({error}): build the dataset again") from None
        if not isinstance(record, dict):
            raise GoldsmithError(f"[{self.build_json}] is no record of a build: build the dataset again")
        if record.get("format") != BUILD_FORMAT:
            raise GoldsmithError(f"[{self.build_json}] has format {record.get('format')}: build the dataset again")
        for name, kind in _BUILD.items():
            if not isinstance(record.get(name), kind):
                raise GoldsmithError(f"[{self.build_json} > {name}] is missing or damaged: build the dataset again")
        return record

    def refuse_other(self, previous: DatasetFolder) -> None:
        """Refuse as an earlier release what is of another dataset.

        Raises:
            GoldsmithError: it is, or one of the two is no dataset.
        """
        mine, its = self.build["dataset"], previous.build["dataset"]
        if its != mine:
            raise GoldsmithError(f"[{previous.path}] is of {its}, not of {mine}: give an earlier release of {mine}")

    @cached_property
    def schema(self) -> Dataset:
        """The schema the folder was built with."""
        try:
            return Dataset.from_json(self.build["schema"])
        except (LookupError, TypeError, ValueError, AttributeError):
            raise GoldsmithError(f"[{self.build_json} > schema] is damaged: build the dataset again") from None

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """The content of quality/report.json."""
        if not self.report_json.is_file():
            raise GoldsmithError(f"[{self.path}] has not been checked: run `goldsmith check {self.path}`")
        try:
            record = json.loads(self.report_json.read_text(encoding="utf-8"))
        except ValueError as error:
            raise GoldsmithError(f"[{self.report_json}] is not JSON ({error}): run `goldsmith check` again") from None
        if not isinstance(record, dict) or not {"checks", "files"} <= record.keys():
            raise GoldsmithError(f"[{self.report_json}] is no report of checks: run `goldsmith check` again")
        return record
