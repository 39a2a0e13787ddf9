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
SCENES = 24
"""Scenes of a shard, each of which is a category of its own."""
MOST_STEPS = 9
"""In one strip; further parts are in the last."""
COLOURS = ((208, 64, 48), (36, 108, 196), (44, 148, 84), (196, 128, 16), (128, 72, 176), (16, 144, 160))
_OLD = (176, 176, 176)
_PLAIN = (70, 70, 70)
_RULE = (225, 225, 225)


def strip(drawing: Drawing, made: Rendering) -> bytes:
    """A PNG file, a numbered cell a part, in rows; of a drawing without order one cell with all parts in colour."""
    from PIL import Image, ImageDraw, ImageFont

    if made.steps:
        cells = _cells(drawing, made)
    else:
        cells = [np.full((CANVAS, CANVAS, 3), 255, np.uint8)]
        for number, part in enumerate(made.parts):
            cells[0][part.mask] = COLOURS[number % len(COLOURS)]
    columns = min(len(cells), 2 if len(cells) <= 4 else 3)
    rows = -(-len(cells) // columns)
    sheet = Image.new("RGB", (columns * SIDE, rows * SIDE), "white")
    brush, font = ImageDraw.Draw(sheet), ImageFont.load_default_imagefont()
    for number, cell in enumerate(cells):
        left, top = number % columns * SIDE, number // columns * SIDE
        sheet.paste(Image.fromarray(cell).resize((SIDE, SIDE), Image.Resampling.BOX), (left, top))
        brush.rectangle((left, top, left + SIDE - 1, top + SIDE - 1), outline=_RULE)
        if made.steps:
            brush.text((left + 5, top + 3), str(number + 1), fill=_PLAIN, font=font)
    stream = io.BytesIO()
    sheet.quantize(64, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(stream, "PNG", compress_level=9)
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
    before = np.full((CANVAS, CANVAS, 3), 255, np.uint8)
    for step in steps:
        cell = before.copy()
        for index in range(begin, step.n_strokes):
            group = drawing.strokes[index].group
            cell[ink[index]] = _PLAIN if group == NO_PART else COLOURS[place[group] % len(COLOURS)]
            before[ink[index]] = _OLD
        cells.append(cell)
        begin = step.n_strokes
    return cells
