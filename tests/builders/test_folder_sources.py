"""Sources that are whole folders: one checksum over all files, given by hand or bundled, shown by `explain`."""

from pathlib import Path

import pytest

from builders.explain import _in_folder
from builders.sources import Sources
from builders.sums import sum_folder
from schemas import GoldsmithError

TOML = """
[clips]
licence = "CC0-1.0"
redistribute = true
accessed = "2026-11-30"
citation = "us"
manual = "record some"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clips = tmp_path / "clips"
    (clips / "audio").mkdir(parents=True)
    (clips / "table.tsv").write_text("id\ttext\n1\tone\n2\ttwo\n", encoding="utf-8")
    (clips / "audio" / "1.wav").write_bytes(b"RIFF")
    (tmp_path / "sources.toml").write_text(TOML, encoding="utf-8")
    return clips


def test_a_folder_has_one_checksum_that_sees_names_and_bytes(folder: Path) -> None:
    first = sum_folder(folder)
    (folder / ".DS_Store").write_bytes(b"noise")
    assert sum_folder(folder) == first
    (folder / "audio" / "1.wav").rename(folder / "audio" / "2.wav")
    renamed = sum_folder(folder).sha256
    assert renamed != first.sha256
    (folder / "audio" / "2.wav").write_bytes(b"RIFX")
    assert sum_folder(folder).sha256 not in (first.sha256, renamed)
    assert first.size == 24


def test_an_override_may_be_a_folder(folder: Path) -> None:
    sources = Sources.load(folder.parent, overrides={"clips": folder})
    assert sources.given("clips")
    assert sources.path("clips") == folder
    assert sources.resolve("clips").encoding == "folder"
    assert sources.sha256("clips") == sum_folder(folder).sha256
    with pytest.raises(GoldsmithError, match="is a folder, a file is needed"):
        sources.bytes("clips")


def test_a_source_that_is_not_given_says_so(folder: Path) -> None:
    sources = Sources.load(folder.parent)
    assert not sources.given("clips")
    with pytest.raises(GoldsmithError, match="fetched by hand: record some"):
        sources.path("clips")


def test_lines_of_a_file_in_a_folder_are_shown(folder: Path) -> None:
    shown = [(excerpt.label, excerpt.text) for excerpt in _in_folder(folder, "table.tsv line 3")]
    assert shown == [("line 1", "id\ttext"), ("line 3", "2\ttwo")]
    assert list(_in_folder(folder, "audio/1.wav row 3")) == []
    assert list(_in_folder(folder, "../sources.toml line 2")) == []
