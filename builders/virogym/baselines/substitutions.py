"""Scores of a change of amino acid by itself: BLOSUM62, Grantham's distance and the change of hydrophobicity.

Higher is more alike. A variant of several changes gets their sum. Grantham's distance is computed from his
composition, polarity and volume (Science 1974, doi:10.1126/science.185.4154.862), which gives his printed matrix when
rounded; hydrophobicity is Kyte and Doolittle's (J Mol Biol 1982, doi:10.1016/0022-2836(82)90515-0).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.substitution import BLOSUM62

Floats = npt.NDArray[np.float64]

_COMPOSITION = dict(zip("SRLPTAVGIFYCHQNKDEMW", (
    1.42, 0.65, 0, 0.39, 0.71, 0, 0, 0.74, 0, 0, 0.20, 2.75, 0.58, 0.89, 1.33, 0.33, 1.38, 0.92, 0, 0.13,
), strict=True))  # fmt: skip
_POLARITY = dict(zip("SRLPTAVGIFYCHQNKDEMW", (
    9.2, 10.5, 4.9, 8.0, 8.6, 8.1, 5.9, 9.0, 5.2, 5.2, 6.2, 5.5, 10.4, 10.5, 11.6, 11.3, 13.0, 12.3, 5.7, 5.4,
), strict=True))  # fmt: skip
_VOLUME = dict(zip("SRLPTAVGIFYCHQNKDEMW", (
    32, 124, 111, 32.5, 61, 31, 84, 3, 111, 132, 136, 55, 96, 85, 56, 119, 54, 83, 105, 170,
), strict=True))  # fmt: skip
_HYDROPATHY = dict(zip("ARNDCQEGHILKMFPSTWYV", (
    1.8, -4.5, -3.5, -3.5, 2.5, -3.5, -3.5, -0.4, -3.2, 4.5, 3.8, -3.9, 1.9, 2.8, -1.6, -0.8, -0.7, -0.9, -1.3, 4.2,
), strict=True))  # fmt: skip


def _by_letter(values: dict[str, float]) -> Floats:
    return np.array([values[letter] for letter in AMINO_ACIDS], np.float64)


def _grantham() -> Floats:
    parts = ((_COMPOSITION, 1.833), (_POLARITY, 0.1018), (_VOLUME, 0.000399))
    squares = [weight * np.subtract.outer(v, v) ** 2 for v, weight in ((_by_letter(p), w) for p, w in parts)]
    return 50.723 * np.sqrt(np.sum(squares, axis=0))


def _hydropathy() -> Floats:
    values = _by_letter(_HYDROPATHY)
    return np.abs(np.subtract.outer(values, values))


MATRICES: dict[str, Floats] = {
    "blosum62": np.array([[BLOSUM62[wt, mt] for mt in AMINO_ACIDS] for wt in AMINO_ACIDS], np.float64),
    "grantham": -_grantham(),
    "hydrophobicity": -_hydropathy(),
}
"""Score by wild-type and mutant letter, shape (20, 20), in the order of `AMINO_ACIDS`."""


def changes(mutants: pl.Series) -> pl.DataFrame:
    """The single changes of substitutions: `row` (index of the mutant), `wt`, `mt` (indices of letters), `position`.

    Args:
        mutants: such as `A12V` or `A12V:D20N`; nothing but substitutions.
    """
    parts = mutants.alias("part").to_frame().with_row_index("row")
    if mutants.str.contains(":", literal=True).any():
        parts = parts.with_columns(pl.col("part").str.split(":")).explode("part")
    text = pl.col("part")
    letters = pl.DataFrame({"letter": list(AMINO_ACIDS), "at": range(len(AMINO_ACIDS))})
    codes = pl.Enum(letters["letter"])
    return parts.select(
        "row",
        wt=text.str.head(1).cast(codes).to_physical(),
        mt=text.str.tail(1).cast(codes).to_physical(),
        position=text.str.slice(1, text.str.len_bytes() - 2).cast(pl.Int32),
    )


def summed(mutants: pl.Series, single: Callable[[pl.DataFrame], Floats]) -> Floats:
    """The score of each mutant: the sum over its single changes, shape (n,)."""
    parts = changes(mutants)
    return np.bincount(parts["row"].to_numpy(), single(parts), len(mutants)).astype(np.float64)


def score(name: str, mutants: pl.Series) -> Floats:
    """The scores of substitutions by one of `MATRICES`, shape (n,)."""
    matrix = MATRICES[name]
    return summed(mutants, lambda parts: matrix[parts["wt"].to_numpy(), parts["mt"].to_numpy()])
