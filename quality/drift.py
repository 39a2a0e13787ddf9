"""What changed since an earlier release of the same dataset: rows, missing values, distributions, classes.

Bounds are rules of thumb (a population stability index above 0.2 is the usual sign of a shift), so all of it warns and
nothing blocks; what a release must not change is the business of `releases`.
"""

from __future__ import annotations

import math

from quality import duck
from quality.connect import Session
from quality.ledger import Ledger
from quality.profile import CATEGORIES, Row, distance
from schemas import Bool, Check, Column, Figure, Float, Int, Label, Table, sql

_BINS = 10
_SMALL = 30
"""Fewer values than this have no distribution to compare."""


_NO_PREVIOUS = Check(
    "drift", "What changed since an earlier release", "warn", "files", "-- needs an earlier release to compare with"
)


def skip_drift(ledger: Ledger) -> None:
    """Say once that nothing was compared."""
    ledger.skip(_NO_PREVIOUS, "no earlier release was given")


def check_drift(ledger: Ledger, table: Table) -> None:
    """Compare a table with its earlier release."""
    session = ledger.session
    figures = {
        "drift_rows": ("Rows now, as a share of the rows before", 0.8, 1.25),
        "drift_missing": ("Change in the share of missing values by column", None, 0.05),
        "drift_mean": ("Change of the mean by column, in standard deviations of before", None, 0.25),
        "drift_psi": ("Population stability index by column, over tenths of the values before", None, 0.2),
        "drift_classes": ("Change of class shares by column: total variation distance", None, 0.1),
    }
    declared = [
        Figure(
            f"{table.name}.{name}",
            meaning,
            "warn",
            table.name,
            f"-- computed from {table.name} and previous_{table.name}",
            low,
            high,
            advice="If the change is meant, say so in the release notes; else look for what changed in the sources.",
        )
        for name, (meaning, low, high) in figures.items()
    ]
    gone = _gone(session, table)
    why = _why_not(session, table)
    if why:
        for check in (gone, *declared):
            ledger.skip(check, why)
        return
    ledger.check(gone)
    common = _common(session, table)
    numbers = [column for column in common if isinstance(column.type, Int | Float)]
    measured = [_rows(session, table), _missing(session, table, common), *_numbers(session, table, numbers)]
    measured.append(_classes(session, table, common))
    for figure, rows in zip(declared, measured, strict=True):
        ledger.measured(figure, rows)


def _why_not(session: Session, table: Table) -> str:
    assert session.previous is not None
    if f"previous_{table.name}" not in session.names:
        return "the earlier release has no such table"
    if session.previous.schema.table(table.name).key != table.key:
        return "the earlier release has another key"
    return ""


def _gone(session: Session, table: Table) -> Check:
    before = f"SELECT {duck.row_id(table)} AS id FROM {sql.name(f'previous_{table.name}')}"
    now = f"SELECT {duck.row_id(table)} AS id FROM {sql.name(table.name)}"
    return Check(
        f"{table.name}.rows_gone",
        "Every row of the earlier release is still there",
        "warn",
        table.name,
        f"SELECT id, 'was in the earlier release and is gone' AS message FROM ({before}) ANTI JOIN ({now}) USING (id)",
        advice="If rows were withdrawn on purpose, say so in the release notes.",
    )


def _common(session: Session, table: Table) -> list[Column]:
    """The columns that both releases have, with the same type."""
    assert session.previous is not None
    before = {column.name: column.type for column in session.previous.schema.table(table.name).columns}
    return [column for column in table.columns if before.get(column.name) == column.type]


def _both(table: Table) -> tuple[str, str]:
    return sql.name(f"previous_{table.name}"), sql.name(table.name)


def _rows(session: Session, table: Table) -> list[Row]:
    before, now = (session.one(f"SELECT count(*) FROM {view}")[0] for view in _both(table))
    return [("rows", now / before, None, None, None)] if before else []


def _missing(session: Session, table: Table, columns: list[Column]) -> list[Row]:
    counts = ", ".join(f"1 - count({sql.name(column.name)}) / count(*)" for column in columns)
    before, now = (session.one(f"SELECT {counts} FROM {view}") for view in _both(table))
    pairs = zip(columns, before, now, strict=True)
    return [(column.name, abs(b - a), None, None, None) for column, a, b in pairs if _finite(a, b)]


def _numbers(session: Session, table: Table, columns: list[Column]) -> tuple[list[Row], list[Row]]:
    """(shift of the means, stability indices)."""
    means: list[Row] = []
    indices: list[Row] = []
    for column in columns:
        value = f"{sql.name(column.name)}::DOUBLE"
        tenths = [index / _BINS for index in range(1, _BINS)]
        before, now = _both(table)
        n, mean, sd, edges = session.one(
            f"SELECT count(v), avg(v), stddev_pop(v), approx_quantile(v, {tenths}) FROM "
            f"(SELECT {value} AS v FROM {before} WHERE isfinite({value}))"
        )
        n_now, mean_now = session.one(
            f"SELECT count(v), avg(v) FROM (SELECT {value} AS v FROM {now} WHERE isfinite(v))"
        )
        if n < _SMALL or n_now < _SMALL or not sd:
            continue
        means.append((column.name, abs(mean_now - mean) / sd, None, None, None))
        shares = [_binned(session, view, value, sorted(set(edges))) for view in (before, now)]
        indices.append((column.name, stability(*shares), None, None, None))
    return means, indices


def _binned(session: Session, view: str, value: str, edges: list[float]) -> list[int]:
    """How many values lie up to each edge and above the last."""
    inside = " + ".join(f"({value} > {sql.literal(float(edge))})::INTEGER" for edge in edges)
    query = f"SELECT {inside} AS bin, count(*) FROM {view} WHERE isfinite({value}) GROUP BY 1"
    counts = dict(session.rows(query))
    return [counts.get(index, 0) for index in range(len(edges) + 1)]


def stability(before: list[int], now: list[int]) -> float:
    """The population stability index of two lists of counts, half a value added so that an empty bin is no infinity."""
    total_before, total_now = sum(before) + len(before) / 2, sum(now) + len(now) / 2
    pairs = [((a + 0.5) / total_before, (b + 0.5) / total_now) for a, b in zip(before, now, strict=True)]
    return sum((b - a) * math.log(b / a) for a, b in pairs)


def _classes(session: Session, table: Table, columns: list[Column]) -> list[Row]:
    rows: list[Row] = []
    for column in columns:
        if not (isinstance(column.type, Label | Bool) or column.allowed is not None):
            continue
        value = sql.name(column.name)
        before, now = (
            dict(session.rows(f"SELECT {value}::VARCHAR, count(*) FROM {view} WHERE {value} IS NOT NULL GROUP BY 1"))
            for view in _both(table)
        )
        keys = sorted(before | now)
        if sum(before.values()) >= _SMALL and sum(now.values()) >= _SMALL and len(keys) <= CATEGORIES:
            shift = distance([before.get(key, 0) for key in keys], [now.get(key, 0) for key in keys])
            rows.append((column.name, shift, None, None, None))
    return rows


def _finite(*values: float | None) -> bool:
    return all(value is not None and math.isfinite(value) for value in values)
