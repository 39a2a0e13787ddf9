"""Dawid and Skene's model and alpha against the libraries themselves, on random data with missing answers.

These need the libraries (`pip install '.[oracles]'`), and skip without. With what crowd-kit said once
(golden/oracles.json) and with the algorithm of the paper, written down plainly here, they are compared everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_agreement import CASES, LEVELS, alpha

from quality.annotation.consensus import STEPS, Consensus, dawid_skene

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

Vote = tuple[str, str, str]

FLOOR = 1e-10
"""What crowd-kit takes a probability of zero for; so does the model."""


def listed(answers: Sequence[Sequence[int | None]]) -> list[Vote]:
    return [
        (str(item), f"a{person}", str(label))
        for person, line in enumerate(answers)
        for item, label in enumerate(line)
        if label is not None
    ]


votes_of = st.integers(2, 5).flatmap(
    lambda people: st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=people, max_size=people), min_size=3, max_size=25
    )
).map(lambda items: listed([list(line) for line in zip(*items, strict=True)])).filter(bool)  # fmt: skip


def paper(
    votes: Sequence[Vote], steps: int, known: Mapping[str, str] | None = None
) -> tuple[dict[str, dict[str, float]], list[dict[str, float]]]:
    """Dawid and Skene (1979), equations 2.3 to 2.5, begun from the shares of votes; no matrix, no logarithm.

    The probabilities of each item, and for each vote the same without its factor.
    """
    known = known or {}
    items, people = ({vote[place] for vote in votes} for place in (0, 1))
    labels = sorted({label for _, _, label in votes} | set(known.values()))
    given_by = {who: sorted({label for _, person, label in votes if person == who}) for who in people}
    of_item = {item: [vote for vote in votes if vote[0] == item] for item in items}
    truth = {item: one_of({t: sum(vote[2] == t for vote in said) for t in labels}) for item, said in of_item.items()}
    truth |= {item: one_of({t: t == known[item] for t in labels}) for item in items if item in known}
    others: list[dict[str, float]] = []
    for _ in range(steps):
        share = {t: max(FLOOR, sum(truth[item][t] for item in items) / len(items)) for t in labels}
        error: dict[tuple[str, str, str], float] = {}
        for who in people:
            for t in labels:
                counts = {
                    said: max(FLOOR, math.fsum(truth[item][t] for item, *vote in votes if vote == [who, said]))
                    for said in given_by[who]
                }
                error |= {(who, said, t): p for said, p in one_of(counts).items()}

        def likely(said: Sequence[Vote], share: Any = share, error: Any = error) -> dict[str, float]:
            return one_of({t: share[t] * math.prod(error[who, label, t] for _, who, label in said) for t in labels})

        truth = {item: truth[item] if item in known else likely(said) for item, said in of_item.items()}
        others = [likely([other for other in of_item[vote[0]] if other is not vote]) for vote in votes]
    return truth, others


def one_of(weights: Mapping[str, float]) -> dict[str, float]:
    """As probabilities."""
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def crowd_kit(votes: Sequence[Vote], steps: int, known: Mapping[str, str] | None = None) -> dict[str, dict[str, float]]:
    pandas = pytest.importorskip("pandas")
    library = pytest.importorskip("crowdkit.aggregation.classification", reason="crowd-kit is not installed")
    fitted = library.DawidSkene(n_iter=steps, tol=-math.inf).fit(
        pandas.DataFrame(votes, columns=["task", "worker", "label"]), pandas.Series(known) if known else None
    )
    return {item: dict(row) for item, row in fitted.probas_.iterrows()}


def compare(found: Consensus, theirs: Mapping[str, Mapping[str, float]]) -> int:
    """Every probability is theirs, and so is the label, or the first of those as likely; how many labels were compared.

    Ours ties what is within 1e-9; both sides are exact to about as much, so between 1e-10 and 1e-8 either may be named.
    """
    clear = 0
    assert set(found.items) == set(theirs)
    for index, item in enumerate(found.items):
        expected = np.array([theirs[item].get(label, 0.0) for label in found.labels])
        assert found.posterior[index] == pytest.approx(expected, abs=1e-9)
        assert found.posterior[index].sum() == pytest.approx(1)
        label, confidence = found.label(index)
        assert confidence == pytest.approx(expected.max(), abs=2e-9)
        equal, near = (
            [name for name, p in zip(found.labels, expected, strict=True) if p > expected.max() - within]
            for within in (1e-10, 1e-8)
        )
        clear += len(near) == 1
        assert label in near
        if equal == near:
            assert label == near[0]
    return clear


@pytest.mark.parametrize("steps", CASES[0]["dawid_skene"])
def test_dawid_skene_is_what_crowd_kit_said(steps: str) -> None:
    """30 recorded cases, 1057 items; five labels are declared, of which some cases have two."""
    clear = 0
    for case in CASES:
        found = dawid_skene(listed(case["answers"]), list("01234"), steps=int(steps))
        clear += compare(found, case["dawid_skene"][steps])
    assert clear > 900


@settings(max_examples=25, deadline=None)
@given(votes_of, st.integers(1, 12))
def test_dawid_skene_is_crowd_kit_s(votes: list[Vote], steps: int) -> None:
    found = dawid_skene(votes, list("0123"), steps=steps)
    compare(found, crowd_kit(votes, found.steps))


NEARLY_EVEN = [("2", "a0", "1"), ("3", "a0", "0"), ("0", "a1", "0"), ("1", "a1", "0"), ("3", "a1", "1")]


@example(NEARLY_EVEN, 3)  # item 3 is of both labels to 1.6e-9
@settings(max_examples=25, deadline=None)
@given(votes_of, st.integers(1, 12))
def test_dawid_skene_is_the_paper_s(votes: list[Vote], steps: int) -> None:
    found = dawid_skene(votes, list("0123"), steps=steps)
    truth, others = paper(votes, found.steps)  # ours ends earlier where a step changes nothing, to 1e-10
    compare(found, truth)
    expected = [[other.get(label, 0.0) for label in found.labels] for other in others]
    assert found.others == pytest.approx(np.array(expected), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(votes_of, st.integers(1, 12), st.data())
def test_with_gold_it_is_crowd_kit_s_with_true_labels(votes: list[Vote], steps: int, data: st.DataObject) -> None:
    """Of two thirds of the items or more, so that others do not count less in the first step; see `_first_weights`."""
    items = sorted({item for item, _, _ in votes})
    seen = sorted({label for _, _, label in votes})
    golds = data.draw(st.integers(math.ceil(2 * len(items) / 3), len(items)))
    known = {item: data.draw(st.sampled_from(seen)) for item in items[:golds]}
    found = dawid_skene(votes, list("0123"), known, steps=steps)
    compare(found, paper(votes, found.steps, known)[0])
    compare(found, crowd_kit(votes, found.steps, known))


@pytest.mark.parametrize("golds", [0, 3])
def test_it_ends_where_the_paper_s_steps_change_nothing(golds: int) -> None:
    """Begun with few gold items, the first step is another; where it comes to rest is a rest of crowd-kit's steps."""
    pandas = pytest.importorskip("pandas")
    library = pytest.importorskip("crowdkit.aggregation.classification", reason="crowd-kit is not installed")
    rested = 0
    for case in CASES:
        votes = listed(case["answers"])
        known = dict(list({item: label for item, _, label in votes}.items())[:golds])
        found = dawid_skene(votes, list("01234"), known)
        rested += found.steps < STEPS
        frame = pandas.DataFrame(votes, columns=["task", "worker", "label"])
        there = sorted({label for _, _, label in votes})
        columns = [found.labels.index(label) for label in there]
        probabilities = pandas.DataFrame(found.posterior[:, columns], index=found.items, columns=there)
        errors = library.DawidSkene._m_step(frame, probabilities)
        again = library.DawidSkene._e_step(frame, probabilities.mean(), errors).loc[found.items, there].to_numpy()
        free = [item not in known for item in found.items]
        assert again[free] == pytest.approx(found.posterior[:, columns][free], abs=1e-8)
    assert rested == len(CASES)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda people: st.lists(
            st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=12, max_size=12),
            min_size=people,
            max_size=people,
        )
    )
)
def test_alpha_is_krippendorff_s(answers: list[list[int | None]]) -> None:
    library = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    table = np.array([[math.nan if x is None else x for x in line] for line in answers])
    for level in LEVELS:
        ours = alpha(answers, level)
        try:
            theirs: Any = library.alpha(table, level_of_measurement=level)
        except ValueError:  # it refuses where there is one label only, and where nothing is answered
            theirs = math.nan
        assert math.isnan(ours) or ours == pytest.approx(theirs, abs=1e-9)
        assert math.isnan(ours) <= (math.isnan(theirs) or len({*np.unique(table[~np.isnan(table)])}) < 2)
