"""Texts matched to concepts: longest names, scopes, bearers of properties and both ends of relations."""

from __future__ import annotations

import pytest

from builders.vigor.rationales import Lexicon
from builders.vigor.words import lemma

NAMES = [
    ("object/dog", ["dog", "hound"]),
    ("object/hot dog", ["hot dog"]),
    ("object/cat", ["cat"]),
    ("object/car", ["car"]),
    ("object/man", ["man"]),
    ("object/shirt", ["shirt"]),
    ("object/bench", ["bench"]),
    ("part/ear", ["ear"]),
    ("low/red", ["red"]),
    ("low/striped", ["striped"]),
    ("low/white", ["white"]),
    ("relation/on", ["on"]),
    ("relation/wear", ["wear"]),
    ("relation/left of", ["left of"]),
    ("motion/moving object", ["moving"]),
    ("object/bat (animal)", ["bat"]),
    ("object/bat (sports)", ["bat"]),
]
LEXICON = Lexicon(NAMES)


def _said(text, scope="asserted"):
    return [mention.concept_id for mention in LEXICON.match(text) if mention.scope == scope]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Two dogs and a hot dog.", ["object/dog", "object/hot dog"]),
        ("The hounds' ears", ["object/dog", "part/ear"]),
        ("There is no dog, but a cat.", ["object/cat"]),
        ("A cat without a dog.", ["object/cat"]),
        ("There isn't a dog. A cat is here.", ["object/cat"]),
        ("If a dog were here, the man would run.", []),
        ("Is there a dog?", []),
        ("Perhaps a dog; the cat sleeps.", ["object/cat"]),
        ("The dogmatic catalogue", []),
        ("", []),
        ("Neither a dog nor a cat.", []),
    ],
)
def test_what_a_text_asserts(text, said):
    assert _said(text) == said


def test_scopes_are_told_apart():
    assert _said("There is no dog.", "negated") == ["object/dog"]
    assert _said("Is there a dog?", "question") == ["object/dog"]
    assert _said("It may be a dog.", "hypothetical") == ["object/dog"]


def test_places_are_those_of_the_text():
    text = "A cat sat. Then a hot dog, red."
    assert [text[mention.start : mention.end] for mention in LEXICON.match(text)] == ["cat", "hot dog", "red"]


@pytest.mark.parametrize(
    ("text", "place", "bearer"),
    [
        ("A red car.", 0, 1),
        ("A red and striped shirt.", 0, 2),
        ("The car is red.", 1, 0),
        ("The car is moving.", 1, 0),
        ("The car, and red.", 1, None),
        ("A cat. The white dog.", 1, 2),
    ],
)
def test_a_property_belongs_to_its_noun(text, place, bearer):
    assert LEXICON.match(text)[place].bearer == bearer


def test_a_relation_is_bound_to_both_ends():
    man, wear, red, shirt = LEXICON.match("The man is wearing a red shirt.")
    assert (wear.concept_id, wear.subject, wear.object) == ("relation/wear", 0, 3)
    assert (red.bearer, shirt.scope, man.start) == (3, "asserted", 4)
    on = LEXICON.match("A dog sits on a bench.")[1]
    assert (on.subject, on.object) == (0, 2)
    alone = LEXICON.match("On a bench.")[0]
    assert (alone.subject, alone.object) == (None, 1)


def test_of_two_concepts_with_one_name_the_pictures_own_wins():
    assert LEXICON.match("a bat")[0].concept_id == "object/bat (animal)"
    assert LEXICON.match("a bat", {"object/bat (sports)"})[0].concept_id == "object/bat (sports)"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dogs", "dog"),
        ("boxes", "box"),
        ("glasses", "glass"),
        ("glass", "glass"),
        ("buses", "bus"),
        ("berries", "berry"),
        ("children", "child"),
        ("knives", "knife"),
        ("bus", "bus"),
        ("grass", "grass"),
        ("wearing", "wear"),
    ],
)
def test_lemmas(word, expected):
    assert lemma(word) == expected
