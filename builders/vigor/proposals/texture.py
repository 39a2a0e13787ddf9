"""Texture: which of a set of known surfaces a region looks like. It claims nothing beyond its set, and may say none.

A tile is described by uniform local binary patterns, grey-level co-occurrence and how far its gradients share a
direction. A set of prototypes is made from pictures of one surface each (`Textures.learned`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from builders.vigor.files import Files
from builders.vigor.forms import Concept, Problem
from builders.vigor.masks import from_array
from builders.vigor.pixels import load_rgb
from builders.vigor.proposals import Proposal, Scene
from builders.vigor.values import BadValueError

TILE = 64
"""Side of a tile, in pixels."""


def describe(tile: np.ndarray) -> np.ndarray:
    """Features (23,) of a grey tile, uint8 (height, width)."""
    import cv2
    from skimage.feature import graycomatrix, graycoprops, local_binary_pattern

    patterns, _ = np.histogram(local_binary_pattern(tile, 16, 2, "uniform"), bins=18, range=(0, 18), density=True)
    angles = [0, np.pi / 4, np.pi / 2, 3 * np.pi / 4]
    pairs = graycomatrix((tile // 8).astype(np.uint8), [1, 4], angles, 32, symmetric=True, normed=True)
    names = ("contrast", "homogeneity", "energy", "correlation")
    shape = np.array([graycoprops(pairs, name).mean() for name in names]) / np.array([50.0, 1.0, 1.0, 1.0])
    grey = tile.astype(np.float32)
    dx, dy = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    tensor = np.array([[(dx * dx).mean(), (dx * dy).mean()], [(dx * dy).mean(), (dy * dy).mean()]])
    low, high = np.linalg.eigvalsh(tensor)
    return np.r_[patterns * 4, shape, (high - low) / (high + low + 1e-9)]


@dataclass(frozen=True)
class Textures:
    """Known surfaces: the mean description of each and how far its own tiles stray.

    Attributes:
        centres: (surfaces, features), standardised.
        mean, spread: of the features, over all tiles.
        reach: for each surface, the distance within which 99 % of its own tiles lie: beyond it, none is named.
    """

    names: tuple[str, ...]
    centres: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    reach: np.ndarray
    method: str = "texture-lbp-glcm/1"

    @classmethod
    def learned(cls, surfaces: Mapping[str, Sequence[np.ndarray]]) -> Textures:
        """From grey tiles of each surface."""
        names = tuple(surfaces)
        described = [np.array([describe(tile) for tile in surfaces[name]]) for name in names]
        every = np.concatenate(described)
        mean, spread = every.mean(0), every.std(0) + 1e-6
        scaled = [(each - mean) / spread for each in described]
        centres = np.stack([each.mean(0) for each in scaled])
        reach = [
            np.quantile(np.linalg.norm(each - centre, axis=1), 0.99)
            for each, centre in zip(scaled, centres, strict=True)
        ]
        return cls(names, centres, mean, spread, np.array(reach))

    def name(self, tile: np.ndarray) -> tuple[str | None, float]:
        """The surface of a grey tile, None where it is like none, and by how much it wins (0 to 1)."""
        distance = np.linalg.norm(self.centres - (describe(tile) - self.mean) / self.spread, axis=1)
        order = np.argsort(distance)
        best = int(order[0])
        margin = 1 - distance[best] / distance[order[1]] if len(order) > 1 else 1.0
        return (self.names[best] if distance[best] <= 1.5 * self.reach[best] else None), float(margin)

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        """A region for each surface: all tiles that look like it."""
        import cv2

        grey = cv2.cvtColor(scene.pixels, cv2.COLOR_RGB2GRAY)
        height, width = grey.shape
        masks = {name: np.zeros((height, width), np.uint8) for name in self.names}
        margins: dict[str, list[float]] = {name: [] for name in self.names}
        for y in range(0, height - TILE + 1, TILE):
            for x in range(0, width - TILE + 1, TILE):
                name, margin = self.name(grey[y : y + TILE, x : x + TILE])
                if name is not None:
                    masks[name][y : y + TILE, x : x + TILE] = 1
                    margins[name].append(margin)
        return [
            Proposal(
                Concept("low", name, family="texture"),
                from_array(masks[name]),
                float(np.mean(margins[name])),
                self.method,
            )
            for name in self.names
            if margins[name]
        ]


@lru_cache(maxsize=1)
def from_folder(folder: Path) -> tuple[Textures | None, tuple[Problem, ...]]:
    """Surfaces from a folder with one picture of each, named after it (`brick.png`); and why some are none.

    A surface that is none is never named: what looks like it stays without a name.
    """
    import cv2

    surfaces: dict[str, list[np.ndarray]] = {}
    problems = []
    for path in Files(folder).all():
        try:
            grey = cv2.cvtColor(load_rgb(path), cv2.COLOR_RGB2GRAY)
        except BadValueError as error:
            problems.append(Problem("unreadable_surface", str(error), path.name, path.name, "concepts"))
            continue
        height, width = grey.shape
        corners = [(y, x) for y in range(0, height - TILE + 1, TILE) for x in range(0, width - TILE + 1, TILE)]
        if corners:
            surfaces[path.stem.lower()] = [grey[y : y + TILE, x : x + TILE] for y, x in corners]
        else:
            text = f"the picture is of {width} x {height} pixels: a surface needs {TILE} x {TILE}"
            problems.append(Problem("small_surface", text, path.name, path.name, "concepts"))
    return Textures.learned(surfaces) if surfaces else None, tuple(problems)
