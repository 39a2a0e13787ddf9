"""Bounds and sample sizes against scipy and published plans."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from quality.annotation.bounds import (
    binomial_cdf,
    clopper_pearson,
    hypergeometric_cdf,
    most_wrong,
    sample_size,
)
from schemas import GoldsmithError

shares = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
lots = st.integers(1, 400).flatmap(
    lambda lot: st.integers(0, lot).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n), st.just(lot), st.integers(0, lot))
    )
)


@settings(max_examples=60, deadline=None)
@given(shares, st.sampled_from([0.8, 0.95, 0.99]))
def test_clopper_pearson_is_scipys(share: tuple[int, int], confidence: float) -> None:
    wrong, judged = share
    found = clopper_pearson(wrong, judged, confidence)
    exact = stats.binomtest(wrong, judged).proportion_ci(confidence, "exact")
    assert found == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert found[0] <= wrong / judged <= found[1]


@settings(max_examples=60, deadline=None)
@given(lots)
def test_the_distributions_are_scipys(lot: tuple[int, int, int, int]) -> None:
    wrong, judged, size, bad = lot
    assert hypergeometric_cdf(wrong, size, bad, judged) == pytest.approx(
        stats.hypergeom.cdf(wrong, size, bad, judged), abs=1e-9
    )
    assert binomial_cdf(wrong, judged, bad / size) == pytest.approx(
        stats.binom.cdf(wrong, judged, bad / size), abs=1e-9
    )


@settings(max_examples=80, deadline=None)
@given(lots)
def test_the_most_wrong_are_the_most_that_are_not_too_unlikely(lot: tuple[int, int, int, int]) -> None:
    wrong, judged, size, _ = lot
    found = most_wrong(wrong, judged, size)
    possible = range(wrong, size - (judged - wrong) + 1)
    likely = [bad for bad in possible if stats.hypergeom.cdf(wrong, size, bad, judged) > 0.05 + 1e-12]
    assert found == max(likely)
    if judged == size:
        assert found == wrong


def test_published_sample_sizes() -> None:
    endless = 10**7
    assert [sample_size(endless, target) for target in (0.05, 0.03, 0.02, 0.01)] == [59, 99, 149, 299]
    assert [sample_size(endless, target, wrong=1) for target in (0.05, 0.02, 0.01)] == [93, 236, 473]
    assert [sample_size(500, target) for target in (0.05, 0.02, 0.01)] == [54, 119, 196]
    assert sample_size(10, 0.05) == 10


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2000), st.floats(0.005, 0.3), st.integers(0, 4))
def test_a_sample_size_is_the_fewest_that_show_the_target(lot: int, target: float, wrong: int) -> None:
    size = sample_size(lot, target, wrong=wrong)
    allowed = int(target * lot + 1e-9)
    enough = [n for n in (size - 1, size) if wrong <= n and most_wrong(wrong, n, lot) <= allowed]
    assert enough in ([size], []) if size == lot else enough == [size]


def test_the_bound_holds_as_often_as_it_says() -> None:
    """Exact coverage, not simulated: over all outcomes of a sample of 40 of 300, for any number of wrong rows."""
    for bad in (3, 15, 40, 120):
        covered = sum(
            stats.hypergeom.pmf(k, 300, bad, 40)
            for k in range(41)
            if k <= 300 - 260 + k and most_wrong(k, 40, 300) >= bad
        )
        assert covered >= 0.95


def test_wrong_arguments() -> None:
    with pytest.raises(GoldsmithError, match=r"write 0\.05, not 5"):
        sample_size(100, 5)
    with pytest.raises(ValueError, match="3 of 2"):
        clopper_pearson(3, 2)
    with pytest.raises(ValueError, match="1 of 0 of 5"):
        most_wrong(1, 0, 5)
    assert clopper_pearson(0, 0) == (0, 1)
