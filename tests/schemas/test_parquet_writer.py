"""The writer: the same rows give the same bytes, however they are batched; a failure leaves no file."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schemas.parquet as writer
from schemas import Column, Json, List, Struct, Table, Text
from schemas.parquet import write_parquet

SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("number", pa.int16()),
        ("words", pa.list_(pa.string())),
        ("part", pa.struct([("flag", pa.bool_()), ("values", pa.list_(pa.float32()))])),
        ("media", writer.MEDIA),
        ("extra", pa.json_()),
    ]
)
ROWS = 1500


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    index = range(ROWS)
    columns = [
        pa.array([None if i % 7 == 0 else "x" * (i % 53) for i in index]),
        pa.array([None if i % 5 == 0 else i for i in index], pa.int16()),
        pa.array([None if i % 3 == 0 else ["w" * (i % 11), None][: i % 4] for i in index], pa.list_(pa.string())),
        pa.array(
            [None if i % 9 == 0 else {"flag": i % 2 == 0, "values": [i] * (i % 3)} for i in index], SCHEMA[3].type
        ),
        pa.array(
            [None if i % 4 == 0 else {"bytes": b"\0" * (i % 97), "path": f"{i}.bin"} for i in index], writer.MEDIA
        ),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array([None if i % 6 == 0 else f'{{"i": {i}}}' for i in index])),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _cut(table: pa.Table, borders: list[int]) -> list[pa.RecordBatch]:
    ends = [*sorted(borders), table.num_rows]
    pieces = [table.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]
    empty = pa.RecordBatch.from_pylist([], schema=table.schema)
    return [batch for piece in pieces for batch in (piece.combine_chunks().to_batches() or [empty])]


@given(st.lists(st.integers(0, ROWS), max_size=12))
@settings(max_examples=25, deadline=None)
def test_bytes_do_not_depend_on_the_batches(tmp_path_factory, rows, borders):
    folder = tmp_path_factory.mktemp("cut")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "MEDIA_GROUP_BYTES", 20_000)
        patch.setattr(writer, "CHUNK_BYTES", 3_000)
        whole = write_parquet(folder / "whole.parquet", SCHEMA, rows.to_batches())
        cut = write_parquet(folder / "cut.parquet", SCHEMA, _cut(rows, borders))
    assert cut == whole
    assert (folder / "cut.parquet").read_bytes() == (folder / "whole.parquet").read_bytes()
    assert pq.read_table(folder / "cut.parquet").equals(rows)
    assert pq.ParquetFile(folder / "cut.parquet").metadata.num_row_groups > 3


def test_memory_is_a_row_group_and_a_chunk_whatever_is_written(tmp_path):
    schema = pa.schema([("id", pa.string()), ("sound", writer.MEDIA)])

    def batches():
        for number in range(100):
            sound = {"bytes": bytes([number]) * (1 << 20), "path": f"{number}.wav"}
            yield pa.RecordBatch.from_pylist([{"id": f"{number}", "sound": sound}], schema=schema)
            held.append(pa.total_allocated_bytes() - before)

    held: list[int] = []
    before = pa.total_allocated_bytes()
    write_parquet(tmp_path / "a.parquet", schema, batches())
    metadata = pq.ParquetFile(tmp_path / "a.parquet").metadata
    groups = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    assert groups == [12] * 8 + [4]
    assert max(held) < writer.MEDIA_GROUP_BYTES + 2 * writer.CHUNK_BYTES


def test_what_is_reported_is_what_is_on_the_disk(tmp_path, rows):
    written = write_parquet(tmp_path / "a.parquet", SCHEMA, rows.to_batches())
    content = (tmp_path / "a.parquet").read_bytes()
    assert (written.rows, written.bytes) == (ROWS, len(content))
    assert written.sha256 == hashlib.sha256(content).hexdigest()


def test_blobs_have_neither_statistics_nor_dictionary_and_the_rest_is_compressed(tmp_path, rows):
    write_parquet(tmp_path / "a.parquet", SCHEMA, rows.to_batches())
    group = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    blob, text = columns["media.bytes"], columns["text"]
    assert (blob.compression, blob.is_stats_set, blob.has_dictionary_page) == ("UNCOMPRESSED", False, False)
    assert (text.compression, text.is_stats_set, text.has_dictionary_page) == ("ZSTD", True, True)
    assert text.has_offset_index


def test_keys_in_order_take_a_few_bits_and_codes_are_numbered(tmp_path):
    rows = range(50_000)
    numbers = {"key": list(rows), "code": [i % 7 for i in rows], "some": [i if i % 3 else None for i in rows]}
    table = pa.table(numbers)
    write_parquet(tmp_path / "a.parquet", table.schema, table.to_batches())
    group = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0)
    encodings = {group.column(i).path_in_schema: set(group.column(i).encodings) for i in range(3)}
    assert "DELTA_BINARY_PACKED" in encodings["key"] & encodings["some"]
    assert "RLE_DICTIONARY" in encodings["code"]
    assert group.column(0).total_compressed_size < 1000
    assert pq.read_table(tmp_path / "a.parquet").equals(table)


@given(st.data(), st.sampled_from([pa.int8(), pa.int16(), pa.int32(), pa.int64()]))
@settings(max_examples=40, deadline=None)
def test_any_integers_are_read_as_they_were_written(tmp_path_factory, data, kind):
    top = 2 ** (kind.bit_width - 1)
    edge = st.sampled_from([None, -top, top - 1, 0, -1])
    values = data.draw(st.lists(st.integers(-top, top - 1) | edge, max_size=60))
    table = pa.table({"number": pa.array(values, kind)})
    path = tmp_path_factory.mktemp("numbers") / "a.parquet"
    write_parquet(path, table.schema, table.to_batches())
    assert pq.read_table(path).equals(table)
    assert duckdb.sql("SELECT number FROM read_parquet($path)", params={"path": str(path)}).fetchall() == [
        (value,) for value in values
    ]


def test_a_batch_of_another_schema_leaves_no_file(tmp_path, rows):
    other = pa.RecordBatch.from_pydict({"text": ["a"]})
    with pytest.raises((pa.ArrowInvalid, ValueError)):
        write_parquet(tmp_path / "a.parquet", SCHEMA, [*rows.to_batches(), other])
    assert list(tmp_path.iterdir()) == []


def test_a_failing_iterator_leaves_the_old_file(tmp_path, rows):
    path = tmp_path / "a.parquet"
    before = write_parquet(path, SCHEMA, rows.to_batches())

    def batches():
        yield rows.to_batches()[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_parquet(path, SCHEMA, batches())
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before.sha256
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def test_a_row_larger_than_a_row_group_is_one(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "ROW_GROUP_BYTES", 10)
        rows = pa.RecordBatch.from_pydict({"text": ["x" * 100, "y" * 100, "z"]})
        write_parquet(Path(tmp_path / "a.parquet"), rows.schema, [rows])
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 3


def test_a_full_disk_is_an_error_and_leaves_no_file(small_disk):
    disk = small_disk(100_000)
    random.seed(1)
    rows = pa.RecordBatch.from_pydict({"text": [random.randbytes(20).hex() for _ in range(20_000)]})
    with pytest.raises(OSError, match="No space left on device"):
        write_parquet(disk / "a.parquet", rows.schema, [rows])
    assert list(disk.iterdir()) == []
    assert write_parquet(disk / "a.parquet", rows.schema, [rows.slice(0, 1000)]).rows == 1000


def test_an_empty_list_of_structs_with_json_is_written(tmp_path):
    columns = (Column("id", Text(), "Key."), Column("a", List(Struct({"note": Json()})), "A.", nullable=True))
    schema = Table("t", "T.", columns, key=("id",)).arrow
    plain = pa.array([None, [], [{"note": "[]"}]], pa.list_(pa.struct([("note", pa.string())])))
    ids = pa.array(["a", "b", "c"])
    batch = pa.RecordBatch.from_arrays([ids, plain.cast(schema.field("a").type)], schema=schema)
    assert write_parquet(tmp_path / "t.parquet", schema, [batch]).rows == 3
