"""`goldsmith probe sketch MODEL`: every prompt of a dataset folder through a model, shard by shard, resumable."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.sketch.probing.answers import read_order
from builders.sketch.probing.model import Model, Prompt
from builders.sketch.probing.outputs import Maps, Outputs, drawings_key
from schemas import DatasetFolder, GoldsmithError

SHARD = 64
"""Prompts of a shard: what a stopped run loses at most."""
_COLUMNS = [
    "prompt_id",
    "kind",
    "source",
    "category",
    "sketch_id",
    "part_index",
    "part",
    "question",
    "options",
    "split",
]


@dataclass(frozen=True)
class ProbeResult:
    """What a run did: the content of probe.json, and how many shards were there already."""

    out: Path
    summary: Mapping[str, Any]
    kept: int

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {**self.summary, "kept": self.kept}

    def text(self) -> str:
        """For people."""
        said = self.summary
        return (
            f"{said['model']} ({said['class']}, {said['dtype']}, {said['layers']} layers x {said['heads']} heads):"
            f" eager and sdpa logits differ by {said['parity']:.1e} of the largest\n"
            f"{said['spatial']:,} maps and {said['temporal']:,} orders ({said['unread']:,} of them not readable)"
            f" in {self.out}, {self.kept} of {said['shards']} shards were there"
        )


def probe(
    folder: DatasetFolder,
    model: str | Model,
    out: Path,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str = "cpu",
    batch: int = 8,
    limit: int | None = None,
    progress: bool = True,
) -> ProbeResult:
    """Run the prompts of a dataset folder through a model.

    Args:
        model: a folder, an id of the Hub, or a model that is loaded.
        out: the folder of the outputs; a run that was stopped goes on in it.
        batch: prompts at a time; it is part of the run's settings, for padding moves the last digits.
        limit: drawings of a category at most, the same each time; every prompt without a drawing stays.

    Raises:
        GoldsmithError: the folder has no prompts, the model cannot be loaded or its eager attention is wrong, or `out`
            holds another run.
    """
    rows = _prompts(folder, limit)
    loaded = Model.load(model, revision, dtype, device) if isinstance(model, str) else model
    pictures = _Pictures(folder)
    outputs = Outputs(out)
    run = {**loaded.facts, "batch": batch, "limit": limit, "dataset": _dataset(folder, rows)}
    before = outputs.summary()
    if before is not None and any(before.get(name) != value for name, value in run.items()):
        other = next(name for name, value in run.items() if before.get(name) != value)
        raise GoldsmithError(f"[{out}] holds another run (its {other} differs): name another folder")
    shards = list(_shards(rows))
    kept = sum(outputs.shard(kind, number).is_file() for kind, number, _ in shards)
    seen = max(shards, key=lambda shard: shard[2][0]["sketch_id"] is not None)
    parity = loaded.parity(loaded.encode(pictures.prompts(seen[2][:batch])))
    outputs.write_summary({**run, "parity": parity, "finished": False})
    for kind, number, part in _shown(shards, progress):
        if not outputs.shard(kind, number).is_file():
            _one(loaded, outputs, kind, number, part, pictures, batch)
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in ("spatial", "temporal")}
    unread = sum(_unread(outputs.shard(kind, number)) for kind, number, _ in shards if kind == "temporal")
    summary = {**run, "parity": parity, "finished": True, "shards": len(shards), "unread": unread, **counts}
    outputs.write_summary(summary)
    return ProbeResult(out, summary, kept)


def _one(
    model: Model,
    outputs: Outputs,
    kind: str,
    number: int,
    part: Sequence[dict[str, Any]],
    pictures: _Pictures,
    batch: int,
) -> None:
    maps: list[Maps] = []
    answers: list[dict[str, Any]] = []
    asked = pictures.prompts(part)
    for start in range(0, len(part), batch):
        rows, prompts = part[start : start + batch], asked[start : start + batch]
        inputs = model.encode(prompts)
        if kind == "spatial":
            maps.append(model.maps(prompts, inputs))
            continue
        for row, text in zip(rows, model.answers(inputs), strict=True):
            answer = read_order(text, row["options"])
            said = {name: row[name] for name in ("prompt_id", "source", "category", "sketch_id", "options")}
            answers.append({**said, "text": text, "order": answer.order, "why": answer.why})
    if kind == "spatial":
        outputs.write_maps(number, maps)
    else:
        outputs.write_orders(number, answers)


def _prompts(folder: DatasetFolder, limit: int | None) -> list[dict[str, Any]]:
    """The prompts, drawing by drawing: a reader then has all parts of a drawing at once."""
    rows = [row for path in folder.all_shards("prompts") for row in pq.read_table(path, columns=_COLUMNS).to_pylist()]
    if not rows:
        raise GoldsmithError(f"[{folder.path} > prompts] is empty: build the dataset with part names")
    if limit is not None:
        drawings: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in rows:
            if row["sketch_id"] is not None:
                drawings[row["source"], row["category"]].add(row["sketch_id"])
        chosen = {name for group in drawings.values() for name in sorted(group, key=_shuffled)[:limit]}
        rows = [row for row in rows if row["sketch_id"] is None or row["sketch_id"] in chosen]
    return sorted(rows, key=lambda row: (row["kind"], row["sketch_id"] or "", row["prompt_id"]))


def _shards(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int, list[dict[str, Any]]]]:
    """(kind, number, prompts): of one kind, and with pictures for all or for none."""
    for kind in ("spatial", "temporal"):
        number = 0
        for shown in (False, True):
            some = [row for row in rows if row["kind"] == kind and (row["sketch_id"] is not None) == shown]
            for start in range(0, len(some), SHARD):
                yield kind, number, some[start : start + SHARD]
                number += 1


class _Pictures:
    """The renderings of the drawings that are asked about, read when they are needed."""

    def __init__(self, folder: DatasetFolder) -> None:
        self._files: dict[str, Path] = {}
        for path in folder.all_shards("sketches"):
            names = pq.read_table(path, columns=["sketch_id"])["sketch_id"].to_pylist()
            self._files |= dict.fromkeys(names, path)

    def prompts(self, rows: Sequence[dict[str, Any]]) -> list[Prompt]:
        """Rows of the table `prompts` with their pictures."""
        wanted = sorted({row["sketch_id"] for row in rows if row["sketch_id"] is not None})
        held: dict[str, bytes] = {}
        for path in sorted({self._files[name] for name in wanted}):
            table = pq.read_table(path, columns=["sketch_id", "image"], filters=pc.field("sketch_id").isin(wanted))
            held |= {row["sketch_id"]: row["image"]["bytes"] for row in table.to_pylist()}
        return [Prompt(row["prompt_id"], row["question"], held.get(row["sketch_id"] or "")) for row in rows]


def _dataset(folder: DatasetFolder, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps([row["prompt_id"], row["question"], row["sketch_id"]]).encode())
    return {"name": folder.build["dataset"], "sketches": drawings_key(folder), "asked": digest.hexdigest()}


def _unread(path: Path) -> int:
    with open(path, encoding="utf-8") as file:
        return sum(json.loads(line)["order"] is None for line in file)


def _shown(shards: Sequence[Any], progress: bool) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import track

    yield from track(shards, "prompts, by shard", console=Console(stderr=True), disable=not progress, transient=True)


def _shuffled(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
