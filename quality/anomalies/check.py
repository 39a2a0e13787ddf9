"""Runs a `Strange`: the strangest rows of a table, each with what is unusual about it."""

from __future__ import annotations

import heapq

import numpy as np

from quality.anomalies.features import Vectors, vectors
from quality.anomalies.vendi import Spectrum
from quality.ledger import Ledger
from schemas import Check, Strange, sql

_FEWEST = 30
_ONE_IN = 20


def as_check(strange: Strange) -> Check:
    """A `Strange` as the check that reports show: its SQL gives what is compared."""
    columns = sql.names((*([strange.by] if strange.by else []), *strange.columns))
    shown = f"SELECT {columns} FROM {sql.name(strange.table)}"
    return Check(
        strange.name, strange.meaning, "info", strange.table, shown, needs=strange.needs, advice=strange.advice
    )


def check_strange(ledger: Ledger, strange: Strange) -> None:
    """List the strangest rows of each group."""
    session = ledger.session
    table = sql.name(strange.table)
    groups = [("", "true")]
    if strange.by is not None:
        by = sql.name(strange.by)
        values = session.rows(f"SELECT DISTINCT {by}::VARCHAR FROM {table} WHERE {by} IS NOT NULL ORDER BY 1")
        groups = [(value, f"{by}::VARCHAR = {sql.literal(value)}") for (value,) in values]
    found: list[tuple[str, str]] = []
    judged = False
    for group, where in groups:
        (count,) = session.one(f"SELECT count(*) FROM {table} WHERE {where}")
        rows = vectors(session, strange, where) if count >= _FEWEST else None
        if rows is not None:
            judged = True
            found += _strangest(rows, strange.top, group)
    if judged:
        ledger.listed(as_check(strange), found)
    else:
        ledger.skip(as_check(strange), f"no group has {_FEWEST} rows that differ in {', '.join(strange.columns)}")


def _strangest(rows: Vectors, top: int, group: str) -> list[tuple[str, str]]:
    spectrum = Spectrum.of(rows.blocks)
    wanted = min(top, spectrum.n // _ONE_IN)
    best: list[tuple[float, str, np.ndarray]] = []
    for ids, numbers, unit in rows.named():
        # Six digits: the order of the files may change the last ones.
        scores = [float(f"{score:.5e}") for score in spectrum.scores(unit)]
        best = heapq.nlargest(
            wanted, [*best, *zip(scores, ids, numbers, strict=True)], key=lambda row: (row[0], row[1])
        )
    of = f"{spectrum.n:,}" + (f" of {group}" if group else "")
    return [
        (
            row,
            f"strangest {place} of {of}: {score:.2g} of a diversity of {spectrum.diversity:.3g} leave with it"
            + (_furthest(rows.measures, numbers) if rows.measures else ""),
        )
        for place, (score, row, numbers) in enumerate(best, 1)
    ]


def _furthest(columns: tuple[str, ...], numbers: np.ndarray) -> str:
    """The two measures that are furthest from their medians."""
    order = np.argsort(-np.abs(numbers), kind="stable")[:2]
    return "; " + ", ".join(f"{columns[index]} {numbers[index]:+.1f} spreads from the median" for index in order)
