"""The Vendi Anomaly Score against brute force: eigenvalues of the kernel with and without each row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.anomalies.vendi import Spectrum, leave_one_out


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def diversity(rows: np.ndarray) -> float:
    shares = np.linalg.eigvalsh(rows @ rows.T / len(rows))
    shares = shares[shares > 1e-15]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def brute(rows: np.ndarray) -> np.ndarray:
    return np.array([diversity(rows) - diversity(np.delete(rows, index, 0)) for index in range(len(rows))])


@pytest.mark.parametrize(
    ("n", "d", "decay"), [(2, 3, 0), (5, 10, 0), (60, 10, 0), (80, 200, 0), (300, 32, 1), (120, 4, 2)]
)
def test_scores_are_those_of_brute_force(n, d, decay):
    draw = np.random.default_rng(n * d)
    rows = unit(draw.standard_normal((n, d)) / np.arange(1, d + 1) ** decay)
    assert np.abs(leave_one_out(rows) - brute(rows)).max() < 1e-8


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.integers(1, 8), st.integers(1, 4))
def test_repeated_and_orthogonal_rows(seed, n, d, kinds):
    """Few different rows, many times: ranks fall when the only one of a kind leaves."""
    draw = np.random.default_rng(seed)
    rows = unit(np.vstack([draw.standard_normal((kinds, d)), np.eye(d)]))[draw.integers(0, kinds + d, n)]
    assert np.abs(leave_one_out(rows) - brute(rows)).max() < 1e-8


def test_one_of_its_kind_is_strangest_and_alike_rows_score_alike():
    rows = np.eye(3)[[0] * 9 + [1] * 9 + [2]]
    scores = leave_one_out(rows)
    assert scores.argmax() == 18
    assert scores[18] > 0 > scores[0]
    assert np.ptp(scores[:9]) < 1e-12
    assert leave_one_out(np.ones((4, 1))) == pytest.approx([0] * 4, abs=1e-9)


def test_blocks_do_not_matter_and_fewer_than_two_rows_have_no_score():
    rows = unit(np.random.default_rng(3).standard_normal((100, 6)))
    assert leave_one_out(rows, block=7) == pytest.approx(leave_one_out(rows), abs=1e-13)
    spectrum = Spectrum.of(lambda: [rows])
    assert spectrum.diversity == pytest.approx(diversity(rows))
    with pytest.raises(ValueError, match="1 rows"):
        leave_one_out(rows[:1])
