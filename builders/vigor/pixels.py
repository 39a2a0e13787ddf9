"""Reading and writing pictures, with Pillow: OpenCV spreads palettes and turns pictures without being asked.

The tag that says how a camera was held is applied once, here, and written nowhere again.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from builders.vigor.values import BadValueError

Image.MAX_IMAGE_PIXELS = 300_000_000
_ORIENTATION = 0x0112


def load_rgb(path: Path) -> np.ndarray:
    """uint8 (height, width, 3), upright."""
    with opened(path) as image:
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))


def load_labels(path: Path) -> np.ndarray:
    """uint8 (height, width) of a mask file: palette indices or grey values as they stand, never colours."""
    with opened(path) as image:
        if image.mode not in ("P", "L", "1"):
            return np.asarray(image.convert("RGB"))[..., 0]
        return np.asarray(image.convert("L") if image.mode == "1" else image)


def upright(path: Path) -> tuple[bytes, int, int, bool]:
    """The file's bytes, its width and height, and whether it had to be turned.

    A file that was turned is written anew, as PNG; any other is passed on byte by byte.
    """
    data = path.read_bytes()
    with opened(path) as image:
        if image.getexif().get(_ORIENTATION, 1) in (0, 1):
            return data, image.width, image.height, False
        turned = ImageOps.exif_transpose(image)
        turned.info.pop("exif", None)
        return png(np.asarray(turned.convert("RGB"))), turned.width, turned.height, True


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 (height, width[, 3])."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", optimize=False, compress_level=9)
    return stream.getvalue()


def jpeg(pixels: np.ndarray, quality: int = 80) -> bytes:
    """A JPEG file of uint8 (height, width, 3)."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def sha256(data: bytes) -> str:
    """Of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


@contextmanager
def opened(path: Path, whole: bool = True) -> Iterator[Image.Image]:
    """A picture; `whole` reads all of it, for a header alone would pass a file that was cut off.

    Raises:
        BadValueError: it cannot be read, or not be turned or converted in the body.
    """
    try:
        with Image.open(path) as image:
            if whole:
                image.load()
            yield image
    except Exception as error:  # Pillow's decoders raise what they stumble over: OSError, SyntaxError, struct.error...
        reason = " ".join(str(error).split()).replace(str(path), path.name)
        raise BadValueError("unreadable_picture", f"{path.name} is no picture that can be read ({reason})") from None
