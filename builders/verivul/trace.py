"""Counterexamples: ESBMC's text to typed steps, and the inputs in the order in which the program asked for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STATE = re.compile(
    r"^State (\d+)(?: file (\S+))?(?: line (\d+))?(?: column (\d+))?(?: function (\S+))?\s+thread (\d+)$"
)
_BITS = re.compile(r"\s*\(((?:[01]+ ?)+)\)$")
_LOCATION = re.compile(r"file (\S+) line (\d+)(?: column (\d+))?(?: function (\S+))?")
_LIBRARY = "/esbmc-vfs/"


@dataclass(frozen=True)
class Step:
    """An assignment.

    Attributes:
        line: of the program; 0 inside the models of the C library.
        bits: of a scalar, its bits from the highest; empty where ESBMC does not print them.
    """

    line: int
    column: int
    function: str
    variable: str
    value: str
    bits: str = ""


@dataclass(frozen=True)
class Violation:
    """The step at which the property fails.

    Attributes:
        cwe: candidates, by ESBMC's table.
        guard: the expression that is false.
        library: it is inside a model of the C library.
    """

    line: int
    column: int
    function: str
    comment: str
    cwe: tuple[int, ...]
    guard: str
    library: bool


@dataclass(frozen=True)
class Trace:
    """A counterexample.

    Attributes:
        inputs: the steps in the functions `input_<type>`, in the order of the program's requests.
    """

    steps: tuple[Step, ...]
    violation: Violation

    @property
    def inputs(self) -> list[Step]:
        """Every input, in order."""
        return [step for step in self.steps if step.variable == "input" and step.function.startswith("input_")]

    @property
    def call_line(self) -> int:
        """The last line of the program before the violation: the call, where a library model is violated."""
        return next((step.line for step in reversed(self.steps) if step.line), 0)


def read(output: str) -> list[Trace]:
    """All counterexamples in ESBMC's output."""
    return [trace for part in output.split("[Counterexample]")[1:] if (trace := _trace(part))]


def _trace(part: str) -> Trace | None:
    steps: list[Step] = []
    for head, body in _states(part):
        library = (head[2] or "").startswith(_LIBRARY)
        if body and body[0] == "Violated property:":
            return Trace(tuple(steps), _violation(body))
        for line in body:
            variable, equals, value = line.partition(" = ")
            if equals:
                line_number = 0 if library else int(head[3] or 0)
                bits = _BITS.search(value)
                plain = _BITS.sub("", value)
                found = bits[1].replace(" ", "") if bits else ""
                steps.append(Step(line_number, int(head[4] or 0), head[5] or "", variable, plain, found))
    return None


def _states(part: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    head, body = None, []
    for line in part.split("\n"):
        match = _STATE.match(line)
        if match:
            if head is not None:
                yield head, body
            head, body = match, []
        elif head is not None:
            text = line.strip()
            if not text and body and body[0] == "Violated property:":
                break
            if text and not set(text) <= {"-"}:
                body.append(text)
    if head is not None:
        yield head, body


def _violation(body: list[str]) -> Violation:
    where = _LOCATION.search(body[1]) if len(body) > 1 and body[1].startswith("file ") else None
    rest = body[2:] if where else body[1:]  # the Python front end gives no place
    comment, cwe, guard = rest[0] if rest else "", (), ""
    for line in rest[1:]:
        if line.startswith("CWE:"):
            cwe = tuple(map(int, re.findall(r"CWE-(\d+)", line)))
        elif not guard:
            guard = line
    if where is None:
        return Violation(0, 0, "", comment, cwe, guard, False)
    library = where[1].startswith(_LIBRARY)
    return Violation(int(where[2]), int(where[3] or 0), where[4] or "", comment, cwe, guard, library)
