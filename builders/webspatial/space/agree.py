"""The gate "graph agrees with pixels": a mesh's projected box and the box of its pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WITHIN = 2.0
"""Pixels that the boxes of a mesh may differ by."""
LEAST = 0.97
"""Share of a page's meshes that must agree; below it the page gives no questions."""


@dataclass(frozen=True)
class Agreement:
    """Whole, unhidden meshes of a page that were compared, and how many agree."""

    compared: int
    agree: int

    @property
    def passed(self) -> bool:
        """Whether the page may give questions. Of few meshes none may fail."""
        return self.compared > 0 and self.agree >= LEAST * self.compared


def agreement(graph: Mapping[str, Any]) -> Agreement:
    """Compare every whole, unhidden mesh of a captured graph."""
    width, height = graph["canvas"]["w"], graph["canvas"]["h"]
    compared = agree = 0
    for node in graph["nodes"]:
        error = _error(node, width, height)
        if error is not None:
            compared += 1
            agree += error <= WITHIN
    return Agreement(compared, agree)


def _error(node: Mapping[str, Any], width: int, height: int) -> float | None:
    """Largest difference of an edge in pixels; None for what is hidden, cut off, tiny or no single mesh."""
    mask, screen = node.get("mask"), node.get("screen")
    if not mask or not screen or screen.get("behind") or node.get("idCount", 1) > 1 or mask["pixels"] < 100:
        return None
    if node.get("visibleFraction", 0) < 0.9999:
        return None
    x0, y0, x1, y1 = mask["box"]
    if x0 <= 0 or y0 <= 0 or x1 >= width or y1 >= height:
        return None
    return max(abs(a - b) for a, b in zip(screen["box"], mask["box"], strict=True))
