"""Masks as COCO's run-length encoding, the one form in which VIGOR keeps them.

One rasteriser for all (rlemasklib, whose bytes are those of pycocotools): another draws another triangle (101 pixels
here, 107 in scikit-image, 113 in Pillow, 127 in OpenCV). Everything that comes in is validated before it is decoded,
for pycocotools decodes counts that do not fill the picture into memory it never set. Runs go down the columns and begin
with the number of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from builders.vigor.values import FARTHEST, BadValueError, Box


class BadMaskError(BadValueError):
    """A mask that cannot be used."""


@dataclass(frozen=True)
class Mask:
    """A binary mask.

    Attributes:
        height, width: of the picture, in pixels.
        counts: COCO's compressed run lengths, as text (bytes are not JSON).
    """

    height: int
    width: int
    counts: str

    @property
    def rle(self) -> dict[str, Any]:
        """The form that rlemasklib and pycocotools take."""
        return {"size": [self.height, self.width], "counts": self.counts.encode("ascii")}

    @cached_property
    def area(self) -> int:
        """Number of pixels."""
        import rlemasklib

        return int(rlemasklib.area(self.rle))

    @cached_property
    def box(self) -> Box:
        """The smallest box around it; all 0 for an empty mask."""
        import rlemasklib

        x, y, width, height = (float(value) for value in rlemasklib.to_bbox(self.rle))
        return x, y, width, height

    def decode(self) -> np.ndarray:
        """uint8 (height, width) of 0 and 1."""
        import rlemasklib

        return rlemasklib.decode(self.rle)

    def iou(self, other: Mask) -> float:
        """Intersection over union, 0 for two empty masks."""
        shared = self.overlap(other)
        return shared / ((self.area + other.area - shared) or 1)

    def overlap(self, other: Mask) -> int:
        """Number of pixels in both."""
        import rlemasklib

        _same_size(self, other)
        return int(rlemasklib.area(rlemasklib.intersection([self.rle, other.rle])))

    def share_inside(self, other: Mask) -> float:
        """The share of this mask's pixels that are in `other`."""
        return self.overlap(other) / self.area if self.area else 0.0

    def components(self, least: float = 0.0) -> int:
        """Number of 8-connected pieces that hold at least the share `least` of its pixels."""
        import rlemasklib

        return len(rlemasklib.connected_components(self.rle, 8, max(1, int(least * self.area))))


def from_array(mask: np.ndarray) -> Mask:
    """The mask of an array (height, width) that is not 0 inside; C or Fortran order alike."""
    import rlemasklib

    rle: Any = rlemasklib.encode(np.ascontiguousarray(mask != 0).astype(np.uint8))
    return Mask(mask.shape[0], mask.shape[1], rle["counts"].decode("ascii"))


def from_box(box: Box, height: int, width: int) -> Mask:
    """The pixels of a box, cut to the picture."""
    x, y, wide, high = box
    mask = np.zeros((height, width), np.uint8)
    mask[max(0, round(y)) : max(0, round(y + high)), max(0, round(x)) : max(0, round(x + wide))] = 1
    return from_array(mask)


def from_coco(segmentation: Any, height: int, width: int) -> Mask:
    """The mask of a COCO `segmentation`: polygons, or run lengths in either form.

    Raises:
        BadMaskError: it is none of these, or does not fit the picture.
    """
    if isinstance(segmentation, dict):
        return from_rle(segmentation, height, width)
    if isinstance(segmentation, list):
        return from_polygons(segmentation, height, width)
    raise BadMaskError("no_mask", f"a {type(segmentation).__name__} is no segmentation")


def from_polygons(rings: Sequence[Any], height: int, width: int) -> Mask:
    """The union of polygons [x1, y1, x2, y2, ...], as COCO means them: a ring inside a ring is no hole.

    A ring of four numbers would be taken for a box by pycocotools; here it is refused.
    """
    import rlemasklib

    if not rings:
        raise BadMaskError("no_mask", "there are no polygons")
    encoded = []
    for ring in rings:
        if not isinstance(ring, list | tuple) or len(ring) < 6 or len(ring) % 2:
            size = len(ring) if isinstance(ring, list | tuple) else type(ring).__name__
            raise BadMaskError(
                "bad_polygon", f"a polygon needs three points or more as x, y pairs, this one has {size}"
            )
        try:
            points = np.asarray(ring)
        except ValueError:  # Lists of different lengths in it.
            points = np.empty(0, object)
        if points.ndim != 1 or points.dtype.kind not in "iuf" or not np.isfinite(points).all():
            raise BadMaskError("bad_polygon", "a polygon has a coordinate that is no number")
        # rlemasklib asks for memory by the coordinate, and aborts where it gets none.
        if np.abs(points).max() > FARTHEST:
            raise BadMaskError("bad_polygon", f"a polygon has a coordinate beyond {FARTHEST:,}")
        encoded.append(rlemasklib.from_polygon(points.astype(float), imshape=(height, width)))
    merged = encoded[0] if len(encoded) == 1 else rlemasklib.union(encoded)
    return Mask(height, width, merged["counts"].decode("ascii"))


def from_rle(rle: dict[str, Any], height: int, width: int) -> Mask:
    """The mask of run lengths, as numbers or compressed text.

    Raises:
        BadMaskError: size or counts are not those of the picture.
    """
    size, counts = rle.get("size"), rle.get("counts")
    if size != [height, width]:
        swapped = " (height and width are swapped)" if size == [width, height] else ""
        raise BadMaskError("bad_size", f"the mask says size {size}, the picture has [{height}, {width}]{swapped}")
    numbers = uncompressed(counts) if isinstance(counts, str | bytes) else counts
    if not isinstance(numbers, list) or any(type(number) is not int or number < 0 for number in numbers):
        raise BadMaskError("bad_counts", "the run lengths are no whole numbers of 0 or more")
    if sum(numbers) != height * width:
        raise BadMaskError(
            "bad_counts", f"the run lengths sum to {sum(numbers)}, the picture has {height * width} pixels"
        )
    return Mask(height, width, compressed(numbers))


def uncompressed(counts: str | bytes) -> list[int]:
    """COCO's compressed counts as numbers: 5 bits a character, from the third on as differences to the one before last.

    Written out here because the libraries trust the text: this one notices what is cut off.
    """
    text = counts.decode("ascii", "replace") if isinstance(counts, bytes) else counts
    numbers: list[int] = []
    place = 0
    while place < len(text):
        value = shift = 0
        while True:
            if place >= len(text):
                raise BadMaskError("bad_counts", "the compressed run lengths are cut off")
            chunk = ord(text[place]) - 48
            if not 0 <= chunk < 64:
                raise BadMaskError("bad_counts", f"the compressed run lengths hold {text[place]!r}")
            value |= (chunk & 31) << shift
            place, shift = place + 1, shift + 5
            if not chunk & 32:
                if chunk & 16:
                    value |= -1 << shift
                break
        numbers.append(value + numbers[-2] if len(numbers) > 2 else value)
    return numbers


def compressed(numbers: Sequence[int]) -> str:
    """Run lengths as COCO's text; the inverse of `uncompressed`."""
    text: list[str] = []
    for index, number in enumerate(numbers):
        value = number - numbers[index - 2] if index > 2 else number
        more = True
        while more:
            chunk = value & 31
            value >>= 5
            more = value != -1 if chunk & 16 else value != 0
            text.append(chr((chunk | 32 if more else chunk) + 48))
    return "".join(text)


def union(masks: Sequence[Mask]) -> Mask:
    """All pixels that are in any of the masks (at least one)."""
    import rlemasklib

    for mask in masks[1:]:
        _same_size(masks[0], mask)
    if len(masks) == 1:
        return masks[0]
    merged = rlemasklib.union([mask.rle for mask in masks])
    return Mask(masks[0].height, masks[0].width, merged["counts"].decode("ascii"))


def box_iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes, 0 where both are empty."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    high = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    shared = max(0.0, wide) * max(0.0, high)
    return shared / ((one[2] * one[3] + other[2] * other[3] - shared) or 1.0)


def _same_size(one: Mask, other: Mask) -> None:
    if (one.height, one.width) != (other.height, other.width):
        raise BadMaskError(
            "bad_size", f"masks of {one.height}x{one.width} and {other.height}x{other.width} were compared"
        )
