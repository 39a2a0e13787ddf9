"""Fixtures for the tests of checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from quality_folders import Rows, write_folder

from schemas import Dataset, DatasetFolder


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., DatasetFolder]:
    """A function that writes a dataset folder of its own each time it is called; see `write_folder`."""
    count = iter(range(1000))

    def make(dataset: Dataset, rows: Mapping[str, Mapping[str, Rows]], **keywords: Any) -> DatasetFolder:
        path = tmp_path / f"it's a dataset {next(count)}"
        path.mkdir()
        return write_folder(path, dataset, rows, **keywords)

    return make
