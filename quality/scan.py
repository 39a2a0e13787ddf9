"""Scans a table for rows that break a constraint, and for the hashes of what must not repeat.

DuckDB streams the scan; a row in order sends its hashes and nothing else. Decoding text is most of what checking costs,
so hashes that fit the memory budget ride along with the constraints of their columns, which are then not read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from quality import sql
from quality.connect import Session
from quality.constraints import Constraint, table_constraints
from quality.ledger import Ledger
from schemas import Int, Table

_BATCH_ROWS = 131_072
_HELD_ROWS = 100_000
SMALL_ROWS = 200_000
_NULL = -(2**63)


@dataclass(frozen=True)
class _Part:
    """Constraints (by number) that one scan tests, and columns whose hashes ride along."""

    constraints: dict[int, Constraint]
    hashed: list[tuple[str, ...]]


def check_constraints(ledger: Ledger, table: Table, hashed: list[tuple[str, ...]]) -> None:
    """Run all constraints of a table, in the order of its columns, and look for repeats among `hashed` columns.

    What repeats is remembered in the session for `quality.unique`; columns beyond the budget are left to it.
    """
    session = ledger.session
    constraints = dict(enumerate(table_constraints(table)))
    source = session.raw.get(table.name, table.name)
    (rows,) = session.one(f"SELECT count(*) FROM {sql.name(source)}")
    fit = 0 if table.name in session.raw else session.sort_bytes // max(1, rows * 8)
    with ledger.together(table, [constraint.check for constraint in constraints.values()]) as add:
        for part in _parts(constraints, hashed[:fit], rows):
            _scan(session, table, source, rows, part, add)


def _parts(constraints: dict[int, Constraint], hashed: list[tuple[str, ...]], rows: int) -> list[_Part]:
    """Small tables are scanned once, for the overhead of a query. In large ones a column is read with the hashes it is
    part of, and else alone: then DuckDB tests its dictionary or statistics in place of its values where it can."""
    if rows <= SMALL_ROWS:
        return [_Part(constraints, hashed)]
    left = dict(constraints)
    parts = []
    for columns in hashed:
        taken = {number: constraint for number, constraint in left.items() if constraint.column in columns}
        left = {number: constraint for number, constraint in left.items() if number not in taken}
        parts.append(_Part(taken, [columns]))
    by_column: dict[str, dict[int, Constraint]] = {}
    for number, constraint in left.items():
        by_column.setdefault(constraint.column, {})[number] = constraint
    return [*parts, *(_Part(part, []) for part in by_column.values())]


def _scan(
    session: Session,
    table: Table,
    source: str,
    rows: int,
    part: _Part,
    add: Callable[[list[pa.RecordBatch]], None],
) -> None:
    wrong = " OR ".join(f"({constraint.fails})" for constraint in part.constraints.values()) or "false"
    fault = _fault(table, part.constraints)
    hashes = [f"{row_hash(table, columns)} AS h{index}" for index, columns in enumerate(part.hashed)]
    if hashes:
        # Inside CASE, DuckDB tests a condition only on rows that no earlier one has decided.
        fault = f"CASE WHEN {wrong} THEN {fault} END"
    query = f"SELECT {', '.join([f'{fault} AS fault', *hashes])} FROM {sql.name(source)}"
    if not hashes:
        query += f" WHERE {wrong}"
    collected = [_Column(rows) for _ in part.hashed]
    held: list[pa.RecordBatch] = []
    for batch in session.con.sql(query).to_arrow_reader(_BATCH_ROWS):
        for column, values in zip(collected, batch.columns[1:], strict=True):
            column.add(values)
        if batch.column(0).null_count < len(batch):
            held.append(batch.select([0]).filter(batch.column(0).is_valid()))
        if sum(map(len, held)) >= _HELD_ROWS:
            add(held)
            held = []
    add(held)
    for columns, column in zip(part.hashed, collected, strict=True):
        session.repeats[table.name, columns] = column.repeated()


def _fault(table: Table, constraints: dict[int, Constraint]) -> str:
    """What is wrong with a row, in SQL: JSON text of {id, faults: [{number, message}]}. It is text because a nested
    column costs as much for rows without a fault as for those with one."""
    said = ", ".join(
        f"CASE WHEN {constraint.fails} THEN {{'number': {number}, 'message': {constraint.message}}} END"
        for number, constraint in constraints.items()
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
    session.con.register("_again", pa.table({"h": again}))
    session.con.execute("CREATE OR REPLACE TEMP TABLE _repeated AS FROM _again")
    session.con.unregister("_again")


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


class _Column:
    """Values that arrive in batches, into one array of 8 bytes a value."""

    def __init__(self, rows: int) -> None:
        self._values = np.empty(rows, np.int64)
        self._type = np.dtype(np.int64)
        self._end = 0
        self._descents = 0

    def add(self, part: pa.Array) -> None:
        values = part.to_numpy()
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
        return np.unique(values[1:][values[1:] == values[:-1]])


def sorted_column(session: Session, source: str, rows: int) -> _Column:
    """The single 64-bit column that `source` returns."""
    column = _Column(rows)
    for batch in session.con.sql(source).to_arrow_reader(_BATCH_ROWS):
        column.add(batch.column(0))
    return column
