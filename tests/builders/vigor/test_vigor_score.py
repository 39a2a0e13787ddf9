"""The scorer: hand-made cases with known answers, for each metric, level and form of evidence."""

from __future__ import annotations

import copy
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")

from builders.build import build
from builders.sources import Sources
from builders.vigor import masks
from builders.vigor.builder import BUILDER
from builders.vigor.schema import CONCEPTS, GROUNDINGS, IMAGES, VIGOR
from builders.vigor.scoring import evidence, metrics
from builders.vigor.scoring.score import score
from schemas import DatasetFolder, GoldsmithError

SIZE = 40
LEVELS = {"low": "red", "intermediate": "straight edge", "object": "dog", "part": "ear", "motion": "moving object"}


@pytest.fixture
def folder(tmp_path):
    """One picture, 40 x 40: a dog in the upper left quarter, a cat in the lower right, one concept of each other level
    where the dog is, `dog left of cat`; no bat; a bird without a region."""
    upper = masks.from_box((0, 0, 20, 20), SIZE, SIZE)
    lower = masks.from_box((20, 20, 20, 20), SIZE, SIZE)
    rows = [_row(f"g:{level}", f"{level}/{lemma}", level, mask=upper) for level, lemma in LEVELS.items()]
    rows.append(_row("g:cat", "object/cat", "object", mask=lower))
    rows.append(_row("g:bat", "object/bat", "object", truth="absent"))
    rows.append(_row("g:bird", "object/bird", "object"))
    rows.append(_row("g:left", "relation/left of", "relation", subject_id="g:object", object_id="g:cat"))
    images = [
        {
            **dict.fromkeys(IMAGES.names),
            "image_id": "p",
            "height": SIZE,
            "width": SIZE,
            "source": "x",
            "file_name": "p.png",
            "licence": "CC0-1.0",
            "pixels_allowed": True,
        }
    ]
    concepts = [
        {
            **dict.fromkeys(CONCEPTS.names),
            "concept_id": name,
            "level": name.split("/")[0],
            "lemma": name.split("/")[1],
            "synonyms": [],
            "sources": [],
        }
        for name in dict.fromkeys(row["concept_id"] for row in rows)
    ]
    concepts.append({**concepts[0], "concept_id": "object/house", "level": "object", "lemma": "house"})
    for table, content in ((IMAGES, images), (CONCEPTS, concepts), (GROUNDINGS, rows)):
        path = tmp_path / "data" / table.name / "test-00000-of-00001.parquet"
        path.parent.mkdir(parents=True)
        names = [name for name in table.names if name not in ("votes", "image", "frames")]
        schema = pa.schema([table.arrow.field(name) for name in names])
        pq.write_table(pa.Table.from_pylist([{name: row[name] for name in names} for row in content], schema), path)
    build = {
        "format": 1,
        "dataset": "vigor",
        "version": "1",
        "schema": VIGOR.to_json(),
        "files": [],
        "sources": [],
        "accounting": [],
    }
    (tmp_path / "build.json").write_text(json.dumps(build))
    return DatasetFolder(tmp_path)


def _row(name, concept, level, mask=None, truth="present", **more):
    row = {
        **dict.fromkeys(GROUNDINGS.names),
        "grounding_id": name,
        "image_id": "p",
        "concept_id": concept,
        "level": level,
        "truth": truth,
        "origin": "reused",
        "status": "reused",
        "source": "x",
        "origin_ids": [],
        "crowd": False,
        "exhaustive": True,
    }
    if mask is not None:
        row |= {"counts": mask.counts, "height": SIZE, "width": SIZE, "area": mask.area, "mask_box": list(mask.box)}
    return {**row, **more}


def _score(folder, *answers):
    path = folder.path / "predictions.jsonl"
    path.write_text("\n".join(json.dumps({"image_id": "p", **answer}) for answer in answers))
    return score(folder, path)


def _run(folder, *answers):
    return {level.name: level for level in _score(folder, *answers).levels}


def _means(level):
    return {name: round(value.mean, 4) for name, value in level.metrics.items()}


PERFECT = {"pointing": 1, "energy": 1, "iou": 1, "aupr": 1}
UPPER = masks.from_box((0, 0, 20, 20), SIZE, SIZE)
FORMS = {
    "mask": {"mask": {"size": [SIZE, SIZE], "counts": UPPER.counts}},
    "boxes": {"boxes": [[0, 0, 20, 20]]},
    "heat of 2 x 2": {"heat": [[1, 0], [0, 0]]},
    "heat of every pixel": {"heat": UPPER.decode().tolist()},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", LEVELS)
def test_evidence_on_the_truth_is_perfect_at_every_level_in_every_form(folder, level, form):
    given = {"concept_id": f"{level}/{LEVELS[level]}", **FORMS[form]}
    found = _run(folder, {"evidence": [given]})[level]
    assert _means(found) == PERFECT
    assert found.cells["said_grounded"] == 1
    value = found.metrics["pointing"]
    assert (value.chance, value.ceiling, value.low, value.high) == (0.25, 1, 1, 1)


def test_evidence_beside_the_truth(folder):
    found = _run(folder, {"evidence": [{"concept_id": "object/dog", "boxes": [[20, 20, 20, 20]]}]})["object"]
    # No pixel is right: energy is below chance by a / (1 - a); what is outside the box still ranks the truth.
    assert _means(found) == {"pointing": 0, "energy": round(-0.25 / 0.75, 4), "iou": 0, "aupr": 0.25}
    assert found.cells["said_not_grounded"] == 1


def test_even_evidence_is_chance(folder):
    found = _run(folder, {"evidence": [{"concept_id": "object/dog", "heat": [[1, 1], [1, 1]]}]})["object"]
    assert _means(found) == {"pointing": 0.25, "energy": 0, "iou": 0.25, "aupr": 0.25}


NOTHING = {
    "heat of noughts": {"heat": [[0, 0], [0, 0]]},
    "full map of noughts": {"heat": np.zeros((SIZE, SIZE)).tolist()},
    "box outside": {"boxes": [[50, 0, 20, 20]]},
    "box of no pixel": {"boxes": [[5.1, 5.1, 0.2, 0.2]]},
    "points outside": {"points": [[-5, 5], [5, 41]]},
    "empty mask": {"mask": {"size": [SIZE, SIZE], "counts": masks.from_array(np.zeros((SIZE, SIZE))).counts}},
}


@pytest.mark.parametrize("form", NOTHING)
def test_evidence_that_points_at_nothing_gets_nothing_and_is_counted(folder, form):
    dog = {"concept_id": "object/dog"}
    cat = {"concept_id": "object/cat", "boxes": [[20, 20, 20, 20]]}
    report = _score(folder, {"evidence": [{**dog, **NOTHING[form]}, cat]})
    found = {level.name: level for level in report.levels}["object"]
    assert found.nothing == {"empty_evidence": 1}
    assert (found.cells["said_grounded"], found.cells["said_not_grounded"], found.concepts) == (1, 1, 2)
    assert _means(found) == {"pointing": 0.5, "energy": 0.5, "iou": 0.5, "aupr": 0.5}  # The cat is perfect.
    assert "0 in every metric, not grounded: (empty evidence 1)" in report.text()
    silent = _run(folder, {"evidence": [{**dog, **NOTHING[form], "said": False}]})["object"]
    assert (silent.cells["silent_not_looked"], silent.nothing, silent.metrics) == (1, {}, {})


def test_what_is_said_without_evidence_is_not_grounded(folder):
    report = _score(folder, {"rationale": "A dog.", "evidence": []})
    found = {level.name: level for level in report.levels}["object"]
    assert (found.nothing, found.kinds, found.cells["said_not_grounded"]) == ({"no_evidence": 1}, {"none": 1}, 1)
    assert _means(found) == dict.fromkeys(metrics.METRICS, 0)
    assert found.metrics["iou"].ceiling == 1  # A mask could have said the truth.
    assert "1 answers about 1 of 1 pictures" in report.text()
    assert [(level, pointing) for _, level, pointing in report.items] == [("object", 0)]


def test_a_relation_with_one_empty_end_is_not_grounded(folder):
    dog, outside = {"boxes": [[0, 0, 20, 20]]}, {"boxes": [[90, 90, 20, 20]]}
    given = {"concept_id": "relation/left of", "subject": dog, "object": outside}
    found = _run(folder, {"evidence": [given]})["relation"]
    assert (found.nothing, found.cells["said_not_grounded"]) == ({"empty_evidence": 1}, 1)
    assert _means(found) == dict.fromkeys(metrics.METRICS, 0)


def test_a_box_of_the_upper_half(folder):
    found = _run(folder, {"evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, 40, 20]]}]})["object"]
    assert _means(found) == {"pointing": 0.5, "energy": round((0.5 - 0.25) / 0.75, 4), "iou": 0.5, "aupr": 0.5}


def test_a_point_in_the_truth(folder):
    found = _run(folder, {"evidence": [{"concept_id": "object/dog", "points": [[10, 10]], "sigma": 2}]})["object"]
    assert found.metrics["pointing"].mean == 1
    assert found.metrics["energy"].mean > 0.99
    beside = _run(folder, {"evidence": [{"concept_id": "object/dog", "points": [[30, 30]], "sigma": 2}]})["object"]
    assert beside.metrics["pointing"].mean == 0


def test_tokens_of_a_rationale_with_both_rows(folder):
    text = "A dog and a cat."
    spans = [[0, 1], [2, 5], [6, 9], [10, 11], [12, 15], [15, 16]]
    dog, cat, other = [1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]
    for row, maps in (("t", [other, dog, other, other, cat, other]), ("t-1", [dog, other, other, cat, other, other])):
        tokens = {"spans": spans, "grid": [2, 2], "attention": maps, "row": row}
        found = _run(folder, {"rationale": text, "tokens": tokens})["object"]
        assert _means(found) == PERFECT
        assert found.concepts == 2


def test_a_relation_needs_both_ends(folder):
    dog, cat, nowhere = {"boxes": [[0, 0, 20, 20]]}, {"boxes": [[20, 20, 20, 20]]}, {"boxes": [[20, 0, 20, 20]]}
    both = _run(folder, {"evidence": [{"concept_id": "relation/left of", "subject": dog, "object": cat}]})["relation"]
    assert _means(both) == PERFECT
    one = _run(folder, {"evidence": [{"concept_id": "relation/left of", "subject": dog, "object": nowhere}]})[
        "relation"
    ]
    assert one.metrics["pointing"].mean == 0
    assert one.cells["said_not_grounded"] == 1
    # One map for both ends can be right about half of it at each end: the mean is geometric.
    shared = {"concept_id": "relation/left of", "boxes": [[0, 0, 20, 20]]}
    assert _run(folder, {"evidence": [shared]})["relation"].metrics["pointing"].mean == 0
    with pytest.raises(GoldsmithError, match="both ends"):
        _run(folder, {"evidence": [{"concept_id": "relation/left of", "subject": dog}]})


def test_the_four_cells_and_what_is_left_out(folder):
    here, there = {"boxes": [[0, 0, 20, 20]]}, {"boxes": [[20, 0, 20, 20]]}
    found = _run(
        folder,
        {"rationale": "There is a dog.", "evidence": [{"concept_id": "object/dog", **here}]},
        {"rationale": "I see a dog.", "evidence": [{"concept_id": "object/dog", **there}]},
        {"rationale": "There is no dog.", "evidence": [{"concept_id": "object/dog", **here}]},
        {"rationale": "Is there a dog?", "evidence": [{"concept_id": "object/dog", **there}]},
        {"rationale": "A bat, a bird and a house."},
        {"rationale": "A cat."},
    )["object"]
    assert found.cells == {"said_grounded": 1, "said_not_grounded": 2, "silent_looked": 1, "silent_not_looked": 1}
    # Bat: a source says that it is absent. Bird and house: no region is known. Cat: nothing shows where it looked.
    assert found.outcomes == {"absent": 1, "no_truth": 2}
    assert found.nothing == {"no_evidence": 1}
    assert found.concepts == 3


def test_geometry_of_padded_and_cropped_pictures():
    truth = np.zeros((20, 40), np.uint8)
    truth[:, :20] = 1
    # Padded to 40 x 40, the picture is in rows 10 to 30: of 4 x 4 cells the first and last row hold nothing.
    padded = evidence.heat(
        np.eye(4)[::-1] * 0 + np.array([[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]), "pad", 20, 40
    )
    assert metrics.measure(padded.groups(truth, None)) == PERFECT
    wrong = evidence.heat(np.array([[1.0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]), "pad", 20, 40)
    assert wrong.groups(truth, None).empty  # All in the padding: it looked at nothing.
    # Cropped to its middle, the model saw columns 10 to 30: half of the truth.
    cropped = evidence.heat(np.array([[1.0, 0]]), "crop", 20, 40)
    found = metrics.measure(cropped.groups(truth, None))
    assert (found["pointing"], found["iou"]) == (1, 0.5)


def test_ceiling_of_coarse_cells():
    truth = np.zeros((40, 40), np.uint8)
    truth[5:15, 5:15] = 1
    found = metrics.ceiling(evidence.heat(np.ones((2, 2)), "stretch", 40, 40).ceiling(truth, None))
    assert found["pointing"] == 0.25
    assert found["iou"] == 0.25
    fine = metrics.ceiling(evidence.heat(np.ones((8, 8)), "stretch", 40, 40).ceiling(truth, None))
    assert fine["iou"] == 1


def test_void_pixels_count_for_nothing():
    truth = np.zeros((10, 10), np.uint8)
    truth[:5] = 1
    counted = np.ones((10, 10), np.uint8)
    counted[5:] = 0
    for shown in (
        evidence.heat(np.ones((2, 2)), "stretch", 10, 10),
        evidence.heat(np.ones((100, 100))[:10, :10], "stretch", 10, 10),
    ):
        assert metrics.measure(shown.groups(truth, counted))["pointing"] == 1


def test_average_precision_equals_scikit_learns():
    learn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    values, truth = rng.integers(0, 6, 400).astype(float), rng.integers(0, 2, 400)
    expected = learn.average_precision_score(truth, values)
    found = metrics.average_precision(values, np.ones(400), truth.astype(float))
    assert found == pytest.approx(expected)


def test_the_text_has_chance_and_ceiling_beside_each_score(folder):
    path = folder.path / "p.jsonl"
    path.write_text(json.dumps({"image_id": "p", "evidence": [{"concept_id": "object/dog", "heat": [[3, 1], [1, 0]]}]}))
    report = score(folder, path)
    text = report.text()
    assert all(word in text for word in ("chance", "centre", "ceiling", "95 %", "pointing", "said and NOT grounded"))
    assert json.loads(json.dumps(report.to_json()))["levels"][0]["metrics"]["iou"]["ceiling"] == 1


ANY = {"boxes": [[0, 0, 9, 9]]}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"image_id": "q"}, "no picture"),
        ({"evidence": [{"concept_id": "object/unicorn", "boxes": [[0, 0, 1, 1]]}]}, "no concept"),
        ({"evidence": [{"concept_id": "object/dog"}]}, "give one"),
        ({"evidence": [{"concept_id": "object/dog", "heat": [[-1]]}]}, "0 or more"),
        ({"evidence": [{"concept_id": "object/dog", "heat": [[1]], "geometry": "fold"}]}, "geometry"),
        ({"evidence": [{"concept_id": "object/dog", "mask": {"size": [4, 4], "counts": "04"}}]}, "size"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": "x"}]}, "no finite number"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, "9", 9]]}]}, "no finite number"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, 9]]}]}, "x, y, width, height"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": [[5, 5, -3, 9]]}]}, "0 or less"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, 1e308, 9]]}]}, "beyond"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": []}]}, "one or more"),
        ({"evidence": [{"concept_id": "object/dog", "heat": [[float("nan")]]}]}, "NaN is no number of JSON"),
        ({"evidence": [{"concept_id": "object/dog", "heat": [[1], [1, 2]]}]}, "different lengths"),
        ({"evidence": [{"concept_id": "object/dog", "points": [[1, 1]], "sigma": float("nan")}]}, "NaN is no number"),
        ({"evidence": [{"concept_id": "object/dog", "points": [[1, 1]], "sigma": 0}]}, "sigma"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, 1, 1]]}] * 2}, "two pieces of evidence"),
        ({"evidence": [{"concept_id": "object/dog", "subject": {}, "object": {}}]}, "give one"),
        (
            {"evidence": [{"concept_id": "object/dog", "subject": ANY, "object": ANY}]},
            "no relation",
        ),
        ({"evidence": [{"concept_id": ["object/dog"], "boxes": [[0, 0, 1, 1]]}]}, "no concept"),
        ({"evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, 1, 1]], "said": "no"}]}, "true or false"),
        ({"evidence": {"object/dog": {}}}, "list of objects"),
        ({"evidence": 5}, "list of objects"),
        ({"rationale": 5}, "must be a text"),
        ({"tokens": {}}, "no rationale"),
        ({"rationale": "A dog", "tokens": 5}, "tokens need"),
        (
            {"rationale": "A dog", "tokens": {"spans": [[0, 1]], "grid": [2, 2], "attention": [[1]], "row": "t"}},
            "tokens",
        ),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(folder, answer, message):
    with pytest.raises(GoldsmithError, match=message) as caught:
        _run(folder, answer)
    assert "line 1" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_answer_twice_is_refused_and_two_rationales_of_a_picture_are_not(folder):
    dog = {"rationale": "A dog.", "evidence": [{"concept_id": "object/dog", "boxes": [[0, 0, 20, 20]]}]}
    assert _run(folder, dog, {**dog, "rationale": "I see a dog."})["object"].concepts == 2
    with pytest.raises(GoldsmithError, match=r"line 2\] is the answer of line 1 again"):
        _run(folder, dog, dog)


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"[" * 100_000, b"7", b"{}"])
def test_a_file_that_is_no_predictions_is_one_line(folder, content):
    path = folder.path / "predictions.jsonl"
    path.write_bytes(content)
    with pytest.raises(GoldsmithError, match=r"\[predictions.jsonl > line 1") as caught:
        score(folder, path)
    assert "\n" not in str(caught.value)


WRONG = [None, True, -1, 0, 10**30, 1e308, float("nan"), "", "x", [], [[]], [[1]], {}, [0, 0, 9, 9], "object/dog"]
ANSWER = {
    "image_id": "p",
    "rationale": "A dog left of a cat.",
    "evidence": [
        {"concept_id": "object/dog", "heat": [[1, 0], [0, 0]], "geometry": "pad", "said": True},
        {"concept_id": "relation/left of", "subject": {"boxes": [[0, 0, 9, 9]]}, "object": {"points": [[30, 30]]}},
    ],
    "tokens": {"spans": [[0, 1], [2, 5]], "grid": [1, 2], "attention": [[1, 0], [0, 1]], "row": "t"},
}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_answer_is_scored_in_numbers_or_refused_in_one_line(folder, data):
    answer = copy.deepcopy(ANSWER)
    holder = answer
    while True:
        steps = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        step = data.draw(st.sampled_from(steps))
        if not isinstance(holder[step], dict | list) or not holder[step] or data.draw(st.booleans()):
            holder[step] = data.draw(st.sampled_from(WRONG))
            break
        holder = holder[step]
    try:
        report = _score(folder, answer)
    except GoldsmithError as error:
        said = str(error)
    else:
        said = ""
        for level in report.levels:
            values = [number for value in level.metrics.values() for number in vars(value).values()]
            assert np.isfinite(values).all()
            assert sum(level.cells.values()) >= level.concepts
    assert "\n" not in said


@pytest.mark.parametrize("geometry", evidence.GEOMETRIES)
def test_cells_hold_the_pixels_whose_middle_they_hold(geometry):
    rng = np.random.default_rng(len(geometry))
    for _ in range(40):
        height, width, rows, columns = (int(value) for value in rng.integers(2, 30, 4))
        truth = rng.integers(0, 2, (height, width), dtype=np.uint8)
        truth[0, 0] = 1
        groups = evidence.Cells(np.ones((rows, columns)), geometry, height, width)._counts(truth, None)
        expected = np.zeros((2, rows * columns + 1))
        side = {"pad": max(height, width), "crop": min(height, width)}.get(geometry)
        for y, x in np.ndindex(height, width):
            high, wide = side or height, side or width
            row = int(np.floor((y + 0.5 + (high - height) / 2) / high * rows))
            column = int(np.floor((x + 0.5 + (wide - width) / 2) / wide * columns))
            cell = row * columns + column if 0 <= row < rows and 0 <= column < columns else rows * columns
            expected[:, cell] += (1, truth[y, x])
        assert (np.array(groups) == expected).all()


def test_the_predictions_of_the_readme_can_be_scored_as_printed(tmp_path):
    overrides = {"gqa": BUILDER.folder / "sample" / "gqa"}
    build(BUILDER, Sources.load(BUILDER.folder, overrides=overrides), tmp_path / "out", progress=False)
    block = (BUILDER.folder / "README.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    (tmp_path / "predictions.jsonl").write_text(block, encoding="utf-8")
    report = score(DatasetFolder(tmp_path / "out"), tmp_path / "predictions.jsonl")
    (found,) = [level for level in report.levels if level.name == "object"]
    assert (found.concepts, found.cells["said_grounded"], found.outcomes) == (4, 2, {})
    assert found.kinds == {"boxes": 1, "heat": 2, "points": 1}
