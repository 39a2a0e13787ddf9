"""Which heads look somewhere: much attention on the picture, in one place. The two-criterion rule of Kang et al. (Your
Large Vision-Language Model Only Needs A Few Attention Heads For Visual Grounding, CVPR 2025), with two repairs: the
elbow is a value of attention (their released code compares a head's number with a head's number, and so keeps late
layers), and what counts as lit is a share of the map's own peak (their .001 means another thing for every grid).
"""

from __future__ import annotations

import numpy as np

from builders.sketch.scoring.regions import components

LIT = 1e-3
"""Of the highest value above the mean: what belongs to a component."""
FOCUSED = 10
"""A head's merit is how often it is among so many of the lowest entropy."""
HEADS = 3
"""Heads whose maps are added up: the paper's number."""


def elbow(values: np.ndarray) -> float:
    """The value at the elbow of the sorted values: the point farthest from the chord between lowest and highest."""
    ranked = np.sort(np.asarray(values, float).ravel())
    if len(ranked) < 3 or ranked[0] == ranked[-1]:
        return float(ranked[0])
    chord = np.linspace(ranked[0], ranked[-1], len(ranked))
    return float(ranked[np.abs(ranked - chord).argmax()])


def spatial_entropy(maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entropy (nats) of the masses of a map's components above its mean, and whether they fill its bottom row.

    Args:
        maps: [n, rows, columns], not negative.

    Returns:
        [n] and [n]; the entropy of a flat map, which has no component, is infinite.
    """
    above = np.maximum(maps - maps.mean((1, 2), keepdims=True), 0)
    peak = above.max((1, 2), keepdims=True)
    lit = (above > LIT * peak) & (peak > 1e-6 * maps.max((1, 2), keepdims=True))
    _, mass, of = components(lit, above)
    total = np.bincount(of, mass, len(maps))
    share = mass / total[of]
    entropy = np.bincount(of, -share * np.log(share), len(maps))
    return np.where(total > 0, entropy, np.inf), lit[:, -1].all(1)


def rank_by_rule(sums: np.ndarray, entropy: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """Heads, best first, by the two criteria.

    Args:
        sums: [queries, heads], attention on the picture (S_img).
        entropy, bottom: [queries, heads], as `spatial_entropy` gives them.

    Returns:
        numbers of the heads whose mean S_img is above the elbow (all heads where none is): by how often one is among
        the FOCUSED lowest entropies of a query, without maps that fill the bottom row; then by mean entropy, then by
        S_img.
    """
    attention = sums.mean(0)
    kept = np.flatnonzero(attention > elbow(attention))
    if not len(kept):
        kept = np.arange(len(attention))
    judged = np.where(bottom[:, kept], np.inf, entropy[:, kept])
    order = np.lexsort((-sums[:, kept], judged), axis=1)[:, :FOCUSED]
    counted = np.isfinite(np.take_along_axis(judged, order, 1))
    wins = np.bincount(order[counted], minlength=len(kept))
    finite = np.isfinite(judged)
    mean = np.where(finite, judged, 0).sum(0) / np.maximum(finite.sum(0), 1)
    mean = np.where(finite.any(0), mean, np.inf)
    return kept[np.lexsort((-attention[kept], mean, -wins))]
