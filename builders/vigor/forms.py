"""The internal form that every reader gives: pictures, concepts, and what a source says of a concept in a picture.

Truth has three values. Absent is said only where the source says it; what nobody looked for is unknown and is never
written down as a negative.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from builders.vigor.masks import Mask
from builders.vigor.values import BadValueError, Box

LEVELS = ("low", "intermediate", "object", "part", "motion", "relation")
TRUTHS = ("present", "absent", "unknown")

_SENSE = re.compile(r"(?P<lemma>.*?)[ _]*\((?P<sense>[^)]*)\)(?P<rest>.*)")


@dataclass(frozen=True)
class Concept:
    """Something a rationale can name.

    Attributes:
        level: one of `LEVELS`.
        lemma: lower case, words with blanks between.
        sense: what tells it from others of the same lemma: `animal` of `bat (animal)`, the holder of a part.
        synset: WordNet's name for it (`bat.n.01`), where the source gives one.
        synonyms: other lemmas.
        family: concepts of a family exclude each other on the same pixels (`colour`); "" for none.
    """

    level: str
    lemma: str
    sense: str = ""
    synset: str | None = None
    synonyms: tuple[str, ...] = ()
    definition: str | None = None
    family: str = ""

    @property
    def id(self) -> str:
        """Its name for ever: `object/bat (animal)`."""
        return f"{self.level}/{self.lemma}" + (f" ({self.sense})" if self.sense else "")


def named(level: str, name: str, **more: Any) -> Concept:
    """A concept from a source's own name for it: case, underscores and a sense in brackets are taken apart.

    Raises:
        BadValueError: nothing is left of it.
    """
    text = " ".join(name.replace("_", " ").lower().split())
    if not text:
        raise BadValueError("wrong_type", f"the name {name!r} has no letter")
    if level == "low":
        text = re.sub(r"\bgray\b", "grey", text)
    sense = more.pop("sense", "")
    if (match := _SENSE.fullmatch(text)) and not sense:
        text = f"{match['lemma']}{match['rest']}".strip() or text
        sense = match["sense"].strip()
    plain = [" ".join(each.replace("_", " ").lower().split()) for each in more.pop("synonyms", ())]
    plain = [re.sub(r"\s*\([^)]*\)", "", each).strip() for each in plain]
    synonyms = tuple(sorted({each for each in plain if each and each != text}))
    return Concept(level, text, " ".join(sense.lower().split()), synonyms=synonyms, **more)


@dataclass(frozen=True)
class Picture:
    """A picture, or a frame of a clip, as a source lists it.

    Attributes:
        key: the source's id for it.
        licence: the source's own word for its licence; see `licences`.
        path: of the pixels, where they are at hand.
        clip, frame: of a frame: the clip's name and the frame's number from 0.
        place: where the source lists it.
    """

    key: str
    file_name: str
    width: int
    height: int
    licence: str
    url: str | None = None
    path: Path | None = None
    clip: str | None = None
    frame: int | None = None
    place: str = ""


@dataclass(frozen=True)
class Claim:
    """What a source says of a concept in a picture.

    Attributes:
        key: unique in the source, stable.
        truth: one of `TRUTHS`.
        mask, box: the region; a box as the source gives it, not made from the mask.
        source_area: the area that the source gives, in pixels: checked, never trusted.
        crowd: the region holds many of it.
        exhaustive: False where the source says that it did not mark all of them in this picture.
        parent: key of the claim for the whole that this part or property belongs to.
        subject, object: keys of the claims that a relation joins.
        frames: of a masklet: (frame number, mask or None where it is not to be seen).
        ignore: pixels that are neither in nor out (void), of the first frame's mask.
        origin: the source's own ids.
        merged: places of further records that said the same.
    """

    key: str
    concept: Concept
    place: str
    truth: str = "present"
    mask: Mask | None = None
    box: Box | None = None
    source_area: float | None = None
    crowd: bool = False
    exhaustive: bool = True
    parent: str | None = None
    subject: str | None = None
    object: str | None = None
    frames: tuple[tuple[int, Mask | None], ...] = ()
    ignore: Mask | None = None
    origin: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


def short(record: Any) -> str:
    """A record for the rejects, without the run lengths and points."""
    if isinstance(record, dict):
        record = {name: value for name, value in record.items() if name not in ("segmentation", "segmentations")}
    return _writable(json.dumps(record, ensure_ascii=False, sort_keys=True, default=str)[:400])


def _writable(text: str) -> str:
    """The same, half characters spelled out: they cannot be written as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def called(record: Any, key: str = "id") -> str:
    """What a record is called where its place is said, whatever it holds there."""
    return repr(record.get(key))[:40].strip("'") if isinstance(record, dict) else "without a name"


@dataclass(frozen=True)
class Problem:
    """A record of the source that becomes no row of `table`."""

    reason: str
    message: str
    place: str
    record: str = ""
    table: str = "groundings"

    @classmethod
    def of(cls, error: BadValueError, place: str, record: Any, table: str = "groundings") -> Problem:
        """What is wrong with a value of a record."""
        return cls(error.reason, _writable(str(error)[:400]), place, short(record), table)


def attempt(make: Callable[[], Claim], place: str, record: Any) -> Claim | Problem:
    """The claim that `make` makes of a record, or what is wrong with it."""
    try:
        return make()
    except BadValueError as error:
        return Problem.of(error, place, record)


def settle(items: Iterable[Claim | Problem]) -> tuple[list[Claim], list[Problem]]:
    """The claims of a picture that stand, and what is wrong with the others: those said under an earlier one's key, and
    those whose whole, bearer or ends do not stand."""
    claims: dict[str, Claim] = {}
    problems: list[Problem] = []
    for item in items:
        if isinstance(item, Problem):
            problems.append(item)
        elif item.key in claims:
            problems += _lost(item, "duplicate_id", f"an earlier record is called {item.key}, too")
        else:
            claims[item.key] = item
    fallen = True
    while fallen:
        fallen = [
            claim
            for claim in claims.values()
            if any(end is not None and end not in claims for end in (claim.parent, claim.subject, claim.object))
        ]
        for claim in fallen:
            del claims[claim.key]
            problems += _lost(claim, "no_carrier", "what it belongs to was rejected")
    return list(claims.values()), problems


def _lost(claim: Claim, reason: str, message: str) -> list[Problem]:
    """The records of a claim, as problems."""
    return [Problem(reason, message, place, claim.concept.id) for place in (claim.place, *claim.merged)]


class Reader(Protocol):
    """A source in one of the formats. Keeps its pictures; what is said of one is read when it is asked for,
    as are pixels."""

    def pictures(self) -> list[Picture]:
        """All pictures, in a stable order."""
        ...

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        """Every concept it can speak of, with the place that names it."""
        ...

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        """What it says of a picture."""
        ...

    def records(self, picture: Picture) -> int:
        """How many records it has of a picture, counted without reading them: each is a claim, merged, or a problem."""
        ...

    def strays(self) -> list[Problem]:
        """Records that belong to no picture, and pictures and concepts that cannot be used."""
        ...
