"""Building ViroGym's shards without a folder: what they yield, put together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

from builders.api import Batch, Read, Reject
from builders.sources import Sources
from builders.virogym.builder import BUILDER


@dataclass
class Yielded:
    """All that some shards yielded.

    Attributes:
        tables: rows by table.
        read, rows, merged, rejected: records by (source, table).
    """

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    read: Counter[tuple[str, str]] = field(default_factory=Counter)
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    merged: Counter[tuple[str, str]] = field(default_factory=Counter)
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)

    def variants(self, assay_id: str) -> pl.DataFrame:
        """The rows of one assay."""
        return self.tables["variants"].filter(pl.col("assay_id") == assay_id)

    def reasons(self, source: str) -> dict[str, int]:
        """Rejects of a source by reason."""
        return dict(Counter(reject.reason for reject in self.rejects if reject.source == source))


def build_shards(sources: Sources, *names: str) -> Yielded:
    """Build the shards whose name holds one of `names`, all of them without names."""
    result, batches = Yielded(), {}
    for shard in BUILDER.plan(sources):
        if names and not any(name in shard.name for name in names):
            continue
        for each in BUILDER.build(shard, sources.only(shard.inputs)):
            if isinstance(each, Batch):
                each.rows.validate(full=True)
                assert each.rows.schema.equals(BUILDER.schema.table(each.table).arrow)
                assert len(each.places) == each.rows.num_rows
                batches.setdefault(each.table, []).append(pl.DataFrame(each.rows))
                result.rows[each.source, each.table] += each.rows.num_rows
                result.merged[each.source, each.table] += len(each.merged)
            elif isinstance(each, Reject):
                result.rejects.append(each)
                result.rejected[each.source, each.table] += 1
            elif isinstance(each, Read):
                result.read[each.source, each.table] += each.records
    result.tables = {table: pl.concat(frames) for table, frames in batches.items()}
    return result


@pytest.fixture
def sample() -> Callable[..., Sources]:
    """The bundled sample's sources, with a user's own files in place of some."""

    def load(**overrides: Path) -> Sources:
        return Sources.load(BUILDER.folder, sample=True, overrides=overrides, offline=True)

    return load


@pytest.fixture
def build():
    """The function `build_shards`."""
    return build_shards


@pytest.fixture(scope="session")
def real(tmp_path_factory) -> tuple[Sources, Yielded]:
    """All registered real assays, built once."""
    root = Path(__file__).resolve().parents[3]
    mirror = Path(os.environ.get("GOLDSMITH_SHARED") or root.parent / "shared") / "mirror"
    if not mirror.exists():
        pytest.skip("shared data are absent: mirror")
    cache = tmp_path_factory.mktemp("cache")
    sources = Sources.load(BUILDER.folder, mirrors=[str(mirror)], cache=cache, offline=True)
    return sources, build_shards(sources)
