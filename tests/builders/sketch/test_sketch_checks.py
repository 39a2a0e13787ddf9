"""Each check of the sketch probes finds the defect it is meant for, and finds nothing in the same tables without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")

from made_sketch import Row, Tables, failed, folder, run, sample, some

from builders.sketch import masks
from builders.sketch.checks import CHECKS
from builders.sketch.render import CANVAS

PLANTS: list[Any] = []
CLEAN = {"points_outside_the_canvas": 1, "nearly_same_drawing": 70}
"""What the tables without a plant fail: one of the sample's scenes is drawn so, and its drawings are of few shapes."""


def plant(check: str, failures: int = 1) -> Callable[[Callable[[Tables], None]], Callable[[Tables], None]]:
    """Register a function that plants a defect which `check` must find, in so many rows."""

    def keep(function: Callable[[Tables], None]) -> Callable[[Tables], None]:
        PLANTS.append(pytest.param(check, function, failures, id=f"{check}-{function.__name__}"))
        return function

    return keep


def first(rows: list[Row], **wanted: Any) -> Row:
    """The first row with these values."""
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


def test_clean_tables_fire_nothing_but_what_the_sample_holds(tmp_path: Path) -> None:
    results = run(folder(tmp_path, some()))
    assert failed(results) == CLEAN
    assert not [name for name, result in results.items() if result.status == "not_applicable"]


def test_the_whole_sample_fires_what_is_planted_in_it(tmp_path: Path) -> None:
    results = run(folder(tmp_path, sample().tables))
    assert failed(results) == {
        "points_outside_the_canvas": 2,
        "parts_without_names": 10,
        "nearly_same_drawing": 235,
        "nearly_same_drawing.leakage": 37,
    }
    spearman = results["entropy_against_human_tau"].figures[0]
    assert spearman.subject == "spg"
    assert spearman.value < -0.9


@pytest.mark.parametrize(("check", "defect", "failures"), PLANTS)
def test_check_finds_its_defect(check: str, defect: Callable[[Tables], None], failures: int, tmp_path: Path) -> None:
    tables = some()
    defect(tables)
    after = failed(run(folder(tmp_path, tables), check)).get(check, 0)
    assert after - CLEAN.get(check, 0) == failures


def test_every_check_has_a_plant() -> None:
    figures = {"order_entropy", "human_tau", "repaired_drawings", "recognized_share"}  # Reported, never failing.
    assert {plant.values[0] for plant in PLANTS} | figures == {check.name for check in CHECKS.checks}
    assert all(isinstance(check.meaning, str) for check in CHECKS.checks if dataclasses.is_dataclass(check))


@plant("nearly_same_drawing")
def _a_drawing_traced_elsewhere(tables: Tables) -> None:
    x, y = [0.0, 90, 10, 80, 95, 30, 5, 60], [0.0, 15, 80, 95, 40, 50, 30, 70]
    traced = ([50 + 0.5 * value for value in x], [9 + 0.5 * value for value in y])
    for name, (across, down) in {"x/original": (x, y), "x/traced": traced}.items():
        stroke = {"x": across, "y": down, "t": []}
        tables["sketches"].append({**tables["sketches"][0], "sketch_id": name, "strokes": [stroke]})


@plant("stroke_rows_differ")
def _a_missing_y(tables: Tables) -> None:
    tables["sketches"][0]["strokes"][0]["y"].pop()


@plant("stroke_rows_differ")
def _a_missing_time(tables: Tables) -> None:
    first(tables["sketches"], source="omniglot")["strokes"][0]["t"].pop()


@plant("counts_of_a_drawing_differ")
def _a_part_gone(tables: Tables) -> None:
    tables["parts"].remove(first(tables["parts"], category="house"))


@plant("counts_of_a_drawing_differ")
def _a_step_gone(tables: Tables) -> None:
    tables["steps"].pop()


@plant("counts_of_a_drawing_differ")
def _a_stroke_more_than_counted(tables: Tables) -> None:
    tables["sketches"][0]["n_strokes"] += 1


@plant("parts_out_of_order", 2)
def _two_parts_exchanged(tables: Tables) -> None:
    one, other = (
        row for row in tables["parts"] if row["sketch_id"] == tables["parts"][0]["sketch_id"] and row["part_index"] < 2
    )
    one["part_index"], other["part_index"] = 1, 0


@plant("strokes_of_a_part_are_wrong")
def _a_stroke_that_is_not_there(tables: Tables) -> None:
    row = tables["parts"][0]
    row["strokes"] = [*row["strokes"], 99]
    row["last_stroke"] = 99


@plant("strokes_of_a_part_are_wrong")
def _a_first_stroke_that_is_not_the_first(tables: Tables) -> None:
    tables["parts"][0]["first_stroke"] += 1


@plant("stroke_of_two_parts")
def _a_stroke_taken_twice(tables: Tables) -> None:
    one, other = tables["parts"][0], tables["parts"][1]
    other["strokes"] = sorted({*other["strokes"], *one["strokes"][:1]})


@plant("steps_do_not_grow")
def _a_step_too_early(tables: Tables) -> None:
    first(tables["steps"], step=1)["n_strokes"] = 1


@plant("steps_do_not_grow")
def _a_step_of_another_part(tables: Tables) -> None:
    tables["steps"][0]["part"] = "moustache"


@plant("areas_disagree")
def _more_owned_than_touched(tables: Tables) -> None:
    row = first(tables["parts"], part_index=1)
    row["ink_area"] = row["mask_area"] - 1


@plant("areas_disagree")
def _a_box_outside(tables: Tables) -> None:
    tables["parts"][0]["box"] = [300.0, 300.0, 40.0, 40.0]


@plant("areas_disagree")
def _more_owned_than_ink(tables: Tables) -> None:
    row = next(row for row in tables["sketches"] if row["n_parts"])
    row["ink_area"] = 1


@plant("runs_are_not_the_area")
def _a_pixel_more(tables: Tables) -> None:
    tables["parts"][0]["mask_area"] -= 1


@plant("runs_are_not_the_area")
def _runs_of_a_smaller_canvas(tables: Tables) -> None:
    row = tables["parts"][0]
    mask = masks.decode(row["ink"], CANVAS, CANVAS)[:, :-1]
    row["ink"], row["ink_area"] = masks.encode(np.ascontiguousarray(mask)), int(mask.sum())


@plant("runs_are_not_the_area")
def _runs_cut_off(tables: Tables) -> None:
    tables["parts"][0]["mask"] = tables["parts"][0]["mask"][:-2]


@plant("split_says_another")
def _a_wrong_split_column(tables: Tables) -> None:
    row = tables["sketches"][0]
    row["split"] = "report" if row["split"] == "calibration" else "calibration"


@plant("category_in_both_splits", 46)
def _a_house_on_the_other_side(tables: Tables) -> None:
    row = first(tables["sketches"], category="house")
    row["split"] = "report" if row["split"] == "calibration" else "calibration"


@plant("drawer_in_both_splits", 2)
def _a_drawer_on_both_sides(tables: Tables) -> None:
    for split in ("calibration", "report"):
        first(tables["sketches"], split=split)["drawer"] = "someone"


@plant("drawing_in_both_splits", 2)
def _the_same_key_on_both_sides(tables: Tables) -> None:
    for split in ("calibration", "report"):
        first(tables["sketches"], split=split, source="spg")["key"] = "123"


@plant("same_picture_twice")
def _a_copy(tables: Tables) -> None:
    one, other = [row for row in tables["sketches"] if row["category"] == "house"][:2]
    other["image"] = one["image"]


@plant("parts_without_names")
def _a_number_for_a_name(tables: Tables) -> None:
    tables["parts"][0]["part"] = "part 3"


@plant("part_drawn_over")
def _nothing_to_be_seen(tables: Tables) -> None:
    tables["parts"][0]["mask_area"] = 0


@plant("points_outside_the_canvas")
def _a_point_outside(tables: Tables) -> None:
    first(tables["sketches"], category="friss scene 3")["strokes"][0]["x"][0] = -3.0


@plant("longer_than_the_game")
def _a_minute(tables: Tables) -> None:
    tables["sketches"][0].update(source="quickdraw", duration_ms=60_000)


@plant("orders_of_other_drawings")
def _a_count_that_is_not_so(tables: Tables) -> None:
    tables["orders"][0]["n_a_first"] += 1


@plant("orders_of_other_drawings", 10)
def _a_drawing_withdrawn(tables: Tables) -> None:
    house = next(row for row in tables["sketches"] if row["category"] == "house" and row["n_parts"] == 5)
    for name in ("sketches", "parts", "steps"):
        tables[name] = [row for row in tables[name] if row["sketch_id"] != house["sketch_id"]]


@plant("summary_of_other_drawings")
def _a_drawing_withdrawn_from_its_summary(tables: Tables) -> None:
    _a_drawing_withdrawn(tables)


@plant("order_is_no_permutation")
def _a_part_twice(tables: Tables) -> None:
    row = first(tables["order_summaries"], category="house")
    row["kemeny"] = [*row["kemeny"][:-1], row["kemeny"][0]]


@plant("order_against_the_majority", 2)
def _neighbours_exchanged(tables: Tables) -> None:
    for row in tables["order_summaries"]:
        row["kemeny"] = [row["kemeny"][1], row["kemeny"][0], *row["kemeny"][2:]]


@plant("shuffle_without_its_reverse", 2)
def _the_reverse_is_shuffled(tables: Tables) -> None:
    row = first(tables["prompts"], kind="temporal", reverse=True)
    row["options"] = [*row["options"][1:], row["options"][0]]


@plant("shuffle_without_its_reverse")
def _no_reverse(tables: Tables) -> None:
    tables["prompts"].remove(first(tables["prompts"], kind="temporal", reverse=True))


@plant("question_about_no_part")
def _a_part_that_is_not_drawn(tables: Tables) -> None:
    first(tables["prompts"], kind="spatial")["part"] = "moustache"


@plant("entropy_against_human_tau")
def _people_agree_most_where_orders_vary(tables: Tables) -> None:
    row = tables["order_summaries"][0]
    tables["order_summaries"] = [{**row, "category": f"c{n}", "entropy": n / 10, "human_tau": n / 10} for n in range(5)]


@plant("calibration_share")
def _everything_is_reported(tables: Tables) -> None:
    for row in tables["sketches"]:
        row["split"] = "report"
