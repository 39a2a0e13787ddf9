"""The difference between two versions: what is found, which step it takes, and how it is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from release_folders import ASSAYS, DATASET, VARIANTS, rows, source, variant, with_columns, write_dataset

from releases import Difference, diff, write_diff_html
from releases.difference import LEVELS_OF
from schemas import Column, Dataset, Float, GoldsmithError, Int, Label, Text


def compare(
    tmp_path: Path, data: Any = None, schema: Dataset = DATASET, old: Dataset = DATASET, **fields: Any
) -> Difference:
    return diff(
        write_dataset(tmp_path / "old", schema=old), write_dataset(tmp_path / "new", data, schema=schema, **fields)
    )


def found(difference: Difference) -> list[tuple[str, str | None, str | None]]:
    return [(change.kind, change.table, change.column) for change in difference.changes]


def column(name: str, **fields: Any) -> Dataset:
    """The schema with one column of `variants` declared otherwise."""
    return with_columns("variants", lambda cs: tuple(replace(c, **fields) if c.name == name else c for c in cs))


def test_the_same_takes_a_patch(tmp_path: Path) -> None:
    difference = compare(tmp_path)
    assert (difference.changes, difference.least_bump, difference.reasons) == ((), "patch", ("nothing changed",))


def test_other_shards_and_order_are_no_change(tmp_path: Path) -> None:
    data = rows()
    data["variants"]["train"].reverse()
    assert compare(tmp_path, data, shards=3).changes == ()


SCHEMAS = [
    (column("score", type=Float(32)), "column retyped", "score", "major"),
    (column("effect", type=Label(("neutral", "harmful"))), "column retyped", "effect", "major"),
    (column("score", unit="ln"), "unit changed", "score", "major"),
    (column("tags", nullable=True), "nulls allowed", "tags", "major"),
    (column("score", nullable=False), "constraint changed", "score", "minor"),
    (column("site", minimum=0), "constraint changed", "site", "minor"),
    (column("score", meaning="How much."), "description changed", "score", "patch"),
    (with_columns("variants", lambda cs: cs[:-1]), "column removed", "tags", "major"),
    (with_columns("variants", lambda cs: (*cs, Column("n", Int(), "N.", nullable=True))), "column added", "n", "minor"),
    (with_columns("variants", lambda cs: cs, splits=("train", "test", "more")), "split added", None, "minor"),
    (with_columns("variants", lambda cs: cs, meaning="Others."), "description changed", None, "patch"),
    (with_columns("variants", lambda cs: cs, key=("site",)), "key changed", None, "major"),
]


@pytest.mark.parametrize(("schema", "kind", "name", "level"), SCHEMAS, ids=[f"{s[1]}-{s[2]}" for s in SCHEMAS])
def test_a_changed_schema(tmp_path: Path, schema: Dataset, kind: str, name: str | None, level: str) -> None:
    data = rows()
    for row in data["variants"]["train"] + data["variants"]["test"]:
        row["n"] = None
    difference = compare(tmp_path, data, schema)
    assert found(difference) == [(kind, "variants", name)]
    assert difference.least_bump == level


def test_tables_added_and_removed(tmp_path: Path) -> None:
    alone = replace(VARIANTS, columns=tuple(replace(column, references=None) for column in VARIANTS.columns))
    old = replace(DATASET, tables=(alone, ASSAYS))
    new = replace(DATASET, tables=(alone, replace(ASSAYS, name="studies")))
    data = rows()
    data["studies"] = data["assays"]
    difference = compare(tmp_path, data, new, old)
    assert found(difference) == [("table added", "studies", None), ("table removed", "assays", None)]
    assert difference.least_bump == "major"


def edit(site: int, **values: Any) -> dict[str, dict[str, list[dict[str, Any]]]]:
    data = rows()
    data["variants"]["train"][site - 1].update(values)
    return data


def test_a_corrected_value_takes_a_minor(tmp_path: Path) -> None:
    difference = compare(tmp_path, edit(2, score=9.0, tags=["a", "b"]))
    assert found(difference) == [("values changed", "variants", "score"), ("values changed", "variants", "tags")]
    assert difference.least_bump == "minor"
    assert difference.tables[0].changed == 1
    change = difference.changes[0]
    assert (change.rows, [(s.id, s.before, s.after) for s in change.samples]) == (1, [("H3/2", "1.0", "9.0")])


def test_a_label_takes_a_major(tmp_path: Path) -> None:
    difference = compare(tmp_path, edit(2, effect=1))
    assert found(difference) == [("labels changed", "variants", "effect")]
    assert difference.least_bump == "major"
    assert difference.changes[0].samples[0].after == "neutral"


def test_null_and_nan_are_compared_as_values(tmp_path: Path) -> None:
    difference = compare(tmp_path, edit(2, score=None))
    assert [(s.before, s.after) for s in difference.changes[0].samples] == [("1.0", "null")]
    old = write_dataset(tmp_path / "nan", edit(2, score=float("nan")))
    assert diff(old, write_dataset(tmp_path / "nan2", edit(2, score=float("nan")), shards=2)).changes == ()


def test_rows_added_and_removed(tmp_path: Path) -> None:
    data = rows()
    data["variants"]["train"].append(variant(20))
    added = compare(tmp_path, data)
    assert (found(added), added.least_bump) == ([("rows added", "variants", None)], "minor")
    data["variants"]["train"].pop(0)
    both = diff(write_dataset(tmp_path / "a"), write_dataset(tmp_path / "b", data))
    assert [kind for kind, *_ in found(both)] == ["rows removed", "rows added"]
    assert both.least_bump == "major"
    assert (both.tables[0].added, both.tables[0].removed) == (1, 1)


@pytest.mark.parametrize(("was", "now", "kind"), [("train", "test", "train to test"), ("test", "train", "split moved")])
def test_a_row_in_another_split(tmp_path: Path, was: str, now: str, kind: str) -> None:
    data = rows()
    data["variants"][now].append(data["variants"][was].pop(0))
    difference = compare(tmp_path, data)
    assert found(difference) == [(kind, "variants", None)]
    assert difference.least_bump == "major"
    assert difference.changes[0].text == f"{was} -> {now}, 1 row"


@pytest.mark.parametrize(
    ("fields", "kind", "level"),
    [
        ({"sources": [source(licence="CC0-1.0")]}, "licence changed", "major"),
        ({"sources": [source(), source("more")]}, "source added", "minor"),
        ({"sources": []}, "source removed", "patch"),
        ({"sources": [source(sha256="f" * 64)]}, "source changed", "patch"),
        ({"code": "beef"}, "build changed", "patch"),
        ({"tools": {"python": "3.11.7", "pyarrow": "27.0"}}, "build changed", "patch"),
    ],
)
def test_sources_licences_and_tools(tmp_path: Path, fields: dict[str, Any], kind: str, level: str) -> None:
    difference = compare(tmp_path, **fields)
    assert found(difference) == [(kind, None, None)]
    assert difference.least_bump == level


def test_every_kind_has_a_level_and_the_largest_wins(tmp_path: Path) -> None:
    assert set(LEVELS_OF.values()) == {"major", "minor", "patch"}
    difference = compare(tmp_path, edit(2, score=9.0), column("score", unit="ln"), code="beef")
    assert [change.level for change in difference.changes] == ["patch", "major", "minor"]
    assert difference.least_bump == "major"
    assert difference.reasons == ("unit changed: [variants > score] log2 -> ln",)


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    data = rows()
    data["variants"]["train"].append(variant(1))
    with pytest.raises(GoldsmithError, match=r"variants > H3/1\] is there more than once"):
        compare(tmp_path, data)


@pytest.mark.parametrize("both", [False, True])
def test_a_damaged_shard_is_refused_in_one_line(tmp_path: Path, both: bool) -> None:
    old, new = write_dataset(tmp_path / "old"), write_dataset(tmp_path / "new")
    for folder in (old, new) if both else (new,):
        folder.all_shards("variants")[0].write_bytes(b"not Parquet")
    with pytest.raises(GoldsmithError, match=r"new > variants\]|old/data/variants/train-\S+\] is damaged") as caught:
        diff(old, new)
    assert "\n" not in str(caught.value)


def test_two_datasets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="are two datasets"):
        compare(tmp_path, schema=replace(DATASET, name="other"))


GOLDEN = """\
scans (build 1) -> (build 1): at least major
  ~ major  licence changed: lab: CC-BY-4.0 -> CC0-1.0
~ variants: 8 -> 8 rows (+1 -1 ~3)
  - major  rows removed: 1 row (H3/6)
  ~ major  train to test: train -> test, 1 row (H3/1: train -> test)
  ~ major  labels changed: effect: 1 row (H3/2: harmful -> neutral)
  + minor  rows added: 1 row (H3/9)
  ~ minor  values changed: score: 2 rows (H3/2: 1.0 -> 9.0; H3/3: 1.5 -> null)
  ~ minor  values changed: tags: 1 row (H3/4: ["a"] -> ["<b>", "c"])
= assays: 1 row
"""


def everything(tmp_path: Path) -> Difference:
    data = rows()
    train, test = data["variants"]["train"], data["variants"]["test"]
    train[1].update(score=9.0, effect=1)
    train[2].update(score=None)
    train[3].update(tags=["<b>", "c"])
    test += [train.pop(0), variant(9)]
    train.pop()
    return compare(tmp_path, data, sources=[source(licence="CC0-1.0")])


def test_text(tmp_path: Path) -> None:
    assert everything(tmp_path).text() == GOLDEN


def test_the_same_difference_twice_is_the_same(tmp_path: Path) -> None:
    one, two = everything(tmp_path / "a"), everything(tmp_path / "b")
    assert one == two
    assert one.to_json()["changes"][0]["level"] == "major"


def test_page(tmp_path: Path) -> None:
    page = tmp_path / "diff.html"
    write_diff_html(everything(tmp_path), page)
    text = page.read_text(encoding="utf-8")
    assert "At least a major release" in text
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert not any(word in text for word in ("http://", "https://", "<script", "src="))


def test_long_values_are_shown_where_they_part(tmp_path: Path) -> None:
    table = replace(ASSAYS, columns=(*ASSAYS.columns, Column("sequence", Text(), "The sequence.")))
    schema = replace(DATASET, tables=(table,))
    sides = [
        write_dataset(tmp_path / name, {"assays": {"train": [{"assay": "H3", "sequence": "A" * 200 + end}]}}, schema)
        for name, end in (("old", "MK"), ("new", "MR"))
    ]
    sample = diff(*sides).changes[0].samples[0]
    assert (sample.before, sample.after) == ("…" + "A" * 9 + "MK", "…" + "A" * 9 + "MR")
