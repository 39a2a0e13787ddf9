"""Regions drawn over their pictures, for people. Where pixels may not be passed on, the region is drawn on grey."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
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


def chosen(rows: Iterable[dict[str, Any]], most: int = MOST) -> list[dict[str, Any]]:
    """A few rows of `groundings` of every level and status, of as many pictures as there are; the same each time."""
    groups: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        shown = row["counts"] or row["box"] or row["subject_id"]
        if shown and (row["truth"] == "present" or row["origin"] == "generated"):
            groups[row["level"], row["status"]][row["image_id"]].append(row)
    found = []
    for key in sorted(groups):
        by_picture = [sorted(group, key=_order) for group in groups[key].values()]
        by_picture.sort(key=lambda group: _order(group[0]))
        if key[1] == "accepted":
            found += [group[0] for group in by_picture]
            continue
        rounds = (group[turn] for turn in range(max(map(len, by_picture))) for group in by_picture if turn < len(group))
        found += [row for _, row in zip(range(most), rounds, strict=False)]
    return found


def regions(row: dict[str, Any], rows: dict[str, dict[str, Any]], height: int, width: int) -> list[Mask]:
    """The masks to draw for a row: its own, its box, or the two ends of a relation."""
    ends = [rows[row[column]] for column in ("subject_id", "object_id") if row[column] in rows]
    found = []
    for each in ends or [row]:
        if each["counts"]:
            found.append(Mask(each["height"], each["width"], each["counts"]))
        elif each["box"]:
            found.append(from_box(tuple(each["box"]), height, width))
    return [mask for mask in found if mask.area]


def _order(row: dict[str, Any]) -> str:
    return hashlib.sha256(row["grounding_id"].encode()).hexdigest()
