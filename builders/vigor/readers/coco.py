"""COCO's instances, and the sets that keep its form: LVIS, PACO, PartImageNet.

They differ by what more they say. LVIS: which categories were looked for and are not there (`neg_category_ids`), and
which are not marked in full; any other is unknown. PACO: parts with their object, attributes, `unknown_*`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from builders.vigor.documents import Groups, open_json
from builders.vigor.files import Files, json_files
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, called, named, short
from builders.vigor.licences import of_coco
from builders.vigor.masks import from_coco
from builders.vigor.values import (
    BadValueError,
    box,
    by_number,
    flag,
    identity,
    keys,
    listed,
    number,
    record,
    rows,
    size,
    text,
)
from builders.vigor.words import family_of
from schemas import GoldsmithError

_UNKNOWN = ("color", "pattern_marking", "material", "transparency")
_SMALLEST = 1


class Coco:
    """A folder with one or more JSON files in COCO's form, and pictures where there are any."""

    def __init__(self, folder: Path, *, parts: bool = False) -> None:
        """With `parts`, a category named after its supercategory (`Quadruped Head`) is a part of it."""
        self._files = Files(folder)
        self._category = partial(_category, parts=parts)
        self._categories: dict[str, Concept] = {}
        self._attributes: dict[str, Concept] = {}
        self._places: dict[str, str] = {}
        self._pictures: dict[str, tuple[Picture, str, Sequence[Any], int]] = {}
        self._annotations: list[tuple[str, Groups]] = []
        self._strays: list[Problem] = []
        found = [(path.name, content) for path in json_files(folder) if _is_coco(content := open_json(path))]
        if not found:
            raise GoldsmithError(f"[{folder}] has no JSON file in COCO's form (images, annotations, categories)")
        for file, content in found:
            self._take(file, content)

    def _take(self, file: str, content: Mapping[str, Any]) -> None:
        parts = rows(content, "part_categories", file) if "part_categories" in content else []
        attributes = rows(content, "attributes", file) if "attributes" in content else []
        for each in [*rows(content, "categories", file), *parts]:
            self._concept(self._categories, self._category, each, f"{file} category")
        for each in attributes:
            self._concept(self._attributes, _attribute, each, f"{file} attribute")
        images = rows(content, "images", file)
        for index, image in enumerate(images):
            place = f"{file} image {called(image)}"
            try:
                picture = self._picture(record(image), place)
            except BadValueError as error:
                self._strays.append(Problem.of(error, place, image, "images"))
                continue
            if picture.key not in self._pictures:
                self._pictures[picture.key] = picture, file, images, index
            elif self._image(picture.key)[0] != image:  # Files of one set list the same pictures.
                message = f"{self._pictures[picture.key][1]} has another image of this id"
                self._strays.append(Problem("duplicate_id", message, place, short(image), "images"))
        of_picture = partial(self._picture_of, file)
        self._annotations.append((file, Groups(rows(content, "annotations", file), of_picture)))

    def _picture_of(self, file: str, annotation: Any) -> str | None:
        """Key of the picture that an annotation speaks of; a stray if there is none."""
        try:
            key = identity(record(annotation).get("image_id"), "image_id")
            if key not in self._pictures:
                raise BadValueError("unknown_image", f"image {key} is not in the list of images")
        except BadValueError as error:
            self._strays.append(Problem.of(error, f"{file} annotation {called(annotation)}", annotation))
            return None
        return key

    def _image(self, key: str) -> tuple[dict[str, Any], str]:
        """The record of a picture, and its file."""
        _, file, images, index = self._pictures[key]
        return images[index], file

    def _said_of(self, key: str) -> list[tuple[str, dict[str, Any]]]:
        """The annotations of a picture, each with its file."""
        return [(file, each) for file, groups in self._annotations for each in groups.of(key)]

    def _concept(
        self, known: dict[str, Concept], make: Callable[[dict[str, Any]], Concept], each: Any, kind: str
    ) -> None:
        """Take a category or an attribute into what is `known`."""
        place = f"{kind} {called(each)}"
        try:
            key, concept = identity(record(each).get("id")), make(each)
        except BadValueError as error:
            self._strays.append(Problem.of(error, place, each, "concepts"))
            return
        self._places.setdefault(known.setdefault(key, concept).id, place)

    def _picture(self, image: dict[str, Any], place: str) -> Picture:
        key = identity(image.get("id"))
        height, width = size(image)
        url = text(image.get("coco_url"), "coco_url", None) or text(image.get("flickr_url"), "flickr_url", None)
        # LVIS of the first version names the files of COCO's release of 2014, its second version none at all.
        name = text(image.get("file_name"), "file_name", "") or (url or "").rpartition("/")[2]
        path = self._files.find(name, (url or "").rpartition("/")[2]) if name else None
        return Picture(key, name, width, height, of_coco(image.get("license")), url, path, place=place)

    def pictures(self) -> list[Picture]:
        return [self._pictures[key][0] for key in sorted(self._pictures, key=by_number)]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        for concept in [*self._categories.values(), *self._attributes.values()]:
            yield concept, self._places[concept.id]
        if self._attributes:
            for kind in _UNKNOWN:
                yield _any(kind), self._places[next(iter(self._attributes.values())).id]

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        image, _ = self._image(picture.key)
        annotations = self._said_of(picture.key)
        count = sum(1 + len(listed(each.get("attribute_ids"))) + len(_unknowns(each)) for _, each in annotations)
        return count + len(listed(image.get("neg_category_ids"))) + len(_negative_attributes(image))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        image, file = self._image(picture.key)
        annotations = self._said_of(picture.key)
        incomplete = {str(each) for each in listed(image.get("not_exhaustive_category_ids"))}
        holders = {str(each.get("id")) for _, each in annotations}
        for origin, each in annotations:
            place = f"{origin} annotation {called(each)}"
            make = partial(self._annotation, each, picture, place, holders, incomplete)
            made = attempt(make, place, each)
            yield made
            yield from self._properties(each, made, place)
        place = f"{file} image {picture.key}"
        for each in listed(image.get("neg_category_ids")):
            yield attempt(partial(self._absent, each, picture, place), place, each)
        for attribute, each in _negative_attributes(image):
            yield attempt(partial(self._absent, each, picture, place, attribute), place, [attribute, each])

    def _annotation(
        self, each: dict[str, Any], picture: Picture, place: str, holders: set[str], incomplete: set[str]
    ) -> Claim:
        key = identity(each.get("id"))
        category = identity(each.get("category_id"), "category_id")
        concept = _known(self._categories, category, "category")
        mask = from_coco(each.get("segmentation"), picture.height, picture.width)
        if mask.area < _SMALLEST:
            raise BadValueError("empty_mask", "the polygon is smaller than a pixel")
        given = each.get("obj_ann_id")
        holder = None if given is None else identity(given, "obj_ann_id")
        if concept.level == "part" and holder is not None and (holder == key or holder not in holders):
            raise BadValueError("no_holder", f"object annotation {holder} is not there")
        return Claim(
            f"annotation:{picture.key}:{key}",
            concept,
            place,
            mask=mask,
            box=box(each.get("bbox"), picture.height, picture.width),
            source_area=number(each.get("area"), "area"),
            crowd=flag(each.get("iscrowd"), "iscrowd"),
            exhaustive=category not in incomplete,
            parent=f"annotation:{picture.key}:{holder}" if holder in holders - {key} else None,
            origin=(f"annotation {key}",),
        )

    def _properties(self, each: dict[str, Any], made: Claim | Problem, place: str) -> Iterator[Claim | Problem]:
        """PACO's attributes of an annotation, on its mask. An unknown kind is unknown, never absent."""
        wanted = [(value, False) for value in listed(each.get("attribute_ids"))]
        for what, unknown in [*wanted, *((kind, True) for kind in _unknowns(each))]:
            if isinstance(made, Problem):
                yield Problem("no_carrier", "its annotation was rejected", place, short([what]))
            else:
                yield attempt(partial(self._property, each, made, what, unknown), place, [what])

    def _property(self, each: dict[str, Any], bearer: Claim, what: Any, unknown: bool) -> Claim:
        if unknown:
            flag(each.get(f"unknown_{what}"), f"unknown_{what}")
            if not self._attributes:
                raise BadValueError("unknown_category", f"{what} is unknown, and no attribute is in the list")
            name, concept = what, _any(what)
        else:
            name = identity(what, "attribute_ids")
            concept = _known(self._attributes, name, "attribute")
        return Claim(
            f"{bearer.key}:{name}",
            concept,
            bearer.place,
            truth="unknown" if unknown else "present",
            mask=bearer.mask,
            box=bearer.box,
            parent=bearer.key,
            origin=(*bearer.origin, f"attribute {name}"),
        )

    def _absent(self, value: Any, picture: Picture, place: str, attribute: str | None = None) -> Claim:
        """A category that is not in a picture; or an attribute that its objects of a category have not: of the whole
        picture that says nothing."""
        category = identity(value, "a negative")
        holder = _known(self._categories, category, "category")
        if attribute is None:
            key, origin = f"absent:{picture.key}:{category}", (f"negative {category}",)
            return Claim(key, holder, place, truth="absent", origin=origin)
        concept = _known(self._attributes, attribute, "attribute")
        key, origin = f"absent:{picture.key}:{category}:{attribute}", (f"negative {category}", holder.id)
        return Claim(key, concept, place, truth="unknown", origin=origin)


def _is_coco(content: Any) -> bool:
    if not {"images", "annotations", "categories"} <= keys(content):
        return False
    first = [keys(each) for each in listed(content["annotations"])[:1]]
    return "videos" not in content and not any("segments_info" in each or "segmentations" in each for each in first)


def _unknowns(annotation: dict[str, Any]) -> list[str]:
    """The kinds of attributes of which PACO says anything but that they are known."""
    return [kind for kind in _UNKNOWN if annotation.get(f"unknown_{kind}") not in (None, 0)]


def _negative_attributes(image: dict[str, Any]) -> list[tuple[str, Any]]:
    """(attribute, category whose objects have it not) as PACO says it."""
    given = image.get("neg_category_ids_attrs") or {}
    if not isinstance(given, dict):
        return [("?", given)]
    return [(attribute, each) for attribute, values in sorted(given.items()) for each in listed(values)]


def _known(concepts: dict[str, Concept], key: str, kind: str) -> Concept:
    if key not in concepts:
        raise BadValueError("unknown_category", f"{kind} {key} is not in the list")
    return concepts[key]


def _category(category: dict[str, Any], parts: bool) -> Concept:
    """A category as a concept: PACO's `dog:ear` and PartImageNet's `Quadruped Head` are parts."""
    name, above = text(category.get("name"), "name"), text(category.get("supercategory"), "supercategory", "")
    more = {
        "synset": text(category.get("synset"), "synset", None),
        "synonyms": [text(each, "a synonym") for each in listed(category.get("synonyms"))],
        "definition": text(category.get("def"), "def", None),
    }
    holder, colon, part = name.partition(":")
    if colon or above == "PART":
        return named("part", part or holder, sense=holder if colon else "", **more)
    if parts and name.lower().startswith(above.lower() + " "):
        return named("part", name[len(above) + 1 :], sense=above)
    return named("object", name, **more)


def _attribute(attribute: dict[str, Any]) -> Concept:
    """PACO writes `light_blue`, `other(color)`."""
    plain = text(attribute.get("name"), "name").replace("_", " ").replace("(", " (")
    return named("low", plain, family=family_of(plain))


def _any(kind: str) -> Concept:
    """Any value of a kind of attribute: what is unknown where PACO says `unknown_color`."""
    return named("low", f"any {kind.replace('_', ' ')}")
