"""What comes of a fix: attempts with their outcomes, and certified pairs."""

from __future__ import annotations

from dataclasses import dataclass

from builders.verivul.esbmc import Property
from builders.verivul.program import Program
from builders.verivul.replay import Replay
from builders.verivul.trace import Trace


@dataclass(frozen=True)
class Attempt:
    """A try, or the reason why there was none.

    Attributes:
        mode: `slice`, `whole` or `model`; empty before there is a program.
        setup: number of the setup in the ladder; `round` how often it was narrowed.
        before, after: verdicts of ESBMC, empty where it did not run.
        outcome: `certified`, or a reason.
    """

    function: str
    mode: str
    setup: int
    round: int
    profile: str
    before: str
    after: str
    outcome: str
    message: str = ""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A certified pair.

    Attributes:
        line: violating line of the program before; `statement` its text; `place` `criterion`, `slice` or `callee`.
        found_by: ESBMC's arguments that violate the program before; `arguments` those that find the other safe.
        proof: `bounded`, `forward condition` or `inductive step`; `proof_bound` its k.
        reached: probes of the safe program that are reachable, and how many there are.
    """

    function: str
    mode: str
    profile: str
    before: Program
    after: Program
    violation: Property
    trace: Trace
    line: int
    statement: str
    place: str
    found_by: tuple[str, ...]
    arguments: tuple[str, ...]
    proof: str
    proof_arguments: tuple[str, ...]
    proof_bound: int
    assumptions: tuple[str, ...]
    repairs: tuple[str, ...]
    reached: tuple[int, int]
    replay: Replay
    solver: str


@dataclass
class Budget:
    """Runs of ESBMC that a fix may still use."""

    runs: int


@dataclass(frozen=True)
class Scope:
    """What counts as the fix, in lines of the repository's files.

    Attributes:
        function: the changed function.
        criterion, slice: lines of the file before the fix.
        changed: lines of the file after it.
    """

    function: str
    criterion: frozenset[int]
    slice: frozenset[int]
    changed: frozenset[int]
