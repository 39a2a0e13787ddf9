"""Python as a second language, through ESBMC's Python front end, at the level at which it works.

It decides uncaught exceptions (division by zero, index out of range, failed assertions) of small programs. What it
reports of an exception has no line: the violating line is then that of the traceback when Python runs the program
with the counterexample's inputs, which is the second witness, too. Only programs of `python_subset` are run. Pairs come
from `python_pairs.toml`, for there is no closer for Python.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from builders.verivul import child, esbmc, python_subset, trace
from builders.verivul.esbmc import Run
from builders.verivul.python_subset import NotAllowedError
from builders.verivul.trace import Trace
from schemas import GoldsmithError
from schemas.rooms import Room

SECONDS = 20
"""Processor time of a run: the Python front end takes a second or two by itself."""

ARGUMENTS = ("--unwind", "8", "--multi-property", "--no-slice")
MEMORY = 512 << 20
"""Bytes of address space when Python runs a program."""

_KINDS = {str: "text", int: "whole number"}
_NAME = re.compile(r"[A-Za-z0-9._-]+")
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
        GoldsmithError: it is no TOML, an entry is wrong, or a name is there twice.
    """
    try:
        entries = tomllib.loads(text).get("pair", [])
    except tomllib.TOMLDecodeError as error:
        raise GoldsmithError(f"[python_pairs.toml] cannot be read ({error}): correct it") from None
    if not isinstance(entries, list):
        raise GoldsmithError("[python_pairs.toml > pair] cannot be read (it is no list): begin each pair with [[pair]]")
    pairs = [_pair(f"[python_pairs.toml > pair {number}", entry) for number, entry in enumerate(entries, start=1)]
    names = [pair.name for pair in pairs]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise GoldsmithError(f"[python_pairs.toml > {twice}] names two pairs: rename one")
    return pairs


def _pair(place: str, entry: object) -> PythonPair:
    if not isinstance(entry, dict):
        raise GoldsmithError(f"{place}] cannot be read (it is no table): begin each pair with [[pair]]")
    wanted = {field.name: {"str": str, "int": int}[str(field.type)] for field in fields(PythonPair)}
    if wrong := sorted(wanted.keys() ^ entry.keys()):
        what = "is missing" if wrong[0] in wanted else f"is not known, only {', '.join(wanted)} are"
        raise GoldsmithError(f"{place} > {wrong[0]}] cannot be read (it {what}): correct it")
    for name, kind in wanted.items():
        if type(entry[name]) is not kind:
            raise GoldsmithError(f"{place} > {name}] cannot be read ({entry[name]!r} is no {_KINDS[kind]}): correct it")
    if not _NAME.fullmatch(entry["name"]):
        raise GoldsmithError(f"{place} > name] {entry['name']!r} is no name: use letters, digits, `.`, `_` and `-`")
    return PythonPair(**entry)


def check(pair: PythonPair) -> Checked:
    """Run ESBMC on both programs, and Python on the first.

    Raises:
        NotAllowedError: one of them is not of the subset that is run.
    """
    for side in ("before", "after"):
        try:
            python_subset.require(getattr(pair, side))
        except NotAllowedError as error:
            raise NotAllowedError(f"program {side}, {error}") from None
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
    """(exception, line) when Python runs the program with these inputs; ('', 0) where nothing is raised.

    Raises:
        NotAllowedError: it is not of the subset that is run.
    """
    python_subset.require(program)
    values = [int(value) for value in inputs if re.fullmatch(r"-?\d+", value)]
    given = sorted(python_subset.FUNCTIONS | python_subset.EXCEPTIONS)
    with Room("python") as room:
        (Path(room) / "run.py").write_text(_RUNTIME.format(values=values, given=given, program=program), "utf-8")
        command = [sys.executable, "-I", "-S", "-B", "run.py"]
        output = child.execute(command, Path(room), seconds=SECONDS, memory=MEMORY)[1]
    match = re.search(r"^RAISED (\w+) (\d+)$", output, re.M)
    return (match[1], int(match[2])) if match else ("", 0)


def _line(program: str, number: int) -> str:
    return program.splitlines()[number - 1] if number else ""


_RUNTIME = """import builtins
values = {values!r}
def take():
    return values.pop(0) if values else 0
def silent(*_, **__):
    return None
room = {{name: getattr(builtins, name) for name in {given!r}}}
room |= {{"nondet_int": take, "nondet_uint": take, "nondet_bool": lambda: bool(take())}}
room |= {{"__ESBMC_assume": silent, "print": silent}}
try:
    exec(compile({program!r}, "program", "exec"), {{"__builtins__": room}})
except MemoryError:
    pass
except Exception as error:
    lines, at = [], error.__traceback__
    while at is not None:
        lines += [at.tb_lineno] if at.tb_frame.f_code.co_filename == "program" else []
        at = at.tb_next
    print("RAISED", type(error).__name__, lines[-1] if lines else 0)
"""
