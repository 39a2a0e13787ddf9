"""The rows of `variants` and `proteingym`: replicates merged, direction applied, folds dealt, sequences made.

Not its business: what a record says (`readers`) and whether it fits the protein (`resolve`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from builders.virogym import edits
from builders.virogym.registry import AssayEntry
from builders.virogym.schema import PROTEINGYM, VARIANTS
from builders.virogym.sequences import shortened, substituted
from schemas import Table

FOLDS = 5


def merged(resolved: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
    """One row for each protein: replicates, and records that spell one protein differently, share it with their mean.

    A record that repeats another of the same replicate in the same words is not merged: that is a mistake of the
    source, left for the check of duplicates to find.

    Args:
        resolved: usable records only.

    Returns:
        The rows in the order of their first record, and (row, line) of each further record.
    """
    shared = resolved["mutant"].is_duplicated()
    if not shared.any():
        return resolved, []
    replicates = resolved["label"].null_count() == 0
    rows = _merge(resolved.filter(shared), replicates)
    alone = resolved.filter(~shared).with_columns(more=pl.lit([], pl.List(pl.Int64)))
    if replicates:
        alone = alone.with_columns(n_rep=pl.col("replicates").list.len().cast(pl.Float64))
    rows = pl.concat([alone.select(rows.columns), rows]).sort("line", maintain_order=True)
    further = rows.with_row_index("row").filter(pl.col("more").list.len() > 0).select("row", "more").explode("more")
    return rows.drop("more"), list(further.iter_rows())


def _merge(records: pl.DataFrame, replicates: bool) -> pl.DataFrame:
    """Records of the same mutant as one row; `more` holds the lines of the further ones.

    Args:
        replicates: whether each record is one replicate, so that `n_rep` is how many there are.
    """
    words = pl.concat_str(pl.coalesce(pl.concat_str("wt", "site", "mut"), pl.col("tokens").list.join(":")))
    label = pl.coalesce("label", words)
    records = records.with_columns(turn=pl.int_range(pl.len()).over("mutant", label))
    first = ("kind", "n_mut", "start", "hgvs_pro", "ref_site", "mutated")
    own = pl.when(pl.col("replicates").is_null()).then(pl.concat_arr("raw").arr.to_list()).otherwise("replicates")
    count = pl.col("replicates").list.len().sum() if replicates else pl.col("n_rep").sum()
    rows = records.with_columns(own=own).group_by("mutant", "turn", maintain_order=True).agg(
        pl.col("line").first(),
        pl.col("line").slice(1).alias("more"),
        *(pl.col(name).first() for name in first),
        pl.col("raw", "score", "n_obs").mean(),
        pl.col("sd").first(),
        pl.when(pl.col("n_rep").null_count() < pl.len() if not replicates else pl.lit(True)).then(count).alias("n_rep"),
        pl.when((pl.len() > 1) | pl.col("replicates").first().is_not_null()).then(pl.col("own").explode())
        .alias("replicates"),
    )  # fmt: skip
    several = pl.col("more").list.len() > 0
    return rows.with_columns(sd=pl.when(~several).then("sd"), n_rep=pl.col("n_rep").cast(pl.Float64)).drop("turn")


def assemble(rows: pl.DataFrame, assay_id: str, assay: AssayEntry, cluster: str, length: int) -> pl.DataFrame:
    """The `variants` rows, in the columns of the schema and one more, `mutated`.

    Args:
        rows: from `merged`.
        cluster: the reference's cluster at 30 % identity.
        length: of the reference.
    """
    ids = [edits.variant_id(assay.reference, mutant) for mutant in rows["mutant"].to_list()]
    score = pl.col("score") * (-1 if assay.direction == -1 else 1)
    changed = ~pl.col("kind").is_in(["wt", "syn"])
    single = changed & (pl.col("n_mut") == 1)
    rows = rows.with_columns(
        assay_id=pl.lit(assay_id),
        variant_id=pl.Series(ids, dtype=pl.String),
        fold=pl.Series([int(variant[:8], 16) % FOLDS for variant in ids], dtype=pl.Int8),
        score=score,
        score_raw=pl.col("raw"),
        score_sd=pl.col("sd"),
        n_rep=pl.col("n_rep").cast(pl.Int32),
        raw_row=pl.col("line"),
        split_cluster=pl.lit(cluster),
    )
    cutoff = bin_cutoff(rows, assay)
    reached = pl.lit(None, pl.Int8) if cutoff is None else (pl.col("score") >= cutoff).cast(pl.Int8)
    rows = rows.with_columns(
        bin=pl.when(pl.col("kind").is_in(["sub", "multi"])).then(reached),
        split_random=pl.when(changed).then("fold"),
        split_modulo=pl.when(single).then(pl.col("start") % FOLDS).cast(pl.Int8),
        split_contiguous=pl.when(single).then((pl.col("start") - 1) * FOLDS // length).cast(pl.Int8),
    )
    return rows.select(*VARIANTS.names, "mutated")


def bin_cutoff(rows: pl.DataFrame, assay: AssayEntry) -> float | None:
    """The score from which `bin` is 1: the entry's, else the median of the substitutions; None where there are none."""
    if assay.bin_cutoff is not None:
        return float(assay.bin_cutoff)
    median: Any = rows.filter(pl.col("kind").is_in(["sub", "multi"]))["score"].median()
    return None if median is None else float(median)


def proteingym(rows: pl.DataFrame, sequence: str) -> tuple[pa.RecordBatch, pl.Series]:
    """The `proteingym` rows of an assay, and the line of each.

    Args:
        rows: from `assemble`.
        sequence: of the reference.
    """
    chosen = rows.filter(pl.col("kind").is_in(["sub", "multi", "del", "ins"]))
    substitutions = pl.col("kind").is_in(["sub", "multi"])
    columns = chosen.select(
        DMS_id="assay_id",
        variant_id="variant_id",
        mutant=pl.when(substitutions).then("mutant"),
        DMS_score="score",
        DMS_score_bin="bin",
    )
    table = {name: columns[name].to_arrow() for name in columns.columns}
    table["mutated_sequence"] = _sequences(chosen, sequence)
    arrays = [_as(table[field.name], field.type) for field in PROTEINGYM.arrow]
    return pa.RecordBatch.from_arrays(arrays, schema=PROTEINGYM.arrow), chosen["raw_row"]


def _sequences(rows: pl.DataFrame, sequence: str) -> pa.Array:
    """The mutated sequence of each row. Those of records with several changes are there already."""
    kind, index = rows["kind"].to_numpy(), np.arange(rows.height)
    known = rows["mutated"].is_not_null().to_numpy()
    position = rows["mutant"].str.extract(r"^[A-Z](\d+)").cast(pl.Int64).to_numpy()
    one, gone, other = index[(kind == "sub") & ~known], index[(kind == "del") & ~known], index[known]
    letters = "".join(rows["mutant"].gather(one).str.slice(-1).to_list())
    made = [
        substituted(sequence, len(one), np.arange(len(one)), position[one], letters),
        shortened(sequence, position[gone]),
        rows["mutated"].gather(other).to_arrow().cast(pa.large_string()),
    ]
    return pa.concat_arrays(made).take(pa.array(np.argsort(np.concatenate([one, gone, other]), kind="stable")))


def to_batch(rows: pl.DataFrame, table: Table) -> pa.RecordBatch:
    """A frame as one batch in the table's Arrow schema."""
    arrays = [_as(rows[field.name].to_arrow(), field.type) for field in table.arrow]
    return pa.RecordBatch.from_arrays(arrays, schema=table.arrow)


def _as(array: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if kind == pa.json_():
        return pa.ExtensionArray.from_storage(kind, array.cast(pa.string()))
    return array.cast(kind)
