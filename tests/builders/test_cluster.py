"""The distributed engine on a real cluster of two nodes of this machine, each with its own processes and address."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent

TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
"""Nodes and drivers of a cluster know each other by a token, which Ray would else make up in the user's folder."""

pytestmark = pytest.mark.ray


class Cluster:
    """Ray nodes on loopback addresses; the first is the head, where the driver works.

    `127.0.0.1` will not do: Ray takes it for the machine's own address.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ray-"))  # Sockets lie in it: pytest's own paths are too long.
        self.environment = {
            **plain(),
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE), str(HERE / "datasets")]),
            "RAY_health_check_period_ms": "1000",
            "RAY_USAGE_STATS_ENABLED": "0",
            **TOKEN,
        }
        self.nodes: list[subprocess.Popen[bytes]] = []
        with socket.create_server(("127.0.0.2", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"127.0.0.2:{self.port}"

    def start(self) -> None:
        """One more node of one CPU."""
        which = f"127.0.0.{len(self.nodes) + 2}"
        role = ["--address", self.address]
        if not self.nodes:
            role = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        command = [str(Path(sys.executable).parent / "ray"), "start", f"--node-ip-address={which}", *role]
        command += ["--num-cpus=1", "--object-store-memory=104857600", "--disable-usage-stats", "--block"]
        with open(self.folder / f"node-{len(self.nodes)}.log", "wb") as log:
            self.nodes.append(
                subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
            )

    def wait(self) -> None:
        """Until all nodes are up."""
        status = [str(Path(sys.executable).parent / "ray"), "status", "--address", self.address]
        for _ in range(60):
            said = subprocess.run(status, env=self.environment, capture_output=True, text=True).stdout
            if f"/{len(self.nodes)}.0 CPU" in said:
                return
            time.sleep(1)
        logs = [path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("node-*.log"))]
        raise AssertionError(f"the nodes did not come up: {said} {logs}")

    def kill(self, node: int) -> None:
        """All processes of a node, as when its power fails."""
        self.signal(node, signal.SIGKILL)

    def kill_within_a_shard(self, node: int, folder: Path, going_on: Callable[[], bool]) -> bool:
        """Kill a node while it has a shard half done in `folder`; False where the work ended before."""
        while going_on():
            if works_on(self.nodes[node].pid, folder):
                self.signal(node, signal.SIGSTOP)  # It may have ended the shard since.
                if works_on(self.nodes[node].pid, folder):
                    self.kill(node)
                    return True
                self.signal(node, signal.SIGCONT)
        return False

    def signal(self, node: int, number: signal.Signals) -> None:
        for pid in processes(self.nodes[node].pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self) -> None:
        for node in range(len(self.nodes)):
            self.kill(node)
            self.nodes[node].wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def plain() -> dict[str, str]:
    """The environment of a user's shell: without what the project sets for itself in this process."""
    return {name: value for name, value in os.environ.items() if name != "NPY_DISABLE_CPU_FEATURES"}


def processes(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            found += [int(child) for child in _read(task).split()]
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def works_on(pid: int, folder: Path) -> bool:
    """Whether a process of a node has a file open in an unfinished shard."""
    for process in processes(pid):
        for handle in Path(f"/proc/{process}/fd").glob("*"):
            try:
                target = handle.readlink()
            except OSError:
                continue
            if str(target).startswith(f"{folder}/."):
                return True
    return False


@pytest.fixture
def cluster() -> Iterator[Callable[..., Cluster]]:
    """Start a cluster of two nodes, with further environment variables."""
    pytest.importorskip("ray", reason="needs Ray: pip install 'goldsmith[ray]'")
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("two nodes on one machine need Linux")
    started: list[Cluster] = []

    def start(**environment: str) -> Cluster:
        made = Cluster()
        started.append(made)
        made.environment.update(environment)
        for _ in range(2):
            made.start()
            time.sleep(3)
        made.wait()
        return made

    yield start
    for made in started:
        made.stop()


def goldsmith(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "goldsmith", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, env={**plain(), **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("dataset", ["virogym", "vaani"])
def test_a_node_that_dies_changes_no_byte(cluster, tmp_path, digests, dataset):
    for workers in ("1", "2"):
        local = goldsmith("build", dataset, "--sample", "-o", str(tmp_path / workers), "--workers", workers)
        assert local.wait() == 0, local.communicate()
    assert digests(tmp_path / "1") == digests(tmp_path / "2")
    nodes = cluster()
    out = tmp_path / "cluster"
    address = ("--engine", "ray", "--address", nodes.address)
    build = goldsmith("build", dataset, "--sample", "-o", str(out), *address, **TOKEN)
    killed = nodes.kill_within_a_shard(1, out / ".build" / "shards", lambda: build.poll() is None)
    _, error = build.communicate()
    assert killed, f"the second node never worked on a shard: {error}"
    assert build.returncode == 0, error
    assert digests(out) == digests(tmp_path / "1")
    assert {path.name for path in (out / ".build").iterdir()} == {"lock", "shards"}
    assert not list((out / ".build" / "shards").glob(".*"))


def test_a_shard_that_kills_its_workers_is_given_up_and_the_rest_kept(cluster, tiny, tmp_path):
    nodes = cluster(TINY_FAULT="b=die")
    out = tmp_path / "out"
    build = tiny.process(out, f"cluster={nodes.address!r}", **TOKEN)
    _, error = build.communicate()
    assert build.returncode == 1
    assert "[b] its worker died 3 times, at last with Ray's WorkerCrashedError" in error
    assert "(1 of 3 shards failed; what is finished is kept)" in error
    result = tiny.build(out)
    assert (result.built, result.kept) == (1, 2)
