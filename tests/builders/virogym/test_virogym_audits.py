"""People are asked whether rows say what their lines say; some gold rows surely do not."""

from __future__ import annotations

from pathlib import Path

from builders.build import build
from builders.sources import Sources
from builders.virogym.audits import RECORDS
from builders.virogym.builder import BUILDER
from quality.annotation.plan import plan
from schemas import DatasetFolder


def test_gold_items_are_rows_with_another_raw_value(tmp_path: Path) -> None:
    build(BUILDER, Sources.load(BUILDER.folder, sample=True), tmp_path / "built", progress=False)
    made = plan(DatasetFolder(tmp_path / "built"), BUILDER.checks, RECORDS, ["ann"], tmp_path / "work")
    items = {item.item_id: item for item in made.items}
    golds = [item for item in made.items if item.role == "gold"]
    assert len(golds) == RECORDS.golds
    for gold in golds:
        assert gold.answer == {"label": "no"}
        row = items.get(gold.item_id.removeprefix("other "))
        if row is not None:
            assert gold.shown[1:] == row.shown[1:]
            assert gold.shown[0] != row.shown[0]
            assert gold.shown[0].partition(", score ")[0] == row.shown[0].partition(", score ")[0]
