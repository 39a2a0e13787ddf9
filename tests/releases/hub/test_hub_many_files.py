"""601 files: gathered in commits of up to 100, brought to main in one, and what did not change is not sent again."""

from __future__ import annotations

import itertools
from pathlib import Path

import pyarrow as pa
from driver import ACCOUNTS, Client, published
from loophub import Loophub
from tiny import GAUGES, READINGS, finish, readings

from schemas import Dataset
from schemas.folder import shard_name
from schemas.parquet import write_parquet

SHARDS = 597
"""And README.md, build.json, goldsmith.lock, manifest.json."""


def many(folder: Path, version: str, like: Path | None = None, changed: int = -1) -> Path:
    """A release of 601 files; the shards of `like`, where it is given, but for `changed`, which has a row more."""
    place = folder / "data/readings"
    place.mkdir(parents=True)
    for index in range(SHARDS):
        name = shard_name("train", index, SHARDS)
        if like and index != changed:
            (place / name).hardlink_to(like / "data/readings" / name)
            continue
        rows = readings(3 if index == changed else 2, start=index * 10)
        batch = pa.RecordBatch.from_pylist(rows, READINGS.arrow)
        write_parquet(place / name, READINGS.arrow, [batch])
    finish(folder, Dataset(GAUGES.name, GAUGES.title, GAUGES.summary, (READINGS,)), version)
    return folder


def test_601_files(tmp_path: Path, client: Client) -> None:
    first = many(tmp_path / "1", "1.0.0")
    second = many(tmp_path / "2", "1.0.1", like=first, changed=300)
    assert len([path for path in first.rglob("*") if path.is_file()]) == 601
    with Loophub(tmp_path / "many", ACCOUNTS, xet=True) as hub:
        assert hub.xet is not None
        answer = client.publish(hub, first, "acme/many").get()
        assert answer["status"] == "published"
        assert published(hub, "acme/many", first, "v1.0.0")
        assert len(answer["read"]) == 200
        repo = hub.store.repos["acme/many"]
        assert repo.titles() == ["Release v1.0.0", "initial commit"]
        staged = [commit for commit in repo.commits.values() if commit.title == "Stage v1.0.0"]
        sizes = [1, *(len(commit.tree) for commit in staged)]
        assert [after - before for before, after in itertools.pairwise(sizes)] == [100] * 6 + [1]

        before = hub.xet.stored_bytes()
        assert client.publish(hub, second, "acme/many").get()["status"] == "published"
        assert published(hub, "acme/many", second, "v1.0.1")
        shard = (second / "data/readings" / shard_name("train", 300, SHARDS)).stat().st_size
        assert 0 < hub.xet.stored_bytes() - before < 2 * shard
