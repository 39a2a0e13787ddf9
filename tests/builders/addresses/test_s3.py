"""Sources and outputs in buckets of a server that speaks S3 and checks who asks."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys

import pytest
from s3_server import ROOT

from builders.copy_out import copy_out, refuse_address
from builders.sources import Sources
from schemas import GoldsmithError

pytestmark = pytest.mark.s3


@pytest.fixture
def bucket(s3, request) -> str:
    """An empty bucket."""
    name = "b-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    s3.client.create_bucket(Bucket=name)
    return name


def sums(objects: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(objects.items())}


def test_from_a_bucket_to_a_bucket_gives_the_bytes_of_a_local_build(s3, bucket, goldsmith, vaani, sample, local):
    s3.put(sample, bucket, "corpus")
    call = [*vaani(f"s3://{bucket}/corpus"), "-o", f"s3://{bucket}/vaani"]
    for sent in (len(local), 1):
        code, out, error = goldsmith(*call)
        assert code == 0, error
        assert f"s3://{bucket}/vaani: {sent} files sent" in out
        assert sums(s3.objects(bucket, "vaani")) == local


@pytest.mark.real
def test_virogym_from_a_mirror_in_a_bucket(s3, bucket, goldsmith, shared_file, tmp_path, digests, monkeypatch):
    mirror = shared_file("mirror")
    s3.put(mirror, bucket, "mirror")
    code, _, error = goldsmith("build", "virogym", "--mirror", str(mirror), "-o", str(tmp_path / "local"))
    assert code == 0, error
    monkeypatch.setenv("GOLDSMITH_CACHE", str(tmp_path / "empty cache"))
    code, _, error = goldsmith("build", "virogym", "--mirror", f"s3://{bucket}/mirror", "-o", f"s3://{bucket}/virogym")
    assert code == 0, error
    assert sums(s3.objects(bucket, "virogym")) == digests(tmp_path / "local")


HELD_UP = """
import sys, time
from pathlib import Path
from s3fs import S3FileSystem
from builders.copy_out import copy_out

real, sent = S3FileSystem.put_file, []

def put_file(*arguments):
    if len(sent) == 4:
        Path("four").touch()
        time.sleep(600)
    sent.append(arguments)
    real(*arguments)

S3FileSystem.put_file = put_file
copy_out(Path(sys.argv[1]), sys.argv[2])
"""


def test_a_copy_that_is_killed_leaves_no_dataset_and_the_next_one_makes_it_whole(
    s3, bucket, tiny, tmp_path, digests, wait_for
):
    tiny.build(tmp_path / "out")
    address = f"s3://{bucket}/tinyset"
    process = subprocess.Popen(
        [sys.executable, "-c", HELD_UP, str(tmp_path / "out"), address],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    wait_for((tmp_path / "four").exists)
    process.kill()
    process.wait()
    left = s3.objects(bucket, "tinyset")
    assert len(left) == 5
    assert ".goldsmith-copy" in left
    assert "build.json" not in left
    refuse_address(address, "tinyset")
    copy_out(tmp_path / "out", address)
    assert sums(s3.objects(bucket, "tinyset")) == digests(tmp_path / "out")


@pytest.fixture
def pinned(tmp_path, lines_of):
    """A folder whose `sources.toml` pins a source at an address; returns it and the content."""

    def pin(url: str):
        content = lines_of("a", 12).encode()
        folder = tmp_path / "pinned"
        folder.mkdir()
        (folder / "sources.toml").write_text(
            f'[a]\nurl = "{url}"\nsha256 = "{hashlib.sha256(content).hexdigest()}"\nsize = {len(content)}\n'
            'licence = "MIT"\nredistribute = true\naccessed = "2026-11-30"\ncitation = "A. Author"\n'
        )
        return folder, content

    return pin


@pytest.mark.parametrize("by", ["url", "mirror"])
def test_a_pinned_source_of_a_bucket_is_checked_and_kept(s3, bucket, pinned, by):
    url, mirrors = f"s3://{bucket}/x/a.csv", []
    key = "x/a.csv"
    if by == "mirror":
        url, mirrors, key = "https://example.org/x/a.csv", [f"s3://{bucket}/mirror"], "mirror/example.org/x/a.csv"
    folder, content = pinned(url)
    s3.client.put_object(Bucket=bucket, Key=key, Body=content[:-1] + b"!")
    with pytest.raises(GoldsmithError, match=rf"s3://{bucket}/{key} has sha256 \w+ .* says {sha(content)}"):
        Sources.load(folder, mirrors=mirrors).resolve("a")
    s3.client.put_object(Bucket=bucket, Key=key, Body=content)
    assert Sources.load(folder, mirrors=mirrors).bytes("a") == content
    s3.client.delete_object(Bucket=bucket, Key=key)
    assert Sources.load(folder, mirrors=mirrors).bytes("a") == content


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def use(pinned, tiny, tmp_path):
    """Use an address in one of the ways there are."""

    def copy(address: str) -> None:
        tiny.build(tmp_path / "out")
        copy_out(tmp_path / "out", address)

    def mirror(address: str) -> None:
        Sources.load(pinned("https://example.org/a.csv")[0], mirrors=[address], offline=True).resolve("a")

    ways = {
        "output": lambda address: refuse_address(address, "tinyset"),
        "copy": copy,
        "source": lambda address: tiny.sources(overrides={"a": f"{address}/a.csv"}).resolve("a"),
        "mirror": mirror,
        "url": lambda address: Sources.load(pinned(f"{address}/a.csv")[0]).resolve("a"),
    }
    return lambda way, address: ways[way](address)


@pytest.mark.parametrize("way", ["output", "copy", "source", "mirror", "url"])
@pytest.mark.parametrize("wrong", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_who_may_not_is_told_so(s3, bucket, use, monkeypatch, wrong, way):
    address = f"s3://{bucket}/x"
    s3.client.put_object(Bucket=bucket, Key="x/a.csv", Body=b"a")
    monkeypatch.setenv(wrong, "somebody else's")
    with pytest.raises(GoldsmithError, match=r"check .*your credentials and your rights there") as caught:
        use(way, address)
    assert re.search("Forbidden|Access Key Id you provided does not exist|signature", str(caught.value))
    assert address in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", ["output", "copy", "source", "mirror", "url"])
def test_a_bucket_that_is_not_there_is_named_and_not_made(s3, use, way):
    with pytest.raises(GoldsmithError, match=r"does not exist|holds nothing|is no longer at") as caught:
        use(way, "s3://no-such-bucket/x")
    assert "s3://no-such-bucket/x" in str(caught.value)
    assert "no-such-bucket" not in {found["Name"] for found in s3.client.list_buckets()["Buckets"]}


def test_a_server_that_is_not_there_is_named(s3, bucket, use, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(GoldsmithError, match=f"s3://{bucket}/x.*Could not connect to the endpoint URL"):
        use("output", f"s3://{bucket}/x")


def test_the_command_ends_with_2_before_it_builds(s3, goldsmith, tmp_path):
    code, out, error = goldsmith("build", "vaani", "--sample", "-o", "s3://no-such-bucket/vaani")
    assert (code, out) == (2, "")
    assert error.startswith(
        "goldsmith: [s3://no-such-bucket/vaani] cannot be used (The specified bucket does not exist)"
    )
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()
