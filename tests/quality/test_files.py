"""Files that are missing, changed, broken or strange become findings, and the rest of the checks still run."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from quality_folders import failing, results

from quality.run import check
from schemas import CheckSet, Column, Dataset, DatasetFolder, GoldsmithError, Int, Table, Text

TABLE = Table("items", "Items.", (Column("id", Int(), "Key."), Column("text", Text(), "Text.")), key=("id",))
DATASET = Dataset("things", "Things", "Things.", (TABLE,))
ROWS = {"items": {"train": [{"id": number, "text": f"text {number}"} for number in range(40)]}}
FIRST = "data/items/train-00000-of-00002.parquet"


@pytest.fixture
def made(folder) -> DatasetFolder:
    return folder(DATASET, ROWS, shard_rows=20)


def test_files_as_built_pass_and_are_vouched_for(made):
    report = check(made, CheckSet())
    assert failing(made) == {}
    assert sorted(report.files) == sorted([*(entry["path"] for entry in made.build["files"]), "build.json"])


def test_a_missing_file_is_found(made):
    (made.path / FIRST).unlink()
    report = check(made, CheckSet())
    assert failing(made)["files.present"] == [FIRST]
    assert report.profile["items"]["rows"] == 20
    assert not report.passed


def test_a_stray_file_is_found(made):
    (made.path / "data/items/train-00002-of-00002.parquet").write_bytes(b"")
    check(made, CheckSet())
    assert failing(made) == {"files.present": ["data/items/train-00002-of-00002.parquet"]}


def test_a_file_changed_after_the_build_is_found(made):
    path = made.path / FIRST
    table = pq.read_table(path)
    changed = table.set_column(1, table.schema.field(1), pa.array(["other"] * 20))
    pq.write_table(changed, path)
    report = check(made, CheckSet())
    assert failing(made)["files.unchanged"] == [FIRST]
    assert results(report)["files.unchanged"].severity == "block"
    assert results(report)["files.readable"].status == "passed"


@pytest.mark.parametrize("cut", [0, 4, 300], ids=["empty", "magic only", "no footer"])
def test_a_truncated_file_is_found(made, cut):
    path = made.path / FIRST
    path.write_bytes(path.read_bytes()[:cut])
    report = check(made, CheckSet())
    assert failing(made)["files.readable"] == [FIRST]
    assert report.profile["items"]["rows"] == 20


def test_damage_inside_a_file_is_found(made):
    path = made.path / FIRST
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    report = check(made, CheckSet())
    assert failing(made)["files.unchanged"] == [FIRST]
    assert not report.passed


def test_other_columns_and_other_counts_are_found(made):
    path = made.path / FIRST
    pq.write_table(pq.read_table(path).drop_columns(["text"]), path)
    check(made, CheckSet(), groups=())
    assert failing(made) == {"files.readable": [FIRST]}
    pq.write_table(pa.table({"id": [1], "text": ["a"]}).cast(TABLE.arrow), path)
    report = check(made, CheckSet(), groups=())
    assert results(report)["files.readable"].examples[0][1].endswith("has 1 rows, build.json says 20")


def test_a_partial_run_vouches_for_no_file(made):
    assert check(made, CheckSet(), groups=("files", "keys")).files == {}
    with pytest.raises(GoldsmithError, match="there is no speed"):
        check(made, CheckSet(), groups=("speed",))
