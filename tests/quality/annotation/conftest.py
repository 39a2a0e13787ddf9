"""The dataset of `audit_people` as a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from audit_people import DATASET, content

from schemas import DatasetFolder


@pytest.fixture(autouse=True)
def gamma_only_where_it_is_tested(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library takes half a minute to load: other tests run as without the extra."""
    if not request.node.get_closest_marker("gamma"):
        monkeypatch.setattr("quality.annotation.gamma.installed", lambda: False)


@pytest.fixture
def write_judged(folder: Callable[..., DatasetFolder]) -> Callable[[Mapping[str, list[dict[str, Any]]]], DatasetFolder]:
    """A function that writes a dataset folder of rows by table."""
    return lambda rows: folder(DATASET, {table: {"train": lines} for table, lines in rows.items()})


@pytest.fixture
def judged(write_judged: Callable[..., DatasetFolder]) -> DatasetFolder:
    """40 rows of each table."""
    return write_judged(content(40))
