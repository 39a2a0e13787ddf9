"""What an audit shows: exact one-sided bounds, and the ladder that a level climbs before it is released.

The threshold is tuned on labelled items, and what it accepts is audited on a fresh random sample, at most one item a
picture. Choosing the threshold on the audited sample itself breaks the promise in about half of all runs (`simulate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

TARGET = 0.95
"""Precision that a level must show, unless it says otherwise."""
CONFIDENCE = 0.95
ALPHAS = (0.03, 0.015, 0.005)
"""What each rung of the ladder may err by; together 1 - `CONFIDENCE`."""


def lower_bound(right: int, n: int, alpha: float = 1 - CONFIDENCE) -> float:
    """Clopper and Pearson's one-sided lower bound on a share of which `right` of `n` were seen; 0 without any.

    It is the share p at which seeing `right` or more has the probability `alpha`, found by bisection.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} of {n} cannot be")
    if right == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(right, n, middle) < alpha else (low, middle)
    return low


def shows(right: int, n: int, target: float = TARGET, alpha: float = 1 - CONFIDENCE) -> bool:
    """Whether `right` of `n` show that the share is `target` or more: `lower_bound` reaches it. Quicker than that."""
    return right > 0 and _tail(right, n, target) <= alpha


def needed(errors: int, target: float = TARGET, alpha: float = 1 - CONFIDENCE) -> int:
    """The smallest sample that shows `target` although it holds `errors` wrong items."""
    low, high = errors + 1, 16
    while not shows(high - errors, high, target, alpha):
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if shows(middle - errors, middle, target, alpha):
            high = middle
        else:
            low = middle + 1
    return low


def _tail(right: int, n: int, p: float) -> float:
    """Probability of `right` or more of n."""
    if p <= 0:
        return 0.0
    if p >= 1:
        return 1.0
    logs = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(right, n + 1)
    ]
    top = max(logs)
    return min(1.0, math.exp(top) * math.fsum(math.exp(each - top) for each in logs))


def shares(levels: int) -> float:
    """The alpha of one level where several are judged together."""
    return (1 - CONFIDENCE) / max(1, levels)


def draw(items: Sequence[tuple[str, str]], n: int, seed: int) -> list[str]:
    """A random sample of item ids, at most one a picture, from (item, picture); the same for the same seed and items.

    The picture is drawn first and then one of its items, so what the bound speaks of is precision averaged by picture.
    """
    rng = np.random.default_rng(seed)
    by_picture: dict[str, list[str]] = {}
    for item, picture in sorted(items):
        by_picture.setdefault(picture, []).append(item)
    pictures = sorted(by_picture)
    chosen = rng.permutation(len(pictures))[:n]
    return [by_picture[pictures[i]][int(rng.integers(len(by_picture[pictures[i]])))] for i in chosen]


@dataclass(frozen=True)
class Promise:
    """How a way of releasing did over many simulated runs.

    Attributes:
        released: share of the runs that released.
        broken: share of all runs that released below the target.
        yields: mean share of items released, over all runs.
    """

    released: float
    broken: float
    yields: float


def simulate(
    way: Callable[[np.ndarray, np.ndarray, np.random.Generator], float | None],
    runs: int,
    seed: int = 1,
    target: float = TARGET,
    size: int = 100_000,
) -> Promise:
    """Try a way of releasing in a world of scores and truths where the truth is known.

    Args:
        way: given all scores (n,), truths (n,) bool and a generator, the threshold it releases at, or None.
    """
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 1.2, size)
    truths = rng.random(size) < np.clip(1 / (1 + np.exp(-(scores - 0.5) * 12)), 0, 0.995)
    order = np.argsort(-scores)
    precision = np.cumsum(truths[order]) / np.arange(1, size + 1)
    released = broken = 0
    yields = 0.0
    for _ in range(runs):
        threshold = way(scores, truths, rng)
        if threshold is None:
            continue
        released += 1
        kept = int(np.searchsorted(-scores[order], -threshold, side="right"))
        broken += precision[kept - 1] < target
        yields += kept / size
    return Promise(released / runs, broken / runs, yields / runs)


def ladder(
    scores: np.ndarray,
    truths: np.ndarray,
    rng: np.random.Generator,
    *,
    tuning: int = 200,
    audit: int = 300,
    target: float = TARGET,
) -> float | None:
    """The promise kept: tune on one sample, audit fresh ones, a stricter threshold and alpha each time it fails."""
    sample = rng.integers(0, len(scores), tuning)
    start = tuned(scores[sample], truths[sample], target)
    if start is None:
        return None
    above = scores[sample][scores[sample] >= start]
    for threshold, alpha in zip((start, *np.quantile(above, [0.25, 0.5])), ALPHAS, strict=True):
        pool = np.flatnonzero(scores >= threshold)
        fresh = rng.choice(pool, audit)
        if shows(int(truths[fresh].sum()), audit, target, alpha):
            return float(threshold)
    return None


def greedy(
    scores: np.ndarray, truths: np.ndarray, rng: np.random.Generator, *, audit: int = 300, target: float = TARGET
) -> float | None:
    """The promise broken: the threshold with the best yield whose observed precision reaches the target, on the very
    sample that is then said to be the audit. Here to be warned of."""
    sample = rng.integers(0, len(scores), audit)
    return tuned(scores[sample], truths[sample], target)


def tuned(scores: np.ndarray, truths: np.ndarray, target: float, least: int = 25) -> float | None:
    """The lowest score from which on the observed precision reaches `target`, with at least `least` items above."""
    order = np.argsort(-scores, kind="stable")
    precision = np.cumsum(truths[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero((precision >= target) & (np.arange(1, len(order) + 1) >= least))
    return float(scores[order][good[-1]]) if len(good) else None
