"""A `Strange` check: planted strange rows come first, by measures and by embedding, within their own kind."""

from __future__ import annotations

import numpy as np
import pytest
from quality_folders import failing, results

from quality.run import check
from schemas import CheckSet, Column, Dataset, Float, GoldsmithError, Int, List, Strange, Table, Text

TABLE = Table(
    "clips",
    "Clips.",
    (
        Column("clip", Text(), "Key."),
        Column("language", Text(), "Language.", nullable=True),
        Column("seconds", Float(), "Duration.", nullable=True),
        Column("words", Int(), "Words."),
        Column("constant", Float(), "The same everywhere."),
        Column("vector", List(Float(32)), "Embedding.", nullable=True),
    ),
    key=("clip",),
)
DATASET = Dataset("voices", "Voices", "Voices.", (TABLE,))
MEASURES = ("seconds", "words", "constant")


def clips(language: str | None, n: int, seed: int = 0) -> list[dict]:
    draw = np.random.default_rng(seed)
    return [
        {
            "clip": f"{language}{index:04}",
            "language": language,
            "seconds": 5 + draw.normal(),
            "words": int(draw.poisson(12)),
            "constant": 1.0,
            "vector": [1.0, *draw.normal(0, 0.2, 3)],
        }
        for index in range(n)
    ]


def run(folder, rows, *checks):
    made = folder(DATASET, {"clips": {"train": rows}})
    return made, check(made, CheckSet(checks), groups=("own",))


def test_planted_rows_come_first_and_say_what_is_unusual(folder):
    rows = clips("hi", 400)
    rows[17]["seconds"] = 1e30
    rows[230] |= {"seconds": -20.0, "words": 400}
    made, report = run(folder, rows, Strange("strange", "Unlike the others.", "clips", MEASURES, top=2))
    assert failing(made) == {"strange": ["hi0017", "hi0230"]}
    result = results(report)["strange"]
    said = dict(result.examples)
    assert result.severity == "info"
    assert report.passed
    assert "strangest" in said["hi0230"]
    assert "words +12.0 spreads" in said["hi0230"]
    assert "constant" not in said["hi0230"]


def test_an_embedding_that_points_elsewhere_comes_first(folder):
    rows = clips("hi", 200)
    rows[5]["vector"] = [0.1, -2.0, 2.0, 0.0]
    rows[6]["vector"] = None
    rows[7]["vector"] = [float("nan"), 1.0, 1.0, 1.0]
    rows[8]["vector"] = [1.0, 1.0]
    made, report = run(folder, rows, Strange("strange", "Unlike the others.", "clips", ("vector",), top=1))
    assert failing(made) == {"strange": ["hi0005"]}
    assert "1 of 197" in results(report)["strange"].examples[0][1]


def test_rows_are_compared_with_their_own_kind(folder):
    hindi, tamil = clips("hi", 300, 1), clips("ta", 300, 2)
    for row in tamil:
        row["seconds"] += 60
    hindi[3]["seconds"] += 60  # usual in Tamil, unheard of in Hindi
    rows = [*hindi, *tamil, *clips("te", 29, 3), *clips(None, 40, 4)]
    made, _ = run(
        folder, rows, Strange("strange", "Unlike its own.", "clips", ("seconds", "words"), by="language", top=1)
    )
    found = failing(made)["strange"]
    assert "hi0003" in found
    assert [row[:2] for row in found] == ["hi", "ta"]


def test_the_order_of_rows_does_not_matter(folder):
    rows = clips("hi", 200)
    strange = Strange("strange", "Unlike the others.", "clips", MEASURES, top=5)
    first, _ = run(folder, rows, strange)
    second, _ = run(folder, rows[::-1], strange)
    assert first.findings.read_bytes() == second.findings.read_bytes()


@pytest.mark.parametrize(
    "rows", [clips("hi", 29), [], [row | {"seconds": None, "words": 1} for row in clips("hi", 50)]]
)
def test_where_nothing_can_be_told_it_does_not_apply(folder, rows):
    _, report = run(folder, rows, Strange("strange", "Unlike.", "clips", MEASURES))
    assert results(report)["strange"].status == "not_applicable"
    assert "30 rows that differ" in results(report)["strange"].why


def test_a_column_that_there_is_not_is_named(folder):
    with pytest.raises(GoldsmithError, match=r"\[voices > strange\] pitch is no column"):
        run(folder, clips("hi", 40), Strange("strange", "Unlike.", "clips", ("pitch",)))
