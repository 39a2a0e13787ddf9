"""How people order the parts of a category: pairs, the canonical order, how sure it is, and what a person reaches.

All counts are over pairs that are both in a drawing, for hardly any drawing has every part. A game's drawings stop when
they are recognised, so late parts are missing: `alone` says how often one part of a pair is, and so what the counts
would be had every missing part come later. What is random has the seed of its category: the same drawings give the same
numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ENOUGH = 30
"""Drawings that a pair needs for its entropy to count, and a category for its human ceiling."""
EXACT_UP_TO = 8
"""Parts up to which the Kemeny order is searched exactly; above, the canonical order is Borda's."""
BOOTSTRAPS = 1000
HALVES = 100
SURE = 0.95
"""Share of the bootstrap orders that must agree on a pair for it to be resolved. That tests either side at 5 %, so one
in ten pairs that are a coin passes."""


@dataclass(frozen=True)
class Said:
    """What a drawing says of the order of its parts.

    Attributes:
        returned: whether the pen came back to a part after another.
        recognized: by the game it was drawn in; None where there was none.
    """

    part_order: list[str]
    returned: bool
    recognized: bool | None


@dataclass(frozen=True)
class Orders:
    """What the drawings of a category show. Matrices are (parts, parts), row before column.

    Attributes:
        parts: by alphabet.
        presence: share of the drawings that have each part.
        before: drawings that have both, the row's part first.
        alone: drawings that have the row's part and not the column's.
        kemeny, borda: indices into `parts`.
        agreement: share of the bootstrap's orders that agree with `kemeny` on the pair (symmetric).
        human_tau, human_tau_sd, stability: None with fewer than `ENOUGH` comparable drawings.
    """

    drawings: int
    comparable: int
    parts: tuple[str, ...]
    presence: np.ndarray
    before: np.ndarray
    alone: np.ndarray
    kemeny: tuple[int, ...]
    exact: bool
    borda: tuple[int, ...]
    agreement: np.ndarray
    human_tau: float | None
    human_tau_sd: float | None
    stability: float | None
    seed: int

    @property
    def together(self) -> np.ndarray:
        """Drawings that have both."""
        return self.before + self.before.T

    @property
    def fits(self) -> float | None:
        """The share of ordered pairs of the drawings that the Kemeny order has so, too."""
        total = int(self.before.sum())
        return float((self.before * precedes(np.array([self.kemeny]))[0]).sum() / total) if total else None

    @property
    def entropy(self) -> float | None:
        """Mean entropy in bits of the pairs that enough drawings have, by their count; None where there is none."""
        n = np.triu(self.together, 1)
        n = np.where(n >= ENOUGH, n, 0)
        if not n.sum():
            return None
        return float((n * entropy(self.before, np.maximum(self.together, 1))).sum() / n.sum())


def seed_of(source: str, category: str) -> int:
    """The seed of a category's bootstrap and halves."""
    return int.from_bytes(hashlib.sha256(f"{source}/{category}".encode()).digest()[:6], "big")


def entropy(first: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Of a coin that fell on one side `first` times in `n` (n > 0), in bits."""
    p = first / n
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log2(p), 0) + np.where(p < 1, (1 - p) * np.log2(1 - p), 0)
    return np.abs(terms)


def precedes(orders: np.ndarray) -> np.ndarray:
    """int64 (b, k, k) of orders (b, k): 1 where the row's part is before the column's."""
    place = np.argsort(orders, axis=1)
    return (place[:, :, None] < place[:, None, :]).astype(np.int64)


def kemeny(before: np.ndarray) -> np.ndarray:
    """For each of (b, k, k) counts, the order (b, k) that contradicts the fewest of them, by a search over subsets.

    Of equally good orders, the first by the parts' numbers. Takes 2^k k steps: k is at most `EXACT_UP_TO`.
    """
    batch, k, _ = before.shape
    subsets = ((np.arange(1 << k)[:, None] >> np.arange(k)) & 1).astype(before.dtype)
    against = subsets @ before  # (b, subset, j): counts that say a member of the subset comes before j
    best = np.zeros((batch, 1 << k), before.dtype)
    choice = np.zeros((batch, 1 << k), np.int64)
    for subset in range(1, 1 << k):
        members = np.flatnonzero(subsets[subset])
        rest = subset - (1 << members)
        cost = against[:, rest, members] + best[:, rest]
        picked = cost.argmin(axis=1)
        choice[:, subset] = members[picked]
        best[:, subset] = np.take_along_axis(cost, picked[:, None], 1)[:, 0]
    orders = np.empty((batch, k), np.int64)
    left = np.full(batch, (1 << k) - 1)
    for turn in range(k):
        orders[:, turn] = choice[np.arange(batch), left]
        left -= 1 << orders[:, turn]
    return orders


def borda(before: np.ndarray) -> np.ndarray:
    """For each of (b, k, k) counts, the order (b, k) by the share of its pairs in which a part comes first."""
    first = before.sum(axis=2)
    total = first + before.sum(axis=1)
    # Whole numbers where floats could tie differently: shares are compared as rounded to 1e-9.
    share = np.round(first / np.maximum(total, 1), 9)
    share[total == 0] = 0.5
    return np.argsort(-share, axis=1, kind="stable")


def canonical(before: np.ndarray) -> np.ndarray:
    """Kemeny orders up to `EXACT_UP_TO` parts, Borda's above."""
    return kemeny(before) if before.shape[1] <= EXACT_UP_TO else borda(before)


def measure(drawings: Sequence[Sequence[str]], seed: int) -> Orders:
    """The statistics of a category's drawings, each given as its parts by first stroke, no name twice."""
    parts = tuple(sorted({part for drawing in drawings for part in drawing}))
    number = {part: index for index, part in enumerate(parts)}
    place = np.full((len(drawings), len(parts)), -1, np.int64)
    for row, drawing in enumerate(drawings):
        place[row, [number[part] for part in drawing]] = np.arange(len(drawing))
    there = place >= 0
    first = (place[:, :, None] < place[:, None, :]) & there[:, :, None] & there[:, None, :]
    comparable = there.sum(axis=1) >= 2
    before = first.sum(axis=0, dtype=np.int64)
    order = canonical(before[None])[0]
    rng = np.random.default_rng(seed)
    compared = first[comparable].astype(np.int64)
    tau, sd, stability = _halves(compared, rng)
    return Orders(
        len(drawings),
        int(comparable.sum()),
        parts,
        there.mean(axis=0),
        before,
        (there[:, :, None] & ~there[:, None, :]).sum(axis=0, dtype=np.int64),
        tuple(order.tolist()),
        len(parts) <= EXACT_UP_TO,
        tuple(borda(before[None])[0].tolist()),
        _bootstrap(compared, order, rng),
        tau,
        sd,
        stability,
        seed,
    )


def _bootstrap(first: np.ndarray, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The share of orders of resampled drawings that agree with `order`, for each pair."""
    n, k = first.shape[0], first.shape[1]
    ours = precedes(order[None])[0]
    if not n:
        return np.zeros((k, k))
    draws = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAPS)
    counts = (draws @ first.reshape(n, k * k)).reshape(BOOTSTRAPS, k, k)
    forward = precedes(canonical(counts)).mean(axis=0)
    return np.where(ours == 1, forward, forward.T)


def _halves(first: np.ndarray, rng: np.random.Generator) -> tuple[float | None, float | None, float | None]:
    """Mean tau of a half's drawings to the other half's order, its deviation, and the mean tau of the two orders."""
    n, k = first.shape[0], first.shape[1]
    if n < ENOUGH:
        return None, None, None
    halves = np.argsort(rng.random((HALVES, n)), axis=1) < n // 2
    flat = first.reshape(n, k * k)
    orders = [canonical((half.astype(np.int64) @ flat).reshape(HALVES, k, k)) for half in (halves, ~halves)]
    sides = [precedes(each) for each in orders]
    agreed = flat @ sides[0].reshape(HALVES, k * k).T  # (n, halves)
    tau = 2 * agreed / flat.sum(axis=1)[:, None] - 1
    means = (tau.T * ~halves).sum(axis=1) / (~halves).sum(axis=1)
    same = (sides[0] == sides[1]).sum(axis=(1, 2)) - k
    stability = 2 * same / (k * (k - 1)) - 1
    return float(means.mean()), float(means.std()), float(stability.mean())
