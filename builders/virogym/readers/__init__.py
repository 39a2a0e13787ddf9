"""One module a format. Each has `read(assay, text, reference, where)` and returns records, in the columns of `records`.

A reader knows where a format keeps its variants and values; it does not know whether a variant fits the protein.
"""

from __future__ import annotations

import polars as pl

from builders.virogym.readers import dms_tools2, dmsvep, evcouplings, mavedb, proteingym
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry

_READERS = {
    "dms_tools2": dms_tools2.read,
    "dmsvep": dmsvep.read,
    "evcouplings": evcouplings.read,
    "mavedb": mavedb.read,
    "proteingym": proteingym.read,
}


def read(assay: AssayEntry, text: str, reference: Reference, where: str) -> pl.DataFrame:
    """The assay's records: a row for each record of the source that belongs to it; see `records.COLUMNS`.

    Raises:
        GoldsmithError: the file is empty, cut off, or lacks a column; the entry names a column wrongly.
    """
    return _READERS[assay.reader](assay, text, reference, where)
