"""The way of an audit that a dataset declares, by the command line: planned, answered in a file, counted, released.

Everyone first answers what the dataset says, then (but of gold items) something else: the first audit must pass and be
printed in the card of a release, the second must fail and do what its severity says.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from goldsmith import main
from quality.annotation import kinds
from quality.annotation.work import Item, Work
from schemas import Audit, DatasetFolder

PEOPLE = ("ann@example.org", "ben@example.org", "cyd@example.org")


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def wrong(audit: Audit, answer: kinds.Answer) -> kinds.Answer:
    """An answer that is not the dataset's."""
    match audit.kind:
        case "choice" | "pair":
            return {"label": next(label for label in audit.votes if label != answer["label"])}
        case "transcription":
            return {"text": f"nothing like this {len(answer['text'])}"}
        case "spans":
            return {"spans": [[0, 1, audit.labels[0]]]}
        case "mask":
            return {**answer, "masks": {}}
        case "parts":
            return {"boxes": [[0.0, 0.0, 1.0, 1.0, audit.labels[0]]]}
        case _:
            scores = {
                one.name: next(value for value in one.values if value != answer["scores"][one.name])
                for one in audit.rubric
            }
            return {"scores": scores}


def check(folder: Path) -> None:
    """Check a folder; a part of a sample may fail for what it lacks."""
    found = CliRunner().invoke(main, ["check", str(folder)])
    assert "report: " in found.output, found.output


def answer(work: Path, room: Path, judged: Iterable[tuple[str, Item, kinds.Answer]]) -> str:
    """Write answers (person, item, answer) to a file and pull it; what was said."""
    lines = [json.dumps({"annotator": who, "item": item.item_id, "answer": said}) for who, item, said in judged]
    (room / "answers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run("audit", "pull", work, "--from", room / "answers.jsonl").output


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results of a folder's checks by name."""
    return {check["name"]: check for check in DatasetFolder(folder).report["checks"]}


def go(built: Path, audit: Audit, room: Path, *options: object) -> None:
    """Take a copy of a built folder the whole way, twice.

    Args:
        options: of `release`, such as waivers for what a part of a sample fails.
    """
    folder, work = room / "built", room / "work"
    shutil.copytree(built, folder)
    people = [argument for name in PEOPLE for argument in ("-a", name)]
    run("audit", "plan", folder, audit.name, *people, "-o", work)
    plan = Work(work).plan()
    judged = [(name, item) for person, name in plan.people.items() for item in plan.sheet(person)]
    right = [(who, item, item.answer) for who, item in judged if item.answer is not None]
    assert len(right) == len(judged)

    assert answer(work, room, right) == f"{len(judged)} answers\n"
    run("audit", "report", folder, work)
    check(folder)
    run("card", folder)
    assert results(folder)[f"audit.{audit.name}"]["status"] == "passed"
    run("release", folder, "--version", "1.0.0", *options, "-o", room / "release")
    card = (room / "release" / "README.md").read_text(encoding="utf-8")
    assert f"**{audit.name}** (`{audit.table}`): {audit.question}" in card
    if not DatasetFolder(room / "release").build.get("dropped"):  # else as many may be wrong of fewer rows
        assert "not shown |" not in card
        assert results(room / "release")[f"audit.{audit.name}"]["status"] == "passed"
    everything = b"".join(path.read_bytes() for path in (room / "release").rglob("*") if path.is_file())
    assert not any(name.encode() in everything for name in PEOPLE)

    answer(work, room, [(who, item, said if item.role == "gold" else wrong(audit, said)) for who, item, said in right])
    report = run("audit", "report", folder, work, code=1).output
    assert report.count("NOT shown") == len(plan.strata)
    check(folder)
    found = results(folder)[f"audit.{audit.name}"]
    assert (found["status"], found["failures"]) == ("failed", len(plan.strata))
    run("card", folder)
    again = run(
        "release", folder, "--version", "1.0.0", *options, "-o", room / "again", code=int(audit.severity == "block")
    )
    if audit.severity == "block":
        assert f"check audit.{audit.name} of {audit.table} failed" in again.output
    else:
        card = (room / "again" / "README.md").read_text(encoding="utf-8")
        assert card.count("not shown |") == len(plan.strata)
