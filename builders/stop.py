"""Signals to stop (SIGINT, SIGTERM), answered by an exception and remembered.

An exception alone does not do: where C code calls back into Python (a decoder that reads a file), it is printed and
lost, and the decoder goes on as at the end of the file. What a process has made after a signal is not to be kept.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_heard: list[int] = []


def stop(number: int, _: object) -> None:
    """A signal's handler: end by an exception, so that what the work holds (processes, folders) is let go.

    Raises:
        KeyboardInterrupt: for SIGINT.
        SystemExit: for another signal.
    """
    _heard.append(number)
    _raise(number)


def refuse_if_stopped() -> None:
    """Raise the exception again, if there was a signal; to be called before anything is given its final name."""
    if _heard:
        _raise(_heard[-1])


@contextmanager
def stoppable(*numbers: signal.Signals) -> Iterator[None]:
    """Answer these signals by `stop`, but for those that someone else answers already; earlier ones are forgotten."""
    _heard.clear()
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


def _raise(number: int) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
