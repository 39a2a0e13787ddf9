"""The bound of an audit, and the promise that the ladder keeps and tuning on the audited sample breaks."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from scipy.stats import beta

from builders.vigor import bounds


@pytest.mark.parametrize(
    ("target", "sizes"),
    [(0.90, [29, 46, 61, 76, 89]), (0.95, [59, 93, 124, 153, 181]), (0.98, [149, 236, 313, 386, 456])],
)
def test_how_many_items_show_a_target(target, sizes):
    assert [bounds.needed(errors, target) for errors in range(5)] == sizes


def test_six_levels_together():
    assert [bounds.needed(errors, 0.95, bounds.shares(6)) for errors in range(5)] == [94, 135, 170, 203, 234]


@pytest.mark.parametrize(("right", "n"), [(0, 5), (1, 1), (59, 59), (58, 59), (170, 181), (300, 300), (3, 400)])
def test_the_bound_is_clopper_and_pearsons(right, n):
    expected = 0.0 if right == 0 else beta.ppf(0.05, right, n - right + 1)
    assert bounds.lower_bound(right, n) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("n", "errors", "turn"), [(59, 0, 1), (70, 0, 1), (120, 3, 2), (40, 40, 1), (200, 9, 3)])
def test_the_table_of_levels_has_the_same_bound(n, errors, turn):
    from builders.vigor.schema import LEVELS_TABLE

    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE groundings AS SELECT 'low' AS level, 'accepted' AS status, 'present' AS truth FROM range(5)"
        )
        con.execute(
            "CREATE TABLE audits AS SELECT 'low' AS level, $turn AS round, i >= $errors AS correct FROM range($n) t(i)"
            " UNION ALL SELECT 'low', $turn - 1, false WHERE $turn > 1",
            {"turn": turn, "errors": errors, "n": n},
        )
        con.execute("CREATE TABLE backtests (level VARCHAR, truths INT, accepted INT, correct INT)")
        row = con.sql(f"SELECT audited, errors, bound, released FROM ({LEVELS_TABLE.derived})").fetchall()[0]
    expected = bounds.lower_bound(n - errors, n, bounds.ALPHAS[turn - 1])
    assert row == (n, errors, pytest.approx(expected, abs=2e-6), expected >= bounds.TARGET)


def test_a_sample_has_one_item_a_picture_and_is_the_same_for_a_seed():
    items = [(f"i{n}", f"p{n // 3}") for n in range(90)]
    one = bounds.draw(items, 20, seed=4)
    assert one == bounds.draw(list(reversed(items)), 20, seed=4)
    assert one != bounds.draw(items, 20, seed=5)
    pictures = dict(items)
    assert len({pictures[item] for item in one}) == 20


def test_the_promise_holds_by_fresh_audits_and_breaks_by_tuning_on_the_audited_sample(capsys):
    kept = bounds.simulate(bounds.ladder, runs=1000)
    broken = bounds.simulate(bounds.greedy, runs=400)
    with capsys.disabled():
        print(
            f"\nsimulated audits, target {bounds.TARGET}: fresh audits break it in {kept.broken:.1%} of 1000 runs"
            f" (released {kept.released:.0%}, yield {kept.yields:.2f}); tuning on the audited sample breaks it in"
            f" {broken.broken:.1%} of 400"
        )
    assert kept.broken <= 0.05
    assert kept.released > 0.5
    assert broken.broken > 0.3


def test_no_threshold_where_nothing_is_good():
    assert bounds.tuned(np.linspace(0, 1, 50), np.zeros(50, bool), 0.95) is None
    assert bounds.lower_bound(0, 10) == 0
    with pytest.raises(ValueError, match="cannot be"):
        bounds.lower_bound(3, 2)
