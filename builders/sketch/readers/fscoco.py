"""FS-COCO: scenes drawn from photos, `vector_sketches/<drawer>/<photo>.npy` of rows x, y, pen (1 at a stroke's end).

The class of each stroke is in the set called fscoco-seg, `classes/<photo>.json`, a list of names; where it is not at
hand the drawing has no parts. Coordinates are places, not offsets. A pickled array would run code and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch import names, strokes
from builders.sketch.forms import BadDrawingError, Drawing, Entry, Problem, files, unique
from builders.sketch.text_files import text
from schemas import GoldsmithError


class FsCoco:
    """A folder with `vector_sketches` and perhaps `classes` anywhere below it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = [path for path in files(folder, ".npy") if "vector_sketches" in path.parts]
        self._classes = {path.stem: path for path in files(folder, ".json") if path.parent.name == "classes"}
        if not self._files:
            raise GoldsmithError(f"[{folder}] has no vector_sketches/*.npy: give FS-COCO's folder")

    def entries(self) -> Iterator[Entry | Problem]:
        for path in self._files:
            name = path.relative_to(self._folder).as_posix()
            above = path.parent.name
            drawer = None if above == "vector_sketches" else f"fscoco {names.tidy(above)}"
            yield Entry(name, 0, path.stem, f"fscoco scene {names.tidy(path.stem)}", drawer)

    def drawing(self, entry: Entry) -> Drawing:
        rows = _array(self._folder / entry.file)
        if not np.isin(rows[:, 2], (0.0, 1.0)).all():
            raise BadDrawingError("bad_pen", "a pen is neither 0 nor 1")
        found = strokes.from_pen(rows[:, :2], rows[:, 2])
        groups: list[str] = []
        path = self._classes.get(Path(entry.file).stem)
        if path is not None:
            classes = _classes(path)
            if len(classes) != len(found):
                raise BadDrawingError("bad_divisions", f"there are {len(found)} strokes and {len(classes)} classes")
            tidied = [names.part_name(name)[0] for name in classes]
            groups = list(dict.fromkeys(tidied))
            found = [replace(s, group=groups.index(name)) for s, name in zip(found, tidied, strict=True)]
        if len(groups) > strokes.MOST_GROUPS:
            raise BadDrawingError("too_many_parts", f"the scene has {len(groups)} classes")
        kept, repairs = strokes.usable(found)
        return Drawing("scene", kept, tuple(groups), repairs=unique(repairs))


def _array(path: Path) -> np.ndarray:
    """The rows of a .npy file as float64 (n, 3 or more)."""
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise BadDrawingError("bad_array", f"the file is no plain array ({' '.join(str(error).split())})") from None
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.shape[1] < 3 or not len(values):
        raise BadDrawingError("bad_row", "the array has no rows of x, y and pen")
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise BadDrawingError("not_finite", "the array holds something that is no finite number")
    return values.astype(np.float64)


def _classes(path: Path) -> list[Any]:
    try:
        value = json.loads(text(path))
    except (ValueError, RecursionError):
        raise BadDrawingError("bad_json", f"{path.name} is no JSON") from None
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise BadDrawingError("bad_names", f"{path.name} is no list of names")
    return value
