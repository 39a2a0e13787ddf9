"""What changed since an earlier release: each figure moves for its own change and for no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quality_folders import failing, results

from quality.drift import stability
from quality.run import check
from schemas import CheckSet, Column, Dataset, Float, Label, Table, Text

TABLE = Table(
    "items",
    "Items.",
    (
        Column("id", Text(), "Key."),
        Column("score", Float(), "Score.", nullable=True),
        Column("label", Label(("no", "yes")), "Label."),
    ),
    key=("id",),
)
DATASET = Dataset("things", "Things", "Things.", (TABLE,))
BEFORE = [{"id": f"r{number}", "score": (number * 37 % 100) / 10, "label": number % 2} for number in range(100)]
NAMES = ("rows_gone", "drift_rows", "drift_missing", "drift_mean", "drift_psi", "drift_classes")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BEFORE, set()),
        ([*BEFORE, {"id": "new", "score": 5.0, "label": 0}], set()),
        (BEFORE[1:], {"rows_gone"}),
        (BEFORE[:50], {"rows_gone", "drift_rows"}),
        ([{**row, "score": None} if n % 10 == 0 else row for n, row in enumerate(BEFORE)], {"drift_missing"}),
        ([{**row, "score": row["score"] + 3} for row in BEFORE], {"drift_mean", "drift_psi"}),
        ([{**row, "score": 5 + (row["score"] - 5) / 10} for row in BEFORE], {"drift_psi"}),
        ([{**row, "label": int(n % 4 == 0)} for n, row in enumerate(BEFORE)], {"drift_classes"}),
    ],
    ids=["same", "a row more", "a row less", "half", "missing", "shifted", "narrowed", "classes"],
)
def test_each_change_moves_its_own_figure(folder, after, expected):
    previous = folder(DATASET, {"items": {"train": BEFORE}})
    made = folder(DATASET, {"items": {"train": after}})
    report = check(made, CheckSet(), previous=previous, groups=("drift",))
    failed = {result.name.removeprefix("items.") for result in report.results if result.status == "failed"}
    assert failed == expected
    assert report.passed


def test_rows_gone_are_all_named(folder):
    previous = folder(DATASET, {"items": {"train": BEFORE}})
    made = folder(DATASET, {"items": {"train": BEFORE[2:]}})
    check(made, CheckSet(), previous=previous, groups=("drift",))
    assert failing(made)["items.rows_gone"] == ["r0", "r1"]


def test_without_an_earlier_release_nothing_is_compared(folder):
    report = check(folder(DATASET, {"items": {"train": BEFORE}}), CheckSet(), groups=("drift",))
    assert results(report)["drift"].why == "no earlier release was given"


def test_a_new_table_is_not_compared(folder):
    other = Table("others", "Others.", (Column("id", Text(), "Key."),), key=("id",))
    previous = folder(DATASET, {"items": {"train": BEFORE}})
    both = Dataset("things", "Things", "Things.", (TABLE, other))
    made = folder(both, {"items": {"train": BEFORE}, "others": {"train": [{"id": "a"}]}})
    report = check(made, CheckSet(), previous=previous, groups=("drift",))
    assert {results(report)[f"others.{name}"].status for name in NAMES} == {"not_applicable"}


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=10))
def test_stability_is_nothing_for_equal_counts_and_never_negative(counts):
    assert stability(counts, counts) == 0
    assert stability(counts, counts[::-1]) >= 0
