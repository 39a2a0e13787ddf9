"""A build: what comes out, what is done again and why, and a line for everything that can be wrong."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tinyset.builder
from tinyset.builder import BUILDER, READINGS, TinySet

import builders.shard
import schemas.parquet
from builders import Batch, Read, Reject, Shard
from builders.build import build, plan
from builders.planning import make_plan
from builders.registry import get
from builders.sources import Sources
from schemas import DatasetFolder, GoldsmithError
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA


def verdicts(tiny, out, **options) -> list[tuple[str, str, str]]:
    return [(shard.name, verdict, why) for shard, verdict, why in plan(BUILDER, tiny.sources(**options), out)]


def test_the_dataset_folder_is_whole(tiny, tmp_path):
    result = tiny.build(tmp_path / "out")
    folder = DatasetFolder(tmp_path / "out")
    assert (result.built, result.kept, result.rows, result.rejects) == (
        3, 0, {"readings": 27, "notes": 0}, {"readings": 9, "notes": 0}
    )  # fmt: skip
    assert "27 rows" in result.text()
    assert folder.schema == BUILDER.schema
    names = {split: [path.name for path in paths] for split, paths in folder.shards("readings").items()}
    assert names == {
        "train": ["train-00000-of-00002.parquet", "train-00001-of-00002.parquet"],
        "test": ["test-00000-of-00001.parquet"],
    }
    for path in folder.all_shards("readings"):
        assert pq.read_schema(path).equals(READINGS.arrow)
    for name, rows in (("readings", 30), ("notes", 0)):
        lineage, rejects = pq.read_table(folder.lineage(name)), pq.read_table(folder.rejects(name))
        assert lineage.schema.equals(LINEAGE_SCHEMA)
        assert rejects.schema.equals(REJECT_SCHEMA)
        assert lineage.num_rows == rows
    empty = folder.all_shards("notes")
    assert [path.name for path in empty] == ["train-00000-of-00001.parquet"]
    assert pq.read_table(empty[0]).num_rows == 0


def test_build_json_says_what_it_was_made_of_and_names_no_machine(tiny, tmp_path, digests):
    tiny.build(tmp_path / "out")
    record = DatasetFolder(tmp_path / "out").build
    assert str(tmp_path) not in json.dumps(record)
    assert {entry["path"]: entry["sha256"] for entry in record["files"]} == {
        path: sha256 for path, sha256 in digests(tmp_path / "out").items() if path != "build.json"
    }
    assert record["accounting"][0] == {
        "source": "a", "table": "readings", "records": 13, "rows": 9, "merged": 1, "rejects": {"no_value": 3}
    }  # fmt: skip
    assert [(source["name"], source["path"]) for source in record["sources"]] == [
        ("a", "a.csv"), ("b", "b.csv"), ("c_test", "c_test.csv")
    ]  # fmt: skip
    assert record["tools"].keys() == {"duckdb", "goldsmith", "numpy", "polars", "pyarrow", "python"}
    assert list(record["tools"]) == sorted(record["tools"])


def test_lineage_keeps_merged_records_beside_their_row(tiny, tmp_path):
    tiny.build(tmp_path / "out")
    lines = pq.read_table(tmp_path / "out" / "lineage" / "readings.parquet").to_pylist()
    first = [(line["id"], line["source"], line["place"], line["licence"]) for line in lines[:3]]
    assert first == [
        ("a1/2020-01-02", "a", "line 3", "CC0-1.0"),
        ("a1/2020-01-02", "a", "line 14", "CC0-1.0"),
        ("a2/2020-01-03", "a", "line 4", "CC0-1.0"),
    ]


def test_a_second_build_keeps_everything(tiny, tmp_path, digests):
    tiny.build(tmp_path / "out")
    before = digests(tmp_path / "out")
    result = tiny.build(tmp_path / "out")
    assert (result.built, result.kept) == (0, 3)
    assert digests(tmp_path / "out") == before


def test_the_plan_says_why(tiny, tmp_path, lines_of, monkeypatch):
    out = tmp_path / "out"
    assert verdicts(tiny, out) == [(name, "build", "new") for name in ("a", "b", "c_test")]
    tiny.build(out)
    assert {verdict for _, verdict, _ in verdicts(tiny, out)} == {"keep"}
    (tiny.folder / "b.csv").write_text(lines_of("b", 20))
    assert [line[1:] for line in verdicts(tiny, out)] == [
        ("keep", "nothing it depends on has changed"),
        ("build", "sources changed: b"),
        ("keep", "nothing it depends on has changed"),
    ]
    result = tiny.build(out)
    assert (result.built, result.kept, result.rows["readings"]) == (1, 2, 34)
    monkeypatch.setenv("TINY_BATCH", "3")
    assert {line[1:] for line in verdicts(tiny, out)} == {("build", "parameters changed")}
    monkeypatch.delenv("TINY_BATCH")
    monkeypatch.setattr(TinySet, "version", "2.0")
    assert {line[1:] for line in verdicts(tiny, out)} == {("build", "builder version changed")}


def test_another_version_of_what_makes_the_bytes_builds_again(tiny, tmp_path, monkeypatch):
    tiny.build(tmp_path / "out")
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "pyarrow" else version(name))
    assert {line[1:] for line in verdicts(tiny, tmp_path / "out")} == {("build", "tools changed: pyarrow")}
    assert tiny.build(tmp_path / "out").built == 3
    assert DatasetFolder(tmp_path / "out").build["tools"]["pyarrow"] == "0.1"


@pytest.mark.parametrize(("name", "library"), [("virogym", "biopython"), ("vaani", "soxr"), ("sketch", "pillow")])
def test_a_library_of_a_builder_is_in_its_shards_keys(name, library, tmp_path, monkeypatch):
    builder = get(name)
    sources = Sources.load(builder.folder, sample=True)
    before = make_plan(builder, sources, tmp_path)
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == library else version(name))
    after = make_plan(builder, sources, tmp_path)
    assert after.tools == {**before.tools, library: "0.1"}
    assert before.tools[library] != "0.1"
    assert before.jobs
    assert not {job.key for job in before.jobs} & {job.key for job in after.jobs}
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "pip" else version(name))
    assert make_plan(builder, sources, tmp_path) == before


def test_planning_writes_nothing(tiny, tmp_path):
    plan(BUILDER, tiny.sources(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_spoilt_file_is_made_again(tiny, tmp_path, digests):
    tiny.build(tmp_path / "out")
    before = digests(tmp_path / "out")
    (path,) = (tmp_path / "out" / "data" / "readings").glob("test-*")
    with open(path, "r+b") as file:  # In place, so that the kept shard, a link to it, is spoilt as well.
        file.write(b"spoilt")
    assert tiny.build(tmp_path / "out").built == 1
    assert digests(tmp_path / "out") == before


def test_what_earlier_steps_said_of_other_bytes_goes(tiny, tmp_path):
    out = tmp_path / "out"
    tiny.build(out)
    (out / "quality").mkdir()
    for name in ("quality/report.json", "README.md", "DATASHEET.md", "croissant.json", "CITATION.cff"):
        (out / name).write_text("stale")
    tiny.build(out)
    assert sorted(path.name for path in out.iterdir()) == [".build", "build.json", "data", "lineage", "rejects"]


def test_a_table_that_shrinks_leaves_no_old_shard(tiny, tmp_path, lines_of):
    tiny.build(tmp_path / "out")
    tiny.write(a=lines_of("a", 12)).build(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out" / "data" / "readings").iterdir()] == [
        "train-00000-of-00001.parquet"
    ]
    assert len(list((tmp_path / "out" / ".build" / "shards").iterdir())) == 1


def test_an_override_is_recorded(tiny, tmp_path, lines_of):
    own = tmp_path / "own.csv"
    own.write_text(lines_of("z", 12))
    build(BUILDER, tiny.sources(overrides={"a": own}), tmp_path / "out", progress=False)
    entry = DatasetFolder(tmp_path / "out").build["sources"][0]
    assert (entry["name"], entry["override"]) == ("a", True)
    assert "own.csv" not in json.dumps(entry)


def test_the_same_bytes_are_no_override(tiny, tmp_path):
    text = (tiny.folder / "sources.toml").read_text()
    own = tmp_path / "own.csv"
    own.write_bytes((tiny.folder / "a.csv").read_bytes())
    sha256 = hashlib.sha256(own.read_bytes()).hexdigest()
    (tiny.folder / "sources.toml").write_text(text.replace("[a]\n", f'[a]\nsha256 = "{sha256}"\n'))
    build(BUILDER, tiny.sources(overrides={"a": own}), tmp_path / "out", progress=False)
    assert "override" not in DatasetFolder(tmp_path / "out").build["sources"][0]


def test_a_source_that_is_ones_own_by_design_is_no_override(tiny, tmp_path):
    by_hand = '[a]\nlicence = "MIT"\nredistribute = true\naccessed = "2026-11-30"\ncitation = "us"\nmanual = "ask"\n'
    (tiny.folder / "sources.toml").write_text(by_hand)
    build(BUILDER, tiny.sources(overrides={"a": tiny.folder / "a.csv"}), tmp_path / "out", progress=False)
    assert "override" not in DatasetFolder(tmp_path / "out").build["sources"][0]


def test_left_out_sources_are_recorded(tiny, tmp_path):
    text = (tiny.folder / "sources.toml").read_text()
    (tiny.folder / "sources.toml").write_text(text.replace("[b]", "[b]\nredistribute = false"))
    build(BUILDER, tiny.sources(redistributable_only=True), tmp_path / "out", progress=False)
    record = DatasetFolder(tmp_path / "out").build
    assert (record["left_out"], record["redistributable_only"]) == (["b"], True)
    assert [shard["name"] for shard in record["shards"]] == ["a", "c_test"]


# What is in the folder already.


def test_a_folder_of_other_things_is_refused(tiny, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(GoldsmithError, match="out\\] holds other things"):
        tiny.build(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_foreign_file_among_the_data_is_refused(tiny, tmp_path):
    tiny.build(tmp_path / "out")
    (tmp_path / "out" / "data" / "readings" / "notes.txt").write_text("mine")
    with pytest.raises(GoldsmithError, match=r"notes\.txt\] is not of goldsmith's making and would be lost"):
        tiny.build(tmp_path / "out")


def test_a_release_is_refused(tiny, tmp_path):
    tiny.build(tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text("{}")
    with pytest.raises(GoldsmithError, match="is a release, which never changes"):
        tiny.build(tmp_path / "out")


def test_another_dataset_is_refused(tiny, tmp_path):
    tiny.build(tmp_path / "out")
    path = tmp_path / "out" / "build.json"
    path.write_text(path.read_text().replace('"dataset": "tinyset"', '"dataset": "other"'))
    with pytest.raises(GoldsmithError, match="holds the dataset other"):
        tiny.build(tmp_path / "out")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": 1', ""])
def test_a_broken_build_json_is_built_anew(tiny, tmp_path, digests, text):
    out = tmp_path / "out"
    tiny.build(out)
    before = digests(out)
    (out / "build.json").write_text(text)
    assert tiny.build(out).built == 0
    assert digests(out) == before


def test_a_broken_build_json_of_nobody_is_refused(tiny, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "build.json").write_text("{")
    with pytest.raises(GoldsmithError, match=r"build\.json\] cannot be read, so whose the folder is"):
        tiny.build(tmp_path / "out")


def test_a_file_is_refused(tiny, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(GoldsmithError, match="is a file: give a folder"):
        tiny.build(tmp_path / "out")


# Rejects.


def test_a_build_that_is_refused_leaves_nothing_behind(tiny, tmp_path, monkeypatch, digests):
    def refuse(*_: object) -> None:
        raise GoldsmithError("[tiny] no")

    out, room = tmp_path / "out", tmp_path / "room"
    room.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(TinySet, "plan", refuse)
        for place, part in ((out, None), (out, (1, 2)), (room, None)):
            with pytest.raises(GoldsmithError, match="no"):
                tiny.build(place, part=part)
    assert not out.exists()
    assert list(room.iterdir()) == []
    tiny.build(out)
    before = digests(out)
    with monkeypatch.context() as patch:
        patch.setattr(TinySet, "plan", refuse)
        with pytest.raises(GoldsmithError, match="no"):
            tiny.build(out)
    assert digests(out) == before
    assert tiny.build(out).built == 0


def test_an_empty_source_gives_no_rows(tiny, tmp_path, lines_of):
    tiny.write(a=lines_of("a", 12), empty="")
    assert tiny.build(tmp_path / "out").rows["readings"] == 9
    lines = DatasetFolder(tmp_path / "out").build["accounting"]
    assert lines[1] == {"source": "empty", "table": "readings", "records": 0, "rows": 0, "merged": 0, "rejects": {}}


def test_over_the_reject_budget_the_old_data_stay(tiny, tmp_path, digests, lines_of):
    out = tmp_path / "out"
    tiny.build(out)
    before = digests(out)
    (tiny.folder / "a.csv").write_text(lines_of("a", 12) + "x,soon,1\ny,2020-1-1,1\nz,never,2\n")
    with pytest.raises(GoldsmithError) as caught:
        tiny.build(out)
    text = str(caught.value)
    assert caught.value.code == 1  # the data failed, not the call
    assert "[a > readings] 3 of 16 records were rejected (3 bad_day), the budget is 10.00%" in text
    assert digests(out) == before
    rejects = pq.read_table(out / ".build" / "next" / "rejects" / "readings.parquet").to_pylist()
    bad = [(line["place"], line["record"]) for line in rejects if line["reason"] == "bad_day"]
    assert bad[0] == ("line 15", "x,soon,1")


def test_expected_rejects_are_not_budgeted(tiny, tmp_path, lines_of):
    tiny.write(a=lines_of("a", 12) + "".join(f"e{i},2020-01-01,\n" for i in range(100)))
    assert tiny.build(tmp_path / "out").rejects["readings"] == 103


# Builders that do wrong.


def faulty(items) -> TinySet:
    """A builder whose one shard yields these items."""

    class Faulty(TinySet):
        def plan(self, sources: Sources) -> Iterator[Shard]:
            yield Shard("a", ("a",))

        def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
            yield from items

    Faulty.__module__ = TinySet.__module__
    return Faulty()


GOOD = pa.RecordBatch.from_arrays(
    [
        pa.array(["s"]),
        pa.array([0], pa.date32()),
        pa.array([1.0]),
        pa.array([[]], pa.list_(pa.string())),
        pa.array([None], pa.json_()),
    ],
    schema=READINGS.arrow,
)
TEXT_DAY = pa.RecordBatch.from_arrays([GOOD["station"], pa.array(["2020"]), *GOOD.columns[2:]], READINGS.names)
NO_KEY = pa.concat_batches([GOOD, GOOD, GOOD])
NO_KEY = pa.RecordBatch.from_arrays(
    [pa.array(["s", None, None]), pa.array([1, None, 2], pa.date32()), *NO_KEY.columns[2:]], schema=READINGS.arrow
)
PLACES = ["line 4", "line 5", "line 6"]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            [Batch("readings", "train", TEXT_DAY, "a", ["line 2"])],
            r"\[a > readings > day\] is string, the schema says date32",
        ),
        (
            [Batch("readings", "train", GOOD.select(["day"]), "a", ["line 2"])],
            r"\[a > readings\] has columns \['day'\]",
        ),
        ([Batch("readings", "dev", GOOD, "a", ["line 2"])], r"has split 'dev': its splits are train, test"),
        ([Batch("readings", "train", GOOD, "a", [])], "has 0 places for 1 rows"),
        ([Batch("readings", "train", GOOD, "b", ["line 2"])], "yields from source 'b': add it to the shard's inputs"),
        ([Batch("colours", "train", GOOD, "a", ["line 2"])], "yields for table 'colours': declare it"),
        ([Batch("readings", "train", GOOD, "a", ["line 2"], [(1, "line 3")])], "merges a record into no row"),
        (
            [Batch("readings", "train", NO_KEY.slice(2), "a", ["line 7"])],
            r"\[a > readings > a > line 7\] has no station, which the key needs: reject it instead$",
        ),
        (
            [Batch("readings", "train", GOOD, "a", ["line 2"]), Batch("readings", "train", NO_KEY, "a", PLACES)],
            r"\[a > readings > a > line 5\] has no station and day, .* needs, nor 1 more rows of the batch: reject it",
        ),
        ([Reject("colours", "x", "x", "a", "line 2")], "yields for table 'colours'"),
        ([Read("b", "readings", 1)], "yields from source 'b'"),
        (["row"], "yields str: yield Batch, Reject or Read"),
        (
            [Batch("readings", "train", GOOD, "a", ["line 2"], [(0, "line 3")]), Read("a", "readings", 4)],
            r"4 records were read, but 1 rows \+ 1 merged \+ 0 rejects = 2",
        ),
    ],
)
def test_a_wrong_builder_is_told_what_is_wrong(tiny, tmp_path, items, message):
    with pytest.raises(GoldsmithError, match=message):
        build(faulty(items), tiny.sources(), tmp_path / "out", progress=False)
    assert list((tmp_path / "out" / ".build" / "shards").iterdir()) == []
    assert not (tmp_path / "out" / "build.json").exists()


def test_the_right_builder_of_the_same_kind_is_not(tiny, tmp_path):
    items = [Batch("readings", "train", GOOD, "a", ["line 2"], [(0, "line 3")]), Read("a", "readings", 2)]
    assert build(faulty(items), tiny.sources(), tmp_path / "out", progress=False).rows["readings"] == 1


def test_a_reject_of_bytes_that_were_no_text_is_kept(tiny, tmp_path):
    items = [
        Batch("readings", "train", GOOD, "a", ["line 2"]),
        Reject("readings", "no_value", "m", "a", "l", "x\udcff"),
    ]
    build(faulty(items), tiny.sources(), tmp_path / "out", progress=False)
    (line,) = pq.read_table(tmp_path / "out" / "rejects" / "readings.parquet").to_pylist()
    assert line["record"] == "x\\udcff"


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ([], "the plan has no shards"),
        ([Shard("a", ("a",)), Shard("a", ("b",))], r"\[a\] is no name for a shard: make it unique"),
        ([Shard("../a", ("a",))], "is no name for a shard"),
        ([Shard("a", ("x",))], r"\[x\] is no source of this dataset"),
        ([Shard("a", ("a",), {"when": object()})], "its parameters are no JSON"),
        ([Shard("a", ("a",), {"x": float("nan")})], "its parameters are no JSON"),
    ],
)
def test_a_wrong_plan_is_told_what_is_wrong(tiny, tmp_path, shards, message):
    builder = faulty([])
    builder.plan = lambda sources: iter(shards)
    with pytest.raises(GoldsmithError, match=message):
        build(builder, tiny.sources(), tmp_path / "out", progress=False)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("mistake", r"\[b\] is made to fail: do not ask for it"),
        ("exception", r"\[b\] ZeroDivisionError: made to fail \(at builder.py line"),
    ],
)
def test_a_failing_shard_costs_no_other(tiny, tmp_path, monkeypatch, capsys, workers, fault, message):
    monkeypatch.setenv("TINY_FAULT", f"b={fault}")
    with pytest.raises(GoldsmithError, match=message + ".*1 of 3 shards failed; what is finished is kept"):
        tiny.build(tmp_path / "out", workers=workers)
    told = capsys.readouterr().err
    assert ("Traceback" in told) == (fault == "exception")
    assert "do not ask for it" not in told, "the error says it"
    monkeypatch.delenv("TINY_FAULT")
    assert [verdict for _, verdict, _ in verdicts(tiny, tmp_path / "out")] == ["keep", "build", "keep"]
    assert (tiny.build(tmp_path / "out").built) == 1


# Parts, for job arrays.


def test_parts_are_finished_by_a_build_of_the_whole(tiny, tmp_path, digests):
    out = tmp_path / "out"
    first = tiny.build(out, part=(1, 2))
    assert (first.built, first.finished, first.missing) == (2, False, ("b",))
    assert "1 are missing" in first.text()
    assert not (out / "build.json").exists()
    second = tiny.build(out, part=(2, 2))
    assert (second.built, second.missing) == (1, ())
    assert "run once without --shard" in second.text()
    assert tiny.build(out).built == 0
    tiny.build(tmp_path / "whole")
    assert digests(out) == digests(tmp_path / "whole")


def test_nothing_of_the_source_folder_is_touched(tiny, tmp_path):
    before = sorted((path.name, path.stat().st_mtime_ns) for path in tiny.folder.iterdir())
    tiny.build(tmp_path / "out")
    assert sorted((path.name, path.stat().st_mtime_ns) for path in tiny.folder.iterdir()) == before
    assert os.environ.get("TINY_FAULT") is None
    assert tinyset.builder.BUILDER is BUILDER


def test_memory_does_not_grow_with_the_shard(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(schemas.parquet, "ROW_GROUP_BYTES", 100_000)
    monkeypatch.setattr(builders.shard, "SMALL_GROUP_BYTES", 100_000)
    held: list[int] = []
    rows = pa.Table.from_batches([GOOD] * 2000).combine_chunks().to_batches()[0]
    places = pa.array(["line 2"] * rows.num_rows)
    before = pa.total_allocated_bytes()

    def items() -> Iterator[Batch]:
        for _ in range(100):
            yield Batch("readings", "train", pa.RecordBatch.from_arrays(rows.columns, schema=rows.schema), "a", places)
            held.append(pa.total_allocated_bytes() - before)

    build(faulty(items()), tiny.sources(), tmp_path / "out", progress=False)
    assert max(held[50:]) < 2 * max(held[:10])
