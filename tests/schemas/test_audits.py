"""Declarations of audits that contradict themselves are refused where they are written."""

from __future__ import annotations

from typing import Any

import pytest

from schemas import Attribute, Audit, GoldsmithError, Show

GOOD: dict[str, Any] = {
    "name": "topic",
    "question": "?",
    "kind": "choice",
    "table": "texts",
    "sql": "SELECT 1",
    "shows": (Show("text"),),
    "labels": ("a", "b"),
}


def test_targets_of_strata() -> None:
    audit = Audit(**GOOD, targets=(("hard", 0.2),))
    assert (audit.target("hard"), audit.target("easy")) == (0.2, 0.05)
    assert audit.votes == ("a", "b")
    assert Audit(**{**GOOD, "kind": "pair", "shows": (Show("x"), Show("y")), "labels": ()}).votes == (
        "first",
        "second",
        "tie",
    )


SCORE = Attribute("tone", "?", ("rude", "kind"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ("a",)}, "needs 2 or more"),
        ({"labels": ("a", "a")}, "each once"),
        ({"kind": "rubric"}, "it needs some"),
        ({"rubric": (SCORE,)}, "belong to kind `rubric`"),
        ({"shows": ()}, "name its column"),
        ({"kind": "pair"}, "name its column"),
        ({"kind": "mask"}, "the first must be image"),
        ({"kind": "transcription"}, "the first must be audio"),
        ({"kind": "rubric", "rubric": (SCORE,), "shows": (Show("sound", "audio"),)}, "the first must be text"),
        ({"max_error": 5}, "lie between 0 and 1"),
        ({"targets": (("x", 0.0),)}, "lie between 0 and 1"),
    ],
)
def test_contradictions_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(GoldsmithError, match=message):
        Audit(**{**GOOD, **change})
