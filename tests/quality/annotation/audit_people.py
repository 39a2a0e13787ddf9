"""A small dataset with something to audit of every kind, and people with habits who judge it."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import wave
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from PIL import Image

from quality.annotation import kinds
from quality.annotation.judgements import Judgement
from quality.annotation.work import Item, Plan
from schemas import Attribute, Audio, Audit, CheckSet, Column, Dataset, Show, Table, Text
from schemas import Image as Picture

WIDTH, HEIGHT = 64, 48
CODE = "def add(a, b):\n    # \u09af\u09cb\u0997 \U0001f600\n    return a - b\n"
ANN, BEN, CYD = "ann_a@example.org", "ann_b@example.org", "ann_c@example.org"
PEOPLE = (ANN, BEN, CYD)


def _table(name: str, **columns: Any) -> Table:
    kinds_of = {"id": Text(), **columns}
    return Table(
        name, name, tuple(Column(key, kind, key, nullable=key != "id") for key, kind in kinds_of.items()), ("id",)
    )


DATASET = Dataset(
    "judged",
    "Judged",
    "Things to judge.",
    (
        _table("sounds", language=Text(), speaker=Text(), audio=Audio(), words=Text()),
        _table("pictures", image=Picture(), mask=Picture(), parts=Text()),
        _table("texts", level=Text(), text=Text(), label=Text(), spans=Text(), scores=Text()),
        _table("pairs", prompt=Text(), one=Text(), two=Text(), better=Text()),
    ),
)

RUBRIC = (
    Attribute("accuracy", "Is what it says right?", ("poor", "fair", "good")),
    Attribute("tone", "Is it kind?", ("rude", "kind"), "nominal", evidence=False),
)

_COMMON = {"overlap": 1.0, "judges": 3, "golds": 0}
AUDITS = (
    Audit(
        "topic",
        "What is this text about?",
        "choice",
        "texts",
        "SELECT id AS item_id, level AS stratum, text, label AS answer FROM texts",
        (Show("text"),),
        labels=("bug", "feature", "question"),
        **_COMMON,
    ),
    Audit(
        "better",
        "Which answer is better?",
        "pair",
        "pairs",
        "SELECT id AS item_id, one, two, prompt, better AS answer FROM pairs",
        (Show("one", title="A"), Show("two", title="B"), Show("prompt")),
        **_COMMON,
    ),
    Audit(
        "words",
        "What is said?",
        "transcription",
        "sounds",
        "SELECT id AS item_id, language AS stratum, speaker AS made_by, audio, words AS answer FROM sounds",
        (Show("audio", "audio"),),
        show_answer=True,
        tolerance=0.9,
        **_COMMON,
    ),
    Audit(
        "faults",
        "Where is the fault?",
        "spans",
        "texts",
        "SELECT id AS item_id, text, spans AS answer FROM texts",
        (Show("text"),),
        labels=("fault", "comment"),
        show_answer=True,
        **_COMMON,
    ),
    Audit(
        "water",
        "Paint what is water.",
        "mask",
        "pictures",
        "SELECT id AS item_id, image, mask AS answer FROM pictures",
        (Show("image", "image"),),
        labels=("river", "field"),
        show_answer=True,
        tolerance=0.8,
        **_COMMON,
    ),
    Audit(
        "strokes",
        "Box the parts.",
        "parts",
        "pictures",
        "SELECT id AS item_id, image, parts AS answer FROM pictures",
        (Show("image", "image"),),
        labels=("wheel", "door"),
        show_answer=True,
        tolerance=0.9,
        **_COMMON,
    ),
    Audit(
        "review",
        "How good is this text?",
        "rubric",
        "texts",
        "SELECT id AS item_id, text, scores AS answer FROM texts",
        (Show("text"),),
        rubric=RUBRIC,
        show_answer=True,
        **_COMMON,
    ),
)
BY_NAME = {audit.name: audit for audit in AUDITS}


def sound(seed: int) -> bytes:
    """A tenth of a second."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"".join(struct.pack("<h", (seed * 37 + t * 101) % 2000) for t in range(800)))
    return stream.getvalue()


def png(pixels: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def disc(x: int, y: int, radius: int) -> np.ndarray:
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    return (columns - x) ** 2 + (rows - y) ** 2 <= radius**2


def content(n: int) -> dict[str, list[dict[str, Any]]]:
    """`n` rows of each table, all of them right."""
    start = CODE.index("a - b")
    rows: dict[str, list[dict[str, Any]]] = {table.name: [] for table in DATASET.tables}
    for i in range(n):
        text = f"{CODE}# {i}\n"
        fault = [{"start": start, "end": start + 5, "label": "fault"}]
        box = [{"x": 10.0 + i % 20, "y": 20.0, "width": 20.0, "height": 30.0, "label": ("wheel", "door")[i % 2]}]
        mask = np.where(disc(20 + i % 20, 20, 12), 1, 0)
        media = {"image": {"bytes": png(np.full((HEIGHT, WIDTH, 3), i % 255)), "path": None}}
        words = f"utterance number {i} is spoken here with ten words in all"
        audio = {"bytes": sound(i), "path": f"meera-{i}.wav"}
        rows["sounds"].append({"id": f"u{i}", "language": ("bn", "hi")[i % 2], "speaker": f"Meera {i % 3}",
                               "words": words, "audio": audio})  # fmt: skip
        rows["pictures"].append({"id": f"p{i}", **media, "mask": {"bytes": png(mask), "path": None},
                                 "parts": json.dumps(box)})  # fmt: skip
        scores = {"accuracy": ("poor", "fair", "good")[i % 3], "tone": ("rude", "kind")[i % 2]}
        label = ("bug", "feature", "question")[i % 3]
        rows["texts"].append({"id": f"t{i}", "level": ("easy", "hard")[i % 2], "text": text, "label": label,
                              "spans": json.dumps(fault), "scores": json.dumps(scores)})  # fmt: skip
        better = ("first", "second", "tie")[i % 3]
        rows["pairs"].append({"id": f"q{i}", "prompt": f"q{i}", "one": f"answer A{i}", "two": f"answer B{i}",
                              "better": better})  # fmt: skip
    return rows


CHECKS = CheckSet(audits=AUDITS)


def dice(*things: Any) -> float:
    """A number from 0 to 1 that depends on `things` only."""
    return int.from_bytes(hashlib.sha256(repr(things).encode()).digest()[:6], "big") / 2**48


def another(audit: Audit, answer: kinds.Answer, *seed: Any) -> kinds.Answer:
    """A wrong answer."""
    match audit.kind:
        case "choice" | "pair":
            others = [label for label in audit.votes if label != answer["label"]]
            return {"label": others[int(dice("other", *seed) * len(others))]}
        case "transcription":
            return {**answer, "text": "something else entirely is said here, nothing of that"}
        case "spans":
            return {"spans": [[0, 3 + int(dice("span", *seed) * 5), "comment"]]}
        case "mask":
            return kinds.mask_answer({"field": disc(50, 40, 5 + int(dice("mask", *seed) * 5))})
        case "parts":
            return {"boxes": [[70.0, 5.0, 5.0 + int(dice("box", *seed) * 9), 5.0, "door"]]}
        case _:
            accuracy, tone = answer["scores"]["accuracy"], answer["scores"]["tone"]
            scores = {
                "accuracy": "poor" if accuracy == "fair" else "fair",
                "tone": "kind" if tone == "rude" else "rude",
            }
            return {"scores": scores, "evidence": []}


Habit = Callable[[Plan, Item, int], kinds.Answer]
"""What a person answers to the item at a place of their sheet."""


def careful(error: float = 0.02, who: str = "") -> Habit:
    """Right but for a few."""

    def answer(plan: Plan, item: Item, place: int) -> kinds.Answer:
        assert item.answer is not None
        wrong = dice("careful", who, item.key) < error
        return another(plan.audit, item.answer, who, item.key) if wrong else item.answer

    return answer


def judge(plan: Plan, habits: Mapping[str, Habit]) -> list[Judgement]:
    """Everyone's answers, in the order of their sheets."""
    return [
        Judgement(
            person, item.key, habits[name](plan, item, place), f"2026-11-30T10:{place // 60:02d}:{place % 60:02d}", 5.0
        )
        for person, name in plan.people.items()
        for place, item in enumerate(plan.sheet(person))
    ]


def swapping(one: str, other: str) -> Habit:
    """Says one label for another, and the other way round."""

    def answer(plan: Plan, item: Item, place: int) -> kinds.Answer:
        assert item.answer is not None
        label = item.answer["label"]
        return {"label": {one: other, other: one}.get(label, label)}

    return answer


def contrary(who: str) -> Habit:
    """Always wrong, each time in another way."""

    def answer(plan: Plan, item: Item, place: int) -> kinds.Answer:
        assert item.answer is not None
        return another(plan.audit, item.answer, who, item.key)

    return answer
