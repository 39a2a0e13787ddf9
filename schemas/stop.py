"""Signals to stop (SIGINT, SIGTERM), answered by an exception and remembered.

An exception alone does not do: where C code calls back into Python (a decoder that reads a file), it is printed and
lost, and the decoder goes on as at the end of the file. What a process has made after a signal is not to be kept.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_S = 3.0
"""Seconds that work has to let go of what it holds."""

_heard: list[int] = []
_answered = -math.inf
"""When an exception was last raised for a signal; of `time.monotonic`."""

_deferring = 0
"""How many blocks of `deferred` the main thread is in."""


def stop(number: int, _: object) -> None:
    """A signal's handler: end by an exception, so that what the work holds (processes, folders) is let go. Further
    signals are not answered while that is on its way (`PATIENCE_S`).

    Raises:
        KeyboardInterrupt: for SIGINT.
        SystemExit: for another signal.
    """
    _heard.append(number)
    if not _deferring:
        _answer(number)


def refuse_if_stopped() -> None:
    """Raise the exception again, if there was a signal; to be called before anything is given its final name."""
    if _heard:
        _raise(_heard[-1])


@contextmanager
def deferred() -> Iterator[None]:
    """Answer a signal that comes within this block at its end: for what must not be done by half, and is done soon.

    Such as starting a process (one whose start is broken off runs on, unknown to anyone) or removing a folder.
    """
    global _deferring
    if threading.current_thread() is not threading.main_thread():  # Signals are the main thread's to answer.
        yield
        return
    before = len(_heard)
    _deferring += 1
    try:
        yield
    finally:
        _deferring -= 1
        if len(_heard) > before and not _deferring:
            _answer(_heard[-1])


@contextmanager
def stoppable(*numbers: signal.Signals) -> Iterator[None]:
    """Answer these signals by `stop`, but for those that someone else answers already; those before are forgotten."""
    global _answered
    if all(signal.getsignal(number) is not stop for number in numbers):  # else this is a part of that work
        _heard.clear()
        _answered = -math.inf
    before = {}
    if threading.current_thread() is threading.main_thread():
        usual = (signal.SIG_DFL, signal.default_int_handler)
        before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) in usual}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _answer(number: int) -> None:
    """Raise, but for a signal that comes while an earlier one's exception is on its way."""
    if time.monotonic() > _answered + PATIENCE_S:
        _raise(number)


def _raise(number: int) -> None:
    global _answered
    _answered = time.monotonic()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
