"""Stretches of a text: whether their offsets are what they say, and how far two sets of them agree.

Offsets count code points (as Python does), the end not included. Tools that count UTF-16 units shift everything behind
an emoji: this is seen by the text that comes with a span, and undone only where the other reading fits exactly.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Span(NamedTuple):
    """`text[start:end]` bears `label`."""

    start: int
    end: int
    label: str


class BadSpanError(ValueError):
    """The offsets of a span fit its text in no way of counting."""


def placed(text: str, start: int, end: int, said: str | None) -> tuple[int, int, bool]:
    """The code point offsets of a span, and whether they had to be read as UTF-16 units.

    Args:
        said: the text that the tool says is there; None if it says nothing, then the offsets must only be possible.

    Raises:
        BadSpanError: no reading gives `said`, or the span is empty or outside.
    """
    if 0 <= start < end <= len(text) and (said is None or text[start:end] == said):
        return start, end, False
    if said:
        units = text.encode("utf-16-le", "surrogatepass")
        try:
            if 0 <= start < end <= len(units) // 2 and units[2 * start : 2 * end].decode("utf-16-le") == said:
                first = len(units[: 2 * start].decode("utf-16-le"))
                return first, first + len(said), True
        except UnicodeDecodeError:
            pass
    there = text[max(start, 0) : max(end, 0)]
    raise BadSpanError(f"span {start}:{end} says {_short(said)}, the text has {_short(there)}")


def _short(text: str | None) -> str:
    return repr(text if text is None or len(text) <= 40 else text[:40] + "...")


def f1(a: Collection[Span], b: Collection[Span]) -> float:
    """The F1 of equal spans (same start, end and label), symmetric; two empty sets agree."""
    left, right = set(a), set(b)
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0


def token_f1(a: Collection[Span], b: Collection[Span]) -> float:
    """The F1 of covered characters by label: near misses count for what they cover."""
    left, right = _covered(a), _covered(b)
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0


def _covered(spans: Collection[Span]) -> set[tuple[int, str]]:
    return {(place, span.label) for span in spans for place in range(span.start, span.end)}
