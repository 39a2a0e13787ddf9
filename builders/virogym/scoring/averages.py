"""From assays to one number: means by phenotype and protein, with intervals by bootstrap over assays.

24 of ViroGym's 79 assays are of one domain of one virus, so the plain mean over assays is mostly about that domain.
As ProteinGym averages over proteins within a type of assay and then over types, here it is assays of one phenotype
and one homology cluster (90 % identity), then clusters within a phenotype, then phenotypes.

The bootstrap draws clusters, each with all its assays, with replacement within each phenotype, as ProteinGym's standard
error draws proteins: assays of one protein are not independent, and drawing single assays would lose small clusters
and shift the mean. A phenotype of one cluster does not vary. The intervals say how much the choice of these proteins
matters, no more.
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
        clusters: of each phenotype, for each cluster which of those assays are in it, shape (clusters, assays).
    """

    phenotypes: tuple[str, ...]
    members: tuple[npt.NDArray[np.int64], ...]
    clusters: tuple[npt.NDArray[np.bool_], ...]

    @classmethod
    def of(cls, phenotype: Sequence[str], cluster: Sequence[str]) -> Groups:
        """The groups of assays by their phenotype and cluster."""
        names = tuple(dict.fromkeys(phenotype))
        members = tuple(np.array([i for i, each in enumerate(phenotype) if each == name]) for name in names)
        clusters = []
        for some in members:
            own = [cluster[i] for i in some]
            clusters.append(np.array([[each == name for each in own] for name in dict.fromkeys(own)]))
        return cls(names, members, tuple(clusters))

    def by_phenotype(self, values: Floats) -> Floats:
        """Mean over the clusters of each phenotype, shape (phenotypes, columns); nan where nothing is defined.

        Args:
            values: one row an assay, shape (assays, columns); nan is left out.
        """
        return np.array([_mean(means, axis=0) for means in self._cluster_means(values)])

    def overall(self, values: Floats) -> Floats:
        """Mean over the phenotypes, shape (columns,)."""
        return _mean(self.by_phenotype(values), axis=0)

    def draws(self, values: Floats, number: int = DRAWS) -> Floats:
        """The overall mean of each bootstrap draw, shape (number, columns). The same draws every time."""
        chance = np.random.default_rng(_SEED)
        total = np.zeros((number, values.shape[1]))
        defined = np.zeros_like(total)
        for means in self._cluster_means(values):
            clusters = len(means)
            weights = chance.multinomial(clusters, np.full(clusters, 1 / clusters), size=number).astype(np.float64)
            known = ~np.isnan(means)
            drawn = weights @ known
            total += np.divide(weights @ np.where(known, means, 0), drawn, out=np.zeros_like(total), where=drawn > 0)
            defined += drawn > 0
        return np.divide(total, defined, out=np.full_like(total, np.nan), where=defined > 0)

    def _cluster_means(self, values: Floats) -> list[Floats]:
        """For each phenotype the mean over the assays of each cluster, shape (clusters, columns)."""
        found = []
        for some, clusters in zip(self.members, self.clusters, strict=True):
            found.append(np.array([_mean(values[some[inside]], axis=0) for inside in clusters]))
        return found


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
