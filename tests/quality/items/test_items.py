"""Item audits: hand-made panels with known verdicts, domination against a double loop, and input that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.items.files import read_rows
from quality.items.measure import audit, dominating
from quality.items.page import write
from quality.items.panel import Panel, read_panel, read_priorities, write_items
from schemas import GoldsmithError

MODELS = ("a", "b", "c", "d", "e")


def panel(scores: Mapping[str, Sequence[float]], groups: Mapping[str, str] | None = None) -> Panel:
    names = tuple(scores)
    return Panel(MODELS, names, tuple((groups or {}).get(name, "") for name in names), np.array(list(scores.values())))


KNOWN = {
    "easy": [1, 1, 1, 1, 1],
    "hard": [0, 0, 0, 0, 0],
    "alike": [0.5, 0.5, 0.5, 0.5, 0.5],
    "good": [0, 0, 0, 1, 1],
    "less room": [0, 0, 1, 1, 1],
    "wrong key": [1, 1, 1, 0, 0],
    **{f"usual {index}": [0, 0.2, 0.5, 0.8, 1] for index in range(4)},
}
GROUPS = {name: "usual" for name in KNOWN if name.startswith("usual")}


def test_known_verdicts():
    found = audit(panel(KNOWN, GROUPS))
    verdicts = {row["item"]: row["verdict"] for row in found.rows.iter_rows(named=True) if not row["group"]}
    assert verdicts == {
        "easy": "saturated",
        "hard": "unsolved",
        "alike": "flat",
        "good": "keep",
        "less room": "inferior",  # 2 of 5 solved leaves more room than 3 of 5, with the same variance
        "wrong key": "backwards",
    }
    assert found.verdicts == {**dict.fromkeys(verdicts.values(), 1), "keep": 5}
    good = found.rows.filter(item="good").row(0, named=True)
    assert good["improvability"] == pytest.approx(0.6)
    assert good["variance"] == pytest.approx(0.24)
    assert good["dominated"] == 0


def test_discrimination_is_the_correlation_with_the_other_items():
    scores = np.random.default_rng(1).random((7, 5))
    found = audit(Panel(MODELS, tuple("abcdefg"), ("",) * 7, scores)).rows["discrimination"]
    rest = [np.delete(scores, index, 0).mean(axis=0) for index in range(7)]
    assert found.to_list() == pytest.approx([np.corrcoef(scores[i], rest[i])[0, 1] for i in range(7)])


def test_items_compete_within_their_group_and_priorities_count():
    same = {"x": [0, 0, 1, 1, 1], "y": [0, 0, 0, 1, 1]}
    apart = audit(panel(same, {"x": "one", "y": "two"})).rows
    assert apart["dominated"].to_list() == [0, 0]
    assert audit(panel(same), {"x": 1.0, "y": 0.2}).rows["dominated"].to_list() == [0, 0]
    assert audit(panel(same, {"x": "g", "y": "g"}), {"g": 0.5}).rows["dominated"].to_list() == [1, 0]
    with pytest.raises(GoldsmithError, match=r"\[priorities > z\] is no group and no item"):
        audit(panel(same), {"z": 1.0})


def test_with_few_models_nothing_is_called_backwards():
    few = Panel(("a", "b"), ("p", "q", "r"), ("",) * 3, np.array([[0.0, 1], [0, 1], [1, 0]]))
    assert "backwards" not in audit(few).rows["verdict"].to_list()


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 3), min_size=1, max_size=40))
def test_domination_is_that_of_a_double_loop(rows):
    axes = np.array(rows)
    plain = [sum(bool((other >= row).all() and (other > row).any()) for other in axes) for row in axes]
    assert dominating(axes).tolist() == plain


def test_files_make_a_panel(tmp_path: Path):
    write_items(tmp_path / "m1.parquet", "m1", [("q2", "count", 1.0), ("q1", "color", 0.0)])
    (tmp_path / "m2.csv").write_text("item,group,score\nq1,color,1\nq2,count,0.5\n")
    (tmp_path / "m3.jsonl").write_text(
        "".join(
            json.dumps({"model": "x", "item": i, "group": g, "score": 1}) + "\n"
            for i, g in [("q1", "color"), ("q2", "count")]
        )
    )
    found = read_panel([tmp_path / name for name in ("m1.parquet", "m2.csv", "m3.jsonl")])
    assert (found.models, found.items, found.groups) == (("m1", "m2", "x"), ("q1", "q2"), ("color", "count"))
    assert found.scores.tolist() == [[0, 1, 1], [1, 0.5, 1]]
    table, page = write(audit(found), tmp_path / "out")
    assert pl.read_parquet(table).height == 2
    assert "q1" in page.read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,score\nq1,2\n", r"m2.csv > line 2 > q1\] score '2' is no number from 0 to 1"),
        ("item,score\nq1,high\n", r"q1\] score 'high' is no number"),
        ("item\nq1\n", "has no column score"),
        ("item,score\n", "has no item"),
        ("item,score\nq1,1\nq1,0\n", r"\[m2 > q1\] is there twice"),
        ("item,group,score\nq1,other,1\nq2,count,0\n", r"\[q1\] is in several groups"),
        ("item,score\nq9,1\n", "have no item in common"),
        ("", "has no column item"),
        ("item,score\nq1,\n", r"line 2 > q1\] score '' is no number"),
        ("item,score\nq1,nan\n", "score 'nan' is no number"),
        ('item,score\n"q\n1",1\n,0.5\n', r"m2.csv > line 4\] has no item: name one"),
        ("item,model,score\nq1,,1\n", r"line 2 > q1\] has no model"),
        ("item,score\nq1,1,0\n", r"line 2\] has 3 cells, the header 2"),
        ("item,score,item\nq1,1,q1\n", r"m2.csv > item\] is the name of 2 columns"),
        ('item,score\n"q1,1\n', "cannot be read"),
    ],
)
def test_wrong_files_are_named_in_one_line(tmp_path: Path, content: str, said: str):
    write_items(tmp_path / "m1.parquet", "m1", [("q1", "color", 0.0), ("q2", "count", 1.0)])
    (tmp_path / "m2.csv").write_text(content)
    with pytest.raises(GoldsmithError, match=said) as raised:
        read_panel([tmp_path / "m1.parquet", tmp_path / "m2.csv"])
    assert "\n" not in str(raised.value)


def test_text_stays_as_written_and_late_fractions_are_read(tmp_path: Path):
    many = 2000
    ids = ["007", "7", *(f"1e{index}" for index in range(many))]
    for model in ("01", "1"):
        lines = [f"{model},{item},{index % 2}" for index, item in enumerate(ids)]
        (tmp_path / f"{model}.csv").write_text("\n".join(["model,item,score", "", *lines, f"{model},last,0.5"]))
    found = read_panel([tmp_path / "01.csv", tmp_path / "1.csv"])
    assert found.models == ("01", "1")
    assert set(found.items) == {*ids, "last"}
    assert found.scores[found.items.index("last")].tolist() == [0.5, 0.5]
    rows = [{"item": item, "score": 0} for item in ids] + [{"item": "last", "score": 0.25}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = read_panel([tmp_path / "01.csv", tmp_path / "x.jsonl"])
    assert found.scores[found.items.index("last")].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item": "", "score": 1}', r"x.jsonl > line 1\] has no item"),
        ('{"item": null, "score": 1}', r"line 1\] has no item"),
        ('{"item": ["q"], "score": 1}', r"line 1 > item\] is no text and no number"),
        ('{"item": "q", "score": true}', r"line 1 > score\] is no text and no number"),
        ('{"item": "q", "item": "r", "score": 1}', "it has 'item' twice"),
        ('{"item": "q"}', "has no column score"),
        ("[1]", "line 1] it is no JSON object"),
    ],
)
def test_wrong_json_lines_are_named(tmp_path: Path, line: str, said: str):
    (tmp_path / "x.jsonl").write_text(line)
    with pytest.raises(GoldsmithError, match=said):
        read_panel([tmp_path / "x.jsonl"])


def test_items_that_a_model_lacks_are_left_aside_and_counted(tmp_path: Path):
    write_items(tmp_path / "m1.parquet", "m1", [("q1", "", 0.0), ("q2", "", 1.0)])
    write_items(tmp_path / "m2.parquet", "m2", [("q1", "", 1.0), ("q3", "", 1.0)])
    found = audit(read_panel([tmp_path / "m1.parquet", tmp_path / "m2.parquet"]))
    assert found.rows["item"].to_list() == ["q1"]
    assert found.text().startswith("1 items, 2 models; 2 more, which not every model has, are left aside")


def test_one_model_no_file_and_other_kinds_are_refused(tmp_path: Path):
    write_items(tmp_path / "m1.parquet", "m1", [("q1", "", 0.0)])
    for paths, said in (
        ([tmp_path / "m1.parquet"], "makes no panel"),
        ([tmp_path / "none.csv"], "is absent"),
        ([tmp_path / "x.txt"], "is no .parquet"),
    ):
        with pytest.raises(GoldsmithError, match=said):
            read_panel(paths)
    with pytest.raises(GoldsmithError, match="no item of it was scored"):
        write_items(tmp_path / "m.parquet", "m", [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("name,priority\nq1,7\n", r"p.csv > line 2 > q1\] priority '7' is no number"),
        ("name,priority\nq1,1\nq2,1\nq1,0\n", r"p.csv > line 4 > q1\] is there twice"),
        ("name,priority\n,1\n", r"p.csv > line 2\] has no name"),
        ("name,weight\nq1,1\n", "has no column priority"),
    ],
)
def test_wrong_priorities_are_named(tmp_path: Path, content: str, said: str):
    (tmp_path / "p.csv").write_text(content)
    with pytest.raises(GoldsmithError, match=said):
        read_priorities(tmp_path / "p.csv")


def test_priorities_keep_names_as_written(tmp_path: Path):
    (tmp_path / "p.csv").write_text("name,priority\n007,1\n7,0.5\n")
    assert read_priorities(tmp_path / "p.csv") == {"007": 1.0, "7": 0.5}


def test_a_table_that_is_called_like_a_pattern_is_itself(tmp_path: Path):
    for name, text in (("rows[1].parquet", "mine"), ("rows1.parquet", "other")):
        pl.DataFrame({"a": [text]}).write_parquet(tmp_path / name)
    assert read_rows(tmp_path / "rows[1].parquet", ("a",))["a"].to_list() == ["mine"]
