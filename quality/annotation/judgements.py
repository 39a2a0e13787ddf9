"""From what a server holds to judgements that can be counted, and a list of what cannot (of files: `files`).

Nothing is put right in silence: each answer that is left out, and each that had to be read another way, is a `Problem`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from quality.annotation import sheets
from quality.annotation.kinds import Answer, BadAnswerError
from quality.annotation.work import Item, Plan


@dataclass(frozen=True)
class Judgement:
    """One person's answer to one item. `at`: when, as sortable text; `seconds`: how long it took, where known."""

    person: str
    key: str
    answer: Answer
    at: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Problem:
    """What is not as it should be. `counted`: whether the answer counts all the same."""

    code: str
    person: str
    key: str
    message: str
    counted: bool = False


def from_label_studio(
    plan: Plan, exports: Mapping[str, Sequence[Mapping[str, Any]]], accounts: Mapping[str, int]
) -> tuple[list[Judgement], list[Problem]]:
    """The judgements of exported projects.

    Args:
        exports: a person's project, as the server exports it.
        accounts: the account of each person on the server.
    """
    judgements: list[Judgement] = []
    problems: list[Problem] = []
    for person in sorted(exports):
        sheet = {item.key: item for item in plan.sheet(person)}
        seen: set[str] = set()
        for task in exports[person]:
            key = str(task.get("data", {}).get("item_id"))
            item = sheet.get(key)
            if item is None or key in seen:
                code = "task_twice" if item else "unknown_task"
                problems.append(Problem(code, person, key, f"task {task.get('id')} is none of the sheet"))
                continue
            seen.add(key)
            if changed := _changed(plan, task["data"], item, person):
                problems.append(Problem("task_changed", person, key, f"what is shown was changed ({changed})"))
                continue
            found, wrong = _of_task(plan, item, person, task, accounts[person])
            problems += wrong
            judgements += found
        problems += [
            Problem("task_missing", person, key, "the task is gone from the sheet")
            for key in sorted(sheet.keys() - seen)
        ]
    return judgements, problems


def task_data(plan: Plan, item: Item, person: str, addresses: Mapping[str, str]) -> dict[str, str]:
    """What a task holds: the key, and what is shown; of a pair, in this person's order of sides.

    Args:
        addresses: of media on the server, by their names.
    """
    shown = list(item.shown)
    if plan.audit.kind == "pair" and item.swapped(person):
        shown[0], shown[1] = shown[1], shown[0]
    texts = {sheets.variable(number): addresses.get(text, text) for number, text in enumerate(shown)}
    return {"item_id": item.key, **texts}


def _changed(plan: Plan, data: Mapping[str, Any], item: Item, person: str) -> str:
    """The first variable of a task that is not what was sent, or "". Media are known by their name on the server."""
    for name, text in task_data(plan, item, person, {}).items():
        there = str(data.get(name))
        medium = name.startswith("s") and plan.audit.shows[int(name[1:])].medium != "text"
        if there != text and not (medium and there.endswith(f"-{text}")):
            return name
    return ""


def _of_task(
    plan: Plan, item: Item, person: str, task: Mapping[str, Any], account: int
) -> tuple[list[Judgement], list[Problem]]:
    problems = []
    found: list[tuple[str, Judgement]] = []
    for annotation in task["annotations"]:

        def note(code: str, message: str, counted: bool = False) -> None:
            problems.append(Problem(code, person, item.key, message, counted))

        author, editor = (_id(annotation.get(name)) for name in ("completed_by", "updated_by"))
        if author != account:
            note("other_author", "someone else answered on this sheet")
            continue
        if editor not in (None, account):
            note("other_editor", "someone else changed the answer")
            continue
        if annotation.get("was_cancelled"):
            note("skipped", "the item was skipped")
            continue
        try:
            answer, notes = sheets.from_results(
                plan.audit,
                annotation["result"],
                shown=item.text,
                size=(item.size[0], item.size[1]) if item.size else None,
                swapped=plan.audit.kind == "pair" and item.swapped(person),
            )
        except BadAnswerError as error:
            note(error.code, str(error))
            continue
        for code in notes:
            note(code, "offsets counted UTF-16 units; read as such, the text fits", True)
        at, seconds = str(annotation.get("created_at") or ""), seconds_of(annotation.get("lead_time"))
        found.append((str(annotation.get("updated_at") or at), Judgement(person, item.key, answer, at, seconds)))
    if len(found) > 1:
        message = f"{len(found)} answers of one person: the newest counts"
        problems.append(Problem("answered_twice", person, item.key, message, True))
    return [max(found, key=lambda one: (one[0], one[1].at))[1]] if found else [], problems


def _id(value: Any) -> int | None:
    return value["id"] if isinstance(value, Mapping) else value


def seconds_of(value: Any) -> float | None:
    """How long an answer took; None where that is not known or no length of time."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def to_lines(things: Sequence[Judgement] | Sequence[Problem]) -> list[dict[str, Any]]:
    """Their plain forms, in a fixed order."""
    lines = [asdict(thing) for thing in things]
    return sorted(lines, key=lambda line: json.dumps([line["person"], line["key"], line], sort_keys=True))
