"""The truth of a dataset folder as the scorer needs it: drawings with their parts, and how people order parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.sketch.masks import decode
from builders.sketch.render import CANVAS
from schemas import DatasetFolder, GoldsmithError

INK = 128
"""A pixel darker than this is ink."""


@dataclass(frozen=True)
class Drawing:
    """A drawing with named parts. Objects of one name in a scene are one part: a map may lie on any of them.

    Attributes:
        category: source and category, joined by `/`: the unit of averages and bootstraps.
        drawer: source and drawer; None where who drew it is not known.
        parts: names, sorted.
        masks: run lengths of each, one an instance.
        boxes: [instances, 4] of each: x0, y0, x1, y1 in pixels, ends excluded.
    """

    id: str
    category: str
    drawer: str | None
    split: str
    picture: bytes
    parts: tuple[str, ...]
    masks: tuple[tuple[str, ...], ...]
    boxes: tuple[np.ndarray, ...]

    @cached_property
    def ink(self) -> np.ndarray:
        """[CANVAS, CANVAS] of bool."""
        from PIL import Image

        found = np.asarray(Image.open(BytesIO(self.picture)).convert("L")) < INK
        if found.shape != (CANVAS, CANVAS):
            raise GoldsmithError(f"[sketches > {self.id} > image] is not {CANVAS} x {CANVAS}: build the dataset again")
        return found

    def pixels(self) -> np.ndarray:
        """[parts, CANVAS, CANVAS] of bool: the pixels that belong to each part."""
        return np.stack(
            [np.logical_or.reduce([decode(mask, CANVAS, CANVAS) for mask in masks]) for masks in self.masks]
        )


def drawings(folder: DatasetFolder, wanted: Collection[str]) -> dict[str, Drawing]:
    """The drawings of these ids, with every part that has a pixel of its own.

    Raises:
        GoldsmithError: an id is of no drawing here.
    """
    names = sorted(wanted)
    parts: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows(folder, "parts", ["sketch_id", "part", "box", "mask", "mask_area"], names):
        if row["mask_area"]:
            parts[row["sketch_id"]][row["part"]].append(row)
    found = {}
    columns = ["sketch_id", "source", "category", "drawer", "split", "image"]
    for row in _rows(folder, "sketches", columns, names):
        mine = sorted(parts[row["sketch_id"]].items())
        found[row["sketch_id"]] = Drawing(
            row["sketch_id"],
            f"{row['source']}/{row['category']}",
            f"{row['source']}/{row['drawer']}" if row["drawer"] is not None else None,
            row["split"],
            row["image"]["bytes"],
            tuple(name for name, _ in mine),
            tuple(tuple(each["mask"] for each in group) for _, group in mine),
            tuple(_corners([each["box"] for each in group]) for _, group in mine),
        )
    if len(found) < len(names):
        missing = next(name for name in names if name not in found)
        raise GoldsmithError(f"[{folder.path} > sketches] has no {missing}: score against the data that were probed")
    return found


def _corners(boxes: list[list[float]]) -> np.ndarray:
    given = np.array(boxes, float)
    return np.concatenate([given[:, :2], given[:, :2] + given[:, 2:]], 1)


def _rows(folder: DatasetFolder, table: str, columns: list[str], names: list[str]) -> Iterator[dict[str, Any]]:
    for path in folder.all_shards(table):
        yield from pq.read_table(path, columns=columns, filters=pc.field("sketch_id").isin(names)).to_pylist()


@dataclass(frozen=True)
class People:
    """How people order the parts of a category.

    Attributes:
        order: the canonical order.
        resolved: whether it is one: every counted pair holds in 95 % of bootstrap samples of the drawings.
        tau: the human ceiling; None where there are too few drawings for two halves.
        pairs: (first by alphabet, other) to (share of drawings with the first before the other, drawings), of counted
            pairs.
    """

    category: str
    order: tuple[str, ...]
    resolved: bool
    tau: float | None
    pairs: dict[tuple[str, str], tuple[float, int]]


def people(folder: DatasetFolder) -> dict[str, People]:
    """By source and category, joined by `/`; all splits, for nothing is selected on an order."""
    pairs: dict[str, dict[tuple[str, str], tuple[float, int]]] = defaultdict(dict)
    for path in folder.all_shards("orders"):
        for row in pq.read_table(path).to_pylist():
            if row["counted"] and row["n"]:
                key = f"{row['source']}/{row['category']}"
                pairs[key][row["part_a"], row["part_b"]] = (row["n_a_first"] / row["n"], row["n"])
    found = {}
    for path in folder.all_shards("order_summaries"):
        for row in pq.read_table(path).to_pylist():
            key = f"{row['source']}/{row['category']}"
            found[key] = People(key, tuple(row["kemeny"]), row["resolved"], row["human_tau"], pairs[key])
    return found


def layouts(folder: DatasetFolder) -> Iterator[tuple[str, str, str, float, float]]:
    """(drawing, category, part, pixels of ink, middle of its box from the top) of every part: what the controls of the
    order readout sort by. Objects of one name count together."""
    sizes: dict[tuple[str, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    sources: dict[str, str] = {}
    for path in folder.all_shards("sketches"):
        table = pq.read_table(path, columns=["sketch_id", "source"])
        sources |= dict(zip(table["sketch_id"].to_pylist(), table["source"].to_pylist(), strict=True))
    for path in folder.all_shards("parts"):
        columns = ["sketch_id", "category", "part", "box", "ink_area"]
        for row in pq.read_table(path, columns=columns).to_pylist():
            sums = sizes[row["sketch_id"], f"{sources[row['sketch_id']]}/{row['category']}", row["part"]]
            sums[0] += row["ink_area"]
            sums[1] += row["box"][1] + row["box"][3] / 2
            sums[2] += 1
    for (drawing, category, part), (ink, middle, count) in sizes.items():
        yield drawing, category, part, ink, middle / count
