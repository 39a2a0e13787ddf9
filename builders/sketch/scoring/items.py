"""Scores of single items, from 0 to 1, for `goldsmith items`: places of parts, and orders where people have one.

A place is an item of its own; its score is the IoU of ink. The order of a category, named or of a drawing that was
shown, is one item however often it was asked; its score is the mean share of pairs of parts that stand as in the
canonical order, of which an answer that is no order has none. Where people's order is not resolved no order is right.
Heads are no items: they are chosen on one half of the drawings and judged over the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from builders.sketch.scoring.lines import Region
from builders.sketch.scoring.order import Said, tau
from builders.sketch.scoring.truth import People

Item = tuple[str, str, float]
"""Its id, its group (`place`, `order named`, `order shown`), its score."""


def places(given: Sequence[Region], ink: Sequence[float]) -> list[Item]:
    """An item for each place, of IoU `ink`."""
    return [(f"{each.drawing} > {each.part}", "place", iou) for each, iou in zip(given, ink, strict=True)]


def orders(said: Sequence[Said], known: Mapping[str, People]) -> list[Item]:
    """An item for each category and each drawing whose order was asked; `known` by category, see `truth.people`."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in said:
        person = known.get(each.category)
        if person is None or not person.resolved:
            continue
        item = (each.category, "order named") if each.drawing is None else (each.drawing, "order shown")
        if each.order is None:
            shares[item].append(0.0)
        elif (apart := tau(each.order, person.order)) is not None:
            shares[item].append((1 + apart) / 2)
    return [(name, group, sum(values) / len(values)) for (name, group), values in sorted(shares.items())]
