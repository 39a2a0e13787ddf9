"""How far two people's transcripts of the same sound differ: error rates of words and of characters.

Neither person is the reference, so the rate is symmetric: edits over the mean of both lengths. Texts are compared in
NFC with white space folded; no mark, vowel sign or letter is dropped, for in most scripts that makes another word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Sequence
from typing import Literal


def normalise(text: str) -> str:
    """NFC, one blank between words, none around. Zero-width joiners stay: they are part of the spelling."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def graphemes(text: str) -> list[str]:
    """Characters as readers see them: a base with its combining marks, a conjunct being several."""
    clusters: list[str] = []
    for letter in normalise(text):
        if clusters and (unicodedata.category(letter) in ("Mn", "Mc", "Me") or letter in "\u200c\u200d"):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


def edits(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The Levenshtein distance, bit-parallel (Hyyrö 2003): a column of the table is one big integer."""
    if len(a) < len(b):
        a, b = b, a
    if not b:
        return len(a)
    places: dict[Hashable, int] = {}
    for index, item in enumerate(b):
        places[item] = places.get(item, 0) | 1 << index
    last, full = 1 << len(b) - 1, (1 << len(b)) - 1
    plus, minus, distance = full, 0, len(b)
    for item in a:
        match = places.get(item, 0)
        diagonal = (((match & plus) + plus) ^ plus) | match | minus
        right_plus, right_minus = (minus | ~(diagonal | plus)) & full, diagonal & plus
        distance += bool(right_plus & last) - bool(right_minus & last)
        right_plus, right_minus = (right_plus << 1 | 1) & full, right_minus << 1 & full
        plus, minus = (right_minus | ~(diagonal | right_plus)) & full, right_plus & diagonal
    return distance


def error_rate(a: str, b: str, unit: Literal["word", "character"] = "word") -> float:
    """The symmetric error rate, 0 (the same) to 2; two empty texts are the same.

    `character` counts what `graphemes` gives, so that a wrong vowel sign is one error.
    """
    left, right = (normalise(t).split() if unit == "word" else graphemes(t) for t in (a, b))
    length = (len(left) + len(right)) / 2
    return edits(left, right) / length if length else 0.0
