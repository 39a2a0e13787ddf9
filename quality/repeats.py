"""Looks for rows that repeat one another, by 64-bit numbers that are equal where rows are equal.

The numbers (4 to 8 bytes a row) are sorted in memory. What has the number of another row is a suspect; `quality.unique`
compares suspects in full. Above the memory budget DuckDB groups the numbers, and spills.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from quality import duck
from quality.connect import Session
from schemas import Int, Table, sql

BATCH_ROWS = 32_768
_PARTS = 4  # a power of two
NULL = -(2**63)
"""Stands for a missing integer."""


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
    plain = is_number(table, known.by) and not np.any(known.values == NULL)
    return f"{sql.name(known.by[0]) if plain else row_hash(table, known.by)} IN (FROM _suspect)"


def is_number(table: Table, columns: tuple[str, ...]) -> bool:
    """Whether the columns are one of integers, which is its own hash."""
    return len(columns) == 1 and isinstance(table.column(columns[0]).type, Int)


def row_hash(table: Table, columns: tuple[str, ...]) -> str:
    """A 64-bit number in SQL that is equal for rows with equal `columns`. An integer is its own hash: keys that are
    numbers often stand in order, and then cost no sort."""
    if is_number(table, columns):
        return f"coalesce({sql.name(columns[0])}::BIGINT, {NULL})"
    return f"hash({sql.names(columns)})"


def id_hash(table: Table) -> str:
    """The hash of a row's id in SQL, as `hash(id)` of the lineage."""
    return f"hash({duck.row_id(table)})"


class Numbers:
    """64-bit numbers that arrive in batches, in one array: of 4 bytes each where they are known to lie within 2**32.

    Args:
        buffers: memory that is free; fresh memory costs as much as reading an integer column.
        bounds: the least and the greatest number, where they are known.
    """

    def __init__(self, rows: int, buffers: list[np.ndarray], bounds: tuple[int, int] | None = None) -> None:
        self._base = bounds[0] if bounds and width(bounds) == 4 else None
        self._memory = _memory(rows, np.int64 if self._base is None else np.uint32, buffers)
        self._buffers = buffers
        self._type = np.dtype(np.int64)
        self._end = 0
        self._descents = 0

    def sent(self, table: Table, columns: tuple[str, ...]) -> list[str]:
        """What `add` takes of each row, in SQL."""
        number = row_hash(table, columns)
        return [number if self._base is None else f"({number} - {self._base})::UINTEGER"]

    def add(self, part: pa.Array) -> None:
        """Take a batch without nulls."""
        values = np.from_dlpack(part)  # `to_numpy` imports pandas, which takes longer than many a check
        if self._base is None:
            self._type = values.dtype
            values = values.view(np.int64)  # the order does not matter, and equal bits are equal either way
        self._memory[self._end : self._end + len(values)] = values
        self._end += len(values)
        self._descents += int(np.count_nonzero(values[1:] < values[:-1]))

    def at(self, places: np.ndarray) -> np.ndarray:
        """The numbers at some places, in the order they came."""
        return self._whole(self._memory[: self._end][places])

    def sorted(self) -> np.ndarray:
        """The numbers in order; there are no places from then on."""
        return self._whole(self._sorted())

    def repeated(self) -> np.ndarray:
        """Each number that occurs more than once, once; sorts."""
        return self._whole(_twice(self._sorted()))

    def release(self) -> None:
        """Give the memory to the next scan; the numbers are gone."""
        self._buffers.append(self._memory.view(np.uint8))

    def _sorted(self) -> np.ndarray:
        values = self._memory[: self._end]
        # The stable sort merges runs that are in order already, and is several times slower where there are none.
        values.sort(kind="stable" if self._descents * 100 < len(values) else "quicksort")
        return values

    def _whole(self, values: np.ndarray) -> np.ndarray:
        return values.view(self._type) if self._base is None else values.astype(np.int64) + self._base


class Hashes:
    """40 bits each of hashes that arrive in batches: enough where the few rows that agree in them are compared.

    Args:
        buffers: memory that is free, as for `Numbers`.
    """

    WIDTH = 5
    """Bytes a row."""

    def __init__(self, rows: int, buffers: list[np.ndarray]) -> None:
        self._low, self._high = (_memory(rows, kind, buffers) for kind in (np.uint32, np.uint8))
        self._buffers = buffers
        self._end = 0

    def sent(self, _: Table, columns: tuple[str, ...]) -> list[str]:
        """What `add` takes of each row, in SQL."""
        hashed = f"hash({sql.names(columns)})"  # of a single number, too: its bits are no hash
        return [f"({hashed} & {2**32 - 1})::UINTEGER", f"({hashed} >> 56)::UTINYINT"]

    def add(self, low: pa.Array, high: pa.Array) -> None:
        """Take a batch without nulls."""
        place = slice(self._end, self._end + len(low))
        self._low[place], self._high[place] = np.from_dlpack(low), np.from_dlpack(high)
        self._end = place.stop

    def repeated_places(self) -> np.ndarray:
        """Where the hashes are that occur more than once, in the order they came: int64 of shape (places,). 32 bits of
        each are sorted, part by part, and the few that agree in them are looked at again."""
        low, high = self._low[: self._end], self._high[: self._end]
        twice = np.concatenate([_repeated(self._part(part)) for part in range(_PARTS)])
        bits = min(24, max(16, int(len(twice) * 64).bit_length()))
        marked = np.zeros(1 << bits, bool)
        marked[twice >> np.uint32(32 - bits)] = True
        places = [
            start + np.flatnonzero(marked[low[start : start + BATCH_ROWS] >> np.uint32(32 - bits)])
            for start in range(0, len(low), BATCH_ROWS)
        ]
        found = np.concatenate(places) if places else np.empty(0, np.int64)
        values = high[found].astype(np.int64) << 32 | low[found]
        order = np.argsort(values, kind="stable")
        found, values = found[order], values[order]
        again = values[1:] == values[:-1]
        return found[np.append(again, False) | np.insert(again, 0, False)] if len(found) else found

    def _part(self, part: int) -> np.ndarray:
        """The lower halves of the hashes of a part. (`compress` takes half the time of an index, and memory: so block
        by block.)"""
        chosen = self._high[: self._end] & np.uint8(_PARTS - 1) == part
        found, end = np.empty(np.count_nonzero(chosen), np.uint32), 0
        for start in range(0, self._end, BATCH_ROWS):
            block = np.compress(
                chosen[start : start + BATCH_ROWS], self._low[start : min(start + BATCH_ROWS, self._end)]
            )
            found[end : end + len(block)] = block
            end += len(block)
        return found

    def release(self) -> None:
        """Give the memory to the next scan; the hashes are gone."""
        self._buffers += [self._low.view(np.uint8), self._high]


def _repeated(values: np.ndarray) -> np.ndarray:
    """Numbers in any order that occur more than once, each once; sorts them in place."""
    values.sort()
    return _twice(values)


def _twice(ordered: np.ndarray) -> np.ndarray:
    """Those of ordered numbers that occur more than once, each once."""
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    return twice[np.append(True, twice[1:] != twice[:-1])[: len(twice)]]


def width(bounds: tuple[int, int]) -> int:
    """The bytes that `Numbers` takes for each number within bounds."""
    return 4 if bounds[1] - bounds[0] < 2**32 else 8


def _memory(rows: int, kind: type[np.generic], buffers: list[np.ndarray]) -> np.ndarray:
    """An array of at least `rows` numbers: memory that is free, or else fresh."""
    size = np.dtype(kind).itemsize
    fit = [index for index, buffer in enumerate(buffers) if len(buffer) >= rows * size and len(buffer) % size == 0]
    return buffers.pop(fit[0]).view(kind) if fit else np.empty(rows, kind)


def collected(session: Session, source: str, rows: int) -> Numbers:
    """The single 64-bit column that `source` returns."""
    numbers = Numbers(rows, session.buffers)
    for batch in session.con.sql(source).to_arrow_reader(BATCH_ROWS):
        numbers.add(batch.column(0))
    return numbers
