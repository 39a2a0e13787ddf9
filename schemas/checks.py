"""Checks, figures and plots, as data.

A check is a name, a meaning, a severity and SQL; `quality` runs it. Datasets declare their own in
`builders/<name>/checks.py`, in these same types.

SQL sees each table of the dataset under its own name, and beside it (see `quality.connect`):
`rejects` and `lineage` (all tables', with a column `table_name`), `sources`, `accounting` and, where an earlier release
is given, `previous_<table>`. The SQL of a plot sees `findings` too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from schemas.audits import Audit

Severity = Literal["block", "drop", "warn", "info"]
"""What a failure means: `block` stops a release, `drop` takes the rows out of it, `warn` and `info` are shown."""


@dataclass(frozen=True)
class Check:
    """Rows that should not be there.

    Attributes:
        sql: a query with a column `id` (the row's id, `schemas.Table.row_id_sql`) and, if it helps, `message` (what is
            wrong with this row). It returns the failing rows and no others.
        table: the table whose row ids the query returns; a `drop` check takes these rows out of a release.
        needs: tables or views the query reads besides `table`; where the dataset lacks one, the check does not apply.
        advice: what a person does about it.
    """

    name: str
    meaning: str
    severity: Severity
    table: str
    sql: str
    needs: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True)
class Figure:
    """A measured value per subject (an assay, a speaker, a split) that should lie within bounds.

    Attributes:
        sql: a query with the columns `subject` and `value` and, if it helps, `message` and `low`, `high` (bounds that
            differ by subject; they win over the attributes). Rows whose value is null do not apply.
        low, high: inclusive bounds; a value outside fails. With neither, the figure is only reported.
    """

    name: str
    meaning: str
    severity: Severity
    table: str
    sql: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    needs: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True)
class Unique:
    """Columns whose values together occur once in a table, beside its key. Rows that repeat an earlier row's fail.

    The same in SQL costs several times the time and memory: the engine sorts hashes and looks again at what is equal.
    """

    name: str
    meaning: str
    severity: Severity
    table: str
    columns: tuple[str, ...]
    advice: str = ""


@dataclass(frozen=True)
class Strange:
    """The rows that are least like the others, for people to look at: listed, never failed (severity `info`).

    A row is as strange as the diversity that leaves with it (`quality.anomalies`).

    Attributes:
        columns: number columns that measure a row (a missing value counts as the middle one), or one column of numbers
            in lists of one length, an embedding.
        by: a column whose values are kept apart (a language, a label): strange is who is unlike its own kind. Groups
            of fewer than 30 rows are not judged.
        top: how many rows of a group to list, at most one in twenty.
        needs: as in `Check`.
    """

    name: str
    meaning: str
    table: str
    columns: tuple[str, ...]
    by: str | None = None
    top: int = 20
    needs: tuple[str, ...] = ()
    advice: str = "Listen, look or read: a strange row is a find or a fault."

    @property
    def severity(self) -> Severity:
        """Always `info`: being strange is no fault."""
        return "info"


Kind = Literal["text", "code", "protein", "image", "audio", "strokes"]
"""What a column holds, for `Alike`: text, a program, amino acids, an encoded picture, a fingerprint of 16-bit numbers
(15.6 a second), or strokes (a list of structs with lists x and y)."""


@dataclass(frozen=True)
class Alike:
    """Rows that are nearly alike by what one column holds (`quality.near`): copies that were edited, cropped, renamed,
    encoded again.

    It is reported as `<name>` (rows nearly like an earlier one), `<name>.leakage` (rows nearly like one of an earlier
    split), `<name>.compared` (how many rows were compared, and why not the others) and, for each dataset or evaluation
    set that a run is given to compare with, `<name>.in.<other>` (of a file `exam`, or `exam:question` where the column
    was named).

    Attributes:
        column: of the `kind`.
        apart: a column; rows with the same value of it are meant to be alike (a pair, the frames of a clip) and are not
            compared.
        severity: of copies within the table and in other sets.
        leak: severity of copies in two splits.
        least: how alike rows must be, more than 0 and at most 1, where not the kind's own `quality.near.check.LEAST`: a
            number, or an expression in SQL over the tables that gives it (a threshold in the data).
        never_in: evaluation sets, by the name of their file (`exam`, whatever the column) or dataset, that no row may
            be in: there a copy blocks, and a run that is not given them says so.
        needs: as in `Check`.
    """

    name: str
    meaning: str
    table: str
    column: str
    kind: Kind
    apart: str | None = None
    severity: Severity = "warn"
    leak: Severity = "block"
    least: float | str | None = None
    never_in: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    advice: str = "Compare them: keep one, or keep both in one split and say why."


@dataclass(frozen=True)
class View:
    """A named query that checks and plots share; `materialise` computes it once."""

    name: str
    sql: str
    materialise: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plot:
    """A picture for the report, as a query.

    Attributes:
        kind: `heatmap` (columns `facet`, `x`, `y`, `value`), `histogram` (`facet`, `value`), `bar` (`facet`, `x`,
            `value`), `scatter` (`facet`, `x`, `y`), `table` (any columns) or `media` (`facet`, `id`, `caption`).
            `facet` is optional: one picture each, chosen by the reader.
        x_order, y_order: categories in their order, where it is not the query's own.
        media: for `media`, the `table.column` that has the sound or image of the row with that `id`. The first ones are
            shown, as far as the page's room for media goes.
        picture: for `media`, draws a PNG of an encoded file (a spectrogram); None where it cannot.
    """

    name: str
    title: str
    caption: str
    kind: Literal["heatmap", "histogram", "bar", "scatter", "table", "media"]
    sql: str
    x_title: str = ""
    y_title: str = ""
    value_title: str = ""
    x_order: tuple[str, ...] = ()
    y_order: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    media: str = ""
    picture: Callable[[bytes], bytes | None] | None = None


@dataclass(frozen=True)
class CheckSet:
    """What a dataset adds to the shared checks, in the order it runs and is shown."""

    checks: tuple[Check | Figure | Unique | Strange | Alike, ...] = ()
    views: tuple[View, ...] = ()
    plots: tuple[Plot, ...] = ()
    audits: tuple[Audit, ...] = ()
