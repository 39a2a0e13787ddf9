"""Rows of the tables, from the internal form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from builders.vigor.forms import Claim, Concept, Picture
from builders.vigor.generate import Generated
from builders.vigor.licences import releasable
from builders.vigor.masks import Mask
from builders.vigor.pixels import sha256, upright
from builders.vigor.verify.decide import POLICY
from schemas import Table

_NOTHING: dict[str, Any] = dict.fromkeys(
    (
        "counts",
        "height",
        "width",
        "area",
        "mask_box",
        "box",
        "source_area",
        "parent_id",
        "subject_id",
        "object_id",
        "frames",
        "void",
        "method",
        "score",
        "votes",
        "why",
        "policy",
    )
)


def image_id(source: str, key: str) -> str:
    """Of a picture."""
    return f"{source}:{key}"


def grounding_id(source: str, key: str) -> str:
    """Of a source's claim."""
    return f"{source}:{key}"


def image_row(source: str, picture: Picture) -> dict[str, Any]:
    """A row of `images`; the file is read if it is at hand, and kept if it may be passed on."""
    allowed = releasable(picture.licence)
    row: dict[str, Any] = {
        "image_id": image_id(source, picture.key),
        "source": source,
        "file_name": picture.file_name,
        "clip": picture.clip,
        "frame": picture.frame,
        "width": picture.width,
        "height": picture.height,
        "licence": picture.licence,
        "pixels_allowed": allowed,
        "url": picture.url,
    }
    row |= dict.fromkeys(("pixel_width", "pixel_height", "turned", "image", "sha256"))
    if picture.path is not None:
        data, width, height, turned = upright(picture.path)
        row |= {"pixel_width": width, "pixel_height": height, "turned": turned, "sha256": sha256(data)}
        if allowed:
            name = picture.path.stem + ".png" if turned else picture.path.name
            row["image"] = {"bytes": data, "path": name}
    return row


def concept_row(concepts: Sequence[tuple[str, Concept]]) -> dict[str, Any]:
    """A row of `concepts` from what each source says of it: (source, concept), the first one's words first."""
    first = concepts[0][1]
    known = [concept for _, concept in concepts]
    return {
        "concept_id": first.id,
        "level": first.level,
        "lemma": first.lemma,
        "sense": first.sense or None,
        "synset": next((each.synset for each in known if each.synset), None),
        "definition": next((each.definition for each in known if each.definition), None),
        "synonyms": sorted({word for each in known for word in each.synonyms}),
        "family": first.family or None,
        "sources": sorted({source for source, _ in concepts}),
    }


def claim_row(source: str, picture: Picture, claim: Claim, frame_ids: Mapping[int, str]) -> dict[str, Any]:
    """A row of `groundings` for what a source says. `frame_ids`: image ids of the clip's frames."""
    row = {
        **_NOTHING,
        "grounding_id": grounding_id(source, claim.key),
        "image_id": image_id(source, picture.key),
        "concept_id": claim.concept.id,
        "level": claim.concept.level,
        "truth": claim.truth,
        "origin": "reused",
        "status": "reused",
        "source": source,
        "origin_ids": list(claim.origin),
        "box": list(claim.box) if claim.box else None,
        "source_area": None if claim.source_area is None else float(claim.source_area),
        "crowd": claim.crowd,
        "exhaustive": claim.exhaustive,
        "void": claim.ignore.counts if claim.ignore else None,
        **_region(claim.mask),
    }
    for column, key in (("parent_id", claim.parent), ("subject_id", claim.subject), ("object_id", claim.object)):
        row[column] = None if key is None else grounding_id(source, key)
    if claim.frames:
        row["frames"] = [
            {"frame": frame, "image_id": frame_ids[frame], "counts": mask.counts if mask else None}
            for frame, mask in claim.frames
        ]
    return row


def generated_row(source: str, picture: Picture, made: Generated) -> dict[str, Any]:
    """A row of `groundings` for a proposal. Only an accepted one is present; no other says anything."""
    proposal, decision = made.proposal, made.decision
    image = image_id(source, picture.key)
    digest = hashlib.sha256(
        "\0".join((image, proposal.concept.id, proposal.mask.counts, proposal.parent or "", proposal.method)).encode()
    )
    votes = [
        {"source": vote.source, "answer": vote.answer, "margin": round(vote.margin, 4), "detail": vote.detail}
        for vote in made.votes
    ]
    return {
        **_NOTHING,
        "grounding_id": f"generated:{digest.hexdigest()[:20]}",
        "image_id": image,
        "concept_id": proposal.concept.id,
        "level": proposal.concept.level,
        "truth": "present" if decision.status == "accepted" else "unknown",
        "origin": "generated",
        "status": decision.status,
        "source": source,
        "origin_ids": [],
        "crowd": False,
        "exhaustive": False,
        "parent_id": None if proposal.parent is None else grounding_id(source, proposal.parent),
        "method": proposal.method,
        "score": round(decision.score, 4) if decision.status == "accepted" else None,
        "votes": json.dumps({"facts": proposal.facts, "votes": votes}, sort_keys=True),
        "why": decision.why,
        "policy": POLICY,
        **_region(proposal.mask),
    }


def _region(mask: Mask | None) -> dict[str, Any]:
    if mask is None:
        return {}
    sizes = {"height": mask.height, "width": mask.width, "area": mask.area, "mask_box": list(mask.box)}
    return {"counts": mask.counts, **sizes}


def batch(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Rows as the table's record batch."""
    arrays = []
    for declared in table.arrow:
        values = [row[declared.name] for row in rows]
        kind = declared.type
        if isinstance(kind, pa.BaseExtensionType):
            arrays.append(pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type)))
        else:
            arrays.append(pa.array(values, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=table.arrow)
