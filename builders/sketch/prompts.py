"""The questions of the probe.

Temporal: in which order are the parts drawn, asked of a category alone (many shuffles of its parts, for the model's own
variance) and of a drawing that is shown. Every shuffle is asked forwards and backwards, so that a liking for the first
or the last place cancels. Spatial: where is a part, asked of each part of a drawing that is shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

SHUFFLES = 12
"""Of a category's parts; with their reverses, 24 questions."""
SHOWN = 20
"""Drawings of a category that are shown, at most."""
COMMON = 0.1
"""A category's list has the parts that this share of its drawings has."""


def of_category(source: str, category: str, parts: Sequence[str], seed: int) -> Iterator[dict[str, Any]]:
    """Temporal questions without a picture; none for fewer than two parts."""
    if len(parts) < 2:
        return
    for number in range(SHUFFLES):
        for options, own_seed, reverse in _both_ways(parts, seed + number):
            yield {
                "prompt_id": f"temporal/{source}/{category}/{number:02d}{'r' if reverse else ''}",
                "kind": "temporal",
                "source": source,
                "category": category,
                "sketch_id": None,
                "part_index": None,
                "part": None,
                "question": f"A person sketches this: {category}. These are its parts, in no particular order: "
                f"{', '.join(options)}. In which order do people usually draw them? Answer with all of these parts, "
                "from first to last, separated by commas.",
                "options": options,
                "seed": own_seed,
                "reverse": reverse,
            }


def of_sketch(
    source: str,
    category: str,
    sketch_id: str,
    parts: Sequence[tuple[int, str]],
    seed: int,
    *,
    kind: str,
    order: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Questions about a drawing that is shown.

    Args:
        kind: `scene` or `object`; a scene's category is an id and is not said.
        parts: (part_index, name) of those to be found, each name once.
        order: the names whose order is asked for, where there are two or more.
    """
    common = {"source": source, "category": category, "sketch_id": sketch_id}
    subject, things = ("a scene", "objects") if kind == "scene" else (f"this: {category}", "parts")
    for options, own_seed, reverse in _both_ways(sorted(order), seed) if len(order) > 1 else ():
        yield {
            **common,
            "prompt_id": f"temporal/{sketch_id}/{'r' if reverse else 'f'}",
            "kind": "temporal",
            "part_index": None,
            "part": None,
            "question": f"The picture is a sketch of {subject}. These are its {things}, in no particular order: "
            f"{', '.join(options)}. In which order were they most likely drawn? Answer with all of these {things}, "
            "from first to last, separated by commas.",
            "options": options,
            "seed": own_seed,
            "reverse": reverse,
        }
    for index, name in parts:
        yield {
            **common,
            "prompt_id": f"spatial/{sketch_id}/{index}",
            "kind": "spatial",
            "part_index": index,
            "part": name,
            "question": f"The picture is a sketch of {subject}. Where in the sketch is this {things[:-1]}: {name}?",
            "options": [],
            "seed": None,
            "reverse": False,
        }


def chosen(sketch_ids: Sequence[str]) -> list[str]:
    """The drawings to show: the same each time, whatever else there is."""
    return sorted(sketch_ids, key=lambda name: hashlib.sha256(f"shown {name}".encode()).digest())[:SHOWN]


def seed_of(sketch_id: str) -> int:
    """The seed of a drawing's shuffle."""
    return int.from_bytes(hashlib.sha256(f"shuffle {sketch_id}".encode()).digest()[:6], "big")


def _both_ways(parts: Sequence[str], seed: int) -> Iterator[tuple[list[str], int, bool]]:
    order = np.random.default_rng(seed).permutation(len(parts))
    options = [parts[int(index)] for index in order]
    yield options, seed, False
    yield options[::-1], seed, True
