"""Text of the documents: escaping what others wrote, and marking each figure so that a stale one can be named.

While a document is made, a figure stands between marks of the private use area together with its name; `plain` takes
them out before anything is written.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

_START, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"
_MARKS = re.compile("[\ue000-\ue002]")
MARKED = re.compile(f"{_START}([^{_MIDDLE}]*){_MIDDLE}([^{_END}]*){_END}")
"""A marked figure: its name, its text."""

_SPECIAL = re.compile(r"([\\`*_\[\]|~#$])")


def mark(name: str, text: str) -> str:
    """`text`, marked as the figure `name`."""
    return f"{_START}{_MARKS.sub('', name)}{_MIDDLE}{_MARKS.sub('', text)}{_END}"


def plain(text: str) -> str:
    """A document without marks."""
    return MARKED.sub(r"\2", text)


def markdown(value: object) -> str:
    """Text of unknown origin as one line of Markdown that shows exactly these characters."""
    text = " ".join(_MARKS.sub("", str(value)).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)


def cell(value: object) -> str:
    """A builder's own sentence for a table cell: its Markdown stays, but it can end neither the cell nor the row."""
    text = " ".join(_MARKS.sub("", str(value)).split())
    return re.sub(r"(?<!\\)\|", r"\\|", text.replace("<", "&lt;"))


def code(value: object) -> str:
    """A name in a code span, safe in a table cell too."""
    text = " ".join(_MARKS.sub("", str(value)).split())
    if not text or "`" in text or "\\|" in text:
        return markdown(text)
    return f"`{text}`".replace("|", "\\|")


def link(shown: str, url: object) -> str:
    """`shown` (Markdown) as a link, or as it is where `url` is no web address."""
    address = str(url or "")
    return f"[{shown}](<{address}>)" if re.fullmatch(r"https?://[^\s<>|\\]+", address) else shown


def number(value: Any) -> str:
    """A value for people: 552,065; 0.317; 2026-11-30; yes. Text is returned as Markdown."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case _:
            return markdown(value)


def size(value: int) -> str:
    """A number of bytes for people, in decimal units: 1.2 MB."""
    amount, unit = float(value), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{value:,} B" if unit == "B" else f"{amount:.1f} {unit}"
