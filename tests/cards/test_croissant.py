"""croissant.json: valid, complete, true, and readable by mlcroissant with as many records as Parquet has rows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlcroissant
import pytest
from card_folders import MEDIA, thing

import cards
from cards import croissant_gate
from cards.datasheet import RAI, Datasheet
from cards.documents import Documents
from schemas import DatasetFolder


def rows_of(folder: DatasetFolder, table: str) -> int:
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(path).num_rows for path in folder.all_shards(table))


def test_it_validates_without_errors_or_warnings(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder, version="1.2.0")
    issues = mlcroissant.Dataset(jsonld=str(spoken.path / "croissant.json")).metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())


def test_warnings_of_a_bare_dataset(everything: DatasetFolder, tmp_path: Path) -> None:
    """Nothing is warned about even without a datasheet.toml: the date is that of the last access of a source."""
    cards.write(everything, tmp_path)
    issues = mlcroissant.Dataset(jsonld=str(everything.path / "croissant.json")).metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())


def test_as_many_records_as_rows(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    read = mlcroissant.Dataset(jsonld=str(spoken.path / "croissant.json"))
    for table in spoken.schema.tables:
        records = list(read.records(table.name))
        assert len(records) == rows_of(spoken, table.name)
    records = {record["utterances/utterance_id"]: record for record in read.records("utterances")}
    assert records[b"U1"] == {
        "utterances/split": b"train",
        "utterances/utterance_id": b"U1",
        "utterances/speaker_id": b"S1",
        "utterances/text": b"sentence 1",
        "utterances/seconds": 2.5,
        "utterances/clean": 1,
        "utterances/kind": b"text",
    }
    assert records[b"U3"]["utterances/text"] is None
    assert [record["dataset-splits/name"] for record in read.records("dataset-splits")] == ["train", "test"]


def test_every_type_is_read_back(everything: DatasetFolder, tmp_path: Path) -> None:
    cards.write(everything, tmp_path)
    read = mlcroissant.Dataset(jsonld=str(everything.path / "croissant.json"))
    records = {record["things/id"]: record for record in read.records("things")}
    assert len(records) == rows_of(everything, "things") == 5
    made, row = records[b"r2"], thing(2)
    plain = {
        "things/split_of_file": b"train",
        "things/split": row["split"].encode(),
        "things/int8": 2,
        "things/int64": row["int64"],
        "things/float32": 1.0,
        "things/bool": False,
        "things/label": 0,
        "things/json": b'{"i": 2}',
        "things/audio": MEDIA["bytes"],
        "things/texts": [text.encode() for text in row["texts"]],
        "things/matrix": row["matrix"],
        "things/labels": [0, 1],
        "things/struct/inner": {"things/struct/inner/name": b"n", "things/struct/inner/values": [1, 2]},
        "things/groups/items": [{"things/groups/items/name": b"a", "things/groups/items/value": 1.5}],
    }
    assert {name: made[name] for name in plain} == plain
    assert made["things/date"].date() == row["date"]
    assert made["things/time"].to_pydatetime() == row["time"]
    assert made["things/image"].getpixel((0, 0)) == (2, 0, 0)
    assert made["things/struct"]["things/struct/x"] == 2
    assert made["things/struct"]["things/struct/picture"].getpixel((0, 0)) == (2, 0, 0)
    assert [picture.getpixel((0, 0)) for picture in made["things/pictures"]] == [(2, 0, 0)] * 2
    spans = made["things/spans"]
    assert [span["things/spans/start"] for span in spans] == [0, 1]
    assert [span["things/spans/scores"] for span in spans] == [[], [0.5]]
    assert spans[1]["things/spans/picture"].getpixel((0, 0)) == (2, 0, 0)


def test_what_mlcroissant_cannot_read_is_nothing(everything: DatasetFolder, tmp_path: Path) -> None:
    """Structs behind two lists are described; mlcroissant 1.1.1 reads nothing there, and does not break."""
    cards.write(everything, tmp_path)
    read = mlcroissant.Dataset(jsonld=str(everything.path / "croissant.json"))
    record = next(r for r in read.records("things") if r["things/id"] == b"r1")
    assert record["things/deep/items"] == [{"things/deep/items/value": None}]
    assert record["things/deep"] == [{"things/deep/name": b"d"}]


def test_the_rai_terms(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    made = json.loads((spoken.path / "croissant.json").read_text())
    assert made["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    assert made["rai:dataBiases"] == ["3 voices are no population."]
    assert made["rai:dataLimitations"][0] == "Only 3 voices."
    assert made["rai:dataCollectionMissingData"] == "Missing values: speakers.age: 1 of 3; utterances.text: 1 of 7."
    read = mlcroissant.Dataset(jsonld=made).metadata
    assert read.data_biases == ["3 voices are no population."]
    assert read.personal_sensitive_information == ["Voices."]


def test_every_rai_key_is_written(spoken: DatasetFolder, tmp_path: Path) -> None:
    texts = {key: "2024-01-01" if key.endswith("timeframe") else f"about {key}" for key in RAI}
    lines = "\n".join(f'{key} = "{text}"' for key, text in texts.items())
    (tmp_path / "datasheet.toml").write_text(f"[rai]\n{lines}\n")
    cards.write(spoken, tmp_path)
    made = json.loads((spoken.path / "croissant.json").read_text())
    assert {key.removeprefix("rai:") for key in made if key.startswith("rai:")} == set(RAI.values())
    assert croissant_gate.validation(made) == []
    read = mlcroissant.Dataset(jsonld=made).metadata
    misspelt = {"data_collection_timeframe", "data_manipulation_protocol"}  # by mlcroissant 1.1.1
    assert {key for key in RAI if getattr(read, key) is None} == misspelt


Break = Callable[[dict[str, Any]], object]


def _fields(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    return next(r for r in document["recordSet"] if r["@id"] == table)["field"]


BREAKS: list[tuple[str, Break, str]] = [
    ("profile", lambda d: d["conformsTo"].pop(), "conformsTo"),
    ("rai", lambda d: d.update({"rai:dataBias": "x"}), "rai:dataBias"),
    ("ids", lambda d: _fields(d, "things")[2].update({"@id": "things/id"}), "things/id] the id stands 2 times"),
    ("column", lambda d: _fields(d, "things").pop(), "things/deep] the column has no field"),
    ("member", lambda d: _fields(d, "things")[-6]["subField"].pop(), "things/struct/picture] the column has no field"),
    ("sha256", lambda d: d["distribution"][0].update(sha256="0" * 64), "that of the file is"),
    ("size", lambda d: d["distribution"][0].update(contentSize="1 B"), "contentSize"),
    ("file", lambda d: d["distribution"].pop(0), "is missing"),
    ("other file", lambda d: d["distribution"][0].update(contentUrl="data/x.parquet"), "there is no such file"),
    ("type", lambda d: _fields(d, "things")[1].pop("dataType"), "dataType"),
    ("source", lambda d: _fields(d, "things")[1]["source"].update(fileSet={"@id": "nowhere"}), "nowhere"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "spoil", "expected"), BREAKS, ids=[what for what, _, _ in BREAKS])
def test_the_gate_finds(everything: DatasetFolder, tmp_path: Path, what: str, spoil: Break, expected: str) -> None:
    made = Documents.make(everything, tmp_path)
    assert croissant_gate.problems(made.croissant, everything, made.sums) == []
    document = copy.deepcopy(dict(made.croissant))
    spoil(document)
    found = croissant_gate.problems(document, everything, made.sums)
    assert any(expected in line for line in found), found
    assert all(line.startswith("[croissant.json") for line in found)


def test_nothing_is_said_that_nobody_knows(spoken: DatasetFolder, tmp_path: Path) -> None:
    made = Documents.make(spoken, tmp_path)
    assert made.material.sheet == Datasheet()
    assert "url" not in made.croissant
    assert "" not in made.croissant.values()
