"""A row is walked back to the bytes it came from."""

from __future__ import annotations

import gzip
import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tinyset.builder import BUILDER

from builders.build import build
from builders.explain import _excerpts, explain
from builders.sources import Sources
from schemas import DatasetFolder, GoldsmithError
from schemas.folder import TOMBSTONE_SCHEMA


@pytest.fixture
def built(tiny, tmp_path):
    tiny.build(tmp_path / "out")
    return DatasetFolder(tmp_path / "out")


def test_a_row_with_a_merged_record(tiny, built):
    found = explain(built, "a1/2020-01-02", tiny.sources())
    assert (found.table, found.split, found.row["station"], found.row["value"]) == ("readings", "train", "a1", 1.0)
    assert [origin.place for origin in found.origins] == ["line 3", "line 14"]
    shown = [[(excerpt.label, excerpt.text) for excerpt in origin.excerpts] for origin in found.origins]
    assert shown == [
        [("line 1", "station,day,value"), ("line 3", "a1,2020-01-02,1")],
        [("line 1", "station,day,value"), ("line 14", "a1,2020-01-02,1")],
    ]
    assert [(origin.url, origin.licence, origin.problem) for origin in found.origins] == [("a.csv", "CC0-1.0", "")] * 2
    text = found.text()
    assert "readings > a1/2020-01-02 (train)" in text
    assert "a1,2020-01-02,1" in text
    assert json.loads(json.dumps(found.to_json()))["row"]["day"] == "2020-01-02"


def test_an_unknown_id_is_answered_with_the_nearest(tiny, built):
    with pytest.raises(GoldsmithError, match=r"\[a1/2020-01-20\] is no row: the nearest are a1/2020-01-02, "):
        explain(built, "a1/2020-01-20", tiny.sources())


def test_an_id_without_its_first_part_is_answered_with_those_that_end_with_it(tiny, built):
    with pytest.raises(GoldsmithError, match=r"\[2020-01-03\] is no row: the nearest are \w+/2020-01-03, "):
        explain(built, "2020-01-03", tiny.sources())


def test_a_withdrawn_row_says_so(tiny, built):
    stone = {"table": "readings", "id": "a1/1999-01-01", "reason": "asked", "date": date(2026, 3, 1)}
    lines = [{**stone, "last_version": "1.2.0"}]
    pq.write_table(pa.Table.from_pylist(lines, TOMBSTONE_SCHEMA), built.tombstones)
    text = r"\[readings > a1/1999-01-01\] was withdrawn on 2026-03-01 \(asked\); the last release with it is 1\.2\.0"
    for table in (None, "readings"):
        with pytest.raises(GoldsmithError, match=text):
            explain(built, "a1/1999-01-01", tiny.sources(), table)
    with pytest.raises(GoldsmithError, match="is no row: the nearest"):
        explain(built, "a1/1999-01-02", tiny.sources())


def test_a_file_of_ones_own_is_said_to_be_one(tiny, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("station,day,value\nz1,2020-01-02,1\n")
    sources = tiny.sources(overrides={"a": own})
    build(BUILDER, sources, tmp_path / "out", progress=False)
    (origin,) = explain(DatasetFolder(tmp_path / "out"), "z1/2020-01-02", sources).origins
    assert (origin.url, origin.problem) == ("your own file in place of a.csv", "")
    assert [excerpt.text for excerpt in origin.excerpts] == ["station,day,value", "z1,2020-01-02,1"]


def test_a_shard_that_is_gone_is_named(tiny, built):
    gone = next(built.data("readings").glob("test-*"))
    gone.unlink()
    with pytest.raises(GoldsmithError, match=rf"{gone.name}\] is missing"):
        explain(built, "a1/2020-01-02", tiny.sources())


@pytest.mark.parametrize("row_id", ["a1/2020-01-02", "nothing"])
@pytest.mark.parametrize("harm", ["missing", "cut", "flipped"])
@pytest.mark.parametrize("part", ["data/readings", "lineage/readings.parquet"])
def test_damage_is_one_line(tiny, built, part, harm, row_id):
    path = built.path / part
    path = next(path.glob("train-*")) if path.is_dir() else path
    content = path.read_bytes()
    for victim in path.parent.iterdir() if harm == "missing" and part.startswith("data") else [path]:
        if harm == "missing":
            victim.unlink()
        else:
            victim.write_bytes(content[:60] if harm == "cut" else content[:-8] + b"\xff" * 8)
    with pytest.raises(GoldsmithError, match=r"\] (is missing|is damaged|has no shard).*again") as caught:
        explain(built, row_id, tiny.sources())
    assert "\n" not in str(caught.value)


def test_an_unknown_table_is_named(tiny, built):
    with pytest.raises(GoldsmithError, match=r"\[colours\] is no table of tinyset: its tables are readings, notes"):
        explain(built, "a1/2020-01-02", tiny.sources(), "colours")


def test_an_id_in_a_quote_is_no_sql(tiny, built):
    with pytest.raises(GoldsmithError, match="is no row"):
        explain(built, "' OR 1=1 --", tiny.sources())


def test_a_source_that_changed_is_said_to_have(tiny, built):
    (tiny.folder / "a.csv").write_text("other")
    (origin, _) = explain(built, "a1/2020-01-02", tiny.sources()).origins
    assert origin.excerpts == ()
    assert "the source is now another file" in origin.problem


def test_a_source_that_is_gone_says_how_to_get_it(tiny, built):
    (tiny.folder / "a.csv").unlink()
    (origin, _) = explain(built, "a1/2020-01-02", tiny.sources()).origins
    assert "the source is not at hand: [a] the bundled file" in origin.problem
    assert origin.sha256 in explain(built, "a1/2020-01-02", tiny.sources()).text()


def of(tmp_path, content: bytes) -> Sources:
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "sources.toml").write_text('[a]\npath = "a.txt"\nlicence = "MIT"\n')
    return Sources.load(tmp_path)


LINES = st.lists(
    st.text(st.characters(exclude_characters="\r\n\0\ufeff", exclude_categories=("Cs",)), max_size=20), min_size=1
)


@given(LINES, st.data(), st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_line_is_shown_as_it_stands(tmp_path, lines, data, bom, compressed, end):
    number = data.draw(st.integers(1, len(lines)))
    content = (b"\xef\xbb\xbf" if bom else b"") + end.join(lines).encode()
    sources = of(tmp_path, gzip.compress(content) if compressed else content)
    shown = list(_excerpts(sources, "a", f"line {number}"))
    if number == len(lines) and not lines[-1]:
        return  # Nothing after the last line end.
    assert shown[-1].text == lines[number - 1]
    assert [excerpt.label for excerpt in shown] == ([] if number == 1 else ["line 1"]) + [f"line {number}"]


@given(st.text(max_size=30))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_place_breaks_it(tmp_path, place):
    list(_excerpts(of(tmp_path, b">NC_1 virus\nACGT\n"), "a", place))


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("lines 2-3", ["header", "one", "NC_1 two"]),
        ("record NC_1", ["NC_1 two", "three"]),
        ("offset 7", ["one\nNC_1 two\nthree\n"]),
        ("record NC_2", []),
        ("line 99", ["header"]),
    ],
)
def test_other_places(tmp_path, place, shown):
    sources = of(tmp_path, b"header\none\nNC_1 two\nthree\n")
    assert [excerpt.text for excerpt in _excerpts(sources, "a", place)] == shown


def test_a_binary_source_is_not_searched(tmp_path):
    assert list(_excerpts(of(tmp_path, b"\0\1NC_1"), "a", "record NC_1")) == []
