"""The whole way with the real clients: create, publish, tag, read, second version, verify; by LFS and by Xet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import ACCOUNTS, OLD_TOKEN, READ_TOKEN, STRANGER, TOKEN, Client, lay, published, seen
from loophub import Loophub
from tiny import make_release

CONFIGS = ["readings", "pictures"]
READINGS_1 = [f"r{n:07d}" for n in range(40)]
READINGS_2 = [f"r{n:07d}" for n in range(50)]


@pytest.fixture(params=["lfs", "xet"])
def anyhub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Loophub]:
    with Loophub(tmp_path / "anyhub", ACCOUNTS, xet=request.param == "xet") as running:
        yield running


@pytest.fixture
def anyclient(tmp_path: Path, anyhub: Loophub) -> Iterator[Client]:
    process = Client(tmp_path / "anyhome", anyhub.endpoint)
    yield process
    process.close()


def test_round_trip(anyhub: Loophub, anyclient: Client, release_1: Path, release_2: Path) -> None:
    repo = "acme/gauges"
    assert anyclient.publish(anyhub, release_1, repo).get()["status"] == "published"
    assert published(anyhub, repo, release_1, "v1.0.0")
    assert anyclient.publish(anyhub, release_1, repo).get()["status"] == "already published"

    found = anyclient.start("load", repo=repo, revision="v1.0.0", configs=CONFIGS).get()["found"]
    assert found["readings"] == found["readings streamed"]
    assert found["readings"]["train"] == READINGS_1
    assert len(found["readings"]["test"]) == 10
    assert found["pictures"] == found["pictures streamed"] == {"train": ["p0", "p1", "p2"]}

    sent = len(anyhub.log)
    assert anyclient.publish(anyhub, release_2, repo).get()["status"] == "published"
    assert published(anyhub, repo, release_2, "v1.1.0")
    assert anyhub.store.repos[repo].titles() == ["Release v1.1.0", "Release v1.0.0", "initial commit"]
    if not anyhub.xet:  # of 12 files, only the changed shards and lineage travel
        assert sum(record.method == "PUT" and "_store" in record.path for record in anyhub.log[sent:]) == 3

    found = anyclient.start("load", repo=repo, revision="v1.1.0", configs=["readings"]).get()["found"]
    assert found["readings"]["train"] == READINGS_2
    for version, release in (("1.0.0", release_1), ("v1.1.0", release_2)):
        checked = anyclient.verify(anyhub, repo, version, everything=True)
        assert (checked["problems"], checked["files"]) == ([], len(list(release.rglob("*.*"))))
    assert not any(record.token for record in anyhub.log if "/_store/" in record.path)


def test_large_files_in_parts(tmp_path: Path, client: Client, release_1: Path) -> None:
    with Loophub(tmp_path / "parts", ACCOUNTS, multipart_over=1000, part_bytes=700) as hub:
        assert client.publish(hub, release_1, "acme/gauges").get()["status"] == "published"
        assert published(hub, "acme/gauges", release_1, "v1.0.0")
        assert any("/part/3" in record.path for record in hub.log)


def test_plan_changes_nothing(hub: Loophub, client: Client, release_1: Path, release_2: Path) -> None:
    plan = client.publish(hub, release_1, "acme/new", dry_run=True).get()["plan"]
    assert "create the repository and publish v1.0.0" in plan
    assert "12 files (12 new, 0 changed)" in plan
    assert plan.rstrip().endswith("# Gauges")
    lay(hub, "acme/old", release_1, "v1.0.0")
    before = seen(hub, "acme/old")
    plan = client.publish(hub, release_2, "acme/old", dry_run=True).get()["plan"]
    assert "publish v1.1.0" in plan
    assert "(0 new, 7 changed)" in plan
    assert "1 on branch staging/v1.1.0, then 1 on main" in plan
    assert seen(hub, "acme/old") == before
    assert list(hub.store.repos) == ["acme/old"]
    assert {record.method for record in hub.log} == {"GET"}


def test_private_and_gated(hub: Loophub, client: Client, release_1: Path, release_2: Path) -> None:
    assert client.publish(hub, release_1, "acme/p", private=True, gated="manual").get()["status"] == "published"
    here = hub.store.repos["acme/p"]
    assert (here.visibility, here.gated) == ("private", "manual")
    client.publish(hub, release_2, "acme/p").get()
    assert (here.visibility, here.gated) == ("private", "manual"), "a later version leaves the settings alone"
    lay(hub, "acme/open", release_1, "v1.0.0")
    client.publish(hub, release_1, "acme/open", private=True).get()
    assert hub.store.repos["acme/open"].visibility == "private"


def test_user_mistakes_are_one_line(hub: Loophub, client: Client, release_1: Path, tmp_path: Path) -> None:
    lay(hub, "acme/there", release_1, "v1.0.0")
    other = make_release(tmp_path / "other", "1.0.0", count=41)
    older = make_release(tmp_path / "older", "0.9.0")
    spoiled = make_release(tmp_path / "spoiled")
    (spoiled / "README.md").write_text("changed")
    cases = [
        ({"token": OLD_TOKEN}, release_1, "acme/x", "token was refused"),
        ({"token": "hf_" + "u" * 34}, release_1, "acme/x", "token was refused"),
        ({"token": READ_TOKEN}, release_1, "acme/x", "may only read"),
        ({"token": STRANGER}, release_1, "acme/there", "stranger may not write to acme"),
        ({}, release_1, "guests/x", "may not write to guests"),
        ({}, release_1, "acme", "no name of a repository"),
        ({}, other, "acme/there", "a version never changes"),
        ({}, older, "acme/there", "v1.0.0 is published, main would go back"),
        ({}, spoiled, "acme/x", "not as it was released"),
        ({}, tmp_path, "acme/x", "no release"),
    ]
    for options, release, repo, words in cases:
        error = client.publish(hub, release, repo, **options).get()["error"]
        assert words in error, error
        assert "\n" not in error
        assert not any(token in error for token in ACCOUNTS)
    assert list(hub.store.repos) == ["acme/there"]


def test_foreign_files_are_not_deleted(hub: Loophub, client: Client, release_1: Path, release_2: Path) -> None:
    here = lay(hub, "acme/mixed", release_1, "v1.0.0")
    here.tree()["notes.txt"] = hub.store.keep_blob(b"mine")
    error = client.publish(hub, release_2, "acme/mixed").get()["error"]
    assert "1 files that no release put there (first: notes.txt)" in error


def test_files_of_the_last_version_are_removed(hub: Loophub, client: Client, tmp_path: Path) -> None:
    three = make_release(tmp_path / "three", "1.0.0", shards=3)
    two = make_release(tmp_path / "two", "2.0.0", shards=2)
    here = lay(hub, "acme/fewer", three, "v1.0.0")
    assert client.publish(hub, two, "acme/fewer").get()["status"] == "published"
    assert published(hub, "acme/fewer", two, "v2.0.0")
    assert "data/readings/train-00002-of-00003.parquet" in here.tree("v1.0.0")


def test_verify_finds_a_planted_difference(hub: Loophub, client: Client, release_1: Path) -> None:
    here = lay(hub, "acme/v", release_1, "v1.0.0")
    assert client.verify(hub, "acme/v", "1.0.0")["problems"] == []
    shard = "data/readings/train-00000-of-00002.parquet"
    held = hub.store.object(str(here.tree()[shard].sha256))
    right = held.read_bytes()
    held.write_bytes(right[:-9] + b"x" + right[-8:])
    assert client.verify(hub, "acme/v", "1.0.0")["problems"][0].startswith(f"{shard}: the Hub gives back other bytes")
    held.write_bytes(right)
    here.tree()["README.md"] = hub.store.keep_blob(b"another text")
    here.tree()["more.txt"] = hub.store.keep_blob(b"more")
    del here.tree()["build.json"]
    problems = client.verify(hub, "acme/v", "1.0.0")["problems"]
    assert [problem.split(":")[0] for problem in problems] == ["README.md", "README.md", "build.json", "more.txt"]
    assert "versions there: v1.0.0" in client.verify(hub, "acme/v", "3.0.0")["error"]
    assert "is not there" in client.verify(hub, "acme/nothing", "1.0.0")["error"]


def test_the_token_is_nowhere(hub: Loophub, client: Client, release_1: Path, tmp_path: Path) -> None:
    """Neither in output, nor in files, nor on another host; only where `hf auth login` put it."""
    client.publish(hub, release_1, "acme/t", progress=True).get()
    client.publish(hub, release_1, "acme/t2", token=TOKEN).get()
    client.publish(hub, release_1, "guests/t").get()
    client.start(
        "publish", release=str(release_1), repo="acme/t", endpoint="http://127.0.0.1:9", patience={"attempts": 1}
    ).get()
    client.close()
    told = repr([call.result.result() for call in client.calls.values()])
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != client.home / "token"]
    assert client.errors in files
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]
    assert TOKEN not in told
