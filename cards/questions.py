"""The questions of *Datasheets for Datasets*, typed. The texts and keys are in questions.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Question:
    """A question. `facts`: the data answer a part of it, by the macro of the same name in templates/facts.md.j2."""

    key: str
    text: str
    facts: bool = False


@dataclass(frozen=True)
class Section:
    """One of the seven sections."""

    title: str
    questions: tuple[Question, ...]


@cache
def sections() -> tuple[Section, ...]:
    """All sections, in their order: 4, 16, 12, 4, 6, 7 and 8 questions."""
    form = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
    return tuple(
        Section(section["title"], tuple(Question(**question) for question in section["questions"]))
        for section in form["section"]
    )


def keys() -> list[str]:
    """The keys of all questions."""
    return [question.key for section in sections() for question in section.questions]
