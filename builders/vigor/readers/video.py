"""Masks through time: DAVIS (a PNG a frame) and YouTube-VIS (run lengths a frame).

DAVIS 2016 writes 0 and 255; DAVIS 2017 writes a palette with object ids, where 255 is void, neither in nor out. The ids
are those of the sequence and no classes. A clip is a row for each frame in `images`; its masklets hang on the first
frame in which they are seen. A clip of which one mask file cannot be read is rejected whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from builders.vigor.documents import Groups, open_json
from builders.vigor.files import Files, json_files
from builders.vigor.forms import Claim, Concept, Picture, Problem, attempt, called
from builders.vigor.licences import UNKNOWN
from builders.vigor.masks import Mask, from_array, from_coco
from builders.vigor.pixels import load_labels
from builders.vigor.readers.categories import ObjectCategories
from builders.vigor.values import (
    BadValueError,
    box,
    by_number,
    flag,
    identity,
    keys,
    listed,
    record,
    rows,
    size,
    text,
)
from schemas import GoldsmithError

VOID = 255
_MOVING = Concept("motion", "moving object", synonyms=("moving", "object in motion"))


class Davis:
    """DAVIS's folder: JPEGImages/480p/<clip>/00000.jpg and Annotations/480p/<clip>/00000.png."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clips: dict[str, list[Path]] = {}
        for frames in sorted(folder.glob("Annotations/*/*")):
            if frames.is_dir():
                self._clips[frames.name] = sorted(frames.glob("*.png"))
        if not self._clips:
            raise GoldsmithError(f"[{folder}] has no Annotations/480p/<clip> with PNG files")
        self._strays: list[Problem] = []
        self._sizes: dict[str, list[tuple[int, ...]]] = {}
        self._objects: dict[str, list[int]] = {}
        for clip in list(self._clips):
            self._measure(clip)
        licence = folder / "licence.txt"
        self._licence = licence.read_text(encoding="utf-8").strip() if licence.is_file() else "BSD-3-Clause"

    def _measure(self, clip: str) -> None:
        """Read the size and the objects of every frame; a clip that has an unreadable one is taken out."""
        sizes, values, wrong = [], set(), {}
        for path in self._clips[clip]:
            try:
                labels = load_labels(path)
            except BadValueError as error:
                wrong[path] = error
            else:
                sizes.append(labels.shape)
                values |= set(np.unique(labels).tolist())
        # Of a binary clip the one value 255, of a palette all but 0 and void.
        objects = sorted(values - {0}) if values <= {0, VOID} else sorted(values - {0, VOID})
        if not wrong:
            self._sizes[clip], self._objects[clip] = sizes, objects
            return
        first = next(iter(wrong.values()))
        for path in self._clips.pop(clip):
            place = path.relative_to(self._folder).as_posix()
            self._strays.append(Problem.of(wrong.get(path, first), place, path.name, "images"))
        self._strays += [Problem.of(first, f"Annotations {clip}", f"object {number}") for number in objects]

    def pictures(self) -> list[Picture]:
        found = []
        for clip, frames in self._clips.items():
            for frame, (path, (height, width)) in enumerate(zip(frames, self._sizes[clip], strict=True)):
                jpeg = self._folder / "JPEGImages" / path.parent.parent.name / clip / f"{path.stem}.jpg"
                found.append(
                    Picture(
                        f"{clip}/{path.stem}",
                        jpeg.name,
                        width,
                        height,
                        self._licence,
                        None,
                        jpeg if jpeg.is_file() else None,
                        clip,
                        frame,
                        path.relative_to(self._folder).as_posix(),
                    )
                )
        return found

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        for clip in list(self._clips)[:1]:
            yield _MOVING, f"Annotations {clip}"

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        """A record is an object of the clip, counted at the clip's first frame."""
        return len(self._objects[picture.clip or ""]) if picture.frame == 0 else 0

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        if picture.frame != 0 or picture.clip is None:
            return
        labels = [load_labels(path) for path in self._clips[picture.clip]]
        place = f"Annotations {picture.clip}"
        sizes = set(self._sizes[picture.clip])
        if len(sizes) > 1:
            message = f"its frames have {len(sizes)} sizes"
            yield from (
                Problem("bad_size", message, place, f"object {number}") for number in self._objects[picture.clip]
            )
            return
        for number in self._objects[picture.clip]:
            frames = tuple(
                (frame, from_array(pixels == number) if (pixels == number).any() else None)
                for frame, pixels in enumerate(labels)
            )
            start = next(frame for frame, mask in frames if mask is not None)
            void = labels[start] == VOID if number != VOID else np.zeros_like(labels[start])
            yield Claim(
                f"clip:{picture.clip}:{number}",
                _MOVING,
                place,
                mask=frames[start][1],
                frames=frames,
                ignore=from_array(void) if void.any() else None,
                origin=(f"clip {picture.clip}", f"object {number}"),
            )


class YoutubeVis:
    """YouTube-VIS's JSON file: videos, and annotations with a mask or nothing for each frame."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._categories = ObjectCategories()
        self._videos: dict[str, tuple[list[Picture], str]] = {}
        self._annotations: list[Groups] = []
        self._strays: list[Problem] = []
        found = [(path.name, content) for path in json_files(folder) if "videos" in keys(content := open_json(path))]
        if not found:
            raise GoldsmithError(f"[{folder}] has no JSON file in YouTube-VIS's form (videos, annotations)")
        for file, content in found:
            self._take(file, content)

    def _take(self, file: str, content: Mapping[str, Any]) -> None:
        self._strays += self._categories.take(file, content)
        for video in rows(content, "videos", file):
            place = f"{file} video {called(video)}"
            try:
                key, frames = self._frames(record(video), place)
            except BadValueError as error:
                self._strays.append(Problem.of(error, place, video, "images"))
            else:
                self._videos.setdefault(key, (frames, file))
        self._annotations.append(Groups(listed(content.get("annotations")), partial(self._video_of, file)))

    def _video_of(self, file: str, annotation: Any) -> str | None:
        """Key of the video that an annotation speaks of; a stray if there is none."""
        try:
            key = identity(record(annotation).get("video_id"), "video_id")
            if key not in self._videos:
                raise BadValueError("unknown_image", "its video is not listed")
        except BadValueError as error:
            self._strays.append(Problem.of(error, f"{file} annotation {called(annotation)}", annotation))
            return None
        return key

    def _frames(self, video: dict[str, Any], place: str) -> tuple[str, list[Picture]]:
        key = identity(video.get("id"))
        height, width = size(video)
        names = [text(name, "a file name") for name in listed(video.get("file_names"))]
        licence = text(video.get("licence"), "licence", UNKNOWN)
        if not names:
            raise BadValueError("wrong_type", "file_names is empty, must name the frames")
        return key, [
            Picture(
                f"{key}/{frame:05d}",
                name,
                width,
                height,
                licence,
                None,
                self._files.find(name),
                key,
                frame,
                f"{place} frame {frame}",
            )
            for frame, name in enumerate(names)
        ]

    def pictures(self) -> list[Picture]:
        return [picture for key in sorted(self._videos, key=by_number) for picture in self._videos[key][0]]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        yield from self._categories.concepts()
        file = next(iter(self._videos.values()))[1] if self._videos else ""
        yield _MOVING, f"{file} annotations"

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return sum(groups.count(picture.clip or "") for groups in self._annotations) if picture.frame == 0 else 0

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        if picture.frame != 0 or picture.clip is None:
            return
        frames, file = self._videos[picture.clip]
        for each in chain.from_iterable(groups.of(picture.clip) for groups in self._annotations):
            place = f"{file} annotation {called(each)}"
            yield attempt(partial(self._masklet, each, frames, place), place, each)

    def _masklet(self, each: dict[str, Any], pictures: list[Picture], place: str) -> Claim:
        key = identity(each.get("id"))
        concept = self._categories.of(each)
        height, width = pictures[0].height, pictures[0].width
        frames: list[tuple[int, Mask | None]] = []
        for frame, form in enumerate(listed(each.get("segmentations"))):
            try:
                mask = None if form is None else from_coco(form, height, width)
            except BadValueError as error:
                raise BadValueError(error.reason, f"frame {frame}: {error}") from None
            frames.append((frame, mask if mask is not None and mask.area else None))
        if len(frames) != len(pictures):
            raise BadValueError("bad_masklet", f"{len(frames)} masks for {len(pictures)} frames")
        shown = [(frame, mask) for frame, mask in frames if mask is not None]
        if not shown:
            raise BadValueError("empty_mask", "it is seen in no frame")
        boxes = listed(each.get("bboxes"))
        return Claim(
            f"annotation:{key}",
            concept,
            place,
            mask=shown[0][1],
            frames=tuple(frames),
            box=box(boxes[shown[0][0]], height, width) if shown[0][0] < len(boxes) else None,
            crowd=flag(each.get("iscrowd"), "iscrowd"),
            origin=(f"annotation {key}",),
        )
