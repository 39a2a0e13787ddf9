"""The one way in which a drawing becomes pixels: scale, line, and whose a pixel is.

The box of all points is scaled to fit the canvas without its padding and put in its middle; points are rounded to whole
pixels (half goes up), so that Pillow's rasteriser, which cuts fractions off, has nothing to decide. Lines have round
joints and caps and no grey edges: ink is 0 on 255. A pixel of two strokes belongs to the later one.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from builders.sketch.forms import NO_PART, Drawing, Raster, Stroke

if TYPE_CHECKING:
    from PIL import ImageDraw

CANVAS = 336
"""Side of the canvas in pixels, what LLaVA's vision tower takes."""
PADDING = 20
"""Pixels between the drawing's box and the edge."""
WIDTH = 4
"""Of a line, in pixels."""
PATCH = 14
"""Side of a patch of that tower: the grid is CANVAS / PATCH = 24 square."""

_RUNS = 3
"""zlib's Z_RLE: for two-valued pictures smaller than its default, in half the time."""
_NOBODY = 255
"""In the ownership map: ink of a stroke that no part is named for. Groups are numbered from 1, and 0 is paper."""

Points = list[tuple[int, int]]


@dataclass(frozen=True)
class Part:
    """A group's pixels.

    Attributes:
        group: index into `Drawing.groups`.
        mask: bool (CANVAS, CANVAS), pixels that belong to it.
        ink: the same of all pixels that its strokes touch.
    """

    group: int
    mask: np.ndarray
    ink: np.ndarray


@dataclass(frozen=True)
class Step:
    """The drawing when the next part is about to begin: how many strokes, and the picture as PNG."""

    group: int
    n_strokes: int
    png: bytes


@dataclass(frozen=True)
class Rendering:
    """A drawing's pixels.

    Attributes:
        png: the whole.
        ink_area: pixels of ink.
        parts: in the order of first strokes; of a raster, in the order of its groups.
        steps: one a part; none for a raster.
    """

    png: bytes
    ink_area: int
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]


def fit(strokes: Sequence[Stroke]) -> list[Points]:
    """The strokes on the canvas: whole pixels, points that fall on the one before left out.

    The strokes must not all lie in one place.
    """
    x = np.concatenate([stroke.x for stroke in strokes]).astype(np.float64)
    y = np.concatenate([stroke.y for stroke in strokes]).astype(np.float64)
    scale = (CANVAS - 2 * PADDING) / max(np.ptp(x), np.ptp(y))
    columns, rows = (_placed(values, scale) for values in (x, y))
    found, first = [], 0
    for stroke in strokes:
        last = first + len(stroke.x)
        points = list(zip(columns[first:last].tolist(), rows[first:last].tolist(), strict=True))
        found.append([point for index, point in enumerate(points) if not index or point != points[index - 1]])
        first = last
    return found


def render(drawing: Drawing) -> Rendering:
    """A drawing's picture, parts and steps. The same drawing gives the same bytes."""
    return _of_raster(drawing.raster, len(drawing.groups)) if drawing.raster else _of_strokes(drawing)


def png(ink: np.ndarray) -> bytes:
    """A PNG file, 8 bits of grey, of bool (height, width)."""
    from PIL import Image

    stream = io.BytesIO()
    grey = np.where(ink, np.uint8(0), np.uint8(255))
    Image.fromarray(grey).save(stream, "PNG", compress_type=_RUNS)
    return stream.getvalue()


def stroke_ink(points: Points) -> np.ndarray:
    """bool (CANVAS, CANVAS), the pixels that one stroke touches."""
    from PIL import Image, ImageDraw

    layer = Image.new("1", (CANVAS, CANVAS), 0)
    _line(ImageDraw.Draw(layer), points, 1)
    return np.asarray(layer)


def _placed(values: np.ndarray, scale: float) -> np.ndarray:
    low, high = values.min(), values.max()
    margin = (CANVAS - (high - low) * scale) / 2
    return np.floor((values - low) * scale + margin + 0.5).astype(np.int64)


def _of_strokes(drawing: Drawing) -> Rendering:
    from PIL import Image, ImageDraw

    places = fit(drawing.strokes)
    first = drawing.first_strokes
    turns = list(first)
    owner = Image.new("L", (CANVAS, CANVAS), 0)
    brush = ImageDraw.Draw(owner)
    layers = {group: Image.new("1", (CANVAS, CANVAS), 0) for group in turns}
    brushes = {group: ImageDraw.Draw(layer) for group, layer in layers.items()}
    begins = {first[after]: group for group, after in pairwise(turns)}
    steps = []
    for index, (stroke, points) in enumerate(zip(drawing.strokes, places, strict=True)):
        if index in begins:
            steps.append(Step(begins[index], index, png(np.asarray(owner) > 0)))
        _line(brush, points, _NOBODY if stroke.group == NO_PART else stroke.group + 1)
        if stroke.group != NO_PART:
            _line(brushes[stroke.group], points, 1)
    owners = np.asarray(owner)
    whole = png(owners > 0)
    if turns:
        steps.append(Step(turns[-1], len(places), whole))
    parts = tuple(Part(group, owners == group + 1, np.asarray(layers[group])) for group in turns)
    return Rendering(whole, int(np.count_nonzero(owners)), parts, tuple(steps))


def _line(brush: ImageDraw.ImageDraw, points: Points, colour: int) -> None:
    """A line with round joints, and a disc of its width on both ends (the whole of a line of one point)."""
    if len(points) > 1:
        brush.line(points, fill=colour, width=WIDTH, joint="curve")
    half = WIDTH // 2
    for x, y in (points[0], points[-1]):
        brush.ellipse((x - half, y - half, x + half - 1, y + half - 1), fill=colour)


def _of_raster(raster: Raster, groups: int) -> Rendering:
    """Pixels carried over one by one, so that no thin line is lost where it shrinks; where two fall together, the
    group with the larger number has them."""
    found = np.nonzero(raster.ink)
    lows = [int(places.min()) for places in found]
    sizes = [int(np.ptp(places)) + 1 for places in found]
    scale = (CANVAS - 2 * PADDING) / max(sizes)
    margins = [(CANVAS - size * scale) / 2 for size in sizes]
    owner = np.zeros((CANVAS, CANVAS), np.int16)
    if scale > 1:  # Each pixel of the canvas looks back, so that there are no gaps.
        back = [np.floor((np.arange(CANVAS) - margin + 0.5) / scale).astype(np.int64) for margin in margins]
        inside = [np.flatnonzero((place >= 0) & (place < size)) for place, size in zip(back, sizes, strict=True)]
        source = np.ix_(*(place[own] + low for place, own, low in zip(back, inside, lows, strict=True)))
        owner[np.ix_(*inside)] = np.where(raster.ink[source], raster.group[source] + 2, 0)
    else:
        middles = zip(found, lows, margins, strict=True)
        to = tuple(np.floor((place - low + 0.5) * scale + margin).astype(np.int64) for place, low, margin in middles)
        np.maximum.at(owner, to, (raster.group[found] + 2).astype(np.int16))
    parts = tuple(Part(g, owner == g + 2, owner == g + 2) for g in range(groups) if (owner == g + 2).any())
    return Rendering(png(owner > 0), int(np.count_nonzero(owner)), parts, ())
