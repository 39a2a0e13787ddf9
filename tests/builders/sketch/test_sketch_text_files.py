"""Lines of long files, one by one: the same as all of them at once, whatever ends them and whatever they hold."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from builders.sketch.forms import Problem
from builders.sketch.text_files import as_objects, line


def test_lines_and_objects_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'\xef\xbb\xbf{"n": 0}\r\n\r\n{"n": "\xe0\xa5\x90 \xff"}\n[1]\n{"n":\n{"n": 5}')
    found = list(as_objects(path, "a.ndjson"))
    assert [index for index, _, _ in found] == [0, 2, 3, 4, 5]
    assert [content for _, content, _ in found] == [line(path, index) for index, _, _ in found]
    assert line(path, 0) == '{"n": 0}'
    assert line(path, 2) == '{"n": "\u0950 \\xff"}'  # What is no UTF-8 stays readable; JSON then refuses it.
    objects = [each for _, _, each in found]
    assert [each if isinstance(each, dict) else each.reason for each in objects] == [
        {"n": 0}, "bad_json", "bad_record", "bad_json", {"n": 5},
    ]  # fmt: skip
    assert [each.place for each in objects if isinstance(each, Problem)] == [f"a.ndjson line {n}" for n in (3, 4, 5)]


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text("1\n22\n")
    assert line(path, 1) == "22"
    path.write_text("333\n4444\n55555\n")
    assert (line(path, 1), line(path, 2)) == ("4444", "55555")


@pytest.mark.parametrize("whole", [False, True])
def test_memory_is_not_the_file(tmp_path: Path, whole: bool) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text(('{"drawing": "' + "x" * 1000 + '"}\n') * 20_000)
    tracemalloc.start()
    for index, _, _ in as_objects(path, "a.ndjson"):
        if whole:
            assert line(path, index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000 < path.stat().st_size
