"""People redraw masks: an audit of the sample's objects and parts, from its plan to a release."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")

from audit_way import go  # pyright: ignore[reportMissingImports]
from click.testing import CliRunner

from builders.build import build
from builders.sources import Sources
from builders.vigor.audits import MASKS
from builders.vigor.builder import BUILDER
from builders.vigor.masks import Mask
from goldsmith import main
from quality.annotation import kinds
from quality.annotation.work import Work
from schemas import DatasetFolder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One source of the sample."""
    out = tmp_path_factory.mktemp("vigor") / "built"
    paco = {"paco": BUILDER.folder / "sample" / "paco"}
    build(BUILDER, Sources.load(BUILDER.folder, overrides=paco), out, progress=False)
    return out


def test_masks_that_people_redraw_pass_and_empty_ones_do_not(built: Path, tmp_path: Path) -> None:
    go(built, MASKS, tmp_path)


def test_the_answer_of_an_item_is_the_mask_of_its_row(built: Path, tmp_path: Path) -> None:
    planned = CliRunner().invoke(main, ["audit", "plan", str(built), "masks", "-a", "ann", "-o", str(tmp_path / "w")])
    assert planned.exit_code == 0, planned.output
    rows = {
        row["grounding_id"]: row
        for path in DatasetFolder(built).all_shards("groundings")
        for row in pq.read_table(path, columns=["grounding_id", "counts", "height", "width"]).to_pylist()
    }
    items = Work(tmp_path / "w").plan().items
    assert len(items) > 5
    assert {item.role for item in items} == {"sample", "gold"}
    for item in items:
        row = rows[item.item_id]
        assert item.answer
        assert item.size == [row["width"], row["height"]]
        expected = Mask(row["height"], row["width"], row["counts"]).decode() > 0
        assert (kinds.masks_of(item.answer)["region"] == expected).all()
