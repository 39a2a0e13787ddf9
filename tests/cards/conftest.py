"""Fixtures: dataset folders (see card_folders.py) and a builder with a datasheet.toml."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # read when `datasets` is first imported

import pytest
from card_folders import (
    ACCOUNTING,
    DATASHEET,
    EVERYTHING,
    KINDS,
    SOURCES,
    SPOKEN,
    SPOKEN_ROWS,
    check,
    thing,
    write_folder,
    write_report,
    write_shard,
)

from schemas import DatasetFolder


@pytest.fixture
def spoken(tmp_path: Path) -> DatasetFolder:
    """A folder with two tables, missing values, duplicates, rejects and a report."""
    rejects = {"utterances": ["no_text", "no_text"]}
    folder = write_folder(
        tmp_path / "spoken", SPOKEN, SPOKEN_ROWS, SOURCES, rejects, accounting=ACCOUNTING, left_out=["private"]
    )
    checks = [
        check("key", "block", "passed"),
        check("noise", "warn", "failed", 2),
        check("old", "info", "not_applicable"),
    ]
    write_report(folder, checks)
    return folder


@pytest.fixture
def builder(tmp_path: Path) -> Path:
    """A builder's folder with a datasheet.toml."""
    path = tmp_path / "builder"
    path.mkdir()
    (path / "datasheet.toml").write_text(DATASHEET, encoding="utf-8")
    return path


@pytest.fixture
def edit(spoken: DatasetFolder) -> Callable[[str, str, str], None]:
    """Replace a text in a document of `spoken`; the text must be there once."""

    def replace(name: str, old: str, new: str) -> None:
        path = spoken.path / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (old, text.count(old))
        path.write_text(text.replace(old, new), encoding="utf-8")

    return replace


@pytest.fixture
def everything(tmp_path: Path) -> DatasetFolder:
    """A folder with every type, a row in which all is missing, and two shards of a split."""
    empty = dict.fromkeys(KINDS) | {"id": "empty"}
    rows = {("things", "test"): [thing(7)]}
    folder = write_folder(tmp_path / "everything", EVERYTHING, rows, SOURCES)
    table = EVERYTHING.tables[0]
    write_shard(folder.path, table, "train", [thing(1), thing(2), empty], 0, 2)
    write_shard(folder.path, table, "train", [thing(3)], 1, 2)
    return folder
