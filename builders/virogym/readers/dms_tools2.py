"""Tables of dms_tools2: preferences, `muteffects`, `mutdiffsel`.

Preferences are wide (a column for each amino acid, no `score` in the entry) or long. `transform = "log2_wt"` makes the
score comparable between sites: log2 of the preference over the wild type's. In `mutdiffsel` the column `mutation` is
the mutant's one letter and the wild type's value is missing; in `muteffects` it is a whole word, `mutant` the letter.
"""

from __future__ import annotations

import polars as pl

from builders.virogym.readers.records import finished, table_of
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry
from builders.virogym.schema import AMINO_ACIDS


def read(assay: AssayEntry, text: str, reference: Reference, where: str) -> pl.DataFrame:
    """Columns of the entry: `score` for long tables; `site`, `wt`, `mut` where not `site`, `wildtype`, `mutant`."""
    if "score" in assay.columns:
        table, names = table_of(assay, text, where, {"site": "site", "wt": "wildtype", "mut": "mutant"})
    else:
        wide, names = table_of(assay, text, where, {"site": "site", "wt": "wildtype", **{a: a for a in AMINO_ACIDS}})
        table = wide.unpivot(
            list(AMINO_ACIDS),
            index=["line", names["site"], names["wt"]],
            variable_name="mutant",
            value_name="preference",
        )
        names = {"site": names["site"], "wt": names["wt"], "mut": "mutant", "score": "preference"}
        table = table.sort("line", maintain_order=True)
    records = finished(table, assay, names, **{key: pl.col(names[key]) for key in ("wt", "site", "mut")})
    return _over_wild_type(records) if assay.transform == "log2_wt" else records


def _over_wild_type(records: pl.DataFrame) -> pl.DataFrame:
    """A preference of 0 has no logarithm: such a value cannot be used."""
    wild_type = pl.col("raw").filter(pl.col("wt") == pl.col("mut")).first().over("site")
    usable = (pl.col("raw") > 0) & (wild_type > 0)
    return records.with_columns(
        score=pl.when(usable).then((pl.col("raw") / wild_type).log(2)),
        value_reason=pl.when(pl.col("value_reason").is_null() & pl.col("raw").is_not_null() & ~usable.fill_null(False))
        .then(pl.lit("bad_score"))
        .otherwise("value_reason"),
    )
