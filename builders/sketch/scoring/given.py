"""What is scored: outputs of `goldsmith probe sketch`, or files of any other tool in the forms that PROBE.md states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from builders.json_lines import json_object
from builders.sketch.masks import decode
from builders.sketch.probing.answers import read_order
from builders.sketch.probing.outputs import Outputs, drawings_key, map_files, map_prompts, read_maps
from builders.sketch.render import CANVAS
from builders.sketch.scoring.halves import Group
from builders.sketch.scoring.order import Said
from builders.sketch.scoring.truth import Drawing
from schemas import DatasetFolder, GoldsmithError


@dataclass(frozen=True)
class Region:
    """Where a tool says that a part is: a map on a grid of its own, or a region of pixels.

    Attributes:
        map: [rows, columns], not negative; of a region of pixels 0 and 1 on the canvas.
        box: x0, y0, x1, y1 in pixels, where a box was given.
    """

    drawing: str
    part: str
    map: np.ndarray
    box: np.ndarray | None = None


@dataclass
class Given:
    """All of it.

    Attributes:
        orders: answers about the order of parts.
        regions: of tools that give one place a part.
        files: shards of maps by layer and head.
        summary: of the probe's run, where there is one.
    """

    orders: list[Said] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    summary: Mapping[str, Any] | None = None


class Questions:
    """The prompts of a dataset folder by id."""

    def __init__(self, folder: DatasetFolder) -> None:
        columns = ["prompt_id", "kind", "source", "category", "sketch_id", "part", "options"]
        self._rows: dict[str, dict[str, Any]] = {}
        for path in folder.all_shards("prompts"):
            self._rows |= {row["prompt_id"]: row for row in pq.read_table(path, columns=columns).to_pylist()}
        self.categories: dict[str, set[str]] = {}
        self.drawings: dict[str, str] = {}
        for path in folder.all_shards("sketches"):
            for row in pq.read_table(path, columns=["sketch_id", "source", "category"]).to_pylist():
                key = f"{row['source']}/{row['category']}"
                self.drawings[row["sketch_id"]] = key
                self.categories.setdefault(row["category"], set()).add(key)

    def row(self, prompt: Any) -> dict[str, Any]:
        """The prompt of an id.

        Raises:
            GoldsmithError: there is none.
        """
        if prompt not in self._rows:
            raise GoldsmithError(f"{prompt} is no prompt of this dataset: score against the data that were probed")
        return self._rows[prompt]


def read(path: Path, folder: DatasetFolder) -> Given:
    """Read a probe's folder, or a .jsonl file of another tool.

    Raises:
        GoldsmithError: a line or file cannot be read, it is named; or the probe has not finished or saw other drawings.
    """
    questions = Questions(folder)
    given = Given()
    if path.is_file():
        _lines(path, questions, given)
        if not (given.orders or given.regions):
            raise GoldsmithError(f"[{path}] holds no answer: see PROBE.md for its form")
        return given
    if not path.is_dir():
        raise GoldsmithError(f"[{path}] is not there: give the folder of a probe, or a .jsonl file")
    given.summary = _summary(path, folder)
    given.files = map_files(path)
    for file in sorted((path / "orders").glob("*.jsonl")):
        _lines(file, questions, given)
    if not (given.files or given.orders or given.regions):
        raise GoldsmithError(f"[{path}] has neither maps/*.parquet nor orders/*.jsonl: run `goldsmith probe sketch`")
    return given


def _summary(path: Path, folder: DatasetFolder) -> Mapping[str, Any] | None:
    summary = Outputs(path).summary()
    if summary is None:
        return None
    if not summary.get("finished"):
        raise GoldsmithError(f"[{path}] the probe has not finished: give `goldsmith probe sketch` again, it goes on")
    if summary["dataset"]["sketches"] != drawings_key(folder):
        raise GoldsmithError(f"[{path}] was probed on other drawings than those in {folder.path}: name their folder")
    return summary


def _lines(path: Path, questions: Questions, given: Given) -> None:
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                if not line.strip():
                    continue
                record = json_object(line)
                if any(name in record for name in ("map", "box", "mask")):
                    given.regions.append(_region(record, questions))
                else:
                    given.orders.append(_said(record, questions))
            except (ValueError, KeyError, TypeError) as error:
                reason = f"it has no {error}" if isinstance(error, KeyError) else error
                raise GoldsmithError(f"[{path.name} > line {number}] {reason}: see PROBE.md for its form") from None
            except GoldsmithError as error:
                raise GoldsmithError(f"[{path.name} > line {number}] {error}") from None


def _said(record: Mapping[str, Any], questions: Questions) -> Said:
    asked = questions.row(record["prompt_id"]) if record.get("prompt_id") is not None else {**record}
    options = tuple(asked.get("options") or ())
    drawing = asked.get("sketch_id")
    if drawing is not None:
        if drawing not in questions.drawings:
            raise ValueError(f"sketch_id {drawing} is no drawing of this dataset")
        category = questions.drawings[drawing]
    else:
        category = _category(asked, questions)
    if record.get("order") is not None:
        order = record["order"]
        if not isinstance(order, list) or not all(isinstance(part, str) for part in order):
            raise ValueError("order is no list of names")
        if len(set(order)) < len(order):
            return Said(category, None, options, drawing, "repeated_part")
        if options and set(order) != set(options):
            why = "unknown_part" if set(order) - set(options) else "missing_part"
            return Said(category, None, options, drawing, why)
        return Said(category, tuple(order), options, drawing)
    if not options:
        raise ValueError("a text needs options, the parts that it was to order")
    answer = read_order(str(record["text"]), options)
    return Said(category, answer.order, options, drawing, answer.why)


def _category(asked: Mapping[str, Any], questions: Questions) -> str:
    name = asked["category"]
    keys = questions.categories.get(name, set())
    if asked.get("source") is not None:
        keys = keys & {f"{asked['source']}/{name}"}
    if len(keys) != 1:
        raise ValueError(f"category {name} is of {len(keys)} sources of this dataset, give source and category")
    return next(iter(keys))


def _region(record: Mapping[str, Any], questions: Questions) -> Region:
    asked = questions.row(record["prompt_id"]) if record.get("prompt_id") is not None else record
    drawing, part = asked["sketch_id"], asked["part"]
    if drawing not in questions.drawings:
        raise ValueError(f"sketch_id {drawing} is no drawing of this dataset")
    if "map" in record:
        values = np.asarray(record["map"], float)
        if values.ndim != 2 or not values.size or max(values.shape) > CANVAS or not (values >= 0).all():
            raise ValueError(f"map is no list of rows of numbers of 0 or more, at most {CANVAS} x {CANVAS}")
        return Region(drawing, part, values)
    if "mask" in record:
        form = record["mask"]
        if list(form["size"]) != [CANVAS, CANVAS]:
            raise ValueError(f"mask is not of {CANVAS} x {CANVAS}")
        return Region(drawing, part, _mask(str(form["counts"])))
    x, y, width, height = (float(value) for value in record["box"])
    box = np.array([x, y, x + width, y + height])
    if not (width > 0 and height > 0 and box.min() >= 0 and box.max() <= CANVAS):
        raise ValueError("box is not x, y, width, height within the canvas")
    region = np.zeros((CANVAS, CANVAS))
    x0, y0, x1, y1 = np.rint(box).astype(int)
    region[y0:y1, x0:x1] = 1
    return Region(drawing, part, region, box)


def _mask(counts: str) -> np.ndarray:
    """The run lengths are summed before they are decoded: too few leave memory in the mask that nobody wrote."""
    runs, value, shift = [], 0, 0
    for char in counts.encode("ascii"):
        digit = char - 48
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            value -= (1 << shift) if digit & 16 else 0
            runs.append(value + (runs[-2] if len(runs) > 2 else 0))
            value, shift = 0, 0
    if shift or min(runs, default=-1) < 0 or sum(runs) != CANVAS * CANVAS:
        raise ValueError(f"mask counts are not those of {CANVAS} x {CANVAS} pixels")
    return decode(counts, CANVAS, CANVAS).astype(float)


class HeadMaps:
    """Maps by layer and head, of shards in the probe's form, drawing by drawing.

    Attributes:
        size: layers, heads, rows, columns.
        drawings: ids of those that have maps.
    """

    def __init__(self, files: Sequence[Path], questions: Questions) -> None:
        self._asked: dict[str, tuple[str, str]] = {}
        self._files: list[tuple[Path, set[str]]] = []
        sizes: set[tuple[int, int, int, int]] = set()
        for file in files:
            found = set()
            for prompt, size in map_prompts(file):
                row = questions.row(prompt)
                if row["kind"] != "spatial" or prompt in self._asked:
                    what = "is there twice" if prompt in self._asked else "asks for no part"
                    raise GoldsmithError(f"[{file.name} > {prompt}] {what}: keep one map for each spatial prompt")
                self._asked[prompt] = row["sketch_id"], row["part"]
                found.add(row["sketch_id"])
                sizes.add(size)
            self._files.append((file, found))
        if len(sizes) != 1:
            raise GoldsmithError(f"[maps] have {len(sizes)} sizes (layers, heads, rows, columns): score one model")
        self.size = sizes.pop()
        self.drawings = {drawing for drawing, _ in self._asked.values()}

    def groups(self, drawings: Mapping[str, Drawing]) -> Iterator[Group]:
        """The maps of these drawings, those of a drawing together where the shards have them so."""
        held: list[tuple[str, str, np.ndarray, np.ndarray]] = []
        for file, found in self._files:
            if not found & drawings.keys():
                continue
            for batch in read_maps(file):
                for prompt, maps, sums in zip(batch.prompts, batch.maps, batch.sums, strict=True):
                    drawing, part = self._asked[prompt]
                    if held and held[0][0] != drawing:
                        yield _group(held, drawings)
                        held = []
                    if drawing in drawings and part in drawings[drawing].parts:
                        held.append((drawing, part, maps, sums))
        if held:
            yield _group(held, drawings)


def _group(held: Sequence[tuple[str, str, np.ndarray, np.ndarray]], drawings: Mapping[str, Drawing]) -> Group:
    maps = np.stack([each[2] for each in held])
    flat = maps.reshape(len(held), -1, *maps.shape[-2:])
    return Group(
        drawings[held[0][0]], tuple(each[1] for each in held), flat, np.stack([each[3].ravel() for each in held])
    )
