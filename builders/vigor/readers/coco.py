"""COCO's instances, and the sets that keep its form: LVIS, PACO, PartImageNet.

They differ by what more they say. LVIS: which categories were looked for and are not there (`neg_category_ids`), and
which are not marked in full; any other is unknown. PACO: parts with their object, attributes, `unknown_*`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builders.vigor.forms import Claim, Concept, Files, Picture, Problem, json_files, load_json, named, short
from builders.vigor.licences import of_coco
from builders.vigor.masks import BadMaskError, Box, from_coco
from builders.vigor.words import family_of
from schemas import GoldsmithError

_UNKNOWN = ("color", "pattern_marking", "material", "transparency")
_SMALLEST = 1


class Coco:
    """A folder with one or more JSON files in COCO's form, and pictures where there are any."""

    def __init__(self, folder: Path, *, parts: bool = False) -> None:
        """With `parts`, a category named after its supercategory (`Quadruped Head`) is a part of it."""
        self._files = Files(folder)
        self._parts = parts
        self._categories: dict[int, Concept] = {}
        self._attributes: dict[int, Concept] = {}
        self._places: dict[str, str] = {}
        self._pictures: dict[int, tuple[dict[str, Any], str]] = {}
        self._of_picture: dict[int, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
        self._strays: list[Problem] = []
        found = [path for path in json_files(folder) if _is_coco(load_json(path))]
        if not found:
            raise GoldsmithError(f"[{folder}] has no JSON file in COCO's form (images, annotations, categories)")
        for path in found:
            self._take(path.name, load_json(path))

    def _take(self, file: str, content: dict[str, Any]) -> None:
        for category in [*content["categories"], *content.get("part_categories", ())]:
            self._categories.setdefault(category["id"], _category(category, self._parts))
            self._places.setdefault(self._categories[category["id"]].id, f"{file} category {category['id']}")
        for attribute in content.get("attributes", ()):
            concept = _attribute(attribute["name"])
            self._attributes.setdefault(attribute["id"], concept)
            self._places.setdefault(concept.id, f"{file} attribute {attribute['id']}")
        for image in content["images"]:
            self._pictures.setdefault(image["id"], (image, file))
        for annotation in content["annotations"]:
            if annotation.get("image_id") in self._pictures:
                self._of_picture[annotation["image_id"]].append((file, annotation))
            else:
                place = f"{file} annotation {annotation.get('id')}"
                message = f"image {annotation.get('image_id')} is not in the list of images"
                self._strays.append(Problem("unknown_image", message, place, short(_light(annotation))))

    def pictures(self) -> list[Picture]:
        return [self._picture(*self._pictures[key]) for key in sorted(self._pictures)]

    def _picture(self, image: dict[str, Any], file: str) -> Picture:
        url = image.get("coco_url") or image.get("flickr_url") or None
        # LVIS of the first version names the files of COCO's release of 2014, its second version none at all.
        name = image.get("file_name") or (url or "").rpartition("/")[2]
        path = self._files.find(name, (url or "").rpartition("/")[2]) if name else None
        return Picture(
            str(image["id"]),
            name,
            image["width"],
            image["height"],
            of_coco(image.get("license")),
            url,
            path,
            place=f"{file} image {image['id']}",
        )

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        for concept in [*self._categories.values(), *self._attributes.values()]:
            yield concept, self._places[concept.id]
        if self._attributes:
            for kind in _UNKNOWN:
                yield _any(kind), self._places[next(iter(self._attributes.values())).id]

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        image, _ = self._pictures[int(picture.key)]
        count = sum(
            1 + len(each.get("attribute_ids") or ()) + sum(bool(each.get(f"unknown_{kind}")) for kind in _UNKNOWN)
            for _, each in self._of_picture[int(picture.key)]
        )
        count += len(image.get("neg_category_ids") or ())
        return count + sum(len(ids) for ids in (image.get("neg_category_ids_attrs") or {}).values())

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        image, file = self._pictures[int(picture.key)]
        incomplete = set(image.get("not_exhaustive_category_ids") or ())
        annotations = self._of_picture[int(picture.key)]
        holders = {each["id"]: _key(each) for _, each in annotations}
        for origin, each in annotations:
            place = f"{origin} annotation {each['id']}"
            made = self._annotation(each, picture, place, holders, each.get("category_id") in incomplete)
            yield made
            yield from self._properties(each, made, place)
        for number in image.get("neg_category_ids") or ():
            yield self._absent(self._categories.get(number), f"absent:{picture.key}:{number}", picture, file, number)
        for attribute, numbers in sorted((image.get("neg_category_ids_attrs") or {}).items()):
            for number in numbers:
                key = f"absent:{picture.key}:{number}:{attribute}"
                concept = self._attributes.get(int(attribute))
                yield self._absent(concept, key, picture, file, number, self._categories.get(number))

    def _annotation(
        self, each: dict[str, Any], picture: Picture, place: str, holders: dict[int, str], incomplete: bool
    ) -> Claim | Problem:
        concept = self._categories.get(each.get("category_id", -1))
        if concept is None:
            message = f"category {each.get('category_id')} is not in the list of categories"
            return Problem("unknown_category", message, place, short(_light(each)))
        try:
            mask = from_coco(each.get("segmentation"), picture.height, picture.width)
        except BadMaskError as error:
            return Problem(error.reason, str(error), place, short(_light(each)))
        if mask.area < _SMALLEST:
            return Problem("empty_mask", "the polygon is smaller than a pixel", place, short(_light(each)))
        holder = each.get("obj_ann_id")
        parent = holders.get(holder) if holder is not None and holder != each["id"] else None
        if concept.level == "part" and holder is not None and parent is None:
            return Problem("no_holder", f"object annotation {holder} is not there", place, short(_light(each)))
        return Claim(
            _key(each),
            concept,
            place,
            mask=mask,
            box=_box(each.get("bbox")),
            source_area=each.get("area"),
            crowd=bool(each.get("iscrowd", 0)),
            exhaustive=not incomplete,
            parent=parent,
            origin=(f"annotation {each['id']}",),
        )

    def _properties(self, each: dict[str, Any], made: Claim | Problem, place: str) -> Iterator[Claim | Problem]:
        """PACO's attributes of an annotation, on its mask. An unknown kind is unknown, never absent."""
        wanted = [(number, "present") for number in each.get("attribute_ids") or ()]
        kinds = [kind for kind in _UNKNOWN if each.get(f"unknown_{kind}")]
        for what, truth in [*wanted, *((kind, "unknown") for kind in kinds)]:
            concept = self._attributes.get(what) if truth == "present" else _any(what)
            if isinstance(made, Problem) or made.mask is None:
                yield Problem("no_carrier", "its annotation was rejected", place, short([what, truth]))
            elif concept is None:
                yield Problem("unknown_category", f"attribute {what} is not in the list", place, short([what]))
            else:
                yield Claim(
                    f"{made.key}:{what}",
                    concept,
                    place,
                    truth=truth,
                    mask=made.mask,
                    box=made.box,
                    parent=made.key,
                    origin=(*made.origin, f"attribute {what}"),
                )

    def _absent(
        self, concept: Concept | None, key: str, picture: Picture, file: str, number: Any, holder: Concept | None = None
    ) -> Claim | Problem:
        place = f"{file} image {picture.key}"
        if concept is None:
            return Problem("unknown_category", f"category {number} is not in the list of categories", place)
        origin = (f"negative {number}", *((holder.id,) if holder else ()))
        # An attribute is absent from one kind of object; of the whole picture nothing is said.
        truth = "unknown" if holder else "absent"
        return Claim(key, concept, place, truth=truth, origin=origin)


def _is_coco(content: Any) -> bool:
    if not isinstance(content, dict) or not {"images", "annotations", "categories"} <= content.keys():
        return False
    first = content["annotations"][:1]
    return "videos" not in content and not any("segments_info" in each or "segmentations" in each for each in first)


def _category(category: dict[str, Any], parts: bool) -> Concept:
    """A category as a concept: PACO's `dog:ear` and PartImageNet's `Quadruped Head` are parts."""
    name, above = category["name"], str(category.get("supercategory", ""))
    more = {
        "synset": category.get("synset"),
        "synonyms": category.get("synonyms", ()),
        "definition": category.get("def"),
    }
    holder, colon, part = name.partition(":")
    if colon or above == "PART":
        return named("part", part or holder, sense=holder if colon else "", **more)
    if parts and name.lower().startswith(above.lower() + " "):
        return named("part", name[len(above) + 1 :], sense=above)
    return named("object", name, **more)


def _attribute(name: str) -> Concept:
    """PACO writes `light_blue`, `other(color)`."""
    plain = name.replace("_", " ").replace("(", " (")
    return named("low", plain, family=family_of(plain))


def _any(kind: str) -> Concept:
    """Any value of a kind of attribute: what is unknown where PACO says `unknown_color`."""
    return named("low", f"any {kind.replace('_', ' ')}")


def _key(annotation: dict[str, Any]) -> str:
    return f"annotation:{annotation['image_id']}:{annotation['id']}"


def _box(box: Any) -> Box | None:
    if not isinstance(box, list) or len(box) != 4:
        return None
    x, y, width, height = (float(value) for value in box)
    return x, y, width, height


def _light(annotation: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in annotation.items() if name != "segmentation"}
