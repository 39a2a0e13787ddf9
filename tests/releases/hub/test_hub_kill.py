"""`kill -9` between any two requests: a reader sees all or nothing, and the next run finishes.

The Hub kills the publishing process, and its upload process with it, when it has received a request and before it does
anything (`before`). To be killed when it is done but not answered (`after`) leaves what the next `before` leaves, so
that is tried for the last request alone.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from driver import ACCOUNTS, Call, Client, holds, lay, published, seen
from loophub import CutError, Loophub
from loophub.server import Record
from tiny import make_release

REPO = "acme/gauges"


class Killer:
    """Watches a Hub; kills the client's process group at one request."""

    def __init__(self, number: int, when: str) -> None:
        self.number, self.when = number, when
        self.call: Call | None = None
        self.called, self.done = threading.Event(), threading.Event()

    def __call__(self, number: int, when: str) -> None:
        if self.done.is_set():
            raise CutError  # what the dead process had under way
        if (number, when) == (self.number, self.when):
            self.done.set()
            self.called.wait(20)
            assert self.call is not None
            os.killpg(self.call.pid.result(20), signal.SIGKILL)
            raise CutError

    def watch(self, call: Call) -> Call:
        """Kill this one."""
        self.call = call
        self.called.set()
        return call


@pytest.fixture(scope="module")
def forker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    client = Client(tmp_path_factory.mktemp("kill") / "home", fork=True)
    yield client
    client.close()


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("kill")
    first = make_release(folder / "1", "1.0.0", small=True)
    return first, make_release(folder / "2", "1.1.0", small=True, count=60)


def run(client: Client, folder: Path, versions: tuple[Path, Path], new: bool, number: int, when: str) -> str:
    """Publish, killed at one request, then again; what was seen after the kill."""
    old, release = versions
    tag = "v1.0.0" if new else "v1.1.0"
    release = old if new else release
    with Loophub(folder, ACCOUNTS) as hub:
        if not new:
            lay(hub, REPO, old, "v1.0.0")
        before = seen(hub, REPO)
        hub.watcher = killer = Killer(number, when)
        first = killer.watch(client.publish(hub, release, REPO, progress=False)).get()
        assert first == {"killed": signal.SIGKILL}, first
        now = seen(hub, REPO)
        state = "nothing visible changed" if now == before else "BETWEEN"
        if now != before and holds(hub, REPO, "main", release):
            tagged = f"refs/tags/{tag}" in now["tags"]
            state = "tagged, not finished" if tagged else "whole on main, tag to come"
            state = "published and verified" if published(hub, REPO, release, tag) else state
        hub.watcher = lambda _number, _when: None
        again = client.publish(hub, release, REPO, progress=False).get()
        assert again.get("status") in ("published", "already published"), again
        assert published(hub, REPO, release, tag), again
        titles = hub.store.repos[REPO].titles()
        assert len(titles) == len(set(titles)), "a commit was repeated"
        return state


def requests_of(client: Client, folder: Path, versions: tuple[Path, Path], new: bool) -> list[Record]:
    """The requests of a publication that nothing disturbs."""
    with Loophub(folder, ACCOUNTS) as hub:
        if not new:
            lay(hub, REPO, versions[0], "v1.0.0")
        answer = client.publish(hub, versions[0 if new else 1], REPO, progress=False).get()
        assert answer["status"] == "published", answer
        return list(hub.log)


@pytest.mark.parametrize("new", [False, True], ids=["second version", "new repository"])
def test_kill_between_any_two_requests(
    new: bool,
    forker: Client,
    versions: tuple[Path, Path],
    tmp_path: Path,
    seen_table: list[tuple[str, str, str]],
) -> None:
    log = requests_of(forker, tmp_path / "clean", versions, new)
    cells = [(number, "before") for number in range(1, len(log))]
    cells.append((len(log) - 1, "after"))
    if new:  # only around what a second version does not do
        special = [n for n, record in enumerate(log) if record.path.endswith(("/repos/create", "/settings"))]
        cells = [(n, when) for n, when in cells if n in special or n - 1 in special]
    with ThreadPoolExecutor(4) as pool:
        states = pool.map(lambda cell: run(forker, tmp_path / f"{cell[0]}{cell[1]}", versions, new, *cell), cells)
        counted = Counter(states)
    assert "BETWEEN" not in counted
    for state, count in counted.items():
        seen_table.append(
            (f"kill -9, {'new, ' if new else ''}{count} of {len(cells)} places", state, "published and verified")
        )
    if not new:
        assert len(cells) > 25
        assert counted["nothing visible changed"] > counted["whole on main, tag to come"] > 0


def test_upload_process_is_killed(forker: Client, versions: tuple[Path, Path], tmp_path: Path) -> None:
    """The publication goes on with another upload process."""
    with Loophub(tmp_path / "hub", ACCOUNTS) as hub:
        killed: list[int] = []

        def watch(number: int, when: str) -> None:
            if (
                when == "before"
                and "/_store/" in hub.log[number].path
                and hub.log[number].method == "PUT"
                and not killed
            ):
                killed.extend(children(call.pid.result(20)))
                os.kill(killed[0], signal.SIGKILL)
                raise CutError

        hub.watcher = watch
        call = forker.publish(hub, versions[0], REPO, progress=False)
        assert call.get()["status"] == "published"
        assert len(killed) == 1
        assert published(hub, REPO, versions[0], "v1.0.0")


def test_upload_process_ends_with_its_parent(forker: Client, versions: tuple[Path, Path], tmp_path: Path) -> None:
    """Or it would go on changing the Hub after the publication was stopped."""
    with Loophub(tmp_path / "hub", ACCOUNTS) as hub:
        workers: list[int] = []

        def watch(number: int, when: str) -> None:
            if when == "before" and "preupload" in hub.log[number].path:
                workers.extend(children(call.pid.result(20)))
                os.kill(call.pid.result(), signal.SIGKILL)
                raise CutError

        hub.watcher = watch
        call = forker.publish(hub, versions[0], REPO, progress=False)
        assert "killed" in call.get()
        assert len(workers) == 1
        for _ in range(100):
            if not alive(workers[0]):
                break
            threading.Event().wait(0.1)
        assert not alive(workers[0])


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for its new parent to notice."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def children(pid: int) -> list[int]:
    """The processes that `pid` started."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    if not found.exists():
        pytest.skip("this system does not tell which process started which")
    return [int(number) for number in found.read_text().split()]
