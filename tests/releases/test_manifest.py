"""The manifest and the lock: written, read back, and held against the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from releases import Manifest, read_lock, read_manifest, release, verify_files
from schemas import DatasetFolder, GoldsmithError


@pytest.fixture
def out(tmp_path: Path, ready: DatasetFolder) -> Path:
    release(ready, "1.0.0", tmp_path / "out")
    return tmp_path / "out"


def test_what_is_written_is_read_back(out: Path) -> None:
    form = json.loads((out / "manifest.json").read_text())
    manifest = read_manifest(out)
    assert Manifest.from_json(form) == manifest
    assert json.loads(json.dumps(manifest.to_json())) == form
    lock = read_lock(out)
    assert json.loads(json.dumps(lock.to_json())) == json.loads((out / "goldsmith.lock").read_text())
    assert lock.digests == {name: table.digest for name, table in manifest.tables.items()}


def test_a_whole_release_has_no_problem(out: Path) -> None:
    assert verify_files(out) == []


def test_each_problem_is_named(out: Path) -> None:
    (out / "README.md").write_text("other")
    (out / "DATASHEET.md").unlink()
    (out / "notes.txt").write_text("mine")
    problems = verify_files(out)
    assert [problem.split(",")[0] for problem in problems] == [
        "DATASHEET.md: missing",
        "README.md: changed",
        "notes.txt: extra",
    ]


def test_no_release(tmp_path: Path, ready: DatasetFolder) -> None:
    with pytest.raises(GoldsmithError, match="is no release"):
        verify_files(ready.path)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a//b", "a\\..\\b", "./a"])
def test_a_path_out_of_the_release_is_refused(out: Path, path: str) -> None:
    form = json.loads((out / "manifest.json").read_text())
    form["files"][0]["path"] = path
    (out / "manifest.json").write_text(json.dumps(form))
    with pytest.raises(GoldsmithError, match="leads out of the release"):
        read_manifest(out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "has a format"),
        ('{"format": 9}', "has a format"),
        ('{"format": 1}', "is no manifest"),
    ],
)
def test_a_manifest_that_is_none(out: Path, content: str, message: str) -> None:
    (out / "manifest.json").write_text(content)
    with pytest.raises(GoldsmithError, match=message):
        read_manifest(out)
