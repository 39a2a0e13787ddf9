"""The categories of formats whose annotations name an object's category by its number (COCO panoptic, YouTube-VIS)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from builders.vigor.forms import Concept, Problem, called, named
from builders.vigor.values import BadValueError, identity, record, rows, text


class ObjectCategories:
    """Categories by number, over all files of a source; of two with one number the first counts."""

    def __init__(self) -> None:
        self._concepts: dict[str, Concept] = {}
        self._places: dict[str, str] = {}

    def take(self, file: str, content: Mapping[str, Any]) -> Iterator[Problem]:
        """Read the categories of a file; those that cannot be read."""
        for category in rows(content, "categories", file):
            place = f"{file} category {called(category)}"
            try:
                key, concept = identity(record(category).get("id")), named("object", text(category.get("name"), "name"))
            except BadValueError as error:
                yield Problem.of(error, place, category, "concepts")
            else:
                self._places.setdefault(self._concepts.setdefault(key, concept).id, place)

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        """Each category's concept, and where it stands first."""
        for concept in self._concepts.values():
            yield concept, self._places[concept.id]

    def of(self, annotation: dict[str, Any]) -> Concept:
        """The concept of an annotation.

        Raises:
            BadValueError: its `category_id` is no number, or none of the source's.
        """
        key = identity(annotation.get("category_id"), "category_id")
        if key not in self._concepts:
            raise BadValueError("unknown_category", f"category {key} is not listed")
        return self._concepts[key]
