"""From records of titres to rows: repeats become one titre, and each is compared with the homologous strain's.

Not its business: how tables are read (`readers.titres`) and how names are spelt (`strains`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from builders.virogym.strains import Strains
from builders.virogym.tasks import TitreTask

EXPECTED = frozenset({"copy", "no_titre", "bad_sequence", "two_sequences"})
"""Reasons that are normal in tables of titres and in lists of strains; a titre whose strain is thereby lost is not."""


def resolved(records: pl.DataFrame, task: TitreTask, strains: Strains) -> pl.DataFrame:
    """The records with `strain_id`, or with the reason `no_sequence` or `ambiguous_strain`.

    Args:
        records: from `readers.titres.read`.
    """
    pairs = records.select("virus", "passage").unique(maintain_order=True)
    found = [strains.find(virus or "", passage) for virus, passage in pairs.iter_rows()]
    known = pairs.with_columns(
        strain_id=pl.Series([strain and strain.strain_id for strain in found], dtype=pl.String),
        sequenced=pl.Series([bool(strain and strain.sequence) for strain in found], dtype=pl.Boolean),
    )
    joined = records.join(known, on=["virus", "passage"], how="left", maintain_order="left", nulls_equal=True)
    lacking = ~pl.col("sequenced") if task.sequences == "required" else pl.lit(False)
    reason = (
        pl.when(pl.col("strain_id").is_null())
        .then(pl.lit("ambiguous_strain"))
        .when(lacking)
        .then(pl.lit("no_sequence"))
    )
    words = {
        "ambiguous_strain": "the strain has two sequences under this name",
        "no_sequence": "the strain has no sequence in its list",
    }
    new = pl.when(pl.col("reason").is_null()).then(reason)
    return joined.with_columns(
        message=pl.coalesce("message", new.replace_strict(words, default=None)), reason=pl.coalesce("reason", new)
    ).drop("sequenced")


def assemble(records: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
    """A row for each serum and strain, in the order of their first record, and the further lines: (row, line).

    Several records of a pair are repeats. Their titre is the median (of logarithms where two are in the middle); it is
    censored where a censored one is in the middle, for then it is only known to lie on one side.

    Args:
        records: those without a reason, from `resolved`.
    """
    order = records.with_columns(
        rank=pl.when(pl.col("censor") == "left").then(-1).when(pl.col("censor") == "right").then(1).otherwise(0)
    ).sort("titre", "rank", "line")
    pairs = order.group_by("serum", "strain_id").agg(
        pl.col("line").min(),
        lines=pl.col("line").sort(),
        n=pl.len(),
        low=pl.col("titre").get((pl.len() - 1) // 2),
        high=pl.col("titre").get(pl.len() // 2),
        middle=pl.concat_list(pl.col("censor").get((pl.len() - 1) // 2), pl.col("censor").get(pl.len() // 2)),
        spread=pl.col("titre").std() / pl.len().sqrt(),
        texts=pl.col("text").sort_by("line"),
        own_sem=pl.col("sem").first(),
        own_n=pl.col("n_rep").first(),
    )
    one = pl.col("n") == 1
    left, right = pl.col("middle").list.contains("left"), pl.col("middle").list.contains("right")
    titre = pl.when(pl.col("low") == pl.col("high")).then("low").otherwise((pl.col("low") * pl.col("high")).sqrt())
    rows = pairs.sort("line").select(
        "line",
        "lines",
        "serum",
        "strain_id",
        titre=titre,
        censor=pl.when(left).then(pl.lit("left")).when(right).then(pl.lit("right")).otherwise(pl.lit("none")),
        n_rep=pl.when(one).then("own_n").otherwise(pl.col("n").cast(pl.Int32)),
        sem=pl.when(one).then("own_sem").otherwise("spread"),
        replicates=pl.when(~one).then("texts"),
    )
    rows = rows.with_columns(
        limit=pl.when(pl.col("censor") != "none").then("titre"),
        log2_titre=np.log2(rows["titre"].to_numpy()),  # exact for powers of two, which polars' logarithm is not
    )
    more = [(i, line) for i, lines in enumerate(rows["lines"].to_list()) for line in lines[1:]]
    return rows.drop("lines"), more


def with_drop(rows: pl.DataFrame, homologous: pl.DataFrame) -> pl.DataFrame:
    """`homologous_strain_id` and `log2_drop`: how far below the serum's homologous titre, if that was measured.

    Args:
        rows: from `assemble`.
        homologous: `serum` and `homologous_strain_id`.
    """
    home = rows.filter(pl.col("censor") == "none").select(
        "serum", pl.col("strain_id").alias("homologous_strain_id"), home="log2_titre"
    )
    joined = rows.join(homologous, on="serum", how="left", maintain_order="left").join(
        home, on=["serum", "homologous_strain_id"], how="left", maintain_order="left"
    )
    return joined.with_columns(log2_drop=pl.col("home") - pl.col("log2_titre")).drop("home")


def sera(records: pl.DataFrame, known: pl.DataFrame | None) -> pl.DataFrame:
    """The sera of the records, in the order of their first one: `serum`, `immunogen`, `line` and `listed` (whether the
    line is of the table of sera).

    Args:
        known: from `readers.titres.immunogens`, or None where the titres' own table names the immunogen.
    """
    own = records.group_by("serum", maintain_order=True).agg(pl.col("immunogen").first(), pl.col("line").min())
    if known is None:
        return own.with_columns(listed=pl.lit(False))
    first = known.unique("serum", keep="first", maintain_order=True)
    joined = own.drop("immunogen").join(first, on="serum", how="left", maintain_order="left", suffix="_listed")
    listed = pl.col("line_listed").is_not_null()
    return joined.select("serum", "immunogen", line=pl.coalesce("line_listed", "line"), listed=listed)


def homologous_strains(sera: pl.DataFrame, task: TitreTask, strains: Strains) -> tuple[pl.DataFrame, str]:
    """The sera with `immunogen_strain_id` and `homologous_strain_id`, and which rule the latter follows."""

    def ids(names: list[Any]) -> pl.Series:
        found = [strains.find(name) if name else None for name in names]
        return pl.Series([strain and strain.strain_id for strain in found], dtype=pl.String)

    raised = ids(sera["immunogen"].to_list())
    if task.target is not None:
        target = ids([task.target] * sera.height)
        return sera.with_columns(immunogen_strain_id=raised, homologous_strain_id=target), "target"
    rule = "immunogen" if raised.count() else "none"
    return sera.with_columns(immunogen_strain_id=raised, homologous_strain_id=raised), rule
