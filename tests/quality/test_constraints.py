"""Constraints: every kind fires on a planted value and stays silent on its clean twin."""

from __future__ import annotations

import datetime
import math
import re
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from quality_folders import failing, results, write_folder

from quality.run import check
from schemas import (
    Bool,
    CheckSet,
    Column,
    Dataset,
    Date,
    Float,
    GoldsmithError,
    Image,
    Int,
    Json,
    Label,
    List,
    Struct,
    Table,
    Text,
)

GROUPS = ("constraints",)
SPAN = List(Struct({"start": Int(32), "score": Float(), "label": Label(("a", "b")), "note": Json()}))
COLUMNS = (
    Column("text", Text(), "Text.", minimum=2, maximum=4, pattern="[a-zé]+", nullable=True),
    Column("kind", Text(), "Kind.", allowed=("it's", "b"), nullable=True),
    Column("score", Float(32), "Score.", minimum=0, maximum=0.1, nullable=True),
    Column("count", Int(8), "Count.", minimum=-1, maximum=3, nullable=True),
    Column("label", Label(("yes", "no")), "Label.", nullable=True),
    Column("extra", Json(), "JSON.", nullable=True),
    Column("tags", List(Text()), "Tags.", minimum=1, maximum=2, allowed=("x", "y"), pattern="[a-z]", nullable=True),
    Column("spans", SPAN, "Spans.", nullable=True),
    Column("needed", Bool(), "Needed."),
    Column("picture", Image(), "Picture.", nullable=True),
    Column("day", Date(), "Day.", nullable=True),
)
TABLE = Table("items", "Items.", (Column("id", Text(), "Key."), *COLUMNS), key=("id",))
DATASET = Dataset("things", "Things", "Things.", (TABLE,))
CLEAN = {
    "id": "clean",
    "text": "aé",
    "kind": "it's",
    "score": 0.1,
    "count": -1,
    "label": 1,
    "extra": '{"a": [1]}',
    "tags": ["x", "y"],
    "spans": [{"start": 1, "score": 0.5, "label": 0, "note": "[]"}, None],
    "needed": False,
    "picture": {"bytes": b"png", "path": None},
    "day": datetime.date(2020, 1, 1),
}
SPANS = CLEAN["spans"][0]
PLANTED = [
    ("text.minimum", {"text": "é"}),
    ("text.maximum", {"text": "aaaaa"}),
    ("text.maximum", {"text": "ééééé"}),
    ("text.pattern", {"text": "ab1"}),
    ("text.pattern", {"text": "ab\n"}),
    ("kind.allowed", {"kind": "its"}),
    ("score.minimum", {"score": -0.001}),
    ("score.maximum", {"score": 0.11}),
    ("score.maximum", {"score": math.inf}),
    ("score.finite", {"score": math.inf}),
    ("score.finite", {"score": math.nan}),
    ("count.minimum", {"count": -2}),
    ("count.maximum", {"count": 4}),
    ("label.label", {"label": 2}),
    ("label.label", {"label": -1}),
    ("extra.json", {"extra": "{"}),
    ("tags.minimum", {"tags": []}),
    ("tags.maximum", {"tags": ["x", "x", "x"]}),
    ("tags.allowed", {"tags": ["z"]}),
    ("tags.pattern", {"tags": ["x", "Y"]}),
    ("spans.parts", {"spans": [{**SPANS, "label": 9}]}),
    ("spans.parts", {"spans": [SPANS, {**SPANS, "score": math.nan}]}),
    ("spans.parts", {"spans": [{**SPANS, "note": "nope"}]}),
    ("needed.not_null", {"needed": None}),
]


@pytest.mark.parametrize(("name", "change"), PLANTED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_planted_value_fires_its_check_and_its_clean_twin_does_not(folder, name, change):
    dirty = folder(DATASET, {"items": {"train": [CLEAN, {**CLEAN, **change, "id": "bad"}]}})
    report = check(dirty, CheckSet(), groups=GROUPS)
    found = results(report)[f"items.{name}"]
    assert (found.status, found.failures, found.severity) == ("failed", 1, "block")
    assert found.examples[0][1].startswith(f"[things > items > bad] {name.split('.')[0]}")
    assert "bad" in failing(dirty)[f"items.{name}"]
    assert not any("clean" in ids for ids in failing(dirty).values())
    assert not report.passed


@pytest.mark.parametrize("row", [CLEAN, {"id": "empty", "needed": True}], ids=["values", "nulls"])
def test_clean_rows_fire_nothing(folder, row):
    clean = folder(DATASET, {"items": {"train": [row]}})
    report = check(clean, CheckSet(), groups=GROUPS)
    assert {result.status for result in report.results} == {"passed"}
    assert failing(clean) == {}


def test_a_null_key_is_named(folder):
    table = Table("t", "T.", (Column("a", Text(), "A."), Column("b", Int(), "B.")), key=("a", "b"))
    dirty = folder(Dataset("d", "D", "D.", (table,)), {"t": {"train": [{"a": "x/y", "b": None}]}}, lineage={"t": []})
    check(dirty, CheckSet(), groups=GROUPS)
    assert failing(dirty) == {"t.b.not_null": ["x/y/null"]}


def test_broken_json_leaves_the_other_checks_their_table(folder):
    rows = [CLEAN, {**CLEAN, "id": "bad", "extra": "{", "count": 100}, {**CLEAN, "id": "null", "extra": None}]
    dirty = folder(DATASET, {"items": {"train": rows}})
    report = check(dirty, CheckSet())
    assert failing(dirty)["items.extra.json"] == ["bad"]
    assert failing(dirty)["items.count.maximum"] == ["bad"]
    assert results(report)["items.lineage"].status == "passed"
    assert report.profile["items"]["columns"]["extra"]["nulls"] == 1


def test_a_bound_that_a_type_cannot_have_is_an_error(folder):
    table = Table("t", "T.", (Column("a", Bool(), "A.", minimum=1),), key=("a",))
    wrong = folder(Dataset("d", "D", "D.", (table,)), {"t": {"train": [{"a": True}]}})
    with pytest.raises(GoldsmithError, match=r"\[t > a\] a column of type bool has no minimum"):
        check(wrong, CheckSet(), groups=GROUPS)


def oracle(row: dict) -> set[str]:
    """The constraints of `items` in plain Python, for the columns that the random rows have."""
    found = set()
    text, kind, score, count, tags = (row[name] for name in ("text", "kind", "score", "count", "tags"))
    if text is not None:
        found |= {"text.minimum"} if len(text) < 2 else set()
        found |= {"text.maximum"} if len(text) > 4 else set()
        found |= set() if re.fullmatch("[a-zé]+", text) else {"text.pattern"}
    if kind is not None and kind not in ("it's", "b"):
        found.add("kind.allowed")
    if score is not None:
        found |= set() if math.isfinite(score) else {"score.finite"}
        found |= {"score.minimum"} if score < 0 else set()
        found |= {"score.maximum"} if score > 0.125 else set()
    if count is not None:
        found |= {"count.minimum"} if count < -1 else set()
        found |= {"count.maximum"} if count > 3 else set()
    if tags is not None:
        found |= {"tags.minimum"} if len(tags) < 1 else set()
        found |= {"tags.maximum"} if len(tags) > 2 else set()
        found |= {"tags.allowed"} if set(tags) - {"x", "y"} else set()
        found |= set() if all(re.fullmatch("[a-z]", tag) for tag in tags) else {"tags.pattern"}
    if row["needed"] is None:
        found.add("needed.not_null")
    return found


letters = st.text(st.sampled_from("aé1\n\U0001f600"), max_size=6)
random_rows = st.fixed_dictionaries(
    {
        "text": st.none() | letters,
        "kind": st.none() | st.sampled_from(["it's", "b", "its", ""]),
        "score": st.none() | st.sampled_from([0.0, -0.0, 0.125, 0.25, -1.0, math.nan, math.inf, -math.inf]),
        "count": st.none() | st.integers(-4, 5),
        "tags": st.none() | st.lists(st.sampled_from(["x", "y", "z", "Z"]), max_size=3),
        "needed": st.none() | st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(random_rows, max_size=12), st.booleans())
def test_sql_agrees_with_python(rows, hashed):
    columns = [
        Column("score", Float(32), "Score.", minimum=0, maximum=0.125, nullable=True)
        if column.name == "score"
        else column
        for column in TABLE.columns
    ]
    dataset = Dataset("things", "Things", "Things.", (Table("items", "Items.", tuple(columns), key=("id",)),))
    rows = [{**row, "id": f"r{number}"} for number, row in enumerate(rows)]
    expected = {(f"items.{name}", row["id"]) for row in rows for name in oracle(row)}
    expected |= set() if rows else {("items.rows", "items")}
    groups = ("constraints", "keys", "duplicates") if hashed else ("constraints",)  # two forms of the scan
    with tempfile.TemporaryDirectory() as path:
        made = write_folder(Path(path), dataset, {"items": {"train": rows}})
        check(made, CheckSet(), groups=groups, threads=1)
        found = {(name, row) for name, ids in failing(made).items() for row in ids if "duplicate" not in name}
    assert found == expected
