"""The dataset of `audit_people` as a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from audit_people import DATASET, content

from schemas import DatasetFolder


@pytest.fixture
def write_judged(folder: Callable[..., DatasetFolder]) -> Callable[[Mapping[str, list[dict[str, Any]]]], DatasetFolder]:
    """A function that writes a dataset folder of rows by table."""
    return lambda rows: folder(DATASET, {table: {"train": lines} for table, lines in rows.items()})


@pytest.fixture
def judged(write_judged: Callable[..., DatasetFolder]) -> DatasetFolder:
    """40 rows of each table."""
    return write_judged(content(40))
