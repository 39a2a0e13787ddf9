"""Files that cannot be read, said in one line that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from schemas import GoldsmithError


@contextmanager
def readable(path: Path, cure: str = "build the dataset again, or get the release again") -> Iterator[None]:
    """Read `path` in this block, and nothing else.

    Raises:
        GoldsmithError: it is missing or damaged; `cure` says what to do.
    """
    try:
        yield
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is missing: {cure}") from None
    except (pa.ArrowException, OSError, duckdb.Error) as error:
        cause = " ".join(str(error).split())[:200]
        raise GoldsmithError(f"[{path}] is damaged ({cause}): {cure}") from None
