"""552,065 variants: parsing with all checks, the whole build, and pandas doing less.

    python benchmarks/virogym_552k.py CACHE [--mirror ../shared/mirror] [--rounds 5] [--workers 2] [--full]

Replicated real assays (`virogym_inputs.py`) are written to CACHE once. Each measurement is a fresh process, imports
included; the ways take turns, so that a busy machine slows all. Targets on 2 cores: parsing and checks at most 3 s and
600 MB, build at most 30 s, parsing and checks at least 3 times faster than `reference_pandas.py`.

* `check`: every table is read, resolved and merged (the builder's readers, no rows written); then `quality.run.check`
  with all shared checks and ViroGym's own over the dataset that `build` made; without the profile, which checks
  nothing (`--full` adds a line with it). `both_s` is that, `wall_s` the whole process with its imports;
* `build`: from the tables to Parquet: all five tables, lineage, rejects, build.json;
* `pandas`: `reference_pandas.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def measure_build(cache: Path, workers: int) -> dict[str, float]:
    """Build into an empty folder."""
    from builders.build import build
    from builders.sources import Sources
    from builders.virogym.builder import BUILDER

    shutil.rmtree(cache / "built", ignore_errors=True)
    build(BUILDER, Sources.load(cache / "inputs"), cache / "built", workers=workers, progress=False)
    return {}


def measure_check(cache: Path, workers: int, without: tuple[str, ...] = ("profile",)) -> dict[str, float]:
    """Parse all tables, then check the built dataset; `import_s` of the time goes to imports."""
    start = time.perf_counter()
    import polars as pl

    from builders.sources import Sources
    from builders.virogym import references, registry, resolve, variants
    from builders.virogym.checks import CHECKS
    from builders.virogym.readers import read
    from quality.run import GROUPS, check
    from schemas import DatasetFolder

    imported = time.perf_counter()
    folder = cache / "inputs"
    known, sources = registry.read_registry(folder / "assays.toml"), Sources.load(folder)

    def parse(entry: registry.AssayEntry) -> int:
        reference = proteins[entry.reference]
        resolved = resolve.resolve(read(entry, sources.text(entry.source), reference, "benchmark"), reference, entry)
        return variants.merged(resolved.filter(pl.col("reason").is_null()))[0].height

    with ThreadPoolExecutor(workers) as pool:
        loaded = pool.map(lambda item: references.load(*item, sources), known.references.items())
        proteins = dict(zip(known.references, loaded, strict=True))
        rows = sum(pool.map(parse, known.assays.values()))
    parsed = time.perf_counter()
    groups = [group for group in GROUPS if group not in without]
    report = check(DatasetFolder(cache / "built"), CHECKS, threads=workers, groups=groups)
    checked = time.perf_counter()
    times = {"import_s": imported - start, "parse_s": parsed - imported, "check_s": checked - parsed}
    return {"rows": rows, **times, "both_s": checked - imported, "passed": report.passed}


def measure_full(cache: Path, workers: int) -> dict[str, float]:
    """Parsing and checks with the profile of every column."""
    return measure_check(cache, workers, without=())


def measure_pandas(cache: Path, workers: int) -> dict[str, float]:
    """The reference implementation."""
    sys.argv = ["reference_pandas.py", str(cache / "inputs")]
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import reference_pandas

    reference_pandas.main()
    return {}


WAYS = {"build": measure_build, "check": measure_check, "pandas": measure_pandas, "full": measure_full}


def one(way: str, cache: Path, workers: int) -> None:
    """Run in a fresh process: measure and print JSON on the last line."""
    found = WAYS[way](cache, workers)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(each.ru_utime + each.ru_stime for each in usage)
    print(json.dumps({**found, "peak_mb": peak, "cpu_s": cpu}))


def run(way: str, cache: Path, workers: int) -> dict[str, float]:
    """Wall seconds, CPU seconds and peak memory of a fresh process."""
    command = [sys.executable, __file__, str(cache), "--one", way, "--workers", str(workers)]
    start = time.perf_counter()
    env = {
        **os.environ,
        "POLARS_MAX_THREADS": str(workers),
        "GOLDSMITH_CACHE": str(cache / "sources"),
        # As on a machine where the program ran before.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(cache / "bytecode"),
    }
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(done.stderr)
    return {"wall_s": time.perf_counter() - start, **json.loads(done.stdout.splitlines()[-1])}


def main() -> None:
    """Measure in turns and print medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("--mirror", default=str(ROOT.parent / "shared" / "mirror"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--one", choices=list(WAYS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.cache, options.workers)
        return
    from virogym_inputs import VARIANTS, make

    assays = make(options.cache / "inputs", options.mirror, options.cache / "sources")
    print(f"{VARIANTS:,} variants in {assays} assays; {options.rounds} rounds, {options.workers} threads or workers")
    ways = [way for way in WAYS if options.full or way != "full"]
    results: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way in ways:
            results[way].append(run(way, options.cache, options.workers))
    middle = {
        way: {key: statistics.median(each[key] for each in found) for key in found[0]} for way, found in results.items()
    }
    if middle["check"]["rows"] != VARIANTS:
        raise SystemExit(f"{middle['check']['rows']} variants were parsed, not {VARIANTS}")
    for way, figures in middle.items():
        print(f"{way:7s}", "  ".join(f"{key} {value:,.2f}" for key, value in figures.items()))
    for clock in ("wall_s", "cpu_s"):
        print(f"pandas / check, {clock}: {middle['pandas'][clock] / middle['check'][clock]:.1f} times")


if __name__ == "__main__":
    main()
