"""What a row's label most likely is, from several people's answers: Dawid and Skene's model, by EM.

Each person has a matrix of errors of their own, so a careless or a reversed answer weighs what it is worth. It is the
estimate of the paper, of maximum likelihood (A. P. Dawid and A. M. Skene, Applied Statistics 28, 1979), begun from
the shares of votes: nothing is smoothed. A probability of zero counts as 1e-10, of labels that the person ever gave; a
label that nobody gave and no gold item has is never the truth. The same votes in any order give the same bits; ties go
to the label declared first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

STEPS = 5000
_STILL, _TIE, _FLOOR = 1e-10, 1e-9, 1e-10


@dataclass(frozen=True)
class Consensus:
    """Items with their most likely label.

    Attributes:
        posterior: items x labels.
        others: votes x labels, in the order of the votes: the same for the item of each vote, had it not been given.
        steps: of EM; `STEPS` where it had not come to rest.
    """

    items: list[str]
    labels: list[str]
    posterior: Floats
    others: Floats
    steps: int

    def label(self, index: int) -> tuple[str, float]:
        """The label of an item and its probability."""
        best = first_best(self.posterior[index])
        return self.labels[best], float(self.posterior[index, best])


def first_best(probabilities: Floats) -> int:
    """The place of the highest probability; of several as high, the first."""
    return int(np.flatnonzero(probabilities >= probabilities.max() - _TIE)[0])


def dawid_skene(
    votes: Sequence[tuple[str, str, str]],
    labels: Sequence[str],
    known: Mapping[str, str] | None = None,
    *,
    steps: int = STEPS,
) -> Consensus:
    """Fit the model to votes (item, person, label).

    Args:
        labels: all there can be, in their order.
        known: gold items whose label is certain; they teach people's matrices and keep labels from being exchanged.
        steps: of EM at most, one or more; it ends when no probability moves any more.
    """
    items = sorted({item for item, _, _ in votes})
    truths = {item: label for item, label in (known or {}).items() if item in set(items)}
    given = {label for _, _, label in votes} | set(truths.values())
    places = [place for place, label in enumerate(labels) if label in given]
    posterior, others = (np.zeros((rows, len(labels))) for rows in (len(items), len(votes)))
    taken = 0
    if votes:
        fitted = _fit(votes, items, [labels[place] for place in places], truths, steps)
        posterior[:, places], others[:, places], taken = fitted
    return Consensus(items, list(labels), posterior, others, taken)


def _fit(
    votes: Sequence[tuple[str, str, str]],
    items: Sequence[str],
    labels: Sequence[str],
    truths: Mapping[str, str],
    steps: int,
) -> tuple[Floats, Floats, int]:
    """Posterior of items, of votes without themselves, and the steps taken; every label occurs."""
    coded = _coded(votes, items, labels)
    item_of, label_of = ({name: i for i, name in enumerate(names)} for names in (items, labels))
    fixed = {item_of[item]: label_of[label] for item, label in truths.items()}
    posterior = np.zeros((len(items), len(labels)))
    np.add.at(posterior, (coded.item, coded.label), 1.0)
    posterior = _certain(posterior / posterior.sum(1, keepdims=True), fixed)
    weights = _first_weights(len(items), fixed)
    logs = own = posterior
    for taken in range(1, steps + 1):  # noqa: B007 (how many were taken)
        own = np.log(_errors(posterior * weights, coded))[coded.cell]
        shares = (posterior * weights).sum(0) / weights.sum()
        logs = np.log(np.maximum(shares, _FLOOR)) + np.add.reduceat(own, coded.item_starts)
        before, posterior = posterior, _certain(_probabilities(logs), fixed)
        weights = np.ones_like(weights)
        if np.abs(posterior - before).max() < _STILL:
            break
    others = np.empty_like(own)
    others[coded.order] = _probabilities(logs[coded.item] - own)
    return posterior, others, taken


@dataclass(frozen=True)
class _Coded:
    """Votes as numbers, sorted by item, person and label; a cell is a person and a label that they gave.

    Attributes:
        order: the place of each sorted vote among the votes as given.
        by_cell: sorted votes by cell; each `starts` is where a new one begins.
    """

    order: Ints
    item: Ints
    label: Ints
    item_starts: Ints
    cell: Ints
    by_cell: Ints
    cell_starts: Ints
    person_starts: Ints
    cells_of_person: Ints


def _coded(votes: Sequence[tuple[str, str, str]], items: Sequence[str], labels: Sequence[str]) -> _Coded:
    people = sorted({person for _, person, _ in votes})
    numbers = [{name: i for i, name in enumerate(names)} for names in (items, people, labels)]
    item, person, label = (
        np.array([number[vote[place]] for vote in votes], dtype=np.intp) for place, number in enumerate(numbers)
    )
    order = np.lexsort((label, person, item))
    item, person, label = item[order], person[order], label[order]
    cells, cell = np.unique(person * len(labels) + label, return_inverse=True)
    by_cell = np.argsort(cell, kind="stable")
    person_of_cell = cells // len(labels)
    return _Coded(
        order=order,
        item=item,
        label=label,
        item_starts=np.searchsorted(item, np.arange(len(items))),
        cell=cell,
        by_cell=by_cell,
        cell_starts=np.searchsorted(cell[by_cell], np.arange(len(cells))),
        person_starts=np.searchsorted(person_of_cell, np.arange(len(people))),
        cells_of_person=person_of_cell,
    )


def _errors(posterior: Floats, coded: _Coded) -> Floats:
    """Of each cell and true label, how likely the person gives the cell's label: cells x labels."""
    counts = np.add.reduceat(posterior[coded.item[coded.by_cell]], coded.cell_starts)
    counts = np.maximum(counts, _FLOOR)
    return counts / np.add.reduceat(counts, coded.person_starts)[coded.cells_of_person]


def _probabilities(logs: Floats) -> Floats:
    """Probabilities of the logarithms in each row."""
    shares = np.exp(logs - logs.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def _first_weights(items: int, fixed: Mapping[int, int]) -> Floats:
    """What items count in the first step: gold twice what all others do together, for a majority may be wrong."""
    weights = np.ones((items, 1))
    others = items - len(fixed)
    if fixed and others:
        weights[:] = min(1.0, len(fixed) / (2 * others))
        weights[list(fixed)] = 1.0
    return weights


def _certain(posterior: Floats, fixed: Mapping[int, int]) -> Floats:
    for item, label in fixed.items():
        posterior[item] = 0.0
        posterior[item, label] = 1.0
    return posterior
