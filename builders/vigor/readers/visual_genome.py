"""Visual Genome and GQA: boxes, attributes and relations in free words.

Counted on five real pictures: 15 of 158 relations are said twice, 56 predicates are not in lower case, 13 of 177
objects have no synset, 67 have no key `attributes`, and predicates' synsets can be wrong (`ON` is along.r.01), so that
they are not used. Twice said is merged; `names` of an object is `name` in a relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from builders.vigor.forms import Claim, Concept, Files, Picture, Problem, json_files, load_json, named, short
from builders.vigor.licences import UNKNOWN
from builders.vigor.masks import Box
from builders.vigor.words import family_of
from schemas import GoldsmithError


class VisualGenome:
    """A folder with objects.json, and attributes.json, relationships.json and image_data.json where there are any."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._objects = _by_image(folder, "objects", "objects")
        self._attributes = _by_image(folder, "attributes", "attributes")
        self._relations = _by_image(folder, "relationships", "relationships")
        if not self._objects:
            raise GoldsmithError(f"[{folder}] has no objects.json of Visual Genome")
        about = folder / "image_data.json"
        self._about = {each["image_id"]: each for each in load_json(about)} if about.is_file() else {}

    def pictures(self) -> list[Picture]:
        found = []
        for key in sorted(self._about or self._objects):
            about = self._about.get(key, {})
            name = f"{key}.jpg"
            found.append(
                Picture(
                    str(key),
                    name,
                    about.get("width", 0),
                    about.get("height", 0),
                    about.get("licence", UNKNOWN),
                    about.get("url"),
                    self._files.find(name),
                    place=f"image_data.json image {key}",
                )
            )
        return found

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        return _distinct(
            (item.concept, item.place)
            for picture in self.pictures()
            for item in self.claims(picture)
            if isinstance(item, Claim)
        )

    def strays(self) -> list[Problem]:
        known = set(self._about or self._objects)
        return [
            Problem("unknown_image", f"image {key} is not in image_data.json", f"image {key}", short(record))
            for key, records in sorted(self._objects.items())
            if key not in known
            for record in records
        ]

    def records(self, picture: Picture) -> int:
        key = int(picture.key)
        attributes = sum(len(each.get("attributes") or ()) for each in self._attributes.get(key, ()))
        return len(self._objects.get(key, ())) + attributes + len(self._relations.get(key, ()))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        key = int(picture.key)
        known: set[int] = set()
        for each in self._objects.get(key, ()):
            place = f"objects.json object {each['object_id']}"
            box = _box(each)
            if box is None or not each.get("names"):
                yield Problem("no_box", "the object has no box or no name", place, short(each))
                continue
            known.add(each["object_id"])
            synset = (each.get("synsets") or [None])[0]
            others = tuple(f"name {name}" for name in each["names"][1:])
            yield Claim(
                f"object:{each['object_id']}",
                named("object", each["names"][0], synset=synset),
                place,
                box=box,
                origin=(f"object {each['object_id']}", *others),
            )
        for each in self._attributes.get(key, ()):
            yield from self._attributes_of(each, known)
        yield from self._relations_of(key, known)

    def _attributes_of(self, each: dict[str, Any], known: set[int]) -> Iterator[Claim | Problem]:
        number = each["object_id"]
        place = f"attributes.json object {number}"
        names = [" ".join(name.lower().split()) for name in each.get("attributes") or ()]
        for name, count in {name: names.count(name) for name in names}.items():
            if number not in known:
                yield from [Problem("no_carrier", f"object {number} is not there", place, name)] * count
                continue
            concept = named("low", name, family=family_of(name))
            yield Claim(
                f"attribute:{number}:{name}",
                concept,
                place,
                box=_box(each),
                parent=f"object:{number}",
                origin=(f"object {number}", f"attribute {name}"),
                merged=(place,) * (count - 1),
            )

    def _relations_of(self, key: int, known: set[int]) -> Iterator[Claim | Problem]:
        said: dict[tuple[int, str, int], list[dict[str, Any]]] = defaultdict(list)
        for each in self._relations.get(key, ()):
            predicate = " ".join(each["predicate"].lower().split())
            said[each["subject"]["object_id"], predicate, each["object"]["object_id"]].append(each)
        for (one, predicate, other), records in said.items():
            first, *more = records
            places = [f"relationships.json relationship {each['relationship_id']}" for each in records]
            if one == other or not {one, other} <= known:
                reason = "self_relation" if one == other else "no_carrier"
                for place, each in zip(places, records, strict=True):
                    yield Problem(reason, f"it joins objects {one} and {other}", place, short(each))
                continue
            yield Claim(
                f"relation:{first['relationship_id']}",
                named("relation", predicate),
                places[0],
                subject=f"object:{one}",
                object=f"object:{other}",
                merged=tuple(places[1:]),
                origin=tuple(f"relationship {each['relationship_id']}" for each in (first, *more)),
            )


class Gqa:
    """A folder with scene graphs: JSON files of image id -> width, height and objects with their relations."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._scenes: dict[str, tuple[str, dict[str, Any]]] = {}
        for path in json_files(folder):
            content = load_json(path)
            if (
                isinstance(content, dict)
                and content
                and all(isinstance(v, dict) and "objects" in v for v in content.values())
            ):
                for key, scene in content.items():
                    self._scenes.setdefault(str(key), (path.name, scene))
        if not self._scenes:
            raise GoldsmithError(f"[{folder}] has no JSON file of GQA's scene graphs")

    def pictures(self) -> list[Picture]:
        return [
            Picture(
                key,
                f"{key}.jpg",
                scene["width"],
                scene["height"],
                scene.get("licence", UNKNOWN),
                None,
                self._files.find(f"{key}.jpg"),
                place=f"{file} image {key}",
            )
            for key, (file, scene) in sorted(self._scenes.items())
        ]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        return _distinct(
            (item.concept, item.place)
            for picture in self.pictures()
            for item in self.claims(picture)
            if isinstance(item, Claim)
        )

    def strays(self) -> list[Problem]:
        return []

    def records(self, picture: Picture) -> int:
        objects = self._scenes[picture.key][1]["objects"].values()
        return sum(1 + len(each.get("attributes", ())) + len(each.get("relations", ())) for each in objects)

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        file, scene = self._scenes[picture.key]
        for number, each in scene["objects"].items():
            place = f"{file} image {picture.key} object {number}"
            key = f"object:{picture.key}:{number}"
            yield Claim(key, named("object", each["name"]), place, box=_box(each), origin=(f"object {number}",))
            names = [" ".join(name.lower().split()) for name in each.get("attributes", ())]
            for name in dict.fromkeys(names):
                yield Claim(
                    f"{key}:{name}",
                    named("low", name, family=family_of(name)),
                    place,
                    box=_box(each),
                    parent=key,
                    origin=(f"object {number}", f"attribute {name}"),
                    merged=(place,) * (names.count(name) - 1),
                )
            yield from _gqa_relations(each, key, place, picture.key, scene["objects"])


def _gqa_relations(
    each: dict[str, Any], key: str, place: str, image: str, objects: dict[str, Any]
) -> Iterator[Claim | Problem]:
    said = [(" ".join(one["name"].lower().split()), str(one["object"])) for one in each.get("relations", ())]
    for name, other in dict.fromkeys(said):
        count = said.count((name, other))
        end = f"object:{image}:{other}"
        if other not in objects or end == key:
            reason = "self_relation" if end == key else "no_carrier"
            yield from [Problem(reason, f"object {other} is not another one that is there", place, name)] * count
            continue
        yield Claim(
            f"{key}:{name}:{other}",
            named("relation", name),
            place,
            subject=key,
            object=end,
            origin=(key.replace("object:", "object "), f"relation {name} {other}"),
            merged=(place,) * (count - 1),
        )


def _by_image(folder: Path, file: str, key: str) -> dict[int, list[dict[str, Any]]]:
    path = folder / f"{file}.json"
    if not path.is_file():
        return {}
    return {each["image_id"]: each.get(key) or [] for each in load_json(path)}


def _distinct(found: Iterable[tuple[Concept, str]]) -> Iterator[tuple[Concept, str]]:
    seen: dict[str, Concept] = {}
    for concept, place in found:
        known = seen.get(concept.id)
        if known is None or (known.synset is None and concept.synset is not None):
            seen[concept.id] = concept
            yield concept, place


def _box(each: dict[str, Any]) -> Box | None:
    # Visual Genome's first version writes `width` and `height`.
    width, height = each.get("w", each.get("width")), each.get("h", each.get("height"))
    if width is None or height is None or "x" not in each or "y" not in each:
        return None
    return float(each["x"]), float(each["y"]), float(width), float(height)
