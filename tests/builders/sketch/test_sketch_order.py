"""The order readout on cases with known answers, and models that must fail one of its three measures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from builders.sketch.scoring.order import CONTROLS, Category, Said, entropy, readout, score_orders, tau
from builders.sketch.scoring.truth import People

PARTS = ("a", "b", "c", "d")


def person(name, share=0.9, ceiling=0.8, resolved=True, parts=PARTS):
    """People who draw each part before every later one with this share."""
    pairs = dict.fromkeys(itertools.combinations(parts, 2), (share, 100))
    return People(name, tuple(parts), resolved, ceiling, pairs)


def said(category, orders, options=PARTS):
    return [Said(category, tuple(order), tuple(options)) for order in orders]


def of(report, name="model"):
    return next(each for each in report.readouts if each.name == name)


def values(report, name="model"):
    return {measure: value.value for measure, value in of(report, name).values.items()}


@pytest.mark.parametrize(
    ("order", "other", "expected"),
    [
        ("abcd", "abcd", 1.0),
        ("dcba", "abcd", -1.0),
        ("abdc", "abcd", 1 - 2 / 6),
        ("acx", "abc", 1.0),
        ("ca", "abc", -1.0),
        ("ax", "abc", None),
        ("", "abc", None),
    ],
)
def test_tau_by_hand(order, other, expected):
    assert tau(order, other) == (None if expected is None else pytest.approx(expected))


@given(st.permutations(range(7)), st.permutations(range(7)))
def test_tau_is_that_of_scipy(one, other):
    names = [str(part) for part in one], [str(part) for part in other]
    places = [[order.index(part) for part in range(7)] for order in (one, other)]
    assert tau(*names) == pytest.approx(kendalltau(*places).statistic)


def test_entropy_by_hand():
    assert [entropy(share) for share in (0, 1, 0.5, 0.25)] == pytest.approx([0, 0, 1, 0.811278], abs=1e-6)


def test_tau_against_the_ceiling_of_stable_categories_alone():
    known = {"x": person("x", ceiling=0.5), "y": person("y", resolved=False), "z": person("z", ceiling=1.0)}
    orders = [*said("x", ["abcd"]), *said("y", ["dcba"]), *said("z", ["abcd", "dcba"])]
    found = values(score_orders(orders, known, []))
    assert found["tau"] == pytest.approx((1 - 1 + 0) / 3)
    assert found["tau_stable"] == pytest.approx((1 + 0) / 2)
    assert found["of_ceiling"] == pytest.approx((1 + 0) / (0.5 + 1.0))


def test_a_model_that_is_as_unsure_as_people():
    """25 answers: in 20 the canonical order, in 5 its reverse: .8 for each pair, people .8."""
    orders = said("x", ["abcd"] * 20 + ["dcba"] * 5)
    found = values(score_orders(orders, {"x": person("x", share=0.8)}, []))
    assert found["difference"] == pytest.approx(0)
    assert found["entropy_difference"] == pytest.approx(0)
    assert found["tau"] == pytest.approx(0.6)


def sure_and_unsure():
    shares = {"w": 0.95, "x": 0.85, "y": 0.7, "z": 0.55}
    return shares, {name: person(name, share=share) for name, share in shares.items()}


def test_a_model_that_always_says_the_canonical_order_fails_where_people_are_unsure():
    """Tau 1 everywhere; but its pairs are .05 to .45 away, and its entropy says nothing of people's."""
    shares, known = sure_and_unsure()
    orders = [each for name in shares for each in said(name, ["abcd"] * 25)]
    report = score_orders(orders, known, [])
    found = values(report)
    assert found["tau"] == 1
    assert found["of_ceiling"] > 1
    assert found["difference"] == pytest.approx(np.mean([1 - share for share in shares.values()]))
    assert found["entropy_difference"] == pytest.approx(np.mean([entropy(share) for share in shares.values()]))
    assert "entropy_rho" not in found
    assert "correlation" not in found
    assert values(report, "canonical") == found


def test_a_model_that_follows_people_has_both_correlations():
    shares, known = sure_and_unsure()
    orders = []
    for name, share in shares.items():
        orders += said(name, ["abcd"] * round(100 * share) + ["dcba"] * round(100 * (1 - share)))
    found = values(score_orders(orders, known, []))
    assert found["correlation"] == pytest.approx(1)
    assert found["entropy_rho"] == pytest.approx(1)
    assert found["difference"] == pytest.approx(0, abs=1e-9)


def test_pairs_with_few_answers_do_not_count():
    report = score_orders(said("x", ["abcd"] * 19), {"x": person("x")}, [])
    assert of(report).pairs == 0
    assert set(values(report)) == {"tau", "tau_stable", "of_ceiling"}
    assert of(score_orders(said("x", ["abcd"] * 20), {"x": person("x")}, [])).pairs == 6


def test_controls_by_hand():
    """One drawing: d is largest and lowest; b is highest and smallest."""
    layouts = [
        ("s", "x", "a", 20.0, 100.0),
        ("s", "x", "b", 10.0, 10.0),
        ("s", "x", "c", 30.0, 200.0),
        ("s", "x", "d", 40.0, 300.0),
    ]
    order = Said("x", ("d", "b", "a", "c"), ("c", "a", "b", "d"), "s")
    report = score_orders([order], {"x": person("x")}, layouts)
    assert {each.name for each in report.readouts} == {"model", *CONTROLS}
    found = {each.name: each.values["tau"].value for each in report.readouts}
    assert found["alphabetical"] == 1
    assert found["listed"] == pytest.approx(tau("cabd", "abcd"))
    assert found["size"] == pytest.approx(tau("dcab", "abcd"))
    assert found["top_to_bottom"] == pytest.approx(tau("bacd", "abcd"))
    assert found["canonical"] == 1
    assert found["model"] == pytest.approx(tau("dbac", "abcd"))


def test_where_no_drawing_was_shown_the_mean_drawing_counts():
    layouts = [(name, "x", part, size, 0.0) for name, sizes in {"s": (9, 1), "t": (1, 3)}.items()
               for part, size in zip("ab", sizes, strict=True)]  # fmt: skip
    report = score_orders([Said("x", ("b", "a"), ("b", "a"))], {"x": person("x", parts=("a", "b"))}, layouts)
    assert values(report, "size")["tau"] == 1


def test_a_model_that_repeats_the_list_is_seen():
    """Lists come in pairs, a shuffle and its reverse: repeating them gives bias 1, and tau 0 to people."""
    rng = np.random.default_rng(0)
    orders = []
    for _ in range(12):
        options = tuple(rng.permutation(PARTS))
        for each in (options, options[::-1]):
            orders.append(Said("x", each, each))
    report = score_orders(orders, {"x": person("x")}, [])
    assert report.bias is not None
    assert report.bias.value == 1
    assert values(report)["tau"] == pytest.approx(0)
    assert values(report) == values(report, "listed")


def test_answers_that_are_no_order_are_counted_by_reason():
    orders = [Said("x", None, PARTS, None, "no_list"), Said("x", None, PARTS, None, "no_list"), *said("x", ["abcd"])]
    report = score_orders([*orders, *said("other", ["abcd"])], {"x": person("x")}, [])
    assert report.unread == {"no_list": 2}
    assert (report.answers, report.without) == (4, 1)
    assert score_orders(orders[:2], {"x": person("x")}, []).readouts == ()


def test_intervals_resample_categories():
    """Half of the categories right, half reversed: each is sure of itself, their mean is not."""
    known = {str(number): person(str(number)) for number in range(10)}
    orders = [each for name in known for each in said(name, ["abcd" if int(name) % 2 else "dcba"] * 25)]
    value = of(score_orders(orders, known, [])).values["tau"]
    assert value.value == 0
    assert -0.8 < value.low < -0.3
    assert 0.3 < value.high < 0.8


def test_rank_correlation_is_that_of_scipy_also_with_ties():
    rng = np.random.default_rng(0)
    both = rng.integers(0, 6, (12, 2)) / 6
    found = readout("model", [Category(str(n), 1, 0.0, None, False, (), tuple(each)) for n, each in enumerate(both)])
    assert found.values["entropy_rho"].value == pytest.approx(spearmanr(*both.T).statistic)
    assert set(found.values) == {"tau", "entropy_rho", "entropy_difference"}
