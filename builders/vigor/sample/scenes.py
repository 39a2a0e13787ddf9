"""Scenes with known masks, drawn by this project: a background, a few objects with parts, colours and places.

The shapes are rasterised once, by the masks' own rasteriser, and painted through the mask: the truth is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from builders.vigor.masks import Mask, from_polygons

WIDTH, HEIGHT = 160, 120
PAINT = {
    "red": (205, 30, 35),
    "green": (40, 150, 55),
    "blue": (35, 75, 195),
    "yellow": (248, 222, 40),
    "orange": (248, 132, 25),
    "purple": (125, 45, 150),
    "white": (249, 249, 249),
    "black": (12, 12, 12),
    "brown": (112, 68, 32),
    "grey": (130, 130, 130),
    "pink": (255, 150, 190),
}
_GROUND = ((196, 205, 176), (186, 200, 214), (214, 203, 186), (203, 190, 208))
SIDES = {"kite": 4, "ball": 24, "flag": 3, "tile": 6, "box": 4}


@dataclass(frozen=True)
class Thing:
    """One drawn object.

    Attributes:
        ring: its outline, [x1, y1, x2, y2, ...] in pixels.
        part: outline of its part (a spot in its middle), or nothing.
        seen: its mask without what lies before it.
    """

    name: str
    colour: str
    ring: list[float]
    part: list[float]
    part_colour: str
    seen: Mask

    @property
    def box(self) -> list[float]:
        """x, y, width, height around the outline."""
        xs, ys = self.ring[::2], self.ring[1::2]
        return [round(v, 2) for v in (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))]


@dataclass(frozen=True)
class Drawn:
    """A scene: pixels uint8 (height, width, 3) and its things, none of which hides another."""

    pixels: np.ndarray
    things: tuple[Thing, ...]


def scene(seed: int, count: int = 3, parts: bool = False, colours: tuple[str, ...] = tuple(PAINT)) -> Drawn:
    """A scene of `count` things side by side; the same for the same seed."""
    rng = np.random.default_rng(seed)
    pixels = ground(rng)
    things = []
    names = list(rng.permutation(list(SIDES)))[:count]
    for place, name in enumerate(names):
        colour = str(colours[int(rng.integers(len(colours)))])
        step = WIDTH / count
        x, y = step * (place + 0.5), float(rng.uniform(0.4, 0.6)) * HEIGHT
        radius = float(rng.uniform(0.3, 0.42)) * min(step, HEIGHT)
        ring = polygon(x, y, radius, SIDES[name], float(rng.uniform(0, 1)))
        others = [each for each in PAINT if each != colour]
        part_colour = others[int(rng.integers(len(others)))]
        part = polygon(x, y, radius * 0.4, 24, 0.0) if parts else []
        mask = from_polygons([ring], HEIGHT, WIDTH)
        paint(pixels, mask, PAINT[colour], rng)
        if part:
            paint(pixels, from_polygons([part], HEIGHT, WIDTH), PAINT[part_colour], rng)
        things.append(Thing(str(name), colour, ring, part, part_colour, mask))
    return Drawn(pixels, tuple(things))


def ground(rng: np.random.Generator) -> np.ndarray:
    """A soft background."""
    base = np.array(_GROUND[int(rng.integers(len(_GROUND)))], float)
    shade = np.linspace(-12, 12, HEIGHT)[:, None, None] + np.linspace(-6, 6, WIDTH)[None, :, None]
    return np.clip(base + shade, 0, 255).astype(np.uint8)


def polygon(x: float, y: float, radius: float, sides: int, turn: float) -> list[float]:
    """A regular polygon's outline, two decimals."""
    angles = (np.arange(sides) + turn) * 2 * np.pi / sides
    points = np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], 1)
    return [round(float(value), 2) for value in points.ravel()]


def paint(pixels: np.ndarray, mask: Mask, colour: tuple[int, int, int], rng: np.random.Generator) -> None:
    """Fill a mask, with a little light from above."""
    inside = mask.decode() > 0
    light = np.linspace(4, -4, pixels.shape[0])[:, None, None] + rng.normal(0, 0.8, (pixels.shape[0], 1, 1))
    pixels[inside] = np.clip(np.array(colour, float) + np.broadcast_to(light, pixels.shape)[inside], 0, 255).astype(
        np.uint8
    )


def clip(seed: int, frames: int) -> list[tuple[np.ndarray, Mask]]:
    """Frames of a patterned disk that moves over a patterned ground, with its mask."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[0 : HEIGHT + 40, 0 : WIDTH + 40]
    texture = _pattern(rng, HEIGHT + 40, WIDTH + 40)
    skin = _pattern(rng, HEIGHT, WIDTH)
    found = []
    for frame in range(frames):
        dx, dy = 1 * frame, 0
        pixels = texture[10 + dy : 10 + dy + HEIGHT, 10 + dx : 10 + dx + WIDTH].copy()
        x, y = 50 + 5 * frame, 60 + 2 * frame
        mask = from_polygons([polygon(x, y, 24, 40, 0.0)], HEIGHT, WIDTH)
        moved = np.roll(skin, (2 * frame, 5 * frame), (0, 1))
        inside = mask.decode() > 0
        pixels[inside] = np.clip(moved[inside] * 0.5 + np.array([110, 20, 20]), 0, 255)
        found.append((pixels.astype(np.uint8), mask))
    del rows, columns
    return found


def _pattern(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Smooth noise that flow can follow."""
    import cv2

    coarse = rng.uniform(0, 255, (height // 6 + 2, width // 6 + 2, 3)).astype(np.float32)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).clip(0, 255)
