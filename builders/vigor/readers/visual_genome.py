"""Visual Genome: boxes, attributes and relations in free words.

Counted on five real pictures: 15 of 158 relations are said twice, 56 predicates are not in lower case, 13 of 177
objects have no synset, 67 have no key `attributes`, and predicates' synsets can be wrong (`ON` is along.r.01), so that
they are not used. Twice said is merged; `names` of an object is `name` in a relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from builders.vigor.documents import Groups, JsonList, open_json
from builders.vigor.files import Files
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, called, named, short
from builders.vigor.licences import UNKNOWN
from builders.vigor.values import BadValueError, Box, box, by_number, identity, listed, record, size, text
from builders.vigor.words import family_of
from schemas import GoldsmithError

_KINDS = ("objects", "attributes", "relationships")


class VisualGenome:
    """A folder with objects.json, and attributes.json, relationships.json and image_data.json where there are any."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._strays: list[Problem] = []
        if not (folder / "objects.json").is_file():
            raise GoldsmithError(f"[{folder}] has no objects.json of Visual Genome")
        self._said = {kind: Groups(_content(folder, kind), partial(self._image_of, kind)) for kind in _KINDS}
        self._pictures: dict[str, Picture] = {}
        for about in _content(folder, "image_data"):
            place = f"image_data.json image {called(about, 'image_id')}"
            try:
                picture = self._picture(record(about), place)
            except BadValueError as error:
                self._strays.append(Problem.of(error, place, about, "images"))
            else:
                self._pictures[picture.key] = picture
        if not (folder / "image_data.json").is_file():
            for key in self._said["objects"].keys():  # noqa: SIM118 (no mapping)
                about = {"image_id": key, "width": 0, "height": 0}
                self._pictures[key] = self._picture(about, f"objects.json image {key}", sized=False)
        for kind, found in self._said.items():
            for key in sorted(set(found.keys()) - self._pictures.keys(), key=by_number):
                message = f"image {key} is not in image_data.json"
                self._strays += [
                    Problem("unknown_image", message, f"{kind}.json image {key}", short(each))
                    for each in self._said_of(kind, key)
                    for _ in range(_count(kind, each))
                ]

    def _picture(self, about: dict[str, Any], place: str, sized: bool = True) -> Picture:
        key = identity(about.get("image_id"), "image_id")
        if key in self._pictures:
            raise BadValueError("duplicate_id", f"image {key} is listed twice")
        height, width = size(about) if sized else (0, 0)
        licence = text(about.get("licence"), "licence", UNKNOWN)
        url, name = text(about.get("url"), "url", None), f"{key}.jpg"
        return Picture(key, name, width, height, licence, url, self._files.find(name), place=place)

    def _image_of(self, kind: str, each: Any) -> str | None:
        """The image that an item of a file speaks of; what is said of no image is a stray."""
        try:
            return identity(record(each).get("image_id"), "image_id")
        except BadValueError as error:
            place = f"{kind}.json image {called(each, 'image_id')}"
            lost = listed(each.get(kind)) if isinstance(each, dict) else [each]
            self._strays += [Problem.of(error, place, one) for one in lost for _ in range(_count(kind, one))]
            return None

    def _said_of(self, kind: str, key: str) -> Iterator[Any]:
        """The records of an image in a file."""
        return chain.from_iterable(listed(each.get(kind)) for each in self._said[kind].of(key))

    def pictures(self) -> list[Picture]:
        return [self._pictures[key] for key in sorted(self._pictures, key=by_number)]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        return distinct(chain.from_iterable(map(self.claims, self.pictures())))

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return sum(_count(kind, each) for kind in _KINDS for each in self._said_of(kind, picture.key))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        known: set[str] = set()
        for each in self._said_of("objects", picture.key):
            place = f"objects.json object {called(each, 'object_id')}"
            made = attempt(partial(_object, each, picture, place), place, each)
            if isinstance(made, Claim):
                known.add(made.key)
            yield made
        for each in self._said_of("attributes", picture.key):
            yield from _attributes(each, known, picture)
        yield from _relations(self._said_of("relationships", picture.key), known)


def _object(each: Any, picture: Picture, place: str) -> Claim:
    number = identity(record(each).get("object_id"), "object_id")
    names = [text(name, "a name") for name in listed(each.get("names"))]
    found = sides(each, picture)
    if found is None or not names:
        raise BadValueError("no_box", "the object has no box or no name")
    synset = text(next(iter(listed(each.get("synsets"))), None), "a synset", None)
    origin = (f"object {number}", *(f"name {name}" for name in names[1:]))
    return Claim(f"object:{number}", named("object", names[0], synset=synset), place, box=found, origin=origin)


def _attributes(each: Any, known: set[str], picture: Picture) -> Iterator[Claim | Problem]:
    place = f"attributes.json object {called(each, 'object_id')}"
    words: dict[str, int] = {}
    for name in listed(each.get("attributes")) if isinstance(each, dict) else [each]:
        try:
            word = plain(name)
            words[word] = words.get(word, 0) + 1
        except BadValueError as error:
            yield Problem.of(error, place, name)
    for name, count in words.items():
        made = attempt(partial(_attribute, each, name, count, known, picture, place), place, [name])
        yield from [made] if isinstance(made, Claim) else [made] * count


def _attribute(each: Any, name: str, count: int, known: set[str], picture: Picture, place: str) -> Claim:
    number = identity(record(each).get("object_id"), "object_id")
    if f"object:{number}" not in known:
        raise BadValueError("no_carrier", f"object {number} is not there")
    return Claim(
        f"attribute:{number}:{name}",
        named("low", name, family=family_of(name)),
        place,
        box=sides(each, picture),
        parent=f"object:{number}",
        origin=(f"object {number}", f"attribute {name}"),
        merged=(place,) * (count - 1),
    )


def _relations(given: Iterable[Any], known: set[str]) -> Iterator[Claim | Problem]:
    said: dict[tuple[str, str, str], list[tuple[str, Any]]] = defaultdict(list)
    for each in given:
        place = f"relationships.json relationship {called(each, 'relationship_id')}"
        try:
            number = identity(record(each).get("relationship_id"), "relationship_id")
            one, other = (
                identity(record(each.get(end)).get("object_id"), f"object_id of the {end}")
                for end in ("subject", "object")
            )
            said[one, plain(each.get("predicate")), other].append((number, each))
        except BadValueError as error:
            yield Problem.of(error, place, each)
    for (one, predicate, other), records in said.items():
        places = [f"relationships.json relationship {number}" for number, _ in records]
        if one == other or not {f"object:{one}", f"object:{other}"} <= known:
            reason = "self_relation" if one == other else "no_carrier"
            for place, (_, each) in zip(places, records, strict=True):
                yield Problem(reason, f"it joins objects {one} and {other}", place, short(each))
            continue
        yield Claim(
            f"relation:{records[0][0]}",
            named("relation", predicate),
            places[0],
            subject=f"object:{one}",
            object=f"object:{other}",
            merged=tuple(places[1:]),
            origin=tuple(f"relationship {number}" for number, _ in records),
        )


def plain(name: Any) -> str:
    """A free word in lower case, with single blanks.

    Raises:
        BadValueError: it is none, or no letter is left of it.
    """
    word = " ".join(text(name, "a word").lower().split())
    if not word.strip("_ "):
        raise BadValueError("wrong_type", f"the word {word!r} has no letter")
    return word


def distinct(found: Iterable[Claim | Problem]) -> Iterator[tuple[Concept, str]]:
    """Each concept that is claimed once, and again where a synset comes to be known, with its place."""
    seen: dict[str, Concept] = {}
    for item in found:
        if not isinstance(item, Claim):
            continue
        concept = item.concept
        known = seen.get(concept.id)
        if known is None or (known.synset is None and concept.synset is not None):
            seen[concept.id] = concept
            yield concept, item.place


def sides(each: dict[str, Any], picture: Picture) -> Box | None:
    """The box of a record that gives its sides by name; Visual Genome's first version writes `width` and `height`."""
    found = [each.get("x"), each.get("y"), each.get("w", each.get("width")), each.get("h", each.get("height"))]
    return None if None in found else box(found, picture.height, picture.width)


def _content(folder: Path, file: str) -> Sequence[Any]:
    path = folder / f"{file}.json"
    if not path.is_file():
        return []
    content = open_json(path)
    if not isinstance(content, JsonList):
        raise GoldsmithError(f"[{path.name}] is no list of images: fetch it again, whole")
    return content


def _count(kind: str, each: Any) -> int:
    """How many records there are in an item: an object may have several attributes, or none."""
    return len(listed(each.get("attributes"))) if kind == "attributes" and isinstance(each, dict) else 1
