"""Contrast and counterfactual: does the concept win against its siblings in the region, and does it go when the region
goes? Both look at crops through a scorer: `ColourScorer` needs no weights, models come from `proposals.models`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np

from builders.vigor.proposals import Proposal, Scene
from builders.vigor.proposals.colour import lab_of
from builders.vigor.verify import Vote
from builders.vigor.words import COLOURS

LEAST_SIBLINGS = 5
WINS_NEEDED = 3
MARGIN = 0.1

_FOCAL = {
    "black": (10, 10, 10),
    "blue": (30, 70, 200),
    "brown": (115, 70, 30),
    "green": (35, 150, 50),
    "grey": (128, 128, 128),
    "orange": (250, 130, 20),
    "pink": (255, 150, 190),
    "purple": (125, 40, 155),
    "red": (215, 25, 30),
    "white": (248, 248, 248),
    "yellow": (250, 225, 30),
}
"""A focal colour of each term, chosen by hand and not from the survey that the proposer is made of."""


class Scorer(Protocol):
    """Says how well each of some lemmas fits a crop: uint8 (height, width, 3), and which pixels count."""

    def scores(self, crop: np.ndarray, inside: np.ndarray, lemmas: Sequence[str]) -> np.ndarray: ...


class ColourScorer:
    """Fits colours by distance to a focal colour, shared out between the terms."""

    def scores(self, crop: np.ndarray, inside: np.ndarray, lemmas: Sequence[str]) -> np.ndarray:
        pixels = crop[inside]
        if len(pixels) > 4000:
            pixels = pixels[:: len(pixels) // 4000]
        lab = lab_of(pixels[None])[0]
        distance = np.linalg.norm(lab[:, None] - _focal_lab()[None], axis=-1)
        weight = np.exp(-distance / 12)
        share = (weight / (weight.sum(1, keepdims=True) + 1e-12)).mean(0)
        return np.array([share[COLOURS.index(lemma)] for lemma in lemmas])


class Contrast:
    """Four crops (tight, half as wide again, outside blurred, outside grey): the concept must win in three."""

    source = "contrast"

    def __init__(self, scorer: Scorer, kinds: Sequence[str]) -> None:
        """`kinds`: families of concepts that the scorer knows."""
        self._scorer = scorer
        self._kinds = frozenset(kinds)

    def vote(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> Vote | None:
        if proposal.concept.family not in self._kinds:
            return None
        others = [lemma for lemma in siblings if lemma != proposal.concept.lemma]
        if len(others) < LEAST_SIBLINGS:
            return Vote(self.source, "unsure", 0.0, f"only {len(others)} siblings to compare with")
        margins = []
        for crop, inside in four_crops(scene.pixels, proposal.mask.decode() > 0):
            scores = self._scorer.scores(crop, inside, [proposal.concept.lemma, *others])
            margins.append(float(scores[0] - scores[1:].max()))
        wins = sum(margin >= MARGIN for margin in margins)
        losses = sum(margin <= -MARGIN for margin in margins)
        detail = f"wins {wins} and loses {losses} of 4 crops against {len(others)} siblings"
        answer = "yes" if wins >= WINS_NEEDED else "no" if losses >= WINS_NEEDED else "unsure"
        return Vote(self.source, answer, float(np.clip(np.median(margins), 0, 1)), detail)


class Counterfactual:
    """With the region filled from around it, the concept must go. Where it stays, figure and ground cannot be told
    apart, and nothing is said."""

    source = "counterfactual"

    def __init__(self, scorer: Scorer, kinds: Sequence[str]) -> None:
        self._scorer = scorer
        self._kinds = frozenset(kinds)

    def vote(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> Vote | None:
        if proposal.concept.family not in self._kinds or len(siblings) < 2:
            return None
        inside = proposal.mask.decode() > 0
        lemmas = [proposal.concept.lemma, *(lemma for lemma in siblings if lemma != proposal.concept.lemma)]
        before, after = (
            self._scorer.scores(pixels, inside, lemmas) for pixels in (scene.pixels, filled(scene.pixels, inside))
        )
        was, left = before[0] - before[1:].max(), after[0] - after[1:].max()
        detail = f"margin {was:.2f} before, {left:.2f} with the region filled in"
        went = was > 0 and left <= 0
        return Vote(self.source, "yes" if went else "unsure", float(np.clip(was - left, 0, 1)) if went else 0.0, detail)


def four_crops(pixels: np.ndarray, inside: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(crop, the pixels that count) of a region: tight and wide crops count all their pixels inside the region's box or
    the region; the last two hide what is outside."""
    import cv2

    rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    tight = (slice(top, bottom), slice(left, right))
    high, wide = (bottom - top) // 4 + 1, (right - left) // 4 + 1
    loose = (slice(max(0, top - high), bottom + high), slice(max(0, left - wide), right + wide))
    blurred = np.where(inside[..., None], pixels, cv2.GaussianBlur(pixels, (0, 0), 8))[loose]
    grey = np.where(inside[..., None], pixels, np.uint8(127))[loose]
    core = cv2.erode(inside.astype(np.uint8), np.ones((3, 3), np.uint8))[loose] > 0
    core = core if core.any() else inside[loose]
    return [
        (pixels[tight], np.ones(pixels[tight].shape[:2], bool)),
        (pixels[loose], inside[loose]),
        (blurred, inside[loose]),
        (grey, core),
    ]


def filled(pixels: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The picture with a region replaced by the blurred pixels around it."""
    import cv2

    outside = (~inside).astype(np.float32)
    spread = max(4.0, float(np.sqrt(inside.sum())) / 2)
    weight = cv2.GaussianBlur(outside, (0, 0), spread)[..., None]
    colour = cv2.GaussianBlur(pixels.astype(np.float32) * outside[..., None], (0, 0), spread)
    around = pixels[~inside].mean(0) if (~inside).any() else np.full(3, 127.0)
    mean = np.where(weight > 1e-3, colour / np.maximum(weight, 1e-3), around)
    return np.where(inside[..., None], np.clip(mean, 0, 255), pixels).astype(np.uint8)


@lru_cache(maxsize=1)
def _focal_lab() -> np.ndarray:
    return lab_of(np.array([[_FOCAL[term] for term in COLOURS]], float))[0]
