"""Tables with a row for each site and mutant: dms-vep-pipeline and what looks like it.

`*_func_effects.csv`, `*_mut_effect.csv`, `*_mut_icXX.csv`, summaries (one entry for each phenotype's column), escape
maps (`mutation`, `mut_escape`) and dms-view tables (`label_site`, `condition`) differ in the names of their columns.
`mutant` may instead name a column with all changes of a barcoded variant, separated by blanks (`*_func_scores.csv`).
Sites are text: `-2`, `16a`.
"""

from __future__ import annotations

import polars as pl

from builders.virogym.readers.records import finished, table_of, words
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry
from schemas import GoldsmithError


def read(assay: AssayEntry, text: str, reference: Reference, where: str) -> pl.DataFrame:
    """Columns of the entry: `score`; `site`, `wt`, `mut` where not `site`, `wildtype`, `mutant`; or `mutant`."""
    if "score" not in assay.columns:
        raise GoldsmithError(f"[{where} > columns > score] is missing: name the column with the value")
    if "mutant" in assay.columns:
        table, names = table_of(assay, text, where, {})
        return finished(table, assay, names, **words(names["mutant"], " "))
    table, names = table_of(assay, text, where, {"site": "site", "wt": "wildtype", "mut": "mutant"})
    return finished(table, assay, names, **{key: pl.col(names[key]) for key in ("wt", "site", "mut")})
