"""What a builder is: the contract between a dataset's own code and the shared machinery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from schemas import CheckSet, Dataset

if TYPE_CHECKING:
    from builders.sources import Sources


@dataclass(frozen=True)
class Shard:
    """A piece of work that can be done anywhere: same shard, same sources, same bytes.

    Attributes:
        name: stable, unique in the plan, of letters, digits, `.`, `_` and `-`. Output files keep the plan's order.
        inputs: names of the sources it reads. Their checksums are part of the shard's key.
        parameters: everything else it depends on, as JSON values.
    """

    name: str
    inputs: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """Rows for a table, with the place in the source that each came from.

    Attributes:
        rows: with the table's Arrow schema (columns in its order).
        source: name of the source.
        places: one a row: where in the source it stands (`line 12`, `record NC_1`, `commit:path`).
        merged: further records of the same source that were merged into a row: (index of the row, place).
    """

    table: str
    split: str
    rows: pa.RecordBatch
    source: str
    places: Sequence[str] | pa.Array
    merged: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Reject:
    """A source record that becomes no row.

    Attributes:
        reason: a short code, counted and budgeted, such as `no_score` or `unknown_site`.
        message: what is wrong, for people.
        record: the raw text of the record.
    """

    table: str
    reason: str
    message: str
    source: str
    place: str
    record: str = ""


@dataclass(frozen=True)
class Read:
    """How many records the shard read from a source for a table, counted at the source's end.

    The build fails unless records = rows + merged + rejects, for each source and table that was counted.
    """

    source: str
    table: str
    records: int


class Builder(Protocol):
    """A dataset's builder. A module-level `BUILDER` in `builders/<name>/builder.py`, or an entry point, holds one.

    Attributes:
        schema: the dataset's declaration; its name is the builder's name.
        version: of the builder; a new one rebuilds everything.
        folder: with `sources.toml`, `datasheet.toml`, `README.md` and `sample/` (its own `sources.toml`).
        checks: what it adds to the shared checks.
        expected_rejects: reasons that are normal in these sources (such as a value not measured): counted, not
            budgeted.
        reject_budget: the largest share of a source's records that may be rejected for any other reason.
    """

    schema: Dataset
    version: str
    folder: Path
    checks: CheckSet
    expected_rejects: frozenset[str]
    reject_budget: float

    def plan(self, sources: Sources) -> Iterable[Shard]:
        """The shards in order. Cheap, sees the whole: decides splits, clusters and keys. Skips what
        `sources.allows` does not allow."""
        ...

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The content of one shard; a pure function of the shard and the sources it names."""
        ...
