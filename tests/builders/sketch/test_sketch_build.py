"""The sample from its generator to rows: accounting, splits, questions, the model's answers, and datasets reads it."""

from __future__ import annotations

import filecmp
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")

from made_sketch import sample, some
from scipy.stats import binomtest

from builders.build import build
from builders.sketch import make_sample, masks, splits
from builders.sketch.builder import BUILDER
from builders.sketch.render import CANVAS
from builders.sketch.sample_model import THINGS
from builders.sketch.schema import SKETCH
from builders.sources import Sources
from schemas import GoldsmithError


def test_the_committed_sample_is_what_its_script_makes(tmp_path: Path) -> None:
    make_sample.make(tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    kept = sorted(path.relative_to(make_sample.FOLDER) for path in make_sample.FOLDER.rglob("*") if path.is_file())
    assert made == [path for path in kept if path != Path("sources.toml")]
    different = [path for path in made if not filecmp.cmp(tmp_path / path, make_sample.FOLDER / path, shallow=False)]
    assert different == []
    assert sum((make_sample.FOLDER / path).stat().st_size for path in kept) < 1_000_000


def test_every_record_became_a_row_was_merged_or_was_refused() -> None:
    made = sample()
    assert {pair: made.became[pair] for pair in made.read} == dict(made.read)
    assert made.reasons("spg") == {
        "duplicate_key": 1, "bad_json": 1, "uneven_rows": 1, "not_finite": 1, "unknown_label": 1,
    }  # fmt: skip
    assert made.reasons("creative") == {"refused_worker": 1}
    assert [each.place for each in made.rejects if each.reason == "bad_json"] == ["house_raw.ndjson line 52"]
    mended = [row["key"] for row in made.tables["sketches"] if "label_row_twice" in row["repairs"]]
    assert len(mended) == 2


def test_no_category_and_no_drawer_is_in_both_splits_and_both_have_parts() -> None:
    tables = sample().tables
    for column in ("category", "drawer"):
        sides = defaultdict(set)
        for row in tables["sketches"]:
            if row[column]:
                sides[row[column]].add(row["split"])
        assert all(len(each) == 1 for each in sides.values())
    assert {row["split"] for row in tables["parts"]} == {"calibration", "report"}
    by_id = {row["sketch_id"]: row["split"] for row in tables["sketches"]}
    assert all(row["_split"] == row["split"] == by_id[row["sketch_id"]] for row in tables["parts"])
    assert all(row["_split"] == by_id[row["sketch_id"]] for row in tables["steps"])


def test_splits_follow_drawers_and_stay_when_a_category_is_added() -> None:
    pairs = [("cat", "ann"), ("dog", "ann"), ("dog", "ben"), ("ant", "cem"), ("bee", None), ("elk", None)]
    split = splits.assign(pairs)
    assert split["cat"] == split["dog"]
    assert set(split.values()) == {"calibration", "report"}
    many = [(f"c{number}", None) for number in range(200)]
    first = splits.assign(many)
    more = splits.assign([*many, ("new", None)])
    assert {name: more[name] for name in first} == first
    assert 0.3 < list(first.values()).count("calibration") / 200 < 0.5
    assert set(splits.assign([("one", None), ("two", None)]).values()) == {"calibration", "report"}
    assert len(set(splits.assign([("one", "ann"), ("two", "ann")]).values())) == 1


def test_what_is_measured_agrees_with_the_model_that_drew() -> None:
    tables = sample().tables
    summaries = {row["category"]: row for row in tables["order_summaries"] if row["source"] == "spg"}
    assert set(summaries) == set(THINGS)
    entropies = [summaries[name]["entropy"] for name in THINGS]  # From a firm order to none.
    assert entropies == sorted(entropies)
    for name in ("house", "flower", "fish"):
        assert summaries[name]["kemeny"] == THINGS[name].order
        assert summaries[name]["resolved"]
    assert not summaries["clock"]["resolved"]
    taus = [summaries[name]["human_tau"] for name in THINGS]
    assert taus[:4] == sorted(taus[:4], reverse=True)
    assert max(taus[4:]) < taus[3] / 2  # A coin, or nearly.
    for row in tables["orders"]:
        if row["source"] == "spg" and row["category"] != "clock":
            truth = THINGS[row["category"]].precedence(row["part_a"], row["part_b"])
            assert binomtest(row["n_a_first"], row["n"], truth).pvalue > 1e-4
    (birds,) = (row for row in tables["order_summaries"] if row["source"] == "creative")
    assert "eye" not in birds["parts"]  # Prescribed.
    assert birds["kemeny"] == ["body", "beak", "head", "wings", "tail"]


def test_questions_come_in_pairs_and_name_real_parts() -> None:
    tables = sample().tables
    parts = {(row["sketch_id"], row["part_index"]): row["part"] for row in tables["parts"]}
    pairs = defaultdict(list)
    for row in tables["prompts"]:
        if row["kind"] == "spatial":
            assert parts[row["sketch_id"], row["part_index"]] == row["part"]
            assert row["part"] in row["question"]
        else:
            pairs[row["source"], row["category"], row["sketch_id"], row["seed"]].append(row)
            assert ", ".join(row["options"]) in row["question"]
    assert all(len(pair) == 2 for pair in pairs.values())
    assert all(one["options"] == other["options"][::-1] for one, other in pairs.values())
    words = [row for row in tables["prompts"] if row["kind"] == "temporal" and not row["sketch_id"]]
    house = [row for row in words if (row["source"], row["category"]) == ("spg", "house")]
    assert len(house) >= 20  # Enough for the model's own variance.
    assert len({tuple(row["options"]) for row in house}) > 10
    assert not [row for row in tables["prompts"] if "friss" in row["question"]]  # An id is no subject.


def test_masks_are_pixels_of_the_picture() -> None:
    tables = some()
    owned: dict[str, np.ndarray] = {}
    for row in tables["parts"]:
        mask, ink = (masks.decode(row[name], CANVAS, CANVAS) for name in ("mask", "ink"))
        assert (mask.sum(), ink.sum()) == (row["mask_area"], row["ink_area"])
        assert not (mask & ~ink).any()
        assert masks.box(ink) == row["box"]
        seen = owned.setdefault(row["sketch_id"], np.zeros((CANVAS, CANVAS), bool))
        assert not (seen & mask).any()
        seen |= mask
    areas = {row["sketch_id"]: row["ink_area"] for row in tables["sketches"]}
    assert all(seen.sum() == areas[name] for name, seen in owned.items())  # Here every stroke has a part.


def test_a_build_in_workers_is_equal_and_datasets_reads_every_table(tmp_path: Path) -> None:
    from datasets import load_dataset

    build(BUILDER, Sources.load(BUILDER.folder, sample=True, offline=True), tmp_path / "it", workers=2, progress=False)
    for table in SKETCH.tables:
        place = tmp_path / "it" / "data" / table.name
        files = {split: sorted(map(str, place.glob(f"{split}-*"))) for split in table.splits}
        for split, paths in files.items():
            built = pa.concat_tables([pq.read_table(path, schema=table.arrow) for path in paths]).to_pylist()
            there = [row for row in sample().tables[table.name] if row["_split"] == split]
            assert built == [{name: row[name] for name in table.names} for row in there]
        found = load_dataset("parquet", data_files=files, cache_dir=str(tmp_path / "cache"))
        row = found["report"][0]
        assert set(row) == set(table.names)
        if "image" in row:
            assert row["image"].size == (CANVAS, CANVAS)


def test_a_build_without_a_source_says_which_there_are(tmp_path: Path) -> None:
    sources = Sources.load(BUILDER.folder, offline=True)
    with pytest.raises(GoldsmithError, match=r"no source is given: give --source NAME=FOLDER of spg, .*, or --sample"):
        build(BUILDER, sources, tmp_path / "it", progress=False)
    given = Sources.load(BUILDER.folder, offline=True, redistributable_only=True, overrides={"spg": tmp_path})
    with pytest.raises(GoldsmithError, match="no source that may be passed on is given"):
        build(BUILDER, given, tmp_path / "it", progress=False)
