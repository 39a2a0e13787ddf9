"""Writing the documents: golden texts, determinism, and reading them back with the programs they are for."""

from __future__ import annotations

import datetime
import json
import os
import re
from pathlib import Path

import pyarrow as pa
import pytest
from card_folders import write_folder, write_shard
from huggingface_hub import DatasetCard

import cards
from schemas import Column, Dataset, DatasetFolder, GoldsmithError, Table, Text
from schemas.folder import TOMBSTONE_SCHEMA
from schemas.hub import read_card
from schemas.parquet import write_parquet

GOLDEN = Path(__file__).parent / "golden"


def normalised(text: str) -> str:
    """Without the sizes of files, which depend on the version of pyarrow."""
    text = re.sub(r"(num_bytes|download_size|dataset_size): \d+", r"\1: N", text)
    return re.sub(r"\d[\d.,]* (k|M)?B\b", "N B", text)


@pytest.mark.parametrize("name", ["README.md", "DATASHEET.md", "CITATION.cff"])
def test_documents_equal_the_golden_texts(spoken: DatasetFolder, builder: Path, name: str) -> None:
    cards.write(spoken, builder, version="1.2.0")
    made = normalised((spoken.path / name).read_text(encoding="utf-8"))
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(made, encoding="utf-8")
    assert made == golden.read_text(encoding="utf-8"), (
        f"{name} differs: if that is meant, run UPDATE_GOLDEN=1 pytest {Path('tests/cards/test_documents.py')}"
    )


def test_the_card_blocks_versions_that_hold_withdrawn_rows(spoken: DatasetFolder, builder: Path) -> None:
    stone = {"table": "utterances", "id": "u1", "reason": "consent | withdrawn", "date": datetime.date(2026, 3, 1)}
    stones = pa.RecordBatch.from_pylist([{**stone, "last_version": "1.2.0"}], TOMBSTONE_SCHEMA)
    write_parquet(spoken.tombstones, TOMBSTONE_SCHEMA, [stones])
    cards.write(spoken, builder, version="2.0.0")
    body = (spoken.path / "README.md").read_text(encoding="utf-8")
    assert "Do not use the versions named here" in body
    assert "| 2026-03-01 | `utterances` | 1 | consent \\| withdrawn | 1.2.0 |" in body
    assert cards.problems(spoken, builder, version="2.0.0") == []


def test_the_same_data_give_the_same_bytes(spoken: DatasetFolder, builder: Path) -> None:
    first = {path: path.read_bytes() for path in cards.write(spoken, builder)}
    stamps = {path: path.stat().st_mtime_ns for path in first}
    for path in first:
        assert str(spoken.path).encode() not in path.read_bytes()
    second = cards.write(DatasetFolder(spoken.path), builder)
    assert {path: path.read_bytes() for path in second} == first
    assert {path: path.stat().st_mtime_ns for path in second} == stamps, "what is right is not written again"


def test_fresh_documents_have_no_problems(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    assert cards.problems(spoken, builder) == []
    cards.write(spoken, builder, version="1.2.0")
    assert cards.problems(spoken, builder, version="1.2.0") == []


def test_a_release_pins_its_revision(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder, version="1.2.0")
    assert 'load_dataset("acme/spoken", "utterances", revision="v1.2.0")' in (spoken.path / "README.md").read_text()
    spoken.manifest_json.write_text('{"version": "1.2.0"}')
    assert cards.problems(spoken, builder) == [], "the manifest says which release it is"


def test_the_hub_client_reads_the_yaml(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder)
    text = (spoken.path / "README.md").read_text(encoding="utf-8")
    ours, _ = read_card(text)
    assert DatasetCard(text).data.to_dict() == ours
    assert ours["language"] == ["as", "no"]
    assert [config["config_name"] for config in ours["configs"] if config.get("default")] == ["utterances"]


def test_load_dataset_reads_every_table(spoken: DatasetFolder, builder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    cards.write(spoken, builder)
    for table in spoken.schema.tables:
        loaded = datasets.load_dataset(str(spoken.path), table.name, cache_dir=str(tmp_path / "cache"))
        assert list(loaded) == list(spoken.shards(table.name))
        for split in loaded.values():
            assert split.features == datasets.Features.from_dict(table.features)
    default = datasets.load_dataset(str(spoken.path), split="test", cache_dir=str(tmp_path / "cache"))
    assert default["utterance_id"][:] == ["U7", "U8"]


def test_load_dataset_reads_every_type(everything: DatasetFolder, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    cards.write(everything, tmp_path)
    loaded = datasets.load_dataset(str(everything.path), cache_dir=str(tmp_path / "cache"))
    assert {name: len(split) for name, split in loaded.items()} == {"train": 4, "test": 1}
    assert loaded["train"].features == datasets.Features.from_dict(everything.schema.tables[0].features)


def test_a_missing_report_is_said(spoken: DatasetFolder, builder: Path) -> None:
    spoken.report_json.unlink()
    cards.write(spoken, builder)
    assert "has not been checked yet" in (spoken.path / "README.md").read_text()
    assert cards.problems(spoken, builder) == []


def test_a_sample_says_that_it_is_one(tmp_path: Path) -> None:
    table = Table("words", "A word.", (Column("word", Text(), "It."),), ("word",))
    folder = write_folder(
        tmp_path / "d", Dataset("w", "W", "S.", (table,)), {("words", "train"): [{"word": "a"}]}, [], sample=True
    )
    cards.write(folder, tmp_path)
    assert "small sample" in (folder.path / "README.md").read_text()


HOSTILE = "<script>alert(1)</script> | [x](javascript:1)\n# Heading\n---\nlicense: mit `code` *b* & ${x} {{ 7 * 7 }}"


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Names, meanings and reasons that others wrote can break neither Markdown nor YAML nor HTML."""
    table = Table("words", HOSTILE, (Column("word", Text(), HOSTILE, unit=HOSTILE, allowed=(HOSTILE, "a")),), ("word",))
    schema = Dataset("hostile", HOSTILE, "Summary.", (table,), tags=(HOSTILE,))
    source = {"name": HOSTILE, "url": f"https://example.org/{HOSTILE}", "licence": HOSTILE, "redistribute": False,
              "accessed": "2026-01-01"}  # fmt: skip
    rows = {("words", "train"): [{"word": HOSTILE}]}
    folder = write_folder(tmp_path / "d", schema, rows, [source], {"words": [HOSTILE]})
    builder = tmp_path / "b"
    builder.mkdir()
    (builder / "datasheet.toml").write_text('[card]\nlicense_name = "own"\nlicense_link = "https://example.org"\n')
    cards.write(folder, builder)
    metadata, body = read_card((folder.path / "README.md").read_text(encoding="utf-8"))
    assert metadata["pretty_name"] == HOSTILE
    assert metadata["license"] == "other"
    made = [line for line in body.splitlines() if "script" in line and line.startswith(("|", "-", "#"))]
    assert made
    for line in made:
        outside_code = re.sub(r"`[^`]*`", "", line.replace("\\`", ""))
        assert "<script" not in outside_code, line
        assert "{{ 7" in line, "a text is no template"
    rejected = next(line for line in body.splitlines() if line.startswith("| `words` | &lt;"))
    assert len(re.findall(r"(?<!\\)\|", rejected)) == 4
    for line in body.splitlines():
        assert line not in ("# Heading", "---", "license: mit `code`")
    assert [p for p in cards.problems(folder, builder) if "authors" not in p] == []


def test_unlicensed_sources_need_words(spoken: DatasetFolder, builder: Path) -> None:
    record = spoken.build_json.read_text().replace('"licence": "MIT"', '"licence": "none"')
    spoken.build_json.write_text(record)
    folder = DatasetFolder(spoken.path)
    cards.write(folder, builder)
    found = [p for p in cards.problems(folder, builder) if "licen" in p]
    assert found == [
        "[datasheet.toml > card] licences that the Hub does not know (none): give license_name and license_link"
    ]
    sheet = builder / "datasheet.toml"
    named = '[card]\nlicense_name = "mixed"\nlicense_link = "https://example.org/l"\nlicense_note = "One has none."'
    sheet.write_text(sheet.read_text().replace("[card]", named))
    cards.write(folder, builder)
    assert cards.problems(folder, builder) == []
    metadata, body = read_card((spoken.path / "README.md").read_text())
    assert metadata["license"] == ["cc-by-4.0", "other"]
    assert "One has none." in body
    assert "license" not in (spoken.path / "CITATION.cff").read_text(), "CFF takes SPDX ids alone"


def test_an_unfinished_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="no finished dataset"):
        cards.write(DatasetFolder(tmp_path), tmp_path)


def test_a_folder_that_lost_a_file_gets_no_documents(spoken: DatasetFolder, builder: Path) -> None:
    shard = spoken.all_shards("speakers")[0]
    record = json.loads(spoken.build_json.read_text())
    record["files"] = [{"path": shard.relative_to(spoken.path).as_posix(), "sha256": "0", "bytes": 1}]
    spoken.build_json.write_text(json.dumps(record))
    cards.write(DatasetFolder(spoken.path), builder)
    before = (spoken.path / "README.md").read_bytes()
    shard.unlink()
    for act in (cards.write, cards.problems):
        with pytest.raises(GoldsmithError, match=r"data/speakers/\S+ is gone: build the dataset again") as error:
            act(DatasetFolder(spoken.path), builder)
        assert error.value.code == 2
    assert (spoken.path / "README.md").read_bytes() == before


def test_a_table_without_rows_is_described(spoken: DatasetFolder, builder: Path) -> None:
    table = spoken.schema.table("speakers")
    for path in spoken.all_shards("speakers"):
        path.unlink()
    cards.write(spoken, builder)
    metadata, _ = read_card((spoken.path / "README.md").read_text())
    assert [config["config_name"] for config in metadata["configs"]] == ["utterances"]
    write_shard(spoken.path, table, "train", [])
    cards.write(spoken, builder)
    metadata, _ = read_card((spoken.path / "README.md").read_text())
    # `load_dataset` refuses a config with an empty split: "Instruction "train" corresponds to no data!".
    assert [config["config_name"] for config in metadata["configs"]] == ["utterances"]
