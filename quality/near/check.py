"""Runs an `Alike`: for each row what it is most like before it, in another split, and in other sets."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from quality.connect import Session
from quality.ledger import Ledger
from quality.near.audio import Sounds
from quality.near.pictures import Pictures
from quality.near.rows import Other, Rows, connection, of_other, of_table
from quality.near.sets import Sets
from quality.near.shingles import distinct
from quality.near.store import Pairs, Searcher
from quality.near.strokes import Drawings
from schemas import Alike, Check, Figure, GoldsmithError, Severity, sql

LEAST = {"text": 0.7, "code": 0.7, "protein": 0.9, "image": 0.95, "audio": 0.7, "strokes": 0.98}
"""How alike rows must be where a check does not say: share of common pieces (text, code), identity (protein),
correlation of the dots, bits that agree, 1 less the mean distance of points in sizes of the drawing."""

SEARCHERS: dict[str, Callable[[str, int, Path, float], Searcher]] = {
    "text": Sets,
    "code": Sets,
    "protein": Sets,
    "image": Pictures,
    "audio": Sounds,
    "strokes": Drawings,
}


def skip_alike(ledger: Ledger, alike: Alike, why: str) -> None:
    """Record that an `Alike` does not apply."""
    for check in (as_check(alike), _leakage(alike)):
        ledger.skip(check, why)


def check_alike(ledger: Ledger, alike: Alike, against: Sequence[Other] = ()) -> list[str]:
    """Run an `Alike` over its table, and against other datasets and evaluation sets; the names of those of its kind.

    Raises:
        GoldsmithError: the check's column does not fit, or something to compare with cannot be read.
    """
    session = ledger.session
    rows = of_table(session, alike)
    connections = [connection(session) for _ in against]
    try:
        found = [of_other(session, alike, other, con) for other, con in zip(against, connections, strict=True)]
        theirs = [(other, one) for other, one in zip(against, found, strict=True) if one is not None]
        with tempfile.TemporaryDirectory(dir=session.spill) as folder:
            search = _Search(alike, rows, [one for _, one in theirs], Path(folder), _least(session, alike))
            search.run()
            _report(ledger, alike, rows, theirs, search)
        return [other.name for other, _ in theirs]
    finally:
        for con in connections:
            con.close()


def _least(session: Session, alike: Alike) -> float:
    """How alike rows must be: the check's number, the data's, or the kind's own.

    Raises:
        GoldsmithError: the data's is missing, or is none of 0 (not itself) to 1.
    """
    least = alike.least
    if isinstance(least, str):
        (least,) = session.con.execute(f"SELECT {least}").fetchall()[0]
        if least is None or not 0 < least <= 1:
            raise GoldsmithError(
                f"[{session.dataset.name} > {alike.name}] rows are to be alike by {least}: give more than 0, at most 1"
            )
    return LEAST[alike.kind] if least is None else float(least)


class _Best:
    """For each row the one it is most like; of several, the first."""

    def __init__(self, rows: int) -> None:
        self.like = np.zeros(rows, np.float32)
        self.row = np.full(rows, -1, np.int64)

    def take(self, rows: np.ndarray, others: np.ndarray, like: np.ndarray) -> None:
        like = like.astype(np.float32)
        order = np.lexsort((others, -like, rows))
        rows, others, like = rows[order], others[order], like[order]
        first = np.concatenate([np.ones(min(1, len(rows)), bool), rows[1:] != rows[:-1]])
        rows, others, like = rows[first], others[first], like[first]
        better = (like > self.like[rows]) | ((like == self.like[rows]) & (others < self.row[rows]))
        self.like[rows[better]], self.row[rows[better]] = like[better], others[better]


class _Search:
    """One search over the table's rows (numbers from 0) and, behind them, all others'."""

    def __init__(self, alike: Alike, rows: Rows, others: Sequence[Rows], folder: Path, least: float) -> None:
        self._rows, self._others = rows, others
        self.starts = np.cumsum([rows.count, *(one.count for one in others)])
        self.searcher = SEARCHERS[alike.kind](alike.kind, int(self.starts[-1]), folder, least)
        self.earlier, self.leaked = _Best(rows.count), _Best(rows.count)
        self.outside = [_Best(rows.count) for _ in others]

    def run(self) -> None:
        for start, part in zip([0, *self.starts], [self._rows, *self._others], strict=False):
            for numbers, values in part.values():
                self.searcher.add(numbers + int(start), values)
        for pairs in self.searcher.pairs(self._wanted):
            self._take(pairs)

    def _wanted(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Pairs of which one is the table's, and that are not meant to be alike."""
        count = self._rows.count
        if not count:
            return np.zeros(len(a), bool)
        apart = self._rows.apart
        inner = np.minimum(b, count - 1)
        same = (b < count) & (apart[np.minimum(a, count - 1)] == apart[inner]) & (apart[inner] > 0)
        return (a < count) & ~same

    def _take(self, pairs: Pairs) -> None:
        a, b, like = pairs
        inside = b < self._rows.count
        self.earlier.take(b[inside], a[inside], like[inside])
        places = self._rows.places
        crossed = np.flatnonzero(inside)
        crossed = crossed[places[a[crossed]] != places[b[crossed]]]
        self.leaked.take(b[crossed], a[crossed], like[crossed])
        for number, best in enumerate(self.outside):
            start, end = self.starts[number], self.starts[number + 1]
            there = (b >= start) & (b < end)
            best.take(a[there], b[there] - start, like[there])


def _report(ledger: Ledger, alike: Alike, rows: Rows, theirs: Sequence[tuple[Other, Rows]], search: _Search) -> None:
    splits = ledger.session.dataset.table(alike.table).splits

    def said(best: _Best, of: Rows, word: Callable[[int, int, str], str]) -> list[tuple[str, str]]:
        failing = np.flatnonzero(best.row >= 0)
        names, likes = rows.ids(failing), of.ids(distinct(best.row[failing]))
        return [
            (names[row], f"{word(row, like, likes[like])} ({_percent(best.like[row])} %)")
            for row, like in zip(failing.tolist(), best.row[failing].tolist(), strict=True)
        ]

    def leaked(row: int, like: int, name: str) -> str:
        mine, its = (splits[rows.places[number] - 1] for number in (row, like))
        return f"in split {mine}, like {name} in split {its}"

    ledger.listed(as_check(alike), said(search.earlier, rows, lambda _row, _like, name: f"like {name}"))
    if len(splits) < 2:
        ledger.skip(_leakage(alike), "the table has one split")
    else:
        ledger.listed(_leakage(alike), said(search.leaked, rows, leaked))
    for (other, its), best in zip(theirs, search.outside, strict=True):
        found = said(best, its, lambda _row, _like, name, where=other.name: f"like row {name} of {where}")
        ledger.listed(_inside(alike, other), found)
    for name in alike.never_in:
        if name not in [other.of for other, _ in theirs]:
            ledger.skip(_inside(alike, Other(name)), f"{name} was not given: check with --against")
    _compared(ledger, alike, search.searcher, rows.count)


def _percent(like: float) -> int:
    """Whole per cent; 100 only for what is the same."""
    return int(100 * like + 1e-4)


def _compared(ledger: Ledger, alike: Alike, searcher: Searcher, count: int) -> None:
    """`<name>.compared`: what was looked at, and what could not be."""
    number = np.bincount(searcher.skipped[:count], minlength=len(searcher.reasons))
    figure = Figure(
        f"{alike.name}.compared",
        f"Rows that `{alike.name}` compared, and why not the others",
        "info",
        alike.table,
        _shown(alike),
    )
    words = ["compared", *(f"not compared: {reason}" for reason in searcher.reasons[1:])]
    values = [
        (word, float(n), None, None, None) for word, n in zip(words, number, strict=True) if n or word == "compared"
    ]
    ledger.measured(figure, values)


def as_check(alike: Alike) -> Check:
    """An `Alike` as the check that reports show: its SQL gives what is compared."""
    return Check(alike.name, alike.meaning, alike.severity, alike.table, _shown(alike), alike.needs, alike.advice)


def _leakage(alike: Alike) -> Check:
    meaning = "No row is nearly like one of another split"
    return Check(f"{alike.name}.leakage", meaning, alike.leak, alike.table, _shown(alike), alike.needs, alike.advice)


def _inside(alike: Alike, other: Other) -> Check:
    severity: Severity = "block" if other.of in alike.never_in else alike.severity
    advice = "What a model is trained on must not be in what it is tested with: leave these rows out of either."
    meaning = f"No row is nearly like one of {other.name}"
    return Check(f"{alike.name}.in.{other.name}", meaning, severity, alike.table, _shown(alike), alike.needs, advice)


def _shown(alike: Alike) -> str:
    columns = [alike.column, *([alike.apart] if alike.apart else [])]
    return f"SELECT {sql.names(tuple(columns))} FROM {sql.name(alike.table)}"
