"""Names of categories and parts: lower case, words with blanks between, what SPG misspells or mistranslates mended."""

from __future__ import annotations

SPELLING = {
    "piont": "pointer",
    "keyborad": "keyboard",
    "sweet tube": "cone",
    "ornament on sweet tube": "ornament on cone",
    "hot-gas": "steam",
    "pliers": "claw",
    "tentacle": "antenna",
}
"""Of SPG's label files: misspelt, or no English for what the strokes show. What is mended is in the row's `repairs`."""


def tidy(name: str) -> str:
    """Lower case, one blank between words, alternatives joined by `or`: `eye,mouth` is `eye or mouth`."""
    text = name.replace("_", " ").lower().replace(",", " or ")
    return " ".join(text.split())


def part_name(name: str) -> tuple[str, bool]:
    """The name of a part, and whether its spelling was mended."""
    text = tidy(name)
    return SPELLING.get(text, text), text in SPELLING
