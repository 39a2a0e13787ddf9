"""What the Hub refuses: a planted defect for each rule, and a clean card that breaks none."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from schemas import (
    Audio,
    Bool,
    Column,
    Date,
    Float,
    GoldsmithError,
    Image,
    Int,
    Json,
    Label,
    List,
    Struct,
    Table,
    Text,
    Timestamp,
)
from schemas.hub import card_problems, read_card
from schemas.hub_files import HubFile, data_files, dataset_info, features_yaml
from schemas.hub_words import LICENCES, SIZES, TASKS, hub_licence, languages, size_category
from schemas.parquet import write_parquet

FEATURES = {"a": {"dtype": "string", "_type": "Value"}}
FILES = [
    HubFile("data/words/train-00000-of-00002.parquet", 100, 600, 1000, FEATURES),
    HubFile("data/words/train-00001-of-00002.parquet", 50, 500, 900, FEATURES),
    HubFile("data/words/test-00000-of-00001.parquet", 25, 3, 90, FEATURES),
    HubFile("data/people/train-00000-of-00001.parquet", 10, 1, 20, FEATURES),
]


def clean() -> dict[str, Any]:
    """A card that describes FILES."""
    return {
        "license": ["cc-by-4.0", "other"],
        "license_name": "own",
        "license_link": "https://example.org",
        "language": ["as", "brx", "no"],
        "task_categories": ["automatic-speech-recognition"],
        "size_categories": ["1K<n<10K"],
        "annotations_creators": ["expert-generated"],
        "configs": [
            {
                "config_name": "words",
                "default": True,
                "data_files": [
                    {"split": "train", "path": "data/words/train-*.parquet"},
                    {"split": "test", "path": ["data/words/test-*.parquet"]},
                ],
            },
            {"config_name": "people", "data_files": "data/people/*.parquet"},
        ],
        "dataset_info": [
            dataset_info("words", [("train", FILES[:2]), ("test", FILES[2:3])]),
            dataset_info("people", [("train", FILES[3:])]),
        ],
    }


def test_a_clean_card_has_no_problems() -> None:
    assert card_problems(clean(), FILES) == []


Spoil = Callable[[dict[str, Any]], object]
DEFECTS: list[tuple[str, Spoil, str]] = [
    ("licence in capitals", lambda m: m.update(license="CC-BY-4.0"), "[README.md > license] 'CC-BY-4.0'"),
    ("no licence", lambda m: m.pop("license"), "license] is missing"),
    ("other without a name", lambda m: m.pop("license_name"), "license_name] is missing"),
    ("other without a link", lambda m: m.pop("license_link"), "license_link] is missing"),
    ("link to nowhere", lambda m: m.update(license_link="README.md"), "license_link] 'README.md'"),
    ("three letters", lambda m: m.update(language=["asm"]), "language] 'asm'"),
    ("no is false", lambda m: m.update(language=[False]), "YAML reads False as bool: quote it"),
    ("unknown language", lambda m: m.update(language="xx-zz"), "language] 'xx-zz'"),
    ("task", lambda m: m.update(task_categories=["asr"]), "task_categories] 'asr'"),
    ("size word", lambda m: m.update(size_categories=["1K"]), "size_categories] '1K' is not"),
    ("wrong size", lambda m: m.update(size_categories=["n<1K"]), "says n<1K; 1104 rows are 1K<n<10K"),
    ("creators", lambda m: m.update(annotations_creators=["experts"]), "annotations_creators] 'experts'"),
    ("language creators", lambda m: m.update(language_creators=["no-annotation"]), "language_creators]"),
    ("multilinguality", lambda m: m.update(multilinguality=["many"]), "multilinguality]"),
    ("config without name", lambda m: m["configs"][1].pop("config_name"), "a config has no config_name"),
    ("config twice", lambda m: m["configs"][1].update(config_name="words"), "words] stands 2 times"),
    ("config data", lambda m: m["configs"][1].update(config_name="data"), "the name `data` is refused"),
    ("two defaults", lambda m: m["configs"][1].update(default=True), "one config must be the default"),
    ("no default", lambda m: m["configs"][0].pop("default"), "one config must be the default"),
    ("split name", lambda m: m["configs"][0]["data_files"][0].update(split="train-clean"), "split 'train-clean'"),
    ("glob", lambda m: m["configs"][0]["data_files"][0].update(path="data/word/*.parquet"), "matches no file"),
    ("unclaimed", lambda m: m["configs"][0]["data_files"].pop(), "test-00000-of-00001.parquet is in no config"),
    ("rows", lambda m: m["dataset_info"][0]["splits"][1].update(num_examples=4), "dataset_info > words > splits"),
    ("bytes", lambda m: m["dataset_info"][0]["splits"][1].update(num_bytes=4), "dataset_info > words > splits"),
    ("download", lambda m: m["dataset_info"][0].update(download_size=4), "says 4, the files say 175"),
    ("size", lambda m: m["dataset_info"][0].update(dataset_size=4), "dataset_size"),
    ("features", lambda m: m["dataset_info"][1]["features"][0].update(dtype="int8"), "people > features"),
    ("info of nothing", lambda m: m["dataset_info"][1].update(config_name="x"), "dataset_info > x] there is no such"),
    ("dotted key", lambda m: m.update({"a.b": 1}), "key 'a.b' has a '.'"),
    ("dollar key", lambda m: m["configs"][0].update({"$x": 1}), "configs > 0] key '$x'"),
    ("null key", lambda m: m.update({None: 1}), "key None is no text"),
    ("null value", lambda m: m.update(tags=None), "key 'tags' has no value"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "spoil", "expected"), DEFECTS, ids=[what for what, _, _ in DEFECTS])
def test_a_defect_is_found(what: str, spoil: Spoil, expected: str) -> None:
    metadata = copy.deepcopy(clean())
    spoil(metadata)
    found = card_problems(metadata, FILES)
    assert any(expected in line for line in found), found


def test_an_incomplete_set_of_shards_is_found() -> None:
    found = card_problems(clean(), [FILES[0], *FILES[2:]])
    assert "[README.md > configs] data/words/train: shard 00001 of 2 is missing" in found


def test_rubbish_is_no_crash() -> None:
    assert card_problems({"configs": "x", "dataset_info": ["y"], "license": [1], "language": {}}, FILES)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("# Only a title\n", "has no YAML head"),
        ("---\nlicense: mit\nlicense: other\n---\n", "key 'license' stands twice"),
        ("---\na:\n  b: 1\n  b: 2\n---\n", "key 'b' stands twice"),
        ("---\na: !!python/tuple [1]\n---\n", "python/tuple"),
        ("---\n- a\n---\n", "is no mapping"),
        ("---\na: [\n---\n", "not plain YAML"),
        ("---\n? [a]\n: 1\n---\n", "not plain YAML"),
    ],
)
def test_heads_that_are_no_plain_yaml(text: str, error: str) -> None:
    with pytest.raises(GoldsmithError, match=error) as raised:
        read_card(text)
    assert "\n" not in str(raised.value)


def test_a_head_is_read() -> None:
    assert read_card("---\na: 'no'\n---\n# Title\n---\n") == ({"a": "no"}, "# Title\n---\n")


def test_size_categories_meet_at_their_borders() -> None:
    assert [size_category(n) for n in (0, 999, 1000, 552_065, 10**12)] == [
        SIZES[0], SIZES[0], SIZES[1], "100K<n<1M", SIZES[-1]
    ]  # fmt: skip


def test_vocabularies() -> None:
    assert {"as", "or", "brx", "mni", "code"} <= languages()
    assert not {"asm", "ori"} & languages()
    assert hub_licence("GPL-3.0-only") == "gpl-3.0"
    assert hub_licence("MIT") == "mit"
    assert hub_licence("none") is None
    assert hub_licence("other") is None
    assert all(word == word.strip().lower() for word in LICENCES | TASKS)


def test_features_are_written_as_datasets_writes_them() -> None:
    datasets = pytest.importorskip("datasets")
    span = Struct({"start": Int(32), "scores": List(Float(32)), "picture": Image()})
    kinds = [
        Text(), Int(8), Float(), Bool(), Date(), Timestamp(), Label(("no", "yes")), Json(), Image(), Audio(),
        Audio(16000),
        List(Text()), List(List(Float(32))), List(span), List(List(span)), List(Json()), List(Audio(8000)),
        List(Label(("a", "b"))), Struct({"x": Bool(), "y": Struct({"z": Date()})}),
    ]  # fmt: skip
    table = Table("t", "m", tuple(Column(f"c{i}", kind, "m") for i, kind in enumerate(kinds)), ("c0",))
    theirs = datasets.Features.from_dict(table.features)
    assert features_yaml(table.features) == theirs._to_yaml_list()
    assert datasets.Features._from_yaml_list(features_yaml(table.features)) == theirs


def test_footers_are_read(tmp_path: Path) -> None:
    table = Table("words", "m", (Column("word", Text(), "m"),), ("word",))
    path = tmp_path / "data" / "words" / "train-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    write_parquet(path, table.arrow, [pa.RecordBatch.from_pydict({"word": ["a", "b"]}, schema=table.arrow)])
    (file,) = data_files(tmp_path)
    assert (file.path, file.rows, file.size) == ("data/words/train-00000-of-00001.parquet", 2, path.stat().st_size)
    assert file.features == table.features
    assert file.num_bytes > 0
