"""People box the parts of drawings that are named to them: right, and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")

from audit_way import answer, check, results, run, wrong  # pyright: ignore[reportMissingImports]
from made_sketch import folder, some

from builders.sketch.audits import BOXES
from builders.sketch.render import CANVAS
from quality.annotation.work import Work


def test_people_box_the_parts_that_are_named(tmp_path: Path) -> None:
    tables, built, work = some(), tmp_path / "built", tmp_path / "work"
    folder(built, tables)
    run("audit", "plan", built, "boxes", "-a", "ann", "-a", "ben", "-o", work)
    plan = Work(work).plan()
    boxes = {(row["sketch_id"].replace("/", "%2F"), str(row["part_index"])): row["box"] for row in tables["parts"]}
    judged = []
    for person, name in plan.people.items():
        for item in plan.sheet(person):
            assert item.answer
            (drawn,) = item.answer["boxes"]
            judged.append((name, item, item.answer))
            if item.role == "gold":
                every = [
                    box for (sketch, _), box in boxes.items() if f"all of {sketch.replace('%2F', '/')}" == item.item_id
                ]
                low = [min(box[side] for box in every) for side in (0, 1)]
                high = [max(box[side] + box[side + 2] for box in every) for side in (0, 1)]
                assert drawn[:2] == pytest.approx([100 * side / CANVAS for side in low])
                ends = [drawn[side] + drawn[side + 2] for side in (0, 1)]
                assert ends == pytest.approx([100 * side / CANVAS for side in high])
                continue
            expected = boxes[tuple(item.item_id.rsplit("/", 1))]  # pyright: ignore[reportArgumentType]
            assert drawn[:4] == pytest.approx([100 * side / CANVAS for side in expected])
    assert sum(item.role == "gold" for item in plan.items) == BOXES.golds
    answer(work, tmp_path, judged)
    run("audit", "report", built, work)
    check(built)
    assert results(built)["audit.boxes"]["status"] == "passed"
    answer(
        work, tmp_path, [(who, item, said if item.role == "gold" else wrong(BOXES, said)) for who, item, said in judged]
    )
    assert "NOT shown" in run("audit", "report", built, work, code=1).output
    check(built)
    assert results(built)["audit.boxes"]["status"] == "failed"
