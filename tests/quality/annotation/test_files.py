"""Judgements of other tools, from files: of every form, and of every way in which a file can be wrong."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from audit_people import BY_NAME, CHECKS, CODE, PEOPLE

from quality.annotation import files
from quality.annotation.judgements import Judgement, Problem
from quality.annotation.plan import plan as make_plan
from quality.annotation.work import Plan
from schemas import DatasetFolder, GoldsmithError


def test_answers_of_other_tools(judged: DatasetFolder, tmp_path: Path) -> None:
    made = make_plan(judged, CHECKS, BY_NAME["topic"], PEOPLE, tmp_path / "work")
    person, name = next(iter(made.people.items()))
    items = made.sheet(person)
    good = [{"annotator": name, "item": item.item_id, "label": item.answer["label"]} for item in items]  # pyright: ignore
    bad = [
        {"annotator": "stranger", "item": items[0].item_id, "label": "bug"},
        {"annotator": name, "item": "nothing", "label": "bug"},
        {"annotator": name, "item": items[0].item_id, "label": "nonsense"},
        {"annotator": name, "item": items[1].key, "label": "bug", "at": "2027"},
    ]
    lines = [*good, *bad]
    (tmp_path / "a.json").write_text(json.dumps(lines))
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    table = [
        "annotator,item,label,at",
        *(f"{x['annotator']},{x['item']},{x['label']},{x.get('at', '')}" for x in lines),
    ]
    (tmp_path / "a.csv").write_text("\n".join(table) + "\n")
    for suffix in ("json", "jsonl", "csv"):
        found, problems = files.from_file(made, tmp_path / f"a.{suffix}")
        assert len(found) == len(items)
        assert Counter(problem.code for problem in problems) == {
            "unknown_person": 1,
            "unknown_task": 1,
            "unknown_label": 1,
            "answered_twice": 1,
        }
        assert next(one for one in found if one.key == items[1].key).answer == {"label": "bug"}


def planned(judged: DatasetFolder, name: str, room: Path) -> tuple[Plan, str, list[str]]:
    """A plan, a person, and the row ids of their sheet."""
    made = make_plan(judged, CHECKS, BY_NAME[name], PEOPLE, room / name)
    person, who = next(iter(made.people.items()))
    return made, who, [item.item_id for item in made.sheet(person)]


def read(made: Plan, room: Path, lines: Any) -> tuple[list[Judgement], list[Problem]]:
    (room / "a.json").write_text(json.dumps(lines))
    return files.from_file(made, room / "a.json")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"", "cannot be read"),
        ("a.json", b"{", "cannot be read .* give a .json list, .jsonl or .csv in UTF-8"),
        ("a.json", b'{"a": 1}', "is not a list of answers"),
        ("a.json", b"[]", "is empty"),
        ("a.json", b"[" * 100_000, "cannot be read"),
        ("a.json", b"[1" + b"0" * 5000 + b"]", "cannot be read"),
        ("a.json", b'["a", 1, null]', "no answer that can be counted .line 1: is no object"),
        ("a.json", "[]".encode("utf-16"), "is not in UTF-8"),
        ("a.jsonl", b"", "is empty"),
        ("a.jsonl", b"nonsense", "cannot be read"),
        ("a.csv", b"", "has no column annotator"),
        ("a.csv", b"annotator,item,label\n", "is empty"),
        ("a.csv", b"annotator;item;label\nann;t1;bug\n", "has no column annotator"),
        ("a.csv", "annotator,item,label\n".encode("utf-16"), "is not in UTF-8"),
        ("a.csv", b"annotator,item\n\0,\0\n", "no answer that can be counted"),
        ("a.xlsx", b"PK\x03\x04", "cannot be read"),
        ("none.csv", None, "cannot be read .No such file"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(
    name: str, content: bytes | None, said: str, judged: DatasetFolder, tmp_path: Path
) -> None:
    made, _, _ = planned(judged, "topic", tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(GoldsmithError, match=said) as error:
        files.from_file(made, tmp_path / name)
    assert "\n" not in str(error.value)


def test_lines_that_are_no_answers_are_problems_and_the_others_count(judged: DatasetFolder, tmp_path: Path) -> None:
    made, who, ids = planned(judged, "topic", tmp_path)
    good = {"annotator": who, "item": ids[0], "label": "bug"}
    bad: list[tuple[Any, str]] = [
        ("text", "malformed"),
        ({"item": ids[1], "label": "bug"}, "unknown_person"),
        ({"annotator": "\ud800", "item": ids[1], "label": "bug"}, "unknown_person"),
        ({"annotator": who, "label": "bug"}, "unknown_task"),
        ({"annotator": who, "item": [ids[1]], "label": "bug"}, "unknown_task"),
        ({"annotator": who, "item": ids[1]}, "no_answer"),
        ({"annotator": who, "item": ids[1], "label": float("nan")}, "unknown_label"),
        ({"annotator": who, "item": ids[1], "label": ["bug"]}, "unknown_label"),
        ({"annotator": who, "item": ids[1], "label": {"bug": 1}}, "unknown_label"),
        ({"annotator": who, "item": ids[1], "answer": "{bad"}, "malformed"),
        ({"annotator": who, "item": ids[1], "answer": {"choice": "bug"}}, "malformed"),
        ({**good, "seconds": "soon"}, "odd_seconds"),
        ({**good, "seconds": -1}, "odd_seconds"),
        ({**good, "seconds": float("inf")}, "odd_seconds"),
        ({**good, "at": "\ud800"}, "answered_twice"),
    ]
    for line, code in bad:
        found, problems = read(made, tmp_path, [good, line])
        assert [one.answer for one in found] == [{"label": "bug"}]
        assert code in {problem.code for problem in problems}, line
        json.dumps([one.at for one in found], ensure_ascii=False).encode()


FORMS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("review", {"accuracy": "good", "tone": "kind"}, {"scores": {"accuracy": "good", "tone": "kind"}, "evidence": []}),
    (
        "review",
        {"accuracy": "poor", "tone": "rude", "evidence": [[0, 2, "accuracy"]]},
        {"scores": {"accuracy": "poor", "tone": "rude"}, "evidence": [[0, 2, "accuracy"]]},
    ),
    ("faults", {"spans": [[0, 3, "fault"]]}, {"spans": [[0, 3, "fault"]]}),
    ("strokes", {"boxes": [[1, 2, 3, 4, "door"]]}, {"boxes": [[1.0, 2.0, 3.0, 4.0, "door"]]}),
]


@pytest.mark.parametrize(("name", "fields", "said"), FORMS)
@pytest.mark.parametrize("form", ["fields", "answer", "csv"])
def test_an_answer_is_given_in_fields_or_whole(
    judged: DatasetFolder, tmp_path: Path, form: str, name: str, fields: dict[str, Any], said: dict[str, Any]
) -> None:
    made, who, ids = planned(judged, name, tmp_path)
    line = {"annotator": who, "item": ids[0], **(fields if form != "answer" else {"answer": fields})}
    path = tmp_path / ("a.csv" if form == "csv" else "a.jsonl")
    if form == "csv":
        with open(path, "w", encoding="utf-8", newline="") as file:
            cells = {key: value if isinstance(value, str) else json.dumps(value) for key, value in line.items()}
            writer = csv.DictWriter(file, list(cells))
            writer.writeheader()
            writer.writerow(cells)
    else:
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    found, problems = files.from_file(made, path)
    assert ([one.answer for one in found], problems) == ([said], [])


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("review", {}, "there is no answer: give accuracy, tone"),
        ("review", {"label": "good"}, "there is no answer: give accuracy, tone"),
        ("review", {"accuracy": "good", "tone": ""}, "no score for tone"),
        ("review", {"accuracy": "good", "tone": "blue"}, "'blue' is none of rude, kind"),
        ("faults", {}, "there is no answer: give spans"),
        ("strokes", {"boxes": "[1"}, "boxes is no JSON"),
        ("topic", {}, "there is no answer: give label"),
    ],
)
def test_a_line_without_an_answer_says_which_fields_it_needs(
    judged: DatasetFolder, tmp_path: Path, name: str, fields: dict[str, Any], message: str
) -> None:
    made, who, ids = planned(judged, name, tmp_path)
    with pytest.raises(GoldsmithError, match=f"line 1: {message}"):
        read(made, tmp_path, [{"annotator": who, "item": ids[0], **fields}])


def test_a_mark_at_the_beginning_and_quoted_lines_of_csv(judged: DatasetFolder, tmp_path: Path) -> None:
    made, who, ids = planned(judged, "words", tmp_path)
    text = f'annotator,item,text\r\n{who},{ids[0]},"one, two\nthree"\r\n{who},{ids[1]},\r\n'
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    found, problems = files.from_file(made, tmp_path / "a.csv")
    assert [one.answer for one in found] == [{"text": "one, two\nthree", "unusable": False}]
    assert [problem.code for problem in problems] == ["no_answer"]


@pytest.mark.parametrize(
    ("name", "answer", "code"),
    [
        ("words", {"text": 5}, "malformed"),
        ("words", {"text": "half \ud800"}, "malformed"),
        ("words", {"text": "x", "unusable": "false"}, "malformed"),
        ("faults", {"spans": [[0, 10**9, "fault"]]}, "bad_span"),
        ("faults", {"spans": [[0, 1e30, "fault"]]}, "malformed"),
        ("faults", {"spans": [[5, 5, "fault"]]}, "bad_span"),
        ("faults", {"spans": [[-1, 3, "fault"]]}, "bad_span"),
        ("faults", {"spans": [["a", None, "fault"]]}, "malformed"),
        ("faults", {"spans": [[0, 3, "nonsense"]]}, "unknown_label"),
        ("faults", {"spans": 5}, "malformed"),
        ("water", {"height": 10**9, "width": 10**9, "masks": {"river": [0, 10**18]}}, "wrong_size"),
        ("water", {"height": 48, "width": 64, "masks": {"river": [0, 5]}}, "wrong_size"),
        ("water", {"height": 48, "width": 64, "masks": ["river"]}, "malformed"),
        ("strokes", {"boxes": [[float("nan"), 1, 2, 3, "wheel"]]}, "outside"),
        ("strokes", {"boxes": [[1e400, 1, 2, 3, "wheel"]]}, "outside"),
        ("strokes", {"boxes": [[1, 2, 3, "wheel"]]}, "malformed"),
        ("review", {"scores": 5}, "malformed"),
        ("review", {"scores": {"zzz": "poor"}}, "unknown_label"),
        ("review", {"scores": {"accuracy": "poor"}}, "no_score"),
        ("better", {"label": "A"}, "unknown_label"),
    ],
)
def test_an_answer_of_each_kind_that_is_none(
    name: str, answer: dict[str, Any], code: str, judged: DatasetFolder, tmp_path: Path
) -> None:
    made, who, ids = planned(judged, name, tmp_path)
    by_id = {item.item_id: item for item in made.items}
    good = {"annotator": who, "item": ids[0], "answer": by_id[ids[0]].answer}
    found, problems = read(made, tmp_path, [good, {"annotator": who, "item": ids[1], "answer": answer}])
    assert len(found) == 1
    assert [(problem.code, problem.counted) for problem in problems] == [(code, False)]


def test_spans_of_a_file_count_code_points(judged: DatasetFolder, tmp_path: Path) -> None:
    """Behind an emoji, too; without the text of a span there is nothing to see UTF-16 units by."""
    made, who, ids = planned(judged, "faults", tmp_path)
    start = CODE.index("a - b")
    answer = {"spans": [[start, start + 5, "fault"]]}
    found, problems = read(made, tmp_path, [{"annotator": who, "item": ids[0], "answer": answer}])
    assert (found[0].answer, problems) == (answer, [])
