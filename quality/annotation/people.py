"""What each person's answers look like: how often they are right, whether that changes, and who should be looked at.

Reads the table `judged` (item, annotator, label, other, position, place, seconds, gold BOOLEAN, score DOUBLE, side):
`other` is the label that the answer is compared with, the known one of a gold item or what all others together say,
null where nobody else judged the item; `score` (0 to 1) is how well the answer goes with that; `place` is the order in
which the person answered; `side` the side of a pair that was chosen.

Tests are strict (about one false alarm in a thousand people), for a person is behind each; a flag asks to look, no
more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from quality.annotation.bounds import binomial_cdf, clopper_pearson

WINDOWS = 10
_Z = 3.29
_P = 0.001
_FEWEST = 20
_LEAST_DRIFT = 0.05
"""A smaller change of the score is of no matter, however sure."""

_CHANCE, _SURELY = 0.25, 0.45
"""A kappa below the first, and surely below the second, is hardly better than guessing."""
_QUICK = 1 / 3


@dataclass(frozen=True)
class Person:
    """A person's figures; None where there is nothing to measure.

    Attributes:
        gold, gold_right: gold items answered, and answered right.
        kappa, kappa_high: with what the others say together and the gold answers, and its upper 97.5 % bound.
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
    kappa_high: float | None
    score: float | None
    windows: tuple[float | None, ...]
    drift: float | None
    change: float
    seconds: float | None
    odd_times: int
    labels: Mapping[str, int]
    confusion: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Flag:
    """Why a person should be looked at."""

    person: str
    code: str
    message: str
    value: float


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
        kappa, high = _kappa(cells.get(name, {}))
        measured = compared >= _FEWEST and z is not None and math.isfinite(z)
        found.append(
            Person(
                name=name,
                answers=answers,
                gold=gold,
                gold_right=right,
                kappa=kappa,
                kappa_high=high,
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


def _kappa(cells: Mapping[tuple[str, str], int]) -> tuple[float | None, float | None]:
    """Cohen's kappa of a person's answers and what they are compared with, and its upper 97.5 % bound (Cohen 1960)."""
    total = sum(cells.values())
    said: dict[str, int] = {}
    others: dict[str, int] = {}
    for (mine, theirs), n in cells.items():
        said[mine] = said.get(mine, 0) + n
        others[theirs] = others.get(theirs, 0) + n
    by_chance = sum(n * others.get(label, 0) for label, n in said.items()) / total**2 if total else 1.0
    if by_chance >= 1:
        return None, None
    same = sum(n for (mine, theirs), n in cells.items() if mine == theirs) / total
    kappa = (same - by_chance) / (1 - by_chance)
    error = math.sqrt(same * (1 - same) / total) / (1 - by_chance)
    return kappa, kappa + 1.96 * error if total >= _FEWEST else None


def flags(con: duckdb.DuckDBPyConnection, found: Sequence[Person], *, min_gold: float = 0.8) -> list[Flag]:
    """Who should be looked at, and why.

    Codes: `gold` (surely below `min_gold`), `guessing` (agreement no better than chance), `drift`, `swapped_labels`
    (labels are used for one another all the time), `one_side` (of pairs, whatever they show), `quick`.
    """
    raised: list[Flag] = []
    usual = [person.seconds for person in found if person.seconds]
    middle = sorted(usual)[len(usual) // 2] if usual else None
    sides = _sides(con)
    for person in found:
        swaps = _swaps(person.confusion)
        if person.gold:
            _, high = clopper_pearson(person.gold_right, person.gold, 0.975, sides=1)
            if high < min_gold:
                text = f"{person.gold_right} of {person.gold} gold items right: surely below {min_gold:.0%}"
                raised.append(Flag(person.name, "gold", text, person.gold_right / person.gold))
        if swaps:
            text = ", ".join(f"says {said} for {meant}" for said, meant in swaps)
            raised.append(Flag(person.name, "swapped_labels", text, float(len(swaps))))
        elif person.kappa_high is not None and (person.kappa or 0) < _CHANCE and person.kappa_high < _SURELY:
            text = f"kappa with the others {person.kappa or 0:.2f}: hardly better than guessing"
            raised.append(Flag(person.name, "guessing", text, person.kappa or 0.0))
        if person.drift is not None and abs(person.drift) > _Z and abs(person.change) >= _LEAST_DRIFT:
            way = "worse" if person.drift < 0 else "better"
            text = f"the second half of the answers is {way} than the first (z {person.drift:.1f})"
            raised.append(Flag(person.name, "drift", text, person.drift))
        if person.name in sides and (flag := _one_side(person.name, *sides[person.name])):
            raised.append(flag)
        if person.seconds and middle and len(usual) > 2 and person.seconds < _QUICK * middle:
            text = f"{person.seconds:.1f} s an answer, the others' middle is {middle:.1f} s"
            raised.append(Flag(person.name, "quick", text, person.seconds))
    return raised


def _swaps(cells: Mapping[tuple[str, str], int]) -> list[tuple[str, str]]:
    """Labels that stand for one another in a circle: (said, meant). A bias to one label is no circle."""
    meant: dict[str, str] = {}
    for said in sorted({said for said, _ in cells}):
        n, other = max((n, other) for (mine, other), n in cells.items() if mine == said)
        if other != said and n > cells.get((said, said), 0):
            meant[said] = other
    circles: set[tuple[str, str]] = set()
    for start in meant:
        path = [start]
        while (step := meant.get(path[-1])) is not None and step not in path:
            path.append(step)
        if step != start:
            continue
        right = sum(cells.get((said, said), 0) for said in path)
        turned = sum(cells[said, meant[said]] for said in path)
        if binomial_cdf(right, right + turned, 0.5) < _P:
            circles |= {(said, meant[said]) for said in path}
    return sorted(circles)


def _sides(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[int, int]]:
    rows = con.execute(
        "SELECT annotator, count(*) FILTER (side = 'A'), count(*) FILTER (side = 'B') FROM judged "
        "WHERE side IN ('A', 'B') GROUP BY annotator"
    ).fetchall()
    return {name: (left, right) for name, left, right in rows}


def _one_side(name: str, left: int, right: int) -> Flag | None:
    n = left + right
    if n < _FEWEST or 2 * binomial_cdf(min(left, right), n, 0.5) >= _P:
        return None
    side = "A" if left > right else "B"
    return Flag(name, "one_side", f"chose the side {side} in {max(left, right)} of {n}, whatever was there", left / n)
