"""552,065 predictions: `goldsmith score virogym`, from the file to the table, in a fresh process.

    python benchmarks/virogym_score.py CACHE [--mirror ../shared/mirror] [--rounds 5] [--workers 2]

The dataset is that of `virogym_552k.py` (replicated real assays; built in CACHE once). Predictions are
random numbers for every variant of the tables, as CSV with `mutant` and as Parquet with `variant_id`. Target on 2
cores: at most 10 s.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))


def prepare(cache: Path, mirror: str, workers: int) -> dict[str, Path]:
    """Build the dataset and write the predictions, unless they are there."""
    from virogym_inputs import make

    from builders.build import build
    from builders.sources import Sources
    from builders.virogym.builder import BUILDER

    if not (cache / "built" / "build.json").exists():
        make(cache / "inputs", mirror, cache / "sources")
        build(BUILDER, Sources.load(cache / "inputs"), cache / "built", workers=workers, progress=False)
    files = {"csv": cache / "predictions.csv", "parquet": cache / "predictions.parquet"}
    if not all(path.exists() for path in files.values()):
        rows = pl.read_parquet(cache / "built/data/variants/*.parquet", columns=["assay_id", "variant_id", "mutant"])
        rows = rows.with_columns(score=pl.Series(np.random.default_rng(0).normal(size=rows.height)))
        rows.drop("variant_id").write_csv(files["csv"])
        rows.drop("mutant").write_parquet(files["parquet"])
    return files


def run(path: Path, cache: Path, workers: int) -> dict[str, float]:
    """Wall seconds, CPU seconds and peak memory of a fresh process."""
    code = (
        "import json, resource, sys, goldsmith\n"
        "try:\n    goldsmith.main(sys.argv[1:])\nexcept SystemExit as end:\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    figures = {'cpu_s': used.ru_utime + used.ru_stime, 'peak_mb': used.ru_maxrss / 1024}\n"
        "    print(json.dumps(figures), file=sys.stderr)\n    sys.exit(end.code)\n"
    )
    command = [sys.executable, "-c", code, "score", "virogym", str(path), "-d", str(cache / "built"), "--json"]
    env = {**os.environ, "POLARS_MAX_THREADS": str(workers), "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    report = json.loads(done.stdout)
    figures = json.loads(done.stderr.splitlines()[-1])
    return {"wall_s": wall, **figures, "rows": report["rows"], "assays": report["groups"]}


def main() -> None:
    """Measure in turns and print medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("--mirror", default=str(ROOT.parent / "shared" / "mirror"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    files = prepare(options.cache, options.mirror, options.workers)
    found: dict[str, list[dict[str, float]]] = {form: [] for form in files}
    for _ in range(options.rounds):
        for form, path in files.items():
            found[form].append(run(path, options.cache, options.workers))
    for form, some in found.items():
        middle = {key: statistics.median(each[key] for each in some) for key in some[0]}
        worst = max(each["wall_s"] for each in some)
        print(f"{form:8}", "  ".join(f"{key} {value:,.2f}" for key, value in middle.items()), f" worst {worst:.2f} s")


if __name__ == "__main__":
    main()
