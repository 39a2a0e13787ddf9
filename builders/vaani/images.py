"""Images: decoded whole (a header alone would pass a truncated file), measured and hashed."""

from __future__ import annotations

import hashlib
import io
import warnings
from typing import Any

import imagehash
import PIL.ExifTags
import PIL.Image

_GPS, _EXIF = 0x8825, 0x8769
_WORDS = (
    *("Artist", "Copyright", "DocumentName", "HostComputer", "ImageDescription"),
    *("XPAuthor", "XPComment", "XPKeywords", "XPSubject", "XPTitle"),
    *("BodySerialNumber", "CameraOwnerName", "UserComment"),
)
"""Tags of EXIF that hold words of people, or tell whose camera it was."""
_BLOCKS = {"comment": "comment", "xmp": "xmp", "XML:com.adobe.xmp": "xmp", "photoshop": "iptc"}


class UnusableImageError(Exception):
    """The bytes are no picture. `reason` is a reject's code: empty_file or undecodable."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def measure(data: bytes) -> dict[str, Any]:
    """What the table `images` says of a picture: width, height, format, sha256, phash, has_location, tags.

    Raises:
        UnusableImageError: it is empty, broken or truncated.
    """
    if not data:
        raise UnusableImageError("empty_file", "the file has no bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(io.BytesIO(data)) as image:
                about: dict[str, Any] = {
                    "width": image.width,
                    "height": image.height,
                    "format": (image.format or "unknown").lower(),
                    "phash": str(imagehash.phash(image)),
                    "has_location": bool(image.getexif().get_ifd(_GPS)),
                    "tags": _tags(image),
                }
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError, Warning) as error:
        raise UnusableImageError("undecodable", f"{len(data)} bytes: {' '.join(str(error).split())}") from None
    return about | {"sha256": hashlib.sha256(data).hexdigest()}


def _tags(image: PIL.Image.Image) -> list[str]:
    """Names of the words inside a picture that was loaded (PNG has some of them at its end), sorted."""
    exif = image.getexif()
    numbers = [number for number, value in (*exif.items(), *exif.get_ifd(_EXIF).items()) if value]
    found = {name.lower() for number in numbers if (name := PIL.ExifTags.TAGS.get(number)) in _WORDS}
    for key, value in image.info.items():
        if key in _BLOCKS:
            found.add(_BLOCKS[key])
        elif image.format == "PNG" and isinstance(value, str) and value.strip() and key != "Software":
            found.add(str(key).lower()[:40])
    return sorted(found)
