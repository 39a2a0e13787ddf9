"""What is in each column: missing values, ranges, common values, histograms; and the figures that follow from them.

Every number is exact but `distinct`, which is HyperLogLog's estimate (within about 5 %). Text and lists are described
by their length, media by nothing but their missing values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from quality import duck
from quality.connect import Session
from quality.ledger import Ledger
from schemas import (
    Audio,
    Bool,
    Column,
    Date,
    Figure,
    Float,
    Image,
    Int,
    Label,
    List,
    Struct,
    Table,
    Text,
    Timestamp,
    sql,
)

TOP = 10
BINS = 30
NEAR_CONSTANT = 0.99
CATEGORIES = 50
"""A column with more values than this is no class label."""

_COUNTED = 1000
"""Up to this many distinct values, a column's values are all counted, by split."""

Row = tuple[str, float, None, None, None]


@dataclass
class ColumnProfile:
    """One column.

    Attributes:
        nulls: by split.
        measure: what `low`, `high`, `mean` and `histogram` are of: `value`, `length`, or empty where there are none.
        top: the most common values (as text, or numbers) with their counts.
        counts: value -> split -> rows, where there are few values; else None.
        histogram: counts of `BINS` equal bins from `low` to `high`.
    """

    nulls: dict[str, int]
    distinct: int | None = None
    measure: str = ""
    low: Any = None
    high: Any = None
    mean: float | None = None
    top: list[tuple[Any, int]] = field(default_factory=list)
    counts: dict[Any, dict[str, int]] | None = None
    histogram: list[int] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The plain form of quality/report.json."""
        return {
            "nulls": sum(self.nulls.values()),
            "nulls_by_split": self.nulls,
            "distinct": self.distinct,
            "measure": self.measure,
            "min": _plain(self.low),
            "max": _plain(self.high),
            "mean": _plain(self.mean),
            "top": [[_plain(value), count] for value, count in self.top],
            "histogram": self.histogram,
        }


@dataclass
class TableProfile:
    """One table: rows by split, and its columns."""

    splits: dict[str, int]
    columns: dict[str, ColumnProfile]

    @property
    def rows(self) -> int:
        return sum(self.splits.values())

    def to_json(self) -> dict[str, Any]:
        """The plain form of quality/report.json."""
        columns = {name: column.to_json() for name, column in self.columns.items()}
        return {"rows": self.rows, "splits": self.splits, "columns": columns}


def check_profile(ledger: Ledger, table: Table) -> TableProfile:
    """Measure a table, and record its figures: missing values, near-constant columns, class balance."""
    measured = profile(ledger.session, table)
    for figure, rows in _figures(table, measured):
        ledger.measured(figure, rows)
    return measured


def profile(session: Session, table: Table) -> TableProfile:
    """Measure every column of a table: one scan for all, one for each column with few values or numbers."""
    splits, columns = _scan(session, table)
    measured = TableProfile(splits, columns)
    for column in table.columns:
        found = columns[column.name]
        if found.distinct is not None and found.distinct <= max(_COUNTED, 2 * (1 - NEAR_CONSTANT) * measured.rows):
            _count_values(session, table, column, found)
        if found.measure and isinstance(found.low, int | float) and isinstance(found.high, int | float):
            _histogram(session, table, column, found)
    return measured


def _scan(session: Session, table: Table) -> tuple[dict[str, int], dict[str, ColumnProfile]]:
    parts = []
    for column in table.columns:
        value, measure = sql.name(column.name), measure_sql(column)
        # An average of infinite values is an error in DuckDB; `finite` has found them already.
        finite = f"CASE WHEN isfinite({measure}) THEN {measure} END" if isinstance(column.type, Float) else measure
        parts.append(f"count({value})")
        parts.append(f"[min({finite}), max({finite})]" if measure else "NULL")
        parts.append(f"fsum({finite}::DOUBLE)" if measure and not _is_time(column) else "NULL")
    query = f"SELECT {duck.SPLIT}, count(*), {', '.join(parts)} FROM {sql.name(table.name)} GROUP BY {duck.SPLIT}"
    by_split = {row[0]: row[1:] for row in session.rows(query)}
    by_split = {split: by_split[split] for split in [*table.splits, *by_split] if split in by_split}
    rows = {split: row[0] for split, row in by_split.items()}
    distinct = _distinct(session, table)
    columns = {}
    for index, column in enumerate(table.columns):
        cells = {split: row[1 + 3 * index : 4 + 3 * index] for split, row in by_split.items()}
        ends = [end for _, pair, _ in cells.values() for end in pair or () if end is not None]
        filled = sum(count for count, _, _ in cells.values())
        sums = [total for _, _, total in cells.values() if total is not None]
        columns[column.name] = ColumnProfile(
            nulls={split: rows[split] - cells[split][0] for split in cells},
            distinct=distinct.get(column.name),
            measure=_measure_word(column) if ends else "",
            low=min(ends, default=None),
            high=max(ends, default=None),
            # The last digits depend on the order in which threads add: 12 are the same in every run.
            mean=float(f"{sum(sums) / filled:.12g}") if sums and filled else None,
        )
    return rows, columns


def _distinct(session: Session, table: Table) -> dict[str, int]:
    countable = [column.name for column in table.columns if not isinstance(column.type, Image | Audio | Struct | List)]
    parts = ", ".join(f"approx_count_distinct({sql.name(name)})" for name in countable)
    return dict(zip(countable, session.one(f"SELECT {parts} FROM {sql.name(table.name)}"), strict=True))


def measure_sql(column: Column) -> str:
    """The number that describes a value of the column, in SQL; empty where there is none."""
    value = sql.name(column.name)
    match column.type:
        case Int() | Float() | Date() | Timestamp():
            return value
        case Text():
            return f"strlen({value})"
        case List():
            return f"len({value})"
    return ""


def _measure_word(column: Column) -> str:
    return {Text: "bytes", List: "length"}.get(type(column.type), "value")


def _is_time(column: Column) -> bool:
    return isinstance(column.type, Date | Timestamp)


def _count_values(session: Session, table: Table, column: Column, found: ColumnProfile) -> None:
    value = sql.name(column.name)
    grouped = f"SELECT {value} AS v, {duck.SPLIT} AS s, count(*) AS n FROM {sql.name(table.name)} GROUP BY ALL"
    few = (found.distinct or 0) <= _COUNTED
    limit = "" if few else f" LIMIT {TOP}"
    query = (
        f"SELECT v, sum(n)::BIGINT, list([s, n::VARCHAR] ORDER BY s) FROM ({grouped}) WHERE v IS NOT NULL "
        f"GROUP BY v ORDER BY 2 DESC, 1{limit}"
    )
    rows = session.rows(query)
    names = column.type.names if isinstance(column.type, Label) else ()
    shown = [(_named(value, names), total, parts) for value, total, parts in rows]
    found.top = [(value, total) for value, total, _ in shown[:TOP]]
    if few:
        found.distinct = len(shown)
        found.counts = {value: {split: int(n) for split, n in parts} for value, _, parts in shown}
        for name in names:
            found.counts.setdefault(name, {})


def _named(value: Any, names: tuple[str, ...]) -> Any:
    return names[value] if names and 0 <= value < len(names) else value


def _histogram(session: Session, table: Table, column: Column, found: ColumnProfile) -> None:
    width = (float(found.high) - float(found.low)) / BINS
    if not math.isfinite(width) or width <= 0:
        return
    measure = measure_sql(column)
    position = f"({measure}::DOUBLE - {sql.literal(float(found.low))}) / {sql.literal(width)}"
    query = (
        f"SELECT least({BINS - 1}, floor({position}))::INTEGER AS bin, count(*) FROM {sql.name(table.name)} "
        f"WHERE isfinite({measure}::DOUBLE) GROUP BY 1"
    )
    counts = dict(session.rows(query))
    found.histogram = [counts.get(index, 0) for index in range(BINS)]


def _figures(table: Table, measured: TableProfile) -> list[tuple[Figure, list[Row]]]:
    def figure(name: str, meaning: str, severity: Any, high: float | None = None, advice: str = "") -> Figure:
        source = f"-- from the profile of {table.name}\nSUMMARIZE {sql.name(table.name)}"
        return Figure(f"{table.name}.{name}", meaning, severity, table.name, source, high=high, advice=advice)

    found = [
        (
            figure("missing", "Share of missing values by column, and by split", "info"),
            _missing(measured),
        ),
        (
            figure(
                "missing_by_split",
                "The share of missing values is alike in all splits: difference of largest and smallest",
                "warn",
                0.1,
                "Missing values tell the splits apart: look at how the splits were made.",
            ),
            _missing_gap(measured),
        ),
        (
            figure(
                "near_constant",
                "No column has nearly always one value: share of the most common value",
                "info",
                NEAR_CONSTANT,
                "Leave the column out, or say in its meaning why it is there.",
            ),
            _constancy(measured),
        ),
        (
            figure("class_balance", "Share of each class", "info"),
            _balance(table, measured),
        ),
        (
            figure(
                "class_by_split",
                "Classes have the same shares in each split: total variation distance from the whole table",
                "info",
                0.2,
                "Stratify the split by this column, or say in the datasheet why not.",
            ),
            _balance_gap(table, measured),
        ),
    ]
    return [(figure, rows) for figure, rows in found if rows]


def _missing(measured: TableProfile) -> list[Row]:
    rows: list[Row] = []
    for name, column in measured.columns.items():
        nulls = sum(column.nulls.values())
        if not nulls:
            continue
        rows.append((name, nulls / measured.rows, None, None, None))
        if len(measured.splits) > 1:
            for split, size in measured.splits.items():
                rows.append((f"{name} in {split}", column.nulls[split] / max(1, size), None, None, None))
    return rows


def _missing_gap(measured: TableProfile) -> list[Row]:
    """Splits of fewer than 30 rows have no share to speak of."""
    large = {split: size for split, size in measured.splits.items() if size >= 30}
    if len(large) < 2:
        return []
    shares = {
        name: [column.nulls[split] / size for split, size in large.items()] for name, column in measured.columns.items()
    }
    return [(name, max(share) - min(share), None, None, None) for name, share in shares.items()]


def _constancy(measured: TableProfile) -> list[Row]:
    """Tables of fewer than 30 rows are left alone; a missing value counts as a value."""
    if measured.rows < 30:
        return []
    rows: list[Row] = []
    for name, column in measured.columns.items():
        most = max([sum(column.nulls.values()), *(count for _, count in column.top[:1])])
        if column.top or most:
            rows.append((name, most / measured.rows, None, None, None))
    return rows


def classes(table: Table, measured: TableProfile) -> dict[str, dict[Any, dict[str, int]]]:
    """The columns that are class labels (labels, truth values, few allowed values), with rows by class and split."""
    found = {}
    for column in table.columns:
        declared = isinstance(column.type, Label | Bool) or column.allowed is not None
        counts = measured.columns[column.name].counts
        if declared and counts and len(counts) <= CATEGORIES:
            found[column.name] = {**{value: {} for value in column.allowed or ()}, **counts}
    return found


def _balance(table: Table, measured: TableProfile) -> list[Row]:
    rows: list[Row] = []
    for name, counts in classes(table, measured).items():
        total = sum(sum(by_split.values()) for by_split in counts.values())
        for value, by_split in counts.items():
            rows.append((f"{name} = {value}", sum(by_split.values()) / max(1, total), None, None, None))
    return rows


def _balance_gap(table: Table, measured: TableProfile) -> list[Row]:
    rows: list[Row] = []
    for name, counts in classes(table, measured).items():
        whole = [sum(by_split.values()) for by_split in counts.values()]
        for split in measured.splits if len(measured.splits) > 1 else ():
            part = [by_split.get(split, 0) for by_split in counts.values()]
            if sum(part) >= 30:
                rows.append((f"{name} in {split}", distance(part, whole), None, None, None))
    return rows


def distance(first: list[int], second: list[int]) -> float:
    """Total variation distance of two lists of counts, from 0 (same shares) to 1 (nothing in common)."""
    first_sum, second_sum = max(1, sum(first)), max(1, sum(second))
    return sum(abs(a / first_sum - b / second_sum) for a, b in zip(first, second, strict=True)) / 2


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
