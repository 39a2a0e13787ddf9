"""COCO panoptic: a PNG whose colours are segment ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from builders.vigor.documents import open_json
from builders.vigor.files import Files, json_files
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, called
from builders.vigor.licences import of_coco
from builders.vigor.masks import from_array
from builders.vigor.pixels import load_rgb
from builders.vigor.readers.categories import ObjectCategories
from builders.vigor.values import (
    BadValueError,
    Box,
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
    whole,
)
from schemas import GoldsmithError

_LARGEST_ID = 2**24 - 1
Segments = Callable[[], np.ndarray | None]
"""Reads the segment ids of a picture; None where there is no file of its size."""


@lru_cache(maxsize=2)
def segment_ids(path: Path) -> np.ndarray:
    """int64 (height, width) of segment ids; 0 is void. Bytes are widened first: 256 x green does not fit in one."""
    pixels = load_rgb(path).astype(np.int64)
    return pixels[..., 0] + 256 * pixels[..., 1] + 65536 * pixels[..., 2]


class Panoptic:
    """A folder with JSON files in COCO's panoptic form, a folder of PNG files for each, and maybe the pictures."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._categories = ObjectCategories()
        self._images: dict[str, tuple[Picture, str]] = {}
        self._annotations: dict[str, tuple[Sequence[Any], int]] = {}
        self._strays: list[Problem] = []
        found = [(path.name, content) for path in json_files(folder) if _is_panoptic(content := open_json(path))]
        if not found:
            raise GoldsmithError(
                f"[{folder}] has no JSON file in COCO's panoptic form (annotations with segments_info)"
            )
        for file, content in found:
            self._take(file, content)

    def _take(self, file: str, content: Mapping[str, Any]) -> None:
        self._strays += self._categories.take(file, content)
        annotations = rows(content, "annotations", file)
        pngs = {name for each in annotations if isinstance(name := keys(each) and each.get("file_name"), str)}
        for image in rows(content, "images", file):
            place = f"{file} image {called(image)}"
            try:
                picture = self._picture(record(image), pngs, place)
            except BadValueError as error:
                self._strays.append(Problem.of(error, place, image, "images"))
            else:
                self._images.setdefault(picture.key, (picture, file))
        for index, annotation in enumerate(annotations):
            place = f"{file} annotation of image {called(annotation, 'image_id')}"
            try:
                self._annotations[self._picture_of(record(annotation))] = annotations, index
            except BadValueError as error:
                segments = listed(annotation.get("segments_info")) if isinstance(annotation, dict) else [annotation]
                self._strays += [Problem.of(error, place, each) for each in segments]

    def _picture(self, image: dict[str, Any], pngs: set[str], place: str) -> Picture:
        height, width = size(image)
        name = text(image.get("file_name"), "file_name")
        path = self._files.find(name)
        return Picture(
            identity(image.get("id")),
            name,
            width,
            height,
            of_coco(image.get("license")),
            text(image.get("coco_url"), "coco_url", None),
            path if path and path.name not in pngs else None,
            place=place,
        )

    def _picture_of(self, annotation: dict[str, Any]) -> str:
        """Key of the picture that an annotation speaks of: listed, and annotated once."""
        key = identity(annotation.get("image_id"), "image_id")
        if key not in self._images:
            raise BadValueError("unknown_image", f"image {key} is not listed")
        if key in self._annotations:
            raise BadValueError("duplicate_id", f"image {key} is annotated twice")
        return key

    def _annotation(self, picture: Picture) -> dict[str, Any]:
        """What is said of a picture; empty where nothing is."""
        annotations, index = self._annotations.get(picture.key, ([{}], 0))
        return annotations[index]

    def pictures(self) -> list[Picture]:
        return [self._images[key][0] for key in sorted(self._images, key=by_number)]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        return self._categories.concepts()

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return len(listed(self._annotation(picture).get("segments_info")))

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        annotation = self._annotation(picture)
        file = self._images[picture.key][1]
        ids = partial(ids_of, self._files, annotation.get("file_name"), picture)
        for segment in listed(annotation.get("segments_info")):
            place = f"{file} image {picture.key} segment {called(segment)}"
            yield attempt(partial(self._segment, segment, ids, picture, place), place, segment)

    def _segment(self, segment: Any, ids: Segments, picture: Picture, place: str) -> Claim:
        concept = self._categories.of(record(segment))
        found = box(segment.get("bbox"), picture.height, picture.width)
        return segment_claim(segment, concept, ids, picture.key, place, found)


def segment_claim(
    segment: Mapping[str, Any], concept: Concept, ids: Segments, image: str, place: str, found: Box | None
) -> Claim:
    """The claim of a segment, `ids` reading its PNG file.

    Raises:
        BadValueError: the file cannot be read or has no such segment, or something it says makes no sense.
    """
    pixels = ids()
    if pixels is None:
        raise BadValueError("no_mask", "the PNG file with the segments is absent or of another size")
    key = whole(segment.get("id"), "id", 0, _LARGEST_ID)
    mask = from_array(pixels == key)
    if mask.area == 0:
        raise BadValueError("empty_mask", f"no pixel has the id {key}")
    return Claim(
        f"segment:{image}:{key}",
        concept,
        place,
        mask=mask,
        box=found,
        source_area=number(segment.get("area"), "area"),
        crowd=flag(segment.get("iscrowd"), "iscrowd"),
        origin=(f"segment {key}",),
    )


def ids_of(files: Files, name: Any, picture: Picture) -> np.ndarray | None:
    """The segment ids of a picture's PNG file; None where there is none of its size."""
    path = files.find(name) if isinstance(name, str) else None
    if path is None or path.suffix.lower() != ".png":
        return None
    ids = segment_ids(path)
    return ids if ids.shape == (picture.height, picture.width) else None


def _is_panoptic(content: Any) -> bool:
    wanted = {"images", "annotations", "categories"}
    return wanted <= keys(content) and any("segments_info" in keys(each) for each in listed(content["annotations"]))
