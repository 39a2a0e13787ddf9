"""What order a generated text says, read strictly: a list of exactly the parts that were asked for, or no order at all.

A lenient reader finds an order in every text that names parts ("the legs come after the body"), and finds it wrong.
Here a text is a list, one part an item, and nothing else but a lead-in that ends with a colon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

REASONS = ("empty", "no_list", "unknown_part", "repeated_part", "missing_part")
"""Why a text is no order, by code."""

_NUMBER = re.compile(r"^\s*(?:\(?\d{1,2}[.):]|[-*•])\s*")
_INLINE = re.compile(r"(?:^|[\s,;])\(?\d{1,2}[.)]\s+")
_ARROWS = re.compile(r"\s*(?:->|→|=>|>)\s*")
_LEAD = re.compile(r"^[^:\n]{0,200}:\s*")


@dataclass(frozen=True)
class Answer:
    """A generated text as an order.

    Attributes:
        order: the parts from first to last, spelt as asked; None where the text is no order.
        why: a code of `REASONS`; empty where it is one.
    """

    order: tuple[str, ...] | None
    why: str = ""


def read_order(text: str, options: Sequence[str]) -> Answer:
    """The order of `options` that `text` says.

    It may be a JSON list, numbered or marked lines or plain lines, a numbered list in one line, or items between
    commas, semicolons or arrows; the last item may have `and` before it, the list a full stop after it and a line that
    ends with a colon before it. An item is a part's name in any case, perhaps with `the`, quotes or bold marks.
    Anything else, a part left out or named twice included, is no order.
    """
    text = text.strip()
    if not text:
        return Answer(None, "empty")
    known = {_plain(option): option for option in options}
    found = [_plain(item) for item in _items(text, known)]
    if len(found) < 2 and len(options) > 1:
        return Answer(None, "no_list")
    if any(item not in known for item in found):
        return Answer(None, "unknown_part")
    if len(set(found)) < len(found):
        return Answer(None, "repeated_part")
    if len(found) < len(known):
        return Answer(None, "missing_part")
    return Answer(tuple(known[item] for item in found))


def _items(text: str, known: dict[str, str]) -> list[str]:
    text = re.sub(r"^```\w*\n|\n?```$", "", text).strip()
    if text.startswith("["):
        try:
            items = json.loads(text.rstrip("."))
        except ValueError:
            return []
        return items if all(isinstance(item, str) for item in items) else []
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    if len(lines) > 1:
        return [_NUMBER.sub("", line) for line in lines]
    line = lines[0]
    if _plain(line) in known:
        return [line]
    if ":" in line and not _NUMBER.match(line):
        line = _LEAD.sub("", line, count=1)
    if _ARROWS.search(line):
        return _ARROWS.split(line)
    if len(_INLINE.findall(line)) > 1:
        return [item.rstrip(" ,;") for item in _INLINE.split(line) if item.strip(" ,;")]
    items = re.split(r"\s*[,;]\s*", line)
    last = re.sub(r"^and\s+", "", items[-1])
    if last == items[-1] and _plain(last) not in known:
        items[-1:] = re.split(r"\s+and\s+", last, maxsplit=1)
    else:
        items[-1] = last
    return items


def _plain(item: str) -> str:
    """A name as it is compared: lower case, one blank between words, without article, quotes, bold marks, full stop."""
    low = re.sub(r"[\s_]+", " ", item.lower()).strip(" \t\"'`*.")
    return re.sub(r"^(?:the|a|an) ", "", low)
