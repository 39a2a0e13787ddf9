"""The Vendi Anomaly Score: how much the diversity of a set falls when one row is left out.

The Vendi score of n rows x_i with |x_i| = 1 is the exponential of the entropy of the eigenvalues of X'X / n (Friedman
and Dieng, 2022): the number of different things among the rows. A row that nothing else is like carries diversity that
leaves with it, so its score is high; a row like many others has one near 0 or below.

Leaving a row out changes A = X'X by -xx', and with f(t) = t ln t the change of tr f(A) is an integral over s > 0 of

    sum_j c_j (1 - m_j) (m_j + 2s) / (m_j + s)^2  /  ((1 + s) sum_j c_j (m_j + s - 1) / (m_j + s)),

where m_j are the eigenvalues of A and c_j = (u_j . x)^2 sums to 1 (ln t as an integral of resolvents, and the formula
of Sherman and Morrison). In ln s the integrand is analytic in a strip of half-width pi and falls off at both ends, so
that the trapezoid rule is exact to eleven digits with some eighty nodes. The nodes are columns of two matrices: all
rows cost two products, as much as a first-order approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

_STEP = 0.75
"""Of ln s: the rule's error is about exp(-2 pi^2 / step), 4e-12."""

_RANK = 1e-12
"""Eigenvalues below this share of the largest are no direction that a row has."""

Blocks = Callable[[], Iterable[np.ndarray]]
"""Gives the rows again at each call: float arrays of shape (rows, d), each row of length 1."""


@dataclass(frozen=True)
class Spectrum:
    """What all rows together are.

    Attributes:
        n: how many rows there are.
        values: eigenvalues of the Gram matrix X'X, shape (k,), all above 0; they sum to n.
        vectors: their eigenvectors, shape (d, k).
    """

    n: int
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, blocks: Blocks) -> Spectrum:
        """The spectrum of rows that arrive in blocks; memory of the order of d x d.

        Raises:
            ValueError: there are fewer than two rows.
        """
        gram, n = np.zeros(()), 0
        for block in blocks():
            # In 32 bits the small eigenvalues would be noise, and a row could seem to hold more of one than there is.
            block = block.astype(np.float64, copy=False)
            gram = gram + block.T @ block
            n += len(block)
        if n < 2:
            raise ValueError(f"{n} rows: the score compares a set with and without a row")
        values, vectors = np.linalg.eigh(gram)
        kept = values > _RANK * values[-1]
        return cls(n, values[kept], vectors[:, kept])

    @property
    def diversity(self) -> float:
        """The Vendi score of all rows: from 1 (all alike) to n."""
        return float(np.exp(np.log(self.n) - self._sum / self.n))

    @property
    def _sum(self) -> float:
        """tr f(A)."""
        return float(self.values @ np.log(self.values))

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """For each of the set's own rows, the diversity of all less that of all others: float64 of shape (rows,).

        Args:
            rows: a block of those the spectrum was made of, shape (rows, d).
        """
        change = self._change(rows)
        # The entropies are nearly equal: their difference is taken in parts that do not cancel.
        fall = np.log1p(-1 / self.n) - self._sum / (self.n * (self.n - 1)) - change / (self.n - 1)
        return -self.diversity * np.expm1(fall)

    def _change(self, rows: np.ndarray) -> np.ndarray:
        """tr f(A - xx') - tr f(A) for each row x."""
        share = (rows.astype(np.float64, copy=False) @ self.vectors) ** 2
        share /= share.sum(axis=1, keepdims=True)  # what rounding took
        m, s = self.values[:, None], np.exp(np.arange(np.log(1e-11), np.log(self.n * 1e10), _STEP))
        top = (1 - m) * (m + 2 * s) / (m + s) ** 2 * (_STEP * s / (1 + s))
        left = (m + s - 1) / (m + s)
        # A - xx' has no eigenvalue below 0, so the sum is never less than that of a row alone on its axis.
        return (share @ top / np.maximum(share @ left, s / (1 + s))).sum(axis=1)


def leave_one_out(rows: np.ndarray, block: int = 8192) -> np.ndarray:
    """The scores of all rows at once: float64 of shape (n,).

    Args:
        rows: floats of shape (n, d), each row of length 1.
        block: rows at a time.

    Raises:
        ValueError: there are fewer than two rows.
    """

    def blocks() -> Iterator[np.ndarray]:
        return (rows[start : start + block] for start in range(0, len(rows), block))

    spectrum = Spectrum.of(blocks)
    return np.concatenate([spectrum.scores(part) for part in blocks()])
