"""What a row's label most likely is, from several people's answers: Dawid and Skene's model (1979), by EM.

Each person has a confusion matrix of their own, so a careless or a reversed answer weighs what it is worth. Same votes,
same result: no randomness, and ties go to the label declared first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS, _STILL, _TIE = 200, 1e-7, 1e-9
_SMOOTH = 0.01
"""Added to each cell of a confusion matrix: nobody is certain never to err."""


@dataclass(frozen=True)
class Consensus:
    """Items with their most likely label, and what was learnt about people.

    Attributes:
        posterior: items x labels.
        others: votes x labels, the same for the item of each vote if this vote had not been given.
        confusion: person -> labels x labels, P(answer | truth).
    """

    items: list[str]
    labels: list[str]
    posterior: NDArray[np.float64]
    others: NDArray[np.float64]
    confusion: dict[str, NDArray[np.float64]]
    shares: NDArray[np.float64]

    def label(self, index: int) -> tuple[str, float]:
        """The label of an item and its probability."""
        row = self.posterior[index]
        best = int(np.flatnonzero(row >= row.max() - _TIE)[0])
        return self.labels[best], float(row[best])


def dawid_skene(
    votes: Sequence[tuple[str, str, str]], labels: Sequence[str], known: Mapping[str, str] | None = None
) -> Consensus:
    """Fit the model to votes (item, person, label).

    Args:
        labels: all there can be, in their order.
        known: gold items whose label is certain; they teach people's matrices and keep labels from being exchanged.
    """
    items = sorted({item for item, _, _ in votes})
    people = sorted({person for _, person, _ in votes})
    item_of, person_of = ({name: i for i, name in enumerate(names)} for names in (items, people))
    label_of = {name: i for i, name in enumerate(labels)}
    i = np.array([item_of[item] for item, _, _ in votes], dtype=int)
    p = np.array([person_of[person] for _, person, _ in votes], dtype=int)
    v = np.array([label_of[label] for _, _, label in votes], dtype=int)
    k = len(labels)
    posterior = np.zeros((len(items), k))
    np.add.at(posterior, (i, v), 1.0)
    fixed = {item_of[item]: label_of[label] for item, label in (known or {}).items() if item in item_of}
    posterior = _certain(posterior / np.maximum(posterior.sum(1, keepdims=True), 1), fixed)
    confusion, shares = np.zeros((len(people), k, k)), np.zeros(k)
    logs, own = np.zeros((len(items), k)), np.zeros((len(votes), k))
    weights = _first_weights(len(items), fixed)
    for _ in range(_STEPS):
        confusion, shares = _learn(posterior * weights, i, p, v, len(people))
        weights = np.ones((len(items), 1))
        own = np.log(confusion)[p, :, v]
        logs = np.tile(np.log(shares), (len(items), 1))
        np.add.at(logs, i, own)
        new = _certain(_shares(logs), fixed)
        moved = float(np.abs(new - posterior).max(initial=0))
        posterior = new
        if moved < _STILL:
            break
    others = _shares(logs[i] - own)
    return Consensus(items, list(labels), posterior, others, dict(zip(people, confusion, strict=True)), shares)


def _shares(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of the logarithms in each row."""
    shares = np.exp(logs - logs.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def _first_weights(items: int, fixed: Mapping[int, int]) -> NDArray[np.float64]:
    """What items count in the first step: gold twice what all others do together, for a majority may be wrong."""
    weights = np.ones((items, 1))
    others = items - len(fixed)
    if fixed and others:
        weights[:] = min(1.0, len(fixed) / (2 * others))
        weights[list(fixed)] = 1.0
    return weights


def _learn(
    posterior: NDArray[np.float64], i: NDArray[np.int_], p: NDArray[np.int_], v: NDArray[np.int_], people: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    k = posterior.shape[1]
    counts = np.zeros((people, k, k))  # person, answer, truth
    np.add.at(counts, (p, v), posterior[i])
    confusion = counts.transpose(0, 2, 1) + _SMOOTH
    confusion /= confusion.sum(2, keepdims=True)
    shares = posterior.sum(0) + _SMOOTH
    return confusion, shares / shares.sum()


def _certain(posterior: NDArray[np.float64], fixed: Mapping[int, int]) -> NDArray[np.float64]:
    for item, label in fixed.items():
        posterior[item] = 0.0
        posterior[item, label] = 1.0
    return posterior
