"""The metrics, exact on groups of pixels, and what chance gets."""

from __future__ import annotations

from typing import Final

import numpy as np

from builders.vigor.scoring.evidence import Groups

METRICS: Final = ("pointing", "energy", "iou", "aupr")
"""Pointing: share of the truth among the pixels with the highest value. Energy: share of all value that lies in the
truth, less what an even map would have there, (x - a) / (1 - a). IoU: of what has at least `THRESHOLD` of the highest
value. AUPR: average precision over pixels."""
THRESHOLD: Final = 0.5
"""Fixed, for all models: the best threshold of each map is an oracle."""
GROUNDED: Final = 0.5
"""Pointing from which a concept counts as grounded."""


def measure(groups: Groups) -> dict[str, float]:
    """All metrics, of evidence that is not empty."""
    values, top = groups.values, float(groups.values.max())
    total, true = float(groups.pixels.sum()), float(groups.inside.sum())
    share = true / total
    best = values >= top
    weight = values * groups.pixels
    energy = float((values * groups.inside).sum() / weight.sum())
    chosen = values >= THRESHOLD * top
    shared = float(groups.inside[chosen].sum())
    return {
        "pointing": float(groups.inside[best].sum() / groups.pixels[best].sum()),
        "energy": (energy - share) / (1 - share) if share < 1 else 1.0,
        "iou": shared / (true + float(groups.pixels[chosen].sum()) - shared),
        "aupr": average_precision(values, groups.pixels, groups.inside),
    }


def average_precision(values: np.ndarray, pixels: np.ndarray, inside: np.ndarray) -> float:
    """Average precision over pixels; pixels of one value come together, as in scikit-learn."""
    order = np.argsort(-values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])), len(order) - 1)
    hits = np.cumsum(inside[order])[ends]
    seen = np.cumsum(pixels[order])[ends]
    gained = np.diff(hits, prepend=0.0)
    return float((gained * hits / seen).sum() / hits[-1]) if hits[-1] else 0.0


def nothing() -> dict[str, float]:
    """What a concept gets that was said without evidence, or with evidence that points at nothing: whoever shows
    nothing must not fare better than whoever shows the wrong place."""
    return dict.fromkeys(METRICS, 0.0)


def chance(share: float) -> dict[str, float]:
    """What an even map gets where the truth has this share of the pixels."""
    return {"pointing": share, "energy": 0.0, "iou": share, "aupr": share}


def ceiling(groups: Groups | None) -> dict[str, float]:
    """What the best evidence of this form gets. `groups` has the truth's share as value; the IoU is that of the best
    union of groups, whatever the threshold."""
    if groups is None:
        return dict.fromkeys(METRICS, 1.0)
    found = measure(groups)
    order = np.argsort(-groups.values, kind="stable")
    shared, seen = np.cumsum(groups.inside[order]), np.cumsum(groups.pixels[order])
    found["iou"] = float((shared / (groups.inside.sum() + seen - shared)).max())
    ratio = groups.inside / groups.pixels
    share = float(groups.inside.sum() / groups.pixels.sum())
    found["energy"] = (float(ratio.max()) - share) / (1 - share) if share < 1 else 1.0
    return found


def both_ends(subject: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Of a relation: the geometric mean of its two ends, so that one alone is worth nothing."""
    return {name: float(np.sqrt(max(0.0, subject[name]) * max(0.0, other[name]))) for name in subject}
