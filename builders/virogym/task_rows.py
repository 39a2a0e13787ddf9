"""What the shards of titres and of emergence have in common: batches of few rows, and where a table comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from builders.api import Batch, Shard
from builders.virogym import registry
from builders.virogym.registry import Study
from schemas import Table

if TYPE_CHECKING:
    from builders.sources import Sources


def origin(shard: Shard, source: str, sources: Sources) -> dict[str, Any]:
    """The columns of a task that tell of its source: file, checksum, licence and publication."""
    spec, study = sources.spec(source), registry.entry(Study, shard.name, shard.parameters["study"])
    return {
        "source": source,
        "source_sha256": sources.sha256(source),
        "licence_spdx": spec.licence,
        "redistributable": spec.redistribute,
        "doi": study.doi,
        "citation": study.citation,
    }


def batch(
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    source: str,
    places: Sequence[str],
    merged: Iterable[tuple[int, str]] = (),
) -> Batch:
    """Rows given as dictionaries; for tables of few rows."""
    columns = []
    for field in table.arrow:
        storage = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
        values = pa.array([row[field.name] for row in rows], storage)
        columns.append(pa.ExtensionArray.from_storage(field.type, values) if storage != field.type else values)
    return Batch(
        table.name, "test", pa.RecordBatch.from_arrays(columns, schema=table.arrow), source, places, list(merged)
    )
