"""An audit from plan to report without a server: the sample, the sheets, people with habits, and what is published."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from audit_people import (
    ANN,
    AUDITS,
    BEN,
    BY_NAME,
    CHECKS,
    CYD,
    PEOPLE,
    Habit,
    careful,
    content,
    contrary,
    judge,
)

from quality.annotation import exchange, kinds, report, report_html
from quality.annotation.plan import choose
from quality.annotation.plan import plan as make_plan
from quality.annotation.work import Plan, Work
from schemas import Audit, DatasetFolder, GoldsmithError

Write = Callable[..., DatasetFolder]


def run(
    folder: DatasetFolder, audit: Audit, room: Path, habits: Mapping[str, Habit]
) -> tuple[Work, report.AuditReport]:
    """The report of people with these habits."""
    work = Work(room / audit.name)
    made = make_plan(folder, CHECKS, audit, tuple(habits), work.path)
    exchange.save(work, judge(made, habits), [])
    return work, report.write(folder, work)


def flagged(found: report.AuditReport) -> set[tuple[str, str]]:
    return {(found.plan.people[flag.person], flag.code) for flag in found.flags}


GOOD = {ANN: careful(0.03, "a"), BEN: careful(0.03, "b"), CYD: careful(0.03, "c")}


# --- the sample


def test_the_sample_is_as_large_as_its_bound_needs_and_the_same_again(judged: DatasetFolder, tmp_path: Path) -> None:
    audit = BY_NAME["topic"]
    one = make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / "one", salt="x")
    again = make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / "again", salt="x")
    other = make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / "other", salt="x", seed="another")
    assert one == again == Work(tmp_path / "one").plan()
    assert {item.item_id for item in one.items} != {item.item_id for item in other.items}
    assert [(stratum.name, stratum.lot, stratum.sample) for stratum in one.strata] == [
        ("easy", 20, 16),
        ("hard", 20, 16),
    ]
    assert Counter(item.stratum for item in one.items) == {"easy": 16, "hard": 16}


def test_other_bytes_give_another_sample(write_judged: Write, tmp_path: Path) -> None:
    """So that nobody can know which rows will be looked at while they can still be changed."""
    rows = content(40)
    before = make_plan(write_judged(rows), CHECKS, BY_NAME["topic"], PEOPLE, tmp_path / "before")
    rows["pairs"][0]["prompt"] = "changed"
    after = make_plan(write_judged(rows), CHECKS, BY_NAME["topic"], PEOPLE, tmp_path / "after")
    assert {item.item_id for item in before.items} != {item.item_id for item in after.items}


def test_overlap_gold_and_load(judged: DatasetFolder, tmp_path: Path) -> None:
    gold = "SELECT 'g' || i AS item_id, 'text ' || i AS text, 'bug' AS answer FROM range(9) t(i)"
    audit = dataclasses.replace(BY_NAME["topic"], overlap=0.25, judges=2, gold_sql=gold, golds=5)
    made = make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / "work")
    sample = [item for item in made.items if item.role == "sample"]
    assert Counter(len(item.people) for item in sample) == {1: 24, 2: 8}
    golds = [item for item in made.items if item.role == "gold"]
    assert len(golds) == 5
    assert all(len(item.people) == 3 for item in golds)
    loads = [len(made.sheet(person)) for person in made.people]
    assert max(loads) - min(loads) <= 1
    assert not {"gold", "g0", "g1"} & set("".join(item.key for item in made.items).split("i"))


def test_gold_items_are_outside_the_sample_and_may_be_fewer(judged: DatasetFolder, tmp_path: Path) -> None:
    topic = BY_NAME["topic"]
    for name, where, golds in (("some", "true", 3), ("none", "false", 0)):
        audit = dataclasses.replace(topic, gold_sql=f"{topic.sql} WHERE {where}", golds=3)
        made = make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / name)
        assert [item.role for item in made.items].count("gold") == golds
        assert len({item.item_id for item in made.items}) == len(made.items)


def test_gold_of_a_rubric_may_say_some_attributes(judged: DatasetFolder, tmp_path: Path) -> None:
    gold = """SELECT 'rude ' || id AS item_id, text, '{"tone": "rude"}' AS answer FROM texts LIMIT 2"""
    audit = dataclasses.replace(BY_NAME["review"], gold_sql=gold, golds=2)
    made = make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / "work")
    golds = [item for item in made.items if item.role == "gold"]
    assert [item.answer and item.answer["scores"] for item in golds] == [{"tone": "rude"}] * 2
    for tone, right in (("rude", 1.0), ("kind", 0.0)):
        given = kinds.checked(audit, {"scores": {"accuracy": "fair", "tone": tone}}, golds[0].shown[0])
        assert kinds.similarity(audit, given, golds[0].answer or {}) == right
    with pytest.raises(kinds.BadAnswerError, match="no score for accuracy"):
        kinds.checked(audit, {"scores": {"tone": "rude"}})
    wrong = dataclasses.replace(audit, sql=audit.sql.replace("scores AS", """'{"tone": "rude"}' AS"""))
    with pytest.raises(GoldsmithError, match="no score for accuracy: mend its SQL"):
        make_plan(judged, CHECKS, wrong, PEOPLE, tmp_path / "wrong")


def test_what_cannot_be_planned_says_why(judged: DatasetFolder, tmp_path: Path) -> None:
    topic = BY_NAME["topic"]
    wrong = [
        (dataclasses.replace(topic, sql="SELECT 1 AS x"), "gives no column item_id"),
        (dataclasses.replace(topic, sql="SELEC 1"), "its SQL does not run"),
        (dataclasses.replace(topic, sql="SELECT 'a' AS item_id, text FROM texts"), "an item twice"),
        (dataclasses.replace(topic, sql=f"{topic.sql} WHERE false"), "gives no item"),
        (dataclasses.replace(topic, targets=(("odd", 0.1),)), "there is no stratum odd"),
        (dataclasses.replace(topic, labels=("bug", "feature")), "'question' is none of bug, feature"),
        (dataclasses.replace(topic, table="nothing"), "the dataset has no nothing"),
    ]
    for number, (audit, message) in enumerate(wrong):
        with pytest.raises(GoldsmithError, match=message):
            make_plan(judged, CHECKS, audit, PEOPLE, tmp_path / str(number))
    make_plan(judged, CHECKS, topic, PEOPLE, tmp_path / "work")
    with pytest.raises(GoldsmithError, match="is not empty"):
        make_plan(judged, CHECKS, topic, PEOPLE, tmp_path / "work")
    with pytest.raises(GoldsmithError, match="has several audits: say which of topic, better"):
        choose(AUDITS, None, "judged")
    assert choose(AUDITS, "water", "judged").kind == "mask"


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([], "[audit plan] nobody judges: give each person with --annotator NAME"),
        ([ANN, ""], "[audit plan > --annotator ''] is no name: give a person's e-mail address or name"),
        ([" \t"], "[audit plan > --annotator ' \\t'] is no name: give a person's e-mail address or name"),
        (["\u200b"], "[audit plan > --annotator '\\u200b'] is no name: give a person's e-mail address or name"),
        ([BEN, ANN, f" {ANN.upper()}"], f"[audit plan > --annotator '{ANN}'] is given 2 times: give each person once"),
        (["Ann\nBen"], "[audit plan > --annotator 'Ann\\nBen'] has '\\n' in it, which is no letter: leave it out"),
        (
            ["Ann\x1b[2J"],
            "[audit plan > --annotator 'Ann\\x1b[2J'] has '\\x1b' in it, which is no letter: leave it out",
        ),
        (["Zo\udceb"], "[audit plan > --annotator 'Zo\\udceb'] has '\\udceb' in it, which is no letter: leave it out"),
    ],
)
def test_people_without_a_proper_name_are_refused(
    people: list[str], said: str, judged: DatasetFolder, tmp_path: Path
) -> None:
    with pytest.raises(GoldsmithError) as raised:
        make_plan(judged, CHECKS, BY_NAME["topic"], people, tmp_path / "work")
    assert str(raised.value) == said
    assert not (tmp_path / "work").exists()


def test_names_of_any_script_are_kept(judged: DatasetFolder, tmp_path: Path) -> None:
    people = ["ঋত্বিক র\u200d্যাপ", 'O"Neil, <Ann> & co', "zoë"]
    made = make_plan(judged, CHECKS, BY_NAME["topic"], people, tmp_path / "work")
    assert list(made.people.values()) == [name.lower() for name in people]
    assert Work(tmp_path / "work").plan().people == made.people


# --- people


def test_gold_tells_who_is_below_and_settles_what_two_disagree_on(write_judged: Write, tmp_path: Path) -> None:
    gold = "SELECT 'g' || i AS item_id, 'text ' || i AS text, ['bug', 'feature', 'question'][1 + i % 3] AS answer "
    audit = dataclasses.replace(BY_NAME["topic"], gold_sql=gold + "FROM range(20) t(i)", golds=20)
    habits = {ANN: careful(0, "a"), BEN: contrary("b")}  # who guesses: test_flags
    _, found = run(write_judged(content(60)), audit, tmp_path, habits)
    assert (BEN, "gold") in flagged(found)
    assert (ANN, "gold") not in flagged(found)
    assert {one.state for one in found.found} == {"right"}
    by_name = {found.plan.people[person.name]: person for person in found.people}
    assert (by_name[ANN].gold, by_name[ANN].gold_right) == (20, 20)


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.kind)
def test_rows_that_are_wrong_are_found_in_every_kind(audit: Audit, judged: DatasetFolder, tmp_path: Path) -> None:
    """All three answer otherwise than the dataset on a fifth of the rows."""

    def honest(plan: Plan, item: object, place: int) -> dict[str, object]:
        return contrary("same")(plan, item, 0) if item.item_id[-1] in "37" else item.answer  # pyright: ignore

    work, found = run(judged, audit, tmp_path, dict.fromkeys(PEOPLE, honest))
    wrong = {one.item.item_id for one in found.found if one.state == "wrong"}
    assert wrong == {one.item.item_id for one in found.found if one.item.item_id[-1] in "37"}
    assert wrong
    assert not found.passed
    labels = pq.read_table(judged.path / "audit" / audit.name / "labels.parquet").to_pylist()
    assert {row["item_id"] for row in labels if row["state"] == "wrong"} == wrong
    report_html.write(found, work, tmp_path / "private.html", private=True)
    assert "not shown" in (tmp_path / "private.html").read_text()


def test_a_rubric_is_counted_by_attribute_with_its_evidence(judged: DatasetFolder, tmp_path: Path) -> None:
    def scorer(shift: int, start: int) -> Habit:
        def answer(plan: Plan, item: object, place: int) -> dict[str, object]:
            values = plan.audit.rubric[0].values
            own = item.answer["scores"]  # pyright: ignore
            place_of = values.index(own["accuracy"])
            accuracy = values[min(2, place_of + shift * (place % 2))]
            return {"scores": {**own, "accuracy": accuracy}, "evidence": [[start, 8, "accuracy"]]}

        return answer

    _, found = run(judged, BY_NAME["review"], tmp_path, {ANN: scorer(0, 0), BEN: scorer(1, 0), CYD: scorer(0, 4)})
    accuracy, tone = found.attributes["accuracy"], found.attributes["tone"]
    assert tone["alpha"] == 1
    assert 0.5 < accuracy["alpha"] < 1
    assert accuracy["evidence_f1"] == pytest.approx(1 / 3)
    assert accuracy["evidence_overlap_f1"] == pytest.approx((1 + 2 * (8 / 12)) / 3)
    assert "evidence_f1" not in tone


# --- what is published


def test_no_name_no_secret_and_no_text_leaves(judged: DatasetFolder, tmp_path: Path) -> None:
    work, found = run(judged, BY_NAME["words"], tmp_path, {**GOOD, CYD: contrary("c")})
    published = b"".join(path.read_bytes() for path in sorted((judged.path / "audit").rglob("*")) if path.is_file())
    for table in ("labels", "judgements", "population"):
        rows = pq.read_table(judged.path / "audit" / "words" / f"{table}.parquet").to_pylist()
        published += json.dumps(rows).encode()
    secrets = [*PEOPLE, found.plan.salt, "Meera", "something else entirely", "2026-11-30T10", "utterance number"]
    assert [secret for secret in secrets if secret.encode() in published] == []
    assert all(person.encode() in published for person in found.plan.people)
    assert ANN in (work.path / "plan.json").read_text()


def test_the_report_is_of_the_bytes_it_was_drawn_from(
    judged: DatasetFolder, write_judged: Write, tmp_path: Path
) -> None:
    work, _ = run(judged, BY_NAME["topic"], tmp_path, GOOD)
    rows = content(40)
    rows["texts"][0]["label"] = "feature"
    with pytest.raises(GoldsmithError, match="is not what this audit was drawn from"):
        report.write(write_judged(rows), work)
    first = (judged.path / "audit" / "topic" / "report.json").read_bytes()
    report.write(judged, work)
    assert (judged.path / "audit" / "topic" / "report.json").read_bytes() == first


def test_unjudged_rows_count_as_wrong(judged: DatasetFolder, tmp_path: Path) -> None:
    work = Work(tmp_path / "work")
    made = make_plan(judged, CHECKS, BY_NAME["topic"], PEOPLE, work.path, salt="kept")
    some = made.items[0].key
    exchange.save(work, [one for one in judge(made, GOOD) if one.key != some], [])
    found = report.write(judged, work)
    assert [one.state for one in found.found].count("unjudged") == 1
    assert sorted(bound.against for bound in found.bounds) == [0, 1]
    assert not found.passed
