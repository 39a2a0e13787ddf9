"""Judgements of any other tool, from a file: JSON (a list), JSONL or CSV, in UTF-8 (with or without a mark).

A line has `annotator` (as named in the plan, or their pseudonym), `item` (the row's id, or the key of the sheet), the
answer, and where known `at` and `seconds`. The answer is, for choice and pair, `label`; for transcription `text` and
`unusable`; for a rubric its attributes by their names, and `evidence`; for spans `spans`, for parts `boxes`, for masks
`height`, `width` and `masks` (`quality.annotation.kinds` has their forms; in CSV as JSON). All of it may also be under
`answer`. The sides of a pair are `first` and `second`, as in the dataset.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quality.annotation import kinds
from quality.annotation.judgements import Judgement, Problem, seconds_of
from quality.annotation.kinds import BadAnswerError
from quality.annotation.work import Item, Plan, pseudonym
from schemas import GoldsmithError

_NEEDED = ("annotator", "item")
_FORMS = "give a .json list, .jsonl or .csv in UTF-8"


def from_file(plan: Plan, path: Path) -> tuple[list[Judgement], list[Problem]]:
    """The judgements of a file, and a problem for each line that is none or had to be read in part.

    Raises:
        GoldsmithError: the file cannot be read, or none of its lines can be counted.
    """
    keys = {item.item_id: item for item in plan.items if item.role == "gold"}
    keys |= {item.item_id: item for item in plan.items if item.role == "sample"} | plan.by_key()
    judgements: dict[tuple[str, str], Judgement] = {}
    problems: list[Problem] = []
    for number, row in enumerate(_rows(path), 1):
        person = key = ""
        try:
            person = _person(plan, row)
            item = _item(row, keys, person)
            key = item.key
            answer = _checked(plan, row, item)
        except BadAnswerError as error:
            problems.append(Problem(error.code, person, key, f"line {number}: {error}"))
            continue
        seconds = seconds_of(row.get("seconds"))
        if seconds is None and row.get("seconds") not in (None, ""):
            message = f"line {number}: {row['seconds']!r} is no number of seconds: left out"
            problems.append(Problem("odd_seconds", person, key, message, True))
        at = str(row.get("at") or "").encode("utf-8", "replace").decode()
        one = Judgement(person, key, answer, at, seconds)
        if (person, key) in judgements:
            message = f"line {number}: answered before: the newest counts"
            problems.append(Problem("answered_twice", person, key, message, True))
            one = max(judgements[person, key], one, key=lambda judgement: judgement.at)
        judgements[person, key] = one
    if not judgements:
        first = problems[0].message
        raise GoldsmithError(
            f"[{path}] holds no answer that can be counted ({first}): see quality/annotation/README.md"
        )
    return list(judgements.values()), problems


def _person(plan: Plan, row: Any) -> str:
    if not isinstance(row, Mapping):
        raise BadAnswerError("malformed", "is no object with annotator, item and an answer")
    name = str(row.get("annotator") or "")
    person = name if name in plan.people else pseudonym(plan.salt, name.encode("utf-8", "replace").decode())
    if person not in plan.people:
        raise BadAnswerError("unknown_person", "annotator is none of the plan's")
    return person


def _item(row: Mapping[str, Any], keys: Mapping[str, Item], person: str) -> Item:
    item = keys.get(str(row.get("item") or ""))
    if item is None:
        raise BadAnswerError("unknown_task", "item is none of the plan's")
    if person not in item.people:
        raise BadAnswerError("other_author", "not on this person's sheet")
    return item


def _checked(plan: Plan, row: Mapping[str, Any], item: Item) -> kinds.Answer:
    """The answer of a line in its exact form; a mask must be of the picture's size before it is made."""
    answer = _answer(plan, row)
    if plan.audit.kind == "mask" and item.size and [answer.get("width"), answer.get("height")] != item.size:
        raise BadAnswerError("wrong_size", f"the mask is not of {item.size[0]} x {item.size[1]} pixels")
    return kinds.checked(plan.audit, answer, item.text)


def _answer(plan: Plan, row: Mapping[str, Any]) -> Mapping[str, Any]:
    audit, whole = plan.audit, _json("answer", row.get("answer"), ("{",))
    if isinstance(whole, Mapping):
        if audit.kind != "rubric" or "scores" in whole:
            return whole
        row = whole
    match audit.kind:
        case "transcription":
            unusable = str(row.get("unusable") or "").lower() in ("true", "1", "yes")
            given: dict[str, Any] = {"text": row.get("text") or ("" if unusable else None), "unusable": unusable}
        case "rubric":
            scores = {one.name: row.get(one.name) for one in audit.rubric}
            given = {"scores": {name: value for name, value in scores.items() if value not in (None, "")} or None}
            if evidence := _json("evidence", row.get("evidence")):
                given["evidence"] = evidence
        case "spans" | "mask" | "parts":
            given = {name: _json(name, row.get(name)) for name in _PARTS[audit.kind]}
        case _:
            given = {"label": row.get("label") or whole}
    if lacking := [name for name, value in given.items() if value in (None, "")]:
        wanted = ", ".join(one.name for one in audit.rubric) if lacking == ["scores"] else ", ".join(lacking)
        raise BadAnswerError("no_answer", f"there is no answer: give {wanted}")
    return given


_PARTS = {"spans": ("spans",), "mask": ("height", "width", "masks"), "parts": ("boxes",)}
"""What an answer that is no label and no text consists of, for each kind."""


def _json(name: str, value: Any, opening: tuple[str, ...] = ("{", "[")) -> Any:
    """A value that a table can only hold as text."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError("malformed", f"{name} is no JSON ({_short(error)})") from None


def _rows(path: Path) -> list[Any]:
    """The lines of a file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if path.suffix == ".csv":
            reader = csv.DictReader(io.StringIO(text, newline=""))
            if lacking := [name for name in _NEEDED if name not in (reader.fieldnames or ())]:
                raise GoldsmithError(f"[{path}] has no column {lacking[0]}: name them in its first line, with commas")
            rows = list(reader)
        elif path.suffix == ".jsonl":
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        else:
            rows = json.loads(text)
    except UnicodeDecodeError:
        raise GoldsmithError(f"[{path}] is not in UTF-8: save it as UTF-8") from None
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        raise GoldsmithError(f"[{path}] cannot be read ({_short(error)}): {_FORMS}") from None
    if not isinstance(rows, list):
        raise GoldsmithError(f"[{path}] is not a list of answers: {_FORMS}")
    if not rows:
        raise GoldsmithError(f"[{path}] is empty: {_FORMS}")
    return rows


def _short(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)[:100]
