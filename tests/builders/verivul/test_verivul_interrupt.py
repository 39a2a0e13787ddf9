"""A build that is stopped leaves no process and no temporary folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def _wait(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def _processes_in(folder: Path) -> list[str]:
    """Command lines of the processes that work somewhere under a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink().is_relative_to(folder):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGTERM, 2), (signal.SIGKILL, 2)]
)
def test_a_stopped_build_leaves_nothing(tmp_path, number, workers):
    room = tmp_path / "temporary"
    room.mkdir()
    command = [sys.executable, "-m", "goldsmith", "build", "verivul", "--sample", "--workers", str(workers), "-o",
               str(tmp_path / "out")]  # fmt: skip
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(room)}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as build:  # fmt: skip
        # On a program, in a worker: a driver killed while it asks ESBMC its version leaves a folder, to be swept later.
        _wait(lambda: any(" program." in one for one in _processes_in(room)) or build.poll() is not None)
        assert build.poll() is None, "it ended by itself"
        build.send_signal(number)
        assert build.wait(30) != 0
    _wait(lambda: not _processes_in(room), 20)
    _wait(lambda: not list(room.glob("goldsmith-*")), 20)
