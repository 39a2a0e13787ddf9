"""ADE20K (2021) with parts: a JSON file a picture, and a PNG file for each object.

What trips readers: `hasparts` and `ispartof` are a list or a bare number; `crop` is a text; `imsize` is rows, columns,
channels; an instance's PNG holds 0 none, 128 hidden behind something, 255 seen: only what is seen is a mask here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from builders.vigor.files import json_files, load_json
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, called, named, short
from builders.vigor.licences import UNKNOWN
from builders.vigor.masks import from_array
from builders.vigor.pixels import load_labels
from builders.vigor.values import BadValueError, identity, keys, listed, record, size, text
from builders.vigor.words import family_of
from schemas import GoldsmithError

SEEN = 255
_Holders = dict[str, str]
"""Id of an object -> its name."""


class Ade20k:
    """A folder of scenes: `x.json`, `x.jpg`, and the instance PNG files that the JSON file names."""

    def __init__(self, folder: Path) -> None:
        self._strays: list[Problem] = []
        self._scenes: dict[str, tuple[Picture, Path]] = {}
        for path in json_files(folder):
            content = load_json(path)
            if "object" in keys(keys(content) and content.get("annotation")):
                self._take(path.relative_to(folder).as_posix(), path, content["annotation"])
        if not self._scenes and not self._strays:
            raise GoldsmithError(f"[{folder}] has no JSON file in ADE20K's form (annotation > object)")

    def _take(self, place: str, path: Path, scene: dict[str, Any]) -> None:
        objects = listed(scene.get("object"))
        try:
            rows, columns = [*listed(scene.get("imsize")), None, None][:2]
            height, width = size({"height": rows, "width": columns})
            name = text(scene.get("filename"), "filename", f"{path.stem}.jpg")
            licence = text(scene.get("licence"), "licence", UNKNOWN)
            pixels = _beside(path, name)
        except BadValueError as error:
            self._strays.append(Problem.of(error, place, {**scene, "object": len(objects)}, "images"))
            for each in objects:
                lost = Problem("unknown_image", "its picture was rejected", place, short(each))
                self._strays += [lost] * _count(each)
            return
        picture = Picture(place.removesuffix(".json"), name, width, height, licence, None, pixels, place=place)
        self._scenes[picture.key] = picture, path

    def pictures(self) -> list[Picture]:
        return [picture for picture, _ in self._scenes.values()]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        seen: set[str] = set()
        for picture, path in self._scenes.values():
            objects = _objects(path)
            holders = _holders(objects)
            for each in objects:
                for concept in _concepts(each, holders):
                    if concept.id not in seen:
                        seen.add(concept.id)
                        yield concept, f"{picture.place} object {called(each)}"

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return sum(map(_count, _objects(self._scenes[picture.key][1])))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        _, path = self._scenes[picture.key]
        objects = _objects(path)
        holders = _holders(objects)
        for each in objects:
            place = f"{picture.place} object {called(each)}"
            made = attempt(partial(_object, each, holders, path, picture, place), place, each)
            yield made
            for name in listed(each.get("attributes")) if isinstance(each, dict) else []:
                yield attempt(partial(_property, name, made, place), place, name)


def _objects(path: Path) -> Sequence[Any]:
    """The objects of a scene, read again: all scenes together are larger than memory."""
    return listed(load_json(path)["annotation"].get("object"))


def _count(each: Any) -> int:
    return 1 + len(listed(each.get("attributes"))) if isinstance(each, dict) else 1


def _holders(objects: Sequence[Any]) -> _Holders:
    """The objects that parts may belong to; those without an id or a name are none."""
    found: _Holders = {}
    for each in objects:
        try:
            key, name = identity(record(each).get("id")), text(each.get("name"), "name")
        except BadValueError:
            continue  # It is a problem of its own.
        found[key] = name
    return found


def _concepts(each: Any, holders: _Holders) -> Iterator[Concept]:
    """What an object and its attributes are, as far as they can be read."""
    try:
        yield _concept(record(each), holders)
        for name in listed(each.get("attributes")):
            yield _attribute(name)
    except BadValueError:
        return  # `claims` says so.


def _object(each: Any, holders: _Holders, path: Path, picture: Picture, place: str) -> Claim:
    key = identity(record(each).get("id"))
    whole, concept = _part_of(each, holders), _concept(each, holders)
    file = _beside(path, text(each.get("instance_mask"), "instance_mask", "none.png"))
    if file is None:
        raise BadValueError("no_mask", "its instance PNG file is absent")
    pixels = load_labels(file)
    if pixels.shape != (picture.height, picture.width):
        raise BadValueError("bad_size", f"its PNG file has {list(pixels.shape)} rows and columns")
    mask = from_array(pixels == SEEN)
    if mask.area == 0:
        raise BadValueError("empty_mask", "nothing of it is to be seen")
    parent = None if whole is None else f"object:{picture.key}:{whole}"
    return Claim(f"object:{picture.key}:{key}", concept, place, mask=mask, parent=parent, origin=(f"object {key}",))


def _property(name: Any, bearer: Claim | Problem, place: str) -> Claim:
    if isinstance(bearer, Problem):
        raise BadValueError("no_carrier", "its object was rejected")
    concept = _attribute(name)
    origin = (*bearer.origin, f"attribute {name}")
    return Claim(f"{bearer.key}:{name}", concept, place, mask=bearer.mask, parent=bearer.key, origin=origin)


def _part_of(each: dict[str, Any], holders: _Holders) -> str | None:
    """Id of the object that it is a part of."""
    parts = record(each.get("parts") or {})
    return next((number for number in map(str, listed(parts.get("ispartof"))) if number in holders), None)


def _concept(each: dict[str, Any], holders: _Holders) -> Concept:
    """ADE20K's names are lists of synonyms (`door, doorframe`)."""
    whole = _part_of(each, holders)
    first, *more = (part.strip() for part in text(each.get("name"), "name").split(","))
    if whole is None:
        return named("object", first, synonyms=more)
    return named("part", first, synonyms=more, sense=holders[whole].split(",")[0].strip())


def _attribute(name: Any) -> Concept:
    return named("low", text(name, "an attribute"), family=family_of(name.lower()))


def _beside(path: Path, name: str) -> Path | None:
    """A file below the folder of a scene; None where there is none.

    Raises:
        BadValueError: the name leads out of that folder.
    """
    if Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
        raise BadValueError("wrong_type", f"the file name {name!r} leads out of the folder")
    file = path.parent / name
    return file if file.is_file() else None
