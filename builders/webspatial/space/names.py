"""Names of colours and shapes that a person would give, or none.

Colours: 12 names with several exemplars each, the nearest in CIELAB, refused when a second name is nearly as near.
Shapes: from the geometry's type and its parameters, at the object's world scale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_EXEMPLARS = {
    "red": ("#ff0000", "#c01818", "#e03030"),
    "orange": ("#ff8000", "#ffa500", "#e07020"),
    "yellow": ("#ffff00", "#f0d020", "#ffd700"),
    "green": ("#00ff00", "#008000", "#30a040", "#80c040"),
    "blue": ("#0000ff", "#2050d0", "#4090e0", "#103080"),
    "purple": ("#8000a0", "#800080", "#9040d0", "#6020a0"),
    "pink": ("#ff80b0", "#ffc0cb", "#ff69b4"),
    "brown": ("#804020", "#8b4513", "#6b4020"),
    "white": ("#ffffff", "#f0f0f0"),
    "grey": ("#808080", "#606060", "#a8a8a8"),
    "black": ("#000000", "#181818"),
    "cyan": ("#00ffff", "#20c0d0", "#40e0d0"),
}
COLOURS = tuple(_EXEMPLARS)
SHAPES = ("cube", "box", "sphere", "cylinder", "cone", "torus")
_UNPAINTED = {"ShaderMaterial", "RawShaderMaterial", "MeshNormalMaterial", "MeshDepthMaterial", "MeshMatcapMaterial"}
_TURN = 6.2


def rgb(text: str) -> tuple[int, int, int]:
    """`#rrggbb` as numbers."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def lab(colour: Sequence[float]) -> np.ndarray:
    """sRGB (0 to 255) in CIELAB, D65."""
    v = np.asarray(colour, float) / 255
    v = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = matrix @ v / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


_LAB = {name: np.array([lab(rgb(e)) for e in exemplars]) for name, exemplars in _EXEMPLARS.items()}


def colour_name(colour: Sequence[float], furthest: float = 32, margin: float = 1.25, light: float = 1) -> str | None:
    """The name of a colour, None where it is far from all or nearly as near to two.

    Args:
        furthest: distance in CIELAB to the nearest exemplar.
        margin: the second name must be this many times further away.
        light: weight of lightness, below 1 where the light of the scene may have changed it.
    """
    weights = np.array([light, 1, 1])
    here = lab(colour)
    near = sorted((float(np.linalg.norm((e - here) * weights, axis=1).min()), name) for name, e in _LAB.items())
    if near[0][0] > furthest or near[1][0] < margin * max(near[0][0], 4):
        return None
    return near[0][1]


def paint(material: Any) -> str | None:
    """The colour of a plainly painted material as `#rrggbb`; None for textures, vertex colours and shaders."""
    if not isinstance(material, Mapping) or material.get("map") or material.get("vertexColors"):
        return None
    return None if material.get("type") in _UNPAINTED else material.get("color")


def _equal(a: float, b: float) -> bool:
    return abs(a - b) <= 0.05 * max(abs(a), abs(b), 1e-9)


def shape_name(node: Mapping[str, Any], scale: Sequence[float]) -> str | None:
    """What shape a node's geometry is at a world scale; None where people would not agree."""
    geometry = node.get("geometry") or {}
    kind = re.sub(r"Buffer(?=Geometry)", "", geometry.get("type") or "").replace("Cube", "Box").removesuffix("Geometry")
    p = geometry.get("parameters") or {}
    s = [abs(x) for x in scale]
    if node.get("deformed") or node.get("type") == "SkinnedMesh" or not isinstance(p, Mapping):
        return None
    even = _equal(s[0], s[1]) and _equal(s[1], s[2])
    match kind:
        case "Box":
            return _box([p.get(k, 1) * x for k, x in zip(("width", "height", "depth"), s, strict=True)])
        case "Sphere":
            whole = p.get("phiLength", 7) >= _TURN and p.get("thetaLength", 4) >= 3.1
            fine = (p.get("widthSegments") or 32) >= 8 and (p.get("heightSegments") or 16) >= 6
            return "sphere" if even and whole and fine else None
        case "Icosahedron" | "Octahedron" | "Dodecahedron" if (p.get("detail") or 0) >= 3:
            return "sphere" if even else None
        case "Cylinder" | "Cone":
            return _round(kind, p) if _equal(s[0], s[2]) else None
        case "Torus":
            return "torus" if even and (p.get("arc") or 7) >= _TURN else None
    return None


def _box(edges: Sequence[float]) -> str | None:
    longest, shortest = max(edges), min(edges)
    if _equal(longest, shortest):
        return "cube"
    return "box" if longest > 1.3 * shortest > 0.065 * longest else None


def _round(kind: str, p: Mapping[str, Any]) -> str | None:
    top = p.get("radiusTop", 0 if kind == "Cone" else 1) or 0
    bottom = p.get("radiusBottom", p.get("radius", 1)) or 0
    if (p.get("radialSegments") or 32) < 8 or (p.get("thetaLength") or 7) < _TURN or p.get("openEnded"):
        return None
    if _equal(top, bottom):
        return "cylinder"
    return "cone" if min(top, bottom) <= 0.02 * max(top, bottom) else None
