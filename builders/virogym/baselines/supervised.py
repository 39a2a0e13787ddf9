"""The simplest supervised model, for each split: the mean of the site plus the mean effect of the new amino acid.

It shows what a split measures. Under the random split the site's other changes are known and the model does well by
memory; under modulo and contiguous it must take the nearest site that it was trained on. Under the cluster split no
site is known: the score is then the mean effect of the same change of amino acid in assays of other proteins, each
assay first scaled to mean 0 and deviation 1, and only assays of the same kind (fitness, or escape).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from builders.virogym.baselines.substitutions import changes
from builders.virogym.schema import AMINO_ACIDS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LETTERS = len(AMINO_ACIDS)


def site_mean(position: Ints, mutant: Ints, y: Floats, fold: Ints) -> Floats:
    """Out-of-fold predictions of an assay's single changes, shape (n,).

    Args:
        position: of each change, from 1.
        mutant: its new letter, 0 to 19.
        y: measured scores.
        fold: each row is predicted from the rows of the other folds, of which there must be some.
    """
    predicted = np.empty(len(y))
    for each in np.unique(fold):
        held = fold == each
        seen = ~held
        sites, at = np.unique(position[seen], return_inverse=True)
        by_site = np.bincount(at, y[seen]) / np.bincount(at)
        number = np.bincount(mutant[seen], minlength=_LETTERS)
        total = np.bincount(mutant[seen], y[seen], minlength=_LETTERS)
        effect = np.where(number > 0, total / np.maximum(number, 1) - y[seen].mean(), 0)
        predicted[held] = by_site[_nearest(sites, position[held])] + effect[mutant[held]]
    return predicted


def _nearest(sites: Ints, position: Ints) -> Ints:
    """The index of the nearest of the sorted `sites`, the lower one of two."""
    right = np.clip(np.searchsorted(sites, position), 1, max(len(sites) - 1, 1))
    if len(sites) == 1:
        return np.zeros(len(position), np.int64)
    left = right - 1
    return np.where(position - sites[left] <= sites[right] - position, left, right)


def predictions(variants: pl.DataFrame, fitness: dict[str, bool]) -> pl.DataFrame:
    """Out-of-fold scores of the single substitutions: `assay_id`, `variant_id`, `split`, `score`.

    A multi-mutant's site is not one: the model leaves assays with multi-mutants out of the random and cluster splits.

    Args:
        variants: the table's substitutions.
        fitness: whether an assay is on a fitness axis, by `assay_id`.
    """
    parts = []
    for part in variants.partition_by("assay_id", maintain_order=True):
        several = not (part["kind"] == "sub").all()
        for split in ("random", "modulo", "contiguous"):
            rows = part.filter(pl.col("kind") == "sub") if split != "random" else part
            rows = rows.filter(pl.col(f"split_{split}").is_not_null())
            if (several and split == "random") or rows[f"split_{split}"].n_unique() < 2:
                continue
            found = changes(rows["mutant"])
            score = site_mean(
                found["position"].to_numpy(),
                found["mt"].to_numpy(),
                rows["score"].to_numpy(),
                rows[f"split_{split}"].to_numpy(),
            )
            parts.append(rows.select("assay_id", "variant_id", split=pl.lit(split), score=pl.Series(score)))
        if several:
            variants = variants.filter(pl.col("assay_id") != part["assay_id"][0])
    return pl.concat([*parts, _other_clusters(variants, fitness)])


def _other_clusters(variants: pl.DataFrame, fitness: dict[str, bool]) -> pl.DataFrame:
    """The mean effect of the same change in assays of other clusters; 0 where none has it."""
    found = changes(variants["mutant"])
    y = pl.col("score")
    rows = variants.select(
        "assay_id", "variant_id", "split_cluster", scaled=((y - y.mean()) / y.std()).over("assay_id").fill_nan(0)
    ).with_columns(
        pair=found["wt"].cast(pl.Int64) * _LETTERS + found["mt"].cast(pl.Int64),
        fitness=pl.col("assay_id").replace_strict(fitness, return_dtype=pl.Boolean),
    )
    sums = rows.group_by("fitness", "pair").agg(total=pl.col("scaled").sum(), number=pl.len())
    own = rows.group_by("fitness", "pair", "split_cluster").agg(own=pl.col("scaled").sum(), mine=pl.len())
    joined = rows.join(sums, on=["fitness", "pair"], how="left", maintain_order="left").join(
        own, on=["fitness", "pair", "split_cluster"], how="left", maintain_order="left"
    )
    others = pl.col("number").cast(pl.Int64) - pl.col("mine").cast(pl.Int64)
    mean = pl.when(others > 0).then((pl.col("total") - pl.col("own")) / others).otherwise(0.0)
    return joined.select("assay_id", "variant_id", split=pl.lit("cluster"), score=mean)
