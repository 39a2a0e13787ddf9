"""Which categories may be used to select a model's heads, and which to report them.

Categories and drawers that belong together, over all sources, go together: who drew in one split drew nothing in the
other. The side is a hash of the group's first category, so a category that is added moves no other, unless it
joins two groups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

CALIBRATION_SHARE = 0.4
"""Of the groups, about."""


def assign(pairs: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The split of each category, of (category, drawer or None) pairs.

    Where chance leaves one side empty, the group nearest to the border changes sides.
    """
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    categories: set[str] = set()
    for category, drawer in pairs:
        nodes = [f"c {category}", *([f"d {drawer}"] if drawer else [])]
        for node in nodes:
            parent.setdefault(node, node)
        one, other = sorted((root(nodes[0]), root(nodes[-1])))
        parent[other] = one
        categories.add(category)
    groups: dict[str, list[str]] = {}
    for category in sorted(categories):
        groups.setdefault(root(f"c {category}"), []).append(category)
    at = {members[0]: _place(members[0]) for members in groups.values()}
    border = CALIBRATION_SHARE
    if len(at) > 1 and max(at.values()) < border:
        border = max(at.values())
    elif len(at) > 1 and min(at.values()) >= border:
        border = sorted(at.values())[1]
    return {
        category: "calibration" if at[members[0]] < border else "report"
        for members in groups.values()
        for category in members
    }


def _place(category: str) -> float:
    return int.from_bytes(hashlib.sha256(f"split {category}".encode()).digest()[:6], "big") / (1 << 48)
