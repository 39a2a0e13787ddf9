"""BLOSUM62 as SQL: how readily one amino acid takes the place of another in related proteins.

A literal, so that checking a dataset needs no Biopython; a test compares it with Biopython's matrix.
Source: Henikoff and Henikoff 1992, doi:10.1073/pnas.89.22.10915.
"""

ORDER = "ARNDCQEGHILKMFPSTWYV"

_LOWER_TRIANGLE = """
 4
-1  5
-2  0  6
-2 -2  1  6
 0 -3 -3 -3  9
-1  1  0  0 -3  5
-1  0  0  2 -4  2  5
 0 -2  0 -1 -3 -2 -2  6
-2  0  1 -1 -3  0  0 -2  8
-1 -3 -3 -3 -1 -3 -3 -4 -3  4
-1 -2 -3 -4 -1 -2 -3 -4 -3  2  4
-1  2  0 -1 -3  1  1 -2 -1 -3 -2  5
-1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5
-2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7
 1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4
 0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11
-2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7
 0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4
"""


def _pairs() -> dict[tuple[str, str], int]:
    rows = [[int(value) for value in line.split()] for line in _LOWER_TRIANGLE.strip().splitlines()]
    half = {(ORDER[i], ORDER[j]): value for i, row in enumerate(rows) for j, value in enumerate(row)}
    return half | {(b, a): value for (a, b), value in half.items()}


BLOSUM62 = _pairs()
"""(wild-type letter, mutant letter) -> score in half bits; symmetric, the 20 amino acids."""

BLOSUM62_SQL = "SELECT * FROM (VALUES {}) AS matrix (wt, mt, similarity)".format(
    ", ".join(f"('{wt}', '{mt}', {value})" for (wt, mt), value in sorted(BLOSUM62.items()))
)
"""Columns wt, mt, similarity: 400 rows."""
