"""What a model must beat: scores that need no weights and little or no data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from builders.virogym.baselines import alignment, rising, substitutions, supervised, titres
from builders.virogym.scoring import truth
from schemas import DatasetFolder, GoldsmithError

_RISING = {
    "persistence": "persistence",
    "codon": "codon",
    "codon-blosum62": "codon_blosum62",
    "blosum62-emergence": "blosum62",
}

NAMES = (*substitutions.MATRICES, "site-independent", "site-mean", "hamming", *_RISING)
"""`site-mean` is the supervised model for the splits; `hamming` is for titres, those from `persistence` on for
emergence, all others for deep mutational scans."""


def predict(name: str, folder: DatasetFolder, alignments: Mapping[str, Path]) -> pl.DataFrame:
    """The predictions of one of `NAMES`, in the columns that `goldsmith score virogym` reads.

    Args:
        alignments: for `site-independent`: a FASTA file by `reference_id`. Assays of other references are left out.

    Raises:
        GoldsmithError: an alignment is missing, of an unknown reference, or of another protein.
    """
    if name == "hamming":
        rows = titres.hamming(folder).drop_nulls()
        return rows.rename({"score_hamming": "score"})
    if name in _RISING:
        columns = ("window_id", "mutation", "wt", "mut", "count_T", "min_nt_dist")
        rows = rising.with_baselines(truth.table(folder, "emergence", columns))
        return rows.select("window_id", "mutation", score=f"score_{_RISING[name]}")
    rows = truth.table(folder, "variants", ("assay_id", "variant_id", "mutant", "kind", "score", *_SPLITS))
    rows = rows.filter(pl.col("kind").is_in(["sub", "multi"]))
    assays = truth.table(folder, "assays", ("assay_id", "reference_id", "direction"))
    if name == "site-mean":
        fitness = dict(assays.select("assay_id", pl.col("direction") != 0).iter_rows())
        return supervised.predictions(rows, fitness)
    keys = rows.select("assay_id", "variant_id")
    if name in substitutions.MATRICES:
        return keys.with_columns(score=pl.Series(substitutions.score(name, rows["mutant"])))
    sequences = dict(truth.table(folder, "references", ("reference_id", "sequence")).iter_rows())
    return _site_independent(rows.join(assays, on="assay_id", maintain_order="left"), sequences, alignments)


_SPLITS = tuple(f"split_{name}" for name in ("random", "modulo", "contiguous", "cluster"))


def _site_independent(rows: pl.DataFrame, sequences: Mapping[str, str], alignments: Mapping[str, Path]) -> pl.DataFrame:
    if not alignments:
        raise GoldsmithError("[site-independent] needs an alignment: give --alignment REFERENCE=FASTA")
    parts = []
    for reference, path in alignments.items():
        if reference not in sequences:
            some = ", ".join(sorted(sequences))
            raise GoldsmithError(f"[--alignment {reference}] is no reference of this dataset, which has {some}")
        if not path.is_file():
            raise GoldsmithError(f"[--alignment {reference}] {path} is absent: give an alignment in FASTA")
        mine = rows.filter(pl.col("reference_id") == reference)
        found = alignment.score(mine["mutant"], alignment.log_frequencies(path, sequences[reference]))
        parts.append(mine.select("assay_id", "variant_id", score=pl.Series(found)))
    return pl.concat(parts)
