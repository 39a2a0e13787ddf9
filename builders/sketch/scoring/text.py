"""A scoring as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from builders.sketch.scoring.examine import Locus
from builders.sketch.scoring.grounding import METRICS, Grounding
from builders.sketch.scoring.locus import ALPHA
from builders.sketch.scoring.order import MEASURES, OrderReport
from builders.sketch.scoring.regions import UNITS
from builders.sketch.scoring.select import UNIT

if TYPE_CHECKING:
    from builders.sketch.scoring.score import ScoreReport

CONDITIONS = {"words": "the category in words", "shown": "a drawing shown"}
_SHORT = {
    "tau": "tau",
    "tau_stable": "tau stable",
    "of_ceiling": "of ceiling",
    "correlation": "r pairs",
    "difference": "|dp|",
    "entropy_rho": "rho entropy",
    "entropy_difference": "|dH|",
}


def text(report: ScoreReport) -> str:
    """The whole, with the place of the page."""
    lines: list[str] = []
    if report.run:
        run = report.run
        lines.append(f"{run['model']} ({run['class']}, {run['dtype']}), eager against sdpa {run['parity']:.1e}")
    for name, orders in report.orders.items():
        lines += ["", f"Order of parts, {CONDITIONS[name]}:", *_orders(orders)]
    if report.regions:
        lines += [
            "",
            "Regions, one a part (mean over classes of parts, 95 % by category):",
            *_grounding(report.regions),
        ]
    if report.locus:
        lines += ["", *_locus(report.locus)]
    return "\n".join([*lines, "", f"page: {report.page}"])


def _orders(found: OrderReport) -> list[str]:
    unread = ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in found.unread.items())
    lines = [f"  {found.answers:,} answers; not an order: {unread or 'none'}"]
    if found.without:
        lines.append(f"  {found.without:,} are of categories without people's orders")
    if not found.readouts:
        return lines
    first = found.readouts[0]
    lines.append(f"  {first.categories} categories, {first.stable} with a resolved order, {first.pairs} pairs")
    lines.append(f"  {'':14}" + "".join(f"{_SHORT[name]:>13}" for name in MEASURES))
    for readout in found.readouts:
        cells = [f"{readout.values[name].value:.2f}" if name in readout.values else "-" for name in MEASURES]
        lines.append(f"  {readout.name:14}" + "".join(f"{cell:>13}" for cell in cells))
    values = first.values
    spans = [f"[{values[name].low:.2f},{values[name].high:.2f}]" if name in values else "" for name in MEASURES]
    lines.append(f"  {'model, 95 %':14}" + "".join(f"{span:>13}" for span in spans))
    if found.bias is not None:
        bias = found.bias
        lines.append(f"  tau of answers to the list as given: {bias.value:.2f} [{bias.low:.2f},{bias.high:.2f}]")
    return lines


def _grounding(found: Mapping[str, Grounding]) -> list[str]:
    first = next(iter(found.values()))
    lines = [f"  {first.questions:,} questions, {first.classes} classes, {first.categories} categories"]
    short = "".join(f"{name.replace('miou', 'IoU').replace('macc', ''):>6}" for name in METRICS)
    lines.append(f"  {'mAcc@tau by unit':22}" + "".join(f"  {unit:>{6 * len(METRICS)}}" for unit in UNITS))
    lines.append(f"  {'':22}" + f"  {short}" * len(UNITS))
    for name, each in found.items():
        groups = ("".join(f"{each.units[unit][metric].value:6.2f}" for metric in METRICS) for unit in UNITS)
        lines.append(f"  {name:22}" + "".join(f"  {group}" for group in groups))
    return lines


def _maybe(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _locus(found: Locus) -> list[str]:
    layers, heads, rows, columns = found.size
    above = int((found.p <= ALPHA).sum())
    lines = [
        f"Heads, chosen on {found.drawings[0]} drawings and reported on {found.drawings[1]} others (no category and no"
        " drawer in both):",
        f"  {layers} layers x {heads} heads, grid {rows} x {columns}; above shuffled labels: {above} heads"
        f" (p <= {ALPHA}, tested together)",
    ]
    if found.band is None:
        lines.append("  no band: on the calibration half nothing is above the null")
    else:
        low, high = found.band.depth
        held = "nothing is above the null here" if found.held is None else f"{found.held:.0%} on the report half"
        lines.append(
            f"  band: layers {found.band.first} to {found.band.last} (depth {low:.2f} to {high:.2f}), with"
            f" {found.band.share:.0%} of the mass on the calibration half; {held}"
        )
    if found.depth is not None:
        lines.append(f"  centre of the mass at depth {found.depth:.2f}")
    low, middle, high = found.random
    lines.append(f"  sums of random heads, IoU of {UNIT}: {middle:.3f} [{low:.3f},{high:.3f}]")
    head = f"  {'sums of heads':22} {'IoU of ' + UNIT:19} {'calibration':>11} {'elsewhere':>11}"
    lines.append(f"{head} {'p random':>9} {'p shuffled':>10}  layer.head")
    for name, each in found.findings.items():
        value = each.grounding.units[UNIT]["miou"]
        places = " ".join(f"{layer}.{head}" for layer, head in each.heads)
        lines.append(
            f"  {name:22} {value.value:.3f} [{value.low:.3f},{value.high:.3f}] {each.apparent:11.3f}"
            f" {_maybe(each.elsewhere):>11} {each.p_random:9.3f} {each.p_shuffled:10.3f}  {places}"
        )
    table = {**{name: each.grounding for name, each in found.findings.items()}, **found.baselines}
    lines.append("  calibration: on the drawings that chose them; elsewhere: on the same part of other drawings")
    return [*lines, "", *_grounding(table)]
