"""A release whose rows left because of what people found, made again from its lock: all by the command line."""

from __future__ import annotations

import csv
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_cli import run

from builders.new import new
from quality.annotation.work import Work
from schemas import DatasetFolder

AUDIT = """CHECKS = CheckSet(
    audits=(
        Audit(
            "warmth", "Is this warm or cold?", "choice", "records",
            "SELECT record_id AS item_id, CASE WHEN score < 0.5 THEN 'low' ELSE 'high' END AS stratum, text, "
            "text AS answer FROM records",
            (Show("text"),), labels=("warm", "cold"), severity="drop", wrong="drop", judges=3, overlap=1.0,
        ),
    ),
"""
PEOPLE = ("ann@example.org", "ben@example.org", "cyd@example.org")


@pytest.fixture
def weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A dataset of another distribution, of 80 records in two strata, with an audit that drops."""
    name = "judgedweather"
    new(name, tmp_path)
    package = tmp_path / name / f"goldsmith_{name}"
    lines = [
        "record_id,text,score",
        *(f"r{i},{('warm', 'cold')[i % 3 == 0]},{i % 2 * 0.9 + i / 1000:.3f}" for i in range(80)),
    ]
    (package / "sample" / "records.csv").write_text("\n".join(lines) + "\n")
    checks = (package / "checks.py").read_text()
    checks = checks.replace("import Check, CheckSet", "import Audit, Check, CheckSet, Show")
    (package / "checks.py").write_text(checks.replace("CHECKS = CheckSet(\n", AUDIT))
    info = tmp_path / name / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[goldsmith.builders]\n{name} = goldsmith_{name}.builder:BUILDER\n")
    monkeypatch.syspath_prepend(str(tmp_path / name))
    importlib.invalidate_caches()
    yield name
    for module in [module for module in sys.modules if module.startswith(f"goldsmith_{name}")]:
        del sys.modules[module]


def answer(work: Path, file: Path) -> None:
    """Everyone finds the records of the stratum `low` that end in 4 wrong, and one of the others."""
    plan = Work(work).plan()
    with open(file, "w", newline="") as stream:
        writer = csv.DictWriter(stream, ["annotator", "item", "label"])
        writer.writeheader()
        for person, name in plan.people.items():
            for item in plan.sheet(person):
                assert item.answer
                right = item.answer["label"]
                wrong = item.stratum == "low" and item.item_id.endswith("4")
                label = {"warm": "cold", "cold": "warm"}[right] if wrong else right
                writer.writerow({"annotator": name, "item": item.item_id, "label": label})


def test_a_release_that_an_audit_took_rows_from_is_made_again(weather: str, tmp_path: Path) -> None:
    folder, work, release = (tmp_path / name for name in ("built", "work", "release"))
    run("build", weather, "-o", folder)
    people = [argument for name in PEOPLE for argument in ("-a", name)]
    run("audit", "plan", folder, "-o", work, *people)
    answer(work, tmp_path / "answers.csv")
    run("audit", "pull", work, "--from", tmp_path / "answers.csv")
    assert "NOT shown" in run("audit", "report", folder, work, code=1).output
    run("check", folder)
    run("card", folder)
    run("release", folder, "-o", release, "--version", "1.0.0")

    released = DatasetFolder(release)
    dropped = released.build["dropped"]
    assert dropped["audit.warmth.strata"] == {"records": 40}
    assert json.loads((release / "goldsmith.lock").read_text())["drops"] is True
    rows = [row for shard in released.all_shards("records") for row in pq.read_table(shard).to_pylist()]
    assert len(rows) == 40
    assert all(row["score"] >= 0.5 for row in rows)

    again = run("regenerate", release, "-o", tmp_path / "again")
    assert f"{weather} 1.0.0: the same rows" in again.output
    assert "2 of 2 data files are equal byte for byte" in again.output

    report = release / "audit" / "warmth" / "labels.parquet"
    report.write_bytes(report.read_bytes() + b" ")
    assert "is damaged" in run("regenerate", release, code=2).output
