"""Words that VIGOR knows by itself: which attributes exclude each other, plurals, and a few synonyms.

Small on purpose: sources bring their own synonyms (LVIS, WordNet synsets); this holds what none of them says.
"""

from __future__ import annotations

from typing import Final

COLOURS: Final = ("black", "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow")
"""Berlin and Kay's eleven basic terms, with `grey` for both spellings."""

COLOUR_ALIASES: Final = {
    "gray": "grey",
    "silver": "grey",
    "violet": "purple",
    "lilac": "purple",
    "lavender": "purple",
    "magenta": "pink",
    "maroon": "red",
    "navy": "blue",
    "teal": "green",
    "turquoise": "green",
    "cyan": "blue",
    "tan": "brown",
    "beige": "brown",
    "olive": "green",
    "lime": "green",
    "salmon": "pink",
    "gold": "yellow",
    "golden": "yellow",
    "mauve": "purple",
    "crimson": "red",
    "khaki": "brown",
    "peach": "orange",
    "indigo": "blue",
    "plum": "purple",
    "sky": "blue",
    "blond": "yellow",
    "blonde": "yellow",
}
"""Other colour words, by the basic term they fall under."""

MATERIALS: Final = frozenset(
    (
        "ceramic",
        "crochet",
        "fabric",
        "glass",
        "leather",
        "metal",
        "metallic",
        "paper",
        "plastic",
        "rattan",
        "rubber",
        "stone",
        "text",
        "velvet",
        "wood",
        "wooden",
        "wool",
        "brick",
        "concrete",
    )
)
PATTERNS: Final = frozenset(
    ("checkered", "dotted", "floral", "logo", "plain", "perforated", "studded", "striped", "text", "woven", "patterned")
)
TRANSPARENCIES: Final = frozenset(("opaque", "translucent", "transparent"))

_IRREGULAR: Final = {
    "men": "man",
    "women": "woman",
    "people": "person",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "leaves": "leaf",
    "knives": "knife",
    "shelves": "shelf",
    "loaves": "loaf",
    "wolves": "wolf",
    "halves": "half",
    "sheep": "sheep",
    "fish": "fish",
    "oxen": "ox",
    "buses": "bus",
    "lenses": "lens",
    "scarves": "scarf",
}
_KEEP: Final = frozenset(
    ("glass", "grass", "bus", "dress", "lens", "canvas", "moss", "brass", "cross", "gas", "compass")
)

_VERBS: Final = {
    "is": "be",
    "are": "be",
    "was": "be",
    "were": "be",
    "has": "have",
    "had": "have",
    "wears": "wear",
    "wearing": "wear",
    "holding": "hold",
    "holds": "hold",
    "held": "hold",
    "riding": "ride",
    "rides": "ride",
    "sitting": "sit",
    "sits": "sit",
    "standing": "stand",
    "stands": "stand",
    "running": "run",
    "runs": "run",
    "moving": "move",
    "moves": "move",
    "carrying": "carry",
    "carries": "carry",
    "eating": "eat",
    "eats": "eat",
    "parked": "park",
    "hanging": "hang",
    "hangs": "hang",
    "walking": "walk",
    "walks": "walk",
}


def basic_colour(word: str) -> str | None:
    """The basic term of a colour word, None for others."""
    plain = COLOUR_ALIASES.get(word, word)
    return plain if plain in COLOURS else None


def family_of(attribute: str) -> str:
    """Which attributes it excludes on the same pixels: `colour`, `material`, `pattern`, `transparency` or ""."""
    words = attribute.replace("(", " ").replace(")", " ").split()
    last = words[-1] if words else ""
    if "color" in words or "colour" in words or basic_colour(last):
        return "colour"
    if last in TRANSPARENCIES:
        return "transparency"
    if last in MATERIALS:
        return "material"
    return "pattern" if last in PATTERNS else ""


def lemma(word: str) -> str:
    """The dictionary form of one lower-case word: singular of nouns, stem of the few verbs that relations use."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _VERBS:
        return _VERBS[word]
    if word in _KEEP or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]
