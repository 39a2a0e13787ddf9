"""Verification: from a proposal to accept, abstain or reject. The rule is in `decide`; verifiers only vote.

Abstained is neither positive nor negative: it is left out of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from builders.vigor.proposals import Proposal, Scene

Answer = Literal["yes", "no", "unsure"]


@dataclass(frozen=True)
class Vote:
    """What one verifier says of a proposal.

    Attributes:
        source: what it looks with; votes of one source count once.
        margin: how clear it is, 0 to 1.
        detail: what was measured or asked, for people.
    """

    source: str
    answer: Answer
    margin: float = 0.0
    detail: str = ""


class Verifier(Protocol):
    """Something that votes. None where it has nothing to say of this kind of concept."""

    source: str

    def vote(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> Vote | None: ...
