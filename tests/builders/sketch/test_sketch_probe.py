"""The probe through transformers itself, with tiny random models of each family saved and loaded as those of the Hub.

A planted head (or band) must be found; without a plant nothing may beat the null; wrong attention must be refused.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs goldsmith[probe]")
transformers = pytest.importorskip("transformers", reason="needs goldsmith[probe]")
pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")

from click.testing import CliRunner  # noqa: E402
from made_probe import PARTS, Planted, dataset, lit_cells, planted, png, renew, save  # noqa: E402

from builders.sketch.probing import model as modelling  # noqa: E402
from builders.sketch.probing import run as running  # noqa: E402
from builders.sketch.probing.families import layout  # noqa: E402
from builders.sketch.probing.model import Model, Prompt  # noqa: E402
from builders.sketch.probing.outputs import Outputs, map_files, read_maps  # noqa: E402
from builders.sketch.probing.run import probe  # noqa: E402
from builders.sketch.render import CANVAS  # noqa: E402
from builders.sketch.scoring.examine import examine  # noqa: E402
from builders.sketch.scoring.given import HeadMaps  # noqa: E402
from builders.sketch.scoring.halves import Calibration, Report  # noqa: E402
from builders.sketch.scoring.questions import Questions  # noqa: E402
from builders.sketch.scoring.select import choose, measure  # noqa: E402
from builders.sketch.scoring.truth import drawings  # noqa: E402
from goldsmith import main  # noqa: E402
from schemas import GoldsmithError  # noqa: E402

FAMILIES = ("llava", "llava_next", "qwen2_vl")


@pytest.fixture(scope="module", autouse=True)
def quick():
    """One thread, for tiny tensors; short answers, for random ones end nowhere."""
    threads, tokens = torch.get_num_threads(), modelling.NEW_TOKENS
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    modelling.NEW_TOKENS = 6
    yield
    torch.set_num_threads(threads)
    modelling.NEW_TOKENS = tokens


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Folders of one tiny model of each family."""
    return {name: save(name, tmp_path_factory.mktemp(name)) for name in FAMILIES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("data"), drawings=2, categories={"ant": "calibration", "cat": "report"})


@pytest.fixture(scope="module")
def prompts(folder):
    """Two questions of different length about two drawings."""
    pictures = running._Pictures(folder)
    rows = [row for row in running._prompts(folder, None) if row["kind"] == "spatial"]
    return pictures.prompts([rows[0], rows[5]])


@pytest.mark.parametrize("name", FAMILIES)
def test_the_picture_is_where_the_family_puts_it(places, prompts, name):
    """All picture tokens but newlines, in the sequence's order; each cell has as many as its grids give it."""
    model = Model.load(str(places[name]))
    inputs = model.encode(prompts)
    tokens = inputs["input_ids"] == model._model.config.image_token_id
    for row in range(2):
        found = layout(model._model.config, inputs, row)
        assert tokens[row][found.tokens].all()
        assert (np.diff(found.tokens) > 0).all()
        a_cell = np.bincount(found.cells, minlength=found.rows * found.columns)
        newlines = int(tokens[row].sum()) - len(found.tokens)
        expected = {"llava": (6, 1, 0), "llava_next": (4, 5, 8), "qwen2_vl": (4, 1, 0)}[name]
        assert (found.rows, a_cell.min(), newlines) == expected
        assert a_cell.max() == a_cell.min()


def test_newlines_of_llava_next_are_at_the_ends_of_the_fine_rows(places, prompts):
    """The model puts its newline embedding exactly where the layout leaves a gap."""
    model = Model.load(str(places["llava_next"]))
    inputs = model.encode(prompts)
    net = model._model.model
    with torch.inference_mode():
        features = net.get_image_features(inputs["pixel_values"], inputs["image_sizes"]).pooler_output[0]
    newline = (features == net.image_newline).all(-1).nonzero().flatten().tolist()
    found = layout(model._model.config, inputs, 0)
    first = int((inputs["input_ids"][0] == model._model.config.image_token_id).nonzero()[0])
    assert len(newline) == 8
    assert sorted([*found.tokens, *(first + place for place in newline)]) == list(range(first, first + len(features)))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_cell_is_where_the_picture_has_it(places, name):
    """A dark spot within a cell changes exactly the tokens of that cell, in a vision tower whose patches do not mix."""
    model = Model.load(str(places[name]))
    for key, parameter in model._model.named_parameters():
        if ("vision_tower" in key and "out_proj" in key) or ("visual.blocks" in key and "attn.proj" in key):
            parameter.data.zero_()
    side = {"llava": 6, "llava_next": 4, "qwen2_vl": 4}[name]
    step = CANVAS // side
    paper = np.zeros((CANVAS, CANVAS), bool)
    for row, column in ((0, 0), (0, side - 1), (side - 2, 1), (side - 1, side - 1)):
        spot = paper.copy()
        middle = row * step + step // 2, column * step + step // 2
        spot[middle[0] - 12 : middle[0] + 12, middle[1] - 12 : middle[1] + 12] = True
        inputs = model.encode([Prompt("blank", "?", png(paper)), Prompt("spot", "?", png(spot))])
        where = layout(model._model.config, inputs, 0)
        given = [inputs[key] for key in ("pixel_values", "image_sizes", "image_grid_thw") if key in inputs]
        with torch.inference_mode():
            blank, dark = model._model.model.get_image_features(*given).pooler_output
        start = int((inputs["input_ids"][0] == model._model.config.image_token_id).nonzero()[0])
        changed = set(((blank - dark).abs().amax(-1) > 1e-4).nonzero().flatten().add(start).tolist())
        assert changed == set(where.tokens[where.cells == row * side + column].tolist())


def test_a_cls_token_is_no_cell(tmp_path, prompts):
    model = Model.load(str(save("llava", tmp_path, strategy="full")))
    inputs = model.encode(prompts)
    first = int((inputs["input_ids"][0] == model._model.config.image_token_id).nonzero()[0])
    assert layout(model._model.config, inputs, 0).tokens.tolist() == list(range(first + 1, first + 37))
    assert model.maps(prompts, inputs).maps.shape == (2, 4, 8, 6, 6)


@pytest.mark.parametrize("name", FAMILIES)
def test_maps_are_the_attention_that_the_model_returns(places, prompts, name):
    """Against `output_attentions`, prompt by prompt without padding; the batch pads the shorter one."""
    model = Model.load(str(places[name]))
    inputs = model.encode(prompts)
    assert (inputs["attention_mask"] == 0).any()
    found = model.maps(prompts, inputs)
    assert model.parity(inputs) < 1e-5
    for row, prompt in enumerate(prompts):
        alone = model.encode([prompt])
        with torch.inference_mode():
            weights = torch.stack(model._model(**alone, output_attentions=True).attentions)[:, 0, :, -1].numpy()
        where = layout(model._model.config, alone, 0)
        expected = np.zeros((*weights.shape[:2], where.rows * where.columns), np.float32)
        for token, cell in zip(where.tokens, where.cells, strict=True):
            expected[:, :, cell] += weights[:, :, token]
        assert found.maps[row].reshape(expected.shape) == pytest.approx(expected, abs=2e-5)
        assert found.sums[row] == pytest.approx(expected.sum(2), abs=1e-4)
        assert (found.sums[row] < 1).all()


def test_the_own_qwen_processor_makes_what_transformers_makes(places, prompts, monkeypatch):
    """Theirs wants a video processor, which wants torchvision; unchecked it does without."""
    monkeypatch.setattr(transformers.ProcessorMixin, "check_argument_for_proper_class", lambda *_: None)
    model = Model.load(str(places["qwen2_vl"]))
    mine = model._processor
    theirs = transformers.Qwen2VLProcessor(mine.images, mine.tokenizer)
    texts = [model._dialogue(prompt) for prompt in prompts]
    pictures = [modelling._picture(prompt.picture) for prompt in prompts]
    expected = theirs(text=texts, images=pictures, padding=True, return_tensors="pt")
    found = model.encode(prompts)
    assert set(found) == set(expected)
    assert all(torch.equal(found[key].float(), expected[key].float()) for key in found)


def test_a_chat_template_is_used_and_must_place_the_picture(places):
    model = Model.load(str(places["llava"]))
    template = "{% for turn in messages %}Human: {% for part in turn['content'] %}{% if part['type'] == 'image' %}"
    template += "<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %} Bot:"
    model._processor.chat_template = template
    assert model._dialogue(Prompt("p", "Where?", b"")) == "Human: <image>Where? Bot:"
    assert model._dialogue(Prompt("p", "Where?", None)) == "Human: Where? Bot:"
    model._processor.chat_template = template.replace("<image>", "")
    with pytest.raises(GoldsmithError, match="does not place the picture"):
        model._dialogue(Prompt("p", "Where?", b""))


def test_wrong_eager_attention_is_refused(places, folder, tmp_path, prompts):
    """One head of one layer of the eager path attends to the first picture token; the true path passes."""
    model = Model.load(str(places["llava"]))
    inputs = model.encode(prompts)
    assert 0 < model.parity(inputs) < 1e-5
    spot = np.zeros(36)
    spot[0] = 1
    rows = [(layout(model._model.config, inputs, row).tokens, spot) for row in range(2)]
    with planted({(1, 3): 0.9}, rows), pytest.raises(GoldsmithError, match="eager attention is not what the model"):
        model.parity(inputs)
    with planted({(1, 3): 0.9}, rows), pytest.raises(GoldsmithError, match="try --dtype float32"):
        probe(folder, model, tmp_path / "out", batch=2, progress=False)
    assert not (tmp_path / "out").exists()


def test_a_model_whose_logits_are_no_numbers_is_refused(places, prompts):
    model = Model.load(str(places["llava"]))
    model._model.lm_head.weight.data[0, 0] = float("nan")
    with pytest.raises(GoldsmithError, match="eager attention"):
        model.parity(model.encode(prompts))


def test_a_processor_of_another_model_is_one_line(places, prompts):
    """Its grid has one row of tokens less than the model has patches."""
    model = Model.load(str(places["llava"]))
    inputs = model.encode(prompts)
    short = {name: value[:, :-1] if value.ndim == 2 else value for name, value in inputs.items()}
    first = int((inputs["input_ids"][0] == model._model.config.image_token_id).nonzero()[0])
    short["input_ids"] = torch.cat([inputs["input_ids"][:, :first], inputs["input_ids"][:, first + 1 :]], 1)
    with pytest.raises(GoldsmithError, match="is the processor of the same model"):
        model.parity(short)
    with pytest.raises(GoldsmithError, match="35 picture tokens for a grid of 6 x 6"):
        layout(model._model.config, short, 0)


def made_run(folder, out, model, plant):
    """Maps of a planted model, straight to the shards."""
    assert isinstance(model, Planted)
    model.plant, model.truth = plant, lit_cells(folder)
    pictures = running._Pictures(folder)
    rows = [row for row in running._prompts(folder, None) if row["kind"] == "spatial"]
    asked = pictures.prompts(rows)
    parts = []
    for start in range(0, len(asked), 8):
        inputs = model.encode(asked[start : start + 8])
        parts.append(model.maps(asked[start : start + 8], inputs))
    Outputs(out).write_maps(0, parts)
    maps = HeadMaps(map_files(out), Questions(folder))
    return maps, drawings(folder, maps.drawings)


def test_a_planted_head_is_found_first_of_all_heads(tmp_path, places):
    """By the two criteria, which know no truth; by IoU; and by the test against shuffled labels, alone of 32."""
    folder = dataset(tmp_path / "data", drawings=6)
    maps, known = made_run(folder, tmp_path / "out", Planted.load(str(places["llava"])), {(2, 5): 0.8})
    choice = choose(Calibration(maps, known))
    assert choice.ranking[0] == (2, 5)
    assert choice.heads["best_iou"][0] == (2, 5)
    assert choice.band is not None
    assert (choice.band.first, choice.band.last) == (2, 2)
    found = examine(choice, Report(maps, known))
    above = np.argwhere(found.p <= 0.05).tolist()
    assert above == [[2, 5]]
    assert found.matrices["ink@0.5"][2, 5] == 1
    assert found.held == 1
    assert found.depth == pytest.approx(2.5 / 4)
    finding = found.findings["two_criteria"]
    assert finding.p_shuffled <= 0.01
    assert finding.elsewhere is not None
    assert finding.grounding.units["ink"]["miou"].value > finding.elsewhere + 0.2


def test_a_planted_band_is_found_as_the_band(tmp_path):
    """Heads in layers 3 and 4 of 8, and none elsewhere."""
    place = save("llava", tmp_path / "model", layers=8)
    folder = dataset(tmp_path / "data", drawings=6)
    plant = {(3, 1): 0.7, (3, 6): 0.8, (4, 0): 0.8, (4, 2): 0.7, (4, 7): 0.6}
    maps, known = made_run(folder, tmp_path / "out", Planted.load(str(place)), plant)
    choice = choose(Calibration(maps, known))
    assert choice.band is not None
    assert (choice.band.first, choice.band.last) == (3, 4)
    assert choice.band.depth == (3 / 8, 5 / 8)
    found = examine(choice, Report(maps, known))
    assert {tuple(place) for place in np.argwhere(found.p <= 0.05).tolist()} == set(plant)
    assert found.held == pytest.approx(1)
    assert set(choice.heads["two_criteria_in_band"]) <= set(plant)


def test_without_a_plant_nothing_beats_the_null(tmp_path, places):
    """20 models of 32 heads, tested at .05 for all heads of a model together. A fair test alarms for 5 of 20 or more
    in .3 % of runs; with a plant, the same test alarms for every one."""
    folder = dataset(tmp_path / "data", drawings=6, categories={"cat": "report"})
    model = Planted.load(str(places["llava"]))
    alarms, lowest = [0, 0], []
    for seed in range(20):
        model = Planted(renew(model._model, seed), model._processor, model.facts)
        for planted_too in (0, 1) if seed < 3 else (0,):
            plant = {(1, 4): 0.8} if planted_too else {}
            maps, known = made_run(folder, tmp_path / f"out{seed}{planted_too}", model, plant)
            null = measure(Report(maps, known)).null()
            alarms[planted_too] += (null.p <= 0.05).any()
            lowest += [] if planted_too else [null.p.min()]
    assert alarms[0] <= 4
    assert alarms[1] == 3
    assert np.quantile(lowest, 0.75) < 1, "heads look elsewhere when another part is asked for, so the test could alarm"


def test_a_run_is_summed_up_and_goes_on_where_it_stopped(tmp_path, places, folder, monkeypatch):
    monkeypatch.setattr(running, "SHARD", 8)
    out = tmp_path / "out"
    first = probe(folder, str(places["llava"]), out, batch=4, limit=1, progress=False)
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    assert first.summary["spatial"] == 2 * 3
    assert first.summary["temporal"] == 2 * (24 + 2)
    assert first.kept == 0
    for path in list(before)[::3]:
        path.unlink()
    again = probe(folder, str(places["llava"]), out, batch=4, limit=1, progress=False)
    assert 0 < again.kept < again.summary["shards"]
    assert {path: path.read_bytes() for path in before} == before
    summary = json.loads((out / "probe.json").read_text())
    wanted = {"model", "revision", "class", "dtype", "transformers", "torch", "layers", "heads", "parity", "finished"}
    assert wanted <= summary.keys()
    assert summary["revision"].startswith("sha256:")
    assert (summary["class"], summary["finished"]) == ("LlavaForConditionalGeneration", True)
    with pytest.raises(GoldsmithError, match="another run"):
        probe(folder, str(places["llava"]), out, batch=2, limit=1, progress=False)
    lines = [json.loads(line) for path in sorted((out / "orders").iterdir()) for line in path.read_text().splitlines()]
    assert len(lines) == first.summary["temporal"]
    assert all(
        sorted(line["options"]) == sorted(PARTS) and (line["order"] is None) == bool(line["why"]) for line in lines
    )


def test_maps_are_read_as_they_were_written(tmp_path, places, prompts):
    model = Model.load(str(places["llava"]))
    made = model.maps(prompts, model.encode(prompts))
    made.maps[0, 0, 0] *= 1e-6
    Outputs(tmp_path).write_maps(0, [made])
    (found,) = read_maps(map_files(tmp_path)[0])
    assert found.prompts == made.prompts
    peaks = made.maps.max((3, 4), keepdims=True)
    assert (np.abs(found.maps - made.maps) <= 1e-3 * made.maps + 6e-8 * peaks).all()
    assert found.maps[0, 0, 0].max() == pytest.approx(made.maps[0, 0, 0].max(), rel=1e-6)
    assert (found.sums == made.sums).all()


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"model_type": "llama"}, "is a llama model: the probe can run llava, llava_next, qwen2_vl"),
        ({"model_type": "no_such"}, "cannot be loaded"),
        (None, "cannot be loaded"),
    ],
)
def test_a_model_that_cannot_be_probed_is_one_line(tmp_path, config, what):
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(GoldsmithError, match=what) as caught:
        Model.load(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_the_command_line_from_probe_to_score(tmp_path, places, folder):
    out, data = str(tmp_path / "out"), str(folder.path)
    done = CliRunner().invoke(
        main, ["probe", "sketch", str(places["qwen2_vl"]), "--data", data, "-o", out, "--limit", "1"]
    )
    assert done.exit_code == 0, done.output
    assert "Qwen2VLForConditionalGeneration" in done.output
    done = CliRunner().invoke(main, ["score", "sketch", out, "-d", data])
    assert done.exit_code == 0, done.output
    assert "chosen on 1 drawings and reported on 1 others" in done.output
    assert (tmp_path / "out" / "score.html").read_text().startswith("<!doctype html>")
