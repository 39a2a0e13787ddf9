"""Sorting by a score with ties, once, and what follows from it: middle ranks and expected values over the ties.

A score with few values (BLOSUM62 has eight, a count is mostly 0) leaves the order of most rows open. What a metric
says then depends on the sort. Here a tied row has each place of its tie with equal chance, and a metric that is a sum
over places gets its expected value, which no order of rows can change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Rows from the highest score to the lowest.

    Attributes:
        order: rows, stable within ties, shape (n,).
        tie: which tie each place belongs to, counted from 0, shape (n,).
        start, size: first place and number of places of each tie, shape (ties,).
    """

    order: npt.NDArray[np.int64]
    tie: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]

    @classmethod
    def of(cls, score: Floats) -> Ranking:
        """Sort finite scores, shape (n,) with n > 0."""
        order = np.argsort(-score, kind="stable")
        ordered = score[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        start = np.flatnonzero(new)
        return cls(order, np.cumsum(new) - 1, start, np.diff(np.append(start, len(score))))

    def __len__(self) -> int:
        return len(self.order)

    def means(self, values: Floats) -> Floats:
        """Expected value at each place, from the value of each row; shape (n,)."""
        return (np.add.reduceat(values[self.order], self.start) / self.size)[self.tie]

    def middle(self) -> Floats:
        """The middle rank of each row, 1 for the lowest score, as scipy's `rankdata`; shape (n,)."""
        ranks = np.empty(len(self))
        ranks[self.order] = (len(self) - self.start - (self.size - 1) / 2)[self.tie]
        return ranks

    def within(self, k: int) -> Floats:
        """The chance of each row to be among the first k places; shape (n,)."""
        chance = np.empty(len(self))
        chance[self.order] = np.clip((k - self.start) / self.size, 0, 1)[self.tie]
        return chance


def correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; nan where either is constant."""
    a, b = a - a.mean(), b - b.mean()
    # Sums of products, not dot products: those of a threaded BLAS cost more to start than these vectors to add up.
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / spread if spread > 0 else float("nan")


def auroc(truth: npt.NDArray[np.bool_], ranking: Ranking) -> float:
    """Chance that a positive row is above a negative one, half where they tie; nan without one of either."""
    positive = int(truth.sum())
    negative = len(truth) - positive
    if not positive or not negative:
        return float("nan")
    return (float(ranking.middle()[truth].sum()) - positive * (positive + 1) / 2) / (positive * negative)


def average_precision(truth: npt.NDArray[np.bool_], ranking: Ranking) -> float:
    """Mean of the precision at each positive row, expected over the ties; nan without a positive row.

    For the i-th place of a tie of n rows, r of them positive, with R of N positive before it, the chance of a positive
    row is r / n and the expected precision there (R + 1 + (i - 1)(r - 1) / (n - 1)) / (N + i).
    Source: McSherry and Najork 2008, doi:10.1007/978-3-540-78646-7_38.
    """
    total = int(truth.sum())
    if not total:
        return float("nan")
    positive = np.add.reduceat(truth[ranking.order].astype(np.float64), ranking.start)
    before = np.cumsum(positive) - positive
    place = np.arange(1, len(truth) + 1, dtype=np.float64)
    inner = place - 1 - ranking.start[ranking.tie]
    r, n = positive[ranking.tie], ranking.size[ranking.tie]
    others = inner * (r - 1) / np.maximum(n - 1, 1)
    return float((r / n * (before[ranking.tie] + 1 + others) / place).sum() / total)
