"""The shards of pictures: images, groundings (reused and proposed), back-tests and the gallery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from builders.api import Batch, Read, Reject
from builders.vigor import backtest, gallery, tables
from builders.vigor.forms import Claim, Picture, Problem, Reader, settle
from builders.vigor.generate import Generator
from builders.vigor.pixels import load_rgb
from builders.vigor.proposals import Scene
from builders.vigor.schema import BACKTESTS, GALLERY, GROUNDINGS, IMAGES, SPLIT
from builders.vigor.values import BadValueError

AT_ONCE = 20
"""Pictures whose rows are kept together before they are written."""


def build_pictures(
    name: str, reader: Reader, pictures: Sequence[Picture], generator: Generator
) -> Iterator[Batch | Reject | Read]:
    """The rows of some pictures of the source `name`."""
    yield Read(name, "images", len(pictures))
    work = _Work(name, reader, generator)
    for some in _together(pictures):
        rows, lost = image_rows(name, some)
        whole = [picture for picture in some if picture.key not in lost]
        if rows:
            yield Batch("images", SPLIT, tables.batch(IMAGES, rows), name, [picture.place for picture in whole])
        work.begin(whole)
        for picture in some:
            yield from work.lost(picture, lost[picture.key]) if picture.key in lost else work.picture(picture)
        yield from work.done()
    yield from work.rest()


def _together(pictures: Sequence[Picture]) -> Iterator[Sequence[Picture]]:
    """A clip whole, or some pictures, as they are kept in memory."""
    for clip, some in groupby(pictures, lambda picture: picture.clip):
        frames = list(some)
        size = AT_ONCE if clip is None else len(frames)
        yield from (frames[first : first + size] for first in range(0, len(frames), size))


def image_rows(name: str, pictures: Sequence[Picture]) -> tuple[list[dict[str, Any]], dict[str, BadValueError]]:
    """Rows of the pictures that can be read, and by key what is wrong with the others.

    A clip goes whole: its masklets speak of every frame.
    """
    rows: dict[str, dict[str, Any]] = {}
    wrong: dict[str, BadValueError] = {}
    for picture in pictures:
        try:
            rows[picture.key] = tables.image_row(name, picture)
        except BadValueError as error:
            wrong[picture.key] = error
    clips = {picture.clip: wrong[picture.key] for picture in pictures if picture.clip and picture.key in wrong}
    for picture in pictures:
        if picture.clip in clips:
            wrong.setdefault(picture.key, clips[picture.clip])
    return [row for key, row in rows.items() if key not in wrong], wrong


class _Work:
    """What grows while the pictures of a shard are gone through."""

    def __init__(self, name: str, reader: Reader, generator: Generator) -> None:
        self._name = name
        self._reader = reader
        self._generator = generator
        self._choice = gallery.Choice()
        self._pictures: dict[str, Picture] = {}
        self._records = 0
        self.begin([])

    def begin(self, pictures: Sequence[Picture]) -> None:
        """Take up some pictures, or a clip."""
        self._frames = {(each.clip, each.frame): each for each in pictures if each.clip is not None}
        self._pictures |= {tables.image_id(self._name, each.key): each for each in pictures}
        self._claims: dict[str, list[Claim]] = {}
        self._rows: list[dict[str, Any]] = []
        self._places: list[str] = []
        self._merged: list[tuple[int, str]] = []
        self._tried: list[dict[str, Any]] = []

    def lost(self, picture: Picture, error: BadValueError) -> Iterator[Reject]:
        """Reject a picture whose file cannot be read, and all that is said of it."""
        yield reject(self._name, Problem.of(error, picture.place, picture.file_name, "images"))
        self._records += self._reader.records(picture)
        kept, problems = settle(self._reader.claims(picture))
        for claim in kept:
            problems += [
                Problem("unknown_image", "its picture was rejected", place, claim.concept.id)
                for place in (claim.place, *claim.merged)
            ]
        yield from (reject(self._name, problem) for problem in problems)

    def picture(self, picture: Picture) -> Iterator[Reject]:
        """Take over the claims of a picture, then propose what is missing."""
        self._records += self._reader.records(picture)
        kept, problems = settle(self._reader.claims(picture))
        yield from (reject(self._name, problem) for problem in problems)
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

    def done(self) -> Iterator[Batch]:
        """What was made of the pictures that were taken up."""
        self._choice.add(self._rows)
        if self._rows:
            rows = tables.batch(GROUNDINGS, self._rows)
            yield Batch("groundings", SPLIT, rows, self._name, self._places, self._merged)
        if self._tried:
            rows = tables.batch(BACKTESTS, _added_up(self._tried))
            places = [self._pictures[image].place for image in rows.column("image_id").to_pylist()]
            yield Batch("backtests", SPLIT, rows, self._name, places)

    def rest(self) -> Iterator[Batch | Read]:
        """What is said of all pictures."""
        yield Read(self._name, "groundings", self._records)
        yield from self._gallery()

    def _gallery(self) -> Iterator[Batch]:
        rows, places = [], []
        for shown in self._choice.chosen():
            row = shown.row
            picture = self._pictures[row["image_id"]]
            masks = shown.regions(picture.height, picture.width)
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


def reject(source: str, problem: Problem) -> Reject:
    """A problem as the machinery takes it."""
    return Reject(problem.table, problem.reason, problem.message, source, problem.place, problem.record)


def _added_up(tried: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one picture, level and method added up (two masklets of one frame)."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in tried:
        known = found.get(key := (row["image_id"], row["level"], row["method"]))
        sums = {name: value for name, value in row.items() if known and isinstance(value, int | float)}
        found[key] = row if known is None else known | {name: known[name] + value for name, value in sums.items()}
    return list(found.values())
