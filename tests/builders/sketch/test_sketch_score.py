"""`goldsmith score sketch` on files of other tools: each form, its errors in one line, the JSON and the page."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")

from click.testing import CliRunner
from made_probe import BLOCK, GRID, PARTS, dataset, lit_cells

from builders.sketch import masks
from builders.sketch.probing.outputs import Maps, Outputs
from builders.sketch.render import CANVAS
from builders.sketch.scoring.score import score
from goldsmith import main
from quality.items.panel import read_panel
from schemas import GoldsmithError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("data"), drawings=2)


@pytest.fixture
def lines(tmp_path):
    """Write records as JSON lines."""

    def write(*records):
        path = tmp_path / "given.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def asked(folder):
    """(prompt, drawing, part, cells) of every spatial prompt."""
    for prompt, cells in lit_cells(folder).items():
        drawing = prompt.removeprefix("spatial/").rpartition("/")[0]
        yield prompt, drawing, PARTS[int(prompt[-1])], cells


def grounding(report):
    units = report.regions["given"].units
    return {unit: {name: each.value for name, each in values.items()} for unit, values in units.items()}


def test_maps_of_the_true_cells(folder, lines):
    path = lines(*({"prompt_id": prompt, "map": cells.tolist()} for prompt, _, _, cells in asked(folder)))
    found = grounding(score(folder, path))
    assert found["ink"]["miou"] == pytest.approx(1)
    assert found["mask"]["macc@0.5"] == 1
    assert found["box"]["miou"] > 0.9


def test_true_masks_and_true_boxes(folder, lines):
    stripes = (np.arange(CANVAS) % 14 < 8)[:, None]
    records = []
    for _, drawing, part, cells in asked(folder):
        mask = np.kron(cells, np.ones((BLOCK, BLOCK))).astype(bool) & stripes
        records.append(
            {"sketch_id": drawing, "part": part, "mask": {"size": [CANVAS, CANVAS], "counts": masks.encode(mask)}}
        )
    found = grounding(score(folder, lines(*records)))
    assert found["mask"]["miou"] == pytest.approx(1)
    assert found["ink"]["miou"] == pytest.approx(1)
    records = [
        {"sketch_id": each["sketch_id"], "part": each["part"],
         "box": masks.box(masks.decode(each["mask"]["counts"], CANVAS, CANVAS))} for each in records
    ]  # fmt: skip
    found = grounding(score(folder, lines(*records)))
    assert found["box"]["miou"] == pytest.approx(1)
    assert found["ink"]["miou"] == pytest.approx(1)


def test_a_map_of_everything_is_all_ink_in_the_unit_of_ink(folder, lines):
    everything = np.ones((GRID, GRID)).tolist()
    report = score(folder, lines(*({"prompt_id": prompt, "map": everything} for prompt, *_ in asked(folder))))
    assert grounding(report)["ink"]["miou"] == pytest.approx(report.regions["all_ink"].units["ink"]["miou"].value)


def test_orders_and_texts_of_another_tool(folder, lines):
    records = [{"prompt_id": f"temporal/made/cat/{n:02d}", "order": list(PARTS)} for n in range(12)]
    records += [{"source": "made", "category": "dog", "options": list(PARTS), "text": "wing, leg, eye"}]
    records += [{"category": "dog", "order": list(PARTS)}]
    records += [{"sketch_id": "made/ant/0", "options": list(PARTS), "text": "no idea"}]
    records += [{"sketch_id": "made/ant/0", "options": list(PARTS), "order": ["eye", "leg"]}]
    report = score(folder, lines(*records))
    words, shown = report.orders["words"], report.orders["shown"]
    assert {each.name: each.tau for each in words.categories} == {"made/cat": 1, "made/dog": 0}
    assert shown.unread == {"missing_part": 1, "no_list": 1}
    assert words.readouts[0].values["of_ceiling"].value == pytest.approx(0.5 / 0.8)


def test_items_of_two_models_make_a_panel(folder, tmp_path):
    """One says people's order and true places, the other the order backwards, an answer that is none, and all ink."""
    path = {name: tmp_path / f"{name}.jsonl" for name in ("good", "poor")}
    everything = np.ones((GRID, GRID)).tolist()
    places = [(prompt, cells.tolist()) for prompt, drawing, _, cells in asked(folder) if drawing == "made/cat/0"]
    answers = {
        "good": [{"order": list(PARTS)}] * 2,
        "poor": [{"order": list(PARTS)[::-1]}, {"options": list(PARTS), "text": "no idea"}],
    }
    for name, (named, shown) in answers.items():
        lines = [{"prompt_id": prompt, "map": cells if name == "good" else everything} for prompt, cells in places]
        lines += [{"category": "cat", **named}, {"sketch_id": "made/cat/0", **shown}]
        path[name].write_text("".join(json.dumps(line) + "\n" for line in lines))
        arguments = ["score", "sketch", path[name], "-d", folder.path, "--items", tmp_path / f"{name}.parquet"]
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
    panel = read_panel([tmp_path / "good.parquet", tmp_path / "poor.parquet"])
    assert (panel.models, panel.left_aside) == (("good", "poor"), 0)
    scores = dict(zip(zip(panel.groups, panel.items, strict=True), panel.scores.tolist(), strict=True))
    assert scores.pop(("order named", "made/cat")) == [1.0, 0.0]
    assert scores.pop(("order shown", "made/cat/0")) == [1.0, 0.0]
    assert set(scores) == {("place", f"made/cat/0 > {part}") for part in PARTS}
    assert all(good == pytest.approx(1) and 0 < poor < 0.6 for good, poor in scores.values())


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ("{", "line 1"),
        ("[1]", "it is no JSON object"),
        ("\n\n", "holds no answer"),
        ("\n\udcff", "line 2] it is no UTF-8"),
        ("[" * 100_000, "it is too deep"),
        ('{"order": ["a"]}', "it has no category"),
        ('{"category": "cow", "order": ["a"]}', "category cow is of 0 sources"),
        ('{"category": "cat", "text": "eye"}', "a text needs options"),
        ('{"category": "cat", "order": "eye"}', "order is no list of names"),
        ('{"prompt_id": "nowhere", "order": ["a"]}', "nowhere is no prompt of this dataset"),
        ('{"sketch_id": "made/cow/0", "part": "eye", "box": [0, 0, 1, 1]}', "is no drawing"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 0, 1]}', "box is not"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 337, 1]}', "box is not"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "map": [[1, -1]]}', "map is no list"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "map": [[NaN]]}', "NaN is no number of JSON"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "mask": {"size": [9, 9], "counts": "1"}}', "mask is not of"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "mask": {"size": [336, 336], "counts": "04"}}', "mask counts"),
        ('{"sketch_id": "made/cat/0", "part": "nose", "box": [0, 0, 9, 9]}', "is no part with pixels"),
        ("\n".join(['{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 9, 9]}'] * 2), "is there twice"),
        (
            "\n".join(['{"prompt_id": "temporal/made/cat/00", "text": "eye"}'] * 2),
            "line 2] temporal/made/cat/00 is answered in bad.jsonl > line 1 already: keep one answer",
        ),
        ('{"prompt_id": "spatial/made/cat/0/0", "order": ["eye"]}', "is a spatial prompt, the line has an order"),
        ('{"prompt_id": "temporal/made/cat/00", "box": [0, 0, 9, 9]}', "is a temporal prompt, the line has a place"),
        ('{"prompt_id": ["temporal/made/cat/00"], "text": "eye"}', "is no prompt of this dataset"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 9, 9], "map": [[1]]}', "it has map and box"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 9, 9], "text": "eye"}', "it has box and text"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 9]}', "box is not x, y, width, height"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": ["0", 0, 9, 9]}', "box is not x, y, width, height"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "box": [0, 0, 1e999, 9]}', "box is not x, y, width, height"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "map": [[1, 0], [1]]}', "map is no list of rows"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "map": [[1e999]]}', "map is no list of rows"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "map": {}}', "map is no list of rows"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "mask": "04"}', "mask is not of"),
        ('{"sketch_id": "made/cat/0", "part": "eye", "mask": {"size": [336, 336]}}', "it has no counts"),
        ('{"sketch_id": ["made/cat/0"], "part": "eye", "box": [0, 0, 9, 9]}', "sketch_id is no text"),
        ('{"sketch_id": "made/cat/0", "part": ["eye"], "box": [0, 0, 9, 9]}', "part is no text"),
        ('{"category": ["cat"], "order": ["eye"]}', "category is no text"),
        ('{"category": "cat", "options": "eye", "text": "eye"}', "options is no list of names"),
        ('{"category": "cat", "options": ["eye"], "text": 3}', "text is no text"),
    ],
)
def test_a_bad_line_is_one_line_that_names_it(folder, tmp_path, record, what):
    path = tmp_path / "bad.jsonl"
    path.write_text(record, errors="surrogateescape")
    done = CliRunner().invoke(main, ["score", "sketch", str(path), "-d", str(folder.path)])
    assert done.exit_code == 2, done.output
    assert what in done.output
    assert done.output.strip().count("\n") == 0


def test_true_run_lengths_pass_and_others_do_not():
    from builders.sketch.scoring.lines import FormError, _mask

    rng = np.random.default_rng(0)
    for share in (0.0, 0.001, 0.3, 0.9, 1.0):
        mask = rng.random((CANVAS, CANVAS)) < share
        counts = masks.encode(mask)
        assert (_mask(counts) == mask).all()
        with pytest.raises(FormError, match="counts"):
            _mask(counts[:-1])
        with pytest.raises(FormError, match="counts"):
            _mask(counts + "1")


def heads(folder, out, only=None, twice=False):
    """Maps of 2 layers of 3 heads: head 1.2 sees the part, the others noise."""
    rng = np.random.default_rng(0)
    rows = [each for each in asked(folder) if only is None or only in each[1]]
    maps = rng.random((len(rows), 2, 3, GRID, GRID)).astype(np.float32) / 100
    for row, (*_, cells) in enumerate(rows):
        maps[row, 1, 2] += cells / cells.sum()
    made = Maps(tuple(each[0] for each in rows), maps, maps.sum((3, 4)))
    for number in range(2 if twice else 1):
        Outputs(out).write_maps(number, [made])
    return out


def test_maps_by_head_of_another_tool(folder, tmp_path):
    out = heads(folder, tmp_path / "out")
    report = score(folder, out)
    assert report.locus is not None
    assert report.locus.ranking[0] == (1, 2)
    said = json.loads((out / "score.json").read_text())
    assert said["locus"]["matrices"]["ink@0.5"][1][2] == 1
    assert said["run"] is None
    page = report.page.read_text()
    assert page.count("<svg") == 6
    assert "http" not in page
    first = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    score(folder, out)
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == first


def test_one_half_alone_cannot_be_scored(folder, tmp_path):
    out = heads(folder, tmp_path / "out", only="cat")
    with pytest.raises(GoldsmithError, match="no drawing of the calibration half"):
        score(folder, out)


def test_a_map_that_is_there_twice_is_refused(folder, tmp_path):
    with pytest.raises(GoldsmithError, match="is there twice"):
        score(folder, heads(folder, tmp_path / "out", twice=True))


def test_outputs_of_other_drawings_or_of_a_stopped_run_are_refused(folder, tmp_path):
    out = heads(folder, tmp_path / "out")
    Outputs(out).write_summary({"finished": False, "dataset": {"sketches": "x"}})
    with pytest.raises(GoldsmithError, match="has not finished"):
        score(folder, out)
    Outputs(out).write_summary({"finished": True, "dataset": {"sketches": "x"}})
    with pytest.raises(GoldsmithError, match="other drawings"):
        score(folder, out)
    with pytest.raises(GoldsmithError, match="neither maps"):
        score(folder, tmp_path)
    with pytest.raises(GoldsmithError, match="is not there"):
        score(folder, tmp_path / "no")


def test_a_file_that_is_no_shard_of_maps_is_one_line(folder, tmp_path):
    out = heads(folder, tmp_path / "out")
    (out / "maps" / "00001.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(GoldsmithError, match="is no shard of maps") as caught:
        score(folder, out)
    assert "\n" not in str(caught.value)
