"""The memorisation guard: how much of the original function is still word for word in a program."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\S")
_LENGTH = 5


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The 5-grams of tokens; of a shorter text, all its tokens as one."""
    tokens = _TOKEN.findall(text)
    return frozenset(tuple(tokens[at : at + _LENGTH]) for at in range(max(1, len(tokens) - _LENGTH + 1)))


def containment(original: str, program: str) -> float:
    """The share of the original's 5-grams that the program has, 0 to 1."""
    wanted = shingles(original)
    return len(wanted & shingles(program)) / len(wanted)
