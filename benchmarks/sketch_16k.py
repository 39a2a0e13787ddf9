"""16,000 drawings with parts: the build with renderings and masks, and the statistics alone.

    python benchmarks/sketch_16k.py --spg FOLDER [--drawings 16000] [--workers 2]

FOLDER holds SPG's *_raw.ndjson and .txt files; its drawings are said again under new keys until there are enough
(800 of each category at most, so categories are repeated, too). Prints seconds, drawings a second, and peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import time
from pathlib import Path

from builders.build import build
from builders.sketch import orders
from builders.sketch.builder import BUILDER
from builders.sketch.forms import Entry
from builders.sketch.readers import open_source
from builders.sources import Sources

IN_A_CATEGORY = 800


def replicate(spg: Path, to: Path, wanted: int) -> int:
    """Write `wanted` drawings as files of 800; a drawing's copies have keys and a shift of their own."""
    files = sorted(path for path in spg.glob("*_raw.ndjson") if (spg / names_of(path)).is_file())
    number, copy = 0, 0
    while number < wanted:
        for path in files:
            category = path.name.removesuffix("_raw.ndjson") + ("" if copy == 0 else f"_copy{copy}x")
            records = [json.loads(line) for line in path.read_text().splitlines()]
            out = []
            while len(out) < IN_A_CATEGORY and number < wanted:
                record = records[len(out) % len(records)]
                shift = len(out) // len(records)
                strokes = [[[x + shift for x in stroke[0]], *stroke[1:]] for stroke in record["drawing"]]
                out.append(json.dumps({"key_id": f"{number}", "drawing": strokes}))
                number += 1
            if out:
                (to / f"{category}_raw.ndjson").write_text("\n".join(out) + "\n")
                shutil.copyfile(spg / names_of(path), to / f"{category}.txt")
        copy += 1
    return number


def names_of(path: Path) -> str:
    """The file of label names that goes with one of drawings."""
    return path.name.removesuffix("_raw.ndjson") + ".txt"


def statistics(folder: Path) -> tuple[float, int]:
    """Seconds for reading all drawings and measuring all categories in one process, and how many categories."""
    begin = time.perf_counter()
    reader = open_source("spg", folder)
    by_category: dict[str, list[list[str]]] = {}
    for entry in reader.entries():
        if isinstance(entry, Entry):
            by_category.setdefault(entry.category, []).append(reader.drawing(entry).part_order)
    for category, drawings in by_category.items():
        orders.measure(drawings, orders.seed_of("spg", category))
    return time.perf_counter() - begin, len(by_category)


def main() -> None:
    """Run the two parts and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--spg", type=Path, required=True)
    parser.add_argument("--drawings", type=int, default=16_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "spg"
        folder.mkdir()
        count = replicate(given.spg, folder, given.drawings)
        seconds, categories = statistics(folder)
        print(f"statistics: {count:,} drawings in {categories} categories, {seconds:.1f} s in one process")
        sources = Sources.load(BUILDER.folder, overrides={"spg": folder}, offline=True)
        begin = time.perf_counter()
        build(BUILDER, sources, Path(room) / "out", workers=given.workers, progress=False)
        seconds = time.perf_counter() - begin
        size = sum(path.stat().st_size for path in (Path(room) / "out" / "data").rglob("*.parquet"))
        rate = count / seconds
        print(f"build: {seconds:.1f} s with {given.workers} workers, {rate:.0f} drawings a second, {size / 1e6:.0f} MB")
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"peak memory of a process: {peak / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
