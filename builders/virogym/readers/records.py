"""What all readers have in common: the columns of a record, its values, and mutants written as one word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from builders.virogym.registry import AssayEntry
from builders.virogym.tables import NULLS, number, read_table
from schemas import GoldsmithError

COLUMNS = {
    "line": pl.Int64,  # of the source
    "wt": pl.String,  # one change: wild type, site, mutant (`-` for a deletion) ...
    "site": pl.String,
    "mut": pl.String,
    "tokens": pl.List(pl.String),  # ... or several, for `edits.parse`
    "sequence": pl.String,  # the mutated sequence, where the source gives it
    "label": pl.String,  # which replicate, where each has its own record
    "raw": pl.Float64,  # the value as the source gives it
    "score": pl.Float64,  # on the axis of the assay, direction not yet applied
    "sd": pl.Float64,
    "n_obs": pl.Float64,
    "n_rep": pl.Float64,
    "replicates": pl.List(pl.Float64),
    "reason": pl.String,  # why the variant cannot be read
    "message": pl.String,
    "value_reason": pl.String,  # why the value cannot be used
}

_OPTIONAL = ("sd", "n_obs", "n_rep")
_KEYS = frozenset(
    "score site wt mut mutant sequence hgvs sd n_obs n_rep average replicate".split()  # noqa: SIM905
)


def table_of(
    assay: AssayEntry, text: str, where: str, defaults: Mapping[str, str]
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows of the assay, and the name of each column that the entry or the format gives.

    Args:
        defaults: the format's own names for the columns that it must have.
    """
    unknown = sorted(set(assay.columns) - _KEYS)
    if unknown:
        raise GoldsmithError(f"[{where} > columns > {unknown[0]}] is unknown: the keys are {', '.join(sorted(_KEYS))}")
    names = {**defaults, **assay.columns}
    table = read_table(text, where, [*names.values(), *assay.replicates, *assay.filters])
    for column, wanted in assay.filters.items():
        if not isinstance(wanted, dict):
            table = table.filter(pl.col(column).is_in(wanted if isinstance(wanted, list) else [wanted]))
            if not table.height:
                raise GoldsmithError(f"[{where} > filters > {column}] no record has {wanted!r}: correct the value")
    return table, names


def finished(
    table: pl.DataFrame, assay: AssayEntry, names: Mapping[str, str], **variant: pl.Expr | None
) -> pl.DataFrame:
    """Records from a table: the variant's columns as given, the values cast.

    Args:
        variant: expressions for `wt`, `site`, `mut`, `tokens`, `sequence`, `reason`, `message`; absent ones are null.
    """
    made: dict[str, pl.Expr] = {"line": pl.col("line")}
    for column in ("wt", "site", "mut", "tokens", "sequence", "label", "reason", "message"):
        given = variant.get(column)
        made[column] = pl.lit(None, COLUMNS[column]) if given is None else given
    made["raw"] = number(names["score"])
    for column in _OPTIONAL:
        made[column] = number(names[column]) if column in names else pl.lit(None, pl.Float64)
    if assay.replicates:
        made["replicates"] = _listed(assay.replicates)
    elif "replicate" in names:
        made["label"] = pl.col(names["replicate"])
        made["replicates"] = _listed([names["score"]])
        if "average" in names:  # published beside each replicate, from values that are not rounded
            made["raw"] = pl.when(made["raw"].is_not_null()).then(number(names["average"]))
    else:
        made["replicates"] = pl.lit(None, COLUMNS["replicates"])
    made["text"] = pl.col(names["score"])
    made["filtered"] = _filtered(assay)
    return _with_value_reason(table.select(**made))


def _listed(columns: Sequence[str]) -> pl.Expr:
    """The numbers in some columns of a row. (`concat_list` and `drop_nulls` do the same in six times the time.)"""
    numbers = pl.concat_arr([number(column) for column in columns])
    return numbers.arr.to_list().list.filter(pl.element().is_not_null())


def _filtered(assay: AssayEntry) -> pl.Expr:
    """Whether a row is outside the entry's bounds; a bound on a missing number is not kept."""
    outside = pl.lit(False)
    for column, wanted in assay.filters.items():
        if isinstance(wanted, dict):
            within = pl.lit(True)
            within = within if "min" not in wanted else within & (number(column) >= wanted["min"])
            within = within if "max" not in wanted else within & (number(column) <= wanted["max"])
            outside = outside | ~within.fill_null(False)
    return outside


def _with_value_reason(records: pl.DataFrame) -> pl.DataFrame:
    """`filtered`, `bad_score` (no number, or infinite) or null. A missing value is found by `resolve`, at the end."""
    odd = records.filter(pl.col("raw").is_null() | pl.col("raw").is_infinite())["text"].unique().to_list()
    bad = [text for text in odd if text is not None and text.strip().lower() not in NULLS]
    reason = pl.lit(None, pl.String)
    if bad:
        reason = pl.when(pl.col("text").is_in(bad)).then(pl.lit("bad_score"))
    reason = pl.when("filtered").then(pl.lit("filtered")).otherwise(reason)
    return records.with_columns(value_reason=reason, score="raw").drop("text", "filtered")


def words(column: str, separator: str) -> dict[str, pl.Expr]:
    """A column of mutants such as `A12V` or `A12V:D20N`: one change as letters and site, several as tokens.

    `wt` and an empty word are the whole wild type: no token.
    """
    word = pl.col(column).fill_null("").str.strip_chars()
    parts = word.str.extract_groups(r"^(?<wt>[A-Za-z*])(?<site>-?\d+[a-z]?)(?<mut>[A-Za-z*-])$")
    one = parts.struct.field("wt").is_not_null()
    whole = word.str.to_lowercase().is_in(["", "wt", "_wt"])
    tokens = pl.when(whole).then(pl.lit([], pl.List(pl.String))).otherwise(word.str.split(separator))
    return {
        **{name: parts.struct.field(name) for name in ("wt", "site", "mut")},
        "tokens": pl.when(one).then(None).otherwise(tokens),
    }
