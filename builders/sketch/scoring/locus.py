"""Where grounding lives: a score for each layer and head against a null of shuffled labels, and the band of layers that
holds most of what is above it.

The null shuffles a drawing's maps among its parts. A head that always looks at the same ink keeps its score under every
shuffle, so it is not above the null however much of the part that ink is. The greatest head of each shuffle sets what
counts as above: with nothing there, 5 % of models have any head above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 999
ALPHA = 0.05
SHARE = 0.8
"""Of the mass above the null, what a band must hold."""


@dataclass(frozen=True)
class Null:
    """Scores of heads against shuffled labels.

    Attributes:
        score: [heads], the mean over classes of parts of the mean IoU.
        chance: [heads], the mean over shuffles.
        p: [heads], share of shuffles (with the data as they are) whose greatest head is at least as far above its own
            chance, in standard deviations.
        excess: [heads], score - chance where p <= ALPHA, else 0.
    """

    score: np.ndarray
    chance: np.ndarray
    p: np.ndarray

    @property
    def excess(self) -> np.ndarray:
        return np.where(self.p <= ALPHA, np.maximum(self.score - self.chance, 0), 0)


def class_weights(classes: Sequence[Sequence[tuple[str, str]]]) -> list[np.ndarray]:
    """For each drawing's parts the weight that makes a weighted sum the mean over classes of class means."""
    sizes: dict[tuple[str, str], int] = {}
    for group in classes:
        for name in group:
            sizes[name] = sizes.get(name, 0) + 1
    return [np.array([1 / (len(sizes) * sizes[name]) for name in group]) for group in classes]


def shuffled_labels(
    blocks: Sequence[np.ndarray], weights: Sequence[np.ndarray], rounds: int = ROUNDS, seed: int = 0
) -> Null:
    """Test all heads at once.

    Args:
        blocks: a drawing each, [heads, maps, parts]: IoU of the map asked for part i with part j; maps = parts.
        weights: a drawing each, [parts].
    """
    rng = np.random.default_rng(seed)
    heads = blocks[0].shape[0]
    score = np.zeros(heads)
    null = np.zeros((rounds, heads))
    for block, weight in zip(blocks, weights, strict=True):
        parts = block.shape[2]
        weighted = block.astype(np.float64) * weight
        score += np.trace(weighted, axis1=1, axis2=2)
        for order, times in _orders(rng, parts, rounds):
            null[times] += weighted[:, order, np.arange(parts)].sum(1)
    everything = np.concatenate([null, score[None]])
    chance = everything.mean(0)
    spread = everything.std(0)
    apart = np.divide(everything - chance, spread, out=np.zeros_like(everything), where=spread > 1e-9)
    greatest = apart.max(1)
    p = (greatest[None, :] >= apart[-1][:, None] - 1e-9).mean(1)
    return Null(score, chance, p)


def _orders(rng: np.random.Generator, parts: int, rounds: int):
    """Shuffles of a drawing's parts, each with the rounds that have it: there are few, so each is summed once."""
    drawn = rng.permuted(np.tile(np.arange(parts), (rounds, 1)), axis=1)
    orders, of = np.unique(drawn, axis=0, return_inverse=True)
    of = of.ravel()
    for index, order in enumerate(orders):
        yield order, of == index


@dataclass(frozen=True)
class Band:
    """Layers first ... last, both included, of `layers`; `share` of the mass above the null is in them."""

    first: int
    last: int
    layers: int
    share: float

    @property
    def depth(self) -> tuple[float, float]:
        """Where it begins and ends, 0 before the first layer and 1 after the last."""
        return self.first / self.layers, (self.last + 1) / self.layers


def band(excess: np.ndarray) -> Band | None:
    """The shortest run of layers with SHARE of the mass, of several the heaviest, then the first; None without mass.

    Args:
        excess: [layers, heads], not negative.
    """
    mass = excess.sum(1)
    total = mass.sum()
    if total <= 0:
        return None
    sums = np.concatenate([[0.0], mass.cumsum()])
    for length in range(1, len(mass) + 1):
        runs = sums[length:] - sums[:-length]
        first = int(runs.argmax())
        if runs[first] >= SHARE * total - 1e-12:
            return Band(first, first + length - 1, len(mass), float(runs[first] / total))
    raise AssertionError("all layers hold all the mass")


def centre(excess: np.ndarray) -> float | None:
    """Relative depth of the mass's centre: layer l of L stands at (l + 1/2) / L."""
    mass = excess.sum(1)
    if mass.sum() <= 0:
        return None
    return float(((np.arange(len(mass)) + 0.5) * mass).sum() / mass.sum() / len(mass))
