"""The certifier: closes a fix's function on both sides, and accepts a pair only where ESBMC, gcc and the rules agree.

A pair is accepted if the program before the fix is violated in the slice of the fix, the one after it is safe under the
same harness, bound and properties, the violating statement (or what the fix put in its place) is reachable in the safe
one, and both compile. Every attempt is kept with its outcome.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from builders.verivul import esbmc, probes, profiles, trace
from builders.verivul.assumptions import Setup
from builders.verivul.closer import Closed
from builders.verivul.esbmc import Property, Run
from builders.verivul.program import Program
from builders.verivul.repair import errors
from builders.verivul.replay import Replay, compiles, replay
from builders.verivul.strengthen import Search, similar, strengthen
from builders.verivul.trace import Trace

SECONDS = 15
"""Processor time of one run of ESBMC."""

_ROUNDS = 7
_COST_OF_TIMEOUT = 5
_STOP = ("timeout", "memory", "error", "unknown")
_OURS = ("target", "callee")


@dataclass(frozen=True)
class Attempt:
    """A try, or the reason why there was none.

    Attributes:
        mode: `slice`, `whole` or `model`; empty before there is a program.
        setup: number of the setup in the ladder; `round` how often it was narrowed.
        before, after: verdicts of ESBMC, empty where it did not run.
        outcome: `certified`, or a reason.
    """

    function: str
    mode: str
    setup: int
    round: int
    profile: str
    before: str
    after: str
    outcome: str
    message: str = ""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A certified pair.

    Attributes:
        line: violating line of the program before; `statement` its text; `place` `criterion`, `slice` or `callee`.
        proof: `bounded`, `forward condition` or `inductive step`; `proof_bound` its k.
        reached: probes of the safe program that are reachable, and how many there are.
    """

    function: str
    mode: str
    profile: str
    before: Program
    after: Program
    violation: Property
    trace: Trace
    line: int
    statement: str
    place: str
    arguments: tuple[str, ...]
    proof: str
    proof_arguments: tuple[str, ...]
    proof_bound: int
    assumptions: tuple[str, ...]
    repairs: tuple[str, ...]
    reached: tuple[int, int]
    replay: Replay
    solver: str


@dataclass
class Budget:
    """Runs of ESBMC that a fix may still use."""

    runs: int


@dataclass(frozen=True)
class Scope:
    """What counts as the fix, in lines of the repository's files.

    Attributes:
        function: the changed function.
        criterion, slice: lines of the file before the fix.
        changed: lines of the file after it.
    """

    function: str
    criterion: frozenset[int]
    slice: frozenset[int]
    changed: frozenset[int]


@dataclass
class Certifier:
    """Certifies one function of a fix.

    Attributes:
        attempts: what was tried, in order.
        stopped: ESBMC ran out of time or memory: larger setups will, too.
    """

    scope: Scope
    budget: Budget
    cache: Path | None = None
    attempts: list[Attempt] = field(default_factory=list)
    stopped: bool = False
    _seen: set[tuple[str, int, str, str]] = field(default_factory=set)

    def search(
        self, close: Callable[[Setup, bool], Closed], setup: Setup, number: int, mode: str, names: Sequence[str],
        protected: frozenset[str],
    ) -> Pair | None:  # fmt: skip
        """Try one setup, narrowing it until the fixed program is safe; None if it does not certify.

        Args:
            close: makes both programs under a setup; True to try whether they compile and mend them.
            names: profiles in order.
            protected: names that the fix compares with NULL.
        """
        search = Search(setup.elements + 2, protected)
        for profile in names:
            earlier: Setup | None = None
            if profile == "leak" and not search.leaks:
                continue
            setup.kept = profile == "leak"
            for count in range(_ROUNDS):
                if self.budget.runs <= 0:
                    self._note(mode, number, count, profile, "", "", "out_of_budget", "", setup)
                    return None
                closed = close(setup, False)
                here = (profile, search.unwind, closed.before.text, closed.after.text)
                if count == 0 and here in self._seen:  # another setup gave the same programs
                    break
                self._seen.add(here)
                if closed.error:
                    self._note(mode, number, count, profile, "", "", "does_not_parse", closed.error, setup)
                    return None
                step = self._round(closed, setup, search, number, count, mode, profile)
                if step.broken:
                    closed = close(setup, True)
                    if closed.error:
                        self._note(mode, number, count, profile, "", "", "does_not_parse", closed.error, setup)
                        return None
                    step = self._round(closed, setup, search, number, count, mode, profile)
                    if step.broken:
                        self._note(mode, number, count, profile, "error", "", "error", "", setup)
                        return None
                if step.pair:
                    return step.pair
                if step.stop:
                    self.stopped = True
                    return None
                if not step.differs and earlier is not None:
                    # The last narrowing took the violation away: undo it, and leave its names alone.
                    search.banned |= {name for name, about in setup.about.items() if about != earlier.about.get(name)}
                    setup, earlier = earlier, None
                    continue
                if not step.failed and not step.unwinding:
                    break
                earlier = copy.deepcopy(setup) if step.differs else None
                if not strengthen(setup, search, step.failed, step.unwinding, sorted(closed.facts.arguments)):
                    break
        return None

    def once(self, closed: Closed, setup: Setup, unwind: int, number: int, mode: str, profile: str) -> Pair | None:
        """Check one pair of programs as they are; its attempt is the last of `attempts`."""
        return self._round(closed, setup, Search(unwind), 0, number, mode, profile).pair

    def _round(
        self, closed: Closed, setup: Setup, search: Search, number: int, count: int, mode: str, profile: str
    ) -> _Step:
        arguments = profiles.arguments(profile, search.unwind)
        before = self._run(closed.before, arguments)
        if before.verdict == "error" and errors(before.output):
            return _Step(broken=True)
        if before.verdict in _STOP:
            self._note(mode, number, count, profile, before.verdict, "", before.verdict, _last(before), setup)
            return _Step(stop=True)
        if before.verdict == "safe":
            self._note(mode, number, count, profile, "safe", "", "not_violated", "", setup)
            return _Step()
        after = self._run(closed.after, arguments)
        if after.verdict == "error" and errors(after.output):
            return _Step(broken=True)
        if after.verdict in _STOP:
            self._note(mode, number, count, profile, "violated", after.verdict, after.verdict, _last(after), setup)
            return _Step(stop=True)
        old, new = _with_lines(before.failed, closed.before), _with_lines(after.failed, closed.after)
        fresh = [(row, line) for row, line in old if not similar(row, line, new)]
        unwinding = _with_lines(after.unwinding or before.unwinding, closed.after if after.unwinding else closed.before)
        step = _Step(differs=bool(fresh), failed=new, unwinding=unwinding)
        verdicts = (before.verdict, after.verdict)
        if after.verdict == "safe":
            pair, reason, message = self._accept(closed, setup, before, after, arguments, mode, profile)
            self._note(mode, number, count, profile, *verdicts, reason, message, setup)
            return replace(step, pair=pair, failed=[], unwinding=[])
        reason = "twin_not_safe" if new else "bound_too_small"
        if not fresh:
            reason = "both_violated" if old else "bound_too_small"
        message = f"{new[0][0].comment}: {new[0][1][:80]}" if new else ""
        self._note(mode, number, count, profile, *verdicts, reason, message, setup)
        return step

    def _run(self, program: Program, arguments: Sequence[str]) -> Run:
        found = esbmc.run(program.text, arguments, seconds=SECONDS, cache=self.cache)
        self.budget.runs -= _COST_OF_TIMEOUT if found.verdict == "timeout" else 1
        return found

    def _note(
        self, mode: str, number: int, count: int, profile: str, before: str, after: str, outcome: str, message: str,
        setup: Setup,
    ) -> None:  # fmt: skip
        self.attempts.append(
            Attempt(self.scope.function, mode, number, count, profile, before, after, outcome, message[:200],
                    tuple(setup.lines()))
        )  # fmt: skip

    def _accept(
        self, closed: Closed, setup: Setup, before: Run, after: Run, arguments: list[str], mode: str, profile: str
    ) -> tuple[Pair | None, str, str]:
        """(the pair or None, outcome, message) where the fixed program is safe."""
        found, reason = self._place(closed.before, before)
        if found is None:
            return None, reason, ""
        row, example, line, place = found
        statement = closed.before.line(line)
        reached, total = self._probe(closed.after, statement, profile_unwind(arguments))
        if not reached:
            return None, "vacuous", f"0 of {total} probes reached: {statement[:80]}"
        for program in (closed.before, closed.after):
            if fault := compiles(program):
                return None, "does_not_compile", fault
        witness = replay(closed.before, example.inputs, leaks=profile == "leak")
        proof_arguments = profiles.induction(profile, profile_unwind(arguments))
        proof = self._run(closed.after, proof_arguments)
        proved = proof.verdict == "safe" and proof.proof != ""
        pair = Pair(
            self.scope.function, mode, profile, closed.before, closed.after, row, example, line, statement, place,
            tuple(arguments), proof.proof if proved else "bounded", tuple(proof_arguments) if proved else (),
            proof.bound if proved else profile_unwind(arguments), tuple(setup.lines()), closed.repairs,
            (reached, total), witness, before.solver,
        )  # fmt: skip
        return pair, "certified", f"replay {witness.outcome}"

    def _place(self, program: Program, run: Run) -> tuple[tuple[Property, Trace, int, str] | None, str]:
        """The violation that is at or in the slice of the fix: nearest to the fix first; else why there is none."""
        found: list[tuple[int, int, tuple[Property, Trace, int, str]]] = []
        reasons = set()
        for example in trace.read(run.output):
            violation = example.violation
            row = next((row for row in run.failed if _same(row, example)), None)
            if row is None or "unwinding assertion" in violation.comment:
                continue
            line = _line(example)
            owner = program.owner(line).kind
            if owner not in _OURS:
                reasons.add("violation_in_stub" if owner == "stub" else "violation_in_harness")
                continue
            place = self._place_of(program, line, owner, example)
            if place is None:
                reasons.add("outside_slice")
                continue
            found.append((("criterion", "slice", "callee").index(place), len(found), (row, example, line, place)))
        if found:
            return min(found)[2], ""
        return None, min(reasons, default="no_trace")

    def _place_of(self, program: Program, line: int, owner: str, example: Trace) -> str | None:
        origin = program.origin(line)
        if owner == "target" and origin:
            return (
                "criterion" if origin[1] in self.scope.criterion else "slice" if origin[1] in self.scope.slice else None
            )
        last = next((step.line for step in reversed(example.steps) if program.owner(step.line).kind == "target"), 0)
        origin = program.origin(last) if last else None
        return "callee" if origin and origin[1] in self.scope.slice else None

    def _probe(self, program: Program, statement: str, unwind: int) -> tuple[int, int]:
        """(probes reached, probes) in the safe program: the violating statement's twin, else what the fix changed."""
        lines = [line for line in program.lines_of(*_OURS) if program.line(line) == statement]
        if not lines:
            lines = [n for n in program.lines_of("target") if (program.origin(n) or ("", 0))[1] in self.scope.changed]
        text, count = probes.insert(program, self.scope.function, lines)
        if not count:
            text, count = probes.insert_last(program)
        run = esbmc.run(text, probes.arguments(unwind), seconds=SECONDS, cache=self.cache)
        return sum(probes.MARK in row.comment for row in run.failed), count


@dataclass(frozen=True)
class _Step:
    pair: Pair | None = None
    stop: bool = False
    broken: bool = False
    differs: bool = False
    failed: list[tuple[Property, str]] = field(default_factory=list)
    unwinding: list[tuple[Property, str]] = field(default_factory=list)


def profile_unwind(arguments: Sequence[str]) -> int:
    """The bound in ESBMC's arguments."""
    return int(arguments[list(arguments).index("--unwind") + 1])


def _with_lines(rows: Iterable[Property], program: Program) -> list[tuple[Property, str]]:
    return [(row, "" if row.library else program.line(row.line)) for row in rows]


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


def _last(run: Run) -> str:
    lines: Iterator[str] = (line.strip() for line in reversed(run.output.split("\n")) if "ERROR" in line)
    return next(lines, "")
