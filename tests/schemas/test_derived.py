"""Tables made of other tables: the same rows however the shards are cut, and errors that say what to mend."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from schemas import Column, Dataset, Float, GoldsmithError, Int, Table, Text
from schemas.derived import derive, parents
from schemas.parquet import write_parquet

CLIPS = Table(
    "clips",
    "Clips.",
    (Column("id", Text(), "Id."), Column("s", Float(), "Length."), Column("who", Text(), "?")),
    ("id",),
)
SPEAKERS = Table(
    "speakers",
    "Speakers.",
    (Column("who", Text(), "Speaker."), Column("clips", Int(64), "Clips."), Column("seconds", Float(), "Sum.")),
    ("who",),
    derived="SELECT who, count(*) AS clips, sum(s) AS seconds FROM clips GROUP BY who",
)
DATASET = Dataset("speech", "Speech", "Speech.", (CLIPS, SPEAKERS))


def shards(folder: Path, *cuts: int) -> dict[str, list[Path]]:
    rows = [{"id": str(number), "s": 0.1 * number, "who": "ab"[number % 2]} for number in range(10)]
    paths = []
    for index, (first, last) in enumerate(zip((0, *cuts), (*cuts, 10), strict=True)):
        paths.append(folder / f"{len(cuts)}-{index}.parquet")
        write_parquet(paths[-1], CLIPS.arrow, [pa.RecordBatch.from_pylist(rows[first:last], CLIPS.arrow)])
    return {"clips": paths}


def test_rows_are_counted_and_sorted(tmp_path: Path) -> None:
    (batch,) = derive(DATASET, SPEAKERS, shards(tmp_path))
    assert batch.schema.equals(SPEAKERS.arrow, check_metadata=True)
    assert batch.column("who").to_pylist() == ["a", "b"]
    assert batch.column("clips").to_pylist() == [5, 5]
    assert batch.column("seconds").to_pylist() == pytest.approx([2.0, 2.5])


def test_the_cut_into_shards_does_not_matter(tmp_path: Path) -> None:
    assert derive(DATASET, SPEAKERS, shards(tmp_path)) == derive(DATASET, SPEAKERS, shards(tmp_path, 3, 7))


def test_a_derived_table_survives_json() -> None:
    assert Table.from_json(SPEAKERS.to_json()) == SPEAKERS
    assert "derived" not in CLIPS.to_json()


@pytest.mark.parametrize(
    ("query", "said"), [("SELECT nobody FROM clips", "does not run"), ("SELECT who FROM clips", "the schema says")]
)
def test_wrong_sql_is_an_error_with_its_place(tmp_path: Path, query: str, said: str) -> None:
    with pytest.raises(GoldsmithError, match=rf"\[speech > speakers\].*{said}"):
        derive(DATASET, replace(SPEAKERS, derived=query), shards(tmp_path))


EVIL = [
    "SELECT 1 AS a); COPY (SELECT 'pwned') TO '{folder}/pwned'; SELECT * FROM (SELECT * FROM read_text('/etc/passwd')",
    "SELECT who, 1 AS clips, 1.0 AS seconds FROM clips; COPY (SELECT 'pwned') TO '{folder}/pwned'",
    "COPY (SELECT 'pwned') TO '{folder}/pwned'",
    "WITH a AS (COPY (SELECT 'pwned' AS a) TO '{shard}' (USE_TMP_FILE false)) SELECT who, 1, 1.0 FROM clips",
    "SELECT content AS who, 1 AS clips, 1.0 AS seconds FROM read_text('/etc/passwd')",
    "SELECT content AS who, 1 AS clips, 1.0 AS seconds FROM '{folder}/other.txt'",
    "SELECT * FROM query('SELECT 1')",
    "SELECT who, 1 AS clips, 1.0 AS seconds FROM paths",
    "SELECT who, 1 AS clips, 1.0 AS seconds FROM clips) --",
    "",
]


@pytest.mark.parametrize("query", EVIL)
def test_sql_of_a_stranger_only_reads_the_tables(tmp_path: Path, query: str) -> None:
    given = shards(tmp_path)
    (shard,) = given["clips"]
    content = shard.read_bytes()
    (tmp_path / "other.txt").write_text("secret", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    table = replace(SPEAKERS, derived=query.format(folder=tmp_path, shard=shard))
    with pytest.raises(GoldsmithError, match=r"^\[speech > speakers\] its SQL [^\n]*mend `derived`$"):
        derive(DATASET, table, given)
    assert sorted(tmp_path.iterdir()) == before
    assert shard.read_bytes() == content


@pytest.mark.parametrize("query", [*EVIL[:4], "SELECT", ""])
def test_the_parents_of_a_stranger_s_table_are_named_without_running_it(tmp_path: Path, query: str) -> None:
    table = replace(SPEAKERS, derived=query.format(folder=tmp_path, shard=tmp_path / "shard"))
    with pytest.raises(GoldsmithError, match=r"^\[speakers\] its SQL [^\n]*mend `derived`$"):
        parents(table)
    assert not list(tmp_path.iterdir())


def test_a_comment_at_its_end_and_names_with_signs_do_no_harm(tmp_path: Path) -> None:
    column = Column('a "b"', Text(), "?")
    table = Table("odd", "Odd.", (column,), ('a "b"',), derived='SELECT DISTINCT who AS "a ""b""" FROM clips -- all')
    (tmp_path / "it's [here]").mkdir()
    (batch,) = derive(Dataset("speech", "Speech", "Speech.", (CLIPS, table)), table, shards(tmp_path / "it's [here]"))
    assert batch.column(0).to_pylist() == ["a", "b"]
    assert parents(table) == ["clips"]
