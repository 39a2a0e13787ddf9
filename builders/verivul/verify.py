"""Checks every label of a built VeriVul again: ESBMC with the recorded arguments, and the sanitizers once more.

    python -P -m builders.verivul.verify FOLDER

It reads nothing but the rows, as a stranger would who has the dataset and ESBMC.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from builders.verivul import esbmc, profiles, python_subset, trace
from builders.verivul.command import tool
from builders.verivul.program import Owner, Program
from builders.verivul.python_subset import NotAllowedError
from builders.verivul.replay import replay
from schemas import GoldsmithError

_SECONDS = 60
_VERDICTS = {"vulnerable": "violated", "safe": "safe"}


@dataclass(frozen=True)
class Verified:
    """A program's label, checked again.

    Attributes:
        verdict: of ESBMC now, or `refused`: what the row says to run is not what the builder makes, and was not run;
            `agrees` whether it is the label, at the recorded line.
        replayed: of a vulnerable C program, what the sanitizers say now; empty for others.
    """

    program_id: str
    label: str
    verdict: str
    agrees: bool
    replayed: str = ""


def verify(folder: Path) -> Iterator[Verified]:
    """Check each program.

    Raises:
        GoldsmithError: the folder is no built VeriVul.
    """
    files = sorted((folder / "data" / "programs").glob("*.parquet"))
    if not files:
        raise GoldsmithError(f"[{folder}] has no table programs: give the folder of a built VeriVul")
    for row in pl.concat([pl.read_parquet(file, glob=False) for file in files]).iter_rows(named=True):
        if _refused(row):
            yield Verified(row["program_id"], row["label"], "refused", agrees=False)
            continue
        suffix = ".c" if row["language"] == "c" else ".py"
        run = esbmc.run(row["code"], row["esbmc_args"], seconds=_SECONDS, suffix=suffix)
        agrees = run.verdict == _VERDICTS[row["label"]]
        replayed = ""
        if row["label"] == "vulnerable" and row["language"] == "c":
            found = [one for one in trace.read(run.output) if one.violation.comment == row["property"]]
            agrees = agrees and bool(found)
            if found:
                program = Program(row["code"], ((1, Owner("target")),), (0,) * row["code"].count("\n"))
                replayed = replay(program, found[0].inputs, leaks=row["profile"] == "leak").outcome
        yield Verified(row["program_id"], row["label"], run.verdict, agrees, replayed)


def _refused(row: dict[str, Any]) -> bool:
    """Whether a row would have ESBMC do more than check a program; the rows may be anybody's."""
    if row["language"] == "python":
        try:
            python_subset.require(row["code"])
        except NotAllowedError:
            return True
    return not profiles.known(row["esbmc_args"])


@tool
def main() -> None:
    """The command line: a line for each program, exit code 1 if a label does not hold."""
    parser = argparse.ArgumentParser(prog="python -P -m builders.verivul.verify", description=__doc__)
    parser.add_argument("folder", type=Path)
    found = []
    for one in verify(parser.parse_args().folder):
        found.append(one)
        sys.stdout.write(f"{one.program_id} {one.label:10} {one.verdict:10} {'agrees' if one.agrees else 'DISAGREES'} "
                         f"{one.replayed}\n")  # fmt: skip
    wrong = sum(not one.agrees for one in found)
    sys.stdout.write(f"{len(found)} programs, {wrong} disagree\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
