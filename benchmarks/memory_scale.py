"""Peak memory of a build as its input grows: each builder's sample, replicated, on the local engine with two workers.

Peak resident memory of the driver and of its largest worker (VmHWM: Linux alone); flat means that the largest input
takes at most 20 % more than the sample itself. Ends with 1 if a builder's memory grows.
Run: python benchmarks/memory_scale.py [NAME ...] [--times 1 30] [-o FOLDER]
VeriVul's copies are the same programs in other commits, so that ESBMC's verdicts come from its cache: the memory of a
run of ESBMC, which has a bound of its own, is not in these figures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("sketch", "vaani", "verivul", "vigor", "virogym", "webspatial")

WORKERS = 2
FLAT = 1.2


def peak(process: int | str) -> float:
    """The most resident memory that a process ever had, in MB; 0 if it is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


class Workers(threading.Thread):
    """Watches this process's workers and keeps the highest peak. What they start themselves (git, ESBMC) is no part."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            self.peak = max([self.peak, *map(peak, children)])


def build(name: str, folder: Path, out: Path) -> None:
    """Build from a replicated sample and print what it took, as a line of JSON."""
    from builders.build import build as run
    from builders.registry import get
    from builders.sources import Sources

    workers = Workers()
    workers.start()
    result = run(get(name), Sources.load(folder, offline=True), out, workers=WORKERS, progress=False)
    workers.over.set()
    rows = sum(result.rows.values()) + sum(result.rejects.values())
    print(json.dumps({"driver": peak("self"), "worker": workers.peak, "shards": result.built, "rows": rows}))


def measure(name: str, times: int, room: Path, cache: Path) -> dict[str, float]:
    """The figures of one build, in a process of its own."""
    from memory_inputs import GROW  # Here, for the processes that are measured import this module.

    sample = room / "sample"
    shutil.copytree(ROOT / "builders" / name / "sample", sample)
    GROW[name](sample, times)
    command = [sys.executable, __file__, "--one", name, str(sample), str(room / "out")]
    start = time.monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "GOLDSMITH_ESBMC_CACHE": str(cache)}
    )
    if done.returncode:
        raise SystemExit(f"{name} x {times} failed:\n{done.stderr[-2000:]}")
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": time.monotonic() - start}


def grows(name: str, all_times: list[int], place: Path | None) -> bool:
    """Measure a builder, print its lines, and say whether its memory grows."""
    peaks = []
    with tempfile.TemporaryDirectory(dir=place) as cache:
        for times in all_times:
            with tempfile.TemporaryDirectory(dir=place) as room:
                found = measure(name, times, Path(room), Path(cache))
            peaks.append((found["driver"], found["worker"]))
            print(
                f"{name:10} {times:5} {found['shards']:7} {found['rows']:10,} {found['driver']:10.0f} "
                f"{found['worker']:10.0f} {found['seconds']:8.0f}",
                flush=True,
            )
    ratios = [last / first for first, last in zip(peaks[0], peaks[-1], strict=True)]
    verdict = "flat" if max(ratios) <= FLAT else "GROWS"
    print(f"{name:10} driver x {ratios[0]:.2f}, worker x {ratios[1]:.2f}: {verdict}", flush=True)
    return max(ratios) > FLAT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 30])
    parser.add_argument("-o", "--out", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        build(chosen.one[0], Path(chosen.one[1]), Path(chosen.one[2]))
        return
    print(f"{'builder':10} {'times':>5} {'shards':>7} {'rows':>10} {'driver MB':>10} {'worker MB':>10} {'seconds':>8}")
    growing = [name for name in chosen.names or NAMES if grows(name, chosen.times, chosen.out)]
    if growing:
        raise SystemExit(f"more than {FLAT} times the memory of {chosen.times[0]} x: {', '.join(growing)}")


if __name__ == "__main__":
    main()
