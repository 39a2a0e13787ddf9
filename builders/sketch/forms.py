"""The internal form that every reader gives: a drawing as strokes in order, with the group that each belongs to.

A record that cannot be used raises `BadDrawingError` with a reason, and becomes a reject; one that can be mended is
mended by the rules of `strokes`, and says so in `repairs`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

NO_PART = -1
"""The group of a stroke that no part is named for."""


class BadDrawingError(Exception):
    """A record that cannot be used. `reason` is a short code, the message is for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Entry:
    """A record of a source, as the plan sees it: what it is and whose, not its strokes.

    Attributes:
        file: the file's path below the source's folder, or in its archive.
        index: of the record in the file, from 0.
        key: the source's own id.
        category: lower case, words with blanks between.
        drawer: who drew it, where that is known.
        digest: of the strokes as the source gives them; "" where a file is the record and its path the key.
        unit: what `index` counts: `line`, `drawing`, or "" where the file is the record.
        named: False where the source names neither category nor parts, so that nothing can be asked about it.
    """

    file: str
    index: int
    key: str
    category: str
    drawer: str | None
    digest: str = ""
    unit: str = ""
    named: bool = True

    @property
    def place(self) -> str:
        """Where it stands, for lineage: `cat.ndjson line 12`."""
        return f"{self.file} {self.unit} {self.index + 1}" if self.unit else self.file

    def to_json(self) -> list[Any]:
        """A plain form that `Entry(*form)` reads back."""
        return [self.file, self.index, self.key, self.category, self.drawer, self.digest, self.unit, self.named]


@dataclass(frozen=True)
class Problem:
    """A record of the source that becomes no drawing."""

    reason: str
    message: str
    place: str
    record: str = ""


@dataclass(frozen=True)
class Stroke:
    """A line from pen down to pen up.

    Attributes:
        x, y: float32 (n,), in the source's coordinates, y down.
        t: int32 (n,), ms from the drawing's first point; None where the source has no times.
        group: index into `Drawing.groups`, or `NO_PART`.
    """

    x: np.ndarray
    y: np.ndarray
    t: np.ndarray | None = None
    group: int = NO_PART


@dataclass(frozen=True)
class Raster:
    """A drawing of pixels alone.

    Attributes:
        ink: bool (height, width).
        group: int16 (height, width), index into `Drawing.groups` or `NO_PART`.
    """

    ink: np.ndarray
    group: np.ndarray


@dataclass(frozen=True)
class Drawing:
    """A drawing as a reader gives it.

    Attributes:
        groups: names of the groups that strokes belong to: parts of an object (each name once) or objects of a scene.
        kind: `object`, `scene` or `character`.
        width, height: of the canvas it was drawn on, where known.
        raster: in place of strokes; then there is no order.
        repairs: codes of what was mended, each once.
        prescribed: parts whose turn was set by the task; they say nothing of how people order parts.
    """

    kind: str
    strokes: tuple[Stroke, ...]
    groups: tuple[str, ...] = ()
    country: str | None = None
    recognized: bool | None = None
    width: float | None = None
    height: float | None = None
    raster: Raster | None = None
    repairs: tuple[str, ...] = ()
    prescribed: frozenset[str] = frozenset()

    @property
    def first_strokes(self) -> dict[int, int]:
        """The first stroke of each group that has one, in the order of drawing."""
        found: dict[int, int] = {}
        for index, stroke in enumerate(self.strokes):
            if stroke.group != NO_PART:
                found.setdefault(stroke.group, index)
        return found

    @property
    def part_order(self) -> list[str]:
        """Names of its parts by their first stroke, each once, without those whose turn was prescribed."""
        names = dict.fromkeys(self.groups[group] for group in self.first_strokes)
        return [name for name in names if name not in self.prescribed]

    @property
    def returned(self) -> frozenset[int]:
        """Groups that the pen came back to after another group."""
        seen: set[int] = set()
        again: set[int] = set()
        last = NO_PART
        for stroke in self.strokes:
            if stroke.group != NO_PART:
                if stroke.group != last and stroke.group in seen:
                    again.add(stroke.group)
                seen.add(stroke.group)
                last = stroke.group
        return frozenset(again)


class Reader(Protocol):
    """A source in one of the formats."""

    def entries(self) -> Iterator[Entry | Problem]:
        """Every record in a stable order: what can be said of it without its strokes, or why it cannot be used."""
        ...

    def drawing(self, entry: Entry) -> Drawing:
        """The drawing of an entry.

        Raises:
            BadDrawingError: it cannot be used.
        """
        ...


def digest(strokes: Any) -> str:
    """Of strokes as a source gives them: two records with the same one hold the same drawing."""
    return hashlib.sha256(json.dumps(strokes, sort_keys=True).encode()).hexdigest()[:16]


def short(record: str) -> str:
    """The head of a record, for the rejects."""
    return record[:400]


def files(folder: Path, *suffixes: str) -> list[Path]:
    """The files below a folder that end so, sorted by path; hidden ones and those that lead out of it are left out."""
    root = folder.resolve()
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.endswith(suffixes)
        and not path.name.startswith(".")
        and path.is_file()
        and path.resolve().is_relative_to(root)
    )


def text_of(record: dict[str, Any], name: str) -> str | None:
    """A field as text, where it is a text or a whole number; None where it is absent or anything else."""
    value = record.get(name)
    if isinstance(value, str) and value.strip():
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def unique(codes: Sequence[str]) -> tuple[str, ...]:
    """Each code once, sorted."""
    return tuple(sorted(set(codes)))
