"""COCO panoptic: a PNG whose colours are segment ids; and PSG, which puts relations between its segments.

PSG's lists count from 0 (categories, predicates and the places in `segments_info`), boxes are x1, y1, x2, y2, and its
image ids are texts. It also says which predicates it knows and drops symmetric ones only when scoring; here all stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from builders.vigor.forms import Claim, Concept, Files, Picture, Problem, json_files, load_json, named, short
from builders.vigor.licences import of_coco
from builders.vigor.masks import Box, from_array
from builders.vigor.pixels import load_rgb
from schemas import GoldsmithError


@lru_cache(maxsize=2)
def segment_ids(path: Path) -> np.ndarray:
    """int64 (height, width) of segment ids; 0 is void. Bytes are widened first: 256 x green does not fit in one."""
    pixels = load_rgb(path).astype(np.int64)
    return pixels[..., 0] + 256 * pixels[..., 1] + 65536 * pixels[..., 2]


class Panoptic:
    """A folder with JSON files in COCO's panoptic form, a folder of PNG files for each, and maybe the pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = Files(folder)
        self._categories: dict[int, Concept] = {}
        self._places: dict[str, str] = {}
        self._images: dict[Any, tuple[dict[str, Any], str]] = {}
        self._annotations: dict[Any, dict[str, Any]] = {}
        self._strays: list[Problem] = []
        for path in json_files(folder):
            content = load_json(path)
            if _is_panoptic(content):
                self._take(path, content)
        if not self._categories:
            raise GoldsmithError(
                f"[{folder}] has no JSON file in COCO's panoptic form (annotations with segments_info)"
            )

    def _take(self, path: Path, content: dict[str, Any]) -> None:
        for category in content["categories"]:
            concept = named("object", category["name"])
            self._categories.setdefault(category["id"], concept)
            self._places.setdefault(concept.id, f"{path.name} category {category['id']}")
        for image in content["images"]:
            self._images.setdefault(image["id"], (image, path.name))
        for annotation in content["annotations"]:
            if annotation["image_id"] in self._images:
                self._annotations.setdefault(annotation["image_id"], annotation)
                continue
            for segment in annotation["segments_info"]:
                place = f"{path.name} segment {segment['id']}"
                self._strays.append(Problem("unknown_image", f"image {annotation['image_id']} is not listed", place))

    def pictures(self) -> list[Picture]:
        found = []
        for key in sorted(self._images):
            image, file = self._images[key]
            png = self._annotations.get(key, {}).get("file_name", "")
            path = self._files.find(image["file_name"])
            found.append(
                Picture(
                    str(key),
                    image["file_name"],
                    image["width"],
                    image["height"],
                    of_coco(image.get("license")),
                    image.get("coco_url"),
                    path if path and path.name != png else None,
                    place=f"{file} image {key}",
                )
            )
        return found

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        for concept in self._categories.values():
            yield concept, self._places[concept.id]

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return len(self._annotations.get(int(picture.key), {}).get("segments_info", ()))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        annotation = self._annotations.get(int(picture.key))
        if annotation is None:
            return
        file = self._images[int(picture.key)][1]
        ids = _ids_of(self._files, annotation["file_name"], picture)
        for segment in annotation["segments_info"]:
            place = f"{file} image {picture.key} segment {segment['id']}"
            concept = self._categories.get(segment["category_id"])
            yield _segment(segment, concept, ids, picture.key, place, _box(segment.get("bbox")))


class Psg:
    """PSG's JSON file, with COCO's panoptic PNG files."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        found = [path for path in json_files(folder) if "predicate_classes" in _keys(load_json(path))]
        if len(found) != 1:
            raise GoldsmithError(f"[{folder}] has {len(found)} JSON files with predicate_classes: PSG is one file")
        self._file = found[0].name
        content = load_json(found[0])
        self._things = [named("object", name) for name in [*content["thing_classes"], *content["stuff_classes"]]]
        self._predicates = [named("relation", name) for name in content["predicate_classes"]]
        self._data = {str(each["image_id"]): each for each in content["data"]}

    def pictures(self) -> list[Picture]:
        return [
            Picture(
                key,
                each["file_name"],
                each["width"],
                each["height"],
                of_coco(each.get("license")),
                None,
                self._files.find(each["file_name"], not_in="panoptic"),
                place=f"{self._file} image {key}",
            )
            for key, each in sorted(self._data.items())
        ]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        for index, concept in enumerate(self._things):
            yield concept, f"{self._file} class {index}"
        for index, concept in enumerate(self._predicates):
            yield concept, f"{self._file} predicate {index}"

    def strays(self) -> list[Problem]:
        return []

    def records(self, picture: Picture) -> int:
        return len(self._data[picture.key]["segments_info"]) + len(self._data[picture.key]["relations"])

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        each = self._data[picture.key]
        ids = _ids_of(self._files, each["pan_seg_file_name"], picture)
        made: list[Claim | Problem] = []
        boxes = each.get("annotations", ())
        for index, segment in enumerate(each["segments_info"]):
            place = f"{self._file} image {picture.key} segment {segment['id']}"
            concept = self._things[segment["category_id"]] if segment["category_id"] < len(self._things) else None
            box = _corners(boxes[index].get("bbox")) if index < len(boxes) else None
            made.append(_segment(segment, concept, ids, picture.key, place, box))
        yield from made
        yield from self._relations(each, made, picture)

    def _relations(
        self, each: dict[str, Any], made: list[Claim | Problem], picture: Picture
    ) -> Iterator[Claim | Problem]:
        first: dict[tuple[int, ...], int] = {}
        for index, relation in enumerate(each["relations"]):
            first.setdefault(tuple(relation), index)
        for (one, other, predicate), index in first.items():
            place = f"{self._file} image {picture.key} relation {index}"
            if not (one < len(made) and other < len(made) and predicate < len(self._predicates)):
                yield Problem("unknown_category", f"relation {[one, other, predicate]} points nowhere", place)
                continue
            ends = [end.key if isinstance(end, Claim) else None for end in (made[one], made[other])]
            merged = [
                f"{self._file} image {picture.key} relation {place}"
                for place, relation in enumerate(each["relations"])
                if tuple(relation) == (one, other, predicate) and place != index
            ]
            if None in ends or one == other:
                message = "it joins a segment with itself" if one == other else "one of its segments was rejected"
                for spot in [place, *merged]:
                    yield Problem("self_relation" if one == other else "no_carrier", message, spot)
                continue
            yield Claim(
                f"relation:{picture.key}:{index}",
                self._predicates[predicate],
                place,
                subject=ends[0],
                object=ends[1],
                origin=(f"relation {index}",),
                merged=tuple(merged),
            )


def _segment(
    segment: dict[str, Any], concept: Concept | None, ids: np.ndarray | None, image: str, place: str, box: Box | None
) -> Claim | Problem:
    if concept is None:
        return Problem("unknown_category", f"category {segment['category_id']} is not listed", place, short(segment))
    if ids is None:
        return Problem("no_mask", "the PNG file with the segments is absent or of another size", place, short(segment))
    mask = from_array(ids == segment["id"])
    if mask.area == 0:
        return Problem("empty_mask", f"no pixel has the id {segment['id']}", place, short(segment))
    return Claim(
        f"segment:{image}:{segment['id']}",
        concept,
        place,
        mask=mask,
        box=box,
        source_area=segment.get("area"),
        crowd=bool(segment.get("iscrowd", 0)),
        origin=(f"segment {segment['id']}",),
    )


def _ids_of(files: Files, name: str, picture: Picture) -> np.ndarray | None:
    path = files.find(name)
    if path is None or path.suffix.lower() != ".png":
        return None
    ids = segment_ids(path)
    return ids if ids.shape == (picture.height, picture.width) else None


def _is_panoptic(content: Any) -> bool:
    keys = {"images", "annotations", "categories"}
    return keys <= _keys(content) and any("segments_info" in each for each in content["annotations"][:1])


def _keys(content: Any) -> set[str]:
    return set(content) if isinstance(content, dict) else set()


def _box(box: Any) -> Box | None:
    return (float(box[0]), float(box[1]), float(box[2]), float(box[3])) if box else None


def _corners(box: Any) -> Box | None:
    return (float(box[0]), float(box[1]), float(box[2] - box[0]), float(box[3] - box[1])) if box else None
