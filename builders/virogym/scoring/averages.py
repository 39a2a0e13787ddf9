"""From assays to one number: means by phenotype and protein, with intervals by bootstrap over assays.

24 of ViroGym's 79 assays are of one domain of one virus, so the plain mean over assays is mostly about that domain.
As ProteinGym averages over proteins within a type of assay and then over types, here it is assays of one phenotype
and one homology cluster (90 % identity), then clusters within a phenotype, then phenotypes.

The bootstrap draws assays with replacement within each phenotype (as ProteinGym's standard error does) and averages
each draw in the same way. Assays of one protein are not independent, and a phenotype with one assay does not vary: the
intervals say how much the choice of these assays matters, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DRAWS = 10_000
_SEED = 10


@dataclass(frozen=True)
class Groups:
    """Which assays belong together.

    Attributes:
        phenotypes: in the order of their first assay.
        members: of each phenotype, the indices of its assays.
        clusters: of each phenotype, one row a cluster: 1 where an assay is in it, shape (clusters, assays).
    """

    phenotypes: tuple[str, ...]
    members: tuple[npt.NDArray[np.int64], ...]
    clusters: tuple[Floats, ...]

    @classmethod
    def of(cls, phenotype: Sequence[str], cluster: Sequence[str]) -> Groups:
        """The groups of assays by their phenotype and cluster."""
        names = tuple(dict.fromkeys(phenotype))
        members = tuple(np.array([i for i, each in enumerate(phenotype) if each == name]) for name in names)
        clusters = []
        for some in members:
            own = [cluster[i] for i in some]
            clusters.append(np.array([[each == name for each in own] for name in dict.fromkeys(own)], np.float64))
        return cls(names, members, tuple(clusters))

    def by_phenotype(self, values: Floats) -> Floats:
        """Mean over the clusters of each phenotype, shape (phenotypes, columns); nan where nothing is defined.

        Args:
            values: one row an assay, shape (assays, columns); nan is left out.
        """
        weights = (np.ones((1, len(some))) for some in self.members)
        return np.array([self._mean(i, w, values)[0] for i, w in enumerate(weights)])

    def overall(self, values: Floats) -> Floats:
        """Mean over the phenotypes, shape (columns,)."""
        return _mean(self.by_phenotype(values), axis=0)

    def draws(self, values: Floats, number: int = DRAWS) -> Floats:
        """The overall mean of each bootstrap draw, shape (number, columns). The same draws every time."""
        chance = np.random.default_rng(_SEED)
        total = np.zeros((number, values.shape[1]))
        defined = np.zeros_like(total)
        for i, some in enumerate(self.members):
            weights = chance.multinomial(len(some), np.full(len(some), 1 / len(some)), size=number).astype(np.float64)
            means = self._mean(i, weights, values)
            known = ~np.isnan(means)
            total += np.where(known, means, 0)
            defined += known
        return np.divide(total, defined, out=np.full_like(total, np.nan), where=defined > 0)

    def _mean(self, i: int, weights: Floats, values: Floats) -> Floats:
        """Mean over a phenotype's clusters when its assays count as `weights`, shape (draws, columns)."""
        mine = values[self.members[i]]
        known = ~np.isnan(mine)
        filled = np.where(known, mine, 0)
        total = np.zeros((len(weights), values.shape[1]))
        clusters = np.zeros_like(total)
        for inside in self.clusters[i]:
            share = weights * inside
            number = share @ known
            means = np.divide(share @ filled, number, out=np.zeros_like(total), where=number > 0)
            total += means
            clusters += number > 0
        return np.divide(total, clusters, out=np.full_like(total, np.nan), where=clusters > 0)


def _mean(values: Floats, axis: int) -> Floats:
    known = ~np.isnan(values)
    number = known.sum(axis=axis)
    total = np.where(known, values, 0).sum(axis=axis)
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)


def interval(draws: Floats) -> tuple[float, float] | None:
    """The 2.5 and 97.5 percentiles of one column of draws; None where they are not defined."""
    known = draws[~np.isnan(draws)]
    if not len(known):
        return None
    low, high = np.percentile(known, (2.5, 97.5))
    return float(low), float(high)
