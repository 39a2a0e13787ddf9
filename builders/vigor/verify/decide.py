"""The rule: hard gates, then votes, then accept, abstain or reject.

1. A gate that fails rejects.
2. Any no rejects.
3. Two yes from different sources accept, unless a source that this level asks for is unsure or silent.
4. Everything else abstains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from builders.vigor.masks import Mask
from builders.vigor.proposals import Proposal
from builders.vigor.verify import Vote

POLICY: Final = "vigor-rule/1"
LEAST_PIXELS: Final = 16
LEAST_SHARE: Final = 0.0002
PART_INSIDE: Final = 0.9
PART_PIECES: Final = 3
CONTRADICTION: Final = 0.9
MANDATORY: Final = {
    "low": ("measurement",),
    "intermediate": ("measurement",),
    "motion": ("measurement",),
    "object": ("questions",),
    "part": ("questions",),
    "relation": ("questions",),
}
"""The sources that must say yes, by level: what can be measured is measured; what needs a name is asked."""
YES_NEEDED: Final = 2

Status = Literal["accepted", "abstained", "rejected"]


@dataclass(frozen=True)
class Decision:
    """What became of a proposal: with the margin of its least clear yes as score, and the reason in words."""

    status: Status
    score: float
    why: str


def gates(
    proposal: Proposal, height: int, width: int, holder: Mask | None, accepted: Sequence[tuple[str, str, Mask]]
) -> list[str]:
    """The gates a proposal fails, in words; empty for none.

    Args:
        holder: the whole that a part belongs to.
        accepted: (family, concept id, mask) of what is accepted already in this picture.
    """
    mask, concept = proposal.mask, proposal.concept
    failed = []
    if (mask.height, mask.width) != (height, width):
        return [f"the mask is {mask.width}x{mask.height}, the picture {width}x{height}"]
    least = max(LEAST_PIXELS, LEAST_SHARE * height * width)
    if mask.area < least:
        failed.append(f"{mask.area} pixels are fewer than {least:.0f}")
    if concept.level == "part":
        if holder is not None and mask.share_inside(holder) < PART_INSIDE:
            failed.append(f"only {mask.share_inside(holder):.0%} of the part lies in its object")
        if mask.components() > PART_PIECES:
            failed.append(f"the part has {mask.components()} pieces")
    for family, other, region in accepted:
        if family and family == concept.family and other != concept.id and mask.iou(region) > CONTRADICTION:
            failed.append(f"the same region is accepted as {other}")
    return failed


def decide(level: str, failed: Sequence[str], votes: Sequence[Vote]) -> Decision:
    """Apply the rule."""
    if failed:
        return Decision("rejected", 0.0, failed[0])
    against = [vote for vote in votes if vote.answer == "no"]
    if against:
        return Decision("rejected", 0.0, f"{against[0].source} says no: {against[0].detail}")
    yes = {vote.source: vote for vote in votes if vote.answer == "yes"}
    missing = [source for source in MANDATORY[level] if source not in yes]
    if missing:
        unsure = {vote.source: vote.detail for vote in votes if vote.answer == "unsure"}
        said = f"is unsure: {unsure[missing[0]]}" if missing[0] in unsure else "was not asked"
        return Decision("abstained", 0.0, f"{missing[0]} {said}")
    if len(yes) < YES_NEEDED:
        return Decision("abstained", 0.0, f"only {', '.join(yes) or 'nobody'} says yes")
    return Decision("accepted", min(vote.margin for vote in yes.values()), " and ".join(yes) + " say yes")
