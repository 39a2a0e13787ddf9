"""The short texts of datasheet.toml that go into YAML, Croissant and CFF, with their figures put in as plain values.

`[card]` and `[citation]` may take facts from the data, where one builder makes datasets of many collections:
`pretty_name = "{{ figures.collection }}"`. In a list, a figure of several rows gives an entry for each row; what comes
out empty is left out. Longer texts (answers, notes) are filled, and marked, by `render`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from cards.datasheet import FILE, Author, Card, Citation, Datasheet
from cards.queries import Figures, Names, Rows, Value
from schemas import DatasetFolder, GoldsmithError

_SHOWN = ("limitations", "uses", "about", "license_note")
"""Texts of `[card]` for people: they keep their marks and are filled where they are shown."""

R = TypeVar("R", Card, Author, Citation)
_Fill = Callable[[str, str], str]


def filled(sheet: Datasheet, figures: Figures) -> Datasheet:
    """The datasheet with the figures in its `[card]` and `[citation]`.

    Raises:
        GoldsmithError: a text names a figure that there is not, or is no template.
    """
    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False, finalize=_plain)
    names = Names(figures)

    def fill(text: str, place: str) -> str:
        try:
            return environment.from_string(text).render(figures=names)
        except jinja2.TemplateError as error:
            raise GoldsmithError(f"[{FILE} > {place}] {error}: write {{{{ figures.name }}}}") from None

    people = []
    for index, author in enumerate(sheet.citation.authors):
        person = _record(author, f"citation > authors > {index}", fill)
        if person.full_name or not author.full_name:
            people.append(person)
    citation = replace(sheet.citation, authors=tuple(people))
    return replace(
        sheet, card=_record(sheet.card, "card", fill), citation=_record(citation, "citation", fill, ("authors",))
    )


def licences(folder: DatasetFolder, sheet: Datasheet) -> list[str]:
    """The licences of the dataset, sorted: those that the (filled) datasheet says, else those of its sources."""
    return sorted(
        set(sheet.card.license) or {source["licence"] for source in folder.build["sources"] if not source.get("secret")}
    )


def summary(folder: DatasetFolder, sheet: Datasheet) -> str:
    """What the dataset is, in one paragraph: as the (filled) datasheet says, else the schema."""
    return sheet.card.summary or folder.schema.summary


def languages(folder: DatasetFolder, sheet: Datasheet) -> tuple[str, ...]:
    """The BCP-47 tags of its languages: those that the (filled) datasheet says, else the schema's."""
    return sheet.card.language or folder.schema.language


def _record(record: R, place: str, fill: _Fill, keep: Iterable[str] = _SHOWN) -> R:
    """The record with each of its texts, and each entry of its lists of texts, filled."""
    changed: dict[str, Any] = {}
    for item in fields(record):
        value, here = getattr(record, item.name), f"{place} > {item.name}"
        if item.name in keep:
            continue
        if isinstance(value, str):
            changed[item.name] = " ".join(fill(value, here).split())
        elif isinstance(value, tuple) and all(isinstance(entry, str) for entry in value):
            lines = [line.strip() for entry in value for line in fill(entry, here).splitlines()]
            changed[item.name] = tuple(line for line in lines if line)
    return replace(record, **changed)


def _plain(value: Any) -> Any:
    """How a figure is written: its value, or the first values of its rows, a line each."""
    if isinstance(value, Value):
        return "" if value.value is None else value.value
    if isinstance(value, Rows):
        return "\n".join(str(next(iter(row.values())).value or "") for row in value)
    return value
