"""The back-test: the generator where dense truth exists but is hidden from it.

What is hidden: colours that a source gives for objects (then the generator names them from the pixels), masks of
objects (it gets their boxes), masklets (it gets two frames). Precision here is of what was accepted; coverage, of what
was hidden, how much was found and accepted. It is no audit: it speaks of sources that have the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from builders.vigor.forms import Claim
from builders.vigor.generate import Generated, Generator
from builders.vigor.masks import Mask
from builders.vigor.proposals import Scene
from builders.vigor.words import basic_colour

SAME = 0.5
"""IoU from which a region is the hidden one."""


@dataclass(frozen=True)
class Tried:
    """How the generator did on one picture; see the table `backtests`."""

    level: str
    method: str
    truths: int
    proposed: int
    accepted: int
    abstained: int
    correct: int
    right_before: int
    iou_sum: float | None


def colours(generator: Generator, pixels: np.ndarray, claims: Sequence[Claim]) -> Tried | None:
    """Hide the colours of a picture. None where the source gives none on a mask."""
    truth: dict[str, set[str]] = {}
    for claim in claims:
        term = basic_colour(claim.concept.lemma.split()[-1]) if claim.concept.family == "colour" else None
        if term and claim.truth == "present" and claim.parent and claim.mask is not None:
            truth.setdefault(claim.parent, set()).add(term)
    if not truth:
        return None
    shown = [claim for claim in claims if claim.key in truth]
    made = generator.run(Scene(pixels, None, shown))
    mine = [each for each in made if each.proposal.concept.family == "colour"]
    right = [each.proposal.concept.lemma in truth[each.proposal.parent or ""] for each in mine]
    return _tried("low", mine, right, len(truth))


def object_masks(generator: Generator, pixels: np.ndarray, claims: Sequence[Claim]) -> Tried | None:
    """Hide the masks of a picture's objects; their boxes are shown. None where there is no object with a mask."""
    truth = {
        claim.key: claim.mask
        for claim in claims
        if claim.mask is not None and claim.concept.level == "object" and claim.truth == "present" and not claim.crowd
    }
    if not truth:
        return None
    shown = [
        replace(claim, mask=None, box=claim.box or claim.mask.box)
        for claim in claims
        if claim.key in truth and claim.mask
    ]
    made = generator.run(Scene(pixels, None, shown))
    mine = [each for each in made if each.proposal.parent in truth and each.proposal.concept.level == "object"]
    return _regions("object", mine, [truth[each.proposal.parent or ""] for each in mine], len(truth))


def motion(generator: Generator, pixels: np.ndarray, following: np.ndarray, truth: Mask) -> Tried:
    """Hide a masklet; two frames are shown."""
    made = generator.run(Scene(pixels, following, ()))
    mine = [each for each in made if each.proposal.concept.level == "motion"]
    return _regions("motion", mine, [truth] * len(mine), 1)


def _regions(level: str, made: Sequence[Generated], hidden: Sequence[Mask], truths: int) -> Tried:
    """Proposals beside the regions that they should be."""
    found = [each.proposal.mask.iou(mask) for each, mask in zip(made, hidden, strict=True)]
    return _tried(level, made, [iou >= SAME for iou in found], truths, round(sum(found), 6))


def _tried(
    level: str, made: Sequence[Generated], right: Sequence[bool], truths: int, iou_sum: float | None = None
) -> Tried:
    accepted = [good for each, good in zip(made, right, strict=True) if each.decision.status == "accepted"]
    abstained = sum(each.decision.status == "abstained" for each in made)
    method = made[0].proposal.method if made else "nothing proposed"
    return Tried(level, method, truths, len(made), len(accepted), abstained, sum(accepted), sum(right), iou_sum)
