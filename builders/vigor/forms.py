"""The internal form that every reader gives: pictures, concepts, and what a source says of a concept in a picture.

Truth has three values. Absent is said only where the source says it; what nobody looked for is unknown and is never
written down as a negative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from builders.vigor.masks import Box, Mask
from schemas import GoldsmithError

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
    """A concept from a source's own name for it: case, underscores and a sense in brackets are taken apart."""
    text = " ".join(name.replace("_", " ").lower().split())
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


@dataclass(frozen=True)
class Problem:
    """A record of the source that becomes no claim."""

    reason: str
    message: str
    place: str
    record: str = ""


class Reader(Protocol):
    """A source in one of the formats. Reads the text files once; pixels only when asked for a picture's claims."""

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
        """Records that belong to no picture."""
        ...


@lru_cache(maxsize=4)
def _load(path: Path, stamp: int) -> Any:
    import json

    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise GoldsmithError(f"[{path.name}] is no JSON ({error}): fetch it again, whole") from None


def load_json(path: Path) -> Any:
    """The content of a JSON file; the last few are kept, for shards of one source read the same file."""
    return _load(path, path.stat().st_mtime_ns)


def json_files(folder: Path) -> list[Path]:
    """All JSON files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))


class Files:
    """The pictures below a folder, found by the end of their path (`car/00000.jpg`, or `00000.jpg` alone)."""

    def __init__(self, folder: Path) -> None:
        kinds = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}
        self._paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in kinds]
        self._ends: dict[str, Path] = {}
        for path in self._paths:
            parts = path.relative_to(folder).parts
            for start in range(len(parts)):
                self._ends.setdefault("/".join(parts[start:]), path)

    def all(self) -> list[Path]:
        """Every picture."""
        return self._paths

    def find(self, *names: str, not_in: str = "") -> Path | None:
        """The first of `names` that there is. A name with a folder falls back to its last part (COCO's own layout)."""
        for name in names:
            found = self._ends.get(name) or self._ends.get(name.rpartition("/")[2])
            if found is not None and (not not_in or not_in not in found.parts):
                return found
        return None


def short(record: Any) -> str:
    """A record for the rejects, without the run lengths and points."""
    import json

    return json.dumps(record, ensure_ascii=False, sort_keys=True, default=str)[:400]
