"""A scoring as a page: one file, nothing fetched. Layer by head matrices, pairs of parts, tables beside baselines."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from builders.sketch.scoring.examine import Locus
from builders.sketch.scoring.grounding import METRICS, Grounding, Value
from builders.sketch.scoring.locus import ALPHA, SHARE
from builders.sketch.scoring.order import MEASURES, OrderReport
from builders.sketch.scoring.regions import UNITS
from builders.sketch.scoring.select import UNIT
from builders.sketch.scoring.text import CONDITIONS

if TYPE_CHECKING:
    from builders.sketch.scoring.score import ScoreReport

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1240px;padding:0 1rem;color:#1b1b1b}
h1{font-size:1.5rem}h2{font-size:1.15rem;border-top:1px solid #ccc;padding-top:1rem;margin-top:2rem}
h3{font-size:1rem;margin:1.2rem 0 .3rem}p{max-width:75ch}small,.q{color:#555}
table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid #e5e5e5;white-space:nowrap}
th:first-child,td:first-child{text-align:left}thead th{border-bottom:1px solid #888;font-weight:600}
td small{display:block;font-size:.75rem}.own{background:#eef4fb}figure{display:inline-block;margin:.5rem 1.5rem .8rem 0;
vertical-align:top}figcaption{font-size:.85rem;max-width:480px}svg text{font:10px system-ui,sans-serif;fill:#444}
.wide{overflow-x:auto}.wide table{font-size:.82rem}
.wide th,.wide td{padding:.15rem .4rem}.wide th{white-space:normal}.run td{text-align:left}"""
_MEANING = {
    "tau": "tau",
    "tau_stable": "tau, resolved",
    "of_ceiling": "share of the human ceiling",
    "correlation": "correlation, pairs",
    "difference": "mean difference, pairs",
    "entropy_rho": "rank correlation, entropy",
    "entropy_difference": "mean difference, entropy",
}


def write(report: ScoreReport, out: Path) -> None:
    """Write the page of a scoring."""
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>Sketch probes: score</title>"]
    parts.append(f"<style>{_STYLE}</style><h1>Sketch probes: score</h1>{_run(report.run)}")
    for name, orders in report.orders.items():
        parts.append(f"<h2>Order of parts, {CONDITIONS[name]}</h2>{_orders(orders)}")
    if report.locus is not None:
        parts.append(f"<h2>Where grounding lives</h2>{_locus(report.locus)}")
    if report.regions:
        parts.append("<h2>Regions, one a part</h2>" + _groundings(report.regions, {"given"}))
    out.write_text("\n".join([*parts, "</html>\n"]), encoding="utf-8")


def _run(run: Mapping[str, object] | None) -> str:
    if not run:
        return "<p>Files of another tool; nothing is known of how they were made.</p>"
    names = (
        "model",
        "revision",
        "class",
        "dtype",
        "transformers",
        "torch",
        "layers",
        "heads",
        "batch",
        "limit",
        "parity",
    )
    rows = "".join(f"<tr><td>{name}<td>{_text(run.get(name))}" for name in names)
    note = "<p class=q>parity: the largest gap of eager to sdpa logits, of the largest logit.</p>"
    return f"<table class=run>{rows}</table>{note}"


def _orders(found: OrderReport) -> str:
    unread = ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in found.unread.items())
    lead = f"<p>{found.answers:,} answers; not an order: {unread or 'none'}."
    if found.bias is not None:
        lead += f" Tau of the answers to the list as it was given: {_span(found.bias)} (0: the list has no pull)."
    if not found.readouts:
        return lead + "</p>"
    first = found.readouts[0]
    lead += (
        f" {first.categories} categories, {first.stable} of them with a resolved order; {first.pairs} pairs that enough"
        " people and answers have. In brackets: 95 % by resampling of categories.</p>"
    )
    head = "".join(f"<th>{_MEANING[name]}" for name in MEASURES)
    rows = []
    for each in found.readouts:
        cells = "".join(f"<td>{_cell(each.values.get(name))}" for name in MEASURES)
        rows.append(f"<tr{_own(each.name == 'model')}><td>{each.name.replace('_', ' ')}{cells}")
    table = f"<div class=wide><table><thead><tr><th>{head}</thead>{''.join(rows)}</table></div>"
    pairs = [(*pair, each.name) for each in found.categories for pair in each.pairs]
    entropies = [(*each.entropies, each.name) for each in found.categories if each.entropies is not None]
    plots = _scatter(pairs, "people: share that draw the first part first", "model", "Each point a pair of parts")
    return lead + table + plots + _scatter(entropies, "people: bits", "model", "Entropy: each point a category")


def _locus(found: Locus) -> str:
    layers, heads, rows, columns = found.size
    above = int((found.p <= ALPHA).sum())
    band = "On the calibration half nothing is above the null, so there is no band."
    if found.band is not None:
        low, high = found.band.depth
        held = "nothing" if found.held is None else f"{found.held:.0%}"
        band = (
            f"Band: layers {found.band.first} to {found.band.last} (depth {low:.2f} to {high:.2f}), the shortest run"
            f" with {SHARE:.0%} of the mass above the null on the calibration half; of that on the report half it holds"
            f" {held}."
        )
    lead = (
        f"<p>{layers} layers of {heads} heads, maps of {rows} x {columns} cells. Heads, thresholds and the band were"
        f" chosen on {found.drawings[0]} drawings; everything shown here is of {found.drawings[1]} others, of other"
        f" categories and drawers. Above shuffled labels: {above} of {layers * heads} heads (p ≤ {ALPHA}, tested"
        " together)."
        f" {band}</p>"
    )
    chosen = set(found.findings["two_criteria"].heads)
    excess = np.where(found.p <= ALPHA, found.score - found.chance, np.nan)
    maps = [
        ("IoU of ink above shuffled labels; grey: not above", excess),
        ("mAcc@0.3, ink", found.matrices["ink@0.3"]),
        ("mAcc@0.1, pixels", found.matrices["mask@0.1"]),
        ("mAcc@0.1, box", found.matrices["box@0.1"]),
        ("Attention on the picture (S_img)", found.attention),
        ("Spatial entropy (nats)", found.entropy),
    ]
    band_rows = None if found.band is None else (found.band.first, found.band.last)
    figures = "".join(_matrix(values, title, chosen, band_rows) for title, values in maps)
    note = (
        "<p class=q>Layers go down, heads across. Orange: heads of the two-criterion rule; bar at the left: band.</p>"
    )
    table = {**{name: each.grounding for name, each in found.findings.items()}, **found.baselines}
    return lead + figures + note + _findings(found) + _groundings(table, set(found.findings))


def _findings(found: Locus) -> str:
    rows = []
    for name, each in found.findings.items():
        places = ", ".join(f"{layer}.{head}" for layer, head in each.heads)
        value = each.grounding.units[UNIT]["miou"]
        other = "-" if each.elsewhere is None else f"{each.elsewhere:.3f}"
        cells = (places, f"{each.threshold:.1f}", _cell(value), f"{each.apparent:.3f}", other, f"{each.p_random:.3f}",
                 f"{each.p_shuffled:.3f}")  # fmt: skip
        rows.append(f"<tr><td>{name.replace('_', ' ')}" + "".join(f"<td>{cell}" for cell in cells))
    low, middle, high = found.random
    head = "".join(
        f"<th>{name}"
        for name in (
            "layer.head",
            "threshold",
            "IoU of ink",
            "on drawings that chose",
            "same part elsewhere",
            "p, random",
            "p, shuffled",
        )
    )
    return (
        f"<h3>Sums of chosen heads</h3><table><thead><tr><th>{head}</thead>{''.join(rows)}</table>"
        f"<p class=q>Sums of as many random heads: {middle:.3f} [{low:.3f}, {high:.3f}].</p>"
    )


def _groundings(found: Mapping[str, Grounding], own: set[str]) -> str:
    first = next(iter(found.values()))
    lead = (
        f"<h3>Beside baselines and the ceiling of the grid</h3><p class=q>{first.questions:,} questions,"
        f" {first.classes} classes of parts, {first.categories} categories; mean over classes, 95 % by category.</p>"
    )
    head = "".join(
        f"<th>{unit} {name.replace('macc', 'mAcc').replace('miou', 'IoU')}" for unit in UNITS for name in METRICS
    )
    rows = []
    for name, each in found.items():
        cells = "".join(f"<td>{_cell(each.units[unit][metric])}" for unit in UNITS for metric in METRICS)
        rows.append(f"<tr{_own(name in own)}><td>{name.replace('_', ' ')}{cells}")
    return f"{lead}<div class=wide><table><thead><tr><th>{head}</thead>{''.join(rows)}</table></div>"


def _matrix(values: np.ndarray, title: str, chosen: set[tuple[int, int]], band: tuple[int, int] | None) -> str:
    layers, heads = values.shape
    side = max(6, min(26, 440 // max(layers, heads)))
    known = values[np.isfinite(values)]
    high = float(known.max()) if len(known) else 0.0
    cells = []
    for layer in range(layers):
        for head in range(heads):
            value = values[layer, head]
            shade = _shade(value / (high or 1)) if np.isfinite(value) else "#e4e4e4"
            place = f'x="{30 + head * side}" y="{layer * side + 4}" width="{side - 1}" height="{side - 1}"'
            said = f"{value:.3f}" if np.isfinite(value) else "-"
            cells.append(f'<rect {place} fill="{shade}"><title>layer {layer}, head {head}: {said}</title></rect>')
    for layer, head in chosen:
        place = f'x="{29.5 + head * side}" y="{layer * side + 3.5}" width="{side}" height="{side}"'
        cells.append(f'<rect {place} fill="none" stroke="#e8730c" stroke-width="2"/>')
    if band is not None:
        tall = (band[1] - band[0] + 1) * side
        cells.append(f'<rect x="24" y="{band[0] * side + 4}" width="3" height="{tall - 1}" fill="#e8730c"/>')
    step = max(1, -(-14 // side))
    marks = [f'<text x="20" y="{layer * side + side / 2 + 8}" text-anchor="end">{layer}</text>'
             for layer in range(0, layers, step)]  # fmt: skip
    base = layers * side + 16
    marks += [f'<text x="{30 + head * side + side / 2}" y="{base}" text-anchor="middle">{head}</text>'
              for head in range(0, heads, step)]  # fmt: skip
    size = f'width="{heads * side + 40}" height="{layers * side + 22}"'
    said = f"{html.escape(title)}<br><small>0 (light) to {high:.3f} (dark)</small>"
    return f"<figure><svg {size}>{''.join(cells + marks)}</svg><figcaption>{said}</figcaption></figure>"


def _scatter(points: Sequence[tuple[float, float, str]], across: str, down: str, title: str) -> str:
    if not points:
        return ""
    place: Callable[[float], float] = lambda value: 240 * value  # noqa: E731 - both axes run from 0 to 1
    dots = "".join(
        f'<circle cx="{40 + place(x):.1f}" cy="{250 - place(y):.1f}" r="3" fill="#2b6cb0" fill-opacity=".6">'
        f"<title>{html.escape(name)}: {x:.2f}, {y:.2f}</title></circle>"
        for x, y, name in points
    )
    axes = (
        '<rect x="40" y="10" width="240" height="240" fill="none" stroke="#999"/>'
        '<line x1="40" y1="250" x2="280" y2="10" stroke="#bbb" stroke-dasharray="3 3"/>'
        '<text x="40" y="264">0</text><text x="274" y="264">1</text><text x="28" y="250">0</text>'
        f'<text x="28" y="18">1</text><text x="160" y="278" text-anchor="middle">{html.escape(across)}</text>'
        f'<text x="14" y="130" transform="rotate(-90 14 130)" text-anchor="middle">{html.escape(down)}</text>'
    )
    svg = f'<svg width="300" height="284">{axes}{dots}</svg>'
    return f"<figure>{svg}<figcaption>{html.escape(title)}</figcaption></figure>"


def _shade(share: float) -> str:
    low, high = (239, 244, 250), (8, 48, 107)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True))


def _cell(value: Value | None) -> str:
    if value is None:
        return "-"
    return f"{value.value:.3f}<small>[{value.low:.3f}, {value.high:.3f}]</small>"


def _span(value: Value) -> str:
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"


def _own(yes: bool) -> str:
    return " class=own" if yes else ""


def _text(value: object) -> str:
    return html.escape(f"{value:.2g}" if isinstance(value, float) else str(value))
