"""Looks for rows that repeat one another, by 64-bit numbers that are equal where rows are equal.

The numbers (8 bytes a row) are sorted in memory. What has the number of another row is a suspect; `quality.unique`
compares suspects in full. Above the memory budget DuckDB groups the numbers, and spills.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from quality import sql
from quality.connect import Session
from schemas import Int, Table

BATCH_ROWS = 131_072
_NULL = -(2**63)


class Suspects(NamedTuple):
    """Rows among which are all that repeat another: those whose number (`row_hash`) of the columns `by` is in `values`
    (int64 or uint64)."""

    by: tuple[str, ...]
    values: np.ndarray


def find_suspects(session: Session, table: Table, columns: tuple[str, ...]) -> str:
    """The condition in SQL for the suspects of `columns`, over the temporary table `_suspect`; empty without any."""
    known = session.suspects.get((table.name, columns))
    if known is None:
        source = f"SELECT {row_hash(table, columns)} AS h FROM {sql.name(table.name)}"
        (rows,) = session.one(f"SELECT count(*) FROM {sql.name(table.name)}")
        if rows * 8 > session.sort_bytes:
            repeated = f"SELECT h FROM ({source}) GROUP BY h HAVING count(*) > 1"
            (some,) = session.one(f"CREATE OR REPLACE TEMP TABLE _suspect AS {repeated}")
            return f"{row_hash(table, columns)} IN (FROM _suspect)" if some else ""
        known = Suspects(columns, collected(session, source, rows).repeated())
    if not len(known.values):
        return ""
    kind = "UBIGINT" if known.values.dtype == np.uint64 else "BIGINT"
    query = f"CREATE OR REPLACE TEMP TABLE _suspect AS SELECT unnest(from_json(?, '[\"{kind}\"]')) AS h"
    session.con.execute(query, [json.dumps(known.values.tolist())])
    # By a plain column DuckDB can skip what it need not read.
    plain = is_number(table, known.by) and not np.any(known.values == _NULL)
    return f"{sql.name(known.by[0]) if plain else row_hash(table, known.by)} IN (FROM _suspect)"


def is_number(table: Table, columns: tuple[str, ...]) -> bool:
    """Whether the columns are one of integers, which is its own hash."""
    return len(columns) == 1 and isinstance(table.column(columns[0]).type, Int)


def row_hash(table: Table, columns: tuple[str, ...]) -> str:
    """A 64-bit number in SQL that is equal for rows with equal `columns`. An integer is its own hash: keys that are
    numbers often stand in order, and then cost no sort."""
    if is_number(table, columns):
        return f"coalesce({sql.name(columns[0])}::BIGINT, {_NULL})"
    return f"hash({sql.names(columns)})"


def id_hash(table: Table) -> str:
    """The hash of a row's id in SQL, as `hash(id)` of the lineage."""
    return f"hash({sql.row_id(table)})"


class Numbers:
    """64-bit numbers that arrive in batches, in one array of 8 bytes each."""

    def __init__(self, rows: int, buffers: list[np.ndarray]) -> None:
        # Fresh memory costs as much as reading an integer column; a buffer that fits is used again.
        fit = [index for index, buffer in enumerate(buffers) if len(buffer) >= rows]
        self._memory = buffers.pop(fit[0]) if fit else np.empty(rows, np.int64)
        self._buffers = buffers
        self._type = np.dtype(np.int64)
        self._end = 0
        self._descents = 0

    def add(self, part: pa.Array) -> None:
        """Take a batch of int64 or uint64 without nulls."""
        values = np.from_dlpack(part)  # `to_numpy` imports pandas, which takes longer than many a check
        self._type = values.dtype
        values = values.view(np.int64)  # the order does not matter, and equal bits are equal either way
        self._memory[self._end : self._end + len(values)] = values
        self._end += len(values)
        self._descents += int(np.count_nonzero(values[1:] < values[:-1]))

    @property
    def values(self) -> np.ndarray:
        """The numbers, of shape (rows,), in the order they came."""
        return self._memory[: self._end].view(self._type)

    def sorted(self) -> np.ndarray:
        """The numbers in order; `values` are in order from then on, too."""
        values = self._memory[: self._end]
        # The stable sort merges runs that are in order already, and is several times slower where there are none.
        values.sort(kind="stable" if self._descents * 100 < len(values) else "quicksort")
        return self.values

    def repeated(self) -> np.ndarray:
        """Each number that occurs more than once, once; sorts."""
        values = self.sorted()
        twice = values[1:][values[1:] == values[:-1]]
        return twice[np.append(True, twice[1:] != twice[:-1])[: len(twice)]]

    def repeated_places(self) -> np.ndarray:
        """Where in `values` the numbers are that occur more than once: int64 of shape (places,). Nothing is moved: half
        of each number is sorted, and the few that agree in it are looked at whole."""
        halves = self._memory[: self._end].view(np.uint32)[::2]
        ordered = np.sort(halves)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        del ordered
        bits = min(24, max(16, int(len(twice) * 64).bit_length()))
        marked = np.zeros(1 << bits, bool)
        marked[twice >> np.uint32(32 - bits)] = True
        starts = range(0, len(halves), BATCH_ROWS)
        places = [
            start + np.flatnonzero(marked[halves[start : start + BATCH_ROWS] >> np.uint32(32 - bits)])
            for start in starts
        ]
        found = np.concatenate(places) if places else np.empty(0, np.int64)
        found = found[np.argsort(self._memory[found], kind="stable")]
        again = self._memory[found[1:]] == self._memory[found[:-1]]
        return found[np.append(again, False) | np.insert(again, 0, False)] if len(found) else found

    def release(self) -> None:
        """Give the memory to the next scan; the numbers are gone."""
        self._buffers.append(self._memory)


def collected(session: Session, source: str, rows: int) -> Numbers:
    """The single 64-bit column that `source` returns."""
    numbers = Numbers(rows, session.buffers)
    for batch in session.con.sql(source).to_arrow_reader(BATCH_ROWS):
        numbers.add(batch.column(0))
    return numbers
