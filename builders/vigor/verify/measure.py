"""Deterministic verifiers: they measure pixels. `Measurement` looks at the region itself, `Agreement` finds the thing a
second time in another way, so that the two do not err together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from builders.vigor.proposals import Proposal, Scene
from builders.vigor.proposals.colour import name_colour, shares_of, term_of_pixels
from builders.vigor.proposals.lines import drawn
from builders.vigor.proposals.motion import LEAST_INLIERS, LEAST_RESIDUAL, moving
from builders.vigor.proposals.texture import Textures
from builders.vigor.verify import Vote
from builders.vigor.words import COLOURS

SURE_SHARE, SURE_NAME, NOT_SHARE = 0.6, 0.7, 0.3
"""A colour is there when 60 % of the pixels have it and the median colour is named so with 70 %; not below 30 %."""
FIT = 0.8


class Measurement:
    """Colours by share of pixels, edges by their gradient, motion by its residual, boxes by fit."""

    source = "measurement"

    def vote(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> Vote | None:
        concept = proposal.concept
        if concept.level == "low" and concept.lemma in COLOURS:
            return self._colour(scene, proposal)
        if proposal.method.startswith("texture"):
            return Vote(
                self.source, "yes" if proposal.score >= 0.2 else "unsure", proposal.score, "margin of the surface"
            )
        if concept.level == "intermediate":
            return self._edge(scene, proposal)
        if concept.level == "motion":
            inliers, residual = proposal.facts["inliers"], proposal.facts["residual"]
            good = inliers >= LEAST_INLIERS and residual >= 2 * LEAST_RESIDUAL
            detail = f"{residual} pixels beyond the background, which {inliers:.0%} of the picture follow"
            return Vote(self.source, "yes" if good else "unsure", min(1.0, residual / 4), detail)
        if "fit" in proposal.facts:
            fit = proposal.facts["fit"]
            return Vote(self.source, "yes" if fit >= FIT else "unsure", fit, f"box fit {fit:.2f}")
        return None

    def _colour(self, scene: Scene, proposal: Proposal) -> Vote:
        inside = proposal.mask.decode() > 0
        share = float(shares_of(term_of_pixels(scene.pixels), inside)[COLOURS.index(proposal.concept.lemma)])
        name, sure = name_colour(np.median(scene.pixels[inside], axis=0))
        agrees = name == proposal.concept.lemma
        detail = f"{share:.0%} of the pixels; the median is {name} ({sure:.2f})"
        if share >= SURE_SHARE and agrees and sure >= SURE_NAME:
            return Vote(self.source, "yes", min(share, sure), detail)
        return Vote(self.source, "no" if share < NOT_SHARE else "unsure", share, detail)

    def _edge(self, scene: Scene, proposal: Proposal) -> Vote:
        contrast = edge_contrast(scene.pixels, proposal.facts["segment"])
        detail = f"{contrast:.1f} grey levels across the edge"
        answer = "yes" if contrast >= 20 else "no" if contrast < 4 else "unsure"
        return Vote(self.source, answer, min(1.0, contrast / 60), detail)


class Agreement:
    """The same thing, found in another way: a second line detector, the flow backwards, a shifted lattice of tiles, the
    region's colours against those around it."""

    source = "agreement"

    def __init__(self, textures: Textures | None = None) -> None:
        self._textures = textures

    def vote(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> Vote | None:
        if proposal.concept.level == "intermediate":
            share = _second_detector(scene.pixels, proposal.facts["segment"])
            answer = "yes" if share >= 0.6 else "unsure"
            return Vote(self.source, answer, share, f"a second detector finds {share:.0%} of it")
        if proposal.concept.level == "motion" and scene.following is not None:
            back = moving(scene.following, scene.pixels).mask > 0
            mask = proposal.mask.decode() > 0
            iou = float((back & mask).sum() / ((back | mask).sum() or 1))
            answer = "yes" if iou >= 0.5 else "no" if iou < 0.1 else "unsure"
            return Vote(self.source, answer, iou, f"IoU {iou:.2f} with what moves backwards in time")
        if proposal.method.startswith("texture") and self._textures is not None:
            return self._shifted(scene, proposal)
        if "fit" in proposal.facts:
            apart = _apart(scene.pixels, proposal.mask.decode() > 0)
            return Vote(
                self.source, "yes" if apart >= 0.5 else "unsure", apart, f"colours {apart:.2f} unlike those around"
            )
        return None

    def _shifted(self, scene: Scene, proposal: Proposal) -> Vote:
        shift = 32
        moved = Scene(scene.pixels[shift:, shift:])
        same = [each for each in self._textures.propose(moved) if each.concept.id == proposal.concept.id]  # pyright: ignore
        if not same:
            return Vote(self.source, "unsure", 0.0, "not found on a shifted lattice")
        one, other = proposal.mask.decode()[shift:, shift:] > 0, same[0].mask.decode() > 0
        iou = float((one & other).sum() / ((one | other).sum() or 1))
        return Vote(self.source, "yes" if iou >= 0.5 else "unsure", iou, f"IoU {iou:.2f} with a shifted lattice")


def edge_contrast(pixels: np.ndarray, segment: Sequence[float]) -> float:
    """Mean difference of grey levels between the two sides of a segment, 3 pixels off it."""
    import cv2

    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    x1, y1, x2, y2 = segment
    length = float(np.hypot(x2 - x1, y2 - y1)) or 1.0
    steps = np.linspace(0.1, 0.9, 32)
    normal = np.array([-(y2 - y1), x2 - x1]) / length * 3
    sides = []
    for sign in (1, -1):
        xs = np.clip(np.round(x1 + steps * (x2 - x1) + sign * normal[0]), 0, grey.shape[1] - 1).astype(int)
        ys = np.clip(np.round(y1 + steps * (y2 - y1) + sign * normal[1]), 0, grey.shape[0] - 1).astype(int)
        sides.append(grey[ys, xs])
    return float(np.abs(sides[0] - sides[1]).mean())


def _second_detector(pixels: np.ndarray, segment: Sequence[float]) -> float:
    """The share of a segment that OpenCV's fast line detector finds too, within 3 pixels."""
    import cv2

    height, width = pixels.shape[:2]
    found = cv2.ximgproc.createFastLineDetector().detect(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))
    canvas = np.zeros((height, width), np.uint8)
    for each in np.asarray(found).reshape(-1, 4) if found is not None else ():
        canvas |= drawn(each, height, width)
    canvas = cv2.dilate(canvas, np.ones((5, 5), np.uint8))
    own = drawn(np.asarray(segment), height, width) > 0
    return float((canvas[own] > 0).mean()) if own.any() else 0.0


def _apart(pixels: np.ndarray, inside: np.ndarray) -> float:
    """How unlike the colours of a region are to those within 12 pixels around it: 1 - overlap of their histograms."""
    import cv2

    ring = (cv2.dilate(inside.astype(np.uint8), np.ones((25, 25), np.uint8)) > 0) & ~inside
    if not ring.any() or not inside.any():
        return 0.0
    cells = (pixels // 32).astype(np.int64)
    codes = (cells[..., 0] * 8 + cells[..., 1]) * 8 + cells[..., 2]
    own, around = (np.bincount(codes[where], minlength=512) / where.sum() for where in (inside, ring))
    return float(1 - np.minimum(own, around).sum())
