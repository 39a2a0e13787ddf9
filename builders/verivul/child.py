"""Runs the programs of others: compilers, the model checker, and what was compiled or is Python, all of it made of text
that a stranger may have written.

A child gets no environment but what it needs to find its own parts (no token, no key), nothing on its standard input, a
process group and a folder of its own, and bounds on processor time, memory, the size of files and the length of what it
prints. Whatever happens, nothing is left behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from schemas.stop import deferred

MEMORY = 3 << 30
"""Bytes of address space that a compiler or a model checker may take."""

SCRATCH = 256 << 20
"""Bytes of a file that one of them may write."""

PRINTED = 64 << 20
"""Bytes that are read of what a child prints; one that prints more is killed."""

_WALL_FACTOR = 100
_KEPT = ("PATH", "LD_LIBRARY_PATH")
"""Where programs and compilers' own libraries are."""

_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def environment(room: Path | str) -> dict[str, str]:
    """All that a child sees of the environment; its temporary files go into `room`."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {"PATH": os.defpath, **kept, "TMPDIR": str(room), "LC_ALL": "C.UTF-8"}


def limits(*, seconds: int, memory: int | None, files: int) -> Callable[[], None]:
    """What a child does before its program starts: it bounds itself, and ends with this process.

    Args:
        seconds: of processor time for each process.
        memory: bytes of address space for each process; None where the program bounds itself.
        files: bytes of a file that it may write; with 0 the first byte ends it.
    """

    def bounded() -> None:
        if _LIBC is not None:
            _LIBC.prctl(
                1, signal.SIGKILL
            )  # PR_SET_PDEATHSIG: killed when the one that started it ends, however it ends
        _limit(resource.RLIMIT_CPU, seconds, seconds + 1)
        _limit(resource.RLIMIT_CORE, 0, 0)
        _limit(resource.RLIMIT_FSIZE, files, files)
        if memory is not None:
            _limit(resource.RLIMIT_AS, memory, memory)

    return bounded


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit, or leave the stricter one that the user has set: it cannot be raised."""
    _, now = resource.getrlimit(kind)
    if now != resource.RLIM_INFINITY:
        soft, hard = (now if value == resource.RLIM_INFINITY else min(value, now) for value in (soft, hard))
    resource.setrlimit(kind, (soft, hard))


def execute(
    command: Sequence[str],
    room: Path,
    *,
    seconds: int,
    memory: int | None,
    files: int = 0,
    settings: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a command in `room`; (exit code, everything it printed).

    Args:
        seconds: of processor time for each process; the whole group is killed after a hundred times as many.
        memory, files: see `limits`.
        settings: environment variables for this command.
    """
    process, code = None, 0
    try:
        with deferred():
            process = subprocess.Popen(  # noqa: S603 (argument lists of our own)
                command, cwd=room, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=limits(seconds=seconds, memory=memory, files=files),
                env={**environment(room), **(settings or {})},
            )  # fmt: skip
        output, ended = _printed(process, time.monotonic() + seconds * _WALL_FACTOR)
    finally:
        with deferred():
            if process is not None:
                _kill(process)  # and what it may have started
                code = process.wait()
    return code if ended else -signal.SIGKILL, output.decode("utf-8", "replace")


def _printed(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bool]:
    """What a process prints, and whether it ended by itself: before the deadline, and without printing too much."""
    assert process.stdout is not None
    output = bytearray()
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(output) <= PRINTED and selector.select(max(0.0, deadline - time.monotonic())):
            if not (piece := os.read(pipe.fileno(), 1 << 16)):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - time.monotonic()))
                return bytes(output), process.poll() is not None
            output += piece
    return bytes(output), False


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
