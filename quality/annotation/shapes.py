"""Masks, polygons and boxes: Label Studio's brush code, and how far two people's shapes overlap.

Brush code is thi.ng's rle-pack of an RGBA picture whose alpha is the mask; it is not the run-length code of COCO.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

_WORD, _SIZES = 8, (3, 4, 8, 16)
_HEAD_BITS = 32 + 5 + 4 * 4


class BadMaskError(ValueError):
    """Brush code that is cut short, or of a picture of another size."""


def decode_rle(code: Sequence[int], height: int, width: int) -> Mask:
    """The mask of brush code.

    Raises:
        BadMaskError: the code does not give a picture of this size.
    """
    if any(not 0 <= byte <= 255 for byte in code):
        raise BadMaskError("brush code holds something else than bytes")
    data = bytes(code)
    bits = 8 * len(data)
    number, place = int.from_bytes(data, "big"), 0

    def take(count: int) -> int:
        nonlocal place
        if place + count > bits:
            raise BadMaskError("brush code is cut short")
        # Only the bytes around the wanted bits: shifting the whole number would cost its length each time.
        first, last = place >> 3, (place + count + 7) >> 3
        window = int.from_bytes(data[first:last], "big") >> (8 * last - place - count)
        place += count
        return window & ((1 << count) - 1)

    if bits < _HEAD_BITS or number < 0:
        raise BadMaskError("brush code has no head")
    size, word = take(32), take(5) + 1
    sizes = [take(4) + 1 for _ in range(4)]
    if size != height * width * 4:
        raise BadMaskError(f"brush code is of {size // 4} pixels, the picture has {width} x {height}")
    values = np.zeros(size, np.uint32)
    at = 0
    while at < size:
        same, count = take(1), take(sizes[take(2)]) + 1
        end = min(at + count, size)
        if same:
            values[at:end] = take(word)
        else:
            for index in range(at, end):
                values[index] = take(word)
        at = end
    return values.reshape(height, width, 4)[..., 3] > 0


def encode_rle(mask: Mask) -> list[int]:
    """Brush code of a mask, as Label Studio reads it."""
    values = np.repeat(np.asarray(mask, bool).reshape(-1), 4)
    edges = np.flatnonzero(np.diff(values)) + 1
    starts, ends = np.concatenate([[0], edges]), np.concatenate([edges, [len(values)]])
    parts = [f"{len(values):032b}", f"{_WORD - 1:05b}", *(f"{size - 1:04b}" for size in _SIZES)]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        value = f"{255 if values[start] else 0:08b}"
        while start < end:
            count = min(end - start, 1 << _SIZES[-1])
            which = next(index for index, size in enumerate(_SIZES) if count <= 1 << size)
            parts.append(f"1{which:02b}{count - 1:0{_SIZES[which]}b}{value}")
            start += count
    text = "".join(parts)
    text += "0" * (-len(text) % 8)
    return list(int(text, 2).to_bytes(len(text) // 8, "big"))


def coco_lengths(text: str) -> list[int]:
    """The run lengths of COCO's compressed text: zeros first, down the columns.

    A length is, from the fourth on, the difference to the one before the last; in groups of five bits, lowest first,
    each a character from `0` on, with a bit that says whether more follow; the highest bit is the sign.

    Raises:
        BadMaskError: it is no such text.
    """
    lengths: list[int] = []
    value = bits = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64 or bits > 60:
            raise BadMaskError(f"{character!r} is no character of COCO's run lengths here")
        value |= (code & 31) << bits
        bits += 5
        if not code & 32:
            value -= (code & 16) << (bits - 4)
            lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
            value = bits = 0
    if bits:
        raise BadMaskError("COCO's run lengths are cut short")
    return lengths


def polygon(points: Sequence[Sequence[float]], height: int, width: int) -> Mask:
    """The pixels whose centre lies in a polygon (even-odd). Points are in percent of the picture."""
    x = np.arange(width)[None, :] + 0.5
    y = np.arange(height)[:, None] + 0.5
    corners = [(px * width / 100, py * height / 100) for px, py in points]
    inside = np.zeros((height, width), bool)
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if y1 == y2:
            continue
        crosses = (y1 <= y) != (y2 <= y)
        inside ^= crosses & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return inside


def iou(a: Mask, b: Mask) -> float:
    """Intersection over union; two empty masks agree."""
    union = int(np.count_nonzero(a | b))
    return int(np.count_nonzero(a & b)) / union if union else 1.0


def dice(a: Mask, b: Mask) -> float:
    """Twice the intersection over the sum; two empty masks agree."""
    total = int(np.count_nonzero(a)) + int(np.count_nonzero(b))
    return 2 * int(np.count_nonzero(a & b)) / total if total else 1.0


Box = tuple[float, float, float, float, str]
"""x, y, width and height in percent of the picture, and a label."""


def box_iou(a: Box, b: Box) -> float:
    """Intersection over union of two boxes; labels are not looked at."""
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(wide, 0.0) * max(high, 0.0)
    union = a[2] * a[3] + b[2] * b[3] - shared
    return shared / union if union > 0 else float(a[:4] == b[:4])


def box_f1(a: Sequence[Box], b: Sequence[Box], overlap: float = 0.5) -> float:
    """The F1 of boxes of the same label that overlap by `overlap`, matched the closest first; symmetric."""
    if not a and not b:
        return 1.0
    pairs = [
        (-score, *sorted((left, right)), i, j)
        for i, left in enumerate(a)
        for j, right in enumerate(b)
        if left[4] == right[4] and (score := box_iou(left, right)) >= overlap
    ]
    used_a: set[int] = set()
    used_b: set[int] = set()
    for *_, i, j in sorted(pairs):
        if i not in used_a and j not in used_b:
            used_a.add(i)
            used_b.add(j)
    return 2 * len(used_a) / (len(a) + len(b))
