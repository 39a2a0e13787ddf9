"""WebSpatial: from stored captures of web 3D pages to scenes, objects, events and questions.

A capture (`capture`) is a recorded, pinned input; making one needs a browser, this builder does not. Shards of captures
make the rows of their scenes; one shard sees all captures and makes the questions (`space.planner`), for how many are
asked of each answer is decided over the whole (`space.balance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from builders.api import Batch, Read, Reject, Shard
from builders.webspatial import rows
from builders.webspatial.capture import store
from builders.webspatial.checks import CHECKS
from builders.webspatial.pictures import question_picture
from builders.webspatial.schema import EVENTS, OBJECTS, QUESTIONS, SCENES, SCHEMA
from builders.webspatial.space import planner, wording
from builders.webspatial.space.agree import agreement
from builders.webspatial.space.balance import Balance, folds
from builders.webspatial.space.kinds import KINDS
from builders.webspatial.space.scene import Scene, load
from schemas import CheckSet, Dataset, DatasetFolder

if TYPE_CHECKING:
    from builders.sources import Sources

SOURCE = "captures"
WORDS = "words"
A_SHARD = 24
"""Captures of a shard: the source is one folder, so nothing is gained by a shard each."""
REASONS = frozenset({*store.REASONS, "may_not_be_passed_on"})
"""Why a page has no scene: it has no capture, or may not be passed on."""


@dataclass(frozen=True)
class WebSpatial:
    """The builder; see `builders.api.Builder`."""

    schema: Dataset = SCHEMA
    version: str = "1.0.0"
    folder: Path = Path(__file__).parent
    checks: CheckSet = CHECKS
    expected_rejects: frozenset[str] = REASONS
    reject_budget: float = 0.0

    def plan(self, sources: Sources) -> Iterable[Shard]:
        """Shards of captures, one for the pages without a capture, one for the questions."""
        root = sources.path(SOURCE)
        every = store.some_names(root)
        for k in range(0, len(every), A_SHARD):
            parameters = {"ids": every[k : k + A_SHARD], "all": not sources.redistributable_only}
            yield Shard(f"scenes.{k // A_SHARD:04}", (SOURCE,), parameters)
        yield Shard("rejects", (SOURCE,))
        words = (WORDS,) if WORDS in sources.names and sources.given(WORDS) else ()
        yield Shard("questions", (SOURCE, *words), {"all": not sources.redistributable_only, "words": bool(words)})

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The rows of a scene, the rejected pages, or the questions."""
        root = sources.path(SOURCE)
        if shard.name == "questions":
            words = wording.read(sources.text(WORDS)) if shard.parameters["words"] else wording.Recorded({}, ())
            return _questions(root, shard.parameters["all"], words)
        if shard.name == "rejects":
            return _rejects(root)
        return (row for name in shard.parameters["ids"] for row in _scene(root, name, shard.parameters["all"]))

    def score(self, folder: DatasetFolder, predictions: Path) -> Any:
        """Score predictions; see `score`. It makes no rows: it is no part of the builder's code key."""
        return import_module("builders.webspatial.score").score(folder, predictions)


def _scene(root: Path, name: str, all_of_them: bool) -> Iterator[Batch | Reject | Read]:
    capture = store.read(root / name)
    place = f"{capture.id}/capture.json.gz"
    yield Read(SOURCE, "scenes", 1)
    page = capture.data["page"]
    if not page["redistribute"] and not all_of_them:
        message = f"its licence is {page['licence']}"
        yield Reject("scenes", "may_not_be_passed_on", message, SOURCE, place, f"{page['group']}/{page['path']}")
        return
    scene = load(capture.id, capture.data)
    for table, made in (
        (SCENES, [rows.scene_row(capture, scene)]),
        (OBJECTS, rows.object_rows(scene)),
        (EVENTS, rows.event_rows(capture)),
    ):
        if made:
            batch = pa.RecordBatch.from_pylist(made, table.arrow)
            yield Batch(table.name, "test", batch, SOURCE, [place] * len(made))


def _rejects(root: Path) -> Iterator[Batch | Reject | Read]:
    count = 0
    for line, record in store.rejects(root):
        count += 1
        page = f"{record['group']}/{record['path']}"
        yield Reject("scenes", record["status"], record["message"], SOURCE, f"rejects.jsonl line {line}", page)
    yield Read(SOURCE, "scenes", count)


def asked_scenes(root: Path, *, all_of_them: bool = True) -> Iterator[Scene]:
    """The scenes that are asked about, one after another."""
    for name in store.names(root):
        capture = store.read(root / name)
        if not all_of_them and not capture.data["page"]["redistribute"]:
            continue
        if rows.why_not(capture, agreement(capture.data["graph"])) is None:
            yield load(name, capture.data)


def chosen_questions(
    root: Path, words: wording.Recorded | None = None, *, all_of_them: bool = True
) -> Iterator[tuple[str, list[planner.Candidate]]]:
    """Each scene's half and its questions. The scenes are read twice, so that memory does not grow with them: the
    halves are over all scenes with a candidate, what is asked of a scene hangs on all in its half."""

    def candidates(scene: Scene) -> Iterator[planner.Candidate]:
        return chain(planner.candidates(scene), wording.planned(scene, words.plans if words else ()))

    scenes = asked_scenes(root, all_of_them=all_of_them)
    fold = folds(scene.id for scene in scenes if next(candidates(scene), None))
    balance = Balance(fold)
    for scene in asked_scenes(root, all_of_them=all_of_them):
        balance.add(candidates(scene))
    for some in balance.chosen():
        yield fold[some[0].scene], some


def _questions(root: Path, all_of_them: bool, words: wording.Recorded) -> Iterator[Batch | Reject | Read]:
    for fold, some in chosen_questions(root, words, all_of_them=all_of_them):
        capture = store.read(root / some[0].scene)
        scene = load(capture.id, capture.data)
        pictures = [question_picture(c, scene, capture) for c in some]
        made = [_question_row(c, fold, p, words.paraphrases) for c, p in zip(some, pictures, strict=True)]
        batch = pa.RecordBatch.from_pylist(made, QUESTIONS.arrow)
        yield Batch("questions", "test", batch, SOURCE, [f"{scene.id}/capture.json.gz"] * len(made))


def _question_row(c: planner.Candidate, fold: str, picture: bytes, words: dict[str, str]) -> dict[str, Any]:
    worded = words.get(c.id)
    return {
        "question_id": c.id,
        "scene_id": c.scene,
        "type": c.kind,
        "group": KINDS[c.kind].group,
        "style": c.style,
        "fold": fold,
        "text": c.text,
        "options": list(c.options),
        "answer": c.answer,
        "image": {"bytes": picture, "path": f"{c.id}.png"},
        "program": rows.text(c.program),
        "marks": rows.text(c.marks),
        "trace": rows.text(list(c.trace)),
        "margin": c.margin,
        "difficulty": c.difficulty,
        "paraphrase": worded if worded is not None and wording.same(worded, c) else None,
    }


BUILDER = WebSpatial()
