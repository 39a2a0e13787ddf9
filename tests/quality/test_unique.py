"""Keys, declared unique columns, repeated rows and leakage between splits."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from quality_folders import failing, results, write_folder

from quality.connect import add_views, opened
from quality.ledger import Ledger
from quality.repeats import Hashes, Numbers, find_suspects
from quality.run import check
from quality.scan import check_constraints
from schemas import CheckSet, Column, Dataset, GoldsmithError, Int, Label, Table, Text, Unique, View

TABLE = Table(
    "items",
    "Items.",
    (Column("id", Int(), "Key."), Column("text", Text(), "Text."), Column("part", Text(), "Part.", nullable=True)),
    key=("id",),
    splits=("train", "test"),
)
DATASET = Dataset("things", "Things", "Things.", (TABLE,))
NUMBERS = Table("numbers", "Numbers.", (Column("n", Int(), "Number.", nullable=True),), key=("n",))
ONCE = CheckSet((Unique("text_once", "A text occurs once in a part", "drop", "items", ("text", "part")),))
GROUPS = ("keys", "duplicates", "own")
CLEAN = {
    "train": [{"id": 2, "text": "a", "part": "x"}, {"id": 1, "text": "a", "part": "y"}],
    "test": [{"id": 3, "text": "a", "part": None}],
}


def plant(split: str, **row) -> dict:
    return {**CLEAN, split: [*CLEAN[split], row]}


def test_clean_rows_fire_nothing(folder):
    clean = folder(DATASET, {"items": CLEAN})
    assert check(clean, ONCE, groups=GROUPS).passed
    assert failing(clean) == {}


@pytest.mark.parametrize("groups", [GROUPS, ("constraints", *GROUPS)], ids=["own scan", "with constraints"])
@pytest.mark.parametrize(
    ("split", "row", "expected"),
    [
        ("train", {"id": 1, "text": "b", "part": "z"}, {"items.key_unique": ["1"]}),
        ("train", {"id": 9, "text": "a", "part": "x"}, {"items.duplicate_rows": ["9"], "text_once": ["9"]}),
        (
            "test",
            {"id": 0, "text": "a", "part": "x"},
            {"items.duplicate_rows": ["0"], "items.leakage": ["0"], "text_once": ["0"]},
        ),
        ("test", {"id": 9, "text": "a", "part": None}, {"items.duplicate_rows": ["9"], "text_once": ["9"]}),
    ],
    ids=["key", "row", "leak", "null equals null"],
)
def test_a_repeat_is_found(folder, groups, split, row, expected):
    dirty = folder(DATASET, {"items": plant(split, **row)})
    check(dirty, ONCE, groups=groups)
    assert failing(dirty) == expected


def test_leakage_blocks_and_names_both_rows(folder):
    dirty = folder(DATASET, {"items": plant("test", id=9, text="a", part="x")})
    report = check(dirty, CheckSet(), groups=GROUPS)
    found = results(report)["items.leakage"]
    assert found.severity == "block"
    assert found.examples == (("9", "[things > items > 9] in split test, same content as row 2 in split train"),)


def test_a_repeat_says_whether_its_key_repeats_too(folder):
    again = {"id": 2, "text": "a", "part": "x"}
    dirty = folder(DATASET, {"items": {"train": [*CLEAN["train"], again, {**again, "id": 4}], "test": []}})
    found = results(check(dirty, CheckSet(), groups=GROUPS))["items.duplicate_rows"]
    assert found.meaning == "No two rows have the same content (all columns but id), whatever their keys"
    assert found.examples == (
        ("2", "[things > items > 2] same key and content as another row"),
        ("4", "[things > items > 4] same content as row 2"),
    )


def test_the_leading_parts_of_a_key_are_content(folder):
    table = Table(
        "t", "T.", (Column("who", Text(), "A."), Column("n", Int(), "B."), Column("said", Text(), "C.")), ("who", "n")
    )
    rows = [{"who": who, "n": n, "said": "yes"} for who, n in [("a", 1), ("b", 1), ("b", 2)]]
    dirty = folder(Dataset("d", "D", "D.", (table,)), {"t": {"train": rows}})
    check(dirty, CheckSet(), groups=("duplicates",))
    assert failing(dirty) == {"t.duplicate_rows": ["b/2"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, ["3"]), (("text",), ["1", "3"]), ((), None)],
)
def test_a_table_says_what_its_content_is(folder, content, expected):
    dataset = Dataset("things", "Things", "Things.", (replace(TABLE, content=content),))
    rows = [
        {"id": 1, "text": "a", "part": "x"},
        {"id": 2, "text": "a", "part": "y"},
        {"id": 3, "text": "a", "part": "y"},
    ]
    made = folder(dataset, {"items": {"train": [rows[1], rows[0], rows[2]], "test": []}})
    report = check(made, CheckSet(), groups=GROUPS)
    assert made.schema.table("items").content == content  # as build.json keeps it
    if expected is None:
        assert results(report)["items.duplicate_rows"].status == "not_applicable"
        assert failing(made) == {}
    else:
        found = failing(made)["items.duplicate_rows"]
        assert len(found) == len(expected)
    with pytest.raises(GoldsmithError, match="content names no column"):
        replace(TABLE, content=("txt",))


def test_rows_of_categories_may_repeat(folder):
    table = Table("t", "T.", (Column("id", Int(), "A."), Column("label", Label(("a",)), "B.")), ("id",))
    made = folder(Dataset("d", "D", "D.", (table,)), {"t": {"train": [{"id": 1, "label": 0}, {"id": 2, "label": 0}]}})
    report = check(made, CheckSet(), groups=("duplicates",))
    assert {result.status for result in report.results if result.table == "t"} == {"not_applicable"}


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3) | st.none(), st.sampled_from(["a", "b", "ä"]), st.none() | st.just("x"))),
    st.sampled_from([("id",), ("text", "part"), ("part",), ("id", "text")]),
)
def test_sorting_suspects_whom_grouping_suspects(rows, columns):
    made = [dict(zip(("id", "text", "part"), row, strict=True)) for row in rows]
    keys = [tuple(row[column] for column in columns) for row in made]
    expected = sorted(map(str, (row for row, key in zip(rows, keys, strict=True) if keys.count(key) > 1)))
    with tempfile.TemporaryDirectory() as path:
        folder = write_folder(Path(path), DATASET, {"items": {"train": made}})
        with opened(folder, None, memory_limit="1GB", threads=1) as session:
            add_views(session, set())
            ledger = Ledger(session)
            for budget, scanned in (
                (1 << 20, False),
                (0, False),
                (1 << 20, True),
                (4 * len(rows), True),
                (9 * len(rows), True),
            ):
                session.sort_bytes = budget
                session.suspects.clear()
                if scanned:
                    check_constraints(ledger, TABLE, [columns, ("id",)])
                condition = find_suspects(session, TABLE, columns)
                found = session.rows(f"SELECT id, text, part FROM items WHERE {condition}") if condition else []
                if scanned:  # by key, which other rows may have too
                    assert set(expected) <= set(map(str, found))
                else:
                    assert sorted(map(str, found)) == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=40), st.lists(st.integers(0, 3), min_size=40, max_size=40), st.booleans())
def test_places_of_repeated_hashes(low, high, many):
    """Hashes that agree in their lower halves only are none that repeat."""
    values = np.array(low, np.uint64) * 977 + (np.array(high[: len(low)], np.uint64) << np.uint64(61))
    if many:
        values = np.concatenate([values, np.arange(2**63, 2**63 + 1000, dtype=np.uint64)])
    numbers = Hashes(len(values), [])
    numbers.add(pa.array((values & np.uint64(2**32 - 1)).astype(np.uint32)), pa.array((values >> 56).astype(np.uint8)))
    counts = Counter(values.tolist())
    expected = [place for place, value in enumerate(values.tolist()) if counts[value] > 1]
    assert sorted(numbers.repeated_places().tolist()) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.integers(2**31, 2**31 + 3)),
    st.booleans(),
    st.sampled_from([np.int64, np.uint64]),
)
def test_repeated_numbers(values, bounded, kind):
    """Numbers within known bounds take half the memory, and are the same."""
    values = values if kind == np.int64 else [value % 2**64 for value in values]
    free: list[np.ndarray] = []
    for _ in range(2):  # the second time in the memory of the first
        bounds = (min(values, default=0), max(values, default=0)) if bounded and kind == np.int64 else None
        numbers = Numbers(len(values), free, bounds)
        for part in (values[:7], values[7:]):
            sent = pa.array(part, pa.from_numpy_dtype(kind))
            if kind == np.int64:
                asked = ", ".join(numbers.sent(NUMBERS, ("n",)))
                found = (
                    duckdb.from_arrow(pa.table({"n": sent})).select(asked).to_arrow_table().combine_chunks().column(0)
                )
                sent = found.chunk(0) if found.num_chunks else pa.array([], found.type)
            numbers.add(sent)
        places = np.arange(len(values))[::3]
        assert numbers.at(places).tolist() == values[::3]
        assert sorted(numbers.repeated().tolist()) == sorted(v for v, n in Counter(values).items() if n > 1)
        numbers.release()


@pytest.mark.parametrize("memory", ["1GB", "64MB"])
def test_a_single_column_of_any_integers_occurs_once(folder, memory):
    columns = (Column("id", Int(), "Key."), Column("n", Int(), "Number.", nullable=True))
    dataset = Dataset("d", "D", "D.", (Table("items", "Items.", columns, key=("id",)),))
    numbers = [-1, -2, None, -(2**63), 2**63 - 1, 2**40, 2**41, -2, None, 2**63 - 1, -(2**63)]
    dirty = folder(dataset, {"items": {"train": [{"id": key, "n": n} for key, n in enumerate(numbers, 100)]}})
    once = CheckSet((Unique("once", "A number occurs once", "warn", "items", ("n",)),))
    check(dirty, once, groups=("constraints", "keys", "own"), memory_limit=memory)
    assert failing(dirty) == {"once": ["107", "108", "109", "110"]}


def test_unique_is_of_a_table(folder):
    views = (View("v", "SELECT * FROM items"),)
    once = CheckSet((Unique("once", "A text occurs once", "warn", "v", ("text",)),), views=views)
    with pytest.raises(GoldsmithError, match=r"\[once\] v is a view"):
        check(folder(DATASET, {"items": CLEAN}), once, groups=("own",))


def test_many_repeats_are_all_kept_above_the_budget_too(folder):
    ids = np.repeat(np.arange(700), 2)
    rows = [{"id": int(value), "text": f"t{place}", "part": None} for place, value in enumerate(ids)]
    dirty = folder(DATASET, {"items": {"train": rows}})
    for limit in ("1GB", "20KB"):
        report = check(dirty, CheckSet(), groups=("keys",), memory_limit=limit if limit == "1GB" else "64MB")
        assert results(report)["items.key_unique"].failures == 700
        assert sorted(map(int, failing(dirty)["items.key_unique"])) == list(range(700))
