"""`goldsmith card --check`: every stale number is named with both values, every part made by hand is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from card_folders import SPOKEN_ROWS, check, write_report, write_shard

import cards
from cards.compare import text_problems, value_problems
from cards.documents import NAMES, Documents, stale
from cards.text import mark, plain
from schemas import DatasetFolder

Edit = Callable[[str, str, str], None]


def has(found: list[str], *parts: str) -> bool:
    """Whether one of the problems holds all parts."""
    return any(all(part in line for part in parts) for line in found)


def test_a_changed_shard_is_named_everywhere(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    rows = SPOKEN_ROWS[("utterances", "train")]
    extra = {**rows[0], "utterance_id": "U100", "speaker_id": "S9", "clean": 1, "text": None}
    write_shard(spoken.path, spoken.schema.table("utterances"), "train", [*rows, extra])
    found = cards.problems(DatasetFolder(spoken.path), builder)
    train = "dataset_info > utterances > splits > train > num_examples"
    shard = "data/utterances/train-00000-of-00001.parquet"
    assert has(found, "README.md > line", "rows: the document says '10', the data say '11'")
    assert has(found, "README.md > line", "splits (utterances train) rows", "'5'", "'6'")
    assert has(found, train, "says '5', the data say '6'")
    assert has(found, "README.md > line", "voices", "'3'", "'4'"), "figures of the builder too"
    assert has(found, "DATASHEET.md > line", "missing (utterances text) missing", "'1'", "'2'")
    assert has(found, "DATASHEET.md > line", "labels (utterances clean yes) rows", "'4'", "'5'")
    assert has(found, "croissant.json > distribution", shard, "sha256")
    assert has(found, "croissant.json > rai:dataBiases", "3 voices", "4 voices")
    assert has(found, "quality/report.json", "other bytes", shard)
    cards.write(DatasetFolder(spoken.path), builder)
    left = cards.problems(DatasetFolder(spoken.path), builder)
    assert [line for line in left if "report.json" not in line] == []


EDITS = [
    ("README.md", "| Rows | 10 in 2 tables |", "| Rows | 12 in 2 tables |", "rows: the document says '12'"),
    ("README.md", "| `utterances` | `no_text` | 2 |", "| `utterances` | `no_text` | 3 |", "says '3', the data say '2'"),
    ("README.md", "| block | 1 | 0 | 0 | 0 |", "| block | 9 | 0 | 0 | 0 |", "checks (block) passed"),
    ("README.md", "Only 3 voices.", "Only 5 voices.", "voices: the document says '5', the data say '3'"),
    ("README.md", "Made for tests.", "Made for everybody.", "them. Made for everybody.'"),
    ("README.md", "## Citation", "Bought.\n\n## Citation", "'Bought.' is not made from the data"),
    ("README.md", "A failed `block` check stops a release; ", "", "README.md > line"),
    ("README.md", "num_examples: 3", "num_examples: 4", "num_examples] the document says '4', the data say '3'"),
    ("README.md", "- speech\n", "", "tags"),
    ("README.md", "pretty_name: Spoken", "pretty_name: Splendid", "pretty_name"),
    ("README.md", "license:\n", "license: &a !!python/tuple\n", "is not plain YAML"),
    ("DATASHEET.md", "| image | 4 |", "| image | 5 |", "durations (image) seconds: the document says '5'"),
    ("DATASHEET.md", "Nobody paid.", "A king paid.", "A king paid."),
    ("DATASHEET.md", "answered 16", "answered 57", "answered 57"),
    ("croissant.json", '"contentUrl": "data/speakers/', '"contentUrl": "data/others/', "contentUrl"),
    ("croissant.json", '"isLiveDataset": false', '"isLiveDataset": true', "isLiveDataset"),
    ("croissant.json", "{\n", "{", "another layout"),
    ("croissant.json", "]\n}\n", "]\n", "cannot be read"),
    ("CITATION.cff", "family-names: Writer", "family-names: Reader", "says 'Reader', the data say 'Writer'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "expected"), EDITS, ids=[f"{e[0]}-{i}" for i, e in enumerate(EDITS)])
def test_an_edit_is_found(
    spoken: DatasetFolder, builder: Path, edit: Edit, name: str, old: str, new: str, expected: str
) -> None:
    cards.write(spoken, builder)
    path = spoken.path / name
    text = path.read_text()
    if text.count(old) > 1:  # the first place will do
        path.write_text(text.replace(old, new, 1))
    else:
        edit(name, old, new)
    made = Documents.make(spoken, builder)
    found = stale(spoken, name, made)
    assert has(found, expected), found
    assert [line for other in NAMES if other != name for line in stale(spoken, other, made)] == []
    assert all(line.startswith(f"[{name}") for line in found), found


def test_a_missing_document_is_named(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    (spoken.path / "CITATION.cff").unlink()
    assert cards.problems(spoken, builder) == ["[CITATION.cff] is missing: run `goldsmith card`"]


def test_a_newer_report_is_found(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    write_report(spoken, [check("key", "block", "failed", 3)])
    found = cards.problems(DatasetFolder(spoken.path), builder)
    assert has(found, "README.md", "checks (block)"), found
    assert has(found, "README.md", "`noise`", "it should say", "`key`", "figures: failed_checks"), found


def test_a_row_that_a_figure_gained_is_named(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    record = json.loads(spoken.build_json.read_text())
    record["sources"].append({"name": "third", "url": "https://example.org/3", "licence": "MIT", "redistribute": True})
    spoken.build_json.write_text(json.dumps(record))
    found = cards.problems(DatasetFolder(spoken.path), builder)
    assert has(found, "README.md", "lacks", "third", "source_rows")
    assert has(found, "DATASHEET.md", "source_rows", "'2'", "'3'") or has(found, "DATASHEET.md", "third")


def test_required_questions_must_be_answered(spoken: DatasetFolder, builder: Path) -> None:
    sheet = builder / "datasheet.toml"
    sheet.write_text(sheet.read_text().replace('"purpose", "count"', '"purpose", "count", "consent", "funding"'))
    cards.write(spoken, builder)
    assert cards.problems(spoken, builder) == [
        "[datasheet.toml > answers > consent] is required and not answered: answer it"
    ]


def test_lines_are_compared_by_their_figures() -> None:
    made = f"a\nRows: {mark('rows', '10')} of {mark('all', '12')}.\nb"
    assert text_problems("D", made, plain(made)) == []
    assert text_problems("D", made, "a\nRows: 9 of 12.\nb") == [
        "[D > line 2] rows: the document says '9', the data say '10'"
    ]
    assert text_problems("D", made, "a\nRows: 9 of 13.\nb", 5)[1] == (
        "[D > line 7] all: the document says '13', the data say '12'"
    )
    assert text_problems("D", made, "a\nNo such thing.\nb") == [
        "[D > line 2] 'No such thing.' is not made from the data: move it to datasheet.toml",
        "[D > line 2] lacks 'Rows: 10 of 12.' (figures: rows, all)",
    ]
    assert text_problems("D", made, "a\nRows: ten of 12.\nb") == [
        "[D > line 2] the document says 'Rows: ten of 12.', it should say 'Rows: 10 of 12.' (figures: rows, all)"
    ]


def test_values_are_compared_with_their_paths() -> None:
    made = {"a": [{"name": "x", "n": 1}, {"name": "y", "n": 2}], "b": True, "c": 1}
    assert value_problems("D", made, made) == []
    assert value_problems("D", made, {**made, "b": 1}) == ["[D > b] the document says '1', the data say 'True'"]
    there = {"a": [{"name": "y", "n": 3}, {"name": "x", "n": 1}], "c": 1, "d": 0}
    assert value_problems("D", made, there) == [
        "[D > a > y > n] the document says '3', the data say '2'",
        "[D > b] is missing; the data say 'True'",
        "[D > d] '0' is not made from the data: move it to datasheet.toml",
    ]
