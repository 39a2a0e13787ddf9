"""The order readout: does a model order parts as people do, and is it unsure where they are?

Three measures, for none is enough alone. Tau to the canonical order, over the human ceiling, on categories whose order
is resolved: a model that always says the canonical order gets all of it. Calibration over pairs of parts: its share of
`a first` against people's. Entropy against entropy. The second and third need many answers of a category: different
drawings and shuffled lists. Beside the model stand orders that know nothing of drawing: the list as it was given (bias
for places), the alphabet, size, top to bottom; and the canonical order itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from builders.sketch.scoring.grounding import RESAMPLES, Value
from builders.sketch.scoring.truth import People

ENOUGH = 20
"""Answers that have both parts of a pair, for the model's share to mean something."""
CONTROLS = ("listed", "alphabetical", "size", "top_to_bottom", "canonical")
MEASURES = (
    "tau", "tau_stable", "of_ceiling", "correlation", "difference", "entropy_rho", "entropy_difference"
)  # fmt: skip
"""Mean tau over categories; on those with a resolved order; that over the human ceiling of the same; Pearson
correlation and mean absolute difference of shares over pairs; Spearman correlation and mean absolute difference of
entropies over categories."""


@dataclass(frozen=True)
class Said:
    """An answer: the order, the list as it was given, and the drawing that was shown; `why` it is no order."""

    category: str
    order: tuple[str, ...] | None
    options: tuple[str, ...]
    drawing: str | None = None
    why: str = ""


def tau(order: Sequence[str], other: Sequence[str]) -> float | None:
    """Kendall's tau over the parts that both have; None where these are fewer than two."""
    place = {part: index for index, part in enumerate(other)}
    ranks = [place[part] for part in order if part in place]
    pairs = len(ranks) * (len(ranks) - 1) // 2
    if not pairs:
        return None
    kept = sum(first < second for first, second in combinations(ranks, 2))
    return 2 * kept / pairs - 1


def entropy(share: float) -> float:
    """Of a share, in bits."""
    return -sum(p * np.log2(p) for p in (share, 1 - share) if p > 0)


@dataclass(frozen=True)
class Category:
    """One predictor on one category.

    Attributes:
        tau: mean over answers to the canonical order.
        pairs: (people's share of `a first`, the predictor's), of pairs that people's side counts and that enough
            answers
            have.
        entropies: (people's, the predictor's), means over these pairs weighted by people's counts.
    """

    name: str
    answers: int
    tau: float
    ceiling: float | None
    stable: bool
    pairs: tuple[tuple[float, float], ...]
    entropies: tuple[float, float] | None


@dataclass(frozen=True)
class Readout:
    """One predictor over all categories: each of MEASURES that has enough behind it, with its interval."""

    name: str
    categories: int
    stable: int
    pairs: int
    values: Mapping[str, Value]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {**vars(self), "values": {name: vars(value) for name, value in self.values.items()}}


@dataclass(frozen=True)
class OrderReport:
    """The order readout.

    Attributes:
        unread: answers that are no order, by why.
        without: answers of categories that people's orders say nothing of.
        bias: mean tau of the answers to the list as it was given; 0 for a model that does not mind.
        readouts: the model first, then CONTROLS.
        categories: the model's, one by one.
    """

    answers: int
    unread: Mapping[str, int]
    without: int
    bias: Value | None
    readouts: tuple[Readout, ...]
    categories: tuple[Category, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            **vars(self),
            "bias": None if self.bias is None else vars(self.bias),
            "readouts": [each.to_json() for each in self.readouts],
            "categories": [vars(each) for each in self.categories],
        }


def score_orders(
    said: Sequence[Said], known: Mapping[str, People], layouts: Iterable[tuple[str, str, str, float, float]]
) -> OrderReport:
    """Score answers against people.

    Args:
        known: by category, see `truth.people`.
        layouts: as `truth.layouts` gives them, for the controls.
    """
    unread = Counter(each.why for each in said if each.order is None)
    readable = [each for each in said if each.order is not None]
    scored = [each for each in readable if each.category in known]
    size, top = _sorters(layouts, {each.category for each in scored})
    orders: dict[str, Callable[[Said], Sequence[str] | None]] = {
        "model": lambda each: each.order,
        "listed": lambda each: each.options or None,
        "alphabetical": lambda each: sorted(each.order or ()),
        "size": lambda each: _sorted(each, size),
        "top_to_bottom": lambda each: _sorted(each, top),
        "canonical": lambda each: [part for part in known[each.category].order if part in (each.order or ())],
    }
    by_name = {name: _categories(scored, order, known) for name, order in orders.items()}
    readouts = tuple(readout(name, found) for name, found in by_name.items() if found)
    listed: dict[str, list[float]] = defaultdict(list)
    for each in scored:
        apart = tau(each.order or (), each.options)
        if apart is not None:
            listed[each.category].append(apart)
    bias = _mean([float(np.mean(values)) for values in listed.values()])
    return OrderReport(
        len(said), dict(sorted(unread.items())), len(readable) - len(scored), bias, readouts, tuple(by_name["model"])
    )


def _sorters(
    layouts: Iterable[tuple[str, str, str, float, float]], wanted: set[str]
) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """By (drawing or category, part): less ink is later; a higher middle is first."""
    size: dict[tuple[str, str], float] = {}
    top: dict[tuple[str, str], float] = {}
    sums: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for drawing, category, part, ink, middle in layouts:
        if category in wanted:
            size[drawing, part], top[drawing, part] = -ink, middle
            sums[category, part].append((-ink, middle))
    for key, values in sums.items():
        size[key], top[key] = np.mean(values, 0).tolist()
    return size, top


def _sorted(each: Said, by: Mapping[tuple[str, str], float]) -> list[str] | None:
    """The answer's parts sorted as they lie in its drawing, or in the mean drawing where none was shown."""
    parts = each.order or ()
    for where in (each.drawing, each.category):
        if where is not None and all((where, part) in by for part in parts):
            return sorted(parts, key=lambda part: (by[where, part], part))
    return None


def _categories(
    said: Sequence[Said], order: Callable[[Said], Sequence[str] | None], known: Mapping[str, People]
) -> list[Category]:
    groups: dict[str, list[Sequence[str]]] = defaultdict(list)
    for each in said:
        found = order(each)
        if found:
            groups[each.category].append(found)
    return [one for name in sorted(groups) if (one := _category(groups[name], known[name])) is not None]


def _category(orders: Sequence[Sequence[str]], person: People) -> Category | None:
    taus = [value for order in orders if (value := tau(order, person.order)) is not None]
    if not taus:
        return None
    counts: Counter[tuple[str, str]] = Counter()
    firsts: Counter[tuple[str, str]] = Counter()
    for order in orders:
        for first, second in combinations(order, 2):
            key = (min(first, second), max(first, second))
            counts[key] += 1
            firsts[key] += first == key[0]
    both = [
        (human, firsts[key] / counts[key], n)
        for key, (human, n) in sorted(person.pairs.items())
        if counts[key] >= ENOUGH
    ]
    entropies = None
    if both:
        weights = [n for _, _, n in both]
        sides = ([entropy(human) for human, _, _ in both], [entropy(model) for _, model, _ in both])
        entropies = (float(np.average(sides[0], weights=weights)), float(np.average(sides[1], weights=weights)))
    pairs = tuple((human, model) for human, model, _ in both)
    mean = float(np.mean(taus))
    return Category(person.category, len(orders), mean, person.tau, person.resolved, pairs, entropies)


def readout(name: str, categories: Sequence[Category]) -> Readout:
    """The measures of a predictor, with 95 % intervals of a bootstrap over categories; the same each time."""
    count = len(categories)
    rng = np.random.default_rng(0)
    drawn = np.stack([np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(RESAMPLES)])
    found = _measures(categories, np.concatenate([np.ones((1, count)), drawn]))
    values = {}
    for measure, each in found.items():
        if np.isfinite(each[0]):
            low, high = np.nanpercentile(each[1:], [2.5, 97.5]).tolist()
            values[measure] = Value(float(each[0]), low, high)
    stable = sum(each.stable for each in categories)
    return Readout(name, count, stable, sum(len(each.pairs) for each in categories), values)


def _measures(categories: Sequence[Category], weights: np.ndarray) -> dict[str, np.ndarray]:
    """Those of MEASURES that can be had, for each row of [samples, categories] of how often a category is in it."""
    taus = np.array([each.tau for each in categories])
    stable = np.array([each.stable for each in categories], float)
    ceiling = np.array([each.ceiling or 0.0 for each in categories])
    capped = stable * (ceiling > 0)
    of = np.repeat(np.arange(len(categories)), [len(each.pairs) for each in categories])
    pairs = np.array([pair for each in categories for pair in each.pairs]).reshape(-1, 2)
    both = np.array([index for index, each in enumerate(categories) if each.entropies is not None], int)
    entropies = np.array([each.entropies for each in categories if each.entropies is not None]).reshape(-1, 2)
    mine = weights[:, both]
    return {
        "tau": _ratio(weights @ taus, weights.sum(1)),
        "tau_stable": _ratio(weights @ (taus * stable), weights @ stable),
        "of_ceiling": _ratio(weights @ (taus * capped), weights @ (ceiling * capped)),
        "correlation": _correlation(pairs[:, 0], pairs[:, 1], weights[:, of]),
        "difference": _ratio(weights[:, of] @ np.abs(pairs[:, 0] - pairs[:, 1]), weights[:, of].sum(1)),
        "entropy_rho": _correlation(_ranks(entropies[:, 0], mine), _ranks(entropies[:, 1], mine), mine),
        "entropy_difference": _ratio(mine @ np.abs(entropies[:, 0] - entropies[:, 1]), mine.sum(1)),
    }


def _ratio(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    return np.divide(over, under, out=np.full(len(over), np.nan), where=under > 0)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[samples, n], each value's rank among all of its sample; equal ones share the mean of their places."""
    less = (values[:, None] < values[None, :]).astype(float)
    same = (values[:, None] == values[None, :]).astype(float)
    return weights @ less + (weights @ same + 1) / 2


def _correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's, of each sample; nan for fewer than three values or where one side does not vary."""
    total = weights.sum(1, keepdims=True)
    x, y = (side - _ratio((weights * side).sum(1), total[:, 0])[:, None] for side in (x, y))
    xx, yy, xy = ((weights * one * other).sum(1) for one, other in ((x, x), (y, y), (x, y)))
    enough = (total[:, 0] >= 3) & (xx > 1e-12) & (yy > 1e-12)
    return np.divide(xy, np.sqrt(xx * yy), out=np.full(len(xx), np.nan), where=enough)


def _mean(values: Sequence[float]) -> Value | None:
    if not values:
        return None
    given = np.array(values)
    rng = np.random.default_rng(0)
    means = given[rng.integers(0, len(given), (RESAMPLES, len(given)))].mean(1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return Value(float(given.mean()), low, high)
