"""From what a server or a file holds to judgements that can be counted, and a list of what cannot.

Nothing is put right in silence: each answer that is left out, and each that had to be read another way, is a `Problem`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quality.annotation import kinds, sheets
from quality.annotation.kinds import Answer, BadAnswerError
from quality.annotation.work import Item, Plan, pseudonym
from schemas import GoldsmithError


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
        at, seconds = str(annotation.get("created_at") or ""), annotation.get("lead_time")
        found.append((str(annotation.get("updated_at") or at), Judgement(person, item.key, answer, at, seconds)))
    if len(found) > 1:
        message = f"{len(found)} answers of one person: the newest counts"
        problems.append(Problem("answered_twice", person, item.key, message, True))
    return [max(found, key=lambda one: (one[0], one[1].at))[1]] if found else [], problems


def _id(value: Any) -> int | None:
    return value["id"] if isinstance(value, Mapping) else value


def from_file(plan: Plan, path: Path) -> tuple[list[Judgement], list[Problem]]:
    """Judgements of any other tool: JSON (a list), JSONL or CSV.

    Each has `annotator` (as named in the plan, or their pseudonym), `item` (the row's id, or the key of the sheet), the
    answer, and where known `at` and `seconds`. The answer is `answer` (the form of `quality.annotation.kinds`; in CSV
    as JSON), or for choice and pair `label`, for transcription `text`. The sides of a pair are `first` and `second`, as
    in the dataset.

    Raises:
        GoldsmithError: the file cannot be read.
    """
    keys = {item.item_id: item for item in plan.items if item.role == "gold"}
    keys |= {item.item_id: item for item in plan.items if item.role == "sample"} | plan.by_key()
    judgements: dict[tuple[str, str], Judgement] = {}
    problems = []
    for number, row in enumerate(_rows(path), 1):
        person = _person(plan, str(row.get("annotator", "")))
        item = keys.get(str(row.get("item", "")))
        where = f"line {number}"
        if person is None or item is None:
            code, what = ("unknown_person", "annotator") if person is None else ("unknown_task", "item")
            problems.append(Problem(code, person or "", "", f"{where}: {what} is none of the plan's"))
            continue
        if person not in item.people:
            problems.append(Problem("other_author", person, item.key, f"{where}: not on this person's sheet"))
            continue
        try:
            answer = kinds.checked(plan.audit, _answer(plan, row), item.text)
        except (BadAnswerError, ValueError) as error:
            code = error.code if isinstance(error, BadAnswerError) else "malformed"
            problems.append(Problem(code, person, item.key, f"{where}: {error}"))
            continue
        seconds = row.get("seconds")
        one = Judgement(person, item.key, answer, str(row.get("at") or ""), float(seconds) if seconds else None)
        if (person, item.key) in judgements:
            message = f"{where}: answered before: the newest counts"
            problems.append(Problem("answered_twice", person, item.key, message, True))
            one = max(judgements[person, item.key], one, key=lambda judgement: judgement.at)
        judgements[person, item.key] = one
    return list(judgements.values()), problems


def _person(plan: Plan, name: str) -> str | None:
    return name if name in plan.people else p if (p := pseudonym(plan.salt, name)) in plan.people else None


def _answer(plan: Plan, row: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = row.get("answer")
    if isinstance(answer, str) and answer.lstrip().startswith("{"):
        return json.loads(answer)
    if isinstance(answer, Mapping):
        return answer
    if plan.audit.kind == "transcription":
        unusable = str(row.get("unusable") or "").lower() in ("true", "1", "yes")
        return {"text": row.get("text") or "", "unusable": unusable}
    return {"label": row.get("label") or answer}


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".csv":
            yield from csv.DictReader(text.splitlines(keepends=True))
        elif path.suffix == ".jsonl":
            yield from (json.loads(line) for line in text.split("\n") if line.strip())
        else:
            form = json.loads(text)
            if not isinstance(form, list):
                raise ValueError("not a list")
            yield from form
    except (OSError, ValueError, csv.Error) as error:
        raise GoldsmithError(f"[{path}] cannot be read ({error}): give a .json list, .jsonl or .csv") from None


def to_lines(things: Sequence[Judgement] | Sequence[Problem]) -> list[dict[str, Any]]:
    """Their plain forms, in a fixed order."""
    lines = [asdict(thing) for thing in things]
    return sorted(lines, key=lambda line: json.dumps([line["person"], line["key"], line], sort_keys=True))
