"""Proposals: regions for concepts that no source has grounded. A proposal is no grounding; `verify` decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from builders.vigor.forms import Claim, Concept
from builders.vigor.masks import Mask


@dataclass(frozen=True)
class Scene:
    """What a proposer may look at: pixels, the next frame where there is one, and what is known of the picture.

    Attributes:
        pixels: uint8 (height, width, 3).
        following: the frame after it, or None.
        claims: the sources' own claims of the picture.
    """

    pixels: np.ndarray
    following: np.ndarray | None = None
    claims: Sequence[Claim] = ()


@dataclass(frozen=True)
class Proposal:
    """A region that may show a concept.

    Attributes:
        score: of the proposer, between 0 and 1. It is no vote: a detector is sure of things that are not there.
        method: proposer and version.
        parent: key of the claim it belongs to (the object that has the colour).
        facts: what was measured, as JSON values; kept with the grounding.
    """

    concept: Concept
    mask: Mask
    score: float
    method: str
    parent: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class Proposer(Protocol):
    """Something that looks at a scene and proposes. The same scene gives the same proposals."""

    @property
    def method(self) -> str: ...

    def propose(self, scene: Scene) -> Sequence[Proposal]: ...
