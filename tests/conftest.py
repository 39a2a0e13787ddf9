"""What all tests share: where the real data are, and the repository for processes that tests start."""

from __future__ import annotations

import schemas  # noqa: F401 (it tells NumPy which instructions to use, before a test loads it)

# isort: split
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

# A shell's background job ignores Ctrl-C, and so would the processes that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# In CI the same examples each time: a run there says what changed, and new examples are drawn in every other run.
hypothesis.settings.register_profile("ci", derandomize=True, print_blob=True)

ROOT = Path(__file__).resolve().parent.parent


def shared_file(name: str) -> Path:
    """A file or folder of the shared data (`GOLDSMITH_SHARED`, default `../shared`); where absent, skips the test."""
    shared = Path(os.environ.get("GOLDSMITH_SHARED") or ROOT.parent / "shared")
    path = shared / name
    if not path.exists():
        pytest.skip(f"shared data are absent: {name}")
    return path


@pytest.fixture(name="shared_file", scope="session")
def shared_file_fixture():
    """The function `shared_file`, for tests that cannot import this file."""
    return shared_file


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Callable[[int], Path]]:
    """A file system of a number of bytes; skips where it may not be mounted."""
    mounted: list[Path] = []

    def mount(size: int) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("there is no mount command here")
        if done.returncode:
            pytest.skip(f"a tmpfs may not be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
