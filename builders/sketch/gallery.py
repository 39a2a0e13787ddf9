"""Drawings step by step, for people: what was there in grey, what the step adds in colour."""

from __future__ import annotations

import io

import numpy as np

from builders.sketch.forms import NO_PART, Drawing
from builders.sketch.render import CANVAS, Rendering, fit, stroke_ink

SIDE = 168
"""Of one step, in pixels: half the canvas."""
SHOWN = 6
"""Drawings of a category."""
MOST_STEPS = 8
"""In one strip; further parts are in the last."""
COLOURS = ((208, 64, 48), (36, 108, 196), (44, 148, 84), (196, 128, 16), (128, 72, 176), (16, 144, 160))
_OLD = (176, 176, 176)
_PLAIN = (70, 70, 70)
_RULE = (225, 225, 225)


def strip(drawing: Drawing, made: Rendering) -> bytes:
    """A PNG file, a cell a part; of a drawing without order one cell with all parts in colour."""
    from PIL import Image

    parts = list(made.parts)
    if not made.steps:
        cell = np.full((CANVAS, CANVAS, 3), 255, np.uint8)
        for number, part in enumerate(parts):
            cell[part.mask] = COLOURS[number % len(COLOURS)]
        cells = [cell]
    else:
        cells = _cells(drawing, made)
    stream = io.BytesIO()
    row = Image.fromarray(np.concatenate(cells, axis=1))
    row = row.resize((SIDE * len(cells), SIDE), Image.Resampling.BOX)
    pixels = np.array(row)
    pixels[:, SIDE::SIDE] = _RULE
    Image.fromarray(pixels).quantize(64, dither=Image.Dither.NONE).save(stream, "PNG", compress_level=9)
    return stream.getvalue()


def caption(drawing: Drawing, made: Rendering) -> str:
    """`1 body, 2 leaf`."""
    names = [drawing.groups[part.group] for part in made.parts]
    return ", ".join(f"{number} {name}" for number, name in enumerate(names, start=1))


def _cells(drawing: Drawing, made: Rendering) -> list[np.ndarray]:
    ink = [stroke_ink(points) for points in fit(drawing.strokes)]
    place = {part.group: number for number, part in enumerate(made.parts)}
    steps = [*made.steps[: MOST_STEPS - 1], made.steps[-1]] if len(made.steps) > MOST_STEPS else list(made.steps)
    cells, begin = [], 0
    for step in steps:
        cell = np.full((CANVAS, CANVAS, 3), 255, np.uint8)
        for index in range(step.n_strokes):
            group = drawing.strokes[index].group
            if index < begin:
                cell[ink[index]] = _OLD
            else:
                cell[ink[index]] = _PLAIN if group == NO_PART else COLOURS[place[group] % len(COLOURS)]
        cells.append(cell)
        begin = step.n_strokes
    return cells
