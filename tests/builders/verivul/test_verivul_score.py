"""The scorer on hand-made predictions with known scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders.verivul import predictions, score
from schemas import GoldsmithError


def _row(name: str, pair: str, label: str, **more):
    vulnerable = label == "vulnerable"
    return {
        "program_id": name, "pair_id": pair, "label": label, "code": f"int {name};", "repository": "r", "cve": [pair],
        "cwe": [125, 787] if vulnerable else [], "cwe_primary": 125 if vulnerable else None,
        "violating_line": 7 if vulnerable else None,
        "trace": [{"line": 3, "variable": "n", "value": "4"}, {"line": 5, "variable": "i", "value": "0"}]
        if vulnerable else [], **more,
    }  # fmt: skip


PAIRS = [{"pair_id": p, "vulnerable_id": f"v{p}", "safe_id": f"s{p}", "group": p, "fix_lines": [6]} for p in "abcd"]
PROGRAMS = [_row(f"{side[0]}{p}", p, side) for p in "abcd" for side in ("vulnerable", "safe")]
ANSWERS = {  # a both right, b both vulnerable, c both safe, d reversed
    "va": {"label": "vulnerable", "cwe": "CWE-125", "lines": [1, 7], "claims": [
        {"line": 3, "variable": "n", "value": "4U"}, {"line": 5, "variable": "i", "value": 9}, {"line": 7}]},
    "sa": {"label": "safe"},
    "vb": {"label": "vulnerable", "cwe": 787, "lines": [6]}, "sb": {"label": "vulnerable"},
    "vc": {"label": "safe"}, "sc": {"label": "safe"},
    "vd": {"label": "safe"}, "sd": {"label": "vulnerable"},
}  # fmt: skip


def test_hand_made_predictions():
    found = score.evaluate("x", PROGRAMS, PAIRS, ANSWERS).values
    values = {name: value.value for name, value in found.items()}
    assert {name: values[name] for name in ("P-C", "P-V", "P-B", "P-R")} == dict.fromkeys(
        ("P-C", "P-V", "P-B", "P-R"), 0.25
    )
    assert values["accuracy"] == 0.5
    assert values["CWE exact"] == 0.25
    assert values["CWE candidate"] == 0.5
    assert values["line hit@1"] == 0
    assert values["line hit@3"] == 0.25
    assert values["line MRR"] == 0.125
    assert values["fix line hit@5"] == 0.25
    assert values["claims true"] == pytest.approx(2 / 3 / 4)
    assert values["trace covered"] == pytest.approx(2 / 3 / 4)
    assert all(value.low <= value.value <= value.high for value in found.values())


def test_a_constant_predictor_gets_no_pair_right():
    found = score.evaluate("x", PROGRAMS, PAIRS, score.BASELINES["all vulnerable"](PROGRAMS)).values
    assert (found["P-C"].value, found["P-V"].value, found["accuracy"].value) == (0, 1, 0.5)


def test_without_answers_everything_is_wrong():
    found = score.evaluate("x", PROGRAMS, PAIRS, {}).values
    assert (found["accuracy"].value, found["P-R"].value, found["line hit@5"].value) == (0, 1, 0)


def test_baselines_answer_every_program():
    for make in score.BASELINES.values():
        assert set(make(PROGRAMS)) == {row["program_id"] for row in PROGRAMS}


def test_scores_give_a_false_negative_rate():
    answers = {
        row["program_id"]: {"label": row["label"], "score": 1.0 * (row["label"] == "vulnerable")} for row in PROGRAMS
    }
    assert score.evaluate("x", PROGRAMS, PAIRS, answers).values["VD-S (FNR)"].value == 0
    answers["va"] = {"label": "vulnerable", "score": float("nan")}
    assert "VD-S (FNR)" not in score.evaluate("x", PROGRAMS, PAIRS, answers).values


def _file(tmp_path, *lines):
    path = tmp_path / "p.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="latin-1")
    return path


def _line(name: str, label: object, **more):
    return json.dumps({"program_id": name, "label": label, **more})


def test_a_label_that_cannot_be_read_is_a_wrong_answer(tmp_path):
    answers = [
        _line("va", "vulnerable", lines=None),
        "",
        _line("sa", "maybe"),
        _line("sb", None),
        _line("vb", ["safe"]),
    ]
    found = predictions.read(_file(tmp_path, *answers), {row["program_id"] for row in PROGRAMS})
    assert {name: answer.get("label") for name, answer in found.items()} == {
        "va": "vulnerable", "sa": None, "sb": None, "vb": None
    }  # fmt: skip
    values = score.evaluate("x", PROGRAMS, PAIRS, found).values
    assert (values["accuracy"].value, values["P-C"].value, values["P-R"].value) == (1 / 8, 0, 0.75)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2] it is no JSON"),
        ("[]", "line 2] it is no JSON object"),
        ("\xff", "line 2] it is no UTF-8"),
        ("[" * 100_000, "line 2] it is no JSON that can be read"),
        (_line("va", "safe"), "line 2] va is that of line 1 again: keep one"),
        (_line("fr-1.w003", "safe"), "line 2 > program_id] 'fr-1.w003' is no program of this dataset"),
        (json.dumps({"program_id": 3, "label": "safe"}), "3 is no program of this dataset"),
        (json.dumps({"program_id": "vb"}), "line 2] has no label"),
        (json.dumps({"label": "safe"}), "line 2] has no program_id"),
        (_line("vb", "safe", lines="7"), "line 2 > lines] '7' is no list of line numbers"),
        (_line("vb", "safe", lines=[True]), "is no list of line numbers"),
        ('{"program_id": "vb", "label": "safe", "lines": [1e999]}', "is no list of line numbers"),
        (_line("vb", "safe", claims=True), "is no list of objects"),
        (_line("vb", "safe", cwe="overflow"), "'overflow' is no weakness"),
        (_line("vb", "safe", score="high"), "'high' is no number"),
    ],
)
def test_a_bad_line_is_refused_by_name(tmp_path, line, said):
    path = _file(tmp_path, _line("va", "vulnerable"), line)
    with pytest.raises(GoldsmithError) as raised:
        predictions.read(path, {row["program_id"] for row in PROGRAMS})
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_file_no_prediction_and_no_dataset_are_refused(tmp_path):
    with pytest.raises(GoldsmithError, match="no file"):
        predictions.read(tmp_path / "absent", {"va"})
    with pytest.raises(GoldsmithError, match="has no prediction"):
        predictions.read(_file(tmp_path, ""), {"va"})
    with pytest.raises(GoldsmithError, match="no table"):
        score.score(tmp_path, tmp_path / "p.jsonl")


@pytest.mark.parametrize(
    ("claim", "true"),
    [({"line": 7}, True), ({"line": 3, "variable": "n"}, True), ({"variable": "i", "value": "0x0"}, True), ({}, False),
     ({"line": 4}, False), ({"variable": "n", "value": "5"}, False), ({"line": "line 7"}, True)],
)  # fmt: skip
def test_claims_hold_or_not(claim, true):
    assert predictions.holds(claim, PROGRAMS[0]) is true


def test_the_command_finds_the_scorer(tmp_path):
    from click.testing import CliRunner

    from goldsmith import main

    path = tmp_path / "predictions.jsonl"
    path.write_text("", encoding="utf-8")
    result = CliRunner().invoke(main, ["score", "verivul", str(path), "-d", str(tmp_path)])
    assert result.exit_code == 2
    assert "is no finished dataset" in result.output


def test_the_readme_gives_predictions_that_are_read(tmp_path):
    example = (Path(score.__file__).parent / "README.md").read_text(encoding="utf-8").split("```json\n")[1]
    lines = example.split("```")[0].splitlines()
    found = predictions.read(_file(tmp_path, *lines), {json.loads(line)["program_id"] for line in lines})
    first, second = found.values()
    assert set(first) == {"program_id", "label", "score", "cwe", "lines", "claims"}
    assert (first["label"], second["label"]) == ("vulnerable", "safe")
