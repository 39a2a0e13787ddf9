"""Text files of a source: small ones whole, records of long ones one by one.

A line ends with a line feed; a carriage return before it is no part of it. What is no UTF-8 is kept readable.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from builders.sketch.forms import Problem, short


def text(path: Path) -> str:
    """A text file's content."""
    return path.read_text(encoding="utf-8-sig", errors="backslashreplace")


@lru_cache(maxsize=16)
def _starts(path: Path, stamp: int) -> array[int]:
    """Where each line begins, in bytes."""
    starts, at = array("q"), 0
    with open(path, "rb") as file:
        for raw in file:
            starts.append(at)
            at += len(raw)
    return starts


def line(path: Path, index: int) -> str:
    """A line of a text file, from 0; the places of the lines are kept, not their content."""
    with open(path, "rb") as file:
        file.seek(_starts(path, path.stat().st_mtime_ns)[index])
        return _decoded(file.readline(), index)


def _decoded(raw: bytes, index: int) -> str:
    return raw.decode("utf-8" if index else "utf-8-sig", "backslashreplace").rstrip("\r\n")


def as_objects(path: Path, name: str) -> Iterator[tuple[int, str, dict[str, Any] | Problem]]:
    """(index, line, object) of a file with a JSON object a line; empty lines are passed over."""
    with open(path, "rb") as file:
        for index, raw in enumerate(file):
            content = _decoded(raw, index)
            if content.strip():
                yield index, content, _as_object(content, f"{name} line {index + 1}")


def _as_object(content: str, place: str) -> dict[str, Any] | Problem:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        fault = " ".join(str(error).split())
        return Problem("bad_json", f"the line is no JSON ({fault})", place, short(content))
    if isinstance(value, dict):
        return value
    return Problem("bad_record", f"the line is a {type(value).__name__}, no object", place, short(content))
