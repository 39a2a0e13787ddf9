"""A dataset folder: its shards in order, and one clear line for what is no dataset."""

from __future__ import annotations

import json

import pytest

from schemas import Column, Dataset, DatasetFolder, GoldsmithError, Table, Text
from schemas.folder import shard_name

TABLE = Table("rows", "Rows.", (Column("id", Text(), "Key."),), key=("id",), splits=("train", "test"))
SCHEMA = Dataset("small", "Small", "Rows.", (TABLE,))
BUILD = {
    "format": 1,
    "dataset": "small",
    "version": "1",
    "schema": SCHEMA.to_json(),
    "files": [],
    "sources": [],
    "accounting": [],
}


@pytest.fixture
def folder(tmp_path) -> DatasetFolder:
    folder = DatasetFolder(tmp_path)
    folder.build_json.write_text(json.dumps(BUILD))
    folder.data("rows").mkdir(parents=True)
    return folder


def test_shards_come_by_split_and_number(folder):
    names = [shard_name("test", 0, 1), shard_name("train", 1, 2), shard_name("train", 0, 2)]
    for name in names:
        (folder.data("rows") / name).touch()
    found = {split: [path.name for path in paths] for split, paths in folder.shards("rows").items()}
    assert list(found.items()) == [("train", [names[2], names[1]]), ("test", [names[0]])]
    assert [path.name for path in folder.all_shards("rows")] == [names[2], names[1], names[0]]


@pytest.mark.parametrize("name", ["other-00000-of-00001.parquet", "train.parquet", "train-0-of-1.parquet"])
def test_a_foreign_file_among_the_shards_is_named(folder, name):
    (folder.data("rows") / name).touch()
    with pytest.raises(GoldsmithError, match=f"{name}\\] is no shard of table rows"):
        folder.shards("rows")


def test_a_folder_without_build_json_is_no_dataset(tmp_path):
    with pytest.raises(GoldsmithError, match="no finished dataset"):
        DatasetFolder(tmp_path).schema  # noqa: B018


@pytest.mark.parametrize(("content", "message"), [("{", "is not JSON"), ('{"format": 99}', "has format 99")])
def test_a_build_json_that_cannot_be_used_is_named(tmp_path, content, message):
    (tmp_path / "build.json").write_text(content)
    with pytest.raises(GoldsmithError, match=message):
        DatasetFolder(tmp_path).build  # noqa: B018


@pytest.mark.parametrize("name", sorted(BUILD.keys() - {"format"}))
@pytest.mark.parametrize("damage", [dict.pop, lambda record, name: record.update({name: 5})])
def test_a_build_json_that_lacks_something_is_named(folder, name, damage):
    record = dict(BUILD)
    damage(record, name)
    folder.build_json.write_text(json.dumps(record))
    with pytest.raises(GoldsmithError, match=rf"build.json > {name}\] is missing or damaged: build the dataset again"):
        folder.build  # noqa: B018


def test_an_earlier_release_is_of_the_same_dataset(folder, tmp_path):
    folder.refuse_other(folder)
    other = DatasetFolder(tmp_path / "other")
    other.path.mkdir()
    other.build_json.write_text(json.dumps({**BUILD, "dataset": "large"}))
    with pytest.raises(GoldsmithError, match=r"other\] is of large, not of small: give an earlier release of small"):
        folder.refuse_other(other)


def test_an_unchecked_folder_says_what_to_run(folder):
    with pytest.raises(GoldsmithError, match="has not been checked: run `goldsmith check"):
        folder.report  # noqa: B018


def test_the_schema_is_the_one_it_was_built_with(folder):
    assert folder.schema == SCHEMA
