"""The distributed engine: the same work on the nodes of a Ray cluster, one task an item.

It answers the death of a worker or of a node as `builders.engine` does: one attempt of the items that were there. The
attempts are counted here and not by Ray, which tries without end where a node is short of memory. Results travel
through Ray; what the work writes is its own affair (`builders.node`).
"""

from __future__ import annotations

import logging
import pickle
import signal
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

from threadpoolctl import threadpool_limits

from builders.engine import (
    ATTEMPTS,
    Outcome,
    Work,
    attempt,
    pickled,
)
from builders.libraries import ENVIRONMENT
from schemas import GoldsmithError
from schemas.stop import PATIENCE_S, stoppable

try:
    import ray
    from ray import exceptions as lost
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:
    raise GoldsmithError("--engine ray needs Ray: pip install 'goldsmith[ray]'") from None

_LOST = (
    lost.LocalRayletDiedError,
    lost.NodeDiedError,
    lost.ObjectLostError,
    lost.OutOfMemoryError,
    lost.WorkerCrashedError,
)
"""What ends an attempt without the work's own doing."""

_TICK_S = 0.5
_KNOCK_S = 10
_AHEAD = 4
"""Tasks for each CPU that Ray knows of at a time: enough to keep it busy and to make a cluster grow."""

_OBJECT_STORE = 100 << 20


def run(
    work: Work,
    items: Sequence[Any],
    *,
    address: str = "local",
    workers: int | None = None,
    report: Callable[[Any], None] = lambda _: None,
) -> Iterator[Outcome]:
    """Do `work` on each item and yield outcomes as they come, like `builders.engine.run`.

    Args:
        work: picklable, as are the items and results; its module can be imported on every node.
        address: of the cluster that this machine is a node of (`auto`, `host:port`); `local` starts one on this
            machine, which ends with the work.
        workers: items at a time at most; default: as many as there are CPUs.
        report: is called with what `work` reports.

    Raises:
        GoldsmithError: there is no cluster at the address, or the work cannot be sent.
    """
    if not items:
        return
    with stoppable(signal.SIGINT, signal.SIGTERM), _cluster(address, workers):
        yield from _Cluster(pickled(work), items, workers, report).outcomes()


@contextmanager
def _cluster(address: str, workers: int | None) -> Iterator[None]:
    """A connection to Ray. The address is always given: without one, Ray looks for clusters that may be long dead."""
    if "://" in address:
        raise GoldsmithError(f"[{address}] is for Ray's client: start the build on a node and give --address HOST:PORT")
    options: dict[str, Any] = {}
    if address == "local":
        options = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
    try:
        _knock(address)
        ray.init(
            address=address,
            logging_level=logging.ERROR,
            log_to_driver=False,
            runtime_env={"env_vars": ENVIRONMENT},
            **options,
        )
    except (ConnectionError, lost.RayError, OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise GoldsmithError(
            f"[{address}] no Ray cluster can be reached ({reason}): see `ray status` there, and whether the token "
            "(RAY_AUTH_MODE, RAY_AUTH_TOKEN) is the same here"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise an OSError at once where nobody answers: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()


class _News:
    """What the tasks report, kept on the driver's own node until the driver asks."""

    def __init__(self) -> None:
        self._waiting: list[Any] = []

    def tell(self, news: Any) -> None:
        self._waiting.append(news)

    def take(self) -> list[Any]:
        taken, self._waiting = self._waiting, []
        return taken


def _task(work: bytes, index: int, item: Any, news: Any) -> Outcome:
    with threadpool_limits(1, "blas"), stoppable(signal.SIGINT):  # By SIGINT, Ray cancels.
        return attempt(_loaded(work), index, item, news.tell.remote)


@lru_cache(maxsize=1)
def _loaded(work: bytes) -> Work:
    return pickle.loads(work)  # noqa: S301 (from the driver)


class _Cluster:
    def __init__(self, work: bytes, items: Sequence[Any], workers: int | None, report: Callable[[Any], None]) -> None:
        self._work = ray.put(work)
        self._items = items
        self._workers = workers
        self._report = report
        self._todo = deque(range(len(items)))
        self._attempts = [0] * len(items)
        self._running: dict[ray.ObjectRef, int] = {}
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._news = ray.remote(num_cpus=0)(_News).options(scheduling_strategy=here).remote()
        self._task = ray.remote(num_cpus=1, max_retries=0, retry_exceptions=False, scheduling_strategy="SPREAD")(_task)

    def outcomes(self) -> Iterator[Outcome]:
        try:
            while self._todo or self._running:
                self._give()
                ended, _ = ray.wait(list(self._running), num_returns=1, timeout=_TICK_S)
                self._hear_news()
                for reference in ended:
                    outcome = self._hear(reference, self._running.pop(reference))
                    if outcome is not None:
                        yield outcome
        finally:
            self._end()

    def _give(self) -> None:
        most = self._workers or _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while self._todo and len(self._running) < most:
            index = self._todo.popleft()
            self._attempts[index] += 1
            self._running[self._task.remote(self._work, index, self._items[index], self._news)] = index

    def _hear(self, reference: ray.ObjectRef, index: int) -> Outcome | None:
        try:
            return ray.get(reference)
        except _LOST as error:
            if self._attempts[index] < ATTEMPTS:
                self._todo.appendleft(index)
                return None
            how = type(error).__name__
            return Outcome(index, error=f"its worker died {ATTEMPTS} times, at last with Ray's {how}: see Ray's logs")
        except lost.RayError as error:  # The node could not so much as begin.
            reason = str(error).strip().splitlines()[-1]
            return Outcome(index, error=f"a node cannot do it ({reason}): install the same goldsmith on all nodes")

    def _hear_news(self) -> None:
        with suppress(lost.RayError):  # Progress is no part of the work.
            for news in ray.get(self._news.take.remote(), timeout=_TICK_S):
                self._report(news)

    def _end(self) -> None:
        """Stop what is still running, first so that it lets go of what it holds."""
        with suppress(lost.RayError, ConnectionError):
            for force in (False, True):
                for reference in self._running:
                    ray.cancel(reference, force=force)
                if self._running:
                    _, left = ray.wait(list(self._running), num_returns=len(self._running), timeout=PATIENCE_S)
                    self._running = {reference: self._running[reference] for reference in left}
            self._hear_news()
