"""Regions and grounding on cases whose answers are known by hand, the map of all ink among them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_probe import png

from builders.sketch import masks
from builders.sketch.render import CANVAS
from builders.sketch.scoring.grounding import Tally, Target, baselines
from builders.sketch.scoring.regions import (
    Grid,
    best_cells,
    best_rectangle,
    box_iou,
    cell_iou,
    components,
    lit,
    rectangles,
)
from builders.sketch.scoring.truth import Drawing

HALF = CANVAS // 2


def rectangle(x0, y0, x1, y1):
    mask = np.zeros((CANVAS, CANVAS), bool)
    mask[y0:y1, x0:x1] = True
    return mask


def drawing(**parts):
    """A drawing of these masks."""
    names = tuple(sorted(parts))
    boxes = []
    for name in names:
        x, y, width, height = masks.box(parts[name])
        boxes.append(np.array([[x, y, x + width, y + height]]))
    ink = np.logical_or.reduce(list(parts.values()))
    codes = tuple((masks.encode(parts[name]),) for name in names)
    return Drawing("d", "made/cat", None, "report", png(ink), names, codes, tuple(boxes))


@pytest.mark.parametrize("side", [1, 6, 7, 24, 37, CANVAS])
def test_cells_share_out_all_pixels_of_the_canvas(side):
    grid = Grid(side, side)
    assert grid.area.sum() == CANVAS * CANVAS
    row = np.arange(CANVAS) * side // CANVAS
    mask = np.random.default_rng(0).random((CANVAS, CANVAS)) < 0.3
    expected = np.zeros((side, side))
    np.add.at(expected, (row[:, None], row[None, :]), mask)
    assert (grid.counts(mask) == expected.ravel()).all()


def test_a_map_that_lights_exactly_the_part_has_iou_one():
    part = rectangle(0, 0, HALF, HALF)
    target = Target.of(drawing(a=part, b=rectangle(HALF, HALF, CANVAS, CANVAS)), ["a", "b"], Grid(2, 2))
    values = np.array([[[1.0, 0.2], [0.1, 0.3]]])
    got = target.agree(lit(values, 0.5), values)
    assert {unit: iou.tolist() for unit, iou in got.items()} == {
        "box": [[1, 0]],
        "mask": [[1, 0]],
        "ink": [[1, 0]],
    }


def test_units_differ_as_they_should_on_a_thin_line():
    """A line of 4 x 168 px in a lit quarter: the box is the line's own, the ink is all the part's."""
    line = rectangle(0, 0, HALF, 4)
    target = Target.of(drawing(a=line, b=rectangle(0, HALF, 4, CANVAS)), ["a"], Grid(2, 2))
    values = np.array([[[1.0, 0], [0, 0]]])
    got = target.agree(lit(values, 0.5), values)
    assert got["mask"][0, 0] == pytest.approx(4 / HALF)
    assert got["box"][0, 0] == pytest.approx(4 / HALF)
    assert got["ink"][0, 0] == 1


def test_the_map_of_all_ink():
    """Three parts of 1, 2 and 7 shares of the ink: all ink has IoU .1, .2 and .7 with them, and mAcc 1, 1/3, 1/3."""
    parts = {"a": rectangle(0, 0, 20, 40), "b": rectangle(100, 0, 120, 80), "c": rectangle(200, 0, 220, 280)}
    target = Target.of(drawing(**parts), ["a", "b", "c"], Grid(24, 24))
    got = baselines(target)["all_ink"]
    assert got["mask"] == pytest.approx([0.1, 0.2, 0.7], abs=1e-6)
    assert got["ink"] == pytest.approx([0.1, 0.2, 0.7], abs=1e-6)
    tally = Tally("all ink")
    tally.add("made/cat", ["a", "b", "c"], got)
    result = tally.result()
    assert result is not None
    values = {name: value.value for name, value in result.units["ink"].items()}
    assert values == pytest.approx({"miou": 1 / 3, "macc@0.1": 1, "macc@0.3": 1 / 3, "macc@0.5": 1 / 3}, abs=1e-6)


def test_the_other_baselines_by_hand():
    parts = {"a": rectangle(0, 0, HALF, HALF), "b": rectangle(HALF, HALF, CANVAS, CANVAS)}
    found = baselines(Target.of(drawing(**parts), ["a", "b"], Grid(2, 2)))
    assert found["whole_box"]["box"] == pytest.approx([0.25, 0.25])
    assert found["whole_box"]["mask"] == pytest.approx([0.25, 0.25])
    assert found["whole_box"]["ink"] == pytest.approx([0.5, 0.5])
    assert found["ceiling"]["mask"] == pytest.approx([1, 1])
    assert found["ceiling"]["box"] == pytest.approx([1, 1])
    radius = CANVAS / 4 * np.sqrt(2 * np.log(2))
    spot = np.pi * radius**2
    expected = (spot / 4) / (HALF * HALF + spot - spot / 4)
    assert found["centre"]["mask"] == pytest.approx([expected, expected], rel=0.01)
    again = baselines(Target.of(drawing(**parts), ["a", "b"], Grid(2, 2)))
    assert (found["random"]["mask"] == again["random"]["mask"]).all()


def test_macc_is_the_mean_over_classes_not_over_questions():
    tally = Tally("x")
    high, low = {unit: np.array([0.9]) for unit in ("box", "mask", "ink")}, None
    low = {unit: np.array([0.05]) for unit in ("box", "mask", "ink")}
    for _ in range(9):
        tally.add("made/cat", ["tail"], high)
    tally.add("made/cat", ["ear"], low)
    result = tally.result()
    assert result is not None
    assert result.units["box"]["macc@0.5"].value == 0.5
    assert (result.questions, result.classes, result.categories) == (10, 2, 1)


def test_a_threshold_is_reached_by_an_iou_that_equals_it():
    tally = Tally("x")
    tally.add("made/cat", ["tail"], {unit: np.array([0.5]) for unit in ("box", "mask", "ink")})
    result = tally.result()
    assert result is not None
    assert result.units["mask"]["macc@0.5"].value == 1


def test_the_interval_resamples_categories():
    """One category always right, one always wrong: a resample has 0, 1/2 or 1."""
    tally = Tally("x")
    for number in range(50):
        tally.add("made/cat", [f"p{number}"], {unit: np.array([0.9]) for unit in ("box", "mask", "ink")})
        tally.add("made/dog", [f"p{number}"], {unit: np.array([0.0]) for unit in ("box", "mask", "ink")})
    result = tally.result()
    assert result is not None
    value = result.units["ink"]["macc@0.3"]
    assert (value.low, value.value, value.high) == (0, 0.5, 1)


def test_the_rectangle_is_around_the_heaviest_component():
    """A large faint region and a small strong one, which touch the first only at a corner cell away."""
    values = np.zeros((1, 6, 6))
    values[0, 0:3, 0:3] = 0.6
    values[0, 5, 5] = 1.0
    assert rectangles(lit(values, 0.5), values, Grid(6, 6)).tolist() == [[0, 0, HALF, HALF]]
    values[0, 5, 5] = 1000
    assert rectangles(lit(values, 1e-4), values, Grid(6, 6)).tolist() == [[280, 280, CANVAS, CANVAS]]


def test_a_map_of_zeros_lights_nothing_and_has_no_rectangle():
    values = np.zeros((2, 6, 6))
    values[1, 0, 0] = 1
    region = lit(values, 0.5)
    assert region.sum((1, 2)).tolist() == [0, 1]
    assert rectangles(region, values, Grid(6, 6)).tolist() == [[0, 0, 0, 0], [0, 0, 56, 56]]


def test_components_touch_at_corners_and_never_across_maps():
    values = np.zeros((2, 4, 4))
    values[0, 0, 0] = values[0, 1, 1] = 1
    values[0, 3, 3] = values[1, 3, 3] = 2
    _, mass, of = components(values > 0, values)
    assert sorted(zip(of.tolist(), mass.tolist(), strict=True)) == [(0, 2), (0, 2), (1, 2)]


def test_objects_of_one_name_are_one_part():
    """A box on either of two trees is right, and the pixels of both are the part's."""
    one, two = rectangle(0, 0, 56, 56), rectangle(280, 280, CANVAS, CANVAS)
    boxes = (np.array([[0.0, 0, 56, 56], [280, 280, CANVAS, CANVAS]]),)
    codes = ((masks.encode(one), masks.encode(two)),)
    scene = Drawing("d", "made/park", None, "report", png(one | two), ("tree",), codes, boxes)
    values = np.zeros((1, 6, 6))
    values[0, 5, 5] = 1
    got = Target.of(scene, ["tree"], Grid(6, 6)).agree(values > 0, values)
    assert got["box"][0, 0] == 1
    assert got["mask"][0, 0] == 0.5


@given(arrays(np.int64, (5,), elements=st.integers(0, 9)), arrays(np.int64, (5,), elements=st.integers(0, 9)))
def test_the_ceiling_of_cells_is_the_best_of_all_regions(part, more):
    size = part + more
    every = np.array(list(itertools.product([False, True], repeat=5)))
    best = cell_iou(every, part[None].astype(float), size.astype(float)).max() if part.sum() else 0
    assert best_cells(part[None].astype(float), size.astype(float))[0] == pytest.approx(best)


@given(st.lists(st.integers(0, CANVAS), min_size=4, max_size=4, unique=True), st.sampled_from([2, 5, 6]))
def test_the_ceiling_of_boxes_is_the_best_of_all_rectangles_of_cells(sides, count):
    x0, x1, y0, y1 = (*sorted(sides[:2]), *sorted(sides[2:]))
    box = np.array([x0, y0, x1, y1], float)
    edges = Grid(count, count).edges[0]
    spans = [(a, b) for a, b in itertools.combinations(edges, 2)]
    every = np.array([[a, c, b, d] for a, b in spans for c, d in spans], float)
    assert best_rectangle(box, Grid(count, count)) == pytest.approx(float(box_iou(every, box[None]).max()))
