"""Two halves of what was probed, which share no category and no drawer: one chooses heads, the other reports them.

The best of 1,024 heads on 100 questions looks 16 points better than it is. So nothing here measures heads on the
drawings that chose them: a `Selection` can be made of a `Calibration` alone, remembers whom it has seen, and `Report`
refuses one that has seen any of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from builders.sketch.scoring.truth import Drawing
from schemas import GoldsmithError


@dataclass(frozen=True)
class Group:
    """Maps of some of a drawing's parts.

    Attributes:
        parts: k names.
        maps: [k, heads, rows, columns].
        sums: [k, heads], attention on the picture.
    """

    drawing: Drawing
    parts: tuple[str, ...]
    maps: np.ndarray
    sums: np.ndarray


class Source(Protocol):
    """Where maps come from.

    Attributes:
        size: layers, heads, rows, columns.
    """

    size: tuple[int, int, int, int]

    def groups(self, drawings: Mapping[str, Drawing]) -> Iterator[Group]:
        """The maps of these drawings; the same order each time."""
        ...


class _Half:
    split = ""

    def __init__(self, source: Source, drawings: Mapping[str, Drawing]) -> None:
        self._source = source
        self._drawings = {name: each for name, each in drawings.items() if each.split == self.split}
        self.size = source.size
        self.seen = Seen.of(self._drawings)

    def __bool__(self) -> bool:
        return bool(self._drawings)

    def __len__(self) -> int:
        return len(self._drawings)

    def groups(self) -> Iterator[Group]:
        """The maps of this half's drawings."""
        return self._source.groups(self._drawings)


class Calibration(_Half):
    """The half on which heads are chosen."""

    split = "calibration"


class Report(_Half):
    """The half on which chosen heads are reported."""

    split = "report"

    def admit(self, selection: Selection) -> None:
        """Refuse a selection that was made on a category or drawer of this half.

        Raises:
            GoldsmithError: naming what both have.
        """
        if not isinstance(selection, Selection):
            raise TypeError("only a Selection, which a Calibration makes, can be reported")
        common = selection.seen.common(self.seen)
        if common:
            raise GoldsmithError(
                f"[calibration and report] both have {common}: heads would be reported on drawings that chose them,"
                " build the dataset again"
            )


@dataclass(frozen=True)
class Seen:
    """Whose drawings, and of what, a half holds."""

    drawings: frozenset[str]
    categories: frozenset[str]
    drawers: frozenset[str]

    @classmethod
    def of(cls, drawings: Mapping[str, Drawing]) -> Seen:
        """Of these drawings. Categories count by their name, whatever the source; unknown drawers are nobody."""
        some = drawings.values()
        categories = frozenset(each.category.partition("/")[2] for each in some)
        return cls(frozenset(drawings), categories, frozenset(each.drawer for each in some if each.drawer is not None))

    def common(self, other: Seen) -> str:
        """What both have, in words; empty where nothing."""
        pairs = (
            ("the drawing", self.drawings & other.drawings),
            ("the category", self.categories & other.categories),
            ("the drawer", self.drawers & other.drawers),
        )
        return next((f"{what} {min(both)}" for what, both in pairs if both), "")


class Selection:
    """Sums of heads, each with its threshold, as a calibration half chose them.

    Attributes:
        names: of the sums, n of them.
        sums: [n, layers * heads] of 0 and 1.
        thresholds: [n], shares of a map's highest value.
        seen: whose drawings chose them.
    """

    def __init__(
        self, calibration: Calibration, names: tuple[str, ...], sums: np.ndarray, thresholds: np.ndarray
    ) -> None:
        if not isinstance(calibration, Calibration):
            raise TypeError("heads are selected on a Calibration, never on the half that is reported")
        self.names, self.sums, self.thresholds = names, sums, thresholds
        self.seen = calibration.seen
