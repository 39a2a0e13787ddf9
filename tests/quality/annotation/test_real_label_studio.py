"""The whole way of an audit through a real Label Studio: plan, push, three people annotate, pull, report, check."""

from __future__ import annotations

import dataclasses
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from audit_people import (
    ANN,
    AUDITS,
    BEN,
    BY_NAME,
    CHECKS,
    CODE,
    CYD,
    PEOPLE,
    Habit,
    careful,
    content,
    contrary,
    swapping,
)
from label_studio_server import ADMIN_TOKEN, TOKENS, executable, running

from quality.annotation import exchange, report, sheets
from quality.annotation.label_studio import Server
from quality.annotation.plan import plan as make_plan
from quality.annotation.work import Item, Plan, Work
from quality.run import check
from schemas import Audit, DatasetFolder, GoldsmithError

pytestmark = pytest.mark.labelstudio


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = executable()
    if program is None:
        pytest.skip("no Label Studio: run `make label-studio`, or set GOLDSMITH_LABEL_STUDIO to its executable")
    with running(program, tmp_path_factory.mktemp("label-studio")) as address:
        yield address


@pytest.fixture
def admin(url: str) -> Server:
    return Server(url, ADMIN_TOKEN)


def begun(folder: DatasetFolder, audit: Audit, room: Path, admin: Server) -> tuple[Work, Plan]:
    """An audit that is planned and on the server."""
    work = Work(room / audit.name)
    made = make_plan(folder, CHECKS, audit, PEOPLE, work.path)
    exchange.push(work, admin)
    return work, made


def tasks(work: Work, admin: Server, person: str) -> dict[str, dict[str, Any]]:
    """A person's tasks by key."""
    project = work.read("projects.json")["people"][person]["project"]
    return {task["data"]["item_id"]: task for task in admin.export(project)}


def results(made: Plan, item: Item, person: str, habit: Habit, place: int) -> list[dict[str, Any]]:
    """What the page sends when a person answers."""
    size = (item.size[0], item.size[1]) if item.size else None
    swapped = made.audit.kind == "pair" and item.swapped(person)
    return sheets.to_results(made.audit, habit(made, item, place), shown=item.text, size=size, swapped=swapped)


def annotate(work: Work, made: Plan, admin: Server, habits: Mapping[str, Habit]) -> None:
    """Everyone works through their sheet with their own account."""
    for person, name in made.people.items():
        server = Server(admin.url, TOKENS[name])
        there = tasks(work, admin, person)
        for place, item in enumerate(made.sheet(person)):
            said = {"result": results(made, item, person, habits[name], place), "lead_time": 4.0 + place % 3}
            server.call("POST", f"/api/tasks/{there[item.key]['id']}/annotations/", said)


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.kind)
def test_every_kind_goes_the_whole_way(
    audit: Audit, admin: Server, tmp_path: Path, write_judged: Callable[..., DatasetFolder]
) -> None:
    """Nine rows and three gold items; without these nothing says that the two who agree are right, not the third."""
    gold = f"SELECT * REPLACE ('gold ' || item_id AS item_id) FROM ({audit.sql})"
    folder = write_judged(content(9))
    work, made = begun(folder, dataclasses.replace(audit, gold_sql=gold, golds=3), tmp_path, admin)
    again = exchange.push(work, admin)
    assert [(one.there, one.added) for one in again] == [(12, 0)] * 3
    annotate(work, made, admin, {ANN: careful(0), BEN: careful(0), CYD: contrary("cyd")})
    judgements, problems = exchange.pull(work, admin)
    assert (len(judgements), problems) == (36, [])
    found = report.write(folder, work)
    assert found.passed
    assert {one.state for one in found.found} == {"right"}
    scores = {made.people[person.name]: person.score or 0.0 for person in found.people}
    assert scores[CYD] < 0.2 < scores[ANN]
    results_of = {one.name: one for one in check(folder, CHECKS).results}
    assert results_of[f"audit.{audit.name}"].status == "passed"


def test_media_are_served_and_predictions_shown(
    admin: Server, tmp_path: Path, write_judged: Callable[..., DatasetFolder]
) -> None:
    work, made = begun(write_judged(content(3)), BY_NAME["words"], tmp_path, admin)
    person = next(iter(made.people))
    item = made.sheet(person)[0]
    task = tasks(work, admin, person)[item.key]
    request = urllib.request.Request(admin.url + task["data"]["s0"], headers={"Authorization": f"Token {ADMIN_TOKEN}"})
    with urllib.request.urlopen(request) as answer:
        assert answer.read() == (work.media / item.shown[0]).read_bytes()
    shown = admin.call("GET", f"/api/tasks/{task['id']}/")["predictions"][0]["result"]
    assert sheets.from_results(made.audit, shown)[0] == item.answer


def test_a_swapped_map_of_labels_is_found(
    admin: Server, tmp_path: Path, write_judged: Callable[..., DatasetFolder]
) -> None:
    folder = write_judged(content(36))
    work, made = begun(folder, BY_NAME["topic"], tmp_path, admin)
    annotate(work, made, admin, {ANN: careful(0.03, "a"), BEN: careful(0.03, "b"), CYD: swapping("bug", "feature")})
    exchange.pull(work, admin)
    found = report.write(folder, work)
    flagged = [(made.people[flag.person], flag.code, flag.message) for flag in found.flags]
    assert flagged == [(CYD, "swapped_labels", "says bug for feature, says feature for bug")]


def test_what_people_and_others_do_to_answers_is_found(
    admin: Server, tmp_path: Path, write_judged: Callable[..., DatasetFolder]
) -> None:
    work, made = begun(write_judged(content(8)), BY_NAME["faults"], tmp_path, admin)
    annotate(work, made, admin, dict.fromkeys(PEOPLE, careful(0)))
    person, name = next(iter(made.people.items()))
    own, other = (Server(admin.url, TOKENS[who]) for who in (name, next(who for who in PEOPLE if who != name)))
    keys = [item.key for item in made.sheet(person)]
    answers = {key: task["annotations"][0] for key, task in tasks(work, admin, person).items()}
    judgements, problems = exchange.pull(work, admin)
    assert (len(judgements), problems) == (24, [])

    start = CODE.index("a - b") + 1  # one more in UTF-16, for there is an emoji before it
    units = {"start": start, "end": start + 5, "text": "a - b", "labels": ["fault"]}
    lost = {"start": 0, "end": 3, "text": "abc", "labels": ["fault"]}
    unknown = {"start": 0, "end": 3, "text": "def", "labels": ["nonsense"]}

    def put(server: Server, key: str, value: Mapping[str, Any]) -> None:
        result = [{"from_name": "answer", "to_name": "object", "type": "labels", "value": value}]
        server.call("PATCH", f"/api/annotations/{answers[key]['id']}/", {"result": result})

    put(own, keys[0], units)
    put(own, keys[1], lost)
    put(own, keys[2], unknown)
    put(other, keys[3], units)
    admin.call("DELETE", f"/api/annotations/{answers[keys[4]]['id']}/")
    task = tasks(work, admin, person)[keys[5]]
    other.call("POST", f"/api/tasks/{task['id']}/annotations/", {"result": []})
    judgements, problems = exchange.pull(work, admin)
    found = {(problem.code, problem.key) for problem in problems if problem.person == person}
    assert found == {
        ("utf16_offsets", keys[0]),
        ("bad_span", keys[1]),
        ("unknown_label", keys[2]),
        ("other_editor", keys[3]),
        ("deleted", keys[4]),
        ("other_author", keys[5]),
        *(("edited", key) for key in keys[:4]),
    }
    assert {one.key for one in judgements if one.person == person} == {keys[0], *keys[5:]}
    placed = next(one.answer for one in judgements if (one.person, one.key) == (person, keys[0]))
    assert placed == {"spans": [[start - 1, start + 4, "fault"]]}


def test_without_an_account_or_a_token_it_says_so(
    admin: Server, tmp_path: Path, write_judged: Callable[..., DatasetFolder]
) -> None:
    work = Work(tmp_path / "work")
    make_plan(write_judged(content(3)), CHECKS, BY_NAME["topic"], ["nobody@example.org"], work.path)
    with pytest.raises(GoldsmithError, match=r"has no account nobody@example\.org"):
        exchange.push(work, admin)
    with pytest.raises(GoldsmithError, match="was never pushed"):
        exchange.pull(work, admin)
    with pytest.raises(GoldsmithError, match="answers 401"):
        exchange.push(work, Server(admin.url, "x" * 40))
