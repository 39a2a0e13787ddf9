"""Regions drawn over their pictures, for people. Where pixels may not be passed on, the region is drawn on grey."""

from __future__ import annotations

import hashlib
from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from builders.vigor.masks import Mask, from_box
from builders.vigor.pixels import jpeg

SIDE = 240
"""Longer side of an overlay, in pixels."""
MOST = 12
"""Overlays of one level and status in one shard; of accepted ones there is one for each picture, for audits."""
_COLOURS = ((0, 190, 255), (255, 90, 60), (120, 220, 60))


def overlay(pixels: np.ndarray | None, masks: Sequence[Mask], side: int = SIDE) -> bytes:
    """A JPEG file: the picture a little darker, each region as it is with an outline. Subject first, object second."""
    import cv2

    height, width = masks[0].height, masks[0].width
    base = (
        np.full((height, width, 3), 150, np.uint8) if pixels is None or pixels.shape[:2] != (height, width) else pixels
    )
    scale = side / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    smooth = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    shown = cv2.resize(np.ascontiguousarray(base), size, interpolation=smooth)
    inside = np.zeros(size[::-1], np.uint8)
    outlines = []
    for mask in masks:
        small = cv2.resize(mask.decode(), size, interpolation=cv2.INTER_NEAREST)
        inside = np.maximum(inside, small)
        outlines.append(cv2.findContours(small, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0])
    shown = np.where(inside[..., None] > 0, shown, (shown * 0.45).astype(np.uint8))
    for index, contours in enumerate(outlines):
        cv2.drawContours(shown, contours, -1, _COLOURS[index % len(_COLOURS)], 2)
    return jpeg(shown)


@dataclass(frozen=True)
class Shown:
    """A row of `groundings` that is drawn: by itself, or by the rows of the two ends of a relation."""

    row: dict[str, Any]
    drawn: tuple[dict[str, Any], ...]

    def regions(self, height: int, width: int) -> list[Mask]:
        """The masks to draw."""
        found = []
        for each in self.drawn:
            if each["counts"]:
                found.append(Mask(each["height"], each["width"], each["counts"]))
            elif each["box"]:
                found.append(from_box(tuple(each["box"]), height, width))
        return [mask for mask in found if mask.area]


class Choice:
    """Chooses a few rows of every level and status, of as many pictures as there are; the same each time. Pictures come
    one after another, and only what may still be chosen is kept."""

    def __init__(self) -> None:
        self._pictures: dict[tuple[str, str], list[list[Shown]]] = defaultdict(list)

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """All rows of some pictures."""
        by_id = {row["grounding_id"]: row for row in rows}
        groups: dict[tuple[str, str, str], list[Shown]] = defaultdict(list)
        for row in rows:
            shown = row["counts"] or row["box"] or row["subject_id"]
            if shown and (row["truth"] == "present" or row["origin"] == "generated"):
                ends = tuple(by_id[row[column]] for column in ("subject_id", "object_id") if row[column] in by_id)
                groups[row["level"], row["status"], row["image_id"]].append(Shown(row, ends or (row,)))
        for (level, status, _), group in groups.items():
            kept = self._pictures[level, status]
            if status == "accepted":
                insort(kept, [min(group, key=_order)], key=_first)
            else:
                insort(kept, sorted(group, key=_order)[:MOST], key=_first)
                del kept[MOST:]

    def chosen(self) -> Iterator[Shown]:
        """Of the accepted ones one of each picture; of the others `MOST`, pictures in turn."""
        for (_, status), pictures in sorted(self._pictures.items()):
            turns = (group[turn] for turn in range(MOST) for group in pictures if turn < len(group))
            yield from turns if status == "accepted" else islice(turns, MOST)


def _order(shown: Shown) -> str:
    return hashlib.sha256(shown.row["grounding_id"].encode()).hexdigest()


def _first(group: Sequence[Shown]) -> str:
    return _order(group[0])
