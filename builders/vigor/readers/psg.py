"""PSG: relations between the segments of COCO's panoptic PNG files.

Its lists count from 0 (categories, predicates and the places in `segments_info`), boxes are x1, y1, x2, y2, and its
image ids are texts. It also says which predicates it knows and drops symmetric ones only when scoring; here all stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from builders.vigor.documents import open_json
from builders.vigor.files import Files, json_files
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, called, named, short
from builders.vigor.licences import of_coco
from builders.vigor.readers.panoptic import Segments, ids_of, segment_claim
from builders.vigor.values import BadValueError, box, identity, keys, listed, record, rows, size, text, whole
from schemas import GoldsmithError


class Psg:
    """PSG's JSON file, with COCO's panoptic PNG files."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        found = [
            (path.name, content)
            for path in json_files(folder)
            if "predicate_classes" in keys(content := open_json(path))
        ]
        if len(found) != 1:
            raise GoldsmithError(f"[{folder}] has {len(found)} JSON files with predicate_classes: PSG is one file")
        self._file, content = found[0]
        self._strays: list[Problem] = []
        self._things = self._classes(content, ("thing_classes", "stuff_classes"), "object")
        self._predicates = self._classes(content, ("predicate_classes",), "relation")
        self._data = rows(content, "data", self._file)
        self._pictures: dict[str, tuple[Picture, int]] = {}
        for index, each in enumerate(self._data):
            place = f"{self._file} image {called(each, 'image_id')}"
            try:
                picture = self._picture(record(each), place)
            except BadValueError as error:
                self._strays += [Problem.of(error, place, each, "images"), *self._lost(each, place)]
            else:
                self._pictures[picture.key] = picture, index

    def _classes(self, content: Mapping[str, Any], keys: tuple[str, ...], level: str) -> list[Concept | None]:
        """Names by their place, which other lists count; None where there is none."""
        found: list[Concept | None] = []
        for name in [name for key in keys for name in rows(content, key, self._file)]:
            try:
                found.append(named(level, text(name, "a class")))
            except BadValueError as error:
                self._strays.append(Problem.of(error, f"{self._file} {level} {len(found)}", name, "concepts"))
                found.append(None)
        return found

    def _picture(self, each: dict[str, Any], place: str) -> Picture:
        key = identity(each.get("image_id"), "image_id")
        height, width = size(each)
        name = text(each.get("file_name"), "file_name")
        if key in self._pictures:
            raise BadValueError("duplicate_id", f"image {key} is listed twice")
        path = self._files.find(name, not_in="panoptic")
        return Picture(key, name, width, height, of_coco(each.get("license")), None, path, place=place)

    def _lost(self, each: Any, place: str) -> Iterator[Problem]:
        """What hangs on a picture that cannot be used."""
        if isinstance(each, dict):
            for item in [*listed(each.get("segments_info")), *listed(each.get("relations"))]:
                yield Problem("unknown_image", "its picture was rejected", place, short(item))

    def pictures(self) -> list[Picture]:
        return [self._pictures[key][0] for key in sorted(self._pictures)]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        for word, concepts in (("class", self._things), ("predicate", self._predicates)):
            for index, concept in enumerate(concepts):
                if concept is not None:
                    yield concept, f"{self._file} {word} {index}"

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        each = self._said_of(picture)
        return len(listed(each.get("segments_info"))) + len(listed(each.get("relations")))

    def _said_of(self, picture: Picture) -> dict[str, Any]:
        return self._data[self._pictures[picture.key][1]]

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        each = self._said_of(picture)
        ids = partial(ids_of, self._files, each.get("pan_seg_file_name"), picture)
        made: list[Claim | Problem] = []
        boxes = listed(each.get("annotations"))
        for index, segment in enumerate(listed(each.get("segments_info"))):
            place = f"{self._file} image {picture.key} segment {called(segment)}"
            given = boxes[index] if index < len(boxes) else {}
            made.append(attempt(partial(self._segment, segment, given, ids, picture, place), place, segment))
        yield from made
        yield from self._relations(listed(each.get("relations")), made, picture)

    def _segment(self, segment: Any, given: Any, ids: Segments, picture: Picture, place: str) -> Claim:
        category = whole(record(segment).get("category_id"), "category_id")
        concept = self._things[category] if category < len(self._things) else None
        if concept is None:
            raise BadValueError("unknown_category", f"category {category} is not listed")
        corners = record(given).get("bbox")
        if isinstance(corners, list) and len(corners) == 4 and all(type(part) in (int, float) for part in corners):
            corners = [*corners[:2], corners[2] - corners[0], corners[3] - corners[1]]
        return segment_claim(segment, concept, ids, picture.key, place, box(corners, picture.height, picture.width))

    def _relations(
        self, given: Sequence[Any], made: list[Claim | Problem], picture: Picture
    ) -> Iterator[Claim | Problem]:
        places: dict[tuple[int, int, int], list[int]] = {}
        for index, relation in enumerate(given):
            try:
                places.setdefault(_triple(relation), []).append(index)
            except BadValueError as error:
                yield Problem.of(error, f"{self._file} image {picture.key} relation {index}", relation)
        for (one, other, predicate), found in places.items():
            said = [f"{self._file} image {picture.key} relation {index}" for index in found]
            try:
                subject, object_ = self._end(made, one), self._end(made, other)
                if one == other:
                    raise BadValueError("self_relation", "it joins a segment with itself")
                concept = self._predicates[predicate] if predicate < len(self._predicates) else None
                if concept is None:
                    raise BadValueError("unknown_category", f"predicate {predicate} is not listed")
            except BadValueError as error:
                yield from (Problem.of(error, place, [one, other, predicate]) for place in said)
                continue
            yield Claim(
                f"relation:{picture.key}:{found[0]}",
                concept,
                said[0],
                subject=subject,
                object=object_,
                origin=(f"relation {found[0]}",),
                merged=tuple(said[1:]),
            )

    def _end(self, made: list[Claim | Problem], index: int) -> str:
        end = made[index] if index < len(made) else None
        if not isinstance(end, Claim):
            raise BadValueError("no_carrier", f"segment {index} was rejected or is not there")
        return end.key


def _triple(relation: Any) -> tuple[int, int, int]:
    parts = listed(relation)
    if len(parts) != 3:
        raise BadValueError("wrong_type", f"a relation is subject, object, predicate; this has {len(parts)} parts")
    one, other, predicate = (whole(part, "a part of a relation") for part in parts)
    return one, other, predicate
