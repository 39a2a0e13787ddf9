"""Lines of any tool, in the forms that PROBE.md states: an order of parts, or the place of one part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch.masks import decode
from builders.sketch.probing.answers import read_order
from builders.sketch.render import CANVAS
from builders.sketch.scoring.order import Said
from builders.sketch.scoring.questions import Questions
from schemas import GoldsmithError
from schemas.json_lines import json_lines

_PLACES = ("map", "box", "mask")


@dataclass(frozen=True)
class Region:
    """Where a tool says that a part is: a map on a grid of its own, or a region of pixels.

    Attributes:
        map: [rows, columns], not negative; of a region of pixels 0 and 1 on the canvas.
        box: x0, y0, x1, y1 in pixels, where a box was given.
    """

    drawing: str
    part: str
    map: np.ndarray
    box: np.ndarray | None = None


class Lines:
    """The answers of .jsonl files.

    Attributes:
        orders: answers about the order of parts.
        regions: of tools that give one place a part.
    """

    def __init__(self, questions: Questions) -> None:
        self.orders: list[Said] = []
        self.regions: list[Region] = []
        self._questions = questions
        self._met: dict[str, str] = {}

    def read(self, path: Path) -> None:
        """Read a file.

        Raises:
            GoldsmithError: a line has none of the forms, or answers a prompt that was answered before; it is named.
        """
        for number, record in json_lines(path):
            where = f"{path.name} > line {number}"
            try:
                self._add(record, where)
            except FormError as error:
                raise GoldsmithError(f"[{where}] {error}: see PROBE.md for its form") from None
            except GoldsmithError as error:
                raise GoldsmithError(f"[{where}] {error}") from None

    def _add(self, record: Mapping[str, Any], where: str) -> None:
        places = [name for name in _PLACES if name in record]
        said = places + [name for name in ("order", "text") if places and name in record]
        if len(said) > 1:
            raise FormError(f"it has {said[0]} and {said[1]}, a line is one answer")
        prompt = record.get("prompt_id")
        if prompt is not None:
            kind = self._questions.row(prompt)["kind"]
            if kind != ("spatial" if places else "temporal"):
                raise FormError(f"{prompt} is a {kind} prompt, the line has {'a place' if places else 'an order'}")
            first = self._met.setdefault(prompt, where)
            if first != where:
                raise GoldsmithError(f"{prompt} is answered in {first} already: keep one answer of a prompt")
        if places:
            self.regions.append(_region(record, places[0], self._questions))
        else:
            self.orders.append(_said(record, self._questions))


class FormError(Exception):
    """What a line has in place of its form."""


def _text(record: Mapping[str, Any], name: str) -> str:
    if name not in record:
        raise FormError(f"it has no {name}")
    if not isinstance(record[name], str):
        raise FormError(f"{name} is no text")
    return record[name]


def _names(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise FormError(f"{name} is no list of names")
    return tuple(value)


def _numbers(value: object) -> np.ndarray:
    """An array of finite numbers; empty where the value is none: each form says then what it wants."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        return np.empty(0)
    return found.astype(float) if found.dtype.kind in "iuf" and np.isfinite(found).all() else np.empty(0)


def _said(record: Mapping[str, Any], questions: Questions) -> Said:
    asked = questions.row(record["prompt_id"]) if record.get("prompt_id") is not None else record
    options = () if asked.get("options") is None else _names(asked["options"], "options")
    drawing = None if asked.get("sketch_id") is None else _text(asked, "sketch_id")
    category = _category(asked, questions) if drawing is None else _drawn(drawing, questions)
    if record.get("order") is not None:
        order = _names(record["order"], "order")
        if len(set(order)) < len(order):
            return Said(category, None, options, drawing, "repeated_part")
        if options and set(order) != set(options):
            why = "unknown_part" if set(order) - set(options) else "missing_part"
            return Said(category, None, options, drawing, why)
        return Said(category, order, options, drawing)
    if not options:
        raise FormError("a text needs options, the parts that it was to order")
    answer = read_order(_text(record, "text"), options)
    return Said(category, answer.order, options, drawing, answer.why)


def _drawn(drawing: str, questions: Questions) -> str:
    if drawing not in questions.drawings:
        raise FormError(f"sketch_id {drawing} is no drawing of this dataset")
    return questions.drawings[drawing]


def _category(asked: Mapping[str, Any], questions: Questions) -> str:
    name = _text(asked, "category")
    keys = questions.categories.get(name, set())
    if asked.get("source") is not None:
        keys = keys & {f"{_text(asked, 'source')}/{name}"}
    if len(keys) != 1:
        raise FormError(f"category {name} is of {len(keys)} sources of this dataset, give source and category")
    return next(iter(keys))


def _region(record: Mapping[str, Any], form: str, questions: Questions) -> Region:
    asked = questions.row(record["prompt_id"]) if record.get("prompt_id") is not None else record
    drawing, part = _text(asked, "sketch_id"), _text(asked, "part")
    _drawn(drawing, questions)
    if form == "map":
        values = _numbers(record["map"])
        if values.ndim != 2 or not values.size or max(values.shape) > CANVAS or values.min() < 0:
            raise FormError(f"map is no list of rows of numbers of 0 or more, at most {CANVAS} x {CANVAS}")
        return Region(drawing, part, values)
    if form == "mask":
        mask = record["mask"]
        if not isinstance(mask, dict) or mask.get("size") != [CANVAS, CANVAS]:
            raise FormError(f"mask is not of {CANVAS} x {CANVAS}")
        return Region(drawing, part, _mask(_text(mask, "counts")))
    box = _numbers(record["box"])
    if box.shape == (4,):
        box[2:] += box[:2]
    if box.shape != (4,) or not (box[2:] > box[:2]).all() or box.min() < 0 or box.max() > CANVAS:
        raise FormError("box is not x, y, width, height within the canvas")
    region = np.zeros((CANVAS, CANVAS))
    x0, y0, x1, y1 = np.rint(box).astype(int)
    region[y0:y1, x0:x1] = 1
    return Region(drawing, part, region, box)


def _mask(counts: str) -> np.ndarray:
    """The run lengths are summed before they are decoded: too few leave memory in the mask that nobody wrote."""
    runs, value, shift = [], 0, 0
    for char in counts:
        digit = ord(char) - ord("0")
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            value -= (1 << shift) if digit & 16 else 0
            runs.append(value + (runs[-2] if len(runs) > 2 else 0))
            value, shift = 0, 0
    known = all("0" <= char < "p" for char in counts)
    if not known or shift or min(runs, default=-1) < 0 or sum(runs) != CANVAS * CANVAS:
        raise FormError(f"mask counts are not those of {CANVAS} x {CANVAS} pixels")
    return decode(counts, CANVAS, CANVAS).astype(float)
