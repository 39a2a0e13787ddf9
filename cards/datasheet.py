"""datasheet.toml: what only people know about a dataset, typed and checked. `cards/README.md` shows every key.

An unknown key is an error, so that no answer is lost to a slip of the pen.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from cards import questions
from schemas import GoldsmithError

FILE = "datasheet.toml"

RAI = {
    "data_collection": "dataCollection",
    "data_collection_type": "dataCollectionType",
    "data_collection_missing_data": "dataCollectionMissingData",
    "data_collection_raw_data": "dataCollectionRawData",
    "data_collection_timeframe": "dataCollectionTimeframe",
    "data_imputation_protocol": "dataImputationProtocol",
    "data_manipulation_protocol": "dataManipulationProtocol",
    "data_preprocessing_protocol": "dataPreprocessingProtocol",
    "data_annotation_protocol": "dataAnnotationProtocol",
    "data_annotation_platform": "dataAnnotationPlatform",
    "data_annotation_analysis": "dataAnnotationAnalysis",
    "annotations_per_item": "annotationsPerItem",
    "annotator_demographics": "annotatorDemographics",
    "machine_annotation_tools": "machineAnnotationTools",
    "data_biases": "dataBiases",
    "data_use_cases": "dataUseCases",
    "data_limitations": "dataLimitations",
    "data_social_impact": "dataSocialImpact",
    "personal_sensitive_information": "personalSensitiveInformation",
    "data_release_maintenance_plan": "dataReleaseMaintenancePlan",
}
"""Keys of `[rai]` and the terms of Croissant RAI 1.0 they become. (mlcroissant 1.1.1 misspells two of them.)"""

RAI_LISTS = frozenset(RAI) - {
    "annotations_per_item",
    "data_collection",
    "data_collection_missing_data",
    "data_collection_raw_data",
    "data_imputation_protocol",
    "data_manipulation_protocol",
    "data_release_maintenance_plan",
    "data_social_impact",
}
"""Keys of `RAI` that may hold several texts."""


@dataclass(frozen=True)
class Answer:
    """An answer to a question of the datasheet: a text, or the reason why it does not apply."""

    text: str = ""
    not_applicable: str = ""


@dataclass(frozen=True)
class Card:
    """The table `[card]`: what the README and its YAML need beyond the schema."""

    pretty_name: str = ""
    summary: str = ""
    repository: str = ""
    homepage: str = ""
    date: str = ""
    license: tuple[str, ...] = ()
    license_name: str = ""
    license_link: str = ""
    license_note: str = ""
    language: tuple[str, ...] = ()
    annotations_creators: tuple[str, ...] = ()
    language_creators: tuple[str, ...] = ()
    source_datasets: tuple[str, ...] = ()
    multilinguality: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Author:
    """A person (given_names, family_names) or an entity (name)."""

    name: str = ""
    given_names: str = ""
    family_names: str = ""
    orcid: str = ""
    affiliation: str = ""
    email: str = ""

    @property
    def full_name(self) -> str:
        """The name for people."""
        return self.name or f"{self.given_names} {self.family_names}".strip()


@dataclass(frozen=True)
class Reference:
    """A work to cite besides the dataset."""

    title: str = ""
    type: str = "article"
    year: int = 0
    doi: str = ""
    url: str = ""
    journal: str = ""
    authors: tuple[Author, ...] = ()


@dataclass(frozen=True)
class Citation:
    """The table `[citation]`."""

    title: str = ""
    abstract: str = ""
    doi: str = ""
    url: str = ""
    message: str = "If you use this dataset, please cite it."
    authors: tuple[Author, ...] = ()
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Datasheet:
    """The whole of datasheet.toml.

    Attributes:
        required: keys of questions that must be answered.
        figures: own queries, by name.
        rai: texts or lists of texts, by the keys of `RAI`.
        answers: by the keys of `questions`.
    """

    required: tuple[str, ...] = ()
    card: Card = field(default_factory=Card)
    citation: Citation = field(default_factory=Citation)
    figures: Mapping[str, str] = field(default_factory=dict)
    rai: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)

    @classmethod
    def read(cls, builder_folder: Path) -> Datasheet:
        """Read the datasheet.toml of a builder; without one, nothing is answered.

        Raises:
            GoldsmithError: it is no TOML, has an unknown key, or a value of another type than the key asks for.
        """
        path = builder_folder / FILE
        if not path.is_file():
            return cls()
        try:
            form = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise GoldsmithError(f"[{FILE}] is not TOML ({error}): mend it") from None
        _known(form, [item.name for item in fields(cls)], FILE)
        return cls(
            required=tuple(_words(form.get("required", []), f"{FILE} > required", questions.keys())),
            card=_record(Card, form.get("card", {}), f"{FILE} > card"),
            citation=_record(Citation, form.get("citation", {}), f"{FILE} > citation"),
            figures={key: _text(sql, f"{FILE} > figures > {key}") for key, sql in form.get("figures", {}).items()},
            rai=_rai(form.get("rai", {})),
            answers=_answers(form.get("answers", {})),
        )


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for a slip of the pen: `did you mean 'x'?`, or the known words."""
    known = list(known)
    close = difflib.get_close_matches(word, known, 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"it is one of {', '.join(known)}"


def _known(form: Any, known: Iterable[str], place: str) -> None:
    if not isinstance(form, Mapping):
        raise GoldsmithError(f"[{place}] is {form!r}, no table: write [{place.rsplit(' > ', 1)[-1]}]")
    known = list(known)
    for key in form:
        if key not in known:
            raise GoldsmithError(f"[{place}] unknown key {key!r}: {nearest(key, known)}")


def _text(value: Any, place: str) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise GoldsmithError(f"[{place}] is {value!r}: write a text in quotes")
    return value.strip()


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise GoldsmithError(f'[{place}] is {value!r}: write a list of texts, such as ["..."]')
    return tuple(_text(item, place) for item in value)


def _words(value: Any, place: str, known: list[str]) -> tuple[str, ...]:
    words = _texts(value, place)
    for word in words:
        if word not in known:
            raise GoldsmithError(f"[{place}] unknown word {word!r}: {nearest(word, known)}")
    return words


R = TypeVar("R", Card, Author, Reference, Citation)


def _record(kind: type[R], form: Any, place: str) -> R:
    """A dataclass from a table; each value must have the type of the field's default."""
    _known(form, [item.name for item in fields(kind)], place)
    values: dict[str, Any] = {}
    for key, value in form.items():
        here = f"{place} > {key}"
        nested = {"authors": Author, "references": Reference}.get(key)
        if nested is not None:
            if not isinstance(value, list):
                raise GoldsmithError(f"[{here}] is {value!r}: write one [[...{key}]] table for each")
            values[key] = tuple(_record(nested, item, f"{here} > {index}") for index, item in enumerate(value))
        elif isinstance(getattr(kind, key), tuple):
            values[key] = _texts(value, here)
        elif isinstance(getattr(kind, key), int):
            if not isinstance(value, int):
                raise GoldsmithError(f"[{here}] is {value!r}: write a number")
            values[key] = value
        else:
            values[key] = _text(value, here)
    return kind(**values)


def _rai(form: Any) -> dict[str, str | tuple[str, ...]]:
    place = f"{FILE} > rai"
    _known(form, RAI, place)
    return {
        key: _texts(value, f"{place} > {key}")
        if key in RAI_LISTS and isinstance(value, list)
        else _text(value, f"{place} > {key}")
        for key, value in form.items()
    }


def _answers(form: Any) -> dict[str, Answer]:
    place = f"{FILE} > answers"
    _known(form, questions.keys(), place)
    answers = {}
    for key, value in form.items():
        if isinstance(value, Mapping):
            _known(value, ["not_applicable"], f"{place} > {key}")
            reason = _text(value.get("not_applicable", ""), f"{place} > {key} > not_applicable")
            if not reason:
                raise GoldsmithError(f"[{place} > {key}] does not say why it is not applicable: give the reason")
            answers[key] = Answer(not_applicable=reason)
        else:
            answers[key] = Answer(text=_text(value, f"{place} > {key}"))
    return answers
