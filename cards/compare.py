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
    lacking: list[str] = []
    for line in marked:
        match = next((hit for i in range(free, len(found)) if (hit := _only_figures(line, found[i], i))), None)
        if match is None:
            lacking.append(line)
            continue
        index, values = match
        yield from _extra(document, found[free:index], first + free)
        free = index + 1
        for (name, value), says in zip(MARKED.findall(line), values, strict=True):
            if says != value:
                yield f"[{document} > line {first + index}] {name}: the document says {says!r}, the data say {value!r}"
    yield from _extra(document, found[free:], first + free)
    for line in lacking:
        names = ", ".join(dict.fromkeys(name for name, _ in MARKED.findall(line)))
        about = f" (figures: {names})" if names else ""
        if plain(line).strip():
            yield f"[{document} > line {first}] lacks {_short(plain(line))}{about}"


def _extra(document: str, lines: list[str], first: int) -> Iterator[str]:
    for offset, line in enumerate(lines):
        if line.strip():
            place = f"[{document} > line {first + offset}]"
            yield f"{place} {_short(line)} is not made from the data: move it to datasheet.toml"


def _shape(line: str) -> re.Pattern[str]:
    """A pattern of a line in which each figure may have any value."""
    pieces = MARKED.split(line)  # text, name, value, text, name, value, ..., text
    return re.compile("(.*?)".join(re.escape(piece) for piece in pieces[::3]))


def _only_figures(marked: str, found: str, index: int) -> tuple[int, tuple[str, ...]] | None:
    """(index, values of the figures) of a line that is the marked one but for its figures; None for any other."""
    literal = MARKED.sub("", marked).strip(" |-")
    match = _shape(marked).fullmatch(found) if literal and MARKED.search(marked) else None
    return (index, match.groups()) if match else None


def _short(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= 100 else line[:97] + "...")


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
