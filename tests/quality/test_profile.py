"""The profile of a table, and the figures that follow from it."""

from __future__ import annotations

import datetime
import math

import pytest
from quality_folders import failing, results

from quality.run import check
from schemas import Audio, Bool, CheckSet, Column, Dataset, Date, Float, Label, List, Table, Text

TABLE = Table(
    "items",
    "Items.",
    (
        Column("id", Text(), "Key."),
        Column("score", Float(), "Score.", nullable=True),
        Column("label", Label(("no", "yes", "never")), "Label."),
        Column("flag", Bool(), "Flag.", nullable=True),
        Column("tags", List(Text()), "Tags."),
        Column("sound", Audio(16_000), "Sound.", nullable=True),
        Column("day", Date(), "Day."),
    ),
    key=("id",),
    splits=("train", "test"),
)
DATASET = Dataset("things", "Things", "Things.", (TABLE,))
GROUPS = ("profile",)


def row(number: int, **change) -> dict:
    day = datetime.date(2020, 1, 1 + number % 28)
    made = {"id": f"r{number}", "score": number / 10, "label": number % 2, "flag": number % 3 == 0, "day": day}
    return {**made, "tags": ["a"] * (number % 4), "sound": {"bytes": b"x", "path": None}, **change}


CLEAN = {"train": [row(number) for number in range(60)], "test": [row(number) for number in range(100, 140)]}


def values(report, name: str) -> dict[str, float]:
    return {value.subject: value.value for value in results(report)[f"items.{name}"].figures}


def test_the_profile_is_exact(folder):
    report = check(folder(DATASET, {"items": CLEAN}), CheckSet(), groups=GROUPS)
    found = report.profile["items"]
    assert (found["rows"], found["splits"]) == (100, {"train": 60, "test": 40})
    score = found["columns"]["score"]
    assert (score["nulls"], score["min"], score["max"], sum(score["histogram"])) == (0, 0.0, 13.9, 100)
    assert score["mean"] == pytest.approx(sum(row["score"] for rows in CLEAN.values() for row in rows) / 100)
    assert found["columns"]["label"]["top"] == [["no", 50], ["yes", 50]]
    assert (found["columns"]["tags"]["min"], found["columns"]["tags"]["max"]) == (0, 3)
    assert found["columns"]["day"]["min"] == "2020-01-01"
    assert found["columns"]["sound"] == {
        **found["columns"]["sound"],
        "nulls": 0,
        "distinct": None,
        "top": [],
        "histogram": [],
    }
    assert failing_names(report) == []


def failing_names(report) -> list[str]:
    return [result.name for result in report.results if result.status == "failed"]


def test_missing_values_are_measured_and_a_split_without_them_is_found(folder):
    dirty = {"train": [{**row, "score": None} if number < 12 else row for number, row in enumerate(CLEAN["train"])]}
    report = check(folder(DATASET, {"items": {**CLEAN, **dirty}}), CheckSet(), groups=GROUPS)
    assert values(report, "missing") == {"score": 0.12, "score in train": 0.2, "score in test": 0.0}
    found = results(report)["items.missing_by_split"]
    assert (found.status, found.severity, [id for id, _ in found.examples]) == ("failed", "warn", ["score"])


def test_a_near_constant_column_is_found(folder):
    dirty = {"train": [row(number, score=7.0, flag=None) for number in range(200)]}
    made = folder(DATASET, {"items": dirty})
    report = check(made, CheckSet(), groups=GROUPS)
    assert failing(made)["items.near_constant"] == ["flag", "score"]
    assert results(report)["items.near_constant"].severity == "info"


def test_a_near_constant_column_of_many_values_is_found(folder):
    rows = [row(number, score=1.0 if number % 200 else float(number)) for number in range(3000)]
    made = folder(DATASET, {"items": {"train": rows}})
    report = check(made, CheckSet(), groups=GROUPS)
    assert "score" in failing(made)["items.near_constant"]
    assert values(report, "near_constant")["score"] == pytest.approx(0.995)


def test_class_balance_counts_classes_without_rows_and_splits_that_differ(folder):
    report = check(folder(DATASET, {"items": CLEAN}), CheckSet(), groups=GROUPS)
    balance = values(report, "class_balance")
    assert (balance["label = no"], balance["label = never"]) == (0.5, 0.0)
    dirty = {"train": CLEAN["train"], "test": [{**row, "label": 1} for row in CLEAN["test"]]}
    report = check(folder(DATASET, {"items": dirty}), CheckSet(), groups=GROUPS)
    assert "label in test" in [id for id, _ in results(report)["items.class_by_split"].examples]


def test_values_that_are_no_numbers_do_not_stop_the_profile(folder):
    dirty = {"train": [row(1, score=math.nan), row(2, score=math.inf), row(3, score=2.0)]}
    report = check(folder(DATASET, {"items": dirty}), CheckSet(), groups=("constraints", "profile"))
    score = report.profile["items"]["columns"]["score"]
    assert (score["min"], score["max"]) == (2.0, 2.0)
    assert results(report)["items.score.finite"].failures == 2
