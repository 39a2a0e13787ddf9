"""Freezing: whole or not at all, also when it is killed or the disk is full."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from release_folders import check, rows, waivers_file, write_ready, write_report

from releases import RefusedError, read_manifest, release, released, verify_files
from schemas import DatasetFolder, GoldsmithError

ROOT = Path(__file__).resolve().parents[2]


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_release_is_the_folder_with_manifest_and_lock(tmp_path: Path, ready: DatasetFolder) -> None:
    manifest = release(ready, "auto", tmp_path / "out")
    out = tmp_path / "out"
    assert read_manifest(out) == manifest
    assert verify_files(out) == []
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert names == {p.relative_to(ready.path).as_posix() for p in ready.path.rglob("*") if p.is_file()} | {
        "manifest.json",
        "goldsmith.lock",
    }
    assert (manifest.version, manifest.previous, manifest.bump.least) == ("1.0.0", None, "first")
    assert manifest.licences == ("CC-BY-4.0",)
    assert {name: table.rows for name, table in manifest.tables.items()} == {"variants": 8, "assays": 1}


def test_two_releases_of_the_same_are_the_same_bytes(tmp_path: Path, ready: DatasetFolder) -> None:
    for name in ("a", "b"):
        release(ready, "1.0.0", tmp_path / name)
    for name in ("manifest.json", "goldsmith.lock"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        assert str(tmp_path) not in (tmp_path / "a" / name).read_text()


def test_a_later_build_does_not_reach_into_a_release(tmp_path: Path, ready: DatasetFolder) -> None:
    release(ready, "1.0.0", tmp_path / "out")
    for path in ready.path.rglob("*"):
        if path.is_file():
            with open(path, "r+b") as file:
                file.write(b"other")
    assert verify_files(tmp_path / "out") == []


def test_hidden_files_and_an_earlier_manifest_are_no_part(tmp_path: Path, ready: DatasetFolder) -> None:
    (ready.path / ".build").mkdir()
    (ready.path / ".build" / "state").write_text("x")
    (ready.path / "manifest.json").write_text("{}")
    release(ready, "1.0.0", tmp_path / "out")
    assert not (tmp_path / "out" / ".build").exists()
    assert read_manifest(tmp_path / "out").version == "1.0.0"


def test_the_previous_release_is_named(tmp_path: Path, ready: DatasetFolder) -> None:
    release(ready, "1.0.0", tmp_path / "one")
    data = rows()
    data["variants"]["train"].pop()
    second = release(
        write_ready(tmp_path / "later", data), "auto", tmp_path / "two", previous=DatasetFolder(tmp_path / "one")
    )
    assert second.version == "2.0.0"
    assert second.previous is not None
    assert second.previous.version == "1.0.0"
    assert second.bump.reasons == ("rows removed: [variants] 1 row",)


def test_a_refused_release_leaves_nothing(tmp_path: Path, ready: DatasetFolder) -> None:
    write_report(ready, [check("key_unique", "failed", failures=1)])
    (ready.path / "README.md").unlink()
    with pytest.raises(RefusedError) as caught:
        release(ready, "1.0.0", tmp_path / "out")
    assert len(caught.value.refusals) == 2
    assert str(caught.value).startswith("[scans > 1.0.0] is not released: ")
    assert left(tmp_path) == ["scans"]


def test_waivers_are_released_with_the_data(tmp_path: Path, ready: DatasetFolder) -> None:
    write_report(ready, [check("near_duplicates", "failed", failures=1)])
    waivers = waivers_file(tmp_path / "mine.toml", until="2999-01-01")
    manifest = release(ready, "1.0.0", tmp_path / "out", waivers=waivers)
    assert (tmp_path / "out" / "waivers.toml").read_bytes() == waivers.read_bytes()
    assert "waivers.toml" in {file.path for file in manifest.files}
    assert not manifest.checks.passed
    assert [waiver.check for waiver in manifest.checks.waived] == ["near_duplicates"]


def test_the_same_release_again_is_left_as_it_is(tmp_path: Path, ready: DatasetFolder) -> None:
    out = tmp_path / "out"
    first = release(ready, "1.0.0", out)
    before = (out / "manifest.json").stat().st_mtime_ns
    assert released(ready, "1.0.0", out) == first
    assert release(ready, "1.0.0", out) == first
    assert (out / "manifest.json").stat().st_mtime_ns == before


def test_a_place_that_is_taken_is_refused(tmp_path: Path, ready: DatasetFolder) -> None:
    out = tmp_path / "out"
    release(ready, "1.0.0", out)
    (ready.path / "README.md").write_text("other")
    for version in ("1.0.0", "1.0.1"):
        assert released(ready, version, out) is None
        with pytest.raises(GoldsmithError, match="is there already"):
            release(ready, version, out)
    assert verify_files(out) == []
    taken = tmp_path / "notes"
    taken.mkdir()
    with pytest.raises(GoldsmithError, match="is there already"):
        release(ready, "1.0.0", taken)


KILLED = """
import importlib, os, signal, sys
from pathlib import Path
from schemas import DatasetFolder

steps = importlib.import_module("releases.release")

point, folder, out = sys.argv[1:]
def die(*_): os.kill(os.getpid(), signal.SIGKILL)

def after(module, name, times):
    real, left = getattr(module, name), [times]
    def step(*arguments):
        result = real(*arguments)
        left[0] -= 1
        if not left[0]:
            die()
        return result
    setattr(module, name, step)

match point:
    case "first file": after(steps, "copy_file", 1)
    case "half of the files": after(steps, "copy_file", 7)
    case "digests": after(steps, "digest_dataset", 1)
    case "lock": after(steps, "write_file", 1)
    case "manifest": after(steps, "write_file", 2)
    case "before the rename": Path.rename = die
    case "after the rename":
        rename = Path.rename
        Path.rename = lambda *a: (rename(*a), die())
steps.release(DatasetFolder(folder), "1.0.0", Path(out))
"""
"""Kills itself with SIGKILL right after a step of a real release; nothing else is touched."""

POINTS = ["first file", "half of the files", "digests", "lock", "manifest", "before the rename", "after the rename"]


@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_it_leaves_nothing_or_all(tmp_path: Path, ready: DatasetFolder, point: str) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, point, str(ready.path), str(out)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    if point == "after the rename":
        assert verify_files(out) == []
    else:
        assert not out.exists()
        assert len(left(tmp_path)) == 2, "the killed process leaves a hidden folder"
    release(ready, "1.0.0", out)
    assert verify_files(out) == []
    assert left(tmp_path) == ["out", "scans"], "the second run swept it"


def test_two_at_once_do_not_sweep_each_other(tmp_path: Path, ready: DatasetFolder) -> None:
    other = tmp_path / ".out.0.partial"
    other.mkdir()
    handle = os.open(other, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(GoldsmithError, match="is being made by another process"):
        release(ready, "1.0.0", tmp_path / "out")
    assert other.exists()
    os.close(handle)
    release(ready, "1.0.0", tmp_path / "out")
    assert left(tmp_path) == ["out", "scans"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 48 kB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mount.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mount.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_nothing_and_says_so(small_disk: Path, ready: DatasetFolder) -> None:
    with pytest.raises(
        GoldsmithError, match="the disk is full: free some space and run again; nothing was written"
    ) as e:
        release(ready, "1.0.0", small_disk / "out")
    assert "\n" not in str(e.value)
    assert left(small_disk) == []


def test_a_place_that_cannot_be_written(tmp_path: Path, ready: DatasetFolder) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GoldsmithError, match="cannot be made"):
        release(ready, "1.0.0", tmp_path / "file" / "out")


def test_the_fields_of_the_manifest(tmp_path: Path, ready: DatasetFolder) -> None:
    release(ready, "1.0.0", tmp_path / "out")
    form = json.loads((tmp_path / "out" / "manifest.json").read_text())
    names = "bump checks dataset digest dropped files format licences lock_sha256 previous schema tables version"
    assert sorted(form) == names.split()
