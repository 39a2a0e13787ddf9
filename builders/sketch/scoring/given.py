"""What is scored: outputs of `goldsmith probe sketch`, or files of any other tool in the forms that PROBE.md states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch.probing.outputs import Outputs, drawings_key, map_files, map_prompts, read_maps
from builders.sketch.scoring.halves import Group
from builders.sketch.scoring.lines import Lines, Region
from builders.sketch.scoring.order import Said
from builders.sketch.scoring.questions import Questions
from builders.sketch.scoring.truth import Drawing
from schemas import DatasetFolder, GoldsmithError


@dataclass(frozen=True)
class Given:
    """All of it.

    Attributes:
        orders: answers about the order of parts.
        regions: of tools that give one place a part.
        files: shards of maps by layer and head.
        summary: of the probe's run, where there is one.
    """

    orders: Sequence[Said]
    regions: Sequence[Region]
    files: Sequence[Path] = ()
    summary: Mapping[str, Any] | None = None


def read(path: Path, folder: DatasetFolder) -> Given:
    """Read a probe's folder, or a .jsonl file of another tool.

    Raises:
        GoldsmithError: a line or file cannot be read, it is named; or the probe has not finished or saw other drawings.
    """
    questions = Questions(folder)
    lines = Lines(questions)
    if path.is_file():
        lines.read(path)
        if not (lines.orders or lines.regions):
            raise GoldsmithError(f"[{path}] holds no answer: see PROBE.md for its form")
        return Given(lines.orders, lines.regions)
    if not path.is_dir():
        raise GoldsmithError(f"[{path}] is not there: give the folder of a probe, or a .jsonl file")
    summary, files = _summary(path, folder), map_files(path)
    for file in sorted((path / "orders").glob("*.jsonl")):
        lines.read(file)
    given = Given(lines.orders, lines.regions, files, summary)
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
