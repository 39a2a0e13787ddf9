"""What an item is worth to a benchmark, along three axes, and which items another one makes needless.

* improvability: the room that the panel leaves, 1 less its mean score;
* variance: of the models' scores, what the item tells models apart by (at most 1/4);
* alignment: how much the item matters, as the priorities say; 1 for all where there are none.

An item is inferior (Pareto) where another of its group is at least as good on all axes and better on one. Saturated
items (every model above 0.95) and unsolved ones (every model below 0.05, which may be a wrong answer key) separate
nothing, as do those on which all models score the same. Discrimination, the correlation of an item with the mean of all
other items, is negative where better models do worse: the answer key may be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from quality.items.panel import Panel
from schemas import GoldsmithError

SATURATED, UNSOLVED = 0.95, 0.05
BACKWARDS = -0.3
_FEWEST_MODELS = 5
"""With fewer models a correlation is mostly chance, and no item is called backwards."""

_DIGITS = 3
"""Items are compared at three digits: a difference below is none."""

_BLOCK = 512

VERDICTS = {
    "saturated": "every model has it right: it can only be lost",
    "unsolved": "no model has it right: look at the answer key before calling it hard",
    "flat": "all models score the same on it: it separates nothing",
    "backwards": "better models do worse on it: look at the answer key",
    "inferior": "another item of its group leaves as much room, separates as well and matters as much, or more",
    "keep": "none of these",
}
"""What a verdict means; the first that fits is an item's."""


@dataclass(frozen=True)
class Audit:
    """The items, judged.

    Attributes:
        models: how many.
        left_aside: items that not every model has.
        rows: item, group, mean, improvability, variance, alignment, discrimination (null where it has no variance),
            dominated (how many items of its group are better, as in the module's first lines), verdict.
    """

    models: int
    left_aside: int
    rows: pl.DataFrame

    @property
    def verdicts(self) -> dict[str, int]:
        """How many items have each verdict."""
        found = Counter(self.rows["verdict"])
        return {name: found[name] for name in VERDICTS}

    def text(self) -> str:
        """A table for people: groups by verdicts."""
        head = f"{'group':28}" + "".join(f"{name:>11}" for name in VERDICTS)
        aside = f"; {self.left_aside:,} more, which not every model has, are left aside" if self.left_aside else ""
        lines = [f"{self.rows.height:,} items, {self.models} models{aside}", head]
        groups = [(name or "(none)", part) for (name,), part in self.rows.group_by("group", maintain_order=True)]
        for name, part in [("all", self.rows), *groups]:
            found = Counter(part["verdict"])
            lines.append(f"{name[:28]:28}" + "".join(f"{found[verdict]:11,}" for verdict in VERDICTS))
        return "\n".join(lines)

    def to_json(self) -> dict:
        """For programs."""
        return {
            "models": self.models,
            "items": self.rows.height,
            "left_aside": self.left_aside,
            "verdicts": self.verdicts,
        }


def audit(panel: Panel, priorities: Mapping[str, float] | None = None) -> Audit:
    """Judge every item of a panel.

    Args:
        priorities: by group or item name; an item's own wins over its group's, and what is not named has 0.

    Raises:
        GoldsmithError: a priority names neither a group nor an item.
    """
    alignment = np.ones(len(panel.items))
    if priorities is not None:
        unknown = sorted(set(priorities) - set(panel.items) - set(panel.groups))
        if unknown:
            raise GoldsmithError(f"[priorities > {unknown[0]}] is no group and no item: correct the name")
        named = zip(panel.items, panel.groups, strict=True)
        alignment = np.array([priorities.get(item, priorities.get(group, 0.0)) for item, group in named])
    scores = panel.scores
    mean, variance = scores.mean(axis=1), scores.var(axis=1)
    axes = np.column_stack([1 - mean, variance, alignment])
    dominated = np.zeros(len(mean), np.int64)
    groups = np.array(panel.groups)
    for group in sorted(set(panel.groups)):
        here = groups == group
        dominated[here] = dominating(axes[here])
    discrimination = _discrimination(scores)
    return Audit(
        len(panel.models),
        panel.left_aside,
        pl.DataFrame(
            {
                "item": panel.items,
                "group": panel.groups,
                "mean": mean,
                "improvability": 1 - mean,
                "variance": variance,
                "alignment": alignment,
                "discrimination": pl.Series(discrimination).fill_nan(None),
                "dominated": dominated,
                "verdict": _verdicts(scores, variance, discrimination, dominated),
            }
        ),
    )


def dominating(axes: np.ndarray) -> np.ndarray:
    """How many rows are at least as good as each on all axes and better on one: int64 of shape (n,).

    Args:
        axes: shape (n, k), higher is better; compared at three digits.
    """
    points, place, count = np.unique(np.round(axes, _DIGITS), axis=0, return_inverse=True, return_counts=True)
    found = np.empty(len(points), np.int64)
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        as_good = np.ones((len(block), len(points)), bool)
        for axis in range(points.shape[1]):
            as_good &= points[None, :, axis] >= block[:, None, axis]
        found[start : start + len(block)] = as_good @ count - count[start : start + len(block)]  # less its equals
    return found[place.reshape(-1)]


def _discrimination(scores: np.ndarray) -> np.ndarray:
    """Of each item, the correlation over models of its score with the mean of all other items; NaN without variance."""
    n = len(scores)
    if n < 2:
        return np.full(n, np.nan)
    total = scores.sum(axis=0)
    own = scores - scores.mean(axis=1, keepdims=True)
    rest = (total - scores) / (n - 1)
    rest -= rest.mean(axis=1, keepdims=True)
    size = np.sqrt((own**2).sum(axis=1) * (rest**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 1e-12, (own * rest).sum(axis=1) / size, np.nan)


def _verdicts(scores: np.ndarray, variance: np.ndarray, discrimination: np.ndarray, dominated: np.ndarray) -> list[str]:
    backwards = (discrimination < BACKWARDS) & (scores.shape[1] >= _FEWEST_MODELS)
    conditions = [
        scores.min(axis=1) >= SATURATED,
        scores.max(axis=1) <= UNSOLVED,
        variance < 10**-_DIGITS / 2,
        backwards,
        dominated > 0,
    ]
    return np.select(conditions, list(VERDICTS)[:-1], "keep").tolist()
