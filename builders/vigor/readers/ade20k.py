"""ADE20K (2021) with parts: a JSON file a picture, and a PNG file for each object.

What trips readers: `hasparts` and `ispartof` are a list or a bare number; `crop` is a text; `imsize` is rows, columns,
channels; an instance's PNG holds 0 none, 128 hidden behind something, 255 seen: only what is seen is a mask here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builders.vigor.forms import Claim, Concept, Picture, Problem, json_files, load_json, named, short
from builders.vigor.licences import UNKNOWN
from builders.vigor.masks import from_array
from builders.vigor.pixels import load_labels
from builders.vigor.words import family_of
from schemas import GoldsmithError

SEEN = 255


class Ade20k:
    """A folder of scenes: `x.json`, `x.jpg`, and the instance PNG files that the JSON file names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scenes: dict[str, tuple[Path, dict[str, Any]]] = {}
        for path in json_files(folder):
            content = load_json(path)
            if isinstance(content, dict) and "object" in content.get("annotation", {}):
                key = path.relative_to(folder).with_suffix("").as_posix()
                self._scenes[key] = (path, content["annotation"])
        if not self._scenes:
            raise GoldsmithError(f"[{folder}] has no JSON file in ADE20K's form (annotation > object)")

    def pictures(self) -> list[Picture]:
        found = []
        for key, (path, scene) in self._scenes.items():
            rows, columns = scene["imsize"][:2]
            name = scene.get("filename", f"{path.stem}.jpg")
            pixels = path.with_name(name)
            licence = scene.get("licence", UNKNOWN)
            found.append(
                Picture(
                    key,
                    name,
                    columns,
                    rows,
                    licence,
                    None,
                    pixels if pixels.is_file() else None,
                    place=path.relative_to(self._folder).as_posix(),
                )
            )
        return found

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        seen: set[str] = set()
        for key, (path, scene) in self._scenes.items():
            holders = {each["id"]: each for each in scene["object"]}
            for each in scene["object"]:
                found = [_concept(each, holders), *(_attribute(name) for name in _list(each.get("attributes")))]
                for concept in found:
                    if concept.id not in seen:
                        seen.add(concept.id)
                        yield concept, f"{path.name if '/' not in key else key + '.json'} object {each['id']}"

    def strays(self) -> list[Problem]:
        return []

    def records(self, picture: Picture) -> int:
        return sum(1 + len(_list(each.get("attributes"))) for each in self._scenes[picture.key][1]["object"])

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        path, scene = self._scenes[picture.key]
        holders = {each["id"]: each for each in scene["object"]}
        for each in scene["object"]:
            place = f"{picture.place} object {each['id']}"
            made = self._object(each, holders, path, picture, place)
            yield made
            for name in _list(each.get("attributes")):
                if isinstance(made, Problem):
                    yield Problem("no_carrier", "its object was rejected", place, name)
                else:
                    yield Claim(
                        f"{made.key}:{name}",
                        _attribute(name),
                        place,
                        mask=made.mask,
                        parent=made.key,
                        origin=(*made.origin, f"attribute {name}"),
                    )

    def _object(
        self, each: dict[str, Any], holders: dict[int, dict[str, Any]], path: Path, picture: Picture, place: str
    ) -> Claim | Problem:
        file = path.parent / each.get("instance_mask", "")
        if not file.is_file():
            return Problem("no_mask", "its instance PNG file is absent", place, short(each))
        pixels = load_labels(file)
        if pixels.shape != (picture.height, picture.width):
            return Problem("bad_size", f"its PNG file has {list(pixels.shape)} rows and columns", place, short(each))
        mask = from_array(pixels == SEEN)
        if mask.area == 0:
            return Problem("empty_mask", "nothing of it is to be seen", place, short(each))
        part_of = [number for number in _list(each.get("parts", {}).get("ispartof")) if number in holders]
        parent = f"object:{picture.key}:{part_of[0]}" if part_of else None
        return Claim(
            f"object:{picture.key}:{each['id']}",
            _concept(each, holders),
            place,
            mask=mask,
            parent=parent,
            origin=(f"object {each['id']}",),
        )


def _concept(each: dict[str, Any], holders: dict[int, dict[str, Any]]) -> Concept:
    """ADE20K's names are lists of synonyms (`door, doorframe`)."""
    name, *more = (part.strip() for part in each["name"].split(","))
    part_of = [number for number in _list(each.get("parts", {}).get("ispartof")) if number in holders]
    if not part_of:
        return named("object", name, synonyms=more)
    return named("part", name, synonyms=more, sense=holders[part_of[0]]["name"].split(",")[0].strip())


def _attribute(name: str) -> Concept:
    return named("low", name, family=family_of(name.lower()))


def _list(value: Any) -> list[Any]:
    """A list, from a list or a bare value; empty for nothing."""
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list) else [value]
