"""What all tests share: where the real data are, and the repository for processes that tests start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_file(name: str) -> Path:
    """A file or folder of the shared data (`GOLDSMITH_SHARED`, default `../shared`); where absent, skips the test."""
    shared = Path(os.environ.get("GOLDSMITH_SHARED") or ROOT.parent / "shared")
    path = shared / name
    if not path.exists():
        pytest.skip(f"shared data are absent: {name}")
    return path


@pytest.fixture(name="shared_file")
def shared_file_fixture():
    """The function `shared_file`, for tests that cannot import this file."""
    return shared_file
