"""The closer: a changed function, before and after its fix, as two C programs that differ in the fix alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from builders.verivul import esbmc, facts
from builders.verivul.assumptions import Setup
from builders.verivul.closure import Closure, agree
from builders.verivul.harness import Harness
from builders.verivul.index import Index, Item
from builders.verivul.program import Program, write
from builders.verivul.repair import errors, repair

_ROUNDS = 12
_ASSERT = re.compile(r"\b(jas_)?assert\s*\(")
_ABORT = re.compile(r"\babort\s*\(\s*\)")
PARSE_SECONDS = 10


@dataclass(frozen=True)
class Side:
    """One side of a fix: the tree, the function, and the text of it that is closed (whole, or its slice).

    Attributes:
        caller: a function that calls it, with its slice: then the harness calls this one.
    """

    index: Index
    function: Item
    text: str
    caller: tuple[Item, str] | None = None


@dataclass
class Learnt:
    """What repairs found out about one side: the next setup of the same function starts from it.

    Attributes:
        done: what was done; `tried` whether anything was compiled at all.
    """

    added: dict[str, str] = field(default_factory=dict)
    dropped: set[tuple[str, str, str, int]] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    inferred: dict[str, list[str]] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    tried: bool = False


@dataclass(frozen=True)
class Closed:
    """Two programs under one harness.

    Attributes:
        repairs: what was guessed or dropped to make them compile.
        inputs: what the harness sets (`access.key_of`) -> its kind (`ctypes.CType.kind`; `text` points to bytes).
        error: where they do not compile: the front end's message and the line.
    """

    before: Program
    after: Program
    repairs: tuple[str, ...]
    stubs: int
    callees: int
    facts: facts.Facts
    inputs: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def close(
    before: Side, after: Side, setup: Setup, learnt: tuple[Learnt, Learnt], *, near: Sequence[str], aborts: bool,
    compiled: bool = True,
) -> Closed:  # fmt: skip
    """Close both sides.

    Args:
        learnt: of both sides, kept from one setup to the next.
        compiled: try and mend; else the programs are as good as what was learnt before.
        near: paths of the fix.
        aborts: `abort()` is what the fix is about: reaching it is a violation.
        setup: narrowed where a type or member cannot be made.
    """
    sides = [
        _closure(side, setup, known, near, aborts=aborts) for side, known in zip((before, after), learnt, strict=True)
    ]
    agree(*sides)
    done = learnt[0].done
    for _ in range(_ROUNDS):
        found = facts.gather(sides)
        (programs, inputs), broken = _write(sides, found, setup), ""
        if not compiled and learnt[0].tried:
            break
        changes: list[str] = []
        for side, program in zip(sides, programs, strict=True):
            output = esbmc.run(program.text, ["--parse-tree-only", "--sv-comp"], seconds=PARSE_SECONDS).output
            faults = errors(output)
            if faults:
                line, message = faults[0]
                broken = broken or f"{message}: {program.line(line)[:140]}"
                changes += repair(side, program, output, setup)
        done += changes
        if not broken or not changes:
            break
        for one, other in (sides, reversed(sides)):
            for name, text in one.added.items():
                other.added.setdefault(name, text)
    learnt[0].tried = True
    notes = tuple(dict.fromkeys(done))
    return Closed(programs[0], programs[1], notes, len(sides[0].stubs), len(sides[0].functions), found, inputs,
                  broken)  # fmt: skip


def _closure(side: Side, setup: Setup, known: Learnt, near: Sequence[str], *, aborts: bool) -> Closure:
    text = _prepared(side.text, setup, aborts=aborts)
    caller = side.caller and (side.caller[0], _prepared(side.caller[1], setup, aborts=False))
    return Closure(side.index, side.function, text, near, setup.callees, known, caller)


def _write(
    sides: Sequence[Closure], found: facts.Facts, setup: Setup
) -> tuple[tuple[Program, Program], Mapping[str, str]]:
    made, inputs = [], {}
    for number, side in enumerate(sides):
        harness = Harness(sides[0], sides[1], found, setup)
        main, *arguments = harness.main()
        made.append(write(side, harness, main, arguments[number]))
        inputs |= harness.inputs
    return (made[0], made[1]), inputs


def _prepared(text: str, setup: Setup, *, aborts: bool) -> str:
    lines = [
        _ASSERT.sub("__ESBMC_assume(", line) if line.strip() in setup.assumed else line for line in text.split("\n")
    ]
    text = "\n".join(lines)
    return _ABORT.sub('__ESBMC_assert(0, "abort reached")', text) if aborts else text
