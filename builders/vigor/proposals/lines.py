"""Straight edges: segments that two detectors find, as thin masks. Long ones only: short ones are everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from builders.vigor.forms import Concept
from builders.vigor.masks import from_array
from builders.vigor.proposals import Proposal, Scene

LEAST_LENGTH = 0.05
"""Of a line, as a share of the picture's diagonal."""
_THICK = 3
LINE = Concept("intermediate", "straight edge", synonyms=("line", "edge", "straight line"))


class Lines:
    """Proposes the longest straight edges of a picture."""

    method = "lines-lsd/1"

    def __init__(self, most: int = 20) -> None:
        """`most`: how many lines of a picture at most, the longest first."""
        self._most = most

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        height, width = scene.pixels.shape[:2]
        segments = line_segments(scene.pixels)
        lengths = np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1])
        diagonal = float(np.hypot(height, width))
        found = []
        for index in np.argsort(-lengths, kind="stable")[: self._most]:
            if lengths[index] < LEAST_LENGTH * diagonal:
                break
            mask = from_array(drawn(segments[index], height, width))
            facts = {"segment": [round(float(value), 1) for value in segments[index]]}
            score = min(1.0, float(lengths[index]) / (0.25 * diagonal))
            found.append(Proposal(LINE, mask, score, self.method, facts=facts))
        return found


def line_segments(pixels: np.ndarray) -> np.ndarray:
    """(n, 4) of x1, y1, x2, y2: OpenCV's line segment detector, which bounds false alarms by itself (NFA)."""
    import cv2

    found = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))[0]
    return np.zeros((0, 4), np.float32) if found is None else np.asarray(found).reshape(-1, 4)


def drawn(segment: np.ndarray, height: int, width: int) -> np.ndarray:
    """A segment as uint8 (height, width), three pixels thick."""
    import cv2

    canvas = np.zeros((height, width), np.uint8)
    x1, y1, x2, y2 = (round(float(value)) for value in segment)
    return cv2.line(canvas, (x1, y1), (x2, y2), 1, _THICK)
