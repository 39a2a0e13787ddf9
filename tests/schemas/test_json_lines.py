"""Lines of JSON that people give: each object has its keys once, and what is wrong is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas import GoldsmithError
from schemas.json_lines import json_lines, json_object


def test_objects_come_with_the_numbers_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n  \r\n{"a": {"b": [1, 2]}}\r\n')
    assert list(json_lines(path)) == [(1, {"a": 1}), (4, {"a": {"b": [1, 2]}})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"score": 1, "score": 2}', "it has 'score' twice"),
        (b'{"a": {"x": 1, "x": 1}}', "it has 'x' twice"),
        (b'{"score": NaN}', "NaN is no number of JSON"),
        (b"[1]", "it is no JSON object"),
        (b'{"a": ', "it is no JSON: Expecting value"),
        (b'{"a": "\xff"}', "it is no UTF-8"),
        (b'{"a": ' + b"[" * 100_000, "it is too deep"),
    ],
)
def test_a_line_that_cannot_be_read_in_one_way_is_refused(tmp_path: Path, line: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        json_object(line)
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line + b"\n")
    with pytest.raises(GoldsmithError, match=rf"\[p.jsonl > line 2\] .*{message}.*: write one object a line"):
        list(json_lines(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="is no file: give JSON lines"):
        list(json_lines(tmp_path / "none.jsonl"))
