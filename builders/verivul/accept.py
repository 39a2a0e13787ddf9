"""Accepts a pair whose fixed program is safe, or says why not: the place of the violation, vacuity, gcc, a proof."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from builders.verivul import probes, profiles, trace
from builders.verivul.assumptions import Setup
from builders.verivul.closer import Closed
from builders.verivul.esbmc import Property, Run
from builders.verivul.outcome import Pair, Scope
from builders.verivul.program import Program
from builders.verivul.replay import compiles, replay
from builders.verivul.trace import Trace

_OURS = ("target", "callee")
_ELSEWHERE = {"stub": "violation_in_stub", "caller": "outside_slice"}
_PLACES = ("criterion", "slice", "callee")


@dataclass(frozen=True)
class _Found:
    """A violation in the program before the fix: its row, counterexample, line and place (of `_PLACES`)."""

    row: Property
    example: Trace
    line: int
    place: str


@dataclass(frozen=True)
class Verdict:
    """The pair, or the outcome that is the reason why there is none."""

    pair: Pair | None
    outcome: str
    message: str = ""


def accept(
    closed: Closed, scope: Scope, setup: Setup, before: Run, arguments: Sequence[str], *, mode: str, profile: str,
    check: Callable[[str, Sequence[str]], Run],
) -> Verdict:  # fmt: skip
    """Decide on two programs of which the one before is violated and the one after is safe.

    Args:
        before: the run that violated it, with `profiles.HUNT`; its counterexample may lack steps.
        arguments: of ESBMC, that found the other safe.
        check: runs ESBMC on a program's text.
    """
    found, reason, found_by = None, "no_trace", [*arguments, *profiles.HUNT]
    for extra in ([], [*profiles.EVERY]):
        found_by = [*arguments, *profiles.HUNT, *extra, *profiles.WHOLE_TRACE]
        found, why = _place(closed.before, scope, check(closed.before.text, found_by), complete=True)
        if found is not None:
            break
        reason = why if why != "no_trace" else reason
    if found is None:
        found_by = [*arguments, *profiles.HUNT]
        found, _ = _place(closed.before, scope, before, complete=False)
    if found is None:
        return Verdict(None, reason)
    statement = closed.before.line(found.line)
    reached, total = _probe(closed.after, scope, statement, profiles.unwind(arguments), check)
    if not reached:
        return Verdict(None, "vacuous", f"0 of {total} probes reached: {statement[:80]}")
    for program in (closed.before, closed.after):
        if fault := compiles(program):
            return Verdict(None, "does_not_compile", fault)
    witness = replay(closed.before, found.example.inputs, leaks=profile == "leak")
    proof_arguments = profiles.induction(profile, profiles.unwind(arguments))
    proof = check(closed.after.text, proof_arguments)
    proved = proof.verdict == "safe" and proof.proof != ""
    bound, kind = (proof.bound, proof.proof) if proved else (profiles.unwind(arguments), "bounded")
    pair = Pair(
        scope.function, mode, profile, closed.before, closed.after, found.row, found.example, found.line, statement,
        found.place, tuple(found_by), tuple(arguments), kind, tuple(proof_arguments) if proved else (), bound,
        tuple(setup.lines()), closed.repairs, (reached, total), witness, before.solver,
    )  # fmt: skip
    return Verdict(pair, "certified", f"replay {witness.outcome}")


def _place(program: Program, scope: Scope, run: Run, *, complete: bool) -> tuple[_Found | None, str]:
    """The violation that is at or in the slice of the fix: nearest to the fix first; else why there is none.

    Args:
        complete: the counterexamples have every step, so that the last one before a library model is its call.
    """
    found: list[_Found] = []
    reasons = set()
    for example in trace.read(run.output):
        violation = example.violation
        row = next((row for row in run.failed if _same(row, example)), None)
        if row is None or row.unwinding or (violation.library and not complete):
            continue
        line = _line(example)
        owner = program.owner(line).kind
        if owner not in _OURS:
            reasons.add(_ELSEWHERE.get(owner, "violation_in_harness"))
            continue
        place = _place_of(program, scope, line, owner, example)
        if place is None:
            reasons.add("outside_slice")
            continue
        found.append(_Found(row, example, line, place))
    if found:
        return min(found, key=lambda one: _PLACES.index(one.place)), ""
    return None, min(reasons, default="no_trace")


def _place_of(program: Program, scope: Scope, line: int, owner: str, example: Trace) -> str | None:
    origin = program.origin(line)
    if owner == "target" and origin:
        return "criterion" if origin[1] in scope.criterion else "slice" if origin[1] in scope.slice else None
    last = next((step.line for step in reversed(example.steps) if program.owner(step.line).kind == "target"), 0)
    origin = program.origin(last) if last else None
    return "callee" if origin and origin[1] in scope.slice else None


def _probe(
    program: Program, scope: Scope, statement: str, unwind: int, check: Callable[[str, Sequence[str]], Run]
) -> tuple[int, int]:
    """(probes reached, probes) in the safe program: the violating statement's twin, else what the fix changed."""
    lines: Iterable[int] = [line for line in program.lines_of(*_OURS) if program.line(line) == statement]
    if not lines:
        lines = [n for n in program.lines_of("target") if (program.origin(n) or ("", 0))[1] in scope.changed]
    text, count = probes.insert(program, scope.function, lines)
    if not count:
        text, count = probes.insert_last(program)
    run = check(text, probes.arguments(unwind))
    return sum(probes.MARK in row.comment for row in run.failed), count


def _same(row: Property, example: Trace) -> bool:
    violation = example.violation
    return row.line == violation.line and row.comment == violation.comment and row.library == violation.library


def _line(example: Trace) -> int:
    """The line that a violation belongs to: of the call for a library model, of the allocation for a leak."""
    violation = example.violation
    leaked = re.search(r"forgotten memory: (\w+)", violation.comment)
    if leaked:
        name = re.escape(leaked[1])
        holds = (step.line for step in example.steps if step.line and re.search(rf"&{name}\b", step.value))
        return next(holds, 0)
    return example.call_line if violation.library else violation.line
