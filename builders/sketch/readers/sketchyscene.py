"""SketchyScene: scenes put together from drawn objects, so pixels with classes and instances, and no stroke order.

`<set>/DRAWING_GT/L0_sample7.png` with `CLASS_GT/sample_7_class.mat` and `INSTANCE_GT/sample_7_instance.mat` (numbers
from 1; 0 is none) and the classes' names in `colorMapC46.mat`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch import names, strokes
from builders.sketch.forms import NO_PART, BadDrawingError, Drawing, Entry, Problem, Raster, files
from schemas import GoldsmithError

INK_BELOW = 128
"""Grey values under this are ink."""
LARGEST_SIDE = 10_000
"""No drawing of the set is larger, in pixels."""
_NAME = re.compile(r"L0_sample(\d+)\.png")


class SketchyScene:
    """A folder with `DRAWING_GT`, `CLASS_GT` and `INSTANCE_GT` anywhere below it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = [path for path in files(folder, ".png") if path.parent.name == "DRAWING_GT"]
        maps = files(folder, "colorMapC46.mat")
        if not self._files or not maps:
            raise GoldsmithError(
                f"[{folder}] has no DRAWING_GT/*.png or no colorMapC46.mat: give SketchyScene's folder"
            )
        self._names = _class_names(maps[0])

    def entries(self) -> Iterator[Entry | Problem]:
        for path in self._files:
            name = path.relative_to(self._folder).as_posix()
            match = _NAME.fullmatch(path.name)
            if match is None:
                yield Problem("bad_name", "its name is not L0_sample1.png", name)
                continue
            part = path.parent.parent.name if path.parent.parent != self._folder else "scenes"
            key = f"{part}-{match[1]}"
            yield Entry(name, 0, key, f"sketchyscene scene {names.tidy(key)}", None)

    def drawing(self, entry: Entry) -> Drawing:
        path = self._folder / entry.file
        number = re.sub(r"\D", "", path.stem.removeprefix("L0"))
        around = path.parent.parent
        classes = _layer(around / "CLASS_GT" / f"sample_{number}_class.mat", "CLASS_GT")
        instances = _layer(around / "INSTANCE_GT" / f"sample_{number}_instance.mat", "INSTANCE_GT")
        ink = _ink(path)
        if not classes.shape == instances.shape == ink.shape:
            shapes = f"{ink.shape}, {classes.shape} and {instances.shape}"
            raise BadDrawingError("bad_size", f"drawing, classes and instances have the shapes {shapes}")
        if not ink.any():
            raise BadDrawingError("no_strokes", "the drawing has no ink")
        groups, group = [], np.full(ink.shape, NO_PART, np.int16)
        for instance in np.unique(instances[ink & (instances > 0)]):
            inside = ink & (instances == instance)
            kind = int(np.bincount(classes[inside]).argmax())
            if not 1 <= kind <= len(self._names):
                raise BadDrawingError("unknown_label", f"an object has the class {kind} of {len(self._names)}")
            group[inside] = len(groups)
            groups.append(self._names[kind - 1])
        if len(groups) > strokes.MOST_GROUPS:
            raise BadDrawingError("too_many_parts", f"the scene has {len(groups)} objects")
        height, width = ink.shape
        return Drawing("scene", (), tuple(groups), width=width, height=height, raster=Raster(ink, group))


def _mat(path: Path, name: str) -> Any:
    from scipy.io import loadmat

    try:
        return loadmat(path)[name]
    except KeyError:
        raise BadDrawingError("bad_array", f"{path.name} has no {name}") from None
    except FileNotFoundError:
        raise BadDrawingError("bad_array", f"{path.name} is absent") from None
    except Exception as error:  # SciPy raises many kinds for a broken file.
        raise BadDrawingError("bad_array", f"{path.name} cannot be read ({' '.join(str(error).split())})") from None


def _layer(path: Path, name: str) -> np.ndarray:
    values = np.asarray(_mat(path, name))
    if values.ndim != 2 or values.dtype.kind not in "iuf" or not np.isfinite(values).all() or values.min() < 0:
        raise BadDrawingError("bad_array", f"{path.name} holds no picture of numbers from 0")
    if values.max() > np.iinfo(np.int16).max:
        raise BadDrawingError("bad_array", f"{path.name} holds the number {values.max()}")
    return values.astype(np.int64)


def _ink(path: Path) -> np.ndarray:
    from PIL import Image

    try:
        with Image.open(path) as image:
            if max(image.size) > LARGEST_SIDE:
                raise BadDrawingError("bad_size", f"the picture has {image.width}x{image.height} pixels")
            return np.asarray(image.convert("L")) < INK_BELOW
    except (OSError, ValueError, SyntaxError) as error:
        raise BadDrawingError("bad_picture", f"the picture cannot be read ({error})") from None


@lru_cache(maxsize=2)
def _class_names(path: Path) -> list[str]:
    """Name of class 1, 2, ...: the first text in each row of the cell array."""
    try:
        rows = np.atleast_2d(_mat(path, "colorMap"))
    except BadDrawingError as error:
        raise GoldsmithError(f"[{path}] {error}: fetch it again, whole") from None
    if rows.shape[0] == 1:
        rows = rows.T
    return [names.part_name(_first_text(row))[0] for row in rows]


def _first_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return next((found for each in value.flat if (found := _first_text(each))), "")
    return ""
