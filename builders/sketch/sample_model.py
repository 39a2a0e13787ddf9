"""What the sample is drawn from: shapes of a few things, and a model of how people order their parts.

The model is Plackett and Luce's: the next part is drawn with a probability in proportion to its weight, so that part a
comes before part b with the probability w_a / (w_a + w_b), whatever other parts there are. So the right answers are
known: `precedence`, and the order of falling weights. A part is left out at random, which changes no such probability.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Line = list[tuple[float, float]]
Shape = tuple[str, Sequence[float]]
"""`oval` (cx, cy, rx, ry), `path` (x0, y0, x1, y1, ...) or `arc` (cx, cy, rx, ry, from, to in turns), in 0..255."""

PRESENCE = 0.94
"""Of a part in a drawing."""


@dataclass(frozen=True)
class Thing:
    """A category: its parts in the model's own order, each with the strokes it takes, and how firm that order is.

    Attributes:
        ratio: weight of a part over the next one's; 1 leaves the order to chance.
    """

    parts: Mapping[str, Sequence[Shape]]
    ratio: float

    @property
    def order(self) -> list[str]:
        """The right canonical order, where `ratio` is above 1."""
        return list(self.parts)

    def precedence(self, one: str, other: str) -> float:
        """The probability that `one` is begun before `other` in a drawing that has both."""
        steps = self.order.index(other) - self.order.index(one)
        return 1 / (1 + self.ratio**-steps)

    def draw_order(self, rng: random.Random) -> list[str]:
        """The parts of one drawing, two at the least, in the order of drawing."""
        left = [part for part in self.order if rng.random() < PRESENCE]
        if len(left) < 2:
            left = self.order[:2]
        drawn: list[str] = []
        while left:
            weights = [self.ratio ** -self.order.index(part) for part in left]
            drawn.append(left.pop(_pick(rng, weights)))
        return drawn


def _pick(rng: random.Random, weights: Sequence[float]) -> int:
    at = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return index
    return len(weights) - 1


def lines(rng: random.Random, shapes: Sequence[Shape], wobble: float = 2.0) -> list[Line]:
    """The strokes of a part, by an unsteady hand that never draws a thing in the same place twice."""
    dx, dy = rng.uniform(-5, 5), rng.uniform(-5, 5)
    found = []
    for kind, numbers in shapes:
        points = _path(numbers) if kind == "path" else _arc(rng, kind, numbers)
        found.append(
            [(x + dx + rng.uniform(-wobble, wobble), y + dy + rng.uniform(-wobble, wobble)) for x, y in points]
        )
    return found


def _path(numbers: Sequence[float]) -> Line:
    corners = list(zip(numbers[::2], numbers[1::2], strict=True))
    points = [corners[0]]
    for (x0, y0), (x1, y1) in pairwise(corners):
        steps = max(1, round(math.hypot(x1 - x0, y1 - y0) / 40))
        points += [(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps) for k in range(1, steps + 1)]
    return points


def _arc(rng: random.Random, kind: str, numbers: Sequence[float]) -> Line:
    cx, cy, rx, ry = numbers[:4]
    begin, end = (numbers[4], numbers[5]) if kind == "arc" else (s := rng.random(), s + 1.02)
    steps = max(6, round((rx + ry) * abs(end - begin) / 14))
    turns = [2 * math.pi * (begin + (end - begin) * k / steps) for k in range(steps + 1)]
    return [(cx + rx * math.cos(turn), cy + ry * math.sin(turn)) for turn in turns]


THINGS: Mapping[str, Thing] = {
    "house": Thing(
        {
            "wall": [("path", (50, 120, 50, 230, 205, 230, 205, 120, 50, 120))],
            "roof": [("path", (40, 120, 128, 40, 215, 120))],
            "door": [("path", (110, 230, 110, 170, 145, 170, 145, 230))],
            "window": [("path", (65, 140, 95, 140, 95, 165, 65, 165, 65, 140)), ("path", (80, 140, 80, 165))],
            "chimney": [("path", (165, 72, 165, 40, 185, 40, 185, 92))],
        },
        ratio=12,
    ),
    "flower": Thing(
        {
            "centre": [("oval", (128, 80, 18, 18))],
            "petal": [
                ("oval", (128 + 42 * math.cos(a), 80 + 42 * math.sin(a), 22, 18)) for a in (0, 1.26, 2.51, 3.77, 5.03)
            ],
            "stem": [("path", (128, 125, 130, 240))],
            "leaf": [("oval", (155, 190, 26, 11))],
        },
        ratio=6,
    ),
    "fish": Thing(
        {
            "body": [("oval", (115, 128, 80, 45))],
            "tail": [("path", (192, 128, 240, 90, 240, 166, 192, 128))],
            "eye": [("oval", (65, 118, 6, 6))],
            "fin": [("path", (105, 85, 130, 50, 145, 88))],
            "mouth": [("arc", (45, 140, 16, 10, 0.0, 0.25))],
        },
        ratio=3,
    ),
    "face": Thing(
        {
            "outline of face": [("oval", (128, 128, 95, 105))],
            "eye": [("oval", (92, 105, 13, 9)), ("oval", (164, 105, 13, 9))],
            "nose": [("path", (128, 115, 118, 150, 136, 150))],
            "mouth": [("arc", (128, 165, 40, 25, 0.05, 0.45))],
            "ear": [("arc", (30, 128, 14, 24, 0.2, 0.8)), ("arc", (226, 128, 14, 24, -0.3, 0.3))],
            "hair": [("arc", (128, 60, 80, 45, 0.5, 1.0))],
        },
        ratio=2,
    ),
    "car": Thing(
        {
            "body": [("path", (25, 160, 25, 120, 75, 115, 100, 80, 170, 80, 195, 115, 232, 125, 232, 160, 25, 160))],
            "wheel": [("oval", (70, 165, 24, 24)), ("oval", (188, 165, 24, 24))],
            "window": [("path", (95, 112, 110, 90, 160, 90, 178, 112, 95, 112))],
            "light": [("oval", (222, 138, 8, 7))],
        },
        ratio=1.4,
    ),
    "clock": Thing(
        {
            "clock face": [("oval", (128, 128, 90, 90))],
            "piont": [("path", (128, 128, 128, 70)), ("path", (128, 128, 170, 140))],
            "scale,number": [
                ("path", (128, 45, 128, 55)),
                ("path", (211, 128, 201, 128)),
                ("path", (128, 211, 128, 201)),
            ],
            "bell": [("oval", (60, 40, 24, 18)), ("oval", (196, 40, 24, 18))],
        },
        ratio=1,
    ),
}
"""From a firm order to none. `piont` and `scale,number` are as SPG spells them."""
