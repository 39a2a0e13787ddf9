"""Masks through time: DAVIS (a PNG a frame) and YouTube-VIS (run lengths a frame).

DAVIS 2016 writes 0 and 255; DAVIS 2017 writes a palette with object ids, where 255 is void, neither in nor out. The ids
are those of the sequence and no classes. A clip is a row for each frame in `images`; its masklets hang on the first
frame in which they are seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from builders.vigor.forms import Claim, Concept, Files, Picture, Problem, json_files, load_json, named, short
from builders.vigor.licences import UNKNOWN
from builders.vigor.masks import BadMaskError, Mask, from_array, from_coco
from builders.vigor.pixels import load_labels
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
        licence = folder / "licence.txt"
        self._licence = licence.read_text(encoding="utf-8").strip() if licence.is_file() else "BSD-3-Clause"

    def pictures(self) -> list[Picture]:
        found = []
        for clip, frames in self._clips.items():
            for frame, path in enumerate(frames):
                jpeg = self._folder / "JPEGImages" / path.parent.parent.name / clip / f"{path.stem}.jpg"
                height, width = load_labels(path).shape
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
        first = next(iter(self._clips))
        yield _MOVING, f"Annotations {first}"

    def strays(self) -> list[Problem]:
        return []

    def records(self, picture: Picture) -> int:
        """A record is an object of the clip, counted at the clip's first frame."""
        return len(self._objects(picture.clip or "")) if picture.frame == 0 else 0

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        if picture.frame != 0 or picture.clip is None:
            return
        labels = [load_labels(path) for path in self._clips[picture.clip]]
        place = f"Annotations {picture.clip}"
        for number in self._objects(picture.clip):
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

    def _objects(self, clip: str) -> list[int]:
        """Ids of the objects: of a binary clip the one value 255, of a palette all but 0 and void."""
        values: set[int] = set()
        for path in self._clips[clip]:
            values |= set(np.unique(load_labels(path)).tolist())
        return sorted(values - {0}) if values <= {0, VOID} else sorted(values - {0, VOID})


class YoutubeVis:
    """YouTube-VIS's JSON file: videos, and annotations with a mask or nothing for each frame."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        found = [path for path in json_files(folder) if "videos" in _keys(load_json(path))]
        if not found:
            raise GoldsmithError(f"[{folder}] has no JSON file in YouTube-VIS's form (videos, annotations)")
        self._categories: dict[int, Concept] = {}
        self._videos: dict[int, tuple[str, dict[str, Any]]] = {}
        self._of_video: dict[int, list[dict[str, Any]]] = defaultdict(list)
        self._strays: list[Problem] = []
        for path in found:
            content = load_json(path)
            for category in content["categories"]:
                self._categories.setdefault(category["id"], named("object", category["name"]))
            for video in content["videos"]:
                self._videos.setdefault(video["id"], (path.name, video))
            for annotation in content.get("annotations") or ():
                if annotation["video_id"] in self._videos:
                    self._of_video[annotation["video_id"]].append(annotation)
                else:
                    place = f"{path.name} annotation {annotation['id']}"
                    self._strays.append(Problem("unknown_image", "its video is not listed", place))

    def pictures(self) -> list[Picture]:
        return [
            Picture(
                f"{number}/{frame:05d}",
                name,
                video["width"],
                video["height"],
                video.get("licence", UNKNOWN),
                None,
                self._files.find(name),
                str(number),
                frame,
                f"{file} video {number} frame {frame}",
            )
            for number, (file, video) in sorted(self._videos.items())
            for frame, name in enumerate(video["file_names"])
        ]

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        file = next(iter(self._videos.values()))[0] if self._videos else ""
        for number, concept in self._categories.items():
            yield concept, f"{file} category {number}"
        yield _MOVING, f"{file} annotations"

    def strays(self) -> list[Problem]:
        return self._strays

    def records(self, picture: Picture) -> int:
        return len(self._of_video[int(picture.clip or 0)]) if picture.frame == 0 else 0

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        if picture.frame != 0 or picture.clip is None:
            return
        file, video = self._videos[int(picture.clip)]
        for each in self._of_video[int(picture.clip)]:
            yield self._masklet(each, video, f"{file} annotation {each['id']}")

    def _masklet(self, each: dict[str, Any], video: dict[str, Any], place: str) -> Claim | Problem:
        concept = self._categories.get(each["category_id"])
        if concept is None:
            return Problem("unknown_category", f"category {each['category_id']} is not listed", place)
        frames: list[tuple[int, Mask | None]] = []
        try:
            for frame, form in enumerate(each["segmentations"]):
                mask = None if form is None else from_coco(form, video["height"], video["width"])
                frames.append((frame, mask if mask is not None and mask.area else None))
        except BadMaskError as error:
            return Problem(error.reason, f"frame {len(frames)}: {error}", place)
        if len(frames) != len(video["file_names"]):
            message = f"{len(frames)} masks for {len(video['file_names'])} frames"
            return Problem("bad_masklet", message, place, short({"id": each["id"]}))
        shown = [(frame, mask) for frame, mask in frames if mask is not None]
        if not shown:
            return Problem("empty_mask", "it is seen in no frame", place)
        boxes = each.get("bboxes") or []
        box = boxes[shown[0][0]] if shown[0][0] < len(boxes) else None
        return Claim(
            f"annotation:{each['id']}",
            concept,
            place,
            mask=shown[0][1],
            frames=tuple(frames),
            box=(float(box[0]), float(box[1]), float(box[2]), float(box[3])) if box else None,
            crowd=bool(each.get("iscrowd", 0)),
            origin=(f"annotation {each['id']}",),
        )


def _keys(content: Any) -> set[str]:
    return set(content) if isinstance(content, dict) else set()
