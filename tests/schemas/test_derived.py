"""Tables made of other tables: the same rows however the shards are cut, and errors that say what to mend."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from schemas import Column, Dataset, Float, GoldsmithError, Int, Table, Text
from schemas.derived import derive
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
