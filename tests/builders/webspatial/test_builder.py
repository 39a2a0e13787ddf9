"""The builder on some of the bundled captures: tables, answers again, checks with planted defects, bench and scorer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import audit_way
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from builders.build import build
from builders.sources import Sources
from builders.webspatial import audits, bench, gallery
from builders.webspatial import score as scorer
from builders.webspatial.builder import BUILDER
from builders.webspatial.capture import browser as browsers
from builders.webspatial.verify import verify
from quality import run
from quality.annotation.plan import plan
from quality.annotation.work import Work
from schemas import DatasetFolder, GoldsmithError

SAMPLE = Path(browsers.__file__).parent.parent / "sample" / "captures"
REJECT = {"id": "x", "group": "a/b", "path": "p.html", "status": "no_webgl", "message": "none", "licence": "MIT"}


@pytest.fixture(scope="module")
def some(tmp_path_factory) -> Path:
    """A dozen captures and a page without one."""
    root = tmp_path_factory.mktemp("captures")
    wanted = [p for p in sorted(SAMPLE.iterdir()) if "kind-room" in p.name and "fixed" in p.name][:12]
    for path in [*wanted, next(p for p in sorted(SAMPLE.iterdir()) if "clicked" in p.name)]:
        shutil.copytree(path, root / path.name)
    (root / "rejects.jsonl").write_text(json.dumps(REJECT) + "\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def built(some, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "webspatial"
    build(BUILDER, Sources.load(BUILDER.folder, overrides={"captures": some}), out)
    return out


def rows(folder, table):
    return pa.concat_tables(pq.read_table(p) for p in sorted((folder / "data" / table).glob("*.parquet"))).to_pylist()


def test_tables_and_rejects(built):
    assert len(rows(built, "scenes")) == 13
    assert all(r["asked"] for r in rows(built, "scenes"))
    kinds = {q["type"] for q in rows(built, "questions")}
    assert {"left_right", "front_behind", "nearer_camera", "perspective"} <= kinds
    events = rows(built, "events")
    assert any(e["is_input"] and e["type"] == "click" and e["path"] for e in events)
    assert {e["caused"] for e in events if not e["is_input"]} == {True, False}
    rejects = pq.read_table(built / "rejects" / "scenes.parquet").to_pylist()
    assert [r["reason"] for r in rejects] == ["no_webgl"]


def test_every_answer_again_and_from_turned_cameras(built, some):
    found = verify(built, some)
    assert found.questions > 100
    assert (found.differ, found.unstable) == (0, 0)


def _status(folder):
    report = run.check(DatasetFolder(folder), BUILDER.checks)
    assert report is not None
    told = json.loads((folder / "quality" / "report.json").read_text(encoding="utf-8"))["checks"]
    return {c["name"]: c["status"] for c in told}


def _planted(built, tmp_path, table, change):
    folder = tmp_path / "planted"
    shutil.copytree(built, folder)
    (path,) = sorted((folder / "data" / table).glob("*.parquet"))[:1]
    content = pq.read_table(path)
    pq.write_table(change(content), path)
    return folder


def _set(name, value):
    def change(content):
        k = content.schema.get_field_index(name)
        column = content.column(name).to_pylist()
        column[0] = value(content.slice(0, 1).to_pylist()[0])
        return content.set_column(k, content.schema.field(k), pa.array(column, content.schema.field(k).type))

    return change


def test_checks_find_what_is_planted(built, tmp_path):
    clean = _status(built)
    own = {c.name for c in BUILDER.checks.checks}
    assert {n: s for n, s in clean.items() if n.rpartition(".")[2] in own and s == "failed"} == {}
    other = _set("answer", lambda row: next(o for o in row["options"] if o != row["answer"]))
    found = _status(_planted(built, tmp_path / "a", "questions", other))
    assert [s for n, s in found.items() if n.endswith("balanced_answers")] == ["failed"]
    found = _status(_planted(built, tmp_path / "b", "questions", _set("answer", lambda row: "nowhere")))
    assert [s for n, s in found.items() if n.endswith("answer_is_an_option")] == ["failed"]
    found = _status(_planted(built, tmp_path / "c", "scenes", _set("redistributable", lambda row: False)))
    assert [s for n, s in found.items() if n.endswith("may_be_passed_on")] == ["failed"]
    found = _status(_planted(built, tmp_path / "d", "scenes", _set("meshes_agree", lambda row: 0)))
    assert [s for n, s in found.items() if n.endswith("graph_agrees_with_pixels")] == ["failed"]


def test_what_may_not_be_passed_on_is_left_out(some, tmp_path):
    from builders.webspatial.capture import store

    copy = tmp_path / "captures"
    shutil.copytree(some, copy)
    name = store.names(copy)[0]
    capture = store.read(copy / name)
    data = {**capture.data, "page": {**capture.data["page"], "redistribute": False, "licence": "NONE"}}
    store.write(copy, name, data, {})
    out = tmp_path / "out"
    build(BUILDER, Sources.load(BUILDER.folder, overrides={"captures": copy}, redistributable_only=True), out)
    assert name not in {r["scene_id"] for r in rows(out, "scenes")}
    assert name not in {q["scene_id"] for q in rows(out, "questions")}
    reasons = pq.read_table(out / "rejects" / "scenes.parquet").column("reason")
    assert pc.sum(pc.equal(reasons, "may_not_be_passed_on")).as_py() == 1


def test_bench_is_balanced_and_repeatable(built, tmp_path):
    assert bench.write(built, tmp_path / "a", 8) == bench.write(built, tmp_path / "b", 8)
    assert (tmp_path / "a" / "bench.jsonl").read_bytes() == (tmp_path / "b" / "bench.jsonl").read_bytes()
    drawn = [json.loads(line) for line in (tmp_path / "a" / "bench.jsonl").read_text().splitlines()]
    sides = [q["answer"] for q in drawn if q["type"] == "left_right"]
    assert sides.count("left") == sides.count("right") > 0
    tasks = (tmp_path / "a" / "tasks.jsonl").read_text()
    assert '"answer"' not in tasks
    assert "cannot be said" in tasks


def test_score(built, tmp_path):
    asked = scorer.questions(built)
    path = tmp_path / "p.jsonl"
    lines = [json.dumps({"question_id": q["question_id"], "prediction": f"Answer: {q['answer']}."}) for q in asked]
    path.write_text("\n".join(lines), encoding="utf-8")
    report = BUILDER.score(DatasetFolder(built), path).to_json()
    assert report["all"]["accuracy"] == 1.0
    for row in report["by_type"].values():
        assert abs(row["text_only"] - row["chance"]) <= 0.03
        assert abs(row["majority"] - row["chance"]) <= 0.03
    path.write_text(lines[0], encoding="utf-8")
    nothing_right = BUILDER.score(DatasetFolder(built), path)
    assert nothing_right.to_json()["all"]["accuracy"] < 0.05
    shares = [right for _, _, right in nothing_right.items]
    assert sum(shares) / len(shares) == pytest.approx(nothing_right.to_json()["all"]["accuracy"], abs=1e-4)
    path.write_text('{"question_id": "none", "prediction": "left"}', encoding="utf-8")
    with pytest.raises(GoldsmithError, match="no question"):
        BUILDER.score(DatasetFolder(built), path)


@pytest.mark.parametrize(
    ("said", "options", "meant"),
    [
        ("The answer is: Left.", ["left", "right"], "left"),
        ("b", ["object A", "object B"], "object B"),
        ("object b", ["object A", "object B"], "object B"),
        ("(C)", ["red", "green", "blue", "yellow"], "blue"),
        ("the red cube", ["the red cube", "the blue sphere"], "the red cube"),
        ("left or right", ["left", "right"], None),
        ("", ["left", "right"], None),
        ("C", ["object A", "object B"], None),
    ],
)
def test_reading_of_predictions(said, options, meant):
    assert scorer.read_option(said, options) == meant


def test_gallery(built, tmp_path):
    assert gallery.write(built, tmp_path / "g.html", scenes=3) == 3
    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 3
    assert page.count("<figure>") == 12
    assert "find({" in page
    assert "because of the input" in page


WRONG = {
    "p.jsonl": {
        "1] has no question_id": '{"id": 1}',
        "line 2] it is no JSON": '{"question_id": "a", "prediction": "x"}\n{"question_id": ',
        "question_id is \\['a'\\]": '{"question_id": ["a"], "prediction": "x"}',
        "question_id is None": '{"question_id": null, "prediction": "x"}',
        "prediction is \\['left'\\]": '{"question_id": "a", "prediction": ["left"]}',
        "prediction is True": '{"question_id": "a", "prediction": true}',
        "a is there twice": '{"question_id": "a", "prediction": 1}\n\n{"question_id": "a", "prediction": 2}',
        "it is no JSON object": "[1, 2]",
        "line 1] it has 'prediction' twice": '{"question_id": "a", "prediction": "x", "prediction": "y"}',
    },
    "p.csv": {"2] has no question_id": "id,answer\n1,2\n", "a is there twice": "question_id,prediction\na,1\na,2\n"},
}


@pytest.mark.parametrize(("name", "said"), [(name, said) for name, some in WRONG.items() for said in some])
def test_predictions_with_a_mistake_are_named_with_their_line(tmp_path, name, said):
    path = tmp_path / name
    path.write_text(WRONG[name][said], encoding="utf-8")
    with pytest.raises(GoldsmithError, match=said):
        scorer.read_predictions(path)


def test_predictions_of_any_plain_type_are_read(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"question_id": "a", "prediction": 2}\n{"question_id": "b", "prediction": null}\n')
    assert scorer.read_predictions(path) == {"a": "2", "b": ""}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(GoldsmithError, match="no UTF-8"):
        scorer.read_predictions(path)
    for other in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(GoldsmithError, match="absent"):
            scorer.read_predictions(other)


def test_gold_items_give_another_option_as_the_answer(built, tmp_path):
    made = plan(DatasetFolder(built), BUILDER.checks, audits.ANSWERS, ["ann"], tmp_path / "work")
    golds = [item for item in made.items if item.role == "gold"]
    assert len(golds) == audits.ANSWERS.golds
    asked = {q["question_id"]: q for q in rows(built, "questions")}
    for item in golds:
        question = asked[item.item_id.removeprefix("other ")]
        assert item.answer == {"label": "wrong"}
        assert item.shown[3] in question["options"]
        assert item.shown[3] != question["answer"]


def test_people_choose_between_two_answers_blind(some, tmp_path):
    captures = tmp_path / "captures"
    captures.mkdir()
    for path in sorted(path for path in some.iterdir() if path.is_dir())[:3]:
        shutil.copytree(path, captures / path.name)
    build(BUILDER, Sources.load(BUILDER.folder, overrides={"captures": captures}), tmp_path / "out", progress=False)
    waiver = {"check": "own_source", "reason": "a part", "by": "the tests"}
    lines = "".join(f'{key} = "{value}"\n' for key, value in waiver.items())
    (tmp_path / "waivers.toml").write_text(f"[[waiver]]\n{lines}until = 2999-12-31\n", encoding="utf-8")
    audit_way.go(tmp_path / "out", audits.DUELS, tmp_path, "--waivers", tmp_path / "waivers.toml")
    asked = {q["question_id"]: q for q in rows(tmp_path / "out", "questions")}
    items = Work(tmp_path / "work").plan().items
    for item in items:
        q, shown = asked[item.item_id], dict(zip(("first", "second"), item.shown, strict=False))
        assert shown["first"] != shown["second"]
        assert set(shown.values()) <= set(q["options"])
        assert shown[item.answer["label"]] == q["answer"]
    assert {item.answer["label"] for item in items} == {"first", "second"}
