"""What the plan knows of a source before any stroke is drawn: its records, each drawing once.

A record that says a drawing again, with the same key and strokes, is merged into the first; the same key with other
strokes is refused, for which of the two is meant cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from builders.sketch.forms import Entry, Problem
from builders.sketch.readers import open_source

PIECE = 400
"""Drawings of a shard."""


@dataclass
class Index:
    """A source's records.

    Attributes:
        merged: by the key of a drawing, the places of further records of it.
    """

    entries: list[Entry] = field(default_factory=list)
    merged: dict[str, list[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def pieces(self) -> Iterator[list[Entry]]:
        """The entries of each shard of drawings."""
        for first in range(0, len(self.entries), PIECE):
            yield self.entries[first : first + PIECE]

    def bundles(self) -> Iterator[list[Entry]]:
        """Whole categories together, for what sees a category: as many as make a piece."""
        by_category: dict[str, list[Entry]] = {}
        for entry in self.entries:
            if entry.named:
                by_category.setdefault(entry.category, []).append(entry)
        bundle: list[Entry] = []
        for category in sorted(by_category):
            bundle += by_category[category]
            if len(bundle) >= PIECE:
                yield bundle
                bundle = []
        if bundle:
            yield bundle


def index(name: str, path: Path) -> Index:
    """The records of a source, by its name in sources.toml."""
    found = Index()
    known: dict[str, Entry] = {}
    for item in open_source(name, path).entries():
        if isinstance(item, Problem):
            found.problems.append(item)
        elif item.key not in known:
            known[item.key] = item
            found.entries.append(item)
        elif item.digest and item.digest == known[item.key].digest:
            found.merged.setdefault(item.key, []).append(item.place)
        else:
            message = f"{known[item.key].place} has the key {item.key}, too, with other strokes"
            found.problems.append(Problem("duplicate_key", message, item.place))
    return found
