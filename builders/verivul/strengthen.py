"""Narrows a setup by what still fails in the fixed program: only as much as makes the fixed program safe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from builders.verivul import libc
from builders.verivul.access import last_name, path_of
from builders.verivul.assumptions import About, Setup
from builders.verivul.esbmc import Property
from builders.verivul.parse import NAMES, nodes, parse, text_of
from builders.verivul.parse import field as part

_MAX_UNWIND = 34
_SIZES = {None: 32, 32: 128}


@dataclass
class Search:
    """What the search over assumptions knows.

    Attributes:
        unwind: bound on loops.
        banned: names that may not be narrowed again, for that took the violation away.
        protected: names that the fix compares with NULL.
    """

    unwind: int
    protected: frozenset[str] = frozenset()
    banned: set[str] = field(default_factory=set)
    leaks: bool = True


def strengthen(
    setup: Setup, search: Search, failed: Sequence[tuple[Property, str]], unwinding: Sequence[tuple[Property, str]],
    arguments: Iterable[str],
) -> list[str]:  # fmt: skip
    """Narrow the setup; what was done, empty if nothing is left to do.

    Args:
        failed: properties that fail in the fixed program, each with its line's text; `unwinding` likewise.
        arguments: names that are given to string and memory functions.
    """
    notes: list[str] = []
    for row, line in failed[:6]:
        function = row.function.split("@")[0].strip("_").removesuffix("_impl")
        if function in libc.MODELLED:
            for name in sorted(set(arguments) - search.banned):
                if not (name in search.protected and "NULL" in row.comment):
                    notes += _argument(setup.of(name), name, row.comment, function)
        else:
            notes += _property(setup, search, row, line)
    for _, line in unwinding[:1]:
        if search.unwind < _MAX_UNWIND:
            search.unwind = min(search.unwind * 2 + 2, _MAX_UNWIND + 2)
            notes.append(f"loops unrolled {search.unwind} times")
        else:
            for name in sorted(_names(line)[1]):
                if setup.of(name).span != (1, 8):
                    setup.of(name).span = (1, 8)
                    notes.append(f"{name} in 1..8")
    return notes


def _argument(about: About, name: str, comment: str, function: str) -> list[str]:
    if "NULL" in comment or "invalid pointer" in comment:
        return _nonnull(about, name) or _terminated(about, name)
    if function.startswith("str") and not about.terminated:
        return _terminated(about, name)
    return _larger(about, name)


def _property(setup: Setup, search: Search, row: Property, line: str) -> list[str]:
    pointers, names = _names(line)
    kept = search.protected | search.banned
    pointers, names = sorted(pointers - kept or pointers & search.protected), sorted(names - kept)
    comment, notes = row.comment, []
    if comment.startswith("assertion"):
        if line in setup.assumed:
            return []
        setup.assumed.add(line)
        return [f"asserted: {line}"]
    if "forgotten memory" in comment:
        done, search.leaks = search.leaks, False
        return ["leaks are not checked"] if done else []
    if "bounds" in comment or "same object" in comment:
        for name in dict.fromkeys([*pointers, *names]):
            about = setup.of(name)
            notes += _terminated(about, name) if name in pointers and not about.terminated else _larger(about, name)
    elif "NULL" in comment or "invalid" in comment:
        for name in pointers:
            about = setup.of(name)
            notes += _nonnull(about, name) or ([] if about.size else _larger(about, name))
    elif "overflow" in comment or "shift" in comment or "division" in comment:
        for name in names:
            notes += _number(setup.of(name), name, zero="division" in comment)
    return notes


def _nonnull(about: About, name: str) -> list[str]:
    if about.nonnull:
        return []
    about.nonnull = True
    return [f"{name} is not NULL"]


def _terminated(about: About, name: str) -> list[str]:
    if about.terminated:
        return []
    about.terminated = True
    return [f"{name} is NUL-terminated"]


def _larger(about: About, name: str) -> list[str]:
    size = _SIZES.get(about.size)
    if size is None:
        return []
    about.size = size
    return [f"{name} holds {size}"]


def _number(about: About, name: str, *, zero: bool) -> list[str]:
    if zero and not about.nonzero:
        about.nonzero = True
        return [f"{name} is not 0"]
    after = {None: (0, 1024), (0, 1024): (1, 8)}.get(about.span)
    if after is None:
        return []
    about.span = after
    return [f"{name} in {after[0]}..{after[1]}"]


def _names(line: str) -> tuple[set[str], set[str]]:
    """(names that are dereferenced or given to calls, all names) of a line of code."""
    pointers, names = set(), set()
    for node in nodes(parse(f"void f(void){{{line}\n}}")):
        places = []
        if node.type in ("subscript_expression", "field_expression") or (
            node.type == "pointer_expression" and node.children[0].type == "*"
        ):
            places = [part(node, "argument")]
        elif node.type == "call_expression":
            places = part(node, "arguments").named_children
        elif node.type in NAMES and node.type != "type_identifier":
            names.add(text_of(node))
        pointers |= {last_name(path) for path in map(path_of, places) if path}
    return pointers, names - {"f"}


def similar(row: Property, line: str, others: Iterable[tuple[Property, str]]) -> bool:
    """Whether the same property fails among `others` at a line with nearly the same words."""
    words = set(re.findall(r"\w+", line))
    for other, text in others:
        if (other.function, other.comment) == (row.function, row.comment):
            theirs = set(re.findall(r"\w+", text))
            if line == text or len(words & theirs) >= 0.7 * max(1, len(words | theirs)):
                return True
    return False
