"""Every type goes through Parquet, `load_dataset` and DuckDB and comes back equal, with its declared features."""

from __future__ import annotations

from datetime import date, datetime

import datasets
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas import (
    Audio,
    Bool,
    Column,
    Dataset,
    Date,
    Float,
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
from schemas.parquet import write_parquet

SPAN = Struct({"start": Int(32), "word": Text()})
VALUES = {
    "text": (Text(), ["a", "", None, "ü\u0929"]),
    "int8": (Int(8), [-128, 127, None, 0]),
    "int16": (Int(16), [-32768, 32767, None, 0]),
    "int32": (Int(32), [-(2**31), 2**31 - 1, None, 0]),
    "int64": (Int(64), [-(2**63), 2**63 - 1, None, 0]),
    "float32": (Float(32), [0.5, -0.0, None, float("inf")]),
    "float64": (Float(64), [0.1, -1e308, None, 5e-324]),
    "bool": (Bool(), [True, False, None, True]),
    "date": (Date(), [date(1, 1, 1), date(9999, 12, 31), None, date(2026, 11, 30)]),
    "timestamp": (
        Timestamp(),
        [datetime(1970, 1, 1), datetime(2026, 11, 30, 1, 2, 3, 456789), None, datetime(1, 1, 1)],
    ),
    "label": (Label(("no", "yes")), [0, 1, None, 1]),
    "json": (Json(), ['{"a": [1, null]}', "[]", None, '"text"']),
    "image": (Image(), [{"bytes": b"\x89PNG\0", "path": "a.png"}, {"bytes": b"", "path": None}, None, None]),
    "audio": (Audio(16000), [{"bytes": b"fLaC\0", "path": "a.flac"}, {"bytes": None, "path": "b.flac"}, None, None]),
    "any_audio": (Audio(), [{"bytes": b"fLaC", "path": "a.flac"}, None, None, None]),
    "texts": (List(Text()), [["a", "b"], [], None, [None, ""]]),
    "lists": (List(List(Int(32))), [[[1], []], [], None, [None, [2, None]]]),
    "struct": (SPAN, [{"start": 1, "word": "a"}, {"start": None, "word": ""}, None, {"start": 0, "word": None}]),
    "spans": (List(SPAN), [[{"start": 1, "word": "a"}, {"start": 2, "word": None}], [], None, [None]]),
    "boxes": (
        Struct({"name": Text(), "points": List(Struct({"x": Float(32), "y": Float(32)}))}),
        [
            {"name": "a", "points": [{"x": 0.5, "y": 1.0}]},
            {"name": "b", "points": []},
            None,
            {"name": None, "points": None},
        ],
    ),
}
TABLE = Table(
    "everything",
    "One column of every type.",
    (
        Column("id", Text(), "Key."),
        *(Column(name, kind, "A value.", nullable=True) for name, (kind, _) in VALUES.items()),
    ),
    key=("id",),
    splits=("train", "test"),
)


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    arrays = [pa.array(["a", "b", "c", "d"])]
    arrays += [_array(values, kind.arrow) for kind, values in VALUES.values()]
    return pa.Table.from_arrays(arrays, schema=TABLE.arrow)


def _array(values: list, kind: pa.DataType) -> pa.Array:
    if isinstance(kind, pa.JsonType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, pa.string()))
    return pa.array(values, kind)


@pytest.fixture(scope="module")
def file(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("everything") / "train-00000-of-00001.parquet"
    write_parquet(path, TABLE.arrow, rows.to_batches())
    return path


def test_parquet_gives_back_the_same_rows_and_schema(rows, file):
    found = pq.read_table(file)
    assert found.schema.equals(TABLE.arrow)
    assert found.schema.metadata == TABLE.arrow.metadata
    assert found.equals(rows)


def test_duckdb_reads_the_same_values(rows, file):
    found = duckdb.read_parquet(str(file)).to_arrow_table()
    assert found.column_names == rows.column_names
    assert found.to_pylist() == rows.to_pylist()


def test_load_dataset_gives_the_declared_features_and_the_same_values(rows, file, tmp_path):
    loaded = datasets.load_dataset("parquet", data_files={"train": str(file)}, split="train", cache_dir=str(tmp_path))
    assert loaded.features == datasets.Features.from_dict(TABLE.features)
    found = loaded.with_format("arrow")[:]
    for name in rows.column_names:
        assert found.column(name).to_pylist() == rows.column(name).to_pylist(), name


def test_a_file_without_rows_loads_with_its_types(tmp_path, rows):
    empty = tmp_path / "train-00000-of-00001.parquet"
    assert write_parquet(empty, TABLE.arrow, ()).rows == 0
    assert pq.read_table(empty).equals(rows.slice(0, 0))
    assert duckdb.read_parquet(str(empty)).fetchall() == []
    # `datasets` 5.2 refuses a split without rows when it is not streamed: "corresponds to no data".
    loaded = datasets.load_dataset("parquet", data_files=str(empty), split="train", streaming=True)
    assert loaded.features == datasets.Features.from_dict(TABLE.features)
    assert list(loaded) == []


def test_the_declaration_goes_through_json():
    schema = Dataset("everything", "Everything", "All types.", (TABLE,), ("en",), ("other",), ("test",))
    assert Dataset.from_json(schema.to_json()) == schema
