"""Narrows a setup by what still fails in the fixed program: only as much as makes the fixed program safe.

What fails is a line of code; what can be narrowed are the harness's inputs. From the one to the other lead the names
on the line, and, where these are variables of the program, what they are set from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from builders.verivul import libc
from builders.verivul.access import key_of, path_of, uses
from builders.verivul.assumptions import About, Setup
from builders.verivul.closer import Closed
from builders.verivul.esbmc import Property
from builders.verivul.parse import NAMES, nodes, parse, text_of
from builders.verivul.parse import field as part

Failed = Sequence[tuple[Property, str]]
"""Properties that fail, each with its line's text."""

_MAX_UNWIND = 16
_SIZES = {None: 12, 12: 32, 32: 128}
_SPANS = {None: (0, 1024), (0, 1024): (1, 8)}
_INDICES = {None: (0, 7), (0, 1024): (0, 7), (1, 8): (0, 1), (0, 7): (0, 1)}
_POINTERS = ("pointer", "text")
_AT_A_TIME = 6
_FAR = 4


@dataclass
class Search:
    """What the search over assumptions knows.

    Attributes:
        unwind: bound on loops.
        protected: what the fix compares with NULL (`access.key_of`, as everywhere here).
        banned: what may not be narrowed again, for that took the violation away.
        careful: narrow one thing at a time.
    """

    unwind: int
    protected: frozenset[str] = frozenset()
    banned: set[str] = field(default_factory=set)
    careful: bool = False
    leaks: bool = True

    def deepen(self) -> bool:
        """Raise the bound on loops; False where it is high enough."""
        if self.unwind >= _MAX_UNWIND:
            return False
        self.unwind = self.unwind * 2 + 2
        return True

    def ban(self, narrowed: Setup, earlier: Setup) -> None:
        """The last narrowing took the violation away: the next are one at a time, or without what was narrowed."""
        changed = {name for name, about in narrowed.about.items() if about != earlier.about.get(name, About())}
        changed |= narrowed.assumed - earlier.assumed
        if self.careful or len(changed) == 1:
            self.banned |= changed
        self.careful = True


def strengthen(setup: Setup, search: Search, closed: Closed, failed: Failed, unwinding: Failed) -> list[str]:
    """Narrow the setup; what was done, empty if nothing is left to do.

    Args:
        closed: the programs, with what the harness sets and where variables come from.
        failed: properties that fail in the fixed program; `unwinding` its loops that the bound cuts.
    """
    found = _Narrowing(setup, search, closed)
    for row, line in failed[:_AT_A_TIME]:
        found.property(row, line)
    if not found.notes and unwinding:
        found.loop(unwinding[0][1])
    return found.notes


class _Narrowing:
    def __init__(self, setup: Setup, search: Search, closed: Closed) -> None:
        self.setup, self.search, self.closed = setup, search, closed
        self.notes: list[str] = []

    def property(self, row: Property, line: str) -> None:
        """Narrow for one property."""
        function = row.function.split("@")[0].strip("_").removesuffix("_impl")
        comment = row.comment.lower()
        if function in libc.MODELLED:
            given = self.closed.facts.arguments
            names = given.get(function) or set().union(*given.values())
            for key in self._inputs(names, *_POINTERS):
                self._argument(key, comment, function)
        elif comment.startswith("assertion"):
            self._assume(line)
        elif "forgotten memory" in comment:
            if self.search.leaks:
                self.search.leaks = False
                self.notes.append("leaks are not checked")
        else:
            self._statement(comment, line)

    def _statement(self, comment: str, line: str) -> None:
        pointers, names = _names(line)
        null = "null" in comment
        if "bounds" in comment or "same object" in comment:
            for key in self._inputs(pointers, "text"):
                if not self._change(key, "terminated"):
                    self._change(key, "size")
            for key in self._inputs(names - pointers, "scalar") if not self.notes else ():
                self._span(key, _INDICES)
            for key in self._inputs(pointers, "pointer") if not self.notes else ():
                self._change(key, "size")
        elif null or "invalid" in comment:
            keys = self._inputs(pointers, *_POINTERS)
            for key in [key for key in keys if key not in self.search.protected] or keys:
                if not self._change(key, "nonnull") and self._about(key).size is None:
                    self._change(key, "size")
        elif "overflow" in comment or "shift" in comment or "division" in comment:
            for key in self._inputs(names, "scalar"):
                if "division" not in comment or not self._change(key, "nonzero"):
                    self._span(key, _SPANS)

    def _argument(self, key: str, comment: str, function: str) -> None:
        if "null" in comment or "invalid pointer" in comment:
            if key not in self.search.protected and not self._change(key, "nonnull"):
                self._change(key, "terminated")
        elif not (function.startswith("str") and self._change(key, "terminated")):
            self._change(key, "size")

    def loop(self, line: str) -> None:
        """Narrow what limits a loop to the bound, else raise the bound."""
        small = (0, self.setup.elements)
        for key in self._inputs(_names(line)[1], "scalar"):
            if self._about(key).span in (None, (0, 1024)):
                self._span(key, {self._about(key).span: small})
        if not self.notes and self.search.deepen():
            self.notes.append(f"loops unrolled {self.search.unwind} times")

    def _inputs(self, names: Iterable[str], *kinds: str) -> list[str]:
        """The harness's inputs of these kinds behind names, sorted; banned ones are left out."""
        found: set[str] = set()
        inputs, sources = self.closed.inputs, self.closed.facts.sources
        waiting, seen = [(name, 0) for name in names], set()
        while waiting:
            name, far = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if inputs.get(name) in kinds:
                found.add(name)
            elif far < _FAR:
                waiting += [(source, far + 1) for source in sources.get(name, ())]
        return sorted(found - self.search.banned)

    def _about(self, key: str) -> About:
        return self.setup.about.get(key, About())

    def _full(self) -> bool:
        return self.search.careful and bool(self.notes)

    def _change(self, key: str, what: str) -> bool:
        """Whether an assumption about an input could be made (`size` grows, the others hold or not)."""
        about = self._about(key)
        new = _SIZES.get(about.size) if what == "size" else True
        if self._full() or not new or getattr(about, what) == new:
            return False
        setattr(self.setup.of(key), what, new)
        self.notes.append(f"{key}: {what} {new}")
        return True

    def _span(self, key: str, steps: dict[tuple[int, int] | None, tuple[int, int]]) -> None:
        after = steps.get(self._about(key).span)
        if after is not None and not self._full():
            self.setup.of(key).span = after
            self.notes.append(f"{key} in {after[0]}..{after[1]}")

    def _assume(self, line: str) -> None:
        if line and line not in self.setup.assumed | self.search.banned and not self._full():
            self.setup.assumed.add(line)
            self.notes.append(f"asserted: {line}")


def _names(line: str) -> tuple[set[str], set[str]]:
    """(what is dereferenced or given to calls, everything) on a line of code, as `access.key_of`."""
    pointers: set[str] = set()
    names: set[str] = set()
    for node in nodes(parse(f"void f(void){{{line}\n}}")):
        places = []
        if node.type in ("subscript_expression", "field_expression") or (
            node.type == "pointer_expression" and node.children[0].type == "*"
        ):
            places = [part(node, "argument")]
        elif node.type == "call_expression":
            places = part(node, "arguments").named_children
            names |= {key_of(path) for place in places for path in uses(place)}
        elif node.type in NAMES and node.type != "type_identifier":
            names.add(("." if node.type == "field_identifier" else "") + text_of(node))
        pointers |= {key_of(path) for path in map(path_of, places) if path}
    return pointers, names - {"f"}


def similar(row: Property, line: str, others: Failed) -> bool:
    """Whether the same property fails among `others` at a line with nearly the same words."""
    words = set(re.findall(r"\w+", line))
    for other, text in others:
        if (other.function, other.comment) == (row.function, row.comment):
            theirs = set(re.findall(r"\w+", text))
            if line == text or len(words & theirs) >= 0.7 * max(1, len(words | theirs)):
                return True
    return False
