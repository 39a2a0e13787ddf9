"""Checksums, and files that are whole or not there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from schemas.files import replace_json, replace_text, replacing, sha256_file, sync


def test_the_sha256_of_a_file(tmp_path: Path) -> None:
    for data in (b"", b"abc", os.urandom(3_000_000)):
        (tmp_path / "x").write_bytes(data)
        assert sha256_file(tmp_path / "x") == hashlib.sha256(data).hexdigest()


def test_a_file_is_replaced_as_it_is_given(tmp_path: Path) -> None:
    for text in ("old\r\n", "new é\n"):
        replace_text(tmp_path / "x", text)
        assert (tmp_path / "x").read_bytes() == text.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_json_is_written_in_order(tmp_path: Path) -> None:
    replace_json(tmp_path / "x", {"b": 1, "a": "é"})
    assert (tmp_path / "x").read_text(encoding="utf-8") == '{\n "a": "é",\n "b": 1\n}\n'


def test_what_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_text(tmp_path / "x", "old")
    with pytest.raises(TypeError, match="not JSON serializable"):
        replace_json(tmp_path / "x", {"a": object()})
    with pytest.raises(UnicodeEncodeError):
        replace_text(tmp_path / "x", "\ud800")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_text(tmp_path / "x", "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "old"}


def test_files_and_folders_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    (tmp_path / "x").touch()
    for path in (tmp_path / "x", tmp_path):
        sync(path)
    assert synced == [(tmp_path / "x").stat().st_ino, tmp_path.stat().st_ino]
    assert not any(os.path.samestat(os.fstat(fd), tmp_path.stat()) for fd in _open())


def _open() -> list[int]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            os.fstat(int(entry.name))
        except OSError:
            continue
        found.append(int(entry.name))
    return found


def test_what_fails_half_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        fail()
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.txt", "old")]
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.txt", "new")]
