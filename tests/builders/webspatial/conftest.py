"""What WebSpatial's tests share: scenes made by hand, the bundled captures, and a browser where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders.webspatial.capture import browser as browsers
from builders.webspatial.capture.serve import Packages
from builders.webspatial.space.scene import load

SAMPLE = Path(browsers.__file__).parent.parent / "sample" / "captures"


def data(objects: list[dict[str, Any]], eye=(0.0, 3.0, 10.0), look=(0.0, 0.0, 0.0), **more: Any) -> dict[str, Any]:
    """A capture's data: boxes `at` with `size` seen by a camera; nothing hides anything."""
    f = np.array(look, float) - np.array(eye, float)
    f /= np.linalg.norm(f)
    r = np.cross(f, [0, 1, 0])
    r /= np.linalg.norm(r)
    u = np.cross(r, f)
    nodes = []
    for k, o in enumerate(objects, 1):
        at, half = np.array(o["at"], float), np.broadcast_to(np.array(o.get("size", 1.0), float), 3) / 2
        x, y = _pixel(at, np.array(eye), r, u, f)
        w = 40
        mask = {"pixels": 1600, "box": [x - w / 2, y - w / 2, x + w / 2, y + w / 2], "centroid": [x, y]}
        mask["rgb"] = o.get("rgb", [214, 32, 32])
        edges = [float(v) * 2 for v in half]
        node = {
            "parent": -1,
            "path": f"scene0/{o.get('name', k)}",
            "name": o.get("name", ""),
            "type": "Mesh",
            "drawable": True,
            "id": k,
            "idCount": 1,
            "effectiveVisible": True,
            "world": {"position": list(o["at"]), "scale": [1, 1, 1]},
            "matrixWorld": o.get("matrix", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, *o["at"], 1]),
            "worldBox": {"min": (at - half).tolist(), "max": (at + half).tolist()},
            "screen": {"box": mask["box"], "behind": 0, "depth": [5, 6]},
            "mask": mask,
            "maskPixels": 1600,
            "visibleFraction": 1.0,
            "soloPixels": 1600,
            "occludedBy": {},
            "material": {"type": "MeshLambertMaterial", "color": o.get("color", "#d62020")},
            "geometry": {
                "type": o.get("geometry", "BoxGeometry"),
                "parameters": o.get("parameters", dict(zip(("width", "height", "depth"), edges, strict=True))),
            },
            **({"userData": o["userData"]} if "userData" in o else {}),
        }
        nodes.append({**node, **o.get("node", {})})
    fov = 45
    t = 1 / np.tan(np.radians(fov) / 2)
    projection = [t * 600 / 800, 0, 0, 0, 0, t, 0, 0, 0, 0, -1, -1, 0, 0, -0.2, 0]
    camera = {"position": list(eye), "right": r.tolist(), "up": u.tolist(), "forward": f.tolist(), "fov": fov}
    camera["projectionMatrix"] = [float(v) for v in projection]
    graph = {"engine": "three.js", "handed": "right", "canvas": {"w": 800, "h": 600}, "camera": camera, "nodes": nodes}
    return {"graph": graph, "objectsSeen": len(nodes), **more}


def _pixel(p, eye, r, u, f) -> tuple[float, float]:
    d = p - eye
    t = 1 / np.tan(np.radians(45) / 2)
    return float((t * 0.75 * (d @ r) / (d @ f) + 1) * 400), float((1 - t * (d @ u) / (d @ f)) * 300)


@pytest.fixture
def scene():
    """Makes a scene from objects: `scene([{"at": (x, y, z), "size": 1}, ...], eye=...)`."""
    return lambda objects, **more: load("s", data(objects, **more))


@pytest.fixture
def capture_data():
    """The function `data`."""
    return data


@pytest.fixture
def captures() -> Path:
    """The bundled captures."""
    return SAMPLE


@pytest.fixture(scope="session")
def playwright():
    """Playwright; skips where capturing lacks something, and says what."""
    why = browsers.missing()
    if why:
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright):
    """One browser for all tests that only need a profile of their own, which each page has."""
    started = browsers.launch(playwright)
    yield started
    started.close()


@pytest.fixture(scope="session")
def packages(request) -> Packages:
    """npm's packages, fetched by npm; of exact versions, so they are kept from one run to the next."""
    return Packages(request.config.cache.mkdir("npm-packages"))
