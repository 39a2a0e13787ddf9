"""Each rule of lint finds its planted violation, and only that; a clean release has none."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tiny import GAUGES, make_release, write_card

from releases.lint import Limits, lint
from releases.manifest import File, read_manifest, to_text, walk
from schemas import GoldsmithError
from schemas.files import sha256_file

SHARD = "data/readings/train-00000-of-00002.parquet"


def rewrite(release: Path, change: Callable[[pa.Table], pa.Table] = lambda rows: rows, **options: Any) -> None:
    """Write a shard again, by pyarrow's own writer, and let card and manifest follow it."""
    rows = change(pq.read_table(release / SHARD))
    pq.write_table(rows, release / SHARD, **{"write_page_index": True, **options})
    write_card(release, GAUGES)
    write_manifest_of(release)


def write_manifest_of(release: Path) -> None:
    """The manifest for the files as they are; the digest of rows is of no matter here."""
    paths = [path for path in walk(release) if path != "manifest.json"]
    files = tuple(File(p, (release / p).stat().st_size, sha256_file(release / p)) for p in paths)
    manifest = dataclasses.replace(read_manifest(release), files=files)
    (release / "manifest.json").write_text(to_text(manifest.to_json()))


def edit_card(old: str, new: str) -> Callable[[Path], None]:
    """Replace text in the card."""

    def change(release: Path) -> None:
        text = (release / "README.md").read_text()
        assert old in text
        (release / "README.md").write_text(text.replace(old, new))
        write_manifest_of(release)

    return change


def no_page_index(release: Path) -> None:
    rewrite(release, write_page_index=False)


def null_column(release: Path) -> None:
    rewrite(release, lambda rows: rows.set_column(1, "level", pa.nulls(len(rows))))


def nested_null(release: Path) -> None:
    column = pa.array([[None]] * 20, pa.list_(pa.null()))
    rewrite(release, lambda rows: rows.append_column("more", column))


def large_cell(release: Path) -> None:
    ids = pa.array(["x" * 5000, *[f"r{n}" for n in range(19)]])
    rewrite(release, lambda rows: rows.set_column(0, "id", ids))


def large_list(release: Path) -> None:
    column = pa.array([list(range(2000)), *[[1]] * 19])
    rewrite(release, lambda rows: rows.append_column("more", column))


def pointer(release: Path) -> None:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    (release / "lineage/readings.parquet").write_text(text)
    write_manifest_of(release)


def no_parquet(release: Path) -> None:
    (release / "lineage/readings.parquet").write_bytes(b"PAR1 and so on")
    write_manifest_of(release)


def shard_renamed(release: Path) -> None:
    (release / SHARD).rename(release / "data/readings/part-0.parquet")
    write_manifest_of(release)


def grown(release: Path) -> None:
    with open(release / "build.json", "a") as file:
        file.write("\n")


def changed(release: Path) -> None:
    content = bytearray((release / SHARD).read_bytes())
    content[len(content) // 2] ^= 1
    (release / SHARD).write_bytes(content)


def gone(release: Path) -> None:
    (release / "build.json").unlink()


def extra(release: Path) -> None:
    (release / "notes.txt").write_text("mine")


def crowded(release: Path) -> None:
    for number in range(30):
        (release / "quality").mkdir(exist_ok=True)
        (release / "quality" / f"{number}.txt").write_text("")
    write_manifest_of(release)


def git_folder(release: Path) -> None:
    (release / "quality/.cache").mkdir(parents=True)
    manifest = release / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"path": "build.json"', '"path": "quality/.cache/build.json"'))
    (release / "build.json").rename(release / "quality/.cache/build.json")


SMALL = Limits(scan=200, row_group=10_000, cell=4_000, media=4_000, file=50_000, entries=25, files=40)
VIOLATIONS = [
    ("scan size without page index", no_page_index, rf"{SHARD} > row group 0\] has \d+ bytes and no page index"),
    ("null-typed column", null_column, rf"{SHARD} > level\] has no type"),
    ("null inside a list", nested_null, rf"{SHARD} > more\] has no type"),
    ("text cell", large_cell, rf"{SHARD} > id\] has a cell of 5000 bytes"),
    ("list cell", large_list, rf"{SHARD} > more\] has a cell of \d+ bytes"),
    ("LFS pointer", pointer, r"\[lineage/readings.parquet\] is an LFS pointer"),
    ("no Parquet", no_parquet, r"\[lineage/readings.parquet\] is no Parquet file"),
    ("shard in no config", shard_renamed, r"data/readings/part-0.parquet is in no config"),
    ("size in the manifest", grown, r"\[build.json\] has \d+ bytes, the manifest says"),
    ("other bytes", changed, rf"\[{SHARD}\] is not the file that was released"),
    ("file gone", gone, r"\[build.json\] is in the manifest but not in the folder"),
    ("extra file", extra, r"\[notes.txt\] is not in the manifest"),
    ("entries per folder", crowded, r"\[quality\] has 30 entries"),
    ("folder that the Hub refuses", git_folder, r"the Hub refuses files under .cache"),
    ("split name", edit_card("split: test", "split: te-st"), "split 'te-st' may only have"),
    ("config name", edit_card("config_name: pictures", "config_name: data"), "the name `data` is refused"),
    ("licence", edit_card("cc0-1.0", "cc0"), "'cc0' is not in the Hub's list"),
    ("language", edit_card("license: cc0-1.0", "license: cc0-1.0\nlanguage: asm"), "'asm' is not in the Hub's list"),
    ("task", edit_card("license: cc0-1.0", "license: cc0-1.0\ntask_categories: [reading]"), "'reading' is not in"),
    ("YAML tag", edit_card("cc0-1.0", "!!python/tuple [a]"), "is not plain YAML"),
    ("YAML key", edit_card("license: cc0-1.0", "license: cc0-1.0\na.b: 1"), "'a.b' has a '.'"),
    ("rows in the card", edit_card("num_examples: 10", "num_examples: 11"), "num_examples"),
    ("bytes in the card", edit_card("download_size: ", "download_size: 9"), "download_size"),
    ("no card", lambda release: (release / "README.md").unlink(), r"\[README.md\] is missing"),
]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return make_release(tmp_path / "gauges")


def test_a_clean_release_has_no_problem(release: Path) -> None:
    assert lint(release) == []
    assert lint(release, SMALL) == []


@pytest.mark.parametrize(("name", "plant", "words"), VIOLATIONS, ids=[name for name, _, _ in VIOLATIONS])
def test_planted_violation(name: str, plant: Callable[[Path], None], words: str, release: Path) -> None:
    plant(release)
    found = lint(release, SMALL)
    assert any(re.search(words, line) for line in found), found
    assert len(found) <= 6, found
    assert all("\n" not in line for line in found)


def test_limits_on_whole_files(release: Path) -> None:
    found = lint(release, Limits(row_group=500, file=2_000, media=60, files=5))
    assert any("row group 0] has" in line and "make smaller row groups" in line for line in found)
    assert any("train-00000-of-00001.parquet > picture] has a cell of" in line for line in found)
    assert any("the Hub advises at most 5: make larger shards" in line for line in found)


def test_a_folder_that_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="no release"):
        lint(tmp_path)


def test_a_shard_written_again_with_page_index_is_clean(release: Path) -> None:
    rewrite(release)
    assert lint(release, SMALL) == []
