"""Values of a source's records, held against what they must be, for JSON files come from many hands.

A reader takes every value through here. What is of another type or makes no sense is a `BadValueError`, of which the
reader makes a `Problem`: one record less, said and counted. Only a file that as a whole is not what it must be is an
error for people (`rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builders.vigor.documents import JsonList
from schemas import GoldsmithError

Box = tuple[float, float, float, float]
"""x, y, width, height in pixels; x and y of the upper left corner."""

FARTHEST = 1_000_000
"""No coordinate of a picture is farther out, in pixels."""
MOST_PIXELS = 300_000_000
"""No picture is larger."""
_REQUIRED = object()


class BadValueError(Exception):
    """A value that cannot be used. `reason` is a short code, the message is for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def rows(content: Mapping[str, Any], key: str, file: str) -> Sequence[Any]:
    """A list that a file must have.

    Raises:
        GoldsmithError: it has another thing there.
    """
    found = content.get(key)
    if not isinstance(found, list | JsonList):
        raise GoldsmithError(f"[{file} > {key}] is {_said(found)}, must be a list: fetch the file again, whole")
    return found


def record(value: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise _wrong("the record", value, "an object")
    return value


def listed(value: Any) -> Sequence[Any]:
    """The items of a list; a bare value is a list of one, nothing is none."""
    if value is None or value == "":
        return []
    return value if isinstance(value, list | JsonList) else [value]


def keys(value: Any) -> set[str]:
    """The keys of a JSON object; none of anything else."""
    return set(value) if isinstance(value, Mapping) else set()


def whole(value: Any, name: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number."""
    if type(value) is not int or not least <= value <= most:
        raise _wrong(name, value, f"a whole number from {least} to {most}")
    return value


def identity(value: Any, name: str = "id") -> str:
    """An id as text: files have numbers, or texts that look like them."""
    if type(value) is int and abs(value) < 2**63:
        return str(value)
    return text(value, name)


def text(value: Any, name: str, otherwise: Any = _REQUIRED) -> Any:
    """A text that is not blank and can be written as UTF-8; `otherwise` where there is none."""
    if otherwise is not _REQUIRED and value in (None, ""):
        return otherwise
    if not isinstance(value, str) or not value.strip() or _broken(value):
        raise _wrong(name, value, "a text")
    return value


def flag(value: Any, name: str) -> bool:
    """A yes or no: COCO writes 0 and 1, others false and true, some nothing."""
    if value is None or value is False or value is True:
        return bool(value)
    return whole(value, name, 0, 1) == 1


def number(value: Any, name: str) -> float | None:
    """A finite number, or nothing."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e300 < value < 1e300:
        raise _wrong(name, value, "a finite number")
    return float(value)


def size(value: Mapping[str, Any]) -> tuple[int, int]:
    """(height, width) of a picture."""
    found = whole(value.get("height"), "height", 1), whole(value.get("width"), "width", 1)
    if found[0] * found[1] > MOST_PIXELS:
        raise BadValueError("bad_size", f"a picture of {found[1]}x{found[0]} is larger than {MOST_PIXELS:,} pixels")
    return found


def box(value: Any, height: int, width: int) -> Box | None:
    """A box [x, y, width, height] of a picture of that size (0 where nobody knows it); None where there is none."""
    if value is None or value == []:
        return None
    if not isinstance(value, list | tuple) or len(value) != 4:
        raise BadValueError("bad_box", f"the box is {_said(value)}, must be [x, y, width, height]")
    if not all(type(part) in (int, float) and abs(part) <= FARTHEST for part in value):
        raise BadValueError("bad_box", f"the box is {_said(value)}, must be four numbers of a picture's size")
    x, y, wide, high = (float(part) for part in value)
    if wide <= 0 or high <= 0:
        raise BadValueError("bad_box", f"the box {_said(value)} has no area")
    if x + wide <= 0 or y + high <= 0 or (width and x >= width) or (height and y >= height):
        raise BadValueError("bad_box", f"the box {_said(value)} is wholly outside the picture of {width}x{height}")
    return x, y, wide, high


def by_number(key: str) -> tuple[int, int, str]:
    """Sorts ids: numbers by their value, then texts."""
    return (0, int(key), key) if key.isdecimal() and key.isascii() and len(key) < 20 else (1, 0, key)


def _broken(value: str) -> bool:
    return not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value)


def _wrong(name: str, value: Any, wanted: str) -> BadValueError:
    return BadValueError("wrong_type", f"{name} is {_said(value)}, must be {wanted}")


def _said(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]
