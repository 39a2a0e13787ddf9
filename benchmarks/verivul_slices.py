"""A thousand slices of real functions: time, and how much of a function a slice keeps.

    python benchmarks/verivul_slices.py CLONE COMMIT [CLONE COMMIT ...]

Each function of a tree at a commit with a statement where something can go wrong is sliced at its last such statement.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from pathlib import Path

from builders.verivul.git import Repository
from builders.verivul.index import Index
from builders.verivul.slicer import Function, NoFunctionError

WANTED = 1000
_C = re.compile(r"\.[ch]$")


def main() -> None:
    """Slice and report."""
    done, shares, cpu, wall = 0, [], 0.0, 0.0
    arguments = sys.argv[1:]
    for clone, commit in zip(arguments[::2], arguments[1::2], strict=True):
        with Repository(Path(clone)) as repository:
            index = Index(repository.files(commit, _C))
        jumps = index.jumps()
        for items in index.by_path.values():
            for item in items:
                if item.kind != "function" or done >= WANTED:
                    continue
                start, started = time.process_time(), time.monotonic()
                try:
                    function = Function(item.text, item.line, jumps)
                except NoFunctionError:
                    continue
                sinks = [node for node in function.statements if function.is_sink(node)]
                if sinks:
                    text = function.render(function.slice(sinks[-1:]))
                    cpu += time.process_time() - start
                    wall += time.monotonic() - started
                    whole = [line for line in item.text.split("\n") if line.strip()]
                    shares.append(len([line for line in text.split("\n") if line.strip()]) / len(whole))
                    done += 1
    sys.stdout.write(f"{done} slices: {cpu:.1f} s of processor time, {wall:.1f} s on the clock; "
                     f"a slice keeps {statistics.median(shares):.0%} of the lines (median)\n")  # fmt: skip


if __name__ == "__main__":
    main()
