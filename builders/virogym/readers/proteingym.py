"""ProteinGym's assay files: `mutant` (`A1P:D2N`), `mutated_sequence`, `DMS_score`; indel files have no `mutant`.

`resolve` compares the sequence of each row with the reference and its edits, for a table may be of another version of
the protein. Scores are on ProteinGym's axis: higher is fitter (files before version 1 were not flipped). ProteinGym's
reference tables are read by `references` (`alphabet = "proteingym"`).
"""

from __future__ import annotations

import polars as pl

from builders.virogym import edits
from builders.virogym.readers.records import finished, table_of, words
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry


def read(assay: AssayEntry, text: str, reference: Reference, where: str) -> pl.DataFrame:
    """Columns of the entry: `mutant`, `score` and `sequence` where not ProteinGym's.

    An indel file has no `mutant` in its header: the change is then made from the sequence.
    """
    header = text.split("\n", 1)[0].lstrip("\ufeff").strip().split(",")
    has_mutant = assay.columns.get("mutant", "mutant") in header
    defaults = {"score": "DMS_score", **({"mutant": "mutant"} if has_mutant else {"sequence": "mutated_sequence"})}
    if has_mutant and "mutated_sequence" in header:
        defaults["sequence"] = "mutated_sequence"
    table, names = table_of(assay, text, where, defaults)
    if not has_mutant:
        return _from_sequences(table, assay, names, reference)
    given = _trimmed(names["sequence"], reference) if "sequence" in names else None
    return finished(table, assay, names, **words(names["mutant"], ":"), sequence=given)


def _trimmed(column: str, reference: Reference) -> pl.Expr:
    """The part of a whole protein's sequence that the reference covers."""
    length = pl.col(column).str.len_chars().cast(pl.Int64) - reference.before - reference.after
    return pl.col(column).str.slice(reference.before, length)


def _from_sequences(
    table: pl.DataFrame, assay: AssayEntry, names: dict[str, str], reference: Reference
) -> pl.DataFrame:
    tokens: list[list[str]] = []
    reasons: list[str | None] = []
    labels = dict(enumerate(reference.positions(assay.sites), 1))
    for sequence in table.select(_trimmed(names["sequence"], reference).fill_null("")).to_series().to_list():
        found = edits.between(reference.sequence, sequence) if sequence else ()
        tokens.append([_named(edit, reference.sequence, labels) for edit in found])
        reasons.append(None if sequence else "missing_field")
    columns = pl.DataFrame(
        {"tokens_": tokens, "reason_": reasons}, schema={"tokens_": pl.List(pl.String), "reason_": pl.String}
    )
    return finished(
        table.hstack(columns),
        assay,
        names,
        tokens=pl.col("tokens_"),
        reason=pl.col("reason_"),
        message=pl.lit("no sequence"),
    )


def _named(edit: edits.Edit, sequence: str, labels: dict[int, str]) -> str:
    """The edit as a token of the source's numbering."""
    place = f"{sequence[edit.start - 1]}{labels[edit.start]}"
    if edit.op == "sub":
        return place + edit.new
    if edit.end != edit.start:
        place += f"_{sequence[edit.end - 1]}{labels[edit.end]}"
    return place + edit.op + edit.new
