"""The two-criterion rule, the null, the band and the two halves, on cases with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_probe import CATEGORIES, dataset

from builders.sketch.scoring import locus
from builders.sketch.scoring.examine import examine
from builders.sketch.scoring.halves import Calibration, Group, Report, Selection
from builders.sketch.scoring.heads import elbow, rank_by_rule, spatial_entropy
from builders.sketch.scoring.select import choose, measure
from builders.sketch.scoring.truth import drawings
from schemas import GoldsmithError


def test_the_elbow_is_a_value_of_attention():
    """Seven heads with little and three with much; the order of the heads does not matter."""
    values = np.array([0.9, 0.01, 0.02, 0.03, 0.8, 0.04, 0.05, 0.06, 0.07, 0.85])
    threshold = elbow(values)
    assert threshold == 0.07
    assert elbow(values[::-1]) == threshold
    assert set(values[values > threshold]) == {0.8, 0.85, 0.9}


def test_an_elbow_of_equal_values_keeps_all():
    assert elbow(np.full(8, 0.25)) == 0.25
    assert elbow(np.array([0.1, 0.9])) == 0.1


def test_the_published_bug_would_choose_late_heads():
    """Heads 0 to 2 have much attention. A head's number at the elbow is a threshold that only late heads pass."""
    attention = np.array([0.9, 0.85, 0.8, *np.linspace(0.01, 0.1, 29)])
    number_at_elbow = int(np.flatnonzero(attention == elbow(attention))[0])
    by_number = set(range(number_at_elbow, 32))
    by_value = set(np.flatnonzero(attention > elbow(attention)).tolist())
    assert not by_number & {0, 1, 2}
    assert by_value == {0, 1, 2}


def one_map(*cells, size=6):
    values = np.zeros((size, size))
    for y, x, value in cells:
        values[y, x] = value
    return values


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (one_map((2, 2, 1), (2, 3, 1), (3, 2, 1)), 0.0),
        (one_map((1, 1, 1), (4, 4, 1)), np.log(2)),
        (one_map((1, 1, 1), (2, 2, 1)), 0.0),
        (one_map((0, 0, 1), (0, 4, 1), (4, 0, 1), (4, 4, 1)), np.log(4)),
        (np.full((6, 6), 0.1), np.inf),
    ],
)
def test_spatial_entropy_by_hand(values, expected):
    assert spatial_entropy(values[None])[0][0] == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1, 1e-3, 1e-7])
def test_spatial_entropy_does_not_depend_on_the_scale(scale):
    """With a threshold of .001, as released, two spots of .0001 would be none."""
    assert spatial_entropy(one_map((1, 1, scale), (4, 4, scale))[None])[0][0] == pytest.approx(np.log(2))


def test_a_map_that_fills_the_bottom_row_is_seen():
    values = np.zeros((2, 6, 6))
    values[0, 5, :] = 1
    values[1, 5, :5] = 1
    assert spatial_entropy(values)[1].tolist() == [True, False]


def test_the_rule_needs_attention_focus_and_no_bottom_row():
    """Head 0: much attention in one place. 1: much, scattered. 2: much, on the bottom row. 3 to 9: little, in one."""
    queries = 20
    sums = np.tile([0.8, 0.8, 0.8, *np.linspace(0.01, 0.05, 7)], (queries, 1))
    entropy = np.tile([0.1, 2.0, 0.0, *np.zeros(7)], (queries, 1))
    bottom = np.zeros((queries, 10), bool)
    bottom[:, 2] = True
    order = rank_by_rule(sums, entropy, bottom)
    assert order.tolist() == [0, 1, 2]


def test_heads_of_equal_attention_are_told_apart_by_focus():
    entropy = np.tile([0.5, 0.2, np.inf, 0.9], (5, 1))
    assert rank_by_rule(np.full((5, 4), 0.5), entropy, np.zeros((5, 4), bool)).tolist() == [1, 0, 3, 2]


def test_a_score_is_the_mean_over_classes():
    blocks = [np.array([[[1.0, 0], [0, 0.5]]]), np.array([[[0.0]]])]
    classes = [[("cat", "ear"), ("cat", "tail")], [("cat", "ear")]]
    null = locus.shuffled_labels(blocks, locus.class_weights(classes), rounds=19)
    assert null.score[0] == pytest.approx((0.5 + 0.5) / 2)


def test_a_head_that_always_looks_at_the_same_place_is_not_above_the_null():
    """Its map covers a part of the drawing entirely, whatever is asked; another head finds what is asked."""
    rng = np.random.default_rng(0)
    blocks = []
    for _ in range(20):
        same = np.tile(rng.random(3), (3, 1))
        blocks.append(np.stack([same, np.eye(3)]))
    weights = locus.class_weights([[("cat", str(part)) for part in range(3)]] * 20)
    null = locus.shuffled_labels(blocks, weights)
    assert null.excess[0] == 0
    assert null.p[0] == 1
    assert null.p[1] == pytest.approx(1 / (locus.ROUNDS + 1))
    assert null.chance[1] == pytest.approx(1 / 3, abs=0.02)


def test_shuffled_labels_alarm_falsely_in_no_more_than_their_share():
    """200 models of 64 heads without any grounding. A fair test at .05 has more than 20 alarms in .1 % of such runs."""
    alarms = 0
    weights = locus.class_weights([[("cat", str(part)) for part in range(3)]] * 12)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        blocks = [rng.random((64, 3, 3)) for _ in range(12)]
        alarms += (locus.shuffled_labels(blocks, weights, rounds=99, seed=seed).p <= locus.ALPHA).any()
    assert 1 <= alarms <= 20


@pytest.mark.parametrize(
    ("mass", "expected"),
    [
        ([0, 0, 5, 5, 0, 0], (2, 3)),
        ([1, 0, 8, 0, 0, 1], (2, 2)),
        ([4, 0, 0, 0, 0, 4], (0, 5)),
        ([1, 4, 4, 1, 0, 0], (1, 2)),
        ([3, 3, 3, 0, 0, 0], (0, 2)),
        ([0, 0, 0, 0, 0, 0], None),
    ],
)
def test_the_band_is_the_shortest_run_with_four_fifths(mass, expected):
    excess = np.array(mass, float)[:, None] @ np.full((1, 4), 0.25)
    found = locus.band(excess)
    assert (None if found is None else (found.first, found.last)) == expected


def test_depths():
    found = locus.band(np.array([[0.0], [0], [1], [1], [0], [0], [0], [0]]))
    assert found is not None
    assert found.depth == (0.25, 0.5)
    assert locus.centre(np.array([[0.0], [0], [1], [1], [0], [0], [0], [0]])) == pytest.approx(3 / 8)
    assert locus.centre(np.zeros((4, 2))) is None


def test_the_inflation_of_selecting_and_reporting_on_the_same_drawings():
    """1,024 heads that are right with chance .4, each. The best of them on 100 questions looks like .55; on others it
    is what it is."""
    rng = np.random.default_rng(0)
    same, other = [], []
    for _ in range(100):
        hits = rng.random((2, 1024, 100)) < 0.4
        best = hits[0].mean(1).argmax()
        same.append(hits[0, best].mean())
        other.append(hits[1, best].mean())
    assert np.mean(same) == pytest.approx(0.56, abs=0.01)
    assert np.mean(other) == pytest.approx(0.4, abs=0.015)


class Noise:
    """Maps of many heads that know nothing."""

    size = (8, 32, 6, 6)

    def __init__(self, seed=0):
        self._seed = seed

    def groups(self, drawings):
        for name, drawing in sorted(drawings.items()):
            rng = np.random.default_rng([self._seed, *name.encode()])
            maps = rng.random((3, 256, 6, 6)) ** 8
            yield Group(drawing, drawing.parts, maps, maps.sum((2, 3)))


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = dataset(tmp_path_factory.mktemp("data"), drawings=8)
    names = {f"made/{category}/{number}" for category in CATEGORIES for number in range(8)}
    return drawings(folder, names)


@pytest.fixture(scope="module")
def choice(known):
    return choose(Calibration(Noise(), known))


def test_noise_chosen_on_one_half_is_chance_on_the_other(known, choice):
    """What its own drawings say of it is far above; what is reported is within chance."""
    found = examine(choice, Report(Noise(), known))
    best = found.findings["best_iou"]
    low, middle, high = found.random
    assert best.apparent > high
    assert low <= best.grounding.units["ink"]["miou"].value <= high
    assert best.p_shuffled > 0.05
    assert best.apparent - middle > 3 * (best.grounding.units["ink"]["miou"].value - middle)


def test_a_selection_is_made_of_a_calibration_half_alone(known):
    noise = Noise()
    with pytest.raises(TypeError, match="selected on a Calibration"):
        Selection(Report(noise, known), ("x",), np.ones((1, 256)), np.array([0.5]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="selected on a Calibration"):
        choose(Report(noise, known))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="only a Selection"):
        Report(noise, known).admit(np.ones((1, 256)))  # type: ignore[arg-type]


def test_a_half_has_its_own_split_alone(known):
    noise = Noise()
    calibration, report = Calibration(noise, known), Report(noise, known)
    assert calibration.seen.categories == {"ant", "bee"}
    assert report.seen.categories == {"cat", "dog"}
    assert not calibration.seen.drawings & report.seen.drawings


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"category": "made/ant"}, "the category ant"),
        ({"category": "other/ant"}, "the category ant"),
        ({"drawer": "made/ant0"}, "the drawer made/ant0"),
    ],
)
def test_a_selection_that_has_seen_the_category_or_drawer_is_refused(known, choice, change, what):
    name = next(name for name, each in known.items() if each.split == "report")
    mixed = {**known, name: replace(known[name], **change)}
    with pytest.raises(GoldsmithError, match=f"both have {what}"):
        examine(choice, Report(Noise(), mixed))
    Report(Noise(), known).admit(choice.selection)


def test_a_half_without_maps_is_an_error_in_one_line(known):
    some = {name: each for name, each in known.items() if each.split == "report"}
    with pytest.raises(GoldsmithError, match="none is of the calibration half"):
        measure(Calibration(Noise(), some))
