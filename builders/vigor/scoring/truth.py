"""The truth of a dataset folder, by picture and concept, as the scorer needs it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from builders.vigor.masks import Mask, from_box
from builders.vigor.rationales import Lexicon
from schemas import DatasetFolder

_COLUMNS = [
    "grounding_id",
    "image_id",
    "concept_id",
    "level",
    "truth",
    "counts",
    "height",
    "width",
    "box",
    "subject_id",
    "object_id",
    "void",
]


@dataclass
class Known:
    """What is known of one concept in one picture: rows that are present, and whether a source says it is absent."""

    level: str
    present: list[dict[str, Any]] = field(default_factory=list)
    absent: bool = False


class Truth:
    """Reads `images`, `concepts` and `groundings` once; masks are decoded when they are asked for."""

    def __init__(self, folder: DatasetFolder) -> None:
        self.sizes = {
            row["image_id"]: (row["height"], row["width"])
            for row in _rows(folder, "images", ["image_id", "height", "width"])
        }
        self._known: dict[str, dict[str, Known]] = defaultdict(dict)
        self._by_id: dict[str, dict[str, Any]] = {}
        for row in _rows(folder, "groundings", _COLUMNS):
            known = self._known[row["image_id"]].setdefault(row["concept_id"], Known(row["level"]))
            if row["truth"] == "present":
                known.present.append(row)
                self._by_id[row["grounding_id"]] = row
            known.absent |= row["truth"] == "absent"
        concepts = list(_rows(folder, "concepts", ["concept_id", "level", "lemma", "synonyms"]))
        self.levels = {row["concept_id"]: row["level"] for row in concepts}
        self.lexicon = Lexicon.of_rows(concepts)

    def concepts(self, image: str) -> set[str]:
        """Concepts of which anything is known in a picture."""
        return set(self._known.get(image, ()))

    def known(self, image: str, concept: str) -> Known | None:
        """What is known of a concept in a picture."""
        return self._known.get(image, {}).get(concept)

    def regions(self, image: str, known: Known) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """(truth, pixels that count) of a concept: one for most, two for a relation (subject, object). Empty where no
        region is known.

        All of a concept's groundings in the picture are one truth: a map for `dog` may lie on any dog.
        """
        if known.level != "relation":
            found = self._union(image, known.present)
            return [found] if found is not None else []
        ends = []
        for column in ("subject_id", "object_id"):
            rows = [self._by_id[row[column]] for row in known.present if row[column] in self._by_id]
            found = self._union(image, rows)
            if found is None:
                return []
            ends.append(found)
        return ends

    def _union(self, image: str, rows: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray | None] | None:
        height, width = self.sizes[image]
        region = np.zeros((height, width), np.uint8)
        counted = None
        for row in rows:
            if row["counts"]:
                mask = Mask(height, width, row["counts"]).decode()
            elif row["box"]:
                mask = from_box(tuple(row["box"]), height, width).decode()
            else:
                continue
            region = mask if len(rows) == 1 else region | mask
            if row["void"]:
                counted = 1 - Mask(height, width, row["void"]).decode()
        region = region if counted is None else region * counted
        return (region, counted) if region.any() else None


def _rows(folder: DatasetFolder, table: str, columns: list[str]):
    import pyarrow.parquet as pq

    for path in folder.all_shards(table):
        yield from pq.read_table(path, columns=columns).to_pylist()
