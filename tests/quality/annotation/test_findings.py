"""What an audit does to check and gate: a bound that is not shown blocks, or its rows leave; it speaks only for the
rows that people saw."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from audit_people import ANN, BEN, BY_NAME, CYD, PEOPLE, content, contrary

from quality.annotation import exchange, report
from quality.annotation.bounds import most_wrong
from quality.annotation.plan import plan as make_plan
from quality.annotation.work import Item, Plan, Work
from quality.results import Result
from quality.run import check
from schemas import Audit, CheckSet, DatasetFolder, GoldsmithError

Write = Callable[..., DatasetFolder]


def people_say(wrong: Callable[[Item], bool]) -> Callable[[Plan, Item, int], Any]:
    """Everyone finds the same rows wrong."""

    def answer(plan: Plan, item: Item, place: int) -> Any:
        return contrary("same")(plan, item, 0) if wrong(item) else item.answer

    return answer


def audited(folder: DatasetFolder, audit: Audit, room: Path, wrong: Callable[[Item], bool]) -> CheckSet:
    """Audit the folder; the checks that declare it."""
    from audit_people import judge

    checks = CheckSet(audits=(audit,))
    work = Work(room / "work")
    made = make_plan(folder, checks, audit, PEOPLE, work.path)
    exchange.save(work, judge(made, dict.fromkeys((ANN, BEN, CYD), people_say(wrong))), [])
    report.write(folder, work)
    return checks


def results(folder: DatasetFolder, checks: CheckSet) -> dict[str, Result]:
    found = check(DatasetFolder(folder.path), checks)
    return {one.name: one for one in found.results if one.name.startswith("audit.")}


def none_wrong(item: Item) -> bool:
    return False


def hard_wrong(item: Item) -> bool:
    return item.stratum == "hard" and item.item_id in ("t1", "t3", "t5", "t7", "t9", "t11", "t13", "t15", "t17", "t19")


def test_an_audit_that_shows_its_target_passes(judged: DatasetFolder, tmp_path: Path) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, none_wrong)
    found = results(judged, checks)
    assert {name: one.status for name, one in found.items()} == {
        "audit.topic": "passed",
        "audit.topic.wrong": "passed",
        "audit.topic.annotators": "passed",
    }
    assert [(one.subject, one.high) for one in found["audit.topic"].figures] == [("easy", 0.05), ("hard", 0.05)]
    hashed = {file["path"] for file in DatasetFolder(judged.path).report["files"]}
    assert {"audit/topic/report.json", "audit/topic/labels.parquet", "audit/topic/report.html"} <= hashed


def test_a_stratum_that_does_not_show_it_blocks(judged: DatasetFolder, tmp_path: Path) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, hard_wrong)
    found = results(judged, checks)
    bound = found["audit.topic"]
    assert (bound.status, bound.severity, bound.failures) == ("failed", "block", 1)
    failing = next(one for one in bound.figures if one.message)
    assert failing.subject == "hard"
    assert "sampled rows count as wrong, so up to" in failing.message
    wrong = found["audit.topic.wrong"]
    assert wrong.severity == "warn"
    assert 6 <= wrong.failures <= 10  # of ten wrong rows, sixteen of twenty were looked at
    assert all("people say" in message for _, message in wrong.examples)


def test_the_rows_of_such_a_stratum_can_leave(judged: DatasetFolder, tmp_path: Path) -> None:
    audit = dataclasses.replace(BY_NAME["topic"], severity="drop")
    checks = audited(judged, audit, tmp_path, hard_wrong)
    found = results(judged, checks)
    assert (found["audit.topic"].status, found["audit.topic"].severity) == ("failed", "warn")
    leaving = found["audit.topic.strata"]
    assert (leaving.status, leaving.severity, leaving.failures) == ("failed", "drop", 20)
    ids = pq.read_table(judged.findings, filters=[("check", "=", "audit.topic.strata")]).column("id").to_pylist()
    assert set(ids) == {f"t{i}" for i in range(1, 40, 2)}


def test_rows_that_left_are_no_reason_to_doubt_the_others(
    judged: DatasetFolder, write_judged: Write, tmp_path: Path
) -> None:
    """Wrong rows that are gone are taken off what the lot can hold; nothing else changes."""
    checks = audited(judged, BY_NAME["topic"], tmp_path, hard_wrong)
    before = {one.subject: one.value for one in results(judged, checks)["audit.topic"].figures}
    labels = pq.read_table(judged.path / "audit" / "topic" / "labels.parquet").to_pylist()
    wrong = {row["item_id"] for row in labels if row["state"] == "wrong"}
    rows = content(40)
    rows["texts"] = [row for row in rows["texts"] if row["id"] not in wrong]
    fewer = write_judged(rows)
    shutil.copytree(judged.path / "audit", fewer.path / "audit")
    after = {one.subject: one.value for one in results(fewer, checks)["audit.topic"].figures}
    assert after["easy"] == before["easy"]
    most = round(before["hard"] * 20)
    assert after["hard"] == pytest.approx((most - len(wrong)) / (20 - len(wrong)))


@pytest.mark.parametrize("column", ["label", "text"])
def test_a_row_that_changed_is_not_covered(
    column: str, judged: DatasetFolder, write_judged: Write, tmp_path: Path
) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, none_wrong)
    rows = content(40)
    rows["texts"][4][column] = "feature" if rows["texts"][4]["label"] != "feature" else "bug"
    changed = write_judged(rows)
    shutil.copytree(judged.path / "audit", changed.path / "audit")
    bound = results(changed, checks)["audit.topic"]
    assert [(one.subject, one.value) for one in bound.figures if one.message] == [("easy", 1.0)]
    assert "1 rows are new or changed since the audit" in bound.examples[0][1]


def test_new_rows_and_new_strata_are_not_covered(judged: DatasetFolder, write_judged: Write, tmp_path: Path) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, none_wrong)
    rows = content(41)
    rows["texts"][40]["level"] = "odd"
    more = write_judged(rows)
    shutil.copytree(judged.path / "audit", more.path / "audit")
    failing = [one.subject for one in results(more, checks)["audit.topic"].figures if one.message]
    assert failing == ["odd"]


def test_a_column_that_people_did_not_see_may_change(
    judged: DatasetFolder, write_judged: Write, tmp_path: Path
) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, none_wrong)
    rows = content(40)
    rows["texts"][0]["scores"] = None
    other = write_judged(rows)
    shutil.copytree(judged.path / "audit", other.path / "audit")
    assert results(other, checks)["audit.topic"].status == "passed"


def test_an_audit_that_was_never_made(judged: DatasetFolder) -> None:
    topic = BY_NAME["topic"]
    assert results(judged, CheckSet(audits=(topic,)))["audit.topic"].status == "not_applicable"
    needed = CheckSet(audits=(dataclasses.replace(topic, required=True),))
    found = results(judged, needed)["audit.topic"]
    assert (found.status, found.severity) == ("failed", "block")


def test_agreement_below_the_least_blocks(judged: DatasetFolder, tmp_path: Path) -> None:
    audit = dataclasses.replace(BY_NAME["topic"], min_agreement=0.5)
    assert results(judged, audited(judged, audit, tmp_path, none_wrong))["audit.topic.agreement"].status == "passed"
    audit = dataclasses.replace(audit, min_agreement=1.01)
    found = results(judged, CheckSet(audits=(audit,)))["audit.topic.agreement"]
    assert (found.status, found.severity) == ("failed", "block")


WORDS = dataclasses.replace(
    BY_NAME["words"],
    gold_sql="SELECT 'gold ' || id AS item_id, audio, words AS answer FROM sounds",
    golds=5,
)


def test_people_who_all_fail_the_gold_items_show_nothing(judged: DatasetFolder, tmp_path: Path) -> None:
    found = results(judged, audited(judged, WORDS, tmp_path, lambda item: True))
    bound, wrong = found["audit.words"], found["audit.words.wrong"]
    assert (bound.status, wrong.failures) == ("passed", 0)  # all is wrong, and taken for right
    gold = found["audit.words.gold"]
    assert (gold.status, gold.severity) == ("failed", "block")
    assert "nobody passes the gold items (0 of 15 answers to them right)" in gold.examples[0][1]
    made = report.report(Work(tmp_path / "work"))
    assert not made.passed
    assert any(line.startswith("NOT to be rested on: nobody passes the gold items") for line in made.lines())
    assert "Not to be rested on: nobody passes" in (judged.path / "audit" / "words" / "report.html").read_text()


def test_people_who_pass_the_gold_items_are_believed(judged: DatasetFolder, tmp_path: Path) -> None:
    found = results(judged, audited(judged, WORDS, tmp_path, lambda item: item.role == "sample"))
    assert (found["audit.words"].status, found["audit.words.gold"].status) == ("failed", "passed")
    made = report.report(Work(tmp_path / "work"))
    assert found["audit.words.wrong"].failures == len(made.found)
    assert not made.misread


def test_broken_audit_folders_say_what_to_do(judged: DatasetFolder, tmp_path: Path) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, none_wrong)
    with pytest.raises(GoldsmithError, match=r"\[audit/topic\] is no audit that the dataset declares"):
        check(judged, CheckSet())
    (judged.path / "audit" / "topic" / "labels.parquet").unlink()
    with pytest.raises(GoldsmithError, match=r"labels\.parquet\] is missing: run `goldsmith audit report` again"):
        check(judged, checks)


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        ("report.json", lambda data: b"{", "is no report of an audit"),
        ("report.json", lambda data: b"{}", "is no report of an audit"),
        ("report.json", lambda data: b"[]", "is no report of an audit"),
        ("report.json", lambda data: data.replace(b'"most_wrong": ', b'"most_wrong": 1'), "does not say what labels"),
        ("report.json", lambda data: data.replace(b'"against": ', b'"against": -'), "is no report|does not say"),
        ("report.json", lambda data: data.replace(b'"lot": 20', b'"lot": "x"'), "is no report of an audit"),
        ("labels.parquet", lambda data: data[:100], r"labels\.parquet. cannot be read"),
        ("population.parquet", lambda data: b"PAR1", r"population\.parquet. cannot be read"),
    ],
)
def test_a_folder_that_was_changed_by_hand_is_seen(
    name: str, spoil: Callable[[bytes], bytes], said: str, judged: DatasetFolder, tmp_path: Path
) -> None:
    checks = audited(judged, BY_NAME["topic"], tmp_path, hard_wrong)
    path = judged.path / "audit" / "topic" / name
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(GoldsmithError, match=said):
        check(judged, checks)


def test_a_bound_that_was_made_better_by_hand_is_seen(judged: DatasetFolder, tmp_path: Path) -> None:
    """Even where it follows from the counts beside it: the rows in labels.parquet say otherwise."""
    checks = audited(judged, BY_NAME["topic"], tmp_path, hard_wrong)
    folder = judged.path / "audit" / "topic"
    form = json.loads((folder / "report.json").read_text())
    for stratum in form["strata"]:
        stratum |= {"wrong": 0, "against": 0, "most_wrong": most_wrong(0, stratum["sample"], stratum["lot"])}
    (folder / "report.json").write_text(json.dumps(form))
    with pytest.raises(GoldsmithError, match=r"does not say what labels\.parquet says"):
        check(judged, checks)
    shutil.copy(folder / "labels.parquet", folder / "population.parquet")
    with pytest.raises(GoldsmithError, match=r"population\.parquet. has other columns"):
        check(judged, checks)
