"""The gallery's choice: what is kept while pictures come and go is what would be chosen from all rows at once."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import defaultdict

import pytest

from builders.vigor.gallery import MOST, Choice


def rows_of(picture: int, draw: random.Random, most: int) -> list[dict]:
    return [
        {
            "grounding_id": f"{picture}-{number}",
            "image_id": f"image {picture}",
            "level": draw.choice(["low", "object"]),
            "status": draw.choice(["reused", "accepted", "abstained"]),
            "truth": draw.choice(["present", "unknown"]),
            "origin": draw.choice(["reused", "generated"]),
            "counts": draw.choice(["01", None]),
            "box": None,
            "subject_id": None,
            "object_id": None,
        }
        for number in range(draw.randrange(most))
    ]


def from_all(rows: list[dict]) -> list[str]:
    """The same choice with everything at hand."""

    def order(row: dict) -> str:
        return hashlib.sha256(row["grounding_id"].encode()).hexdigest()

    groups: dict = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["counts"] and (row["truth"] == "present" or row["origin"] == "generated"):
            groups[row["level"], row["status"]][row["image_id"]].append(row)
    found: list[str] = []
    for key in sorted(groups):
        pictures = [sorted(group, key=order) for group in groups[key].values()]
        pictures.sort(key=lambda group: order(group[0]))
        turns = [row for turn in itertools.zip_longest(*pictures) for row in turn if row]
        chosen = [group[0] for group in pictures] if key[1] == "accepted" else turns[:MOST]
        found += [row["grounding_id"] for row in chosen]
    return found


@pytest.mark.parametrize(("pictures", "most"), [(3, 40), (12, 10), (200, 8)])
def test_what_is_chosen_piece_by_piece_is_what_is_chosen_from_all(pictures: int, most: int) -> None:
    draw = random.Random(pictures)
    pieces = [rows_of(picture, draw, most) for picture in range(pictures)]
    choice = Choice()
    for piece in pieces:
        choice.add(piece)
    expected = from_all([row for piece in pieces for row in piece])
    assert expected
    assert [shown.row["grounding_id"] for shown in choice.chosen()] == expected


def test_a_relation_is_drawn_by_its_ends_and_pictures_that_cannot_be_chosen_are_let_go() -> None:
    choice = Choice()
    common = {"level": "object", "status": "reused", "truth": "present", "origin": "reused", "box": None}
    for picture in range(500):
        end = {**common, "grounding_id": f"{picture}-end", "image_id": f"{picture}", "counts": "01", "subject_id": None}
        relation = {**end, "grounding_id": f"{picture}-relation", "level": "relation", "counts": None}
        relation |= {"subject_id": f"{picture}-end", "object_id": "elsewhere"}
        choice.add([{**end, "object_id": None}, relation])
    chosen = list(choice.chosen())
    assert len(chosen) == 2 * MOST
    for shown in chosen:
        assert [each["grounding_id"] for each in shown.drawn] == [f"{shown.row['image_id']}-end"]
    assert sum(len(pictures) for pictures in choice._pictures.values()) == 2 * MOST
