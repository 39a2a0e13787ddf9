"""How many bytes a second version sends when 200 rows are inserted into a table of a million, by where they go.

The files are written by goldsmith's own writer (content-defined chunking, row groups by bytes) and, to compare, without
chunking; they are sent by the real hf-xet to a fresh store in a folder, and what the store grew by is counted.
Run: python benchmarks/hub_cdc.py [--rows 1000000]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/releases/hub")]

INSERTED = 200
LIMIT = 1 / 3
"""Of the bytes, for rows that go in at one place."""


def table(rows: int, seed: int = 0) -> pa.Table:
    """Rows like those of an assay: an id, a sequence that hardly compresses, a score, a label, a note."""
    draw = np.random.default_rng(seed)
    letters = np.frombuffer(b"ACDEFGHIKLMNPQRSTVWY", np.uint8)[draw.integers(0, 20, (rows, 30))]
    sequences = pa.array(letters.view("S30").ravel().astype(str))
    notes = pa.array([f"batch {number}" for number in draw.integers(0, 500, rows)])
    ids = pa.array([f"{'new' if seed else 'row'}{number:08d}" for number in range(rows)])
    labels = pa.array(draw.integers(0, 4, rows))
    return pa.table({"id": ids, "sequence": sequences, "score": draw.normal(size=rows), "label": labels, "note": notes})


def variants(old: pa.Table, new: pa.Table) -> Iterator[tuple[str, bool, pa.Table]]:
    """Where the new rows go; whether it is one place; the table with them."""
    middle = len(old) // 2
    yield "at the end", True, pa.concat_tables([old, new])
    yield "in the middle", True, pa.concat_tables([old.slice(0, middle), new, old.slice(middle)])
    yield "at the front", True, pa.concat_tables([new, old])
    for count in (10, len(new)):
        cuts = np.linspace(0, len(old), count + 1, dtype=int)
        size = len(new) // count
        parts = [
            part
            for number in range(count)
            for part in (old.slice(cuts[number], cuts[number + 1] - cuts[number]), new.slice(number * size, size))
        ]
        yield f"at {count} places", False, pa.concat_tables(parts)


def send(path: Path, store: Any) -> None:
    """Send a file to the store."""
    import hf_xet

    xet: Any = hf_xet
    with xet.XetSession().new_upload_commit(endpoint=store.url) as commit:
        commit.start_upload_file(str(path), sha256=xet.COMPUTE_SHA256)


def grown(folder: Path, old: Path, new: Path) -> int:
    """By how much a fresh store with `old` grows when `new` is sent."""
    from loophub.xet import XetStore

    store = XetStore(folder)
    send(old, store)
    before = store.stored_bytes()
    send(new, store)
    return store.stored_bytes() - before


def main() -> None:
    from schemas.parquet import write_parquet

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["HF_XET_CACHE"] = str(folder / "cache")
        old, new = table(rows), table(INSERTED, seed=1)
        write_parquet(folder / "old.parquet", old.schema, old.to_batches())
        pq.write_table(old, folder / "plain-old.parquet", compression="zstd", row_group_size=len(old))
        print(f"{rows:,} rows, {(folder / 'old.parquet').stat().st_size / 1e6:.1f} MB; {INSERTED} rows inserted")
        print(f"{'':16} {'sent by goldsmith':>24} {'without chunking':>24}")
        for number, (name, one_place, after) in enumerate(variants(old, new)):
            write_parquet(folder / "new.parquet", after.schema, after.to_batches())
            pq.write_table(after, folder / "plain-new.parquet", compression="zstd", row_group_size=len(after))
            sizes = []
            for kind in ("", "plain-"):
                sent = grown(folder / f"{kind}{number}", folder / f"{kind}old.parquet", folder / f"{kind}new.parquet")
                sizes.append((sent, sent / (folder / f"{kind}new.parquet").stat().st_size))
            print(f"{name:16} " + " ".join(f"{sent / 1e6:12.2f} MB ({share:6.1%})" for sent, share in sizes))
            good &= not one_place or sizes[0][1] < LIMIT
    print(f"under a third for rows at one place: {'yes' if good else 'NO'}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
