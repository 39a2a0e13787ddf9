"""Minus the Hamming distance of a strain to the strain that a serum was raised against, or the vaccine's."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from builders.virogym.scoring import truth
from schemas import DatasetFolder

if TYPE_CHECKING:
    from Bio.Align import PairwiseAligner


def distance(a: str, b: str) -> int:
    """Residues that differ: place by place where lengths are equal, else in a global alignment, gaps counted."""
    if len(a) == len(b):
        return sum(x != y for x, y in zip(a, b, strict=True))
    best = _aligner().align(a, b)[0]
    counts = best.counts()
    return counts.mismatches + counts.gaps


@lru_cache(maxsize=1)
def _aligner() -> PairwiseAligner:
    from Bio.Align import PairwiseAligner, substitution_matrices  # Biopython is slow to import

    aligner = PairwiseAligner(mode="global")
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -11, -1
    return aligner


def hamming(folder: DatasetFolder) -> pl.DataFrame:
    """`serum_id`, `strain_id`, `score_hamming` for each titre; missing where either strain's sequence is not known."""
    rows = truth.table(folder, "neutralisation", ("serum_id", "strain_id", "homologous_strain_id"))
    sera = truth.table(folder, "sera", ("serum_id", "immunogen_strain_id"))
    viruses = truth.table(folder, "viruses", ("strain_id", "sequence"))
    sequences = dict(viruses.drop_nulls().iter_rows())
    rows = rows.join(sera, on="serum_id", maintain_order="left").select(
        "serum_id", "strain_id", home=pl.coalesce("homologous_strain_id", "immunogen_strain_id")
    )
    near = rows.select("strain_id", "home").unique()
    near = near.filter(pl.all_horizontal(pl.all().is_in(list(sequences))))
    far = [-float(distance(sequences[strain], sequences[home])) for strain, home in near.iter_rows()]
    near = near.with_columns(score_hamming=pl.Series(far, dtype=pl.Float64))
    return rows.join(near, on=["strain_id", "home"], how="left", maintain_order="left").drop("home")
