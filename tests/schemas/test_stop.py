"""Signals to stop: remembered where their exception is lost, and held up where nothing may be done by half."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

import pytest

from schemas.stop import deferred, refuse_if_stopped, stoppable


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_remembered_until_the_next_work(number):
    before = signal.getsignal(number)
    with pytest.raises((KeyboardInterrupt, SystemExit)), stoppable(number):
        signal.raise_signal(number)
    assert signal.getsignal(number) is before
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        refuse_if_stopped()
    with stoppable(number):
        refuse_if_stopped()


def test_who_answers_a_signal_already_keeps_it():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with stoppable(signal.SIGTERM):
            signal.raise_signal(signal.SIGTERM)
            refuse_if_stopped()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_deferred_signal_is_answered_at_the_end(number):
    done = []

    def work() -> None:
        with deferred():
            with deferred():
                signal.raise_signal(number)
                done.append("inner")
            done.append("outer")
        done.append("never")

    with pytest.raises((KeyboardInterrupt, SystemExit)), stoppable(number):
        work()
    assert done == ["inner", "outer"]


def test_an_error_within_is_not_lost_to_a_signal():
    def work() -> None:
        with deferred():
            signal.raise_signal(signal.SIGTERM)
            raise OSError("a disk")

    with pytest.raises(SystemExit) as raised, stoppable(signal.SIGTERM):
        work()
    assert isinstance(raised.value.__context__, OSError)


def test_another_thread_holds_no_signal_up():
    inside, out = threading.Event(), threading.Event()

    def hold() -> None:
        with deferred():
            inside.set()
            out.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    with pytest.raises(SystemExit), stoppable(signal.SIGTERM):
        signal.raise_signal(signal.SIGTERM)
    out.set()
    thread.join()


def test_work_within_work_forgets_no_signal():
    def work() -> None:
        with suppress(SystemExit):  # as C code does
            signal.raise_signal(signal.SIGTERM)
        with stoppable(signal.SIGTERM):
            refuse_if_stopped()

    with pytest.raises(SystemExit), stoppable(signal.SIGTERM):
        work()


def test_a_second_signal_does_not_break_off_what_the_first_began():
    done = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            with deferred():
                signal.raise_signal(signal.SIGTERM)
            done.append("let go")

    with pytest.raises(SystemExit), stoppable(signal.SIGTERM):
        work()
    assert done == ["let go"]
