"""Tables that people give, by contract and not by guess: CSV and JSON lines are read as text (`007` is not `7`, and
0.5 may come after a thousand times 0), Parquet as it is typed; each row with the place that a message names."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from schemas import GoldsmithError
from schemas.json_lines import json_lines

PLACE = "place"
"""The column that says where a row is: `line 3` of text, `row 3` of Parquet."""


def read_rows(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> pl.DataFrame:
    """The columns `needed`, those of `optional` that are there, and `PLACE`; of any number of rows.

    Raises:
        GoldsmithError: the file is absent or of another kind, cannot be read, or lacks a column that is needed.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise GoldsmithError(f"[{path}] is no {', '.join(_READERS)} file: give one of these")
    if not path.is_file():
        raise GoldsmithError(f"[{path}] is absent: give a file with the columns {', '.join(needed)}")
    try:
        found = reader(path, [*needed, *optional])
    except (pl.exceptions.PolarsError, csv.Error, OSError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[{path}] cannot be read ({str(error).splitlines()[0]}): write it again") from None
    for column in needed:
        if column not in found.columns:
            raise GoldsmithError(f"[{path}] has no column {column}: it needs {' and '.join(needed)}")
    return found


def number(column: str) -> pl.Expr:
    """A column as float64: null where it is no number."""
    return pl.col(column).cast(pl.Float64, strict=False)


def _parquet(path: Path, wanted: Sequence[str]) -> pl.DataFrame:
    found = pl.read_parquet(path, glob=False)
    place = pl.format("row {}", pl.int_range(1, pl.len() + 1)).alias(PLACE)
    return found.select([column for column in wanted if column in found.columns]).with_columns(place)


def _csv(path: Path, wanted: Sequence[str]) -> pl.DataFrame:
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        header = next(lines, [])
        for name in wanted:
            if header.count(name) > 1:
                raise GoldsmithError(f"[{path} > {name}] is the name of {header.count(name)} columns: keep one")
        rows = []
        for cells in lines:
            if len(cells) not in (0, len(header)):
                where = f"{path} > line {lines.line_num}"
                raise GoldsmithError(f"[{where}] has {len(cells)} cells, the header {len(header)}: write as many")
            if cells:
                rows.append({PLACE: f"line {lines.line_num}", **dict(zip(header, cells, strict=True))})
    return _frame(rows, [name for name in wanted if name in header])


def _json_lines(path: Path, wanted: Sequence[str]) -> pl.DataFrame:
    rows = list(_plain_lines(path, wanted))
    return _frame(rows, [name for name in wanted if any(name in row for row in rows)])


def _plain_lines(path: Path, wanted: Sequence[str]) -> Iterator[Mapping[str, str | None]]:
    for line, entry in json_lines(path):
        row: dict[str, str | None] = {PLACE: f"line {line}"}
        for name in wanted:
            value: Any = entry.get(name)
            if isinstance(value, bool | list | dict):
                raise GoldsmithError(f"[{path} > line {line} > {name}] is no text and no number: correct it")
            if name in entry:
                row[name] = None if value is None else str(value)
        yield row


def _frame(rows: Sequence[Mapping[str, str | None]], columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in (*columns, PLACE)}, dict.fromkeys(
        (*columns, PLACE), pl.String))  # fmt: skip


_READERS: Mapping[str, Callable[[Path, Sequence[str]], pl.DataFrame]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".jsonl": _json_lines,
}
