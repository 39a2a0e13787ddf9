"""Rows that wait until there are enough of them for a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from builders.api import Batch
from schemas import Table

_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 256


class Waiting:
    """Rows that wait to become a batch, by split."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._places: dict[str, list[str]] = {}
        self._bytes: dict[str, int] = {}

    def add(self, table: Table, split: str, row: dict[str, Any], place: str, size: int) -> Iterator[Batch]:
        """Keep a row; give a batch when enough wait."""
        self._rows.setdefault(split, []).append(row)
        self._places.setdefault(split, []).append(place)
        self._bytes[split] = self._bytes.get(split, 0) + size
        if self._bytes[split] >= _BATCH_BYTES or len(self._rows[split]) >= _BATCH_ROWS:
            yield self._take(table, split)

    def rest(self, table: Table) -> Iterator[Batch]:
        """All that still waits."""
        for split in list(self._rows):
            yield self._take(table, split)

    def _take(self, table: Table, split: str) -> Batch:
        self._bytes.pop(split)
        return batch(table, split, self._rows.pop(split), self._source, self._places.pop(split))


def batch(table: Table, split: str, rows: list[dict[str, Any]], source: str, places: Iterable[str]) -> Batch:
    """Rows as a batch with the table's Arrow schema, a place each."""
    arrays = []
    for declared in table.arrow:
        values = [row[declared.name] for row in rows]
        kind = declared.type
        if isinstance(kind, pa.BaseExtensionType):
            arrays.append(pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type)))
        else:
            arrays.append(pa.array(values, kind))
    return Batch(table.name, split, pa.RecordBatch.from_arrays(arrays, schema=table.arrow), source, list(places))
