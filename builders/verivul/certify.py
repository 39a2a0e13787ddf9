"""The certifier: checks a fix's function on both sides under setup after setup, narrowing each until it is decided.

A pair is accepted if the program before the fix is violated in the slice of the fix, the one after it is safe under the
same harness, bound and properties, the violating statement (or what the fix put in its place) is reachable in the safe
one, and both compile (`accept`). Every attempt is kept with its outcome.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from builders.verivul import esbmc, profiles
from builders.verivul.accept import accept
from builders.verivul.assumptions import Setup
from builders.verivul.closer import Closed
from builders.verivul.esbmc import Property, Run
from builders.verivul.outcome import Attempt, Budget, Pair, Scope
from builders.verivul.program import Program
from builders.verivul.repair import errors
from builders.verivul.strengthen import Search, similar, strengthen

SECONDS = 6
"""Processor time of one run of ESBMC."""

_ROUNDS = 16
_COST_OF_TIMEOUT = 5
_STOP = ("timeout", "memory", "error", "unknown")


@dataclass
class Certifier:
    """Certifies one function of a fix.

    Attributes:
        attempts: what was tried, in order.
        stopped: it does not compile, or ESBMC ran out of time or memory: larger setups will, too.
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
            if profile == "leak" and not search.leaks:
                continue
            setup.kept = profile == "leak"
            earlier: tuple[Setup, _Step] | None = None
            step, closed = _Step(), None
            for count in range(_ROUNDS):
                place = _Place(mode, number, count, profile)
                if self.budget.runs <= 0:
                    self._note(place, "", "", "out_of_budget", "", setup)
                    return None
                closed = close(setup, False)
                here = (profile, search.unwind, closed.before.text, closed.after.text)
                if here not in self._seen:
                    self._seen.add(here)
                    closed, step = self._checked(close, closed, setup, search, place)
                    if step.pair or step.stop:
                        self.stopped = step.stop
                        return step.pair
                    if step.gone and earlier is not None:
                        search.ban(setup, earlier[0])  # the last narrowing took the violation away: undo it
                        setup, step = earlier
                    earlier = None if step.gone else (copy.deepcopy(setup), step)
                elif count == 0:  # another setup gave the same programs
                    break
                if not (search.deepen() if step.deeper else
                        strengthen(setup, search, closed, step.failed, step.unwinding)):  # fmt: skip
                    break
        return None

    def once(self, closed: Closed, setup: Setup, unwind: int, number: int, mode: str, profile: str) -> Pair | None:
        """Check one pair of programs as they are; its attempt is the last of `attempts`."""
        return self._round(closed, setup, Search(unwind), _Place(mode, 0, number, profile)).pair

    def _checked(
        self, close: Callable[[Setup, bool], Closed], closed: Closed, setup: Setup, search: Search, place: _Place
    ) -> tuple[Closed, _Step]:
        """The programs and what ESBMC says of them; where they do not compile, they are mended first."""
        for mended in (False, True):
            closed = close(setup, True) if mended else closed
            if closed.error:
                self._note(place, "", "", "does_not_parse", closed.error, setup)
                return closed, _Step(stop=True, broken=True)
            step = self._round(closed, setup, search, place)
            if not step.broken:
                return closed, step
        self._note(place, "error", "", "error", "", setup)
        return closed, _Step(stop=True, broken=True)

    def _round(self, closed: Closed, setup: Setup, search: Search, place: _Place) -> _Step:
        arguments = profiles.arguments(place.profile, search.unwind)
        before = self._run(closed.before.text, [*arguments, *profiles.HUNT])
        if before.verdict == "error" and errors(before.output):
            return _Step(broken=True)
        if before.verdict in _STOP:
            self._note(place, before.verdict, "", before.verdict, _last(before), setup)
            return _Step(stop=True)
        if before.verdict == "safe":
            cut = self._run(closed.before.text, arguments).verdict == "violated"
            self._note(place, "safe", "", "bound_too_small" if cut else "not_violated", "", setup)
            return _Step(gone=True, deeper=cut)
        after = self._run(closed.after.text, arguments)
        if after.verdict == "error" and errors(after.output):
            return _Step(broken=True)
        if after.verdict in _STOP:
            self._note(place, "violated", after.verdict, after.verdict, _last(after), setup)
            return _Step(stop=True)
        if after.verdict == "safe":
            found = accept(closed, self.scope, setup, before, arguments, mode=place.mode, profile=place.profile,
                           check=self._run)  # fmt: skip
            self._note(place, "violated", "safe", found.outcome, found.message, setup)
            return _Step(pair=found.pair)
        old, new = _with_lines(before.failed, closed.before), _with_lines(after.failed, closed.after)
        reason = "both_violated" if new and all(similar(row, line, new) for row, line in old) else "twin_not_safe"
        message = f"{new[0][0].comment}: {new[0][1][:80]}" if new else ""
        self._note(place, "violated", "violated", reason if new else "bound_too_small", message, setup)
        return _Step(failed=new, unwinding=_with_lines(after.unwinding, closed.after))

    def _run(self, text: str, arguments: Sequence[str]) -> Run:
        found = esbmc.run(text, arguments, seconds=SECONDS, cache=self.cache)
        self.budget.runs -= _COST_OF_TIMEOUT if found.verdict == "timeout" else 1
        return found

    def _note(self, place: _Place, before: str, after: str, outcome: str, message: str, setup: Setup) -> None:
        self.attempts.append(
            Attempt(self.scope.function, place.mode, place.setup, place.round, place.profile, before, after, outcome,
                    message[:200], tuple(setup.lines()))
        )  # fmt: skip


@dataclass(frozen=True)
class _Place:
    """Where a search stands: what an attempt is called by."""

    mode: str
    setup: int
    round: int
    profile: str


@dataclass(frozen=True)
class _Step:
    """What a round gave: a pair, an end, no violation before the fix (`gone`; `deeper`: the bound may hide it), or what
    fails in the fixed program."""

    pair: Pair | None = None
    stop: bool = False
    broken: bool = False
    gone: bool = False
    deeper: bool = False
    failed: list[tuple[Property, str]] = field(default_factory=list)
    unwinding: list[tuple[Property, str]] = field(default_factory=list)


def _with_lines(rows: Iterable[Property], program: Program) -> list[tuple[Property, str]]:
    return [(row, "" if row.library else program.line(row.line)) for row in rows]


def _last(run: Run) -> str:
    lines: Iterator[str] = (line.strip() for line in reversed(run.output.split("\n")) if "ERROR" in line)
    return next(lines, "")
