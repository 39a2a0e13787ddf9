"""The Vendi Anomaly Score beside isolation forest, LOF, kNN distance and Mahalanobis distance.

    python benchmarks/anomalies.py

* quality: scikit-learn's handwritten digits (1,797 pictures of 8 x 8), one class with 5, 10 or 20 % of the other nine;
  AUROC, mean over ten classes and five draws, and the worst class;
* time: all of them on the same 180 to 220 rows; the Vendi score alone on 100,000 rows of 384 numbers, one core.

`measures` is what a `Strange` does with number columns, `embedding` what it does with a vector. `first order` leaves
out all but the first term of the change that a row's leaving makes.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from threadpoolctl import threadpool_limits

from quality.anomalies.features import fourier
from quality.anomalies.vendi import Spectrum, leave_one_out


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def first_order(rows: np.ndarray) -> np.ndarray:
    spectrum = Spectrum.of(lambda: [rows])
    return -((rows @ spectrum.vectors) ** 2 @ np.log(spectrum.values))


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "Vendi, embedding": lambda rows, _: leave_one_out(unit(rows)),
    "Vendi, first order": lambda rows, _: first_order(unit(rows)),
    "Vendi, measures": lambda rows, _: leave_one_out(fourier(rows)(rows)),
    "isolation forest": lambda rows, seed: -IsolationForest(random_state=seed).fit(rows).score_samples(rows),
    "LOF, k = 20": lambda rows, _: -LocalOutlierFactor(20).fit(rows).negative_outlier_factor_,
    "kNN, k = 5": lambda rows, _: NearestNeighbors(n_neighbors=6).fit(rows).kneighbors(rows)[0][:, 1:].mean(axis=1),
    "Mahalanobis": lambda rows, _: LedoitWolf().fit(rows).mahalanobis(rows),
}


def main() -> None:
    """Measure and print."""
    digits, labels = load_digits(return_X_y=True)
    digits = digits / 16
    print(f"{'AUROC mean (worst class)':22s}", *(f"{share:>14.0%}" for share in (0.05, 0.1, 0.2)), "      ms")
    found: dict[tuple[str, float], list[list[float]]] = defaultdict(list)
    taken: dict[str, list[float]] = defaultdict(list)
    for share in (0.05, 0.1, 0.2):
        for digit in range(10):
            of_digit: dict[str, list[float]] = defaultdict(list)
            for seed in range(5):
                draw = np.random.default_rng(100 * digit + seed)
                own = digits[labels == digit]
                strange = max(1, round(share * len(own) / (1 - share)))
                others = digits[draw.choice(np.flatnonzero(labels != digit), strange, replace=False)]
                rows, truth = np.vstack([own, others]), np.r_[np.zeros(len(own)), np.ones(strange)]
                for name, method in METHODS.items():
                    start = time.perf_counter()
                    scores = method(rows, seed)
                    taken[name].append(time.perf_counter() - start)
                    of_digit[name].append(float(roc_auc_score(truth, scores)))
            for name, values in of_digit.items():
                found[name, share].append(values)
    for name in METHODS:
        cells = [
            f"{np.mean(found[name, share]):.3f} ({min(map(statistics.mean, found[name, share])):.3f})"
            for share in (0.05, 0.1, 0.2)
        ]
        print(f"{name:24s}", *(f"{cell:>14s}" for cell in cells), f"{1000 * statistics.median(taken[name]):8.1f}")
    rows = unit(np.random.default_rng(0).standard_normal((100_000, 384)) / np.sqrt(np.arange(1, 385)))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        leave_one_out(rows)
        times.append(time.perf_counter() - start)
    print(f"100,000 x 384, one core: {statistics.median(times):.2f} s")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
