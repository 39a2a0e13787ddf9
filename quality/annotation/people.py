"""What each person's answers look like: how often they are right, and whether that changes.

Reads the table `judged` (item, annotator, label, other, position, place, seconds, gold BOOLEAN, score DOUBLE, side):
`other` is the label that the answer is compared with, the known one of a gold item or what all others together say,
null where nobody else judged the item; `score` (0 to 1) is how well the answer goes with that; `place` is the order in
which the person answered; `side` the side of a pair that was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

WINDOWS = 10
FEWEST = 20
"""Answers below which a person's figures say nothing."""


@dataclass(frozen=True)
class Person:
    """A person's figures; None where there is nothing to measure.

    Attributes:
        gold, gold_right: gold items answered, and answered right.
        kappa: with what the others say together and the gold answers.
        score: mean agreement with the same.
        windows: the mean score in tenths of their answers, in order.
        drift: z of the score of the second half against the first; `change` is their difference.
        seconds: the median per answer.
        odd_times: answers whose time is far from the person's own usual one.
        confusion: (their label, what it is compared with) -> answers.
    """

    name: str
    answers: int
    gold: int
    gold_right: int
    kappa: float | None
    score: float | None
    windows: tuple[float | None, ...]
    drift: float | None
    change: float
    seconds: float | None
    odd_times: int
    labels: Mapping[str, int]
    confusion: Mapping[tuple[str, str], int]


def people(con: duckdb.DuckDBPyConnection, *, tolerance: float = 1.0) -> list[Person]:
    """Everyone's figures, by name."""
    base = con.execute(
        """SELECT annotator, count(*), count(*) FILTER (gold AND score IS NOT NULL),
        count(*) FILTER (gold AND score >= ?), avg(score), median(seconds) FROM judged GROUP BY annotator ORDER BY 1""",
        [tolerance - 1e-9],
    ).fetchall()
    windows = _windows(con)
    drifts = {name: (z, change, n) for name, z, change, n in con.execute(_DRIFT).fetchall()}
    odd = dict(con.execute(_ODD_TIMES).fetchall())
    labels: dict[str, dict[str, int]] = {}
    by_label = "SELECT annotator, label, count(*) FROM judged GROUP BY ALL ORDER BY ALL"
    for name, label, n in con.execute(by_label).fetchall():
        labels.setdefault(name, {})[label] = n
    cells = confusion(con)
    found = []
    for name, answers, gold, right, score, seconds in base:
        z, change, compared = drifts.get(name, (None, 0.0, 0))
        measured = compared >= FEWEST and z is not None and math.isfinite(z)
        found.append(
            Person(
                name=name,
                answers=answers,
                gold=gold,
                gold_right=right,
                kappa=_kappa(cells.get(name, {})),
                score=score,
                windows=windows.get(name, ()),
                drift=z if measured else None,
                change=change or 0.0,
                seconds=seconds,
                odd_times=odd.get(name, 0),
                labels=labels.get(name, {}),
                confusion=cells.get(name, {}),
            )
        )
    return found


_DRIFT = """
WITH halves AS (
    SELECT annotator, score, ntile(2) OVER (PARTITION BY annotator ORDER BY place, item) AS half
    FROM judged WHERE score IS NOT NULL),
sides AS (
    SELECT annotator, count(*) AS n,
        avg(score) FILTER (half = 1) AS a, avg(score) FILTER (half = 2) AS b,
        avg(score) AS p, count(*) FILTER (half = 1) AS na, count(*) FILTER (half = 2) AS nb, var_pop(score) AS v
    FROM halves GROUP BY annotator)
SELECT annotator, CASE WHEN v > 0 AND na > 0 AND nb > 0 THEN (b - a) / sqrt(v * (1.0 / na + 1.0 / nb)) END, b - a, n
FROM sides
"""

_ODD_TIMES = """
WITH logs AS (SELECT annotator, ln(seconds) AS s FROM judged WHERE seconds > 0),
usual AS (SELECT annotator, median(s) AS middle, mad(s) AS spread FROM logs GROUP BY annotator)
SELECT annotator, count(*) FILTER (abs(s - middle) > 3.5 * 1.4826 * spread)
FROM logs JOIN usual USING (annotator) WHERE spread > 0 GROUP BY annotator
"""


def _windows(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[float | None, ...]]:
    rows = con.execute(f"""
        WITH parts AS (
            SELECT annotator, score, ntile({WINDOWS}) OVER (PARTITION BY annotator ORDER BY place, item) AS part
            FROM judged WHERE score IS NOT NULL)
        SELECT annotator, part, avg(score) FROM parts GROUP BY ALL
    """).fetchall()
    found: dict[str, list[float | None]] = {}
    for name, part, score in rows:
        found.setdefault(name, [None] * WINDOWS)[part - 1] = score
    return {name: tuple(scores) for name, scores in found.items()}


def confusion(con: duckdb.DuckDBPyConnection) -> dict[str, dict[tuple[str, str], int]]:
    """Person -> (their label, what it is compared with) -> answers."""
    found: dict[str, dict[tuple[str, str], int]] = {}
    query = "SELECT annotator, label, other, count(*) FROM judged WHERE other IS NOT NULL GROUP BY ALL ORDER BY ALL"
    for name, said, other, n in con.execute(query).fetchall():
        found.setdefault(name, {})[said, other] = n
    return found


def agreeing(cells: Mapping[tuple[str, str], int]) -> tuple[int, int, float]:
    """Answers that are what they are compared with, all answers, and the share that would be the same by chance."""
    total = sum(cells.values())
    said: dict[str, int] = {}
    others: dict[str, int] = {}
    for (mine, theirs), n in cells.items():
        said[mine] = said.get(mine, 0) + n
        others[theirs] = others.get(theirs, 0) + n
    by_chance = sum(n * others.get(label, 0) for label, n in said.items()) / total**2 if total else 1.0
    return sum(n for (mine, theirs), n in cells.items() if mine == theirs), total, by_chance


def _kappa(cells: Mapping[tuple[str, str], int]) -> float | None:
    """Cohen's kappa of a person's answers and what they are compared with."""
    same, total, by_chance = agreeing(cells)
    return (same / total - by_chance) / (1 - by_chance) if by_chance < 1 else None
