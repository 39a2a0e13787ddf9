"""The same sources give the same bytes, whatever the machine is like."""

from __future__ import annotations

import shutil

import pytest


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ("workers=2", {}),
        ("workers=3", {"PYTHONHASHSEED": "7"}),
        ("", {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati"}),
        ("", {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "America/St_Johns", "PYTHONUTF8": "0"}),
    ],
)
def test_another_machine(tiny, tmp_path, digests, options, environment):
    tiny.build(tmp_path / "here")
    process = tiny.process(tmp_path / "there", options, **environment)
    output = process.communicate()
    assert process.returncode == 0, output
    assert digests(tmp_path / "there") == digests(tmp_path / "here")


def test_a_shuffled_directory(tiny, tmp_path, digests):
    tiny.build(tmp_path / "here")
    files = sorted(tiny.folder.iterdir(), reverse=True)
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in files:
        shutil.copy(path, moved)
    shutil.rmtree(tiny.folder)
    moved.rename(tiny.folder)
    tiny.build(tmp_path / "there")
    assert digests(tmp_path / "there") == digests(tmp_path / "here")


def test_a_build_on_top_of_another(tiny, tmp_path, digests, lines_of):
    tiny.build(tmp_path / "here")
    (tiny.folder / "a.csv").write_text(lines_of("other", 30))
    tiny.build(tmp_path / "there")
    (tiny.folder / "a.csv").write_text(lines_of("a", 12))
    tiny.build(tmp_path / "there", workers=2)
    assert digests(tmp_path / "there") == digests(tmp_path / "here")


def test_how_a_builder_cuts_its_batches_does_not_matter_to_the_data(tiny, tmp_path, digests, monkeypatch):
    tiny.build(tmp_path / "here")
    monkeypatch.setenv("TINY_BATCH", "5")
    tiny.build(tmp_path / "there")
    here, there = digests(tmp_path / "here"), digests(tmp_path / "there")
    assert here.pop("build.json") != there.pop("build.json")  # The parameter is part of the shards' keys.
    assert here == there
