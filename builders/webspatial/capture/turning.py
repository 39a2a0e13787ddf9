"""Objects turned and mirrored by the page's own renderer, for mental rotation; only objects that differ from their
mirror image under every rotation are pictured (`space.chirality`).
"""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from builders.webspatial.capture import store
from builders.webspatial.capture.page import AppPage
from builders.webspatial.space import chirality

DIRECTIONS = 8
"""Views a side: the first is the reference; the rest are turned by 30 to 150 degrees from it."""
SIZE = 200
MOST = 3
PLAIN = {"Box", "Sphere", "Cylinder", "Cone", "Torus", "Plane", "Circle", "Ring", "Capsule"}
"""Geometries that have a mirror plane: not even tested."""


def turns(app: AppPage, graph: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Pictures of up to `MOST` chiral objects; the list says of each its path, chirality and views."""
    found: list[dict[str, Any]] = []
    pictures: dict[str, bytes] = {}
    for node in graph["nodes"]:
        kind = ((node.get("geometry") or {}).get("type") or "").replace("Buffer", "").removesuffix("Geometry")
        if len(found) == MOST or not node.get("mask") or node["type"] != "Mesh" or kind in PLAIN:
            continue
        mesh = app.page.evaluate("path => __WS.triangles(path)", node["path"])
        measured = chirality.measure(mesh["P"], mesh["F"]) if mesh else None
        if measured is None or not measured.chiral:
            continue
        views, more = _views(app, node["path"], len(pictures))
        if views:
            pictures |= more
            record = {"path": node["path"], "id": node["id"], "own": measured.own, "mirror": measured.mirror}
            found.append({**record, "views": views})
    return found, pictures


def _views(app: AppPage, path: str, first: int) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    views, pictures = [], {}
    directions = _directions()
    for mirrored in (False, True):
        for direction in directions:
            args = [path, direction, mirrored]
            got = app.page.evaluate("([p, d, m]) => __WS.turned(p, d, m)", args)
            if got.get("error") or got["pixels"] < 500:
                return [], {}
            name = f"turn-{first + len(pictures):03}"
            pictures[name] = _cropped(store.png(got["png"]))
            degrees = round(math.degrees(math.acos(max(-1, min(1, float(np.dot(direction, directions[0])))))), 2)
            views.append({"picture": name, "direction": direction, "mirrored": mirrored, "degrees": degrees})
    return views, pictures


def _directions() -> list[list[float]]:
    """The reference, then directions 30 to 150 degrees away from it, spread by the golden angle; none near the
    poles."""
    reference = np.array([0.5, 0.45, 0.74])
    reference /= np.linalg.norm(reference)
    out = [reference]
    for k in range(400):
        z = 0.85 - 1.7 * ((k * 0.381966) % 1)
        angle = k * 2.399963
        direction = np.array([math.sqrt(1 - z * z) * math.sin(angle), z, math.sqrt(1 - z * z) * math.cos(angle)])
        apart = [math.degrees(math.acos(np.clip(direction @ other, -1, 1))) for other in out]
        if 30 <= apart[0] <= 150 and min(apart) >= 25 and np.abs(direction).min() >= 0.22:
            out.append(direction)
        if len(out) == DIRECTIONS:
            break
    return [[round(float(v), 6) for v in direction] for direction in out]


def _cropped(content: bytes) -> bytes:
    """The object alone on grey, centred and of one size, so that neither place nor distance tells anything."""
    from PIL import Image

    image = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    rows, columns = np.where(np.abs(image.astype(int) - 225).sum(2) > 0)
    part = image[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    side = max(part.shape[:2])
    square = np.full((side, side, 3), 225, np.uint8)
    y, x = (side - part.shape[0]) // 2, (side - part.shape[1]) // 2
    square[y : y + part.shape[0], x : x + part.shape[1]] = part
    inner = Image.fromarray(square).resize((SIZE - 20, SIZE - 20), Image.Resampling.BILINEAR)
    framed = Image.new("RGB", (SIZE, SIZE), (225, 225, 225))
    framed.paste(inner, (10, 10))
    return store.encode(framed)
