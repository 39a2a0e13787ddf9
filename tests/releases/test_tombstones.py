"""Rows that were withdrawn stay out of every later release, with what refers to them."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from release_folders import check, rows, variant, write_dataset, write_documents, write_ready, write_report

from releases import apply_drops, gate, release
from releases.hub.withdraw import apply_tombstones, read_tombstones, withdraw
from releases.tombstones import needed
from schemas import DatasetFolder, GoldsmithError

DAY = datetime.date(2026, 6, 1)
GONE = ["H3/2", "H3/7"]


def finish(path: Path) -> DatasetFolder:
    """What the command line does once rows have left."""
    folder = DatasetFolder(path)
    write_report(folder)
    write_documents(folder)
    return folder


@pytest.fixture
def previous(tmp_path: Path, ready: DatasetFolder) -> DatasetFolder:
    """Release 2.0.0, from which two rows were withdrawn."""
    release(ready, "1.0.0", tmp_path / "1.0.0", today=DAY)
    withdraw(tmp_path / "1.0.0", tmp_path / "kept", {"variants": GONE}, reason="asked", date=DAY)
    release(finish(tmp_path / "kept"), "2.0.0", tmp_path / "2.0.0", today=DAY)
    return DatasetFolder(tmp_path / "2.0.0")


def grown(path: Path) -> DatasetFolder:
    """A new build of the same sources, and a row more."""
    data = rows()
    data["variants"]["train"].append(variant(30))
    return write_ready(path, data)


def test_withdrawn_rows_must_not_be_back(tmp_path: Path, previous: DatasetFolder) -> None:
    lines = gate(grown(tmp_path / "new"), "2.1.0", previous=previous, today=DAY).refusals
    assert lines == (
        "tombstones of the previous release are missing (variants > H3/2 and 1 more): apply them",
        "withdrawn rows are back (variants > H3/2 and 1 more): apply the tombstones of the previous release",
    )


def test_rows_that_left_without_their_tombstones(tmp_path: Path, previous: DatasetFolder) -> None:
    folder = grown(tmp_path / "new")
    apply_tombstones(folder, tmp_path / "kept again", read_tombstones(previous.path))
    kept = finish(tmp_path / "kept again")
    assert gate(kept, "2.1.0", previous=previous, today=DAY).refusals == ()
    kept.tombstones.unlink()
    (line,) = gate(kept, "2.1.0", previous=previous, today=DAY).refusals
    assert line.startswith("tombstones of the previous release are missing (variants > H3/2 and 1 more)")


def test_rows_back_beside_their_tombstones(tmp_path: Path, previous: DatasetFolder) -> None:
    folder = grown(tmp_path / "new")
    folder.tombstones.write_bytes(previous.tombstones.read_bytes())
    for before in (None, previous):
        (line,) = gate(folder, "2.1.0", previous=before, today=DAY).refusals
        assert line.startswith("withdrawn rows are back (variants > H3/2 and 1 more)")


def test_what_is_needed_before_a_release(tmp_path: Path, previous: DatasetFolder) -> None:
    folder = grown(tmp_path / "new")
    assert needed(folder.path, previous.path) == read_tombstones(previous.path)
    apply_tombstones(folder, tmp_path / "kept again", needed(folder.path, previous.path))
    assert needed(tmp_path / "kept again", previous.path) == ()


def test_tombstones_survive_drops(tmp_path: Path, previous: DatasetFolder) -> None:
    apply_tombstones(grown(tmp_path / "new"), tmp_path / "kept again", read_tombstones(previous.path))
    kept = DatasetFolder(tmp_path / "kept again")
    line = {"check": "noisy", "severity": "drop", "table": "variants", "id": "H3/3", "message": "m", "value": None}
    write_report(kept, [check("noisy", "failed", "drop", failures=1)], [line])
    apply_drops(kept, tmp_path / "dropped")
    assert read_tombstones(tmp_path / "dropped") == read_tombstones(previous.path)


def test_its_own_tombstones_stay_and_the_earlier_counts(tmp_path: Path, previous: DatasetFolder) -> None:
    later = [replace(stone, date=datetime.date(2027, 1, 1)) for stone in read_tombstones(previous.path)]
    assert apply_tombstones(previous, tmp_path / "k", later) == read_tombstones(previous.path)


def test_a_row_that_was_withdrawn_before(tmp_path: Path, previous: DatasetFolder) -> None:
    with pytest.raises(GoldsmithError, match=r"variants > H3/2\] was withdrawn on 2026-06-01"):
        withdraw(previous.path, tmp_path / "no", {"variants": ["H3/2"]}, reason="asked")


def test_rows_that_refer_to_a_withdrawn_one_leave_too(tmp_path: Path) -> None:
    data = rows()
    data["assays"]["train"].append({"assay": "H5", "virus": None})
    data["variants"]["train"].append({**variant(1), "assay": "H5"})
    release(write_ready(tmp_path / "two", data), "1.0.0", tmp_path / "1.0.0", today=DAY)
    stones = withdraw(tmp_path / "1.0.0", tmp_path / "kept", {"assays": ["H5"]}, reason="asked", date=DAY)
    assert [(stone.table, stone.id) for stone in stones][:1] == [("assays", "H5")]
    assert ("variants", "H5/1") in {(stone.table, stone.id) for stone in stones}
    shards = DatasetFolder(tmp_path / "kept").all_shards("variants")
    assert {row["assay"] for path in shards for row in pq.read_table(path).to_pylist()} == {"H3"}


def test_a_damaged_file_is_named(tmp_path: Path, previous: DatasetFolder) -> None:
    folder = write_dataset(tmp_path / "d")
    folder.tombstones.write_bytes(b"PAR1")
    with pytest.raises(GoldsmithError, match=r"tombstones\.parquet\] is damaged"):
        read_tombstones(folder.path)
    folder.tombstones.unlink()
    shard = folder.all_shards("variants")[0]
    shard.write_bytes(shard.read_bytes()[:50])
    with pytest.raises(GoldsmithError, match=r"train-00000-of-00001\.parquet\] is damaged"):
        apply_tombstones(folder, tmp_path / "k", read_tombstones(previous.path))
    again = write_dataset(tmp_path / "e")
    again.lineage("variants").unlink()
    with pytest.raises(GoldsmithError, match=r"lineage/variants\.parquet\] is missing"):
        apply_tombstones(again, tmp_path / "k", read_tombstones(previous.path))
