"""Order statistics against permutations counted one by one, and against the model that the sample is drawn from."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.sketch import orders
from builders.sketch.orders import borda, kemeny, measure, precedes
from builders.sketch.sample_model import THINGS


def contradictions(before: np.ndarray, order: tuple[int, ...]) -> int:
    """Counts that an order contradicts, one pair at a time."""
    return sum(int(before[later, earlier]) for earlier, later in itertools.combinations(order, 2))


def best(before: np.ndarray) -> tuple[int, ...]:
    """The first of the orders that contradict least, all of them tried."""
    return min(itertools.permutations(range(len(before))), key=lambda order: (contradictions(before, order), order))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**31))
def test_the_search_over_subsets_finds_the_best_of_all_orders(k: int, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 4, (3, k, k))
    counts[:, range(k), range(k)] = 0
    assert [tuple(order) for order in kemeny(counts)] == [best(each) for each in counts]


def test_eight_parts_are_exact() -> None:
    counts = np.random.default_rng(1).integers(0, 9, (1, 8, 8))
    counts[:, range(8), range(8)] = 0
    assert tuple(kemeny(counts)[0]) == best(counts[0])


def test_more_parts_take_bordas_order_and_say_so() -> None:
    names = "abcdefghij"
    found = measure([tuple(names)] * 3, 1)
    assert not found.exact
    assert found.kemeny == found.borda == tuple(range(10))


def test_kemeny_and_borda_by_hand() -> None:
    # a before b in 4 of 4, b before c in 3 of 4, c before a in 3 of 4: a cycle, which is broken at its weakest.
    before = np.array([[0, 4, 1], [0, 0, 3], [3, 1, 0]])
    assert tuple(kemeny(before[None])[0]) == (0, 1, 2)  # contradicts 3 (c before a) + 1 (c before b): 4
    assert contradictions(before, (0, 1, 2)) == 4
    assert tuple(borda(before[None])[0]) == (0, 2, 1)  # first in 5, 3, 4 of 8


def test_counts_and_entropy_by_hand() -> None:
    drawings = [("a", "b")] * 30 + [("b", "a")] * 10 + [("a",)] * 5 + [("c", "b")] * 3
    found = measure(drawings, 7)
    assert found.parts == ("a", "b", "c")
    assert (found.drawings, found.comparable) == (48, 43)
    assert found.before.tolist() == [[0, 30, 0], [10, 0, 0], [0, 3, 0]]
    assert found.alone.tolist() == [[0, 5, 45], [3, 0, 40], [3, 0, 0]]
    assert found.presence.tolist() == [45 / 48, 43 / 48, 3 / 48]
    quarter = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert found.entropy == pytest.approx(quarter)  # c is with b in three drawings alone: not counted
    assert found.kemeny == (0, 2, 1)
    assert found.fits == pytest.approx(33 / 43)
    assert found.agreement[0, 1] == 1.0


def test_a_coin_is_not_resolved_and_a_fixed_order_is() -> None:
    coin = measure([("a", "b"), ("b", "a")] * 50, 3)
    assert coin.entropy == pytest.approx(1)
    assert 0.3 < coin.agreement[0, 1] < 0.7
    assert abs(coin.human_tau or 1) < 0.15
    fixed = measure([("b", "a")] * 100, 3)
    assert (fixed.entropy, fixed.human_tau, fixed.human_tau_sd, fixed.stability) == (0, 1, 0, 1)
    assert fixed.kemeny == (1, 0)
    assert fixed.agreement[0, 1] == fixed.agreement[1, 0] == 1


def test_too_few_drawings_have_no_ceiling() -> None:
    found = measure([("a", "b")] * (orders.ENOUGH - 1), 3)
    assert (found.human_tau, found.stability, found.entropy) == (None, None, None)


def test_a_single_part_and_single_drawings_do_no_harm() -> None:
    found = measure([("a",), ("a",)], 1)
    assert (found.kemeny, found.fits, found.entropy, found.comparable) == ((0,), None, None, 0)
    assert measure([("a", "b")], 1).kemeny == (0, 1)


def test_the_held_out_tau_is_that_of_drawings_one_by_one() -> None:
    rng = random.Random(5)
    drawings = [tuple(THINGS["fish"].draw_order(rng)) for _ in range(41)]
    found = measure(drawings, 11)
    generator = np.random.default_rng(11)
    halves = np.argsort(generator.random((orders.HALVES, 41)), axis=1) < 20
    number = {part: index for index, part in enumerate(found.parts)}
    means = []
    for half in halves:
        before = np.zeros((5, 5), int)
        for drawing in itertools.compress(drawings, half):
            for one, other in itertools.combinations(drawing, 2):
                before[number[one], number[other]] += 1
        place = {found.parts[part]: turn for turn, part in enumerate(best(before))}
        taus = []
        for drawing in itertools.compress(drawings, ~half):
            signs = [1 if place[one] < place[other] else -1 for one, other in itertools.combinations(drawing, 2)]
            taus.append(sum(signs) / len(signs))
        means.append(sum(taus) / len(taus))
    assert found.human_tau == pytest.approx(sum(means) / len(means))
    assert found.human_tau_sd == pytest.approx(np.std(means))


def test_the_same_drawings_give_the_same_numbers_and_their_order_does_not_matter_to_counts() -> None:
    rng = random.Random(2)
    drawings = [tuple(THINGS["car"].draw_order(rng)) for _ in range(50)]
    one, again, turned = measure(drawings, 4), measure(drawings, 4), measure(drawings[::-1], 4)
    assert (one.agreement == again.agreement).all()
    assert (one.human_tau, one.kemeny) == (again.human_tau, again.kemeny)
    assert (one.before == turned.before).all()
    assert one.kemeny == turned.kemeny


def test_precedes_is_one_where_the_row_comes_first() -> None:
    assert precedes(np.array([[2, 0, 1]]))[0].tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize("name", THINGS)
def test_what_is_measured_is_what_the_model_says(name: str) -> None:
    """2,000 drawings: precedence within five standard errors, entropy within .03, and the model's order."""
    thing, rng = THINGS[name], random.Random(3)
    found = measure([thing.draw_order(rng) for _ in range(2000)], 1)
    for a, b in itertools.combinations(range(len(found.parts)), 2):
        n, truth = found.together[a, b], thing.precedence(found.parts[a], found.parts[b])
        assert abs(found.before[a, b] / n - truth) < 5 * math.sqrt(truth * (1 - truth) / n) + 1e-9
    pairs = [thing.precedence(one, other) for one, other in itertools.combinations(thing.order, 2)]
    expected = np.mean([-(p * math.log2(p) + (1 - p) * math.log2(1 - p)) for p in pairs])
    assert found.entropy == pytest.approx(expected, abs=0.03)
    if thing.ratio > 1:
        assert [found.parts[index] for index in found.kemeny] == thing.order
        assert found.agreement[np.triu_indices(len(found.parts), 1)].min() >= orders.SURE
    else:
        assert found.human_tau == pytest.approx(0, abs=0.1)


def test_parts_that_are_missing_late_are_bounded() -> None:
    """Drawings that stop before the last part: pairs that are left agree with the model only as a mixture, and the
    share that counts missing parts as late lies on the other side of the truth."""
    thing, rng = THINGS["car"], random.Random(8)
    drawings = [thing.draw_order(rng) for _ in range(3000)]
    stopped = [drawing[:-1] if len(drawing) > 2 else drawing for drawing in drawings]
    whole, found = measure(drawings, 1), measure(stopped, 1)
    a, b = (found.parts.index(part) for part in (thing.order[0], thing.order[-1]))
    seen = found.before[a, b] / found.together[a, b]
    late = (found.before[a, b] + found.alone[a, b]) / (found.together[a, b] + found.alone[a, b] + found.alone[b, a])
    truth = whole.before[a, b] / whole.together[a, b]
    assert seen < truth - 0.02
    assert abs(late - truth) < abs(seen - truth)


def test_of_pairs_that_are_a_coin_one_in_ten_is_resolved() -> None:
    rng, found = random.Random(0), []
    for seed in range(40):
        agreement = measure([rng.sample("abcd", 4) for _ in range(46)], seed).agreement
        found += (agreement[np.triu_indices(4, 1)] >= orders.SURE).tolist()
    assert 0.02 < np.mean(found) < 0.2
