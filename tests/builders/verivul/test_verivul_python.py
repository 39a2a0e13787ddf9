"""Python programs: pairs of the sample, with the line that Python itself gives."""

from __future__ import annotations

import pytest

from builders.verivul import python_programs
from schemas import GoldsmithError


def test_pairs_of_the_sample(sample):
    pairs = {pair.name: pair for pair in python_programs.read((sample / "python_pairs.toml").read_text())}
    found = python_programs.check(pairs["share"])
    assert (found.outcome, found.raised, found.line) == ("certified", "ZeroDivisionError", 2)
    assert found.before.verdict == "violated"
    assert found.after
    assert found.after.verdict == "safe"


def test_replay_raises_only_with_the_inputs_that_do():
    program = "n: int = nondet_int()\nresult: int = 10 // n\n"
    assert python_programs.replay(program, ["0"]) == ("ZeroDivisionError", 2)
    assert python_programs.replay(program, ["1"]) == ("", 0)


def test_a_broken_list():
    with pytest.raises(GoldsmithError, match="cannot be read"):
        python_programs.read("[[pair]]\nname = 'x'\n")
