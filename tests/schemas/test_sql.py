"""SQL reads the file that it names, whatever the name; and what a file holds or is called stays a value."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas import Column, Dataset, GoldsmithError, Int, Table, Text, sandbox, sql
from schemas.derived import derive
from schemas.parquet import write_parquet

ODD = ["a[1]*", "a?", "a[[]1", "a[!b]", "a*", "**", "it's", "{a,b}", "split=train", "~", "a[b", "a]"]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A file in each folder of an odd name, beside folders that these names match as patterns."""
    paths = []
    for number, name in enumerate([*ODD, "a1", "a1b", "ax", "ab", "a[1"]):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "x.parquet")
        pq.write_table(pa.table({"n": [number]}), paths[-1])
    return paths


def test_a_scan_reads_the_file_that_it_names(files: list[Path]) -> None:
    with duckdb.connect() as con:
        for number, path in enumerate(files):
            assert con.execute(f"SELECT * FROM {sql.scan([path])}").fetchall() == [(number,)], path
        assert con.execute(f"SELECT n FROM {sql.scan(files)} ORDER BY n").fetchall() == [
            (n,) for n in range(len(files))
        ]


def test_a_relative_path_is_of_this_folder(tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert duckdb.execute(f"SELECT * FROM {sql.scan(['~/x.parquet'])}").fetchall() == [(ODD.index("~"),)]


@pytest.mark.parametrize("reader", ["read_csv", "read_json_auto"])
def test_other_files_are_read_so_too(tmp_path: Path, reader: sql.Reader) -> None:
    for name, value in (("exam[1]", 1), ("exam1", 2)):
        (tmp_path / name).write_text(f"n\n{value}\n" if reader == "read_csv" else f'{{"n": {value}}}\n')
    assert duckdb.execute(f"SELECT n FROM {sql.scan([tmp_path / 'exam[1]'], reader)}").fetchall() == [(1,)]


@pytest.mark.parametrize("place", range(len(ODD)))
@pytest.mark.parametrize("setting", ["allowed_paths", "allowed_directories"])
def test_what_is_allowed_can_be_scanned_and_nothing_else(files: list[Path], place: int, setting: str) -> None:
    mine = files[place]
    with duckdb.connect() as con:
        con.execute(f"SET {setting} = {sql.allowed([mine if setting == 'allowed_paths' else mine.parent])}")
        con.execute("SET enable_external_access = false")
        assert con.execute(f"SELECT * FROM {sql.scan([mine])}").fetchall() == [(place,)]
        for other in files[:place] + files[place + 1 :]:
            with pytest.raises(duckdb.PermissionException):
                con.execute(f"SELECT * FROM {sql.scan([other])}")


@pytest.mark.parametrize("name", ODD)
def test_a_locked_connection_and_a_derived_table_read_their_own(tmp_path: Path, name: str) -> None:
    rows = Table("rows", "Rows.", (Column("id", Text(), "Id."),), ("id",))
    query = "SELECT id, count(*) AS n FROM rows GROUP BY id"
    made = Table("made", "Made.", (Column("id", Text(), "Id."), Column("n", Int(64), "N.")), ("id",), derived=query)
    for folder in (name, "a1", "ax"):
        (tmp_path / folder).mkdir(exist_ok=True)
        batch = pa.RecordBatch.from_pylist([{"id": folder}], rows.arrow)
        write_parquet(tmp_path / folder / "x.parquet", rows.arrow, [batch])
    mine = tmp_path / name / "x.parquet"
    (batch,) = derive(Dataset("d", "D", "D.", (rows, made)), made, {"rows": [mine]})
    assert batch.to_pylist() == [{"id": name, "n": 1}]
    with duckdb.connect() as con:
        con.execute(f"CREATE VIEW mine AS FROM {sql.scan([mine])}")
        sandbox.lock(con, [mine])
        assert con.execute("SELECT id FROM mine").fetchall() == [(name,)]
        with pytest.raises(duckdb.PermissionException):
            con.execute(f"FROM {sql.scan([tmp_path / 'ax' / 'x.parquet'])}")


@pytest.mark.parametrize("text", ['a"b', "a'b", 'x"; DROP TABLE t; --', "'; DROP TABLE t; --", "", "%s", "é\n"])
def test_names_and_literals_stay_what_they_are(text: str) -> None:
    with duckdb.connect() as con:
        assert con.execute(f"SELECT {sql.literal(text)}").fetchall() == [(text,)]
        if text:
            assert con.sql(f"SELECT 1 AS {sql.name(text)}").columns == [text]
            assert con.sql(
                f"SELECT {sql.names(['a', text])} FROM (SELECT 1 AS a, 2 AS {sql.name(text)})"
            ).fetchall() == [(1, 2)]


def test_literals_have_their_kind() -> None:
    values = [None, True, False, -3, 2**62, 0.1, 1e-300]
    assert duckdb.execute(f"SELECT {sql.literals(values)}").fetchall() == [tuple(values)]
    assert duckdb.execute(f"SELECT isinf({sql.literal(float('inf'))})").fetchall() == [(True,)]


def test_an_error_of_derived_sql_names_no_pattern(tmp_path: Path) -> None:
    rows = Table("rows", "Rows.", (Column("id", Text(), "Id."),), ("id",), derived="SELECT nobody FROM other")
    with pytest.raises(GoldsmithError, match=r"^\[d > rows\] its SQL does not run"):
        derive(Dataset("d", "D", "D.", (rows,)), rows, {})
