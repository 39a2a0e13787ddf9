"""Gamma of spans (Mathet, Widlöcher and Métivier 2015): how far people agree on place and label at once, beyond chance.

By pygamma-agreement, an extra (`audit-gamma`: numba and cvxpy, half a minute to load); without it there is no figure.
A text alone says little about chance, so texts are laid end to end, those that the same people judged together; someone
who marked nothing in a text agrees that there is nothing, someone who did not judge it is not asked.
"""

from __future__ import annotations

import importlib.util
import logging
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from quality.annotation.spans import Span

_MOST_SPANS = 60
"""Of one person in texts that are laid together: the time grows with the cube, 2 s for 60 and 50 s for 180."""


@dataclass(frozen=True)
class Marked:
    """A text of `length` characters and what each person marked in it."""

    length: int
    spans: Mapping[str, Collection[Span]]


def installed() -> bool:
    """Whether gamma can be computed here."""
    return importlib.util.find_spec("pygamma_agreement") is not None


def gamma(texts: Sequence[Marked]) -> float:
    """The mean gamma of all texts that two people or more judged, weighted by texts; NaN where nobody marked anything.

    Chance is drawn with a fixed seed: the same spans give the same figure.
    """
    groups: dict[tuple[str, ...], list[Marked]] = defaultdict(list)
    for one in texts:
        groups[tuple(sorted(one.spans))].append(one)
    weighted, texts_counted = 0.0, 0
    for people, together in sorted(groups.items(), key=lambda group: group[0]):
        for part in _parts(together) if len(people) > 1 else ():
            value = _of(part, people)
            if not math.isnan(value):
                weighted, texts_counted = weighted + value * len(part), texts_counted + len(part)
    return weighted / texts_counted if texts_counted else math.nan


def _parts(texts: Sequence[Marked]) -> Iterator[list[Marked]]:
    """The texts in their order, in parts that can be aligned in seconds."""
    part: list[Marked] = []
    spans = 0
    for one in texts:
        more = max(len(marked) for marked in one.spans.values())
        if part and spans + more > _MOST_SPANS:
            yield part
            part, spans = [], 0
        part.append(one)
        spans += more
    if part:
        yield part


def _of(texts: Sequence[Marked], people: Sequence[str]) -> float:
    from pyannote.core import Segment  # pyright: ignore[reportMissingImports]
    from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum  # pyright: ignore[reportMissingImports]

    continuum = Continuum()
    for person in people:
        continuum.add_annotator(person)
    at = 0
    for one in texts:
        for person in people:
            for start, end, label in one.spans[person]:
                continuum.add(person, Segment(at + start, at + end), label)
        at += one.length
    marking = sum(any(one.spans[person] for one in texts) for person in people)
    if marking < 2:  # chance is drawn from what people mark
        return math.nan
    with _quiet_and_seeded():
        return float(continuum.compute_gamma(CombinedCategoricalDissimilarity()).gamma)


@contextmanager
def _quiet_and_seeded() -> Iterator[None]:
    """The library draws from numpy's global state, and warns of a missing solver at every step."""
    state = np.random.get_state()
    root = logging.getLogger()
    level = root.level
    np.random.seed(0)
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        np.random.set_state(state)
        root.setLevel(level)
