"""The one way in which a drawing becomes pixels: scale, line, and whose a pixel is.

The box of all points is scaled to fit the canvas without its padding and put in its middle; points are rounded to whole
pixels, so that Pillow's rasteriser, which cuts fractions off, has nothing to decide. Lines have round joints and caps
and no grey edges: ink is 0 on 255. A pixel of two strokes belongs to the later one.
"""

from __future__ import annotations

CANVAS = 336
"""Side of the canvas in pixels, what LLaVA's vision tower takes."""
PADDING = 20
"""Pixels between the drawing's box and the edge."""
WIDTH = 4
"""Of a line, in pixels."""
PATCH = 14
"""Side of a patch of that tower: the grid is CANVAS / PATCH = 24 square."""
