"""`goldsmith score sketch OUTPUTS`: orders against people, regions and heads against parts; a page beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.sketch.scoring import items
from builders.sketch.scoring.examine import Locus, examine, summary
from builders.sketch.scoring.given import HeadMaps, read
from builders.sketch.scoring.grounding import BASELINES, THRESHOLD, Grounding, Tally, Target, baselines
from builders.sketch.scoring.halves import Calibration, Report
from builders.sketch.scoring.lines import Region
from builders.sketch.scoring.order import OrderReport, Said, score_orders
from builders.sketch.scoring.questions import Questions
from builders.sketch.scoring.regions import Grid, lit
from builders.sketch.scoring.select import UNIT, choose
from builders.sketch.scoring.text import text
from builders.sketch.scoring.truth import Drawing, People, drawings, layouts, people
from schemas import DatasetFolder, GoldsmithError
from schemas.files import replace_json


@dataclass(frozen=True)
class ScoreReport:
    """What a scoring found.

    Attributes:
        run: the probe's summary, where it was a probe.
        orders: by condition (`words`: the category alone was named, `shown`: a drawing was shown).
        regions: of tools that give one place a part: theirs, then baselines and ceiling; all drawings.
        locus: of maps by layer and head.
        page: where the page is.
        items: of places and orders, see `items`.
    """

    run: Mapping[str, Any] | None
    orders: Mapping[str, OrderReport]
    regions: Mapping[str, Grounding]
    locus: Locus | None
    page: Path
    items: tuple[items.Item, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "format": 1,
            "run": self.run,
            "orders": {name: each.to_json() for name, each in self.orders.items()},
            "regions": {name: each.to_json() for name, each in self.regions.items()},
            "locus": None if self.locus is None else summary(self.locus),
        }

    def text(self) -> str:
        """For a terminal."""
        return text(self)


def score(folder: DatasetFolder, predictions: Path) -> ScoreReport:
    """Score outputs against a dataset folder; writes the page and the numbers as JSON beside them.

    Raises:
        GoldsmithError: something cannot be read, it is named; or heads would be reported on drawings that chose them.
    """
    from builders.sketch.scoring.page import write

    given = read(predictions, folder)
    known = people(folder) if given.orders else {}
    orders = _orders(given.orders, known, folder)
    regions, ink = _regions(given.regions, folder)
    locus = _locus(HeadMaps(given.files, Questions(folder)), folder) if given.files else None
    stem = predictions / "score" if predictions.is_dir() else predictions.with_name(f"{predictions.name}.score")
    scored = (*items.places(given.regions, ink), *items.orders(given.orders, known))
    report = ScoreReport(given.summary, orders, regions, locus, stem.with_name(f"{stem.name}.html"), scored)
    replace_json(stem.with_name(f"{stem.name}.json"), report.to_json())
    write(report, report.page)
    return report


def _orders(said: Sequence[Said], known: Mapping[str, People], folder: DatasetFolder) -> dict[str, OrderReport]:
    if not said:
        return {}
    where = list(layouts(folder))
    shown = {"words": [each for each in said if each.drawing is None], "shown": [each for each in said if each.drawing]}
    return {name: score_orders(some, known, where) for name, some in shown.items() if some}


def _regions(given: Sequence[Region], folder: DatasetFolder) -> tuple[dict[str, Grounding], list[float]]:
    """By predictor, and the IoU of ink of each place that is given."""
    if not given:
        return {}, []
    known = drawings(folder, {each.drawing for each in given})
    tallies = {name: Tally(name) for name in ("given", *BASELINES)}
    asked: set[tuple[str, str]] = set()
    ink = []
    for each in given:
        drawing = known[each.drawing]
        if each.part not in drawing.parts or (each.drawing, each.part) in asked:
            what = "is there twice" if (each.drawing, each.part) in asked else "is no part with pixels of its own"
            raise GoldsmithError(f"[{each.drawing} > {each.part}] {what}: give one place for each part of `parts`")
        asked.add((each.drawing, each.part))
        ink.append(_one(each, drawing, tallies))
    found = {name: tally.result() for name, tally in tallies.items()}
    return {name: result for name, result in found.items() if result is not None}, ink


def _one(each: Region, drawing: Drawing, tallies: Mapping[str, Tally]) -> float:
    """Add a place to the tallies; its IoU of ink."""
    target = Target.of(drawing, [each.part], Grid(*each.map.shape))
    values = each.map[None]
    got = target.agree(lit(values, THRESHOLD), values, None if each.box is None else each.box[None])
    tallies["given"].add(drawing.category, [each.part], {unit: iou.diagonal() for unit, iou in got.items()})
    for name, iou in baselines(target).items():
        tallies[name].add(drawing.category, [each.part], iou)
    return float(got[UNIT][0, 0])


def _locus(maps: HeadMaps, folder: DatasetFolder) -> Locus:
    known = drawings(folder, maps.drawings)
    calibration, report = Calibration(maps, known), Report(maps, known)
    for half in (calibration, report):
        if not half:
            raise GoldsmithError(f"[maps] no drawing of the {half.split} half has one: heads are chosen on one half and"
                                 " reported on the other, probe both")  # fmt: skip
    return examine(choose(calibration), report)
