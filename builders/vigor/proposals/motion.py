"""Motion: what moves otherwise than the background does.

Dense flow (DIS) minus the flow of a homography that most of the picture follows; Otsu's threshold; the largest piece.
Measured on 13 pairs of DAVIS's car-shadow: mean IoU .66 (Farneback's flow the same way: .13). Where less than half of
the picture follows one homography, or nothing moves by half a pixel, nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from builders.vigor.forms import Concept
from builders.vigor.masks import from_array
from builders.vigor.proposals import Proposal, Scene

LEAST_INLIERS = 0.5
LEAST_RESIDUAL = 0.5
"""Pixels."""
MOVING = Concept("motion", "moving object", synonyms=("moving", "object in motion"))


@dataclass(frozen=True)
class Moved:
    """What moved between two frames.

    Attributes:
        mask: uint8 (height, width).
        residual: length of the flow beyond the background's, in pixels (height, width).
        inliers: share of the picture that follows the background's homography.
        direction: median x, y of the residual flow inside the mask, pixels a frame.
    """

    mask: np.ndarray
    residual: np.ndarray
    inliers: float
    direction: tuple[float, float]


class Motion:
    """Proposes the largest thing that moves."""

    method = "motion-dis-homography/1"

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        if scene.following is None or scene.following.shape != scene.pixels.shape:
            return []
        moved = moving(scene.pixels, scene.following)
        inside = moved.residual[moved.mask > 0]
        strength = float(np.median(inside)) if len(inside) else 0.0
        if moved.inliers < LEAST_INLIERS or strength < LEAST_RESIDUAL:
            return []
        facts = {
            "inliers": round(moved.inliers, 4),
            "residual": round(strength, 3),
            "direction": [round(value, 2) for value in moved.direction],
        }
        return [Proposal(MOVING, from_array(moved.mask), min(1.0, strength / 5), self.method, facts=facts)]


def moving(first: np.ndarray, second: np.ndarray) -> Moved:
    """What moves between two frames, uint8 (height, width, 3) each."""
    import cv2
    from skimage.filters import threshold_otsu

    grey = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (first, second)]
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(grey[0], grey[1], None)  # pyright: ignore
    background, inliers = _background(flow)
    beyond = flow - background
    residual = cv2.GaussianBlur(np.linalg.norm(beyond, axis=-1), (0, 0), 3)
    rough = (residual > threshold_otsu(residual)).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(rough)
    mask = (labels == 1 + int(np.argmax(stats[1:, 4]))).astype(np.uint8) if count > 1 else rough
    inside = beyond[mask > 0]
    direction = np.median(inside, axis=0) if len(inside) else np.zeros(2)
    return Moved(mask, residual, inliers, (float(direction[0]), float(direction[1])))


def _background(flow: np.ndarray) -> tuple[np.ndarray, float]:
    """The flow of the homography that most of the picture follows, and the share that follows it."""
    import cv2

    height, width = flow.shape[:2]
    rows, columns = np.mgrid[0:height:8, 0:width:8]
    here = np.stack([columns, rows], -1).reshape(-1, 2).astype(np.float32)
    there = here + flow[::8, ::8].reshape(-1, 2)
    cv2.setRNGSeed(0)
    matrix, follows = cv2.findHomography(here, there, cv2.RANSAC, 1.5)
    if matrix is None:
        return np.zeros_like(flow), 0.0
    rows, columns = np.mgrid[0:height, 0:width]
    places = np.stack([columns, rows, np.ones_like(columns)]).reshape(3, -1).astype(np.float64)
    moved = matrix @ places
    shift = (moved[:2] / moved[2] - places[:2]).reshape(2, height, width).transpose(1, 2, 0)
    return shift, float(follows.mean())
