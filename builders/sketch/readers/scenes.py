"""FrISS and CBSC: a scene a JSON file, points as offsets, each object a run of strokes.

`{"img_id": "sceneid-1-userid-59", "img_w", "img_h", "scene_strokes": [[dx, dy, pen], ...],
"object_divisions": [0, 30, 31], "gt_class_names": ["basket", "apple"]}`: object i has the strokes from division i to
division i + 1. The id names the description that was drawn and who drew it. Points outside the canvas stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from builders.sketch import names, strokes
from builders.sketch.forms import BadDrawingError, Drawing, Entry, Problem, files, short, unique
from builders.sketch.text_files import text
from schemas import GoldsmithError

_ID = re.compile(r"sceneid-(?P<scene>[^-]+)-userid-(?P<user>[^-]+)")


class Scenes:
    """A folder of scenes; other JSON files (partitions, mappings) have no strokes and are passed over."""

    def __init__(self, folder: Path, source: str) -> None:
        self._folder = folder
        self._source = source
        self._files = files(folder, ".json")
        if not self._files:
            raise GoldsmithError(f"[{folder}] has no .json file: give a folder of scenes")

    def entries(self) -> Iterator[Entry | Problem]:
        for path in self._files:
            name = path.relative_to(self._folder).as_posix()
            try:
                record = _load(path)
            except ValueError as error:
                fault = " ".join(str(error).split())
                yield Problem("bad_json", f"the file is no JSON ({fault})", name, short(text(path)))
                continue
            if not isinstance(record, dict) or "scene_strokes" not in record:
                if _ID.fullmatch(path.stem):
                    yield Problem("no_strokes", "it has no scene_strokes", name, short(text(path)))
                continue
            match = _ID.fullmatch(path.stem)
            scene = match["scene"] if match else path.stem
            drawer = f"{self._source} {match['user']}" if match else None
            yield Entry(name, 0, name.removesuffix(".json"), f"{self._source} scene {names.tidy(scene)}", drawer)

    def drawing(self, entry: Entry) -> Drawing:
        record = _load(self._folder / entry.file)
        found = strokes.from_offsets(strokes.table(record["scene_strokes"], "scene_strokes"))
        objects, divisions = record.get("gt_class_names"), record.get("object_divisions")
        if not isinstance(objects, list) or not all(isinstance(name, str) and name.strip() for name in objects):
            raise BadDrawingError("bad_names", "gt_class_names is no list of names")
        if not _divides(divisions, len(objects), len(found)):
            raise BadDrawingError(
                "bad_divisions", f"object_divisions do not cut {len(found)} strokes into {len(objects)} objects"
            )
        if len(objects) > strokes.MOST_GROUPS:
            raise BadDrawingError("too_many_parts", f"the scene has {len(objects)} objects")
        grouped = []
        for number in range(len(objects)):
            part = found[divisions[number] : divisions[number + 1]]
            grouped += [replace(stroke, group=number) for stroke in part]
        kept, repairs = strokes.usable(grouped)
        tidied = [names.part_name(name) for name in objects]
        width, height = (_size(record.get(name)) for name in ("img_w", "img_h"))
        return Drawing(
            "scene", kept, tuple(name for name, _ in tidied), width=width, height=height, repairs=unique(repairs)
        )


def _load(path: Path) -> Any:
    try:
        return json.loads(text(path))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _divides(divisions: Any, objects: int, count: int) -> bool:
    if not isinstance(divisions, list) or len(divisions) != objects + 1 or objects == 0:
        return False
    if any(type(value) is not int for value in divisions):
        return False
    rising = all(one < two for one, two in pairwise(divisions))
    return rising and divisions[0] == 0 and divisions[-1] == count


def _size(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < strokes.FARTHEST
    return float(value) if usable else None
