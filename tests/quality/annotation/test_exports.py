"""What a real Label Studio exported, read without one: answers, offsets, masks, and what was done to answers since."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quality.annotation import exchange, sheets
from quality.annotation.judgements import Problem, from_label_studio
from quality.annotation.kinds import BadAnswerError, masks_of
from quality.annotation.work import Item, Plan, Work
from schemas import Audit, Show

ACCOUNTS = {"p1": 2, "p2": 3, "p3": 4}
_NAMES = {"label": "answer", "text": "object", "brush": "answer", "poly": "polygon", "image": "object"}  # fmt: skip

Tasks = list[dict[str, Any]]


def exported(path: Path, shown: tuple[str, ...]) -> dict[str, Tasks]:
    """The export as one project a person, with this toolkit's names for controls and variables."""
    tasks = json.loads(path.read_text(encoding="utf-8"))
    sheets_of: dict[str, Tasks] = {}
    for person, account in ACCOUNTS.items():
        mine = copy.deepcopy(tasks)
        for task in mine:
            task["data"] |= {f"s{number}": task["data"][name] for number, name in enumerate(shown)}
            task["annotations"] = [one for one in task["annotations"] if one["completed_by"] == account]
            for result in (result for one in task["annotations"] for result in one["result"]):
                result["from_name"], result["to_name"] = _NAMES[result["from_name"]], "object"
        sheets_of[person] = mine
    return sheets_of


def planned(audit: Audit, tasks: Tasks, size: list[int] | None = None) -> Plan:
    items = [
        Item(
            task["data"]["item_id"],
            task["data"]["item_id"],
            "all",
            "sample",
            None,
            [task["data"][f"s{number}"].split("/")[-1] for number in range(len(audit.shows))]
            if size
            else [task["data"][f"s{number}"] for number in range(len(audit.shows))],
            list(ACCOUNTS),
            size,
        )
        for task in tasks
    ]
    return Plan("judged", audit, "seed", "salt", {person: person for person in ACCOUNTS}, {}, [], items)


SPANS = Audit("faults", "?", "spans", "t", "", (Show("code"),), labels=("bug", "comment"))
MASKS = Audit("water", "?", "mask", "t", "", (Show("image", "image"),), labels=("river", "field", "house"))


@pytest.fixture
def spans(shared_file: Callable[[str], Path]) -> dict[str, Tasks]:
    return exported(shared_file("real/labelstudio/spans.json"), ("code",))


def test_spans_behind_an_emoji_are_where_they_say(spans: dict[str, Tasks]) -> None:
    plan = planned(SPANS, spans["p1"])
    judgements, problems = from_label_studio(plan, spans, ACCOUNTS)
    assert (len(judgements), problems) == (60, [])
    said = {one.person: one.answer["spans"] for one in judgements}
    assert said == {"p1": [[38, 43, "bug"]], "p2": [[38, 43, "bug"]], "p3": [[37, 43, "bug"]]}
    assert {one.seconds for one in judgements} == {3.0, 4.0, 5.0}


def test_masks_and_polygons(shared_file: Callable[[str], Path]) -> None:
    found = exported(shared_file("real/labelstudio/seg.json"), ("image",))
    for tasks in found.values():
        for task in tasks:
            task["data"]["s0"] = f"/data/upload/1/0a1b-{task['data']['item_id']}.png"
    plan = planned(MASKS, found["p1"], [64, 48])
    for item in plan.items:
        item.shown[0] = f"{item.key}.png"
    judgements, problems = from_label_studio(plan, found, ACCOUNTS)
    assert (len(judgements), problems) == (60, [])
    masks = masks_of(judgements[0].answer)
    assert {label: int(mask.sum()) for label, mask in masks.items()} == {
        "river": 317,
        "house": int(masks["house"].sum()),
    }
    assert masks["house"].sum() == pytest.approx(0.3 * 0.5 / 2 * 64 * 48, rel=0.06)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda task: task["annotations"][0]["result"][0]["value"].update(start=0, end=5), "bad_span"),
        (lambda task: task["annotations"][0]["result"][0]["value"].update(labels=["x"]), "unknown_label"),
        (
            lambda task: task["annotations"][0]["result"][0]["value"].update(labels=["bug", "comment"]),
            "several_answers",
        ),
        (lambda task: task["annotations"][0]["result"][0].update(from_name="other"), "unknown_control"),
        (lambda task: task["annotations"][0]["result"][0].update(type="choices"), "wrong_type"),
        (lambda task: task["annotations"][0].update(result=[{"x": 1}]), "unknown_control"),
        (lambda task: task["annotations"][0].update(was_cancelled=True), "skipped"),
        (lambda task: task["annotations"][0].update(completed_by={"id": 9}), "other_author"),
        (lambda task: task["annotations"][0].update(updated_by=9), "other_editor"),
        (lambda task: task["data"].update(s0="other text"), "task_changed"),
        (lambda task: task["data"].update(item_id="other"), "unknown_task"),
    ],
)
def test_an_answer_that_cannot_be_counted_is_left_out_and_said(
    spans: dict[str, Tasks], spoil: Callable[[dict[str, Any]], object], code: str
) -> None:
    plan = planned(SPANS, spans["p1"])
    spoil(spans["p1"][3])
    judgements, problems = from_label_studio(plan, spans, ACCOUNTS)
    assert len(judgements) == 59
    assert [problem.code for problem in problems if problem.code != "task_missing"] == [code]
    assert not any(problem.counted for problem in problems)


def test_two_answers_to_one_item_and_a_task_twice(spans: dict[str, Tasks]) -> None:
    plan = planned(SPANS, spans["p1"])
    newer = copy.deepcopy(spans["p1"][0]["annotations"][0])
    newer |= {"id": 999, "updated_at": "2027-01-01", "result": []}
    spans["p1"][0]["annotations"].append(newer)
    spans["p1"].append(copy.deepcopy(spans["p1"][1]))
    judgements, problems = from_label_studio(plan, spans, ACCOUNTS)
    assert [problem.code for problem in problems] == ["answered_twice", "task_twice"]
    assert next(one.answer for one in judgements if (one.person, one.key) == ("p1", "code-0")) == {"spans": []}


def test_edits_and_deletions_between_fetches_are_found(spans: dict[str, Tasks], tmp_path: Path) -> None:
    work = Work(tmp_path)

    def fetch(number: int) -> list[Problem]:
        for person, tasks in spans.items():
            work.write(f"snapshots/{number:04d}/{person}.json", tasks)
        return exchange.tampering(work)

    assert fetch(1) == fetch(2) == []
    spans["p2"][4]["annotations"][0]["result"][0]["value"]["labels"] = ["comment"]
    spans["p3"][5]["annotations"] = []
    del spans["p3"][6]
    found = fetch(3)
    assert [(one.code, one.person, one.key) for one in found] == [
        ("edited", "p2", "code-4"),
        ("deleted", "p3", "code-5"),
        ("deleted", "p3", "code-6"),
    ]
    assert fetch(4) == found


def test_a_page_has_a_control_for_every_kind_and_escapes_what_it_shows() -> None:
    audit = Audit("x", 'Is "a" < b & c?', "choice", "t", "", (Show("s"),), labels=('say "yes"', "<no>"))
    page = sheets.config(audit)
    assert "&lt; b &amp; c?" in page
    assert "&lt;no&gt;" in page
    assert page.count("<Choice ") == 2


def test_two_choices_and_none_are_no_answer() -> None:
    audit = Audit("x", "?", "choice", "t", "", (Show("s"),), labels=("yes", "no"))

    def result(*labels: str) -> list[dict[str, Any]]:
        return [{"from_name": "answer", "to_name": "object", "type": "choices", "value": {"choices": list(labels)}}]

    assert sheets.from_results(audit, result("yes")) == ({"label": "yes"}, [])
    for results, code in ((result("yes", "no"), "several_answers"), (result(), "no_answer"), ([], "no_answer")):
        with pytest.raises(BadAnswerError) as error:
            sheets.from_results(audit, results)
        assert error.value.code == code
