"""EVcouplings-style mutation tables: `mutant` with comma-separated changes, or the word `wt`.

An optional column `segment` is chosen by the entry's `filters`; it is text, so that flu's segment `NA` stays a name.
"""

from __future__ import annotations

import polars as pl

from builders.virogym.readers.records import finished, table_of, words
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry
from schemas import GoldsmithError


def read(assay: AssayEntry, text: str, reference: Reference, where: str) -> pl.DataFrame:
    """Columns of the entry: `score`; `mutant` where it is not `mutant`."""
    if "score" not in assay.columns:
        raise GoldsmithError(f"[{where} > columns > score] is missing: name the column with the value")
    table, names = table_of(assay, text, where, {"mutant": "mutant"})
    return finished(table, assay, names, **words(names["mutant"], ","))
