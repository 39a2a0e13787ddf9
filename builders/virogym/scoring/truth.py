"""Reading the tables of a dataset folder or release that predictions are scored against."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from polars.exceptions import PolarsError

from schemas import DatasetFolder, GoldsmithError


def table(folder: DatasetFolder, name: str, columns: Sequence[str]) -> pl.DataFrame:
    """Columns of a table, in the order of its files.

    Raises:
        GoldsmithError: the folder has no such table, or it cannot be read.
    """
    files = sorted((folder.path / "data" / name).glob("*.parquet"))
    if not files:
        raise GoldsmithError(f"[{folder.path} > {name}] is absent: build virogym, or name its folder with -d")
    try:
        return pl.read_parquet(files, columns=list(columns), glob=False).select(columns)
    except PolarsError as error:
        reason = str(error).strip().splitlines()[0]
        raise GoldsmithError(f"[{folder.path} > {name}] cannot be read ({reason}): build virogym again") from None
