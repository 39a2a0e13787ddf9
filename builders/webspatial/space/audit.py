"""What can be answered without looking: the commonest answer, a model of the words, and where the marks are.

Each is trained on one half of the scenes and tested on the other, both ways. The first two must be at chance; the
third is reported, for nearness and height in a picture do tell something about space.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

Question = Mapping[str, Any]
"""A row of `questions`: type, fold, text, options, answer, marks."""


@dataclass(frozen=True)
class Audit:
    """Accuracies of a kind of question; chance is 1 / number of options."""

    kind: str
    questions: int
    chance: float
    majority: float
    text_only: float
    position: float | None


def audit(questions: Sequence[Question], places: Mapping[tuple[str, int], tuple[float, float]]) -> list[Audit]:
    """Audit every kind; `places` has the middle (x, y, as shares of the picture) of each (scene, object)."""
    out = []
    for kind in sorted({q["type"] for q in questions}):
        some = [q for q in questions if q["type"] == kind]
        chance = sum(1 / len(q["options"]) for q in some) / len(some)
        seen = [q for q in some if q["marks"]]
        position = _both_ways(seen, partial(_table, feature=partial(_layout, places=places))) if seen else None
        row = (_both_ways(some, _majority), _both_ways(some, _naive_bayes), position)
        out.append(Audit(kind, len(some), round(chance, 4), *(None if v is None else round(v, 4) for v in row)))  # pyright: ignore
    return out


def _index(q: Question) -> int:
    return list(q["options"]).index(q["answer"])


def _both_ways(questions: Sequence[Question], learn: Callable) -> float:
    right = 0
    for test in ("a", "b"):
        model = learn([q for q in questions if q["fold"] != test])
        right += sum(model(q) == _index(q) for q in questions if q["fold"] == test)
    return right / len(questions)


def _majority(train: Sequence[Question]) -> Callable[[Question], int]:
    counts = Counter(_index(q) for q in train)
    best = min(counts, key=lambda k: (-counts[k], k)) if counts else 0
    return lambda q: best if best < len(q["options"]) else 0


def _words(q: Question) -> list[str]:
    words = re.findall(r"[a-z0-9]+", " ".join([q["text"], *q["options"]]).lower())
    return words + [f"{a}_{b}" for a, b in itertools.pairwise(words)]


def _naive_bayes(train: Sequence[Question]) -> Callable[[Question], int]:
    """Words and pairs of words, smoothed; predicts the place of the answer among the options."""
    priors = Counter(_index(q) for q in train)
    words: dict[int, Counter[str]] = defaultdict(Counter)
    for q in train:
        words[_index(q)].update(_words(q))
    size = len({w for counts in words.values() for w in counts}) + 1
    totals = {k: sum(counts.values()) + size for k, counts in words.items()}

    def predict(q: Question) -> int:
        scores = {
            k: math.log(priors[k]) + sum(math.log((words[k][w] + 1) / totals[k]) for w in _words(q))
            for k in sorted(priors)
            if k < len(q["options"])
        }
        return max(scores, key=lambda k: scores[k]) if scores else 0

    return predict


def _table(train: Sequence[Question], feature: Callable[[Question], Hashable]) -> Callable[[Question], int]:
    seen: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for q in train:
        seen[feature(q)][_index(q)] += 1
    return lambda q: seen[feature(q)].most_common(1)[0][0] if seen.get(feature(q)) else 0


def _layout(q: Question, places: Mapping[tuple[str, int], tuple[float, float]]) -> Hashable:
    """Where the marks are to each other in the picture: signs of the differences, and a coarse place of the first."""
    at = [places.get((q["scene_id"], number), (0.5, 0.5)) for _, number in sorted(q["marks"].items())]
    signs = tuple((a[0] > b[0], a[1] > b[1]) for k, a in enumerate(at) for b in at[k + 1 :])
    return (signs, round(at[0][0] * 2), round(at[0][1] * 2)) if len(at) < 3 else signs
