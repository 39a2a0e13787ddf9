"""Creative Birds and Creative Creatures: drawn part by part, a JSON line each (DoodlerGAN's raw files).

`{"assignment_id", "worker_id", "output": {"all_strokes": [step][stroke][[x0, y0, x1, y1], ...], "partsUsed": [...]}}`.
Step 0 is a line that the page gave and step 1 the eye, which everyone was told to draw first; the steps after are the
parts of `partsUsed` in turn, `none` for details. So the eye's turn says nothing of how people order parts. Workers that
the authors refused (`reject_*workids*.txt`) are refused here, and worker ids are kept as a hash alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch import names, strokes
from builders.sketch.forms import (
    NO_PART,
    BadDrawingError,
    Drawing,
    Entry,
    Problem,
    Stroke,
    digest,
    files,
    short,
    text_of,
    unique,
)
from builders.sketch.text_files import as_objects, line, text
from schemas import GoldsmithError

EYE = "eye"


class Creative:
    """A folder of the raw text files; a file whose name has `bird` in it holds birds, any other creatures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        texts = files(folder, ".txt", ".jsonl", ".ndjson", ".json")
        refused = [path for path in texts if path.name.startswith("reject")]
        self._refused = {each.strip() for path in refused for each in text(path).split("\n")}
        self._files = [path for path in texts if path not in refused]
        if not self._files:
            raise GoldsmithError(f"[{folder}] has no text file: give Creative Birds' and Creatures' raw files")

    def entries(self) -> Iterator[Entry | Problem]:
        for path in self._files:
            name = path.relative_to(self._folder).as_posix()
            category = "bird" if "bird" in path.name.lower() else "creature"
            for index, _, record in as_objects(path, name):
                if isinstance(record, Problem):
                    yield replace(record, record="")  # It may hold a worker's id.
                    continue
                place = f"{name} line {index + 1}"
                key, worker = text_of(record, "assignment_id"), text_of(record, "worker_id")
                output = record.get("output")
                if not key or not isinstance(output, dict):
                    yield Problem("bad_record", "it needs assignment_id and output", place)
                elif worker in self._refused:
                    yield Problem("refused_worker", "the authors refused this worker's drawings", place, short(key))
                else:
                    drawer = _pseudonym(worker) if worker else None
                    yield Entry(name, index, key, category, drawer, digest(output.get("all_strokes")), "line")

    def drawing(self, entry: Entry) -> Drawing:
        path = self._folder / entry.file
        output = json.loads(line(path, entry.index))["output"]
        steps, used = output.get("all_strokes"), output.get("partsUsed")
        if not isinstance(steps, list) or len(steps) < 2:
            raise BadDrawingError("no_strokes", "all_strokes has no steps")
        if not isinstance(used, list) or not all(isinstance(name, str) for name in used):
            raise BadDrawingError("bad_names", "partsUsed is no list of names")
        if len(used) < len(steps) - 2:
            raise BadDrawingError("bad_divisions", f"there are {len(steps)} steps and {len(used)} names in partsUsed")
        turns = [None, EYE, *(None if name == "none" else names.part_name(name)[0] for name in used)]
        groups = list(dict.fromkeys(name for name in turns[: len(steps)] if name))
        found = []
        for step, name in zip(steps, turns, strict=False):
            if not isinstance(step, list):
                raise BadDrawingError("bad_row", "a step is no list of strokes")
            group = groups.index(name) if name else NO_PART
            found += [_stroke(segments, group) for segments in step]
        kept, repairs = strokes.usable(found)
        return Drawing("object", kept, tuple(groups), repairs=unique(repairs), prescribed=frozenset({EYE}))


def _pseudonym(worker: str) -> str:
    return "creative " + hashlib.sha256(f"creative drawer {worker}".encode()).hexdigest()[:12]


def _stroke(segments: Any, group: int) -> Stroke:
    """A stroke from segments [x0, y0, x1, y1], each of which begins where the last ended."""
    if segments == []:
        return Stroke(np.zeros(0, np.float32), np.zeros(0, np.float32), None, group)
    rows = strokes.table(segments, "segments")
    if rows.shape[1] < 4:
        raise BadDrawingError("bad_row", f"a segment has {rows.shape[1]} numbers: x0, y0, x1 and y1 are four")
    x, y = strokes.points(np.append(rows[:1, 0], rows[:, 2]), np.append(rows[:1, 1], rows[:, 3]))
    return Stroke(x, y, None, group)
