"""The street with an audit in it, by the command line: plan, pull, report, check, release; refused, waived, dropped."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from audit_people import ANN, BEN, BY_NAME, DATASET, PEOPLE
from click.testing import CliRunner, Result

from goldsmith import main
from quality.annotation.work import Work
from schemas import Audit, CheckSet, DatasetFolder


@dataclasses.dataclass
class Judged:
    """A builder that another distribution registers."""

    folder: Path
    checks: CheckSet
    schema = DATASET
    version = "1"
    expected_rejects: frozenset[str] = frozenset()
    reject_budget = 0.0

    def plan(self, sources: object) -> Sequence[object]:
        return ()

    def build(self, shard: object, sources: object) -> Sequence[object]:
        return ()


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Audit], None]:
    """A function that registers the builder of the dataset with an audit, as a distribution does."""
    room = tmp_path / "distribution"
    (room / "judged-1.dist-info").mkdir(parents=True)
    (room / "judged-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: judged\nVersion: 1\n")
    (room / "judged-1.dist-info" / "entry_points.txt").write_text(
        "[goldsmith.builders]\njudged = judged_builder:BUILDER\n"
    )
    (room / "judged_builder.py").write_text("BUILDER = None\n")
    monkeypatch.syspath_prepend(str(room))
    monkeypatch.delitem(sys.modules, "judged_builder", raising=False)

    def register(audit: Audit) -> None:
        import judged_builder  # pyright: ignore[reportMissingImports]

        judged_builder.BUILDER = Judged(room, CheckSet(audits=(audit,)))

    return register


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def audit_it(folder: DatasetFolder, room: Path, wrong: Callable[[str], bool], code: int) -> Path:
    """Plan, answer in a CSV file, pull and report; the folder of the audit."""
    work = room / "work"
    people = [argument for name in PEOPLE for argument in ("-a", name)]
    planned = run("audit", "plan", folder.path, "-o", work, *people)
    assert "0 wrong show at most 5.0% wrong" in planned.output
    plan = Work(work).plan()
    with open(room / "answers.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["annotator", "item", "label"])
        writer.writeheader()
        for person, name in plan.people.items():
            for item in plan.sheet(person):
                assert item.answer
                right = item.answer["label"]
                other = "bug" if right != "bug" else "question"
                label = other if wrong(item.item_id) else right
                writer.writerow({"annotator": name, "item": item.item_id, "label": label})
    assert "96 answers" in run("audit", "pull", work, "--from", room / "answers.csv").output
    report = run("audit", "report", folder.path, work, code=code)
    assert ANN in (work / "report.html").read_text()
    assert "agreement: raw" in report.output
    return work


def hard(item_id: str) -> bool:
    return int(item_id[1:]) % 2 == 1


WAIVER = """
[[waiver]]
check = "audit.topic"
table = "texts"
reason = "the hard ones are being done again"
by = "the owner"
until = 2999-01-01
"""


def test_an_audit_that_fails_stops_a_release_and_a_waiver_is_printed_in_the_card(
    judged: DatasetFolder, tmp_path: Path, declare: Callable[[Audit], None]
) -> None:
    declare(BY_NAME["topic"])
    audit_it(judged, tmp_path, hard, 1)
    assert "audit.topic" in run("check", judged.path, code=1).output
    run("card", judged.path)
    out = tmp_path / "release"
    refused = run("release", judged.path, "-o", out, "--version", "1.0.0", code=1)
    assert "check audit.topic of texts failed (1)" in refused.output
    assert not out.exists()
    (tmp_path / "waivers.toml").write_text(WAIVER)
    run("release", judged.path, "-o", out, "--version", "1.0.0", "--waivers", tmp_path / "waivers.toml")
    card = (out / "README.md").read_text()
    assert "| `audit.topic` | `texts` | the hard ones are being done again | the owner | 2999-01-01 |" in card
    assert "| hard | 20 | 16 | 16 | 0 | 100.0 % | 5 %, not shown |" in card
    assert json.loads((out / "manifest.json").read_text())["checks"]["passed"] is False
    assert {path.name for path in (out / "audit" / "topic").iterdir()} == {
        "design.json",
        "judgements.parquet",
        "labels.parquet",
        "population.parquet",
        "report.html",
        "report.json",
    }
    everything = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert not any(name.encode() in everything for name in PEOPLE)


def test_the_rows_of_a_stratum_below_its_target_leave_the_release(
    judged: DatasetFolder, tmp_path: Path, declare: Callable[[Audit], None]
) -> None:
    declare(dataclasses.replace(BY_NAME["topic"], severity="drop"))
    audit_it(judged, tmp_path, hard, 1)
    run("check", judged.path)
    out = tmp_path / "release"
    run("release", judged.path, "-o", out, "--version", "1.0.0")
    released = DatasetFolder(out)
    assert released.build["dropped"] == {"audit.topic.strata": {"texts": 20}}
    results = {check["name"]: check for check in released.report["checks"]}
    assert [figure["subject"] for figure in results["audit.topic"]["figures"]] == ["easy"]
    assert results["audit.topic"]["status"] == "passed"


def test_an_audit_that_was_changed_after_the_check_is_seen(
    judged: DatasetFolder, tmp_path: Path, declare: Callable[[Audit], None]
) -> None:
    declare(BY_NAME["topic"])
    audit_it(judged, tmp_path, hard, 1)
    report = judged.path / "audit" / "topic" / "report.json"
    run("check", judged.path, code=1)
    report.write_text(report.read_text().replace('"most_wrong": 20', '"most_wrong": 0'))
    refused = run("release", judged.path, "-o", tmp_path / "release", "--version", "1.0.0", code=1)
    assert "audit/topic/report.json is not the file that was checked" in refused.output


def test_what_is_told_of_short_memory_helps(
    judged: DatasetFolder, tmp_path: Path, declare: Callable[[Audit], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = "SELECT id AS item_id, string_agg(repeat(text, 500), '') AS text, label AS answer FROM texts, range(40) "
    declare(dataclasses.replace(BY_NAME["topic"], sql=wide + "GROUP BY id, label"))
    plan = ("audit", "plan", judged.path, "-a", BEN, "-o", tmp_path / "work")
    monkeypatch.setenv("GOLDSMITH_MEMORY", "20MB")
    assert "takes more memory than 20MB: give more with GOLDSMITH_MEMORY" in run(*plan, code=2).output
    monkeypatch.setenv("GOLDSMITH_MEMORY", "2GB")
    run(*plan)


def test_mistakes_are_one_line(judged: DatasetFolder, tmp_path: Path, declare: Callable[[Audit], None]) -> None:
    declare(BY_NAME["topic"])
    wrong = run("audit", "plan", judged.path, "nothing", "-a", BEN, "-o", tmp_path / "work", code=2)
    assert "has no audit nothing: choose from topic" in wrong.output
    assert "--annotator ''] is no name" in run("audit", "plan", judged.path, "-a", "", "-o", tmp_path, code=2).output
    assert "is no audit under way" in run("audit", "report", judged.path, tmp_path, code=2).output
    assert "there is no token" in run("audit", "push", tmp_path, "--url", "http://127.0.0.1:1", code=2).output
    run("audit", "plan", judged.path, "-a", BEN, "-o", tmp_path / "work")
    assert "say where Label Studio is" in run("audit", "push", tmp_path / "work", code=2).output
    assert "holds no judgement" in run("audit", "report", judged.path, tmp_path / "work", code=2).output
