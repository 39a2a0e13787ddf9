"""The local engine: a pool of processes that survives the death of any of them.

The standard pools break or hang when a worker is killed (out of memory, a crash in a library); here it costs that shard
one attempt. With one worker the work is done in this process, by the same function: starting a process takes about a
second of imports, and a build that dies resumes anyway. Not its business: what the work is (`builders.shard`).
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

from threadpoolctl import threadpool_limits

from builders.libraries import ENVIRONMENT, numpy_is_told
from schemas import GoldsmithError
from schemas.stop import PATIENCE_S, stop, stoppable

ATTEMPTS = 3
"""How often a piece of work is begun before its workers' deaths count as its own fault."""

Work = Callable[[Any, Callable[[Any], None]], Any]
"""`work(item, report)` returns its result; `report` passes on how far it is."""


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended.

    Attributes:
        index: of the item.
        value: its result; None if it failed.
        error: one line, where it failed.
        trace: the traceback, where an exception that is no user's mistake ended it.
        stop: whether further work is pointless (the disk is full).
    """

    index: int
    value: Any = None
    error: str | None = None
    trace: str = ""
    stop: bool = False


def run(
    work: Work, items: Sequence[Any], *, workers: int, report: Callable[[Any], None] = lambda _: None
) -> Iterator[Outcome]:
    """Do `work` on each item and yield outcomes as they come. Nothing that happens to one item ends the others.

    An exception is not tried again: it would come again. A worker that dies is replaced and its item tried again,
    `ATTEMPTS` times in all.

    Args:
        work: picklable, as are the items and results, but for one worker, which is this process.
        report: is called with what `work` reports.
    """
    with stoppable(signal.SIGINT, signal.SIGTERM):
        if workers == 1 and numpy_is_told():
            with threadpool_limits(1, "blas"):  # sums depend on how many there are
                for index, item in enumerate(items):
                    yield attempt(work, index, item, report)
        elif items:
            yield from _Pool(work, items, min(workers, len(items)), report).outcomes()


def attempt(work: Work, index: int, item: Any, report: Callable[[Any], None]) -> Outcome:
    """Do `work` on one item; an exception becomes an outcome that tells of it."""
    try:
        return Outcome(index, value=work(item, report))
    except GoldsmithError as error:
        return Outcome(index, error=str(error))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        where = f"[{error.filename}] " if error.filename else ""
        line = f"{where}{error.strerror or error}" + (": make room and run it again" if full else "")
        return Outcome(index, error=line, trace="" if full else traceback.format_exc(), stop=full)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)} line {frame.lineno}"  # noqa: PTH119 (a name in a traceback)
        text = " ".join(str(error).split())
        return Outcome(index, error=f"{type(error).__name__}: {text} (at {where})", trace=traceback.format_exc())


def pickled(work: Work) -> bytes:
    """The work as it is sent to other processes.

    Raises:
        GoldsmithError: it cannot be sent.
    """
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise GoldsmithError(f"the builder cannot be sent to other processes ({error}): use one worker") from None


def _worker(pipe: Connection, work: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the driver has blocked it until here
    signal.signal(signal.SIGTERM, stop)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent.sentinel,), daemon=True).start()
    function = pickle.loads(work)  # noqa: S301 (from the driver)
    with suppress(EOFError, BrokenPipeError):  # The driver has no more work.
        while True:
            index, item = pipe.recv()
            pipe.send(("done", attempt(function, index, item, lambda news: pipe.send(("news", news)))))


def _die_with(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE_S)
    os._exit(1)


@dataclass
class _Slot:
    process: BaseProcess
    index: int | None = None


class _Pool:
    def __init__(self, work: Work, items: Sequence[Any], workers: int, report: Callable[[Any], None]) -> None:
        self._work = pickled(work)
        self._items = items
        self._report = report
        self._todo = deque(range(len(items)))
        self._attempts = [0] * len(items)
        self._slots: dict[Connection, _Slot] = {}
        self._workers = workers
        self._context = multiprocessing.get_context("spawn")

    def outcomes(self) -> Iterator[Outcome]:
        try:
            for _ in range(self._workers):
                self._start()
            while any(slot.index is not None for slot in self._slots.values()):
                for pipe in cast("list[Connection]", wait(list(self._slots))):
                    outcome = self._hear(pipe)
                    if outcome is not None:
                        yield outcome
        finally:
            self._end()

    def _hear(self, pipe: Connection) -> Outcome | None:
        """Take one message of a worker, or its death."""
        try:
            kind, message = pipe.recv()
        except (EOFError, OSError):
            return self._bury(pipe)
        if kind == "news":
            self._report(message)
            return None
        self._give(pipe)
        return message

    def _bury(self, pipe: Connection) -> Outcome | None:
        slot = self._slots.pop(pipe)
        pipe.close()
        slot.process.join()
        index = slot.index
        lost = None
        if index is not None:
            if self._attempts[index] < ATTEMPTS:
                self._todo.appendleft(index)
            else:
                code = slot.process.exitcode or 0
                how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
                how += " (out of memory?)" if code == -signal.SIGKILL else ""
                lost = Outcome(index, error=f"its worker died {ATTEMPTS} times, at last {how}")
        if self._todo:
            self._start()
        return lost

    def _start(self) -> None:
        pipe, far = self._context.Pipe()
        process = self._context.Process(target=_worker, args=(far, self._work), daemon=True)
        before = {name: os.environ.get(name) for name in ENVIRONMENT}
        os.environ.update(ENVIRONMENT)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        far.close()
        self._slots[pipe] = _Slot(process)
        self._give(pipe)

    def _give(self, pipe: Connection) -> None:
        slot = self._slots[pipe]
        slot.index = self._todo.popleft() if self._todo else None
        if slot.index is None:
            return
        self._attempts[slot.index] += 1
        with suppress(OSError):  # It died while idle: `_bury` hears of it next.
            pipe.send((slot.index, self._items[slot.index]))

    def _end(self) -> None:
        for pipe, slot in self._slots.items():
            if slot.index is not None:
                slot.process.terminate()
            pipe.close()
        for slot in self._slots.values():
            slot.process.join(PATIENCE_S)
            if slot.process.exitcode is None:
                slot.process.kill()
                slot.process.join()
