"""Who should be looked at: people whose answers are not what those of somebody who takes care would be.

Tests are strict, for a person is behind each: who is as good as is asked is flagged at most once in a thousand times by
each (`_P`). Those of counts (gold, guessing, swapped labels, sides) are exact binomial tests; drift is a z test. A flag
asks to look, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from quality.annotation.bounds import binomial_cdf
from quality.annotation.people import FEWEST, Person, agreeing
from schemas import Audit

_P = 0.001
_Z = 3.29
"""Two-sided, as unlikely as `_P`."""
_LEAST_DRIFT = 0.05
"""A smaller change of the score is of no matter, however sure."""

_POOR = 0.4
"""Less is poor agreement beyond chance (Fleiss, Levin and Paik 2003): kappa with the others of one who guesses is 0."""
_QUICK = 1 / 3


@dataclass(frozen=True)
class Flag:
    """Why a person should be looked at."""

    person: str
    code: str
    message: str
    value: float


def guesses(same: int, total: int, by_chance: float) -> bool:
    """Whether so few of `total` answers are the same that a kappa of `_POOR` or more is too unlikely."""
    expected = by_chance + _POOR * (1 - by_chance)
    return total >= FEWEST and binomial_cdf(same, total, expected) < _P


def misread(audit: Audit, gold: Sequence[tuple[int, int]]) -> str:
    """Why nothing can be rested on what people say of the rows, "" where it can: nobody passes the gold items of a kind
    without labels.

    In such a kind an answer says `right` or `wrong` of the dataset's, and gold items are right. From people who answer
    most of them otherwise Dawid and Skene's model learns that `wrong` is what they call right rows. Who does so does
    not pass, nor who is surely below `min_gold`.

    Args:
        gold: of each person, gold items answered, and answered right.
    """
    tested = [(total, right) for total, right in gold if total]
    if audit.votes or not tested:
        return ""
    if any(2 * right >= total and not _below(right, total, audit.min_gold) for total, right in tested):
        return ""
    total, right = (sum(numbers) for numbers in zip(*tested, strict=True))
    return (
        f"nobody passes the gold items ({right} of {total} answers to them right): either they, the question or the "
        "tolerance is wrong, and whether the rows are right is not known"
    )


def _below(right: int, total: int, share: float) -> bool:
    return binomial_cdf(right, total, share) < _P


def flags(con: duckdb.DuckDBPyConnection, found: Sequence[Person], *, min_gold: float = 0.8) -> list[Flag]:
    """Who should be looked at, and why.

    Codes: `gold` (surely below `min_gold`), `guessing` (kappa surely poor), `drift`, `swapped_labels` (labels are used
    for one another all the time), `one_side` (of pairs, whatever they show), `quick`.
    """
    raised: list[Flag] = []
    usual = [person.seconds for person in found if person.seconds]
    middle = sorted(usual)[len(usual) // 2] if usual else None
    sides = _sides(con)
    for person in found:
        swaps = _swaps(person.confusion)
        if person.gold and _below(person.gold_right, person.gold, min_gold):
            text = f"{person.gold_right} of {person.gold} gold items right: surely below {min_gold:.0%}"
            raised.append(Flag(person.name, "gold", text, person.gold_right / person.gold))
        if swaps:
            text = ", ".join(f"says {said} for {meant}" for said, meant in swaps)
            raised.append(Flag(person.name, "swapped_labels", text, float(len(swaps))))
        elif person.kappa is not None and guesses(*agreeing(person.confusion)):
            text = f"kappa with the others {person.kappa:.2f}: surely below {_POOR}, as of one who guesses"
            raised.append(Flag(person.name, "guessing", text, person.kappa))
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
    if n < FEWEST or 2 * binomial_cdf(min(left, right), n, 0.5) >= _P:
        return None
    side = "A" if left > right else "B"
    return Flag(name, "one_side", f"chose the side {side} in {max(left, right)} of {n}, whatever was there", left / n)
