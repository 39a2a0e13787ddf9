"""Rows of the tables, of drawings and statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from builders.sketch import masks
from builders.sketch.forms import Drawing, Entry
from builders.sketch.orders import ENOUGH, SURE, Orders, Said, entropy, precedes
from builders.sketch.render import Rendering
from schemas import Table


def sketch_id(source: str, entry: Entry) -> str:
    """A drawing's name for ever: `spg/apple/5867655649034240`."""
    return f"{source}/{entry.category}/{entry.key}"


def batch(table: Table, rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Rows as a batch with the table's schema."""
    schema = table.arrow
    return pa.RecordBatch.from_arrays(
        [pa.array([row[name] for row in rows], schema.field(name).type) for name in schema.names], schema=schema
    )


def sketch_row(
    source: str, entry: Entry, drawing: Drawing, made: Rendering, split: str, licence: str
) -> dict[str, Any]:
    """A row of `sketches`."""
    timed = [stroke.t for stroke in drawing.strokes if stroke.t is not None]
    return {
        "sketch_id": sketch_id(source, entry),
        "source": source,
        "key": entry.key,
        "kind": drawing.kind,
        "category": entry.category,
        "drawer": entry.drawer,
        "split": split,
        "country": drawing.country,
        "recognized": drawing.recognized,
        "duration_ms": int(timed[-1][-1]) if timed else None,
        "width": drawing.width,
        "height": drawing.height,
        "strokes": [{"x": s.x, "y": s.y, "t": s.t} for s in drawing.strokes],
        "n_strokes": len(drawing.strokes),
        "n_parts": len(made.parts),
        "ordered": drawing.raster is None,
        "repairs": list(drawing.repairs),
        "image": {"bytes": made.png, "path": "sketch.png"},
        "ink_area": made.ink_area,
        "licence": licence,
    }


def part_rows(name: str, category: str, drawing: Drawing, made: Rendering, split: str) -> list[dict[str, Any]]:
    """The rows of `parts` of one drawing."""
    strokes: dict[int, list[int]] = {}
    for index, stroke in enumerate(drawing.strokes):
        strokes.setdefault(stroke.group, []).append(index)
    returned = drawing.returned
    seen: Counter[str] = Counter()
    rows = []
    for index, part in enumerate(made.parts):
        own, called = strokes.get(part.group, []), drawing.groups[part.group]
        rows.append(
            {
                "sketch_id": name,
                "part_index": index,
                "part": called,
                "instance": seen[called],
                "category": category,
                "split": split,
                "strokes": own,
                "first_stroke": own[0] if own else None,
                "last_stroke": own[-1] if own else None,
                "returned": part.group in returned if own else None,
                "box": masks.box(part.ink),
                "mask": masks.encode(part.mask),
                "mask_area": int(np.count_nonzero(part.mask)),
                "ink": masks.encode(part.ink),
                "ink_area": int(np.count_nonzero(part.ink)),
            }
        )
        seen[called] += 1
    return rows


def step_rows(name: str, drawing: Drawing, made: Rendering) -> list[dict[str, Any]]:
    """The rows of `steps` of one drawing."""
    return [
        {
            "sketch_id": name,
            "step": number,
            "part": drawing.groups[step.group],
            "n_strokes": step.n_strokes,
            "image": {"bytes": step.png, "path": f"step-{number}.png"},
        }
        for number, step in enumerate(made.steps)
    ]


def order_rows(source: str, category: str, split: str, found: Orders) -> list[dict[str, Any]]:
    """The rows of `orders` of one category: a row for each two of its parts."""
    ours = precedes(np.array([found.kemeny]))[0]
    rows = []
    for a, one in enumerate(found.parts):
        for b in range(a + 1, len(found.parts)):
            n, first = int(found.together[a, b]), int(found.before[a, b])
            only = int(found.alone[a, b]), int(found.alone[b, a])
            everything = n + sum(only)
            agreed = float(found.agreement[a, b])
            rows.append(
                {
                    "source": source,
                    "category": category,
                    "part_a": one,
                    "part_b": found.parts[b],
                    "split": split,
                    "n": n,
                    "n_a_first": first,
                    "only_a": only[0],
                    "only_b": only[1],
                    "p": first / n if n else None,
                    "p_if_late": (first + only[0]) / everything if everything else None,
                    "entropy": float(entropy(np.array(first), np.array(n))) if n else None,
                    "counted": n >= ENOUGH,
                    "a_first": bool(ours[a, b]),
                    "agreement": agreed,
                    "resolved": n >= ENOUGH and agreed >= SURE,
                }
            )
    return rows


def summary_row(
    source: str, category: str, split: str, said: Sequence[Said], found: Orders, pairs: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The row of `order_summaries` of one category; `said` is what was measured."""
    counted = [pair for pair in pairs if pair["counted"]]
    compared = [each for each in said if len(each.part_order) > 1]
    known = [each.recognized for each in said if each.recognized is not None]
    flips = sum((pair["p"] - 0.5) * (pair["p_if_late"] - 0.5) < 0 for pair in counted)
    return {
        "source": source,
        "category": category,
        "split": split,
        "drawings": found.drawings,
        "comparable": found.comparable,
        "parts": list(found.parts),
        "presence": found.presence.tolist(),
        "kemeny": [found.parts[index] for index in found.kemeny],
        "method": "kemeny" if found.exact else "borda",
        "borda": [found.parts[index] for index in found.borda],
        "resolved": bool(counted) and all(pair["resolved"] for pair in counted),
        "pairs_counted": len(counted),
        "pairs_resolved": sum(pair["resolved"] for pair in counted),
        "entropy": found.entropy,
        "agreement": found.fits,
        "human_tau": found.human_tau,
        "human_tau_sd": found.human_tau_sd,
        "stability": found.stability,
        "returned": sum(each.returned for each in compared) / len(compared) if compared else None,
        "recognized": sum(known) / len(known) if known else None,
        "flips_if_late": flips,
        "seed": found.seed,
    }
