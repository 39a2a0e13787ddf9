"""Where a document on disk and the data disagree, said so that a person finds the place.

Texts are compared line by line: a line that differs only in figures is stale (each figure is named, with both values);
any other difference was made by hand or by a newer datasheet.toml. YAML and JSON are compared value by value.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from cards.text import MARKED, plain

_NUMBER = re.compile(r"-?\d[\d.,e+-]*(?: [kMGT]?B)?")
"""A figure that is a number, a date or a size."""

_SHORT = 100
"""Characters of a line that a problem shows."""


def text_problems(document: str, made: str, there: str, before: int = 0) -> list[str]:
    """Differences between a text as it is made now (with marks) and as it is on disk.

    Args:
        before: lines of the document that come before `there`.

    Returns:
        one line a difference, starting with `[document > line n]`.
    """
    marked = made.splitlines()
    wanted = [plain(line) for line in marked]
    found = there.splitlines()
    problems: list[str] = []
    matcher = difflib.SequenceMatcher(None, wanted, found, autojunk=False)
    for kind, start, end, from_, to in matcher.get_opcodes():
        if kind != "equal":
            problems += _block(document, marked[start:end], found[from_:to], before + from_ + 1)
    return problems


def _block(document: str, marked: list[str], found: list[str], first: int) -> Iterator[str]:
    """The differences of a block of lines: pairs in which only figures differ, then what is left on each side."""
    free = 0
    extra: list[tuple[int, str]] = []
    lacking: list[str] = []
    for line in marked:
        match = next((hit for i in range(free, len(found)) if (hit := _only_figures(line, found[i], i))), None)
        if match is None:
            lacking.append(line)
            continue
        index, values = match
        extra += [(first + i, found[i]) for i in range(free, index)]
        free = index + 1
        figures = [(name, value) for name, value in MARKED.findall(line) if _NUMBER.fullmatch(value)]
        for (name, value), says in zip(figures, values, strict=True):
            if says != value:
                yield f"[{document} > line {first + index}] {name}: the document says {says!r}, the data say {value!r}"
    extra += [(first + i, found[i]) for i in range(free, len(found))]
    yield from _other(document, first, [line for line in lacking if plain(line).strip()], extra)


def _other(document: str, first: int, lacking: list[str], extra: list[tuple[int, str]]) -> Iterator[str]:
    """Lines that differ in more than figures, in pairs where they are alike."""
    for place, line in extra:
        if not line.strip():
            continue
        twin = next((other for other in lacking if _alike(plain(other), line)), None)
        if twin is None:
            yield f"[{document} > line {place}] {_short(line)} is not made from the data: move it to datasheet.toml"
            continue
        lacking.remove(twin)
        says, made = _excerpts(line, plain(twin))
        yield f"[{document} > line {place}] the document says {says}, it should say {made}{_about(twin)}"
    for line in lacking:
        yield f"[{document} > line {first}] lacks {_short(plain(line))}{_about(line)}"


def _about(marked: str) -> str:
    names = ", ".join(dict.fromkeys(name.split(" ")[0] for name, _ in MARKED.findall(marked)))
    return f" (figures: {names})" if names else ""


def _shape(line: str) -> re.Pattern[str]:
    """A pattern of a line in which each number may be another; texts, such as the name in a row, must be the same."""
    pieces = MARKED.split(line)  # text, name, value, text, name, value, ..., text
    pattern = re.escape(pieces[0])
    for value, text in zip(pieces[2::3], pieces[3::3], strict=True):
        pattern += f"({_NUMBER.pattern})" if _NUMBER.fullmatch(value) else re.escape(value)
        pattern += re.escape(text)
    return re.compile(pattern)


def _only_figures(marked: str, found: str, index: int) -> tuple[int, tuple[str, ...]] | None:
    """(index, values of the figures) of a line that is the marked one but for its numbers; None for any other."""
    match = _shape(marked).fullmatch(found) if MARKED.search(marked) else None
    return (index, match.groups()) if match else None


def _alike(one: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio() > 0.6


def _excerpts(one: str, other: str) -> tuple[str, str]:
    """Both lines, long ones from a little before the first difference."""
    if max(len(one), len(other)) <= _SHORT:
        return repr(one.strip()), repr(other.strip())
    start = max(0, next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0) - _SHORT // 4)
    return _short(one[start:]), _short(other[start:])


def _short(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= _SHORT else line[: _SHORT - 3] + "...")


def value_problems(place: str, made: Any, there: Any) -> list[str]:
    """Differences between two trees of mappings, lists and scalars, each with its path.

    Items of lists are named by their `config_name`, `name` or `@id`, where they have one.
    """
    if isinstance(made, dict) and isinstance(there, dict):
        problems = []
        for key in {**made, **there}:
            problems += value_problems(f"{place} > {key}", made.get(key), there.get(key))
        return problems
    if isinstance(made, list) and isinstance(there, list):
        left, right = _named(made), _named(there)
        if left is not None and right is not None:
            return value_problems(place, left, right)
        if len(made) == len(there):
            pairs = enumerate(zip(made, there, strict=True))
            return [line for index, (a, b) in pairs for line in value_problems(f"{place} > {index}", a, b)]
    if type(made) is type(there) and made == there:
        return []
    if made is None:
        return [f"[{place}] {_short(str(there))} is not made from the data: move it to datasheet.toml"]
    if there is None:
        return [f"[{place}] is missing; the data say {_short(str(made))}"]
    return [f"[{place}] the document says {_short(str(there))}, the data say {_short(str(made))}"]


def _named(items: list[Any]) -> dict[str, Any] | None:
    """A list of named things by name; None where some have no name or a name stands twice."""
    names = []
    for item in items:
        if not isinstance(item, dict):
            return None
        names.append(item.get("config_name") or item.get("@id") or item.get("name") or item.get("split"))
    return dict(zip(names, items, strict=True)) if all(names) and len(set(names)) == len(names) else None
