"""How many rows to look at, and what the wrong ones among them say about all: exact bounds, no approximation.

The bound of a finite lot (hypergeometric) is what the gate uses; Clopper-Pearson, for an endless stream of such rows,
is reported beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from schemas import GoldsmithError


def clopper_pearson(wrong: int, judged: int, confidence: float = 0.95, *, sides: int = 2) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934).

    Args:
        sides: 1 for an upper (and a lower) bound that each hold with `confidence`, 2 for an interval that does.
    """
    if not 0 <= wrong <= judged:
        raise ValueError(f"{wrong} of {judged}")
    tail = (1 - confidence) / sides
    if judged == 0:
        return 0.0, 1.0
    low = 0.0 if wrong == 0 else _root(lambda p: 1 - binomial_cdf(wrong - 1, judged, p) - tail)
    high = 1.0 if wrong == judged else _root(lambda p: tail - binomial_cdf(wrong, judged, p))
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function on [0, 1] crosses zero, to the last bit that bisection gives."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) of a binomial; the smaller tail is summed, outwards, until nothing is added any more."""
    if p <= 0 or k >= n:
        return 1.0
    if p >= 1 or k < 0:
        return 0.0
    upper = k > n * p
    at = k + 1 if upper else k
    term = math.exp(_log_choose(n, at) + at * math.log(p) + (n - at) * math.log1p(-p))
    odds, terms = p / (1 - p), []
    total = 0.0
    while term > total * 1e-17 and 0 <= at <= n:
        terms.append(term)
        total += term
        term *= (n - at) / (at + 1) * odds if upper else at / ((n - at + 1) * odds)
        at += 1 if upper else -1
    return 1 - math.fsum(terms) if upper else math.fsum(terms)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def hypergeometric_cdf(k: int, lot: int, bad: int, n: int) -> float:
    """P(X <= k) of wrong rows in a sample of `n` without replacement from a lot with `bad` wrong ones."""
    low, high = max(0, n - (lot - bad)), min(n, bad)
    if k < low:
        return 0.0
    if k >= high:
        return 1.0
    whole = _log_choose(lot, n)
    terms = (math.exp(_log_choose(bad, i) + _log_choose(lot - bad, n - i) - whole) for i in range(low, k + 1))
    return min(1.0, math.fsum(terms))


def most_wrong(wrong: int, judged: int, lot: int, confidence: float = 0.95) -> int:
    """The most wrong rows a lot can have, with `confidence`, when `wrong` of a random `judged` were.

    All that are left over by the sample are possible when nothing was judged; a lot judged whole has no doubt.
    """
    if not 0 <= wrong <= judged <= lot:
        raise ValueError(f"{wrong} of {judged} of {lot}")
    low, high = wrong, lot - (judged - wrong)
    while low < high:  # the largest D under which so few wrong ones are not too unlikely
        middle = (low + high + 1) // 2
        if hypergeometric_cdf(wrong, lot, middle, judged) > 1 - confidence:
            low = middle
        else:
            high = middle - 1
    return low


def sample_size(lot: int, target: float, confidence: float = 0.95, wrong: int = 0) -> int:
    """The fewest rows of a lot to judge so that `wrong` wrong ones among them show a share of at most `target`.

    Where no sample short of all rows can show it, all rows.

    Raises:
        GoldsmithError: the target or the confidence is no share.
    """
    if not (0 < target < 1 and 0 < confidence < 1):
        raise GoldsmithError("[audit > bound] target and confidence lie between 0 and 1: write 0.05, not 5")
    allowed = math.floor(target * lot + 1e-9)
    low, high = min(wrong, lot), lot
    while low < high:
        middle = (low + high) // 2
        if most_wrong(min(wrong, middle), middle, lot, confidence) <= allowed:
            high = middle
        else:
            low = middle + 1
    return low
