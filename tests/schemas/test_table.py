"""Row ids are the same to Arrow and DuckDB; declarations are read back as written; mistakes are named."""

from __future__ import annotations

from datetime import date

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas import (
    Audio,
    Bool,
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
    Timestamp,
)
from schemas.types import Type, from_json

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
KEYS = {
    "a": (Text(), TEXT | st.sampled_from(["a/b", "%2F", "%252F", "%", "/", ""])),
    "b": (Int(), st.integers(-(2**63), 2**63 - 1)),
    "c": (Date(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "d": (Bool(), st.booleans()),
    "e": (Int(8), st.integers(-128, 127)),
    "f": (Label(("x", "y")), st.integers(0, 1)),
}
TYPES = st.recursive(
    st.sampled_from([Text(), Bool(), Date(), Timestamp(), Json(), Image(), Audio(), Audio(16000)])
    | st.sampled_from([8, 16, 32, 64]).map(Int)
    | st.sampled_from([32, 64]).map(Float)
    | st.lists(TEXT, unique=True, min_size=1, max_size=3).map(lambda names: Label(tuple(names))),
    lambda inner: inner.map(List) | st.dictionaries(TEXT, inner, min_size=1, max_size=3).map(Struct),
    max_leaves=6,
)


def _table(key: tuple[str, ...]) -> Table:
    columns = tuple(Column(name, kind, "A key.") for name, (kind, _) in KEYS.items())
    return Table("keyed", "Rows.", columns, key=key)


@given(
    st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=6, unique=True),
    st.lists(st.tuples(*(values for _, values in KEYS.values())), min_size=1, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_ids_are_the_same_to_arrow_and_duckdb(key, values):
    table = _table(tuple(key))
    rows = pa.Table.from_pylist([dict(zip(KEYS, row, strict=True)) for row in values], schema=table.arrow)
    query = f"SELECT {table.row_id_sql('r')} AS id FROM rows AS r"
    assert [row[0] for row in duckdb.query(query).fetchall()] == table.row_ids(rows).to_pylist()


SIGNS = st.text("a/%25F", max_size=6)


@given(st.lists(st.tuples(SIGNS, SIGNS), unique=True, min_size=2, max_size=8))
@example([("a/b", "1"), ("a%2Fb", "1"), ("a%252Fb", "1")])
@settings(max_examples=200, deadline=None)
def test_different_keys_have_different_ids(pairs):
    table = Table("pairs", "Rows.", (Column("a", Text(), "A."), Column("b", Text(), "B.")), key=("a", "b"))
    rows = pa.Table.from_pylist([{"a": a, "b": b} for a, b in pairs], schema=table.arrow)
    assert len(set(table.row_ids(rows).to_pylist())) == len(pairs)


@given(TYPES)
def test_types_go_through_json(kind: Type):
    assert from_json(kind.to_json()) == kind


@given(TYPES)
def test_every_type_has_an_arrow_type_a_feature_and_a_label(kind: Type):
    assert isinstance(kind.arrow, pa.DataType)
    assert kind.feature
    assert kind.label


def test_columns_go_through_json_with_all_their_attributes():
    full = Column("a", Float(32), "A.", "s", True, 0.0, 1.0, (0.0, 1.0), None, "other.a")
    text = Column("b", Text(), "B.", pattern="[a-z]+", allowed=("x", "y"), minimum=0)
    table = Table("t", "T.", (full, text), key=("b",), splits=("train", "test"))
    assert Table.from_json(table.to_json()) == table


def test_an_unknown_type_is_named():
    with pytest.raises(GoldsmithError, match="unknown column type 'Colour'"):
        from_json({"type": "Colour"})


@pytest.mark.parametrize("key", [(), ("absent",), ("a", "absent")])
def test_a_key_has_to_name_columns(key):
    with pytest.raises(GoldsmithError, match=r"\[keyed\] key .* names no column"):
        _table(key)


@pytest.mark.parametrize("kind", [Float(), Timestamp(), Json(), Image(), Audio(), List(Text()), Struct({"a": Text()})])
def test_a_key_has_to_be_of_a_type_that_is_written_one_way_only(kind):
    with pytest.raises(GoldsmithError, match=r"\[t > a\].* cannot be in a key"):
        Table("t", "T.", (Column("a", kind, "A."),), key=("a",))


@pytest.mark.parametrize("name", ["", "../other", "/etc/x", ".hidden", "a/b", "it's", 'a"b', "a b", "a\nb"])
def test_a_name_that_is_no_file_s_is_refused(name: str) -> None:
    column = Column("id", Text(), "Id.")
    with pytest.raises(GoldsmithError, match="is no name of a table"):
        Table(name, "Rows.", (column,), ("id",))
    form = {**Table("rows", "Rows.", (column,), ("id",)).to_json(), "name": name}
    with pytest.raises(GoldsmithError, match="is no name of a table"):
        Table.from_json(form)
    with pytest.raises(GoldsmithError, match="is no name of a split"):
        Table("rows", "Rows.", (column,), ("id",), splits=(name,))


def test_a_reference_to_no_column_is_refused():
    table = Table("t", "T.", (Column("a", Text(), "A.", references="nowhere.b"),), key=("a",))
    with pytest.raises(GoldsmithError, match=r"\[t > a\] references nowhere\.b, which is no column: mend the schema"):
        Dataset("d", "D", "D.", (table,))


@pytest.mark.parametrize("kind", [Text(), List(Text())])
def test_a_reference_to_another_type_is_refused(kind):
    target = Table("k", "K.", (Column("k", Int(), "K."),), key=("k",))
    columns = (Column("id", Text(), "Id."), Column("a", kind, "A.", references="k.k"))
    with pytest.raises(GoldsmithError, match=r"\[t > a\] references k\.k, which is of another type: mend the schema"):
        Dataset("d", "D", "D.", (Table("t", "T.", columns, key=("id",)), target))
