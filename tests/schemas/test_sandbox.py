"""A locked connection: it reads its files, and neither reads nor writes anything else."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas import sandbox


@pytest.fixture
def locked(tmp_path: Path):
    """A connection with a view of one file beside another file."""
    for name in ("it's mine", "other"):
        pq.write_table(pa.table({"a": [1, 2]}), tmp_path / f"{name}.parquet")
    mine = tmp_path / "it's mine.parquet"
    with duckdb.connect() as connection:
        connection.from_parquet(str(mine)).create_view("mine")
        sandbox.lock(connection, [mine])
        yield connection


def test_its_files_can_be_read(locked: duckdb.DuckDBPyConnection) -> None:
    assert locked.execute("SELECT sum(a) FROM mine").fetchall() == [(3,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '{folder}/other.parquet'",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/pwned.csv'",
        "ATTACH '{folder}/pwned.db'",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/passwd']",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM outside",
    ],
)
def test_nothing_else_can_be_reached(locked: duckdb.DuckDBPyConnection, tmp_path: Path, query: str) -> None:
    outside = pa.table({"a": [1]})
    before = sorted(tmp_path.iterdir())
    with pytest.raises(duckdb.Error):
        locked.execute(query.replace("{folder}", str(tmp_path))).fetchall()
    assert sorted(tmp_path.iterdir()) == before
    assert len(outside) == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "WITH a AS (SELECT 1 AS n UNION ALL SELECT 2) SELECT n, sum(n) OVER () FROM a WHERE n IN (SELECT n FROM a);",
        "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3) FROM a -- three",
        "SELECT * FROM range(3) AS r(n), unnest([1, 2]) JOIN mine ON a = n",
        "SELECT 'COPY_QUERY_NODE' AS type",
        "PIVOT mine ON a IN (1, 2) USING count(*)",
        "SUMMARIZE mine",
    ],
)
def test_one_select_may_be_run(locked: duckdb.DuckDBPyConnection, text: str) -> None:
    assert sandbox.is_select(locked, text)
    locked.execute(text).fetchall()


COPY = "COPY (SELECT 7 AS a) TO '{mine}' (FORMAT parquet, USE_TMP_FILE false)"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT 1; SELECT 2",
        f"SELECT 1; {COPY}",
        COPY,
        "CREATE TABLE x AS SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        f"WITH a AS ({COPY}) SELECT 1",
        f"SELECT (WITH a AS ({COPY}) SELECT 1)",
        f"SELECT 1 UNION ALL (WITH a AS ({COPY}) FROM a)",
        f"DESCRIBE (WITH a AS ({COPY}) FROM a)",
        "WITH a AS (INSERT INTO mine VALUES (1)) SELECT 1",
        "FROM query('WITH a AS (COPY (SELECT 7 AS a) TO ''{mine}'' (USE_TMP_FILE false)) SELECT 1')",
        "SELECT * FROM (SELECT * FROM query_table('mine'))",
        "FROM json_execute_serialized_sql('{}')",
        "FROM read_parquet('{mine}')",
    ],
)
def test_what_writes_or_is_more_than_one_select_is_refused(locked: duckdb.DuckDBPyConnection, text: str) -> None:
    assert not sandbox.is_select(locked, text)


@pytest.mark.parametrize("text", ["SELECT 1); COPY (SELECT 2", "SELEC 1"])
def test_what_is_no_sql_is_an_error(text: str) -> None:
    with duckdb.connect() as connection, pytest.raises(duckdb.Error):
        sandbox.is_select(connection, text)
