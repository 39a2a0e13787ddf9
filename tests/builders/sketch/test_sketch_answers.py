"""The strict parser of generated orders: every way of writing a list, and texts that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.sketch.probing.answers import REASONS, read_order

PARTS = ("head", "body", "left wing", "tail")
ORDER = ("body", "head", "tail", "left wing")
FORMS = {
    "commas": "body, head, tail, left wing",
    "and": "Body, head, tail and left wing.",
    "comma and": "body, head, tail, and left wing",
    "lead": "They are drawn in this order: body, head, tail, left wing.",
    "numbers": "1. Body\n2. Head\n3. Tail\n4. Left wing",
    "lead and numbers": "Here is the order:\n\n1) **body**\n2) **head**\n3) **tail**\n4) **left wing**",
    "one line": "1. body 2. head 3. tail 4. left wing",
    "one line, commas": "1. body, 2. head, 3. tail, 4. left wing",
    "bullets": "- the body\n- the head\n- the tail\n- the left wing",
    "arrows": "body -> head -> tail -> left wing",
    "json": '["body", "head", "tail", "left wing"]',
    "fenced": '```json\n["body", "head", "tail", "left wing"]\n```',
    "semicolons": "body; head; tail; left_wing",
    "plain lines": "body\nhead\ntail\nleft wing\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_list_is_read(text):
    assert read_order(text, PARTS).order == ORDER


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("I cannot tell.", "no_list"),
        ("[1, 2, 3, 4]", "no_list"),
        ('["body", "head"', "no_list"),
        ("First the body, then the head, then the tail, then the left wing", "unknown_part"),
        ("body, head, tail, right wing", "unknown_part"),
        ("The body, which is round, head, tail, left wing", "unknown_part"),
        ("body, head, tail", "missing_part"),
        ("body, head, tail, body", "repeated_part"),
        ("body, head, tail, left wing, body", "repeated_part"),
        ("1. body\n2. head\n3. tail\n4. left wing\nThis is how people draw.", "unknown_part"),
    ],
)
def test_what_is_no_list_of_the_parts_is_no_order(text, why):
    answer = read_order(text, PARTS)
    assert answer.order is None
    assert answer.why == why
    assert why in REASONS


def test_a_part_named_like_a_joint_of_others_is_that_part():
    assert read_order("bread and butter, plate", ["plate", "bread and butter"]).order == ("bread and butter", "plate")
    assert read_order("plate, bread and butter", ["plate", "bread and butter"]).order == ("plate", "bread and butter")


def test_a_single_part_is_its_own_order():
    assert read_order("The handle.", ["handle"]).order == ("handle",)


WORD = st.text("bcdfghklmnoprstuw", min_size=2, max_size=8)
NAMES = st.lists(
    st.builds(lambda words: " ".join(words), st.lists(WORD, min_size=1, max_size=2)),
    min_size=2,
    max_size=8,
    unique=True,
)


@given(NAMES, st.randoms(use_true_random=False), st.sampled_from(range(6)))
def test_what_is_written_is_read_again(names, random, form):
    order = list(names)
    random.shuffle(order)
    texts = (
        ", ".join(order),
        "\n".join(f"{n}. {name.title()}" for n, name in enumerate(order, 1)),
        " -> ".join(order) + ".",
        json.dumps(order),
        "Order: " + ", ".join(order[:-1]) + " and " + order[-1],
        "\n".join(f"* the {name}" for name in order),
    )
    if any(name in {"and", "the"} for name in " ".join(order).split()):
        return
    assert read_order(texts[form], names).order == tuple(order)


@given(st.text(max_size=200), NAMES)
def test_any_text_is_an_order_of_exactly_the_parts_or_has_a_reason(text, names):
    answer = read_order(text, names)
    if answer.order is None:
        assert answer.why in REASONS
    else:
        assert sorted(answer.order) == sorted(names)
        assert answer.why == ""
