"""Temporary folders: where they are, that a signal leaves none, and that those of killed processes are swept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from schemas import rooms
from schemas.rooms import Room
from schemas.stop import stoppable


@pytest.mark.parametrize("beside", [True, False])
def test_a_signal_while_a_room_is_removed_leaves_nothing(tmp_path, monkeypatch, beside):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    room = Room("esbmc", tmp_path if beside else None)
    assert Path(room.name).name.startswith(f"{'.' if beside else 'goldsmith-'}esbmc-{os.getpid()}-")
    (Path(room.name) / "program.c").write_text("int main(void) { return 0; }")
    unlink = os.unlink

    def told(*arguments, **named):
        signal.raise_signal(signal.SIGTERM)
        return unlink(*arguments, **named)

    monkeypatch.setattr(os, "unlink", told)
    with pytest.raises(SystemExit), stoppable(signal.SIGTERM):
        room.cleanup()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("prefix", ["goldsmith-esbmc-", ".check-"])
def test_folders_of_a_process_that_was_killed_are_cleared_away(tmp_path, prefix):
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    old, young = (tmp_path / f"{prefix}{done.pid}-{name}" for name in ("old", "young"))
    mine = tmp_path / f"{prefix}{os.getpid()}-mine"
    other = tmp_path / "goldsmith-report"
    for folder in (old, young, mine, other):
        folder.mkdir()
    for folder in (old, mine, other):
        os.utime(folder, (0, 0))
    rooms._sweep(tmp_path, prefix)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in (young, mine, other))
