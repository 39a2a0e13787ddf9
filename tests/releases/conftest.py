"""Fixtures for the tests of releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from release_folders import write_ready

from schemas import DatasetFolder


@pytest.fixture
def ready(tmp_path: Path) -> DatasetFolder:
    """A clean, checked, documented folder."""
    return write_ready(tmp_path / "scans")
