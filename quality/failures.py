"""What DuckDB says when a query fails, in one line. That memory was short is the fault of no query and of no file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from schemas import GoldsmithError

MEMORY = "GOLDSMITH_MEMORY"
"""The environment variable that says how much memory queries may take; `goldsmith check --memory` goes before it."""


def reason(error: duckdb.Error) -> str:
    """DuckDB's message without the excerpt of the query.

    Raises:
        duckdb.OutOfMemoryException: that is what it was; `said_if_short` says so.
    """
    if isinstance(error, duckdb.OutOfMemoryException):
        raise error
    return " ".join(str(error).split("\n\nLINE")[0].split())


@contextmanager
def said_if_short(folder: Path, memory_limit: str) -> Iterator[None]:
    """Say in one line when queries over a folder needed more memory than they had.

    Raises:
        GoldsmithError: they did.
    """
    try:
        yield
    except duckdb.OutOfMemoryException:
        more = f"give more with {MEMORY}, or --memory where the command has it"
        raise GoldsmithError(f"[{folder}] takes more memory than {memory_limit}: {more}") from None
