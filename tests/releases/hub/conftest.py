"""Fixtures for the Hub's tests, and the table of faults at the end of the output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import ACCOUNTS, Client
from loophub import Loophub
from tiny import make_release

TABLE: list[tuple[str, str, str]] = []
"""What was seen: fault, after the run that met it, after the next run."""


@pytest.fixture(scope="session")
def release_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1.0.0: two configs, three splits, a picture."""
    return make_release(tmp_path_factory.mktemp("release") / "1")


@pytest.fixture(scope="session")
def release_2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1.1.0: more readings in the same shards."""
    return make_release(tmp_path_factory.mktemp("release") / "2", "1.1.0", count=50)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Loophub]:
    """A Hub with plain LFS."""
    with Loophub(tmp_path / "hub", ACCOUNTS) as running:
        yield running


@pytest.fixture
def client(tmp_path: Path, hub: Loophub) -> Iterator[Client]:
    """A client process that is logged in and knows the Hub."""
    process = Client(tmp_path / "home", hub.endpoint)
    yield process
    process.close()


@pytest.fixture(scope="session")
def seen_table() -> list[tuple[str, str, str]]:
    """Lines for the table at the end."""
    return TABLE


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table."""
    if not TABLE:
        return
    terminalreporter.section("faults between here and the Hub, and what was seen")
    terminalreporter.write_line(f"{'fault':58} {'that run':42} next run")
    for fault, first, second in sorted(TABLE):
        terminalreporter.write_line(f"{fault:58} {first:42} {second}")
