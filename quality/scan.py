"""Scans a table for rows that break a constraint, and for the hashes of what must not repeat.

DuckDB streams the scan; a row in order sends its hashes and nothing else. Decoding text is most of what checking costs,
so hashes that fit the memory budget ride along with the constraints of their columns, which are then not read again.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from quality import sql
from quality.connect import Session
from quality.constraints import Constraint, table_constraints
from quality.digest import Digest
from quality.ledger import Ledger
from schemas import Int, Table

_BATCH_ROWS = 131_072
_HELD_ROWS = 20_000
_NULL = -(2**63)


def check_constraints(ledger: Ledger, table: Table, hashed: list[tuple[str, ...]], *, ids: bool = False) -> None:
    """Run all constraints of a table, in the order of its columns, and look for repeats among `hashed` columns.

    What repeats is remembered in the session for `quality.unique`; columns beyond the budget are left to it. With
    `ids`, the session remembers the digest of the row ids for `quality.links`.
    """
    session = ledger.session
    constraints = table_constraints(table)
    source = session.raw.get(table.name, table.name)
    (rows,) = session.one(f"SELECT count(*) FROM {sql.name(source)}")
    fit = 0 if table.name in session.raw else session.sort_bytes // max(1, rows * 8)
    hashed = hashed[:fit]
    if not constraints and not hashed and not ids:
        return
    hashes = [row_hash(table, columns) for columns in hashed] + [id_hash(table)] * ids
    found = Digest()
    collected = [_Column(rows, session.buffers) for _ in hashed]
    with ledger.together(table, [constraint.check for constraint in constraints]) as add:
        held: list[str] = []
        for batch in session.con.sql(_query(table, source, constraints, hashes)).to_arrow_reader(_BATCH_ROWS):
            for column, values in zip(collected, batch.columns[1 : 1 + len(hashed)], strict=True):
                column.add(values)
            if ids:
                found.add(np.from_dlpack(batch.columns[-1]))
            if batch.column(0).null_count < len(batch):
                held += batch.column(0).drop_null().to_pylist()
            if len(held) >= _HELD_ROWS:
                add(held)
                held = []
        add(held)
    for columns, column in zip(hashed, collected, strict=True):
        session.repeats[table.name, columns] = column.repeated()
    if ids:
        session.ids[table.name] = found


def _query(table: Table, source: str, constraints: list[Constraint], hashes: list[str]) -> str:
    """The faults of each row (null where there is none) and its hashes; rows without a fault only where they have
    hashes to send."""
    wrong = " OR ".join(f"({constraint.fails})" for constraint in constraints) or "false"
    fault = _fault(table, constraints)
    if not hashes:
        return f"SELECT {fault} AS fault FROM {sql.name(source)} WHERE {wrong}"
    named = [f"{hashed} AS h{index}" for index, hashed in enumerate(hashes)]
    # Inside CASE, DuckDB tests a condition only on rows that no earlier one has decided.
    return f"SELECT CASE WHEN {wrong} THEN {fault} END AS fault, {', '.join(named)} FROM {sql.name(source)}"


def _fault(table: Table, constraints: list[Constraint]) -> str:
    """What is wrong with a row, in SQL: JSON text of {id, faults: [{number, message}]}. It is text because a nested
    column costs as much for rows without a fault as for those with one."""
    said = ", ".join(
        f"CASE WHEN {constraint.fails} THEN {{'number': {number}, 'message': {constraint.message}}} END"
        for number, constraint in enumerate(constraints)
    )
    if not said:
        return "NULL::VARCHAR"
    faults = f"list_filter([{said}], lambda fault: fault IS NOT NULL)"
    return f"to_json({{'id': {sql.row_id(table)}, 'faults': {faults}}})::VARCHAR"


def find_repeats(session: Session, table: Table, columns: tuple[str, ...]) -> None:
    """Fill the temporary table `_repeated` (h) with the hashes that occur more than once in `columns`."""
    again = session.repeats.get((table.name, columns))
    source = f"SELECT {row_hash(table, columns)} AS h FROM {sql.name(table.name)}"
    if again is None:
        (rows,) = session.one(f"SELECT count(*) FROM {sql.name(table.name)}")
        if rows * 8 > session.sort_bytes:
            repeated = f"SELECT h FROM ({source}) GROUP BY h HAVING count(*) > 1"
            session.con.execute(f"CREATE OR REPLACE TEMP TABLE _repeated AS {repeated}")
            return
        again = sorted_column(session, source, rows).repeated()
    kind = "UBIGINT" if again.dtype == np.uint64 else "BIGINT"
    query = f"CREATE OR REPLACE TEMP TABLE _repeated AS SELECT unnest(from_json(?, '[\"{kind}\"]')) AS h"
    session.con.execute(query, [json.dumps(again.tolist())])


def is_repeated(session: Session, table: Table, columns: tuple[str, ...]) -> str:
    """The condition that a row's hash is in `_repeated`; DuckDB can skip row groups by a plain column."""
    hashed = row_hash(table, columns)
    if hashed.startswith("coalesce") and not session.one(f"SELECT count(*) FROM _repeated WHERE h = {_NULL}")[0]:
        hashed = sql.name(columns[0])
    return f"{hashed} IN (FROM _repeated)"


def row_hash(table: Table, columns: tuple[str, ...]) -> str:
    """A 64-bit number in SQL that is equal for rows with equal `columns`. An integer is its own hash: keys that are
    numbers often stand in order, and then cost no sort."""
    if len(columns) == 1 and isinstance(table.column(columns[0]).type, Int):
        return f"coalesce({sql.name(columns[0])}::BIGINT, {_NULL})"
    return f"hash({sql.names(columns)})"


def id_hash(table: Table) -> str:
    """The hash of a row's id in SQL, as `hash(id)` of the lineage."""
    return f"hash({sql.row_id(table)})"


class _Column:
    """Values that arrive in batches, into one array of 8 bytes a value."""

    def __init__(self, rows: int, buffers: list[np.ndarray]) -> None:
        # Fresh memory costs as much as reading an integer column; a buffer that fits is used again.
        fit = [index for index, buffer in enumerate(buffers) if len(buffer) >= rows]
        self._values = buffers.pop(fit[0]) if fit else np.empty(rows, np.int64)
        self._buffers = buffers
        self._type = np.dtype(np.int64)
        self._end = 0
        self._descents = 0

    def add(self, part: pa.Array) -> None:
        values = np.from_dlpack(part)  # `to_numpy` imports pandas, which takes longer than many a check
        self._type = values.dtype
        values = values.view(np.int64)  # the order does not matter, and equal bits are equal either way
        self._values[self._end : self._end + len(values)] = values
        self._end += len(values)
        self._descents += int(np.count_nonzero(values[1:] < values[:-1]))

    def sorted(self) -> np.ndarray:
        """The values in order."""
        values = self._values[: self._end]
        # The stable sort merges runs that are in order already, and is several times slower where there are none.
        values.sort(kind="stable" if self._descents * 100 < len(values) else "quicksort")
        return values.view(self._type)

    def repeated(self) -> np.ndarray:
        """Each value that occurs more than once, once."""
        values = self.sorted()
        again = np.unique(values[1:][values[1:] == values[:-1]])
        self._buffers.append(self._values)
        return again


def sorted_column(session: Session, source: str, rows: int) -> _Column:
    """The single 64-bit column that `source` returns."""
    column = _Column(rows, session.buffers)
    for batch in session.con.sql(source).to_arrow_reader(_BATCH_ROWS):
        column.add(batch.column(0))
    return column
