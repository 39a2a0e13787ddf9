"""How far programs are from real code: distances between two samples of metrics, with bootstrap intervals.

    python -P -m builders.verivul.distances FOLDER

One metric at a time: Jensen-Shannon divergence (base 2, ten bins at the pooled quantiles, half a count in each),
Wasserstein-1 over the pooled deviation, Kolmogorov-Smirnov. All together, on standardised log1p vectors: unbiased MMD^2
(Gaussian kernel, median distance) with a permutation p-value. The same numbers for the same rows: all draws are seeded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from builders.verivul.command import tool
from builders.verivul.metrics import NAMES_OF_METRICS, vector
from schemas import GoldsmithError

_BINS = 10
_RESAMPLES = 200
_SEED = 20261130

Sample = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Distance:
    """A distance with its 95 % interval; `p` of a permutation test, where there is one."""

    metric: str
    name: str
    value: float
    low: float
    high: float
    p: float | None = None


def jensen_shannon(one: np.ndarray, other: np.ndarray) -> float:
    """The divergence of two samples of a number, 0 to 1."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, _BINS + 1)))
    if len(edges) < 3:
        edges = np.array([edges[0] - 0.5, (edges[0] + edges[-1]) / 2, edges[-1] + 0.5])
    shares = [np.histogram(sample, edges)[0] + 0.5 for sample in (one, other)]
    first, second = (counts / counts.sum() for counts in shares)
    middle = (first + second) / 2
    return float((np.sum(first * np.log2(first / middle)) + np.sum(second * np.log2(second / middle))) / 2)


def wasserstein(one: np.ndarray, other: np.ndarray) -> float:
    """Wasserstein-1, in pooled standard deviations."""
    values = np.sort(np.concatenate([one, other]))
    steps = np.diff(values)
    shares = [np.searchsorted(np.sort(sample), values[:-1], "right") / len(sample) for sample in (one, other)]
    deviation = float(np.std(values)) or 1.0
    return float(np.sum(np.abs(shares[0] - shares[1]) * steps)) / deviation


def kolmogorov_smirnov(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of the two distribution functions."""
    values = np.concatenate([one, other])
    shares = [np.searchsorted(np.sort(sample), values, "right") / len(sample) for sample in (one, other)]
    return float(np.max(np.abs(shares[0] - shares[1])))


SINGLE: Mapping[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "jensen_shannon": jensen_shannon,
    "wasserstein": wasserstein,
    "ks": kolmogorov_smirnov,
}


def compare(one: Sample, other: Sample) -> list[Distance]:
    """All distances between two samples of metrics.

    Raises:
        GoldsmithError: a sample has fewer than two members.
    """
    if min(len(one), len(other)) < 2:
        raise GoldsmithError(
            f"[distances] samples of {len(one)} and {len(other)} are too small: two are needed of each"
        )
    a, b = (np.array([vector(row) for row in sample]) for sample in (one, other))
    draws = np.random.default_rng(_SEED)
    chosen = [(draws.integers(0, len(a), len(a)), draws.integers(0, len(b), len(b))) for _ in range(_RESAMPLES)]
    found = []
    for column, metric in enumerate(NAMES_OF_METRICS):
        for name, measure in SINGLE.items():
            spread = [measure(a[i, column], b[j, column]) for i, j in chosen]
            low, high = np.quantile(spread, (0.025, 0.975))
            found.append(Distance(metric, name, measure(a[:, column], b[:, column]), float(low), float(high)))
    return [*found, _mmd(a, b, chosen)]


def _mmd(a: np.ndarray, b: np.ndarray, chosen: Sequence[tuple[np.ndarray, np.ndarray]]) -> Distance:
    values = np.log1p(np.vstack([a, b]))
    deviation = values.std(0)
    values = (values - values.mean(0)) / np.where(deviation == 0, 1, deviation)
    squares = ((values[:, None] - values[None]) ** 2).sum(-1)
    middle = np.median(squares[squares > 0]) if (squares > 0).any() else 1.0
    kernel, size = np.exp(-squares / (2 * middle)), len(a)

    def statistic(first: np.ndarray, second: np.ndarray) -> float:
        within = [kernel[np.ix_(part, part)] for part in (first, second)]
        means = [(block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in within]
        return float(means[0] + means[1] - 2 * kernel[np.ix_(first, second)].mean())

    order = np.arange(len(values))
    value = statistic(order[:size], order[size:])
    spread = [statistic(i, size + j) for i, j in chosen]
    draws = np.random.default_rng(_SEED)
    shuffled = (draws.permutation(order) for _ in range(_RESAMPLES))
    beyond = sum(statistic(mixed[:size], mixed[size:]) >= value for mixed in shuffled)
    low, high = np.quantile(spread, (0.025, 0.975))
    return Distance("all", "mmd2", value, float(low), float(high), (1 + beyond) / (_RESAMPLES + 1))


def of_folder(folder: Path) -> dict[str, list[Distance]]:
    """Distances to the real functions: of the programs' target functions, of their whole files, and of the baseline.

    Raises:
        GoldsmithError: the folder is no built VeriVul.
    """
    files = {name: sorted((folder / "data" / name).glob("*.parquet")) for name in ("programs", "metrics_reference")}
    for name, found in files.items():
        if not found:
            raise GoldsmithError(f"[{folder}] has no table {name}: give the folder of a built VeriVul")
    rows = pl.read_parquet(files["programs"], columns=["language", "metrics", "program_metrics"], glob=False)
    programs = rows.filter(pl.col("language") == "c").to_dicts()
    others = pl.read_parquet(files["metrics_reference"], columns=["sample", "metrics"], glob=False).to_dicts()
    real = [row["metrics"] for row in others if row["sample"] == "real"]
    baseline = [row["metrics"] for row in others if row["sample"] == "baseline"]
    samples = {"target functions": [row["metrics"] for row in programs],
               "whole programs": [row["program_metrics"] for row in programs], "baseline": baseline}  # fmt: skip
    return {name: compare(sample, real) for name, sample in samples.items()}


@tool
def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -P -m builders.verivul.distances", description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, found in of_folder(parser.parse_args().folder).items():
        sys.stdout.write(f"{name}, to the real functions\n")
        for one in found:
            p = f"  p = {one.p:.3f}" if one.p is not None else ""
            sys.stdout.write(f"  {one.metric:20} {one.name:15} {one.value:7.3f} [{one.low:.3f}, {one.high:.3f}]{p}\n")


if __name__ == "__main__":
    main()
