"""Sources in repositories and buckets of a Hub, and builds that go to its buckets, with the real client."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from loophub import Loophub, Repo
from loophub.store import Commit, large

pytestmark = pytest.mark.hub

STRANGER = "hf_StrangerTokenOfTheTests0123456789a"


def lay(hub: Loophub, name: str, files: dict[str, bytes], visibility: str = "public") -> Repo:
    """A commit of files; Parquet and sound are large files."""
    repo = hub.store.repos.get(name) or hub.store.create(name, "bot", visibility)
    tree = {}
    for path, content in files.items():
        if path.endswith((".csv", ".flac", ".mp3")):
            sha256 = hashlib.sha256(content).hexdigest()
            hub.store.object(sha256).write_bytes(content)
            tree[path] = large(sha256, len(content))
        else:
            tree[path] = hub.store.keep_blob(content)
    repo.refs["refs/heads/main"] = repo.add(Commit(repo.resolve("main"), tree, "files", "bot"))
    return repo


def files_of(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def pin(folder: Path, url: str, content: bytes) -> None:
    (folder / "sources.toml").write_text(
        f'[a]\nurl = "{url}"\nsha256 = "{hashlib.sha256(content).hexdigest()}"\nsize = {len(content)}\n'
        'licence = "CC0-1.0"\nredistribute = true\naccessed = "2026-11-30"\ncitation = "A. Author"\n'
    )


@pytest.fixture
def content(lines_of) -> bytes:
    return lines_of("a", 500).encode()


@pytest.fixture
def build(tiny, tmp_path):
    """A build of the small dataset from its pinned source: the error, or nothing."""

    def run(out: str = "far") -> str:
        _, error = tiny.process(tmp_path / out, "progress=False").communicate()
        return error.strip()

    return run


def rows(digests: dict[str, str]) -> dict[str, str]:
    """Without build.json, which names the source's address."""
    return {name: digest for name, digest in digests.items() if name != "build.json"}


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_a_source_of_a_repository_is_pinned_by_its_checksum(hub, tiny, tmp_path, content, build, digests, name):
    tiny.write(a=content)
    assert build("near") == ""
    repo = lay(hub, "acme/readings", {f"x/{name}": content})
    first = repo.resolve("main")
    pin(tiny.folder, f"hf://datasets/acme/readings/x/{name}", content)
    lay(hub, "acme/readings", {f"x/{name}": content + b"more\n"})
    assert f"hf://datasets/acme/readings/x/{name} is longer than the pinned {len(content)} bytes" in build()
    lay(hub, "acme/readings", {f"x/{name}": content[:-2] + b"9\n"})
    assert f"sources.toml says {hashlib.sha256(content).hexdigest()}" in build()
    pin(tiny.folder, f"hf://datasets/acme/readings@{first}/x/{name}", content)
    assert build() == ""
    assert rows(digests(tmp_path / "far")) == rows(digests(tmp_path / "near"))


def test_a_mirror_in_a_private_repository(hub, tiny, tmp_path, content, build, digests, monkeypatch):
    tiny.write(a=content)
    assert build("near") == ""
    pin(tiny.folder, "https://example.org/x/a.csv", content)
    monkeypatch.setenv("GOLDSMITH_MIRRORS", "hf://datasets/acme/mirror")
    assert build().startswith("ERROR [hf://datasets/acme/mirror] holds nothing")
    lay(hub, "acme/mirror", {"example.org/x/a.csv": content}, "private")
    with monkeypatch.context() as patch:
        patch.setenv("HF_TOKEN", STRANGER)
        assert build().startswith("ERROR [hf://datasets/acme/mirror] holds nothing")
    assert build() == ""
    assert rows(digests(tmp_path / "far")) == rows(digests(tmp_path / "near"))


def test_a_repository_that_may_not_be_seen_is_named(hub, tiny, content, build, monkeypatch):
    pin(tiny.folder, "hf://datasets/acme/secret/a.csv", content)
    lay(hub, "acme/secret", {"a.csv": content}, "private")
    monkeypatch.setenv("HF_TOKEN", STRANGER)
    error = build()
    assert error.startswith("ERROR [a] is no longer at hf://datasets/acme/secret/a.csv (")
    assert "token has the required permissions" in error
    assert len(error.splitlines()) == 1


def test_a_gated_repository_is_named(hub, tiny, content, build, monkeypatch):
    pin(tiny.folder, "hf://datasets/acme/gated/a.csv", content)
    lay(hub, "acme/gated", {"a.csv": content}).gated = "manual"
    monkeypatch.setenv("HF_TOKEN", STRANGER)
    error = build()
    assert "hf://datasets/acme/gated/a.csv" in error
    assert "Access to dataset acme/gated is restricted" in error
    assert len(error.splitlines()) == 1


def test_from_a_repository_to_a_bucket_gives_the_bytes_of_a_local_build(hub, goldsmith, vaani, sample, local):
    lay(hub, "acme/corpus", files_of(sample))
    hub.store.buckets["acme/work"] = {}
    call = [*vaani("hf://datasets/acme/corpus"), "-o", "hf://buckets/acme/work/vaani"]
    for sent in (len(local), 1):
        code, out, error = goldsmith(*call)
        assert code == 0, error
        assert f"hf://buckets/acme/work/vaani: {sent} files sent" in out
        assert bucket_sums(hub, "acme/work", "vaani") == local


def bucket_sums(hub: Loophub, bucket: str, prefix: str) -> dict[str, str]:
    """The sha256 of each file below a prefix, as a reader would get it."""
    assert hub.xet is not None
    sums = {}
    for path, xet_hash in sorted(hub.store.buckets[bucket].items()):
        found = hub.xet.find(xet_hash)
        assert found is not None
        restored = hub.xet.restore(found, hub.store.parts / f"{xet_hash}.seen")
        sums[path.removeprefix(f"{prefix}/")] = hashlib.sha256(restored.read_bytes()).hexdigest()
    return sums


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("hf://buckets/acme/none/vaani", "acme/none/vaani/.goldsmith-copy. Make sure the repository"),
        ("hf://datasets/acme/vaani", "only checked releases belong"),
    ],
)
def test_the_command_ends_with_2_before_it_builds(hub, goldsmith, tmp_path, place, said):
    code, out, error = goldsmith("build", "vaani", "--sample", "-o", place)
    assert (code, out) == (2, "")
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()
