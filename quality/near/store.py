"""What searchers keep of rows: arrays in files, and pairs of rows that fall into one bucket.

Features lie in files of the spill folder, so that memory holds a few bytes a row (where its features begin, whether it
is compared) and one bucket column at a time; the system keeps as much of the files at hand as there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from quality.near.shingles import distinct

REACH = 32
"""Rows of one bucket are compared with this many that follow them; a bucket of boilerplate has thousands."""

CHUNK = 1 << 19
"""Pairs looked at together."""

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Row numbers a < b (int64) and how alike they are (float64, 0 to 1), each of shape (pairs,)."""


class Wanted(Protocol):
    """Which pairs matter: row numbers a and b of shape (pairs,) -> bool of shape (pairs,)."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray: ...


class Searcher(Protocol):
    """Finds rows of one kind that are nearly alike. Row numbers are given, so the order of arrival says nothing.

    Attributes:
        skipped: why a row is not compared, a place in `reasons` or 0; uint8 of shape (rows,).
        reasons: in words; the first is empty.
    """

    skipped: np.ndarray
    reasons: tuple[str, ...]

    def add(self, rows: np.ndarray, values: pa.Array) -> None:
        """Take in rows: their numbers, int64 of shape (n,), and their values."""
        ...

    def pairs(self, wanted: Wanted) -> Iterator[Pairs]:
        """All that are alike, once everything was added; a pair may come twice."""
        ...


class Ragged:
    """Rows of different length, in a file.

    Args:
        path: the file, which must not exist.
        rows: how many rows there are at most.
    """

    def __init__(self, path: Path, dtype: type[np.generic], rows: int) -> None:
        self._path, self._dtype = path, np.dtype(dtype)
        self._file = path.open("xb")
        self._end = 0
        self.start = np.zeros(rows, np.int64)
        self.length = np.zeros(rows, np.int32)

    def add(self, rows: np.ndarray, flat: np.ndarray, lengths: np.ndarray) -> None:
        """Append rows that lie behind one another in `flat`."""
        self._file.write(np.ascontiguousarray(flat, self._dtype).tobytes())
        self.start[rows] = self._end + np.cumsum(lengths) - lengths
        self.length[rows] = lengths
        self._end += len(flat)

    def values(self) -> np.ndarray:
        """All of it, in the order of arrival, read as it is needed."""
        self._file.close()
        return np.memmap(self._path, self._dtype, "r") if self._end else np.zeros(0, self._dtype)

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of some rows behind one another, and the place in `rows` of each."""
        lengths = self.length[rows].astype(np.int64)
        return self.values()[ranges(self.start[rows], lengths)], np.repeat(np.arange(len(rows)), lengths)

    def row(self, row: int) -> np.ndarray:
        """One row."""
        return self.values()[self.start[row] : self.start[row] + self.length[row]]


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """start, start + 1, ... of each range behind one another: int64 of shape (sum of lengths,)."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def neighbours(keys: np.ndarray, members: np.ndarray, reach: int = REACH) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of members with equal keys, at most `reach` places apart: all of them in buckets that are no larger.

    Args:
        keys: sorted, shape (n,).
        members: row numbers in that order, shape (n,).

    Yields:
        The smaller and the larger number, int64 of shape (pairs,).
    """
    place = np.arange(len(keys))
    for apart in range(1, reach + 1):
        place = place[: np.searchsorted(place, len(keys) - apart)]
        place = place[keys[place] == keys[place + apart]]
        if not len(place):
            return
        one, other = members[place], members[place + apart]
        yield np.minimum(one, other), np.maximum(one, other)


class Seen:
    """The pairs that were looked at before: buckets overlap, and comparing is what costs.

    It forgets all of them when there are too many, which costs time and changes nothing.
    """

    _MOST = 20_000_000

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._keys = np.zeros(0, np.int64)

    def fresh(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that are new, each once, in order."""
        keys = distinct(a * self._rows + b)
        if len(self._keys):
            place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            keys = keys[self._keys[place] != keys]
        if len(self._keys) + len(keys) > self._MOST:
            self._keys = np.zeros(0, np.int64)
        self._keys = np.concatenate([self._keys, keys])
        self._keys.sort(kind="stable")  # merges two runs
        return keys // self._rows, keys % self._rows
