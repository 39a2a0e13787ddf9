"""The digest of rows: the same for the same rows, however they are kept; another for any other rows."""

from __future__ import annotations

import datetime
import math
import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_folders import rows, variant, write_dataset

from releases import digest_dataset, digest_rows, digest_table, digest_whole
from schemas import (
    Audio,
    Bool,
    Column,
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
    Timestamp,
)

TYPES = {
    "id": Int(),
    "text": Text(),
    "real": Float(32),
    "flag": Bool(),
    "day": Date(),
    "moment": Timestamp(),
    "kind": Label(("x", "y")),
    "words": List(Text()),
    "grid": List(List(Int(8))),
    "boxes": List(Struct({"name": Text(), "at": List(Float())})),
    "free": Json(),
    "picture": Image(),
    "sound": Audio(),
}
TABLE = Table("things", "Things.", tuple(Column(n, kind, "x.", nullable=True) for n, kind in TYPES.items()), ("id",))

text = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
media = st.none() | st.fixed_dictionaries({"bytes": st.none() | st.binary(max_size=6), "path": text})
numbers = st.none() | st.lists(st.none() | st.floats(width=32, allow_nan=False), max_size=2)
number = st.none() | st.floats(width=32, allow_nan=False)
row = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "text": text,
        "real": number,
        "flag": st.none() | st.booleans(),
        "day": st.none() | st.dates(),
        "moment": st.none() | st.datetimes(),
        "kind": st.none() | st.integers(0, 1),
        "words": st.none() | st.lists(text, max_size=3),
        "grid": st.none() | st.lists(st.none() | st.lists(st.integers(-128, 127), max_size=3), max_size=3),
        "boxes": st.none()
        | st.lists(
            st.none() | st.fixed_dictionaries({"name": text, "at": numbers}),
            max_size=3,
        ),
        "free": st.none() | st.sampled_from(['{"a": 1}', "[]", '"x"']),
        "picture": media,
        "sound": media,
    }
)


def batch(content: list[dict[str, Any]], table: Table = TABLE) -> pa.RecordBatch:
    arrays = []
    for column in table.columns:
        kind = column.type.arrow
        storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        array = pa.array([r[column.name] for r in content], storage)
        arrays.append(pa.ExtensionArray.from_storage(kind, array) if storage is not kind else array)
    return pa.RecordBatch.from_arrays(arrays, schema=table.arrow)


def digest(content: list[dict[str, Any]], table: Table = TABLE) -> str:
    return digest_rows(table, [batch(content, table)]).digest


def column_of(kind: Any) -> Table:
    """A table of one column `v`, beside a key that says nothing."""
    return Table("t", "T.", (Column("k", Int(), "x."), Column("v", kind, "x.", nullable=True)), ("k",))


def one_column(kind: Any, values: list[Any]) -> str:
    return digest([{"k": 0, "v": value} for value in values], column_of(kind))


def arrays(kind: Any, *values: pa.Array) -> set[str]:
    """The digests of tables with these values in `v`."""
    table = column_of(kind)
    batches = [pa.RecordBatch.from_arrays([pa.array([0] * len(v)), v], schema=table.arrow) for v in values]
    return {digest_rows(table, [one]).digest for one in batches}


@settings(max_examples=60, deadline=None)
@given(st.lists(row, max_size=12), st.randoms(use_true_random=False), st.integers(1, 5))
def test_order_and_batches_do_not_matter(content: list[dict[str, Any]], chance: random.Random, size: int) -> None:
    shuffled = chance.sample(content, len(content))
    whole = batch(shuffled)
    parts = [whole.slice(start, size) for start in range(0, len(shuffled), size)]
    assert digest_rows(TABLE, parts) == digest_rows(TABLE, [batch(content)])


@settings(max_examples=150, deadline=None)
@given(st.lists(row, min_size=1, max_size=5), st.data())
def test_any_other_value_changes_it(content: list[dict[str, Any]], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(content) - 1))
    name = data.draw(st.sampled_from(sorted(TYPES)))
    other = data.draw(row)[name]
    changed = [dict(r) for r in content]
    changed[index][name] = other
    key = sorted(repr(canonical(r)) for r in content)
    same = key == sorted(repr(canonical(r)) for r in changed)
    assert (digest(changed) == digest(content)) == same


def canonical(value: Any) -> Any:
    """Values that the digest takes as one: 0.0 and -0.0, fields in any order."""
    match value:
        case float():
            return value + 0.0
        case dict():
            return {name: canonical(value[name]) for name in sorted(value)}
        case list():
            return [canonical(v) for v in value]
        case _:
            return value


@settings(max_examples=100, deadline=None)
@given(st.lists(row, max_size=6), st.lists(row, max_size=6))
def test_other_rows_have_another_digest(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> None:
    same = sorted(repr(canonical(r)) for r in one) == sorted(repr(canonical(r)) for r in two)
    assert (digest(one) == digest(two)) == same


@pytest.mark.parametrize(
    ("kind", "one", "two"),
    [
        (Text(), [None], [""]),
        (Text(), ["ab", ""], ["a", "b"]),
        (Text(), ["a"], ["a", "a"]),
        (Text(), ["a", "a", "b"], ["a", "b", "b"]),
        (Text(), ["é"], ["e\u0301"]),
        (Float(), [None], [math.nan]),
        (Float(), [None], [0.0]),
        (Int(), [None], [0]),
        (Bool(), [None], [False]),
        (Date(), [None], [datetime.date(1970, 1, 1)]),
        (List(Text()), [None], [[]]),
        (List(Text()), [[None]], [[]]),
        (List(Text()), [[None]], [[""]]),
        (List(Text()), [["a", "b"]], [["ab"]]),
        (List(Text()), [["a", "b"]], [["b", "a"]]),
        (List(Text()), [["a"], ["b"]], [["a", "b"], []]),
        (List(List(Int())), [[[1], [2]]], [[[1, 2]]]),
        (List(List(Int())), [[[1, 2], []]], [[[1], [2]]]),
        (Struct({"a": Text(), "b": Text()}), [None], [{"a": None, "b": None}]),
        (Struct({"a": Text(), "b": Text()}), [{"a": "x", "b": ""}], [{"a": "", "b": "x"}]),
        (Image(), [{"bytes": None, "path": "a"}], [{"bytes": b"", "path": "a"}]),
        (Json(), ['{"a":1}'], ['{"a":2}']),
    ],
)
def test_what_is_told_apart(kind: Any, one: list[Any], two: list[Any]) -> None:
    assert one_column(kind, one) != one_column(kind, two)


def test_what_is_the_same_by_definition() -> None:
    quiet = pa.array([math.nan], pa.float64())
    odd = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer((0xFFF8000000000001).to_bytes(8, "little"))])
    assert len(arrays(Float(), quiet, odd)) == 1
    assert one_column(Float(), [0.0]) == one_column(Float(), [-0.0])


def test_what_lies_under_a_null_does_not_matter() -> None:
    junk = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(b"\x07" * 16)])
    clean = pa.array(junk.to_pylist(), pa.int64())
    assert len(arrays(Int(), junk, clean)) == 1


def test_names_and_types_are_part_of_it() -> None:
    def of(name: str, kind: Any) -> str:
        return digest([{name: 1}], Table("t", "T.", (Column(name, kind, "x."),), (name,)))

    assert (
        len({of("a", Int()), of("b", Int()), of("a", Int(32)), of("a", Label(("x", "y"))), of("a", Label(("x",)))}) == 5
    )


def sample(count: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "id": i,
            "text": None if i % 5 == 0 else f"täxt {i % 3}",
            "real": [0.5, -0.0, math.nan, None][i % 4],
            "flag": i % 2 == 0,
            "day": datetime.date(2026, 1, 1 + i % 28),
            "moment": datetime.datetime(2026, 1, 1, i % 24, 5, 6, 7),
            "kind": i % 2,
            "words": [None, [], ["a", None], ["ab"]][i % 4],
            "grid": [[[1], []], None, [None], []][i % 4],
            "boxes": [[{"name": "n", "at": [0.25]}], [], None, [{"name": None, "at": None}]][i % 4],
            "free": f'{{"a": {i}}}',
            "picture": {"bytes": b"\x00\x01", "path": f"{i}.png"},
            "sound": None,
        }
        for i in range(count)
    ]


def test_file_layout_and_encodings_do_not_matter(tmp_path: Path) -> None:
    whole = pa.Table.from_batches([batch(sample())])
    strings = pa.schema([f.with_type(pa.large_string()) if f.name == "text" else f for f in whole.schema])
    coded = whole.set_column(1, "text", whole.column("text").dictionary_encode())
    variants = {
        "groups": (whole, {"row_group_size": 7, "compression": "none"}),
        "v1": (whole, {"version": "1.0", "use_dictionary": False, "data_page_version": "2.0"}),
        "bare": (whole, {"store_schema": False}),
        "large": (whole.cast(strings), {}),
        "dictionary": (coded, {}),
        "columns": (whole.select(whole.column_names[::-1]), {}),
    }
    for name, (content, options) in variants.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(content, path, **options)
        assert digest_table(TABLE, {"train": [path]}).splits["train"].digest == digest(sample()), name


def test_another_engine_does_not_matter(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    pq.write_table(pa.Table.from_batches([batch(sample())]), ours)
    duckdb.sql(f"COPY (SELECT * FROM '{ours}' ORDER BY random()) TO '{theirs}' (FORMAT parquet, COMPRESSION zstd)")
    assert digest_table(TABLE, {"train": [theirs]}) == digest_table(TABLE, {"train": [ours]})


def test_shards_do_not_matter_but_splits_do(tmp_path: Path) -> None:
    one, four = write_dataset(tmp_path / "one"), write_dataset(tmp_path / "four", shards=4)
    assert digest_dataset(one) == digest_dataset(four)
    swapped = rows()
    train, test = swapped["variants"]["train"], swapped["variants"]["test"]
    train[0], test[0] = test[0], train[0]
    other = digest_dataset(write_dataset(tmp_path / "swapped", swapped))
    assert other["variants"].digest != digest_dataset(one)["variants"].digest
    assert other["variants"].rows == 8
    assert other["assays"] == digest_dataset(one)["assays"]
    assert digest_whole(other) != digest_whole(digest_dataset(one))


def test_an_empty_shard_is_no_rows(tmp_path: Path) -> None:
    data = {"variants": {"train": [variant(1)]}, "assays": {"train": []}}
    without = digest_dataset(write_dataset(tmp_path / "a", data))
    data["variants"]["test"] = []
    assert digest_dataset(write_dataset(tmp_path / "b", data)) == without
    assert without["assays"].rows == 0


def test_another_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train-00000-of-00001.parquet"
    pq.write_table(pa.table({"id": [1]}), path)
    with pytest.raises(GoldsmithError, match="has other columns than table things"):
        digest_table(TABLE, {"train": [path]})
