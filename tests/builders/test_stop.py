"""A signal to stop whose exception is lost in C code: what was made after it is not kept."""

from __future__ import annotations

import signal

import pytest

from builders.stop import refuse_if_stopped, stoppable


@pytest.mark.parametrize(
    ("number", "workers", "code"),
    [(signal.SIGINT, 1, -signal.SIGINT), (signal.SIGTERM, 1, 143), (signal.SIGTERM, 2, 0)],
)
def test_a_shard_that_was_told_to_stop_is_built_again(tiny, tmp_path, digests, number, workers, code):
    """With two workers, a worker that is told so dies, and another one does its shard."""
    tiny.build(tmp_path / "whole")
    out, mark = tmp_path / "out", tmp_path / "mark"
    fault = {"TINY_FAULT": f"b=lose:{number.value}:{mark}"}
    process = tiny.process(out, f"workers={workers}, progress=False", **fault)
    _, error = process.communicate()
    assert mark.exists()
    assert "ignored" in error, "the exception was not lost"
    assert process.returncode == code, error
    if code:
        shards = out / ".build" / "shards"
        assert [path.name[0] != "." for path in shards.iterdir()] == [True], "shard a alone is there"
        assert tiny.build(out).built == 2
    assert digests(out) == digests(tmp_path / "whole")


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
