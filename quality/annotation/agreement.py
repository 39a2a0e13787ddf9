"""How far people agree, in DuckDB: raw, Cohen's kappa of every pair, Krippendorff's alpha, Gwet's AC1.

All read one view or table `votes` (item VARCHAR, annotator VARCHAR, label VARCHAR, position INTEGER): one row for each
person and item; a missing answer is a missing row. `position` is the label's place in the declared order. They stand
side by side, for each is misleading alone: with one common label, 93 % raw agreement can be a kappa of -0.03.

Bootstrap intervals resample items, never single answers, for the answers to one item belong together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]

_REPEATS = 200

# One row for each item and label; m is how many people judged the item. Single answers say nothing about agreement.
_UNITS = """
WITH counts AS (SELECT item, label, any_value(position) AS position, count(*) AS n FROM votes GROUP BY item, label),
sizes AS (SELECT item, sum(n) AS m, sum(n * n) AS squares FROM counts GROUP BY item HAVING sum(n) >= 2),
units AS (SELECT item, label, position, n, m, squares FROM counts JOIN sizes USING (item))
"""


@dataclass(frozen=True)
class Agreement:
    """Figures of one set of votes; NaN where there is nothing to say. `low` and `high` are alpha's 95 % interval.

    Attributes:
        items: judged by two people or more.
        raw: share of agreeing pairs of answers, mean over items.
        kappa: mean Cohen kappa of all pairs of people, weighted by their common items.
    """

    items: int
    answers: int
    raw: float
    kappa: float
    alpha: float
    low: float
    high: float
    ac1: float


@dataclass(frozen=True)
class Pair:
    """Two people and the items both judged."""

    one: str
    other: str
    items: int
    raw: float
    kappa: float


def agreement(
    con: duckdb.DuckDBPyConnection, level: Level = "nominal", categories: int | None = None, *, seed: int = 0
) -> Agreement:
    """All figures of `votes`; `categories`: how many labels there can be (those seen, if not said)."""
    items, answers, raw = con.execute(
        f"{_UNITS} SELECT count(*), sum(m), avg((squares - m) / (m * (m - 1))) FROM sizes"
    ).fetchall()[0]
    pairs = [pair for pair in cohen(con) if pair.kappa == pair.kappa]
    weight = sum(pair.items for pair in pairs)
    kappa = sum(pair.kappa * pair.items for pair in pairs) / weight if weight else float("nan")
    labels, values, coincidences = coincidence(con, level)
    alpha = alpha_of(coincidences, values, level) if labels else float("nan")
    low, high = _interval(con, labels, values, level, seed) if labels else (float("nan"), float("nan"))
    return Agreement(
        items=items,
        answers=int(answers or 0),
        raw=float("nan") if raw is None else float(raw),
        kappa=kappa,
        alpha=alpha,
        low=low,
        high=high,
        ac1=gwet_ac1(con, categories),
    )


def cohen(con: duckdb.DuckDBPyConnection) -> list[Pair]:
    """Cohen's kappa of every pair of people over common items; NaN where both only ever say one and the same."""
    rows = con.execute("""
        WITH pairs AS (
            SELECT a.annotator AS one, b.annotator AS other, a.label AS la, b.label AS lb, count(*) AS n
            FROM votes a JOIN votes b ON a.item = b.item AND a.annotator < b.annotator
            GROUP BY ALL),
        totals AS (SELECT one, other, sum(n) AS n, sum(n) FILTER (la = lb) AS same FROM pairs GROUP BY one, other),
        left_side AS (SELECT one, other, la AS label, sum(n) AS n FROM pairs GROUP BY ALL),
        right_side AS (SELECT one, other, lb AS label, sum(n) AS n FROM pairs GROUP BY ALL),
        chance AS (
            SELECT one, other, sum(l.n * r.n) AS product
            FROM left_side l JOIN right_side r USING (one, other, label) GROUP BY one, other)
        SELECT one, other, n::BIGINT, coalesce(same, 0) / n AS raw, coalesce(product, 0) / (n * n) AS expected
        FROM totals LEFT JOIN chance USING (one, other) ORDER BY one, other
    """).fetchall()
    return [
        Pair(one, other, n, raw, (raw - by_chance) / (1 - by_chance) if by_chance < 1 else float("nan"))
        for one, other, n, raw, by_chance in rows
    ]


def gwet_ac1(con: duckdb.DuckDBPyConnection, categories: int | None = None) -> float:
    """Gwet's AC1 (2008) for any number of people and missing answers; NaN without an item that two judged.

    Raw agreement is over items with two answers or more, the shares of labels over all answered items.
    """
    raw, seen, chance = con.execute("""
        WITH counts AS (SELECT item, label, count(*) AS n FROM votes GROUP BY item, label),
        sizes AS (SELECT item, sum(n) AS m, sum(n * n) AS squares FROM counts GROUP BY item),
        agreed AS (SELECT avg((squares - m) / (m * (m - 1))) AS raw FROM sizes WHERE m >= 2),
        shares AS (
            SELECT label, sum(n / m) / (SELECT count(*) FROM sizes) AS share
            FROM counts JOIN sizes USING (item) GROUP BY label)
        SELECT (SELECT raw FROM agreed), count(*), sum(share * (1 - share)) FROM shares
    """).fetchall()[0]
    if raw is None:
        return float("nan")
    labels = max(categories or 0, seen)
    if labels < 2:
        return 1.0
    by_chance = chance / (labels - 1)
    return (raw - by_chance) / (1 - by_chance)


def _labels(con: duckdb.DuckDBPyConnection, level: Level) -> tuple[list[str], Floats]:
    order = "position, label" if level != "nominal" else "label"
    rows = con.execute(
        f"{_UNITS} SELECT label, any_value(position) AS position FROM units GROUP BY label ORDER BY {order}"
    )
    found = rows.fetchall()
    if level == "interval":
        return [label for label, _ in found], np.array([float(label) for label, _ in found])
    return [label for label, _ in found], np.arange(len(found), dtype=float)


def coincidence(con: duckdb.DuckDBPyConnection, level: Level) -> tuple[list[str], Floats, Floats]:
    """Labels in their order, their values, and Krippendorff's coincidences (labels x labels)."""
    labels, values = _labels(con, level)
    places = {label: index for index, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    rows = con.execute(f"""{_UNITS}
        SELECT a.label, b.label, sum(a.n * (b.n - (a.label = b.label)::INTEGER) / (a.m - 1))
        FROM units a JOIN units b ON a.item = b.item GROUP BY a.label, b.label
    """).fetchall()
    for one, other, n in rows:
        table[places[one], places[other]] = n
    return labels, values, table


def alpha_of(coincidences: Floats, values: Floats, level: Level = "nominal") -> float:
    """Krippendorff's alpha of a matrix of coincidences; NaN where only one label was ever given.

    Args:
        values: of the labels, for `interval`; their order for `ordinal`.
    """
    totals = coincidences.sum(1)
    n = totals.sum()
    distance = _distance(totals, values, level)
    expected = (np.outer(totals, totals) - np.diag(totals)) * distance
    if n < 2 or expected.sum() <= 0:
        return float("nan")
    return float(1 - (coincidences * distance).sum() * (n - 1) / expected.sum())


def _distance(totals: Floats, values: Floats, level: Level) -> Floats:
    if level == "nominal":
        return 1 - np.eye(len(totals))
    if level == "interval":
        return (values[:, None] - values[None, :]) ** 2
    middle = np.cumsum(totals) - totals / 2  # the mean rank of each label; ranks between two labels are their distance
    return (middle[:, None] - middle[None, :]) ** 2


def _interval(
    con: duckdb.DuckDBPyConnection, labels: list[str], values: Floats, level: Level, seed: int
) -> tuple[float, float]:
    """The 95 % percentile interval of alpha: items drawn again with replacement.

    Items with the same counts of labels are one kind; a draw of items is a multinomial draw of kinds, so the cost does
    not grow with the items.
    """
    rows = con.execute(f"""{_UNITS}
        , kinds AS (SELECT item, list((label, n) ORDER BY label) AS pattern FROM units GROUP BY item)
        SELECT pattern, count(*) AS times FROM kinds GROUP BY pattern ORDER BY pattern
    """).fetchall()
    places = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(rows), len(labels)))
    for index, (pattern, _) in enumerate(rows):
        for label, n in pattern:
            counts[index, places[label]] = n
    times = np.array([times for _, times in rows], dtype=float)
    items = int(times.sum())
    size = counts.sum(1)
    weights = np.random.default_rng(seed).multinomial(items, times / times.sum(), _REPEATS) / (size - 1)
    found = []
    for weight in weights:
        coincidences = (counts * weight[:, None]).T @ counts
        coincidences -= np.diag(counts.T @ weight)
        found.append(alpha_of(coincidences, values, level))
    kept = [value for value in found if value == value]
    if not kept:
        return float("nan"), float("nan")
    low, high = np.quantile(kept, [0.025, 0.975])
    return float(low), float(high)
