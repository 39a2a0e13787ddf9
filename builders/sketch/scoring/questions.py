"""What a dataset folder asks: its prompts and its drawings by id, against which answers and maps are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.parquet as pq

from schemas import DatasetFolder, GoldsmithError


class Questions:
    """The prompts of a dataset folder by id.

    Attributes:
        drawings: source and category, joined by `/`, by id of a drawing.
        categories: the same by the name of a category.
    """

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

    def row(self, prompt: object) -> Mapping[str, Any]:
        """The prompt of an id.

        Raises:
            GoldsmithError: there is none.
        """
        if not isinstance(prompt, str) or prompt not in self._rows:
            raise GoldsmithError(f"{prompt} is no prompt of this dataset: score against the data that were probed")
        return self._rows[prompt]
