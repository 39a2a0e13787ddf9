"""What a scoring found: by level, beside chance, the centre and the ceiling, with intervals; as text and as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from builders.vigor.forms import LEVELS
from builders.vigor.scoring.metrics import GROUNDED, METRICS, THRESHOLD

if TYPE_CHECKING:
    from builders.vigor.scoring.score import Scored

RESAMPLES = 1000


@dataclass(frozen=True)
class Value:
    """A mean over concepts, with the 95 % interval of a bootstrap over pictures, and what it is to be compared with."""

    mean: float
    low: float
    high: float
    chance: float
    centre: float
    ceiling: float


@dataclass(frozen=True)
class Level:
    """One level, or `all`.

    Attributes:
        cells: said and grounded, said and not, not said and looked at, neither.
        nothing: said concepts without evidence, or with evidence that points at nothing: 0 in every metric.
        outcomes: said concepts that were left out, by why.
        kinds: forms of the evidence.
    """

    name: str
    concepts: int
    pictures: int
    metrics: dict[str, Value]
    cells: dict[str, int]
    nothing: dict[str, int]
    outcomes: dict[str, int]
    kinds: dict[str, int]


@dataclass(frozen=True)
class ScoreReport:
    """The whole; see `text` and `to_json`.

    Attributes:
        pictures: how many have an answer, and how many there are.
        items: of each concept that was said and not left out: `picture > concept`, its level, and pointing (the mean,
            where several answers say it).
    """

    dataset: str
    answers: int
    pictures: tuple[int, int]
    levels: tuple[Level, ...]
    items: tuple[tuple[str, str, float], ...]

    @classmethod
    def of(cls, dataset: str, answers: int, pictures: tuple[int, int], scored: Iterable[Scored]) -> ScoreReport:
        """Sum up what was scored."""
        every = list(scored)
        groups = [(level, [each for each in every if each.level == level]) for level in LEVELS]
        levels = [_level(name, group) for name, group in [*groups, ("all", every)] if group]
        pointing: dict[tuple[str, str], list[float]] = defaultdict(list)
        for each in every:
            if each.said and each.got is not None:
                pointing[f"{each.image} > {each.concept}", each.level].append(each.got["pointing"])
        items = ((item, level, sum(values) / len(values)) for (item, level), values in sorted(pointing.items()))
        return cls(dataset, answers, pictures, tuple(levels), tuple(items))

    def text(self) -> str:
        """For a terminal."""
        lines = [
            f"{self.dataset}: {self.answers:,} answers about {self.pictures[0]:,} of {self.pictures[1]:,} pictures.",
            "Metrics are of concepts that were said, mean [95 % by picture].",
            f"IoU at {THRESHOLD} of the highest value; grounded: pointing of {GROUNDED} or more.",
        ]
        for level in self.levels:
            lines += [
                "",
                f"{level.name}: {level.concepts:,} concepts in {level.pictures:,} pictures {_counts(level.kinds)}",
            ]
            if level.metrics:
                lines.append(
                    f"  {'':10}{'score':>7}  {'95 %':^13}{'chance':>8}{'centre':>8}{'ceiling':>8}{'of ceiling':>11}"
                )
            for name, value in level.metrics.items():
                share = f"{value.mean / value.ceiling:.2f}" if value.ceiling > 0 else "-"
                lines.append(
                    f"  {name:10}{value.mean:7.3f} "
                    f" [{value.low:.3f},{value.high:.3f}]{value.chance:8.3f}{value.centre:8.3f}"
                    f"{value.ceiling:8.3f}{share:>11}"
                )
            cells = level.cells
            lines.append(
                f"  said and grounded {cells['said_grounded']:,}, said and NOT grounded"
                f" {cells['said_not_grounded']:,}, "
                f"not said but looked at {cells['silent_looked']:,}, neither {cells['silent_not_looked']:,}"
            )
            if level.nothing:
                lines.append(f"  0 in every metric, not grounded: {_counts(level.nothing)}")
            if level.outcomes:
                lines.append(f"  said, left out: {_counts(level.outcomes)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "format": 1,
            "dataset": self.dataset,
            "answers": self.answers,
            "pictures": {"answered": self.pictures[0], "all": self.pictures[1]},
            "iou_threshold": THRESHOLD,
            "grounded_pointing": GROUNDED,
            "resamples": RESAMPLES,
            "levels": [
                {**vars(level), "metrics": {name: vars(value) for name, value in level.metrics.items()}}
                for level in self.levels
            ],
        }


def _counts(found: dict[str, int]) -> str:
    return (
        "(" + ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in found.items()) + ")" if found else ""
    )


def _level(name: str, group: list[Scored]) -> Level:
    said = [each for each in group if each.said and each.got is not None]
    silent = [each for each in group if not each.said and each.got is not None]
    cells = {
        "said_grounded": sum(each.grounded for each in said),
        "said_not_grounded": sum(not each.grounded for each in said),
        "silent_looked": sum(each.grounded for each in silent),
        "silent_not_looked": sum(not each.grounded for each in silent),
    }
    nothing = Counter(each.outcome for each in said if each.outcome != "scored")
    outcomes = Counter(each.outcome for each in group if each.said and each.got is None)
    kinds = Counter(each.kind for each in said)
    pictures = len({each.image for each in said})
    counts = (dict(sorted(each.items())) for each in (nothing, outcomes, kinds))
    return Level(name, len(said), pictures, _values(said), cells, *counts)


def _values(said: list[Scored]) -> dict[str, Value]:
    if not said:
        return {}
    means = {
        source: np.array([[getattr(each, source)[name] for name in METRICS] for each in said])
        for source in ("got", "chance", "centre", "ceiling")
    }
    low, high = _intervals([each.image for each in said], means["got"])
    found = {}
    for index, name in enumerate(METRICS):
        mean, chance, centre, ceiling = (
            float(means[source][:, index].mean()) for source in ("got", "chance", "centre", "ceiling")
        )
        found[name] = Value(mean, float(low[index]), float(high[index]), chance, centre, ceiling)
    return found


def _intervals(images: list[str], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap over pictures (concepts of a picture err together); the same for the same answers."""
    groups: dict[str, list[int]] = defaultdict(list)
    for index, image in enumerate(images):
        groups[image].append(index)
    sums = np.array([values[rows].sum(0) for rows in groups.values()])
    sizes = np.array([len(rows) for rows in groups.values()], float)
    rng = np.random.default_rng(0)
    means = np.empty((RESAMPLES, values.shape[1]))
    for index in range(RESAMPLES):
        drawn = np.bincount(rng.integers(0, len(sizes), len(sizes)), minlength=len(sizes))
        means[index] = drawn @ sums / (drawn @ sizes)
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high
