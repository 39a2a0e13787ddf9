"""Delimited tables as text: every column is read as text, and every row keeps its line.

Types are cast by the readers, by contract: inference reads site `150d` as an error and segment `NA` as missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import polars as pl

from schemas import GoldsmithError

NULLS = frozenset({"", "-", "na", "n/a", "nan", "nil", "none", "null", "undefined"})
"""Spellings of a missing number, in lower case (those that MaveDB accepts). For numbers only: `NA` is a flu segment."""


def read_table(text: str, where: str, needed: Iterable[str] = (), separator: str = ",") -> pl.DataFrame:
    """A CSV file as text columns, with the column `line` (the header is line 1).

    Args:
        separator: a tab for TSV.

    Raises:
        GoldsmithError: it is empty, is cut off within its last record, or lacks a column that is needed.
    """
    if not text.strip():
        raise GoldsmithError(f"[{where}] is empty: fetch the file again")
    try:
        table = pl.read_csv(io.BytesIO(text.encode()), infer_schema=False, separator=separator)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError, pl.exceptions.DuplicateError) as error:
        reason = str(error).splitlines()[0]
        raise GoldsmithError(f"[{where}] is no CSV table ({reason}): fetch the file again") from None
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise GoldsmithError(
            f"[{where}] has no column `{missing[0]}`; its columns are {', '.join(table.columns[:12])}: "
            "is it the file of another assay, or does `columns` name it otherwise?"
        )
    if not table.height:
        raise GoldsmithError(f"[{where}] has a header and no record: fetch the file again")
    _check_end(text, where, len(table.columns), separator)
    if (
        f"{separator} " in text or f" {separator}" in text
    ):  # blanks around values; looked for first, because stripping costs more than reading
        table = table.with_columns(pl.all().str.strip_chars())
    return _with_lines(table, text, separator)


def _check_end(text: str, where: str, width: int, separator: str) -> None:
    """A download that broke off ends in the middle of a record."""
    tail = text.rstrip("\r\n").rpartition("\n")[2]
    if '"' not in tail and tail.count(separator) + 1 < width:
        raise GoldsmithError(
            f"[{where}] ends within a record (`{tail[:60]}` has {tail.count(separator) + 1} of {width} fields): "
            "it was cut off; fetch the file again"
        )


def _with_lines(table: pl.DataFrame, text: str, separator: str) -> pl.DataFrame:
    """Lines follow the row number unless quoted fields hold line ends; blank lines are no records."""
    count = text.count("\n") + (not text.endswith("\n"))
    if count == table.height + 1:
        lines = pl.int_range(2, table.height + 2, dtype=pl.Int64, eager=True)
    else:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        starts, end = [], 0
        for _ in reader:
            starts.append(end + 1)
            end = reader.line_num
        lines = pl.Series(starts[1 : table.height + 1], dtype=pl.Int64)
    named = table.with_columns(lines.alias("line"))
    return named.filter(pl.any_horizontal(pl.col(table.columns).is_not_null())) if "\n\n" in text else named


def number(column: str) -> pl.Expr:
    """A text column as float64; what is no number is null, and so is NaN."""
    return pl.col(column).cast(pl.Float64, strict=False).fill_nan(None)


def lines_of(text: str) -> list[str]:
    """The lines of a file, so that line n is `lines[n - 1]`."""
    return text.split("\n")
