"""The five measures of a deep mutational scan, as ProteinGym defines them and in a form that ties cannot move.

ProteinGym's form (proteingym/performance_DMS_benchmarks.py at bb68524): Spearman; AUC of the assay's bin; MCC of the
bin and `score >= its median`; NDCG over the first 10 % with min-max gains; recall of the rows at or above the 90th
percentile of the assay among those at or above that of the score. Where scores tie, its NDCG takes whatever order the
sort gives (here: the order of the rows), and its median and percentile let the whole tie in, so that a score with few
values selects more than 10 % (BLOSUM62 up to 24 %) and gets a higher recall for it.

The tie-safe form fixes how many rows are selected (as many as without ties) and takes the expected value over the
order of tied rows. Without ties both forms are equal. A score that says nothing (all equal) gets what chance gets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from builders.virogym.scoring.ranking import Floats, Ranking, auroc, correlation

Bins = npt.NDArray[np.bool_]

METRICS = ("spearman", "auc", "mcc", "ndcg", "top_recall")
FORMS = ("proteingym", "tie_safe")
TOP = 0.10
"""The share of rows that NDCG and top recall look at."""


@dataclass(frozen=True)
class Assay:
    """What was measured, prepared once for every model that is scored on it.

    Attributes:
        y: measured scores, shape (n,), n > 0, finite.
        bins: whether each reaches the assay's cut-off, shape (n,).
    """

    y: Floats
    bins: Bins
    ranks: Floats
    gains: Floats
    top: Bins
    k: int
    discount: Floats
    ideal: float

    @classmethod
    def of(cls, y: Floats, bins: Bins) -> Assay:
        """Ranks, gains and the ideal of an assay."""
        ranking = Ranking.of(y)
        low, high = float(y.min()), float(y.max())
        gains = (y - low) / (high - low) if high > low else np.zeros(len(y))
        k = int(np.floor(len(y) * TOP))
        discount = 1 / np.log2(np.arange(2, k + 2))
        ideal = float(gains[ranking.order[:k]] @ discount)
        return cls(y, bins, ranking.middle(), gains, y >= np.percentile(y, 100 * (1 - TOP)), k, discount, ideal)

    def score(self, s: Floats) -> dict[str, dict[str, float]]:
        """All metrics of a model's scores, shape (n,), finite, by form and name; nan where one is not defined."""
        ranking = Ranking.of(s)
        rho, area = correlation(self.ranks, ranking.middle()), auroc(self.bins, ranking)
        n = len(s)
        as_published = {
            "spearman": rho,
            "auc": area,
            "mcc": self._mcc((s >= np.median(s)).astype(np.float64)),
            "ndcg": self._ndcg(self.gains[ranking.order]),
            "top_recall": self._recall((s >= np.percentile(s, 100 * (1 - TOP))).astype(np.float64)),
        }
        half, most = n - n // 2, n - int(np.ceil((n - 1) * (1 - TOP)))
        tie_safe = {
            "spearman": 0.0 if len(ranking.start) == 1 else rho,
            "auc": area,
            "mcc": self._mcc(ranking.within(half)),
            "ndcg": self._ndcg(ranking.means(self.gains)),
            "top_recall": self._recall(ranking.within(most)),
        }
        return {"proteingym": as_published, "tie_safe": tie_safe}

    def _mcc(self, chosen: Floats) -> float:
        """Matthews correlation of the bin and a selection, each row chosen or not or with a chance.

        For a fixed number of chosen rows it is linear in the true positives, so the expected value is exact. 0 where
        one side is empty, as in scikit-learn.
        """
        n, positive, selected = len(chosen), float(self.bins.sum()), float(chosen.sum())
        spread = positive * (n - positive) * selected * (n - selected)
        agreement = float(chosen[self.bins].sum()) * n - positive * selected
        return agreement / float(np.sqrt(spread)) if spread > 0 else 0.0

    def _ndcg(self, placed: Floats) -> float:
        """NDCG of the gains at each place, or of their expected values; 0 for fewer than 10 rows, as in ProteinGym."""
        if not self.k:
            return 0.0
        return float(placed[: self.k] @ self.discount) / self.ideal if self.ideal > 0 else float("nan")

    def _recall(self, chosen: Floats) -> float:
        return float(chosen[self.top].sum()) / float(self.top.sum())
