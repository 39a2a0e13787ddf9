"""Balance: the words of a question tell nothing; a skewed set is cut down until they do not."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter

from builders.webspatial.space.audit import audit
from builders.webspatial.space.balance import MOST, Balance, folds
from builders.webspatial.space.planner import Candidate


def candidate(scene, kind, text, options, answer, k):
    marks = {"A": k + 1, "B": k + 2}
    return Candidate(scene, kind, "marks", text, tuple(options), answer, {"k": k}, marks, (), None, 1)


def skewed():
    """As found in the notes: what follows "turn right" is mostly on the left, and one answer prevails."""
    rng = random.Random(0)
    out = []
    for n in range(60):
        for k in range(12):
            turn = rng.choice(["turn right", "turn around"])
            likely = {"turn right": "left", "turn around": "behind"}[turn]
            answer = likely if rng.random() < 0.7 else rng.choice(["front", "right", "behind", "left"])
            options = ["front", "right", "behind", "left"]
            out.append(candidate(f"s{n}", "direction_turn", f"Then you {turn}. Where?", options, answer, k))
    return out


def balanced(every, fold):
    by_scene = {}
    for c in every:
        by_scene.setdefault(c.scene, []).append(c)
    balance = Balance(fold)
    for some in by_scene.values():
        balance.add(some)
    return [c for some in balance.chosen() for c in some]


def as_rows(chosen, fold):
    return [
        {"type": c.kind, "fold": fold[c.scene], "text": c.text, "options": c.options, "answer": c.answer,
         "marks": c.marks, "scene_id": c.scene}
        for c in chosen
    ]  # fmt: skip


def test_a_text_only_model_learns_nothing_from_the_balanced_half():
    every = skewed()
    fold = folds(c.scene for c in every)
    raw = audit(as_rows(every, fold), {})[0]
    assert raw.text_only > 0.6
    even = audit(as_rows(balanced(every, fold), fold), {})[0]
    assert even.questions >= 80
    assert even.text_only == even.majority == even.chance == 0.25


def test_cells_are_exact_and_folds_equal():
    every = skewed()
    fold = folds(c.scene for c in every)
    assert Counter(fold.values()) == {"a": 30, "b": 30}
    cells = Counter((fold[c.scene], c.text, c.answer) for c in balanced(every, fold))
    for half in "ab":
        for text in {c.text for c in every}:
            counts = {cells[half, text, answer] for answer in ("front", "right", "behind", "left")}
            assert len(counts) == 1


def test_an_answer_that_never_occurs_empties_the_cell():
    some = [candidate(f"s{k}", "inside", "Is it?", ["yes", "no"], "no", k) for k in range(10)]
    assert balanced(some, folds(c.scene for c in some)) == []


def test_the_order_of_candidates_does_not_matter():
    every = skewed()
    fold = folds(c.scene for c in every)
    turned = list(reversed(every))
    assert [c.id for c in balanced(every, fold)] == [c.id for c in balanced(turned, fold)]


def test_memory_does_not_grow_with_the_scenes():
    """What is kept of a cell is bounded, whatever the number of scenes that it occurs in."""
    fold = {f"s{n}": "ab"[n % 2] for n in range(2000)}
    balance, sizes = Balance(fold), {}
    tracemalloc.start()
    for n in range(2000):
        answer = "yes" if n % 3 else "no"
        balance.add([candidate(f"s{n}", "inside", "Is it?", ["yes", "no"], answer, k) for k in range(8)])
        if n in (200, 1999):
            sizes[n] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert sizes[1999] < sizes[200] + 5_000
    asked = Counter((fold[some[0].scene], c.answer) for some in balance.chosen() for c in some)
    assert set(asked.values()) == {MOST}
