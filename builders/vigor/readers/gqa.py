"""GQA's scene graphs: Visual Genome cleaned, an object for each image id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from builders.vigor.documents import JsonObject, open_json
from builders.vigor.files import Files, json_files
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, named, short
from builders.vigor.licences import UNKNOWN
from builders.vigor.readers.visual_genome import distinct, plain, sides
from builders.vigor.values import BadValueError, identity, keys, listed, record, size, text
from builders.vigor.words import family_of
from schemas import GoldsmithError


class Gqa:
    """A folder with scene graphs: JSON files of image id -> width, height and objects with their relations."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._strays: list[Problem] = []
        self._scenes: dict[str, tuple[Picture, str, Mapping[str, Any]]] = {}
        for path in json_files(folder):
            content = open_json(path)
            if isinstance(content, JsonObject) and any("objects" in keys(scene) for scene in content.values()):
                for key, scene in content.items():
                    self._take(path.name, content, key, scene)
        if not self._scenes and not self._strays:
            raise GoldsmithError(f"[{folder}] has no JSON file of GQA's scene graphs")

    def _take(self, file: str, content: Mapping[str, Any], key: str, scene: Any) -> None:
        place = f"{file} image {key!r}"
        try:
            height, width = size(record(scene))
            key, name = text(key, "an image id"), f"{key}.jpg"
            licence = text(scene.get("licence"), "licence", UNKNOWN)
            record(scene.get("objects"))
            picture = Picture(
                key, name, width, height, licence, None, self._files.find(name), place=f"{file} image {key}"
            )
        except BadValueError as error:
            self._strays.append(Problem.of(error, place, scene, "images"))
            objects = scene.get("objects") if isinstance(scene, dict) else None
            for each in objects.values() if isinstance(objects, dict) else ():
                for _ in range(_count(each)):
                    self._strays.append(Problem("unknown_image", "its picture was rejected", place, short(each)))
        else:
            self._scenes.setdefault(key, (picture, file, content))

    def pictures(self) -> list[Picture]:
        return [self._scenes[key][0] for key in sorted(self._scenes)]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        return distinct(chain.from_iterable(map(self.claims, self.pictures())))

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return sum(map(_count, self._scenes[picture.key][2][picture.key]["objects"].values()))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        _, file, content = self._scenes[picture.key]
        scene = content[picture.key]
        made: dict[str, Claim | Problem] = {}
        places: dict[str, str] = {}
        for number, each in scene["objects"].items():
            places[number] = f"{file} image {picture.key} object {number if number.isascii() else repr(number)}"
            make = partial(_object, each, number, picture, places[number])
            made[number] = attempt(make, places[number], each)
        for number, each in scene["objects"].items():
            yield made[number]
            if isinstance(each, dict):
                yield from _attributes(each, made[number], places[number])
                yield from _relations(each, number, made, places[number])


def _count(each: Any) -> int:
    return 1 + len(listed(each.get("attributes"))) + len(listed(each.get("relations"))) if keys(each) else 1


def _object(each: Any, number: str, picture: Picture, place: str) -> Claim:
    concept = named("object", text(record(each).get("name"), "name"))
    key = f"object:{picture.key}:{text(number, 'an object id')}"
    return Claim(key, concept, place, box=sides(each, picture), origin=(f"object {number}",))


def _attributes(each: dict[str, Any], bearer: Claim | Problem, place: str) -> Iterator[Claim | Problem]:
    words: dict[str, int] = {}
    for name in listed(each.get("attributes")):
        try:
            if isinstance(bearer, Problem):
                raise BadValueError("no_carrier", "its object was rejected")
            word = plain(name)
            words[word] = words.get(word, 0) + 1
        except BadValueError as error:
            yield Problem.of(error, place, name)
    for name, count in words.items():
        assert isinstance(bearer, Claim)
        yield Claim(
            f"{bearer.key}:{name}",
            named("low", name, family=family_of(name)),
            place,
            box=bearer.box,
            parent=bearer.key,
            origin=(*bearer.origin, f"attribute {name}"),
            merged=(place,) * (count - 1),
        )


def _relations(
    each: dict[str, Any], number: str, made: dict[str, Claim | Problem], place: str
) -> Iterator[Claim | Problem]:
    said: dict[tuple[str, str], list[Any]] = {}
    for relation in listed(each.get("relations")):
        try:
            word = plain(record(relation).get("name"))
            said.setdefault((word, identity(relation.get("object"), "object")), []).append(relation)
        except BadValueError as error:
            yield Problem.of(error, place, relation)
    for (name, other), records in said.items():
        subject, object_ = made[number], made.get(other)
        if not isinstance(subject, Claim) or not isinstance(object_, Claim) or other == number:
            reason = "self_relation" if other == number else "no_carrier"
            message = f"objects {number!r} and {other!r} are not two that are there"
            yield from (Problem(reason, message, place, short(relation)) for relation in records)
            continue
        yield Claim(
            f"{subject.key}:{name}:{other}",
            named("relation", name),
            place,
            subject=subject.key,
            object=object_.key,
            origin=(*subject.origin, f"relation {name} {other}"),
            merged=(place,) * (len(records) - 1),
        )
