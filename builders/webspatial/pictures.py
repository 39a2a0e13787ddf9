"""The pictures that questions show: letters on objects, views side by side, frames of a time line.

Letters are drawn by hand, so that the bytes hang on no font. Not its business: which object gets which letter.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np

from builders.webspatial.capture.store import Capture, encode
from builders.webspatial.space.planner import Candidate
from builders.webspatial.space.scene import Obj, Scene

_GLYPHS = {
    "A": "01110 10001 10001 11111 10001 10001 10001",
    "B": "11110 10001 10001 11110 10001 10001 11110",
    "C": "01111 10000 10000 10000 10000 10000 01111",
    "D": "11110 10001 10001 10001 10001 10001 11110",
    "E": "11111 10000 10000 11110 10000 10000 11111",
    "F": "11111 10000 10000 11110 10000 10000 10000",
    "1": "00100 01100 00100 00100 00100 00100 01110",
    "2": "01110 10001 00001 00110 01000 10000 11111",
    "3": "11110 00001 00001 01110 00001 00001 11110",
}
_SCALE = 2
_RADIUS = 13


def question_picture(c: Candidate, scene: Scene, capture: Capture) -> bytes:
    """What a reader of the question sees, as PNG."""
    if c.style == "views":
        return encode(_image(_views(c, capture)), 3)
    if capture.data.get("events") and c.trace[-1]["tool"] in _TIMED:
        return encode(_image(_frames(c, scene, capture)), 3)
    picture = capture.picture("canvas")
    assert picture is not None
    return encode(_image(_marked(_pixels(picture), c.marks, scene, _ids(capture))), 3) if c.marks else picture


_TIMED = {"trajectory", "first", "change", "changed", "because"}


def _pixels(content: bytes) -> np.ndarray:
    from PIL import Image

    return np.array(Image.open(io.BytesIO(content)).convert("RGB"))


def _image(pixels: np.ndarray):
    from PIL import Image

    return Image.fromarray(pixels)


def _ids(capture: Capture) -> np.ndarray | None:
    content = capture.picture("ids")
    if content is None:
        return None
    raw = _pixels(content).astype(int)
    return raw[:, :, 0] + 256 * raw[:, :, 1] + 65536 * raw[:, :, 2]


def _spot(o: Obj, ids: np.ndarray | None) -> tuple[int, int]:
    """A pixel of the object near the middle of its pixels: a ring's middle is not on the ring."""
    x, y = o.anchor
    if ids is None:
        return round(x), round(y)
    rows, columns = np.nonzero(np.isin(ids, o.ids))
    if not len(rows):
        return round(x), round(y)
    k = int(np.argmin((columns - x) ** 2 + (rows - y) ** 2))
    return int(columns[k]), int(rows[k])


def _marked(pixels: np.ndarray, marks: Mapping[str, int], scene: Scene, ids: np.ndarray | None) -> np.ndarray:
    for letter, number in sorted(marks.items()):
        _letter(pixels, letter, *_spot(scene.object(number), ids))
    return pixels


def _letter(pixels: np.ndarray, letter: str, x: int, y: int) -> None:
    """A black letter on a white disc with a black rim, kept inside the picture."""
    height, width = pixels.shape[:2]
    x, y = min(max(x, _RADIUS), width - _RADIUS - 1), min(max(y, _RADIUS), height - _RADIUS - 1)
    yy, xx = np.mgrid[-_RADIUS : _RADIUS + 1, -_RADIUS : _RADIUS + 1]
    far = np.hypot(xx, yy)
    part = pixels[y - _RADIUS : y + _RADIUS + 1, x - _RADIUS : x + _RADIUS + 1]
    part[far <= _RADIUS] = 0
    part[far <= _RADIUS - 1.2] = 255
    glyph = np.array([[c == "1" for c in row] for row in _GLYPHS[letter].split()])
    big = np.kron(glyph, np.ones((_SCALE, _SCALE), bool))
    top, left = _RADIUS - big.shape[0] // 2, _RADIUS - big.shape[1] // 2
    part[top : top + big.shape[0], left : left + big.shape[1]][big] = 0


def _views(c: Candidate, capture: Capture) -> np.ndarray:
    tiles = [_pixels(capture.picture(name) or b"") for name in c.images]
    if len(tiles) > 2:
        for k, tile in enumerate(tiles[1:], 1):
            _letter(tile, str(k), 15, 15)
    gap = np.full((tiles[0].shape[0], 8, 3), 255, np.uint8)
    row: list[np.ndarray] = []
    for tile in tiles:
        row += [tile, gap]
    return np.concatenate(row[:-1], axis=1)


def _frames(c: Candidate, scene: Scene, capture: Capture) -> np.ndarray:
    """The kept frames from left to right, then below; marks on the first."""
    names = [f"frame-{frame:03}" for frame in capture.data["events"]["pictures"]]
    tiles = [_pixels(capture.picture(name) or b"") for name in names]
    _marked(tiles[0], c.marks, scene, _ids(capture))
    return _grid(tiles)


def _grid(tiles: Sequence[np.ndarray]) -> np.ndarray:
    height, width = tiles[0].shape[:2]
    columns = 2
    rows = -(-len(tiles) // columns)
    out = np.full((rows * height + (rows - 1) * 6, columns * width + 6, 3), 255, np.uint8)
    for k, tile in enumerate(tiles):
        y, x = (k // columns) * (height + 6), (k % columns) * (width + 6)
        out[y : y + height, x : x + width] = tile
    return out
