"""Xet whose store is away, hangs or is refused: it ends in time, in one line, and plain LFS is the way out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import ACCOUNTS, QUICK, Client, lay, published, seen
from loophub import Fault, Loophub
from loophub.faults import FOREVER
from tiny import make_release

REPO = "acme/gauges"
IMPATIENT = {**QUICK, "attempts": 1, "silence": 10.0}


@pytest.fixture
def xethub(tmp_path: Path) -> Iterator[Loophub]:
    with Loophub(tmp_path / "xethub", ACCOUNTS, xet=True) as hub:
        yield hub


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, Path]:
    old = make_release(tmp_path / "old", small=True)
    return old, make_release(tmp_path / "new", "1.1.0", small=True, count=60)


def check_then_use_lfs(
    hub: Loophub, client: Client, versions: tuple[Path, Path], words: str, table: list[tuple[str, str, str]], name: str
) -> None:
    """Publish by Xet, which fails and changes nothing; then by LFS."""
    lay(hub, REPO, versions[0], "v1.0.0")
    before = seen(hub, REPO)
    error = client.publish(hub, versions[1], REPO, patience=IMPATIENT).get()["error"]
    assert words in error, error
    assert "--no-xet" in error
    assert "\n" not in error
    assert seen(hub, REPO) == before
    assert client.publish(hub, versions[1], REPO, xet=False).get()["status"] == "published"
    assert published(hub, REPO, versions[1], "v1.1.0")
    table.append((name, "nothing visible changed", "published and verified, by --no-xet"))


def test_store_is_away(
    xethub: Loophub, client: Client, versions: tuple[Path, Path], seen_table: list[tuple[str, str, str]]
) -> None:
    assert xethub.xet is not None
    xethub.xet.url = "http://127.0.0.1:9"
    check_then_use_lfs(xethub, client, versions, "upload", seen_table, "Xet store is away")


def test_store_hangs(
    xethub: Loophub, client: Client, versions: tuple[Path, Path], seen_table: list[tuple[str, str, str]]
) -> None:
    """It takes the connection and says nothing."""
    assert xethub.xet is not None
    with socket.create_server(("127.0.0.1", 0)) as silent:
        xethub.xet.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        check_then_use_lfs(xethub, client, versions, "moved nothing for 10 seconds", seen_table, "Xet store hangs")


def test_token_is_refused(
    xethub: Loophub, client: Client, versions: tuple[Path, Path], seen_table: list[tuple[str, str, str]]
) -> None:
    xethub.faults.set(Fault("GET", r"/xet-write-token/", status=500, times=FOREVER))
    check_then_use_lfs(xethub, client, versions, "upload", seen_table, "Xet token 500 for ever")
