"""The generator: propose, verify, and keep everything with its votes. The same code makes the dataset and is tried in
the back-test, where the truth is known and hidden from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builders.vigor.masks import Mask
from builders.vigor.proposals import Proposal, Proposer, Scene
from builders.vigor.proposals.colour import Colour
from builders.vigor.proposals.lines import Lines
from builders.vigor.proposals.motion import Motion
from builders.vigor.proposals.regions import Regions
from builders.vigor.proposals.texture import Textures
from builders.vigor.verify import Verifier, Vote
from builders.vigor.verify.contrast import ColourScorer, Contrast, Counterfactual
from builders.vigor.verify.decide import Decision, decide, gates
from builders.vigor.verify.measure import Agreement, Measurement
from builders.vigor.verify.questions import Questions
from builders.vigor.words import COLOURS


@dataclass(frozen=True)
class Generated:
    """A proposal, what was voted on it and what became of it."""

    proposal: Proposal
    votes: tuple[Vote, ...]
    decision: Decision


@dataclass(frozen=True)
class Generator:
    """Proposers and verifiers that work together."""

    proposers: tuple[Proposer, ...]
    verifiers: tuple[Verifier, ...]

    def run(self, scene: Scene) -> list[Generated]:
        """All proposals of a scene, decided in the order of the proposers."""
        height, width = scene.pixels.shape[:2]
        holders = {claim.key: claim.mask for claim in scene.claims}
        names = sorted({claim.concept.lemma for claim in scene.claims if claim.concept.level == "object"})
        said = {(claim.parent, claim.concept.family) for claim in scene.claims if claim.truth == "present"}
        accepted: list[tuple[str, str, Mask]] = []
        found = []
        for proposer in self.proposers:
            for proposal in proposer.propose(scene):
                if proposal.concept.family and (proposal.parent, proposal.concept.family) in said:
                    continue  # The source has said it: nothing is missing.
                siblings = COLOURS if proposal.concept.family == "colour" else names
                failed = gates(proposal, height, width, holders.get(proposal.parent or ""), accepted)
                votes = () if failed else self._votes(scene, proposal, siblings)
                decision = decide(proposal.concept.level, failed, votes)
                if decision.status == "accepted":
                    accepted.append((proposal.concept.family, proposal.concept.id, proposal.mask))
                found.append(Generated(proposal, votes, decision))
        return found

    def _votes(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> tuple[Vote, ...]:
        votes = (verifier.vote(scene, proposal, siblings) for verifier in self.verifiers)
        return tuple(vote for vote in votes if vote is not None)


def offline(answers: dict[str, bool | None] | None = None, textures: Textures | None = None) -> Generator:
    """The generator that needs no weights: colour, edges, motion, masks for boxes, and known surfaces.

    `answers`: recorded answers of a vision model, which names need before they are accepted.
    """
    proposers: tuple[Proposer, ...] = (Colour(), Lines(), Motion(), Regions())
    if textures is not None:
        proposers = (*proposers, textures)
    scorer = ColourScorer()
    verifiers: tuple[Verifier, ...] = (
        Measurement(),
        Contrast(scorer, ("colour",)),
        Agreement(textures),
        Counterfactual(scorer, ("colour",)),
        Questions(answers or {}),
    )
    return Generator(proposers, verifiers)
