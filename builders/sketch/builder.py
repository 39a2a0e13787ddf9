"""The sketch probes: from drawings of many sources to one form with order, parts and questions. Read this first.

`readers` turn each source into `forms`, mending or refusing by the rules of `strokes`; `render` makes the pixels;
`orders` measures how people order parts; `prompts` asks. A shard is some drawings of one source (`drawings`), some
whole categories of one (`categories`: statistics and questions), or what could not be read (`strays`). The plan sees
every record: it decides which are the same drawing (`index`) and which split a category is in (`splits`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.api import Batch, Read, Reject, Shard
from builders.sketch import gallery, orders, prompts, splits, tables
from builders.sketch.checks import CHECKS
from builders.sketch.forms import BadDrawingError, Drawing, Entry, Reader, short
from builders.sketch.index import index
from builders.sketch.readers import READERS, open_source
from builders.sketch.render import Rendering, render
from builders.sketch.schema import SKETCH
from schemas import DatasetFolder, GoldsmithError

if TYPE_CHECKING:
    from builders.sources import Sources

Rows = dict[str, list[tuple[dict[str, Any], str]]]
"""By table: (row, place)."""

AT_ONCE = 50
"""Drawings whose rows are kept together before they are written."""

LEAST_DRAWINGS = 10
"""Of a category: fewer show no way in which people order parts."""


class Sketch:
    """The builder; see `builders.api.Builder`."""

    schema = SKETCH
    version = "1.0.0"
    folder = Path(__file__).parent
    checks = CHECKS
    expected_rejects = frozenset({"refused_worker"})
    reject_budget = 0.02

    def plan(self, sources: Sources) -> Iterable[Shard]:
        """Shards of drawings by source, then of categories; each entry with its split and what is merged into it."""
        given = [name for name in READERS if name in sources.names and sources.given(name) and sources.allows(name)]
        if not given:
            leave = " that may be passed on" if sources.redistributable_only else ""
            raise GoldsmithError(
                f"[sketch] no source{leave} is given: give --source NAME=FOLDER of {', '.join(READERS)}, or --sample"
            )
        known = {name: index(name, sources.path(name)) for name in given}
        split = splits.assign((entry.category, entry.drawer) for name in given for entry in known[name].entries)
        for name in given:
            for number, piece in enumerate(known[name].pieces()):
                rows = [[*e.to_json(), split[e.category], known[name].merged.get(e.key, [])] for e in piece]
                yield Shard(f"{name}.{number:05d}", (name,), {"kind": "drawings", "entries": _text(rows)})
            yield Shard(f"{name}.strays", (name,), {"kind": "strays"})
        for name in given:
            for number, bundle in enumerate(known[name].bundles()):
                rows = [[*e.to_json(), split[e.category]] for e in bundle]
                yield Shard(f"{name}.categories.{number:05d}", (name,), {"kind": "categories", "entries": _text(rows)})

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The rows of one shard."""
        name = shard.inputs[0]
        match shard.parameters["kind"]:
            case "drawings":
                yield from _drawings(name, json.loads(shard.parameters["entries"]), sources)
            case "categories":
                yield from _categories(name, json.loads(shard.parameters["entries"]), sources)
            case _:
                problems = index(name, sources.path(name)).problems
                for each in problems:
                    yield Reject("sketches", each.reason, each.message, name, each.place, short(each.record))
                yield Read(name, "sketches", len(problems))

    def score(self, folder: DatasetFolder, predictions: Path) -> Any:
        """A model's orders, places and heads against people's; see `scoring`. Imported by name: it makes no rows."""
        return import_module("builders.sketch.scoring.score").score(folder, predictions)

    def probe(self, folder: DatasetFolder, model: str, out: Path, **options: Any) -> Any:
        """Ask a model of transformers the questions of a dataset; see `probing.run.probe` for the options."""
        return import_module("builders.sketch.probing.run").probe(folder, model, out, **options)


def _text(rows: Sequence[Sequence[Any]]) -> str:
    """Entries as a shard holds them: as text they take a fifth of the memory, and the plan holds all."""
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _drawings(name: str, entries: Sequence[Sequence[Any]], sources: Sources) -> Iterator[Batch | Reject | Read]:
    """Sketches, parts and steps."""
    reader = open_source(name, sources.path(name))
    licence = sources.spec(name).licence
    by_split: dict[str, Rows] = {}
    merged: dict[str, list[tuple[int, str]]] = {}
    for *form, split, again in entries:
        entry = Entry(*form)
        try:
            drawing = reader.drawing(entry)
        except BadDrawingError as error:
            for place in (entry.place, *again):
                yield Reject("sketches", error.reason, str(error), name, place, entry.key)
            continue
        made = render(drawing)
        row = tables.sketch_row(name, entry, drawing, made, split, licence)
        rows = by_split.setdefault(split, {"sketches": [], "parts": [], "steps": []})
        merged.setdefault(split, []).extend((len(rows["sketches"]), place) for place in again)
        rows["sketches"].append((row, entry.place))
        sketch_id = row["sketch_id"]
        parts = tables.part_rows(sketch_id, entry.category, drawing, made, split)
        rows["parts"] += [(part, entry.place) for part in parts]
        rows["steps"] += [(step, entry.place) for step in tables.step_rows(sketch_id, drawing, made)]
        if len(rows["sketches"]) >= AT_ONCE:
            yield from _batches(name, split, by_split.pop(split), {"sketches": merged.pop(split)})
    for split, rows in sorted(by_split.items()):
        yield from _batches(name, split, rows, {"sketches": merged[split]})
    yield Read(name, "sketches", sum(1 + len(again) for *_, again in entries))


def _categories(name: str, entries: Sequence[Sequence[Any]], sources: Sources) -> Iterator[Batch]:
    """Orders, their summaries, questions and gallery of whole categories."""
    reader = open_source(name, sources.path(name))
    scenes = 0
    together = groupby(((Entry(*form), split) for *form, split in entries), lambda each: (each[0].category, each[1]))
    for (category, split), some in together:
        rows: Rows = {table: [] for table in ("orders", "order_summaries", "prompts", "gallery")}
        said, shown = _looked_at(name, reader, (entry for entry, _ in some))
        _measured(name, category, split, said, rows)
        for number, sketch_id in enumerate(prompts.chosen(list(shown))):
            entry, drawing = shown[sketch_id]
            pictured = number < gallery.SHOWN and (drawing.kind != "scene" or scenes < gallery.SCENES)
            scenes += drawing.kind == "scene"
            _shown(name, sketch_id, entry, split, drawing, rows, pictured=pictured)
        yield from _batches(name, split, rows, {})


def _looked_at(
    name: str, reader: Reader, entries: Iterable[Entry]
) -> tuple[list[orders.Said], dict[str, tuple[Entry, Drawing]]]:
    """What a category's drawings with parts say of order, and by sketch_id those that may be shown: a category is
    looked at drawing by drawing, however many it has."""
    said: list[orders.Said] = []
    shown: dict[str, tuple[Entry, Drawing]] = {}
    for entry in entries:
        try:
            drawing = reader.drawing(entry)
        except BadDrawingError:
            continue  # The shard of its drawing rejects it.
        if drawing.groups:
            said.append(orders.Said(drawing.part_order, bool(drawing.returned), drawing.recognized))
            shown[tables.sketch_id(name, entry)] = entry, drawing
        if len(shown) > 2 * prompts.SHOWN:
            shown = {sketch_id: shown[sketch_id] for sketch_id in prompts.chosen(list(shown))}
    return said, shown


def _measured(name: str, category: str, split: str, said: Sequence[orders.Said], rows: Rows) -> None:
    """Statistics of a category's drawings with order, and the questions about the category alone."""
    ordered = [each for each in said if each.part_order]
    if len(ordered) < LEAST_DRAWINGS:
        return
    place = f"{len(ordered)} drawings of {category}"
    found = orders.measure([each.part_order for each in ordered], orders.seed_of(name, category))
    pairs = tables.order_rows(name, category, split, found)
    summary = tables.summary_row(name, category, split, ordered, found, pairs)
    rows["orders"] += [(row, place) for row in pairs]
    rows["order_summaries"].append((summary, place))
    common = [part for part, share in zip(found.parts, found.presence, strict=True) if share >= prompts.COMMON]
    rows["prompts"] += [
        ({**row, "split": split}, place) for row in prompts.of_category(name, category, common, found.seed)
    ]


def _shown(
    name: str, sketch_id: str, entry: Entry, split: str, drawing: Drawing, rows: Rows, *, pictured: bool
) -> None:
    """The questions about one drawing, and its place in the gallery."""
    made = render(drawing)
    parts = _asked(drawing, made)
    order = [part for _, part in parts if made.steps and part not in drawing.prescribed]
    seed = prompts.seed_of(sketch_id)
    asked = prompts.of_sketch(name, entry.category, sketch_id, parts, seed, kind=drawing.kind, order=order)
    rows["prompts"] += [({**row, "split": split}, entry.place) for row in asked]
    if pictured and made.parts:
        file = {"bytes": gallery.strip(drawing, made), "path": "strip.png"}
        caption = gallery.caption(drawing, made)
        row = {"sketch_id": sketch_id, "category": entry.category, "caption": caption, "strip": file}
        rows["gallery"].append((row, entry.place))


def _asked(drawing: Drawing, made: Rendering) -> list[tuple[int, str]]:
    """(part_index, name) of the parts that a name alone tells: not two apples of a scene."""
    names = [drawing.groups[part.group] for part in made.parts]
    return [(number, part) for number, part in enumerate(names) if names.count(part) == 1]


def _batches(name: str, split: str, rows: Rows, merged: dict[str, list[tuple[int, str]]]) -> Iterator[Batch]:
    for table, pairs in rows.items():
        if pairs:
            made = tables.batch(SKETCH.table(table), [row for row, _ in pairs])
            yield Batch(table, split, made, name, [place for _, place in pairs], merged.get(table, ()))


BUILDER = Sketch()
