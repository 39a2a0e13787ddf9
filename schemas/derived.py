"""Tables that are made of the other tables: counts and sums that have to agree with the rows that a folder really has.

They are computed when a dataset is put together, and again when rows leave it on their way into a release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from schemas.errors import GoldsmithError
from schemas.table import Dataset, Table


def parents(table: Table) -> list[str]:
    """The tables that a derived table is computed from."""
    with duckdb.connect() as connection:
        return sorted(connection.get_table_names(table.derived or ""))


def derive(dataset: Dataset, table: Table, shards: Mapping[str, Sequence[Path]]) -> list[pa.RecordBatch]:
    """The rows of a derived table, sorted by key, with the table's schema.

    Args:
        shards: the Parquet files of the tables that are not derived, by table.

    Raises:
        GoldsmithError: its SQL does not run, or gives other columns than declared.
    """
    where = f"{dataset.name} > {table.name}"
    # One thread: the order in which floating-point numbers are added must not depend on the machine.
    with duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False}) as con:
        for name, paths in shards.items():
            con.from_parquet([str(path) for path in paths]).create_view(name)
        order = ", ".join(f'"{name}"' for name in table.key)
        try:
            rows = con.sql(f"SELECT * FROM ({table.derived}) ORDER BY {order}").to_arrow_table()
        except duckdb.Error as error:
            reason = " ".join(str(error).split("\n\nLINE")[0].split())
            raise GoldsmithError(f"[{where}] its SQL does not run ({reason}): mend `derived`") from None
    if rows.column_names != table.names:
        raise GoldsmithError(f"[{where}] its SQL gives {rows.column_names}: the schema says {table.names}")
    return rows.cast(table.arrow).combine_chunks().to_batches()
