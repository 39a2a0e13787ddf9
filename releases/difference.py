"""A difference between two versions of a dataset, as data and as text; the rule that says how large a step it takes.

LEVELS_OF is the rule, one line a kind of change:

- major: code or results built on the old version may break or no longer compare. A table, column or row is gone; a
  type, key or unit is another; nulls come where there were none; a label says something else; a row is in another
  split; a source's licence is another.
- minor: all that was there is there, but the rows are not the same: rows, columns, tables or splits were added, or a
  value that is no label was corrected. Results may shift, so this is no patch.
- patch: every row is what it was (equal digests of the rows); descriptions, sources' records or tools changed.

Finding the changes is the business of `releases.diff`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from releases.rows import Sample, rows_text
from releases.version import LEVELS, Level

LEVELS_OF: Mapping[str, Level] = {
    "table removed": "major",
    "column removed": "major",
    "column retyped": "major",
    "key changed": "major",
    "unit changed": "major",
    "nulls allowed": "major",
    "split removed": "major",
    "rows removed": "major",
    "labels changed": "major",
    "train to test": "major",
    "split moved": "major",
    "licence changed": "major",
    "table added": "minor",
    "column added": "minor",
    "split added": "minor",
    "rows added": "minor",
    "values changed": "minor",
    "constraint changed": "minor",
    "source added": "minor",
    "source removed": "patch",
    "source changed": "patch",
    "description changed": "patch",
    "build changed": "patch",
}

_SIGNS = {"added": "+", "removed": "-"}


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes:
        kind: a key of LEVELS_OF.
        table: None where it is about the whole dataset.
        text: what changed, for people.
        rows: how many rows it concerns, where it concerns rows.
    """

    kind: str
    table: str | None
    column: str | None
    text: str
    rows: int | None = None
    samples: tuple[Sample, ...] = ()

    @property
    def level(self) -> Level:
        """The step in version that this change takes."""
        return LEVELS_OF[self.kind]

    @property
    def sign(self) -> str:
        """`+` for something new, `-` for something gone, `~` for something else than it was."""
        return _SIGNS.get(self.kind.split()[-1], "~")

    @property
    def line(self) -> str:
        """The change on one line, with the path to it."""
        place = " > ".join(part for part in (self.table, self.column) if part)
        return f"{self.kind}: {f'[{place}] ' if place else ''}{self.text}"


@dataclass(frozen=True)
class TableChange:
    """A table that is in both versions or in one: its rows before and after (None: no such table)."""

    name: str
    before: int | None
    after: int | None
    added: int = 0
    removed: int = 0
    changed: int = 0


@dataclass(frozen=True)
class Difference:
    """All that differs, in a fixed order: the dataset's changes, then table by table in the schema's order."""

    dataset: str
    old: str
    new: str
    tables: tuple[TableChange, ...]
    changes: tuple[Change, ...]

    @property
    def least_bump(self) -> Level:
        """The smallest honest step; a release in which nothing changed still takes a patch."""
        return LEVELS[max((LEVELS.index(change.level) for change in self.changes), default=0)]

    @property
    def reasons(self) -> tuple[str, ...]:
        """The changes that ask for the step."""
        return tuple(c.line for c in self.changes if c.level == self.least_bump) or ("nothing changed",)

    def of(self, kind: str) -> list[Change]:
        """The changes of one kind."""
        return [change for change in self.changes if change.kind == kind]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        changes = [{"level": change.level, "sign": change.sign, **asdict(change)} for change in self.changes]
        return {**asdict(self), "least_bump": self.least_bump, "reasons": list(self.reasons), "changes": changes}

    def text(self) -> str:
        """For a console: a line a table and a line a change, most severe first within a table."""
        lines = [f"{self.dataset} {self.old} -> {self.new}: at least {self.least_bump}"]
        lines += [f"  {self._line(change)}" for change in self.ordered(None)]
        for table in self.tables:
            lines.append(table_line(table, self.ordered(table.name)))
            lines += [f"  {self._line(change)}" for change in self.ordered(table.name)]
        return "\n".join(lines) + "\n"

    def ordered(self, table: str | None) -> list[Change]:
        """The changes of a table, most severe first."""
        return sorted((c for c in self.changes if c.table == table), key=lambda c: -LEVELS.index(c.level))

    def _line(self, change: Change) -> str:
        place = f"{change.column}: " if change.column else ""
        return f"{change.sign} {change.level:5}  {change.kind}: {place}{change.text}{samples_text(change.samples)}"


def table_line(table: TableChange, changes: list[Change]) -> str:
    """A table on one line: its sign, rows before and after, and how many were added, removed and changed."""
    if table.before is None:
        return f"+ {table.name}: {rows_text(table.after or 0)}"
    if table.after is None:
        return f"- {table.name}: {rows_text(table.before)}"
    moved = [f"+{table.added:,}", f"-{table.removed:,}", f"~{table.changed:,}"]
    counts = f"{table.before:,} -> {rows_text(table.after)} ({' '.join(moved)})" if changes else rows_text(table.after)
    return f"{'~' if changes else '='} {table.name}: {counts}"


def samples_text(samples: tuple[Sample, ...]) -> str:
    """The example rows in brackets, or nothing."""
    shown = [s.id if s.before is None else f"{s.id}: {s.before} -> {s.after}" for s in samples]
    return f" ({'; '.join(shown)})" if shown else ""
