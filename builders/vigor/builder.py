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
from builders.vigor import audit, backtest, gallery, tables
from builders.vigor.checks import CHECKS
from builders.vigor.forms import Claim, Concept, Picture, Problem, Reader
from builders.vigor.generate import Generator, offline
from builders.vigor.pixels import load_rgb
from builders.vigor.proposals import Scene
from builders.vigor.proposals.colour import colour_concept
from builders.vigor.proposals.lines import LINE
from builders.vigor.proposals.motion import MOVING
from builders.vigor.proposals.texture import Textures, from_folder
from builders.vigor.rationales import Lexicon
from builders.vigor.readers import READERS, open_source
from builders.vigor.schema import AUDITS, BACKTESTS, CONCEPTS, GALLERY, GROUNDINGS, IMAGES, RATIONALES, VIGOR
from builders.vigor.verify.questions import read_answers
from builders.vigor.words import COLOURS
from schemas import DatasetFolder

if TYPE_CHECKING:
    from builders.sources import Sources

PICTURES = 200
"""Pictures of a shard; the frames of a clip stay together."""
EXPECTED = frozenset({"empty_mask", "no_carrier", "self_relation"})
SPLIT = "test"


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
                yield from _pictures(shard, sources)
            case "strays":
                name = shard.inputs[0]
                strays = open_source(name, sources.path(name)).strays()
                for each in strays:
                    yield Reject("groundings", each.reason, each.message, name, each.place, each.record)
                yield Read(name, "groundings", len(strays))
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
    textures: Textures | None = from_folder(sources.path("textures")) if "textures" in inputs else None
    return offline(answers, textures)


def _pictures(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    """The images, groundings, back-tests and gallery of some pictures of one source."""
    name = shard.inputs[0]
    reader = open_source(name, sources.path(name))
    first, count = shard.parameters["first"], shard.parameters["count"]
    pictures = reader.pictures()[first : first + count]
    generator = _generator(sources, shard.inputs)
    rows = [tables.image_row(name, picture) for picture in pictures]
    places = [picture.place for picture in pictures]
    yield Batch("images", SPLIT, tables.batch(IMAGES, rows), name, places)
    yield Read(name, "images", len(rows))
    work = _Work(name, reader, pictures, generator)
    for picture in pictures:
        yield from work.picture(picture)
    yield from work.rest()


class _Work:
    """What grows while the pictures of a shard are gone through."""

    def __init__(self, name: str, reader: Reader, pictures: Sequence[Picture], generator: Generator) -> None:
        self._name = name
        self._reader = reader
        self._generator = generator
        self._frames = {(each.clip, each.frame): each for each in pictures if each.clip is not None}
        self._claims: dict[str, list[Claim]] = {}
        self._rows: list[dict[str, Any]] = []
        self._places: list[str] = []
        self._merged: list[tuple[int, str]] = []
        self._tried: list[dict[str, Any]] = []
        self._tried_places: list[str] = []
        self._pictures = {tables.image_id(name, each.key): each for each in pictures}
        self._records = 0

    def picture(self, picture: Picture) -> Iterator[Reject]:
        """Take over the claims of a picture, then propose what is missing."""
        claims: list[Claim] = []
        self._records += self._reader.records(picture)
        for item in self._reader.claims(picture):
            if isinstance(item, Problem):
                yield self._reject(item)
            else:
                claims.append(item)
        known = {claim.key for claim in claims}
        kept = []
        for claim in claims:
            if all(end is None or end in known for end in (claim.parent, claim.subject, claim.object)):
                kept.append(claim)
                continue
            known.discard(claim.key)
            for place in (claim.place, *claim.merged):
                yield self._reject(Problem("no_carrier", "what it belongs to was rejected", place, claim.concept.id))
        frame_ids = {
            frame: tables.image_id(self._name, each.key)
            for (clip, frame), each in self._frames.items()
            if clip == picture.clip and frame is not None
        }
        for claim in kept:
            self._merged += [(len(self._rows), place) for place in claim.merged]
            self._add(tables.claim_row(self._name, picture, claim, frame_ids), claim.place)
        self._claims[picture.key] = kept
        if picture.path is not None:
            self._look(picture, kept)

    def _look(self, picture: Picture, claims: list[Claim]) -> None:
        """Propose for a picture whose pixels are at hand, and try the generator where its truth can be hidden."""
        assert picture.path is not None
        pixels = load_rgb(picture.path)
        if pixels.shape[:2] != (picture.height, picture.width):
            return  # Masks of another size say nothing about these pixels; a check names the picture.
        later = self._frames.get((picture.clip, (picture.frame or 0) + 1)) if picture.clip is not None else None
        following = load_rgb(later.path) if later is not None and later.path is not None else None
        masklets = [
            claim
            for each in self._frames.values()
            if each.clip == picture.clip and each.frame == 0
            for claim in self._claims.get(each.key, ())
            if claim.frames
        ]
        for made in self._generator.run(Scene(pixels, None if masklets else following, claims)):
            self._add(tables.generated_row(self._name, picture, made), picture.place)
            self._records += 1
        tried = [
            backtest.colours(self._generator, pixels, claims),
            backtest.object_masks(self._generator, pixels, claims),
        ]
        for claim in masklets:
            truth = dict(claim.frames).get(picture.frame or 0)
            if claim.concept.level == "motion" and truth is not None and following is not None:
                tried.append(backtest.motion(self._generator, pixels, following, truth))
        for each in tried:
            if each is not None:
                self._tried.append({"image_id": tables.image_id(self._name, picture.key), **vars(each)})
                self._tried_places.append(picture.place)

    def rest(self) -> Iterator[Batch | Read]:
        """Everything that was kept."""
        if self._rows:
            rows = tables.batch(GROUNDINGS, self._rows)
            yield Batch("groundings", SPLIT, rows, self._name, self._places, self._merged)
        yield Read(self._name, "groundings", self._records)
        if self._tried:
            rows = tables.batch(BACKTESTS, _together(self._tried))
            places = [self._pictures[image].place for image in rows.column("image_id").to_pylist()]
            yield Batch("backtests", SPLIT, rows, self._name, places)
        yield from self._gallery()

    def _gallery(self) -> Iterator[Batch]:
        by_id = {row["grounding_id"]: row for row in self._rows}
        rows, places = [], []
        for row in gallery.chosen(self._rows):
            picture = self._pictures[row["image_id"]]
            masks = gallery.regions(row, by_id, picture.height, picture.width)
            if not masks:
                continue
            allowed = tables.releasable(picture.licence) and picture.path is not None
            pixels = load_rgb(picture.path) if allowed and picture.path is not None else None
            file = {"bytes": gallery.overlay(pixels, masks), "path": "overlay.jpg"}
            caption = row["concept_id"] + (f": {row['why']}" if row["why"] else "")
            rows.append(
                {
                    "grounding_id": row["grounding_id"],
                    "level": row["level"],
                    "status": row["status"],
                    "caption": caption,
                    "overlay": file,
                }
            )
            places.append(picture.place)
        if rows:
            yield Batch("gallery", SPLIT, tables.batch(GALLERY, rows), self._name, places)

    def _add(self, row: dict[str, Any], place: str) -> None:
        self._rows.append(row)
        self._places.append(place)

    def _reject(self, problem: Problem) -> Reject:
        return Reject("groundings", problem.reason, problem.message, self._name, problem.place, problem.record)


def _together(tried: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one picture, level and method added up (two masklets of one frame)."""
    found: dict[tuple[str, str, str], Counter[str]] = {}
    for row in tried:
        key = (row["image_id"], row["level"], row["method"])
        counts = {name: value for name, value in row.items() if isinstance(value, int)}
        found.setdefault(key, Counter()).update(counts)
    names = ("truths", "proposed", "accepted", "abstained", "correct", "right_before")
    return [
        {"image_id": image, "level": level, "method": method, **{name: counts[name] for name in names}}
        for (image, level, method), counts in found.items()
    ]


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


def _concepts(shard: Shard, sources: Sources) -> Iterator[Batch]:
    known = _vocabulary(shard.parameters["sources"], sources)
    if "textures" in shard.inputs:
        for surface in from_folder(sources.path("textures")).names:
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


def _rationales(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    """Texts about pictures, JSON lines of {rationale_id, image_id, text}, matched to the concepts of all sources."""
    names = shard.parameters["sources"]
    known = _vocabulary(names, sources)
    rows = [tables.concept_row([(name, concept) for name, concept, _ in said]) for said in known.values()]
    lexicon = Lexicon.of_rows(rows)
    images = {
        tables.image_id(name, each.key) for name in names for each in open_source(name, sources.path(name)).pictures()
    }
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
        if image not in images:
            yield Reject("rationales", "unknown_image", f"image {image} is in no source", "rationales", place, line)
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
