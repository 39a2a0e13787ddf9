"""VIGOR: from annotated pictures and clips to grounded concepts. Read this first.

`readers` turn each source into one internal form (`forms`); what is missing is proposed (`proposals`), verified
(`verify`) and kept with its votes (`generate`); `backtest` tries the same generator where the truth is hidden;
`tables` makes the rows. A shard is some pictures of one source, or one of the tables that see all sources: concepts,
rationales, audits. What may be released is decided by the checks (`checks`), never here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.api import Batch, Read, Reject, Shard
from builders.vigor import audit, tables
from builders.vigor.checks import CHECKS
from builders.vigor.forms import Concept, Picture
from builders.vigor.generate import Generator, offline
from builders.vigor.pictures import build_pictures, image_rows, reject
from builders.vigor.proposals.colour import colour_concept
from builders.vigor.proposals.lines import LINE
from builders.vigor.proposals.motion import MOVING
from builders.vigor.proposals.texture import from_folder
from builders.vigor.rationales import Lexicon
from builders.vigor.readers import READERS, open_source
from builders.vigor.schema import AUDITS, CONCEPTS, RATIONALES, SPLIT, VIGOR
from builders.vigor.verify.questions import read_answers
from builders.vigor.words import COLOURS
from schemas import DatasetFolder

if TYPE_CHECKING:
    from builders.sources import Sources

PICTURES = 200
"""Pictures of a shard; the frames of a clip stay together."""
EXPECTED = frozenset({"empty_mask", "no_carrier", "self_relation", "small_surface", "unreadable_surface"})


class Vigor:
    """The builder; see `builders.api.Builder`."""

    schema = VIGOR
    version = "1.0.0"
    folder = Path(__file__).parent
    checks = CHECKS
    expected_rejects = EXPECTED
    reject_budget = 0.02

    def plan(self, sources: Sources) -> Iterable[Shard]:
        """Shards of pictures by source, then the tables that see all of them."""
        given = [name for name in READERS if name in sources.names and sources.given(name) and sources.allows(name)]
        extra = tuple(name for name in ("answers", "textures") if _has(sources, name))
        for name in given:
            pictures = open_source(name, sources.path(name)).pictures()
            for index, (first, count) in enumerate(_pieces(pictures)):
                yield Shard(f"{name}.{index:05d}", (name, *extra), {"kind": "pictures", "first": first, "count": count})
            yield Shard(f"{name}.strays", (name,), {"kind": "strays"})
        if given:
            yield Shard("concepts", (*given, *extra), {"kind": "concepts", "sources": given})
        if given and _has(sources, "rationales"):
            yield Shard("rationales", ("rationales", *given), {"kind": "rationales", "sources": given})
        if _has(sources, "audits"):
            yield Shard("audits", ("audits",), {"kind": "audits"})

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The rows of one shard."""
        match shard.parameters["kind"]:
            case "pictures":
                name, first = shard.inputs[0], shard.parameters["first"]
                reader = open_source(name, sources.path(name))
                pictures = reader.pictures()[first : first + shard.parameters["count"]]
                yield from build_pictures(name, reader, pictures, _generator(sources, shard.inputs))
            case "strays":
                name = shard.inputs[0]
                strays = open_source(name, sources.path(name)).strays()
                yield from (reject(name, each) for each in strays)
                for table, count in Counter(each.table for each in strays).items():
                    yield Read(name, table, count)
            case "concepts":
                yield from _concepts(shard, sources)
            case "rationales":
                yield from _rationales(shard, sources)
            case _:
                found = list(audit.read(sources.text("audits")))
                places = [f"line {line}" for line, _ in found]
                yield Batch("audits", SPLIT, tables.batch(AUDITS, [row for _, row in found]), "audits", places)

    def score(self, folder: DatasetFolder, predictions: Path) -> Any:
        """Whether a model looks at what it says; see `scoring`. Imported by name, for it makes no rows."""
        return import_module("builders.vigor.scoring.score").score(folder, predictions)


def _has(sources: Sources, name: str) -> bool:
    return name in sources.names and sources.given(name) and sources.allows(name)


def _pieces(pictures: Sequence[Picture]) -> Iterator[tuple[int, int]]:
    """(first picture, number) of shards; a clip is not cut."""
    first = 0
    for place in range(1, len(pictures) + 1):
        ends = place == len(pictures) or pictures[place].clip is None or pictures[place].frame == 0
        if ends and (place - first >= PICTURES or place == len(pictures)):
            yield first, place - first
            first = place


def _generator(sources: Sources, inputs: Sequence[str]) -> Generator:
    answers = read_answers(sources.path("answers")) if "answers" in inputs else {}
    textures, _ = from_folder(sources.path("textures")) if "textures" in inputs else (None, ())
    return offline(answers, textures)


def _vocabulary(names: Sequence[str], sources: Sources) -> dict[str, list[tuple[str, Concept, str]]]:
    """Every concept by id: (source, what it says, place), in the order of the sources; the generator's own last."""
    found: dict[str, list[tuple[str, Concept, str]]] = {}
    for name in names:
        for concept, place in open_source(name, sources.path(name)).concepts():
            found.setdefault(concept.id, []).append((name, concept, place))
    own = [*(colour_concept(term) for term in COLOURS), LINE, MOVING]
    for concept in own:
        found.setdefault(concept.id, []).append((names[0], concept, "generator"))
    return found


def _concepts(shard: Shard, sources: Sources) -> Iterator[Batch | Reject]:
    known = _vocabulary(shard.parameters["sources"], sources)
    if "textures" in shard.inputs:
        textures, problems = from_folder(sources.path("textures"))
        yield from (reject("textures", each) for each in problems)
        for surface in textures.names if textures else ():
            concept = Concept("low", surface, family="texture")
            known.setdefault(concept.id, []).append(("textures", concept, surface))
    by_source: dict[str, list[tuple[dict[str, Any], list[str]]]] = {}
    for said in known.values():
        row = tables.concept_row([(name, concept) for name, concept, _ in said])
        places = list(dict.fromkeys(place for name, _, place in said if name == said[0][0]))
        by_source.setdefault(said[0][0], []).append((row, places))
    for name, rows in by_source.items():
        merged = [(index, place) for index, (_, places) in enumerate(rows) for place in places[1:]]
        batch = tables.batch(CONCEPTS, [row for row, _ in rows])
        yield Batch("concepts", SPLIT, batch, name, [places[0] for _, places in rows], merged)


class _Images:
    """The pictures of all sources, by id."""

    def __init__(self, names: Sequence[str], sources: Sources) -> None:
        self._of: dict[str, tuple[str, list[Picture]]] = {}
        self._read: dict[str, bool] = {}
        for name in names:
            clips: dict[str | None, list[Picture]] = {}
            for each in open_source(name, sources.path(name)).pictures():
                together = clips.setdefault(each.clip, []) if each.clip is not None else []
                together.append(each)
                self._of[tables.image_id(name, each.key)] = name, together

    def has(self, image: str) -> bool:
        """Whether there is a row of it: it is listed, and its file (or its clip) can be read where it is at hand."""
        if image in self._of and image not in self._read:
            name, pictures = self._of[image]
            rows, _ = image_rows(name, pictures)
            self._read |= {tables.image_id(name, each.key): bool(rows) for each in pictures}
        return self._read.get(image, False)


def _rationales(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    """Texts about pictures, JSON lines of {rationale_id, image_id, text}, matched to the concepts of all sources."""
    names = shard.parameters["sources"]
    known = _vocabulary(names, sources)
    rows = [tables.concept_row([(name, concept) for name, concept, _ in said]) for said in known.values()]
    lexicon = Lexicon.of_rows(rows)
    images = _Images(names, sources)
    made, places, count = [], [], 0
    for number, line in enumerate(sources.text("rationales").splitlines(), start=1):
        if not line.strip():
            continue
        count += 1
        place = f"line {number}"
        try:
            each = json.loads(line)
            name, image, text = str(each["rationale_id"]), str(each["image_id"]), str(each["text"])
        except (ValueError, KeyError, TypeError):
            yield Reject(
                "rationales", "bad_rationale", "it needs rationale_id, image_id and text", "rationales", place, line
            )
            continue
        if not images.has(image):
            message = f"image {image} is in no source, or was rejected"
            yield Reject("rationales", "unknown_image", message, "rationales", place, line)
            continue
        mentions = [vars(mention) for mention in lexicon.match(text)]
        asserted = sum(mention["scope"] == "asserted" for mention in mentions)
        made.append(
            {"rationale_id": name, "image_id": image, "text": text, "mentions": mentions, "n_asserted": asserted}
        )
        places.append(place)
    if made:
        yield Batch("rationales", SPLIT, tables.batch(RATIONALES, made), "rationales", places)
    yield Read("rationales", "rationales", count)


BUILDER = Vigor()
