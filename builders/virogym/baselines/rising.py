"""Which changes will rise, from no model: those that are there, those that one nucleotide makes, those that are alike.

`persistence` is the count in T, 0 for a change that the source does not list. `codon` is minus the fewest nucleotide
changes; `codon_blosum62` orders by it first and by BLOSUM62 within it. Nothing looks at T1.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from builders.virogym.baselines.substitutions import MATRICES
from builders.virogym.schema import AMINO_ACIDS

BASELINES = ("persistence", "codon_blosum62", "codon", "blosum62")
_FAR, _UNLIKE = 4, -5
"""A deletion has neither nucleotide distance nor BLOSUM62 score: it is farther and less alike than any change."""


def with_baselines(candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates with `score_` and the name of each baseline.

    Args:
        candidates: with `wt`, `mut`, `count_T` and `min_nt_dist`.
    """
    letters = {letter: i for i, letter in enumerate(AMINO_ACIDS)}
    at = [pl.col(name).replace_strict(letters, default=-1) for name in ("wt", "mut")]
    wt, mt = (candidates.select(each).to_series().to_numpy() for each in at)
    blosum62 = np.where(mt < 0, _UNLIKE, MATRICES["blosum62"][wt, mt])
    codon = -pl.col("min_nt_dist").cast(pl.Float64).fill_null(_FAR)
    return candidates.with_columns(
        score_persistence=pl.col("count_T").cast(pl.Float64).fill_null(0),
        score_blosum62=pl.Series(blosum62),
        score_codon=codon,
        score_codon_blosum62=100 * codon + pl.Series(blosum62),
    )
