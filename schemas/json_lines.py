"""Lines of JSON that people give, such as predictions: one object a line, each of its keys once.

Python takes the last of two values of one key and says nothing, other readers the first: such a line is refused, for
nobody knows which was meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas.errors import GoldsmithError


def json_object(line: str | bytes) -> dict[str, Any]:
    """The object of a line.

    Raises:
        ValueError: it is no JSON in UTF-8, or no object, or has a key twice or a number that JSON does not have.
    """
    try:
        text = line if isinstance(line, str) else line.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ValueError("it is no UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from None
    except RecursionError:
        raise ValueError("it is no JSON that can be read: it is too deep") from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with the numbers of their lines, from 1; empty lines are passed over.

    Raises:
        GoldsmithError: there is no such file, or a line is not as `json_object` wants it.
    """
    if not path.is_file():
        raise GoldsmithError(f"[{path}] is no file: give JSON lines")
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield number, json_object(line)
                except ValueError as error:
                    raise GoldsmithError(f"[{path.name} > line {number}] {error}: write one object a line") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has {twice!r} twice")
    return made


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
