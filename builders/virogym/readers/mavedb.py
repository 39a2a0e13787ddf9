"""MaveDB score sets: `hgvs_pro`, `score` and further columns of the depositor.

Nearly all variants are one substitution and are read by one regular expression; the rest goes through `hgvs.read`.
Libraries deposited as separate rows are replicates (`columns = { replicate = "library" }`).
"""

from __future__ import annotations

import polars as pl

from builders.virogym import hgvs
from builders.virogym.edits import EditError
from builders.virogym.readers.records import finished, table_of
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry


def read(assay: AssayEntry, text: str, reference: Reference, where: str) -> pl.DataFrame:
    """Columns of the entry: `hgvs` and `score` where not MaveDB's; `replicate`, `average`."""
    table, names = table_of(assay, text, where, {"hgvs": "hgvs_pro", "score": "score"})
    word = pl.col(names["hgvs"]).fill_null("").str.strip_chars()
    if assay.target is not None:
        word = word.str.strip_prefix(f"{assay.target}:")
    parts = word.str.extract_groups(hgvs.SIMPLE)
    wt, mut = parts.struct.field("wt"), parts.struct.field("mut")
    letters = {**hgvs.ONE, "del": "-"}
    one = wt.replace_strict(hgvs.ONE, default=None)
    table = table.with_columns(
        wt_=one,
        site_=parts.struct.field("site"),
        mut_=pl.when(mut == "=").then(one).otherwise(mut.replace_strict(letters, default=None)),
    )
    table = _with_rest(table, names["hgvs"], assay.target)
    variant = {key: pl.col(f"{key}_") for key in ("wt", "site", "mut", "tokens", "reason", "message")}
    return finished(table, assay, names, **variant)


def _with_rest(table: pl.DataFrame, column: str, target: str | None) -> pl.DataFrame:
    """What the one expression does not read, one by one; equal words once."""
    rest = table.select(pl.col(column), "wt_", "mut_").filter(pl.col("wt_").is_null() | pl.col("mut_").is_null())
    made: dict[str, tuple[list[str] | None, str | None, str | None]] = {}
    for word in rest[column].unique(maintain_order=True).to_list():
        try:
            made[word] = (hgvs.read(word or "", target), None, None)
        except EditError as error:
            made[word] = (None, error.reason, str(error))
    schema = {column: pl.String, "tokens_": pl.List(pl.String), "reason_": pl.String, "message_": pl.String}
    read = pl.DataFrame([(word, *values) for word, values in made.items()], schema=schema, orient="row")
    return table.join(read, on=column, how="left", maintain_order="left", nulls_equal=True)
