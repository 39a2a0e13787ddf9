"""The caller of a changed function, sliced backward from the call: it limits what the function is given."""

from __future__ import annotations

import re
from collections.abc import Iterable

from builders.verivul.index import Index, Item
from builders.verivul.parse import text_of
from builders.verivul.slicer import Function, NoFunctionError, head

_LINES = 120
"""Longest caller: one level up, and no further."""


def caller(index: Index, function: Item, near: Iterable[str]) -> tuple[Item, str] | None:
    """The nearest and shortest function that calls another by name, with its slice; None where there is none.

    Args:
        near: paths that come before others; the function's own file comes first.
    """
    called = re.compile(rf"\b{re.escape(function.name)}\s*\(")
    near = frozenset(near)
    found = [
        item
        for path in sorted(index.by_path)
        for item in index.functions(path)
        if item.name != function.name and item.end - item.line < _LINES and called.search(item.text)
    ]
    order = sorted(found, key=lambda item: (item.path != function.path, item.path not in near, len(item.text)))
    for item in order:
        try:
            whole = Function(item.text, item.line, index.jumps())
        except (NoFunctionError, RecursionError):
            continue
        calls = [node for node in whole.statements if node.type != "compound_statement"
                 and any(called.search(text_of(part)) for part in head(node))]  # fmt: skip
        if calls:
            return item, whole.render(whole.slice(calls))
    return None
