"""Python as a second language, through ESBMC's Python front end, at the level at which it works.

It decides uncaught exceptions (division by zero, index out of range, failed assertions) of small programs. What it
reports of an exception has no line: the violating line is then that of the traceback when Python runs the program
with the counterexample's inputs, which is the second witness, too. Pairs come from `python_pairs.toml`, for there is no
closer for Python.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from builders.verivul import esbmc, rooms, trace
from builders.verivul.esbmc import Run
from builders.verivul.trace import Trace
from schemas import GoldsmithError

SECONDS = 20
"""Processor time of a run: the Python front end takes a second or two by itself."""

ARGUMENTS = ("--unwind", "8", "--multi-property", "--no-slice")
_MODEL = ("message", "name", "path")
"""Variables of the front end's model of exceptions."""


@dataclass(frozen=True)
class PythonPair:
    """Two programs, before and after a fix, and the weakness that it is about."""

    name: str
    cwe: int
    before: str
    after: str


@dataclass(frozen=True)
class Checked:
    """What ESBMC says of a pair.

    Attributes:
        outcome: `certified`, or a reason.
        line: violating line of the program before; 0 if nothing says it.
        raised: the exception when Python runs it with the counterexample's inputs.
    """

    pair: PythonPair
    outcome: str
    before: Run
    after: Run | None
    example: Trace | None
    line: int
    raised: str = ""


def read(text: str) -> list[PythonPair]:
    """The pairs of a `python_pairs.toml`.

    Raises:
        GoldsmithError: it is no TOML or an entry is wrong.
    """
    try:
        return [PythonPair(**entry) for entry in tomllib.loads(text).get("pair", [])]
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise GoldsmithError(f"[python_pairs.toml] cannot be read ({error}): correct it") from None


def check(pair: PythonPair) -> Checked:
    """Run ESBMC on both programs."""
    before = esbmc.run(pair.before, ARGUMENTS, seconds=SECONDS, suffix=".py")
    if before.verdict != "violated":
        return Checked(pair, "not_violated" if before.verdict == "safe" else before.verdict, before, None, None, 0)
    after = esbmc.run(pair.after, ARGUMENTS, seconds=SECONDS, suffix=".py")
    if after.verdict != "safe":
        outcome = "twin_not_safe" if after.verdict == "violated" else after.verdict
        return Checked(pair, outcome, before, after, None, 0)
    examples = trace.read(before.output)
    placed = next((one for one in examples if one.violation.line), None)
    example = placed or next(iter(examples), None)
    if example is None:
        return Checked(pair, "no_trace", before, after, None, 0)
    count = len(pair.before.splitlines())
    own = tuple(s for s in example.steps if 0 < s.line <= count and s.variable not in _MODEL)
    raised, where = replay(pair.before, [step.value for step in own if "nondet_" in _line(pair.before, step.line)])
    line = example.violation.line or where or (own[-1].line if own else 0)
    outcome = "certified" if line else "no_trace"
    return Checked(pair, outcome, before, after, Trace(own, example.violation), line, raised)


def replay(program: str, inputs: list[str]) -> tuple[str, int]:
    """(exception, line) when Python runs the program with these inputs; ('', 0) where nothing is raised."""
    values = [int(value) for value in inputs if re.fullmatch(r"-?\d+", value)]
    script = _RUNTIME % (values, program)
    with rooms.temporary("python") as room:
        command = [sys.executable, "-I", "-c", script]
        output = esbmc.execute(command, Path(room), seconds=SECONDS, memory=None)[1]
    match = re.search(r"^RAISED (\w+) (\d+)$", output, re.M)
    return (match[1], int(match[2])) if match else ("", 0)


def _line(program: str, number: int) -> str:
    return program.splitlines()[number - 1] if number else ""


_RUNTIME = """import sys
values = %r
def take():
    return values.pop(0) if values else 0
room = {"nondet_int": take, "nondet_uint": take, "nondet_bool": lambda: bool(take())}
room["__ESBMC_assume"] = lambda holds: None
try:
    exec(compile(%r, "program", "exec"), room)
except Exception as error:
    lines, at = [], error.__traceback__
    while at is not None:
        lines += [at.tb_lineno] if at.tb_frame.f_code.co_filename == "program" else []
        at = at.tb_next
    print("RAISED", type(error).__name__, lines[-1] if lines else 0)
"""
