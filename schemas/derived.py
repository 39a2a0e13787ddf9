"""Tables that are made of the other tables: counts and sums that have to agree with the rows that a folder really has.

They are computed when a dataset is put together, and again when rows leave it on their way into a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from schemas import sandbox, sql
from schemas.errors import GoldsmithError
from schemas.table import Dataset, Table


def parents(table: Table) -> list[str]:
    """The tables that a derived table is computed from.

    Raises:
        GoldsmithError: its SQL is not one SELECT.
    """
    with duckdb.connect() as con:
        sandbox.lock(con, ())
        with _runs(table.name):
            _refuse_more(con, table, table.name)
            return sorted(con.get_table_names(table.derived or ""))


def derive(dataset: Dataset, table: Table, shards: Mapping[str, Sequence[Path]]) -> list[pa.RecordBatch]:
    """The rows of a derived table, sorted by key, with the table's schema.

    Args:
        shards: the Parquet files of the tables that are not derived, by table; its SQL reads nothing else.

    Raises:
        GoldsmithError: its SQL is not one SELECT, does not run, or gives other columns than declared.
    """
    where = f"{dataset.name} > {table.name}"
    # One thread: the order in which floating-point numbers are added must not depend on the machine.
    with duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False}) as con:
        for name, paths in shards.items():
            con.execute(f"CREATE VIEW {sql.name(name)} AS FROM {sql.scan(paths)}")
        sandbox.lock(con, [path for paths in shards.values() for path in paths])
        order = sql.names(table.key)
        with _runs(where):
            _refuse_more(con, table, where)
            rows = con.sql(f"SELECT * FROM ({table.derived}\n) ORDER BY {order}").to_arrow_table()
    if rows.column_names != table.names:
        raise GoldsmithError(f"[{where}] its SQL gives {rows.column_names}: the schema says {table.names}")
    return rows.cast(table.arrow).combine_chunks().to_batches()


def _refuse_more(con: duckdb.DuckDBPyConnection, table: Table, where: str) -> None:
    """Refuse SQL that could do more than read: a schema comes with a folder, and that may be anybody's."""
    if not sandbox.is_select(con, table.derived or ""):
        raise GoldsmithError(f"[{where}] its SQL is not one SELECT that only reads: mend `derived`")


@contextmanager
def _runs(where: str) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        reason = " ".join(str(error).split("\n\nLINE")[0].split())
        raise GoldsmithError(f"[{where}] its SQL does not run ({reason}): mend `derived`") from None
