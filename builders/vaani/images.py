"""Images: decoded whole (a header alone would pass a truncated file), measured and hashed."""

from __future__ import annotations

import hashlib
import io
import warnings
from typing import Any

import imagehash
import PIL.Image

_GPS = 0x8825


class UnusableImageError(Exception):
    """The bytes are no picture. `reason` is a reject's code: empty_file or undecodable."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def measure(data: bytes) -> dict[str, Any]:
    """What the table `images` says of a picture: width, height, format, sha256, phash, has_location.

    Raises:
        UnusableImageError: it is empty, broken or truncated.
    """
    if not data:
        raise UnusableImageError("empty_file", "the file has no bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(io.BytesIO(data)) as image:
                located = bool(image.getexif().get_ifd(_GPS))
                form = (image.format or "unknown").lower()
                width, height = image.size
                phash = str(imagehash.phash(image))
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError, Warning) as error:
        raise UnusableImageError("undecodable", f"{len(data)} bytes: {' '.join(str(error).split())}") from None
    digest = hashlib.sha256(data).hexdigest()
    return {"width": width, "height": height, "format": form, "sha256": digest, "phash": phash, "has_location": located}
