"""A captured scene as the tools see it: a right-handed world, a camera, and the objects that can be asked about.

World units are the application's; directions are unit vectors. `up` is the world axis near the camera's up, None
where the camera is rolled or looks straight down: then nothing that needs a horizon is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from builders.webspatial.space.names import colour_name, paint, rgb, shape_name

MIN_PIXELS = 200
"""Of 800 x 600: below this an object is too small to ask about."""
DOUBT_PIXELS = 12
"""Below this it counts as not seen; in between it blocks counting."""
MIN_VISIBLE = 0.35
"""Visible share an object needs to be asked about."""
AXES = [np.array(a, float) for a in ((0, 1, 0), (0, 0, 1), (0, -1, 0), (0, 0, -1), (1, 0, 0), (-1, 0, 0))]


@dataclass(frozen=True, eq=False)
class Obj:
    """An object of a scene.

    Attributes:
        id: its number in the id picture; of a group of meshes, that of its first.
        low, high: corners of its world box; box: x0, y0, x1, y1 of its pixels; centroid: of its pixels.
        visible: share of its own silhouette that is seen, None if not measured; hidden_by: pixels by the other's id.
        nearby: the same share from cameras turned a little: one value a view.
        front: unit vector of its declared front, None where none is declared.
    """

    id: int
    path: str
    name: str
    kind: str
    low: np.ndarray
    high: np.ndarray
    pixels: int
    box: tuple[float, float, float, float]
    centroid: tuple[float, float]
    shape: str | None = None
    colour: str | None = None
    paint: str | None = None
    visible: float | None = None
    hidden_by: Mapping[int, int] = field(default_factory=dict)
    solo: int = 0
    nearby: tuple[Mapping[str, Any], ...] = ()
    front: np.ndarray | None = None
    whole: bool = True
    ids: tuple[int, ...] = ()

    @cached_property
    def centre(self) -> np.ndarray:
        """Middle of the world box."""
        return (self.low + self.high) / 2

    @cached_property
    def size(self) -> np.ndarray:
        """Edges of the world box."""
        return self.high - self.low

    @property
    def anchor(self) -> tuple[float, float]:
        """Where its mark belongs: the middle of its pixels; of a group its left side, for things may lie in it."""
        x0, y0, x1, y1 = self.box
        return (x0 + 0.1 * (x1 - x0), (y0 + y1) / 2) if self.kind == "Entity" else self.centroid

    @cached_property
    def diagonal(self) -> float:
        """Length of the world box's diagonal."""
        return float(np.linalg.norm(self.size))


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene from one camera. `slack` 1: answers need their whole margin; 0: plain comparison, for re-checks."""

    id: str
    eye: np.ndarray
    right: np.ndarray
    top: np.ndarray
    forward: np.ndarray
    up: np.ndarray | None
    width: int
    height: int
    objects: tuple[Obj, ...]
    doubtful: tuple[Obj, ...]
    projection: np.ndarray
    nearby_degrees: float = 0
    events: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[Mapping[str, Any], ...] = ()
    slack: float = 1.0
    turned: bool = False

    def object(self, number: int) -> Obj:
        """The object with an id; KeyError if it cannot be asked about."""
        for o in (*self.objects, *self.doubtful):
            if o.id == number:
                return o
        raise KeyError(number)

    @cached_property
    def flat_forward(self) -> np.ndarray | None:
        """The view direction on the ground, None within 12 degrees of the vertical."""
        return None if self.up is None else _flat(self.forward, self.up, math.sin(math.radians(12)))

    @cached_property
    def flat_right(self) -> np.ndarray | None:
        """The viewer's right on the ground."""
        return None if self.up is None else _flat(self.right, self.up, 0.1)

    @property
    def pitch(self) -> float:
        """Degrees that the camera looks up (below 0: down)."""
        return 0.0 if self.up is None else math.degrees(math.asin(float(np.clip(self.forward @ self.up, -1, 1))))

    def depth(self, o: Obj) -> float:
        """Distance of its centre along the view axis."""
        return float((o.centre - self.eye) @ self.forward)

    def project(self, point: np.ndarray) -> tuple[float, float] | None:
        """Where a world point is in the picture, in pixels; None behind the camera."""
        d = point - self.eye
        view = np.array([d @ self.right, d @ self.top, -(d @ self.forward), 1.0])
        clip = self.projection @ view
        if clip[3] <= 1e-6:
            return None
        return float((clip[0] / clip[3] + 1) / 2 * self.width), float((1 - clip[1] / clip[3]) / 2 * self.height)

    def at(self, o: Obj) -> tuple[float, float] | None:
        """Where an object is in the picture: the middle of its pixels; from a turned camera, its centre's image."""
        return self.project(o.centre) if self.turned else o.centroid

    @lru_cache(maxsize=128)  # noqa: B019  (a scene lives as long as its questions are made)
    def turn(self, azimuth: float, elevation: float) -> Scene:
        """The scene from a camera turned by so many degrees about what it looks at, with plain comparisons."""
        depths = sorted(self.depth(o) for o in self.objects) or [10.0]
        pivot = self.eye + self.forward * depths[len(depths) // 2]
        axis = self.up if self.up is not None else self.top
        around = _rotation(axis, azimuth) @ _rotation(self.right, -elevation)
        turned = {k: around @ getattr(self, k) for k in ("right", "top", "forward")}
        eye = pivot + around @ (self.eye - pivot)
        return replace(self, eye=eye, slack=0.0, turned=True, **turned)


def _flat(v: np.ndarray, up: np.ndarray, least: float) -> np.ndarray | None:
    flat = v - (v @ up) * up
    length = float(np.linalg.norm(flat))
    return flat / length if length > least else None


def _rotation(axis: np.ndarray, degrees: float) -> np.ndarray:
    a = math.radians(degrees)
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(a) * k + (1 - math.cos(a)) * (k @ k)


def load(name: str, data: Mapping[str, Any]) -> Scene:
    """The scene of a stored capture (`capture.store.Capture.data`)."""
    graph = data["graph"]
    flip = np.array([1.0, 1, -1]) if graph["handed"] == "left" else np.ones(3)
    camera = graph["camera"]
    vectors = {k: np.array(camera[k], float) * flip for k in ("right", "up", "forward")}
    vectors = {k: v / max(1e-9, float(np.linalg.norm(v))) for k, v in vectors.items()}
    best = max(AXES, key=lambda axis: float(axis @ vectors["up"]))
    width, height = graph["canvas"]["w"], graph["canvas"]["h"]
    objects, doubtful = _objects(data, flip, width, height)
    nearby = data.get("nearby") or []
    return Scene(
        id=name,
        eye=np.array(camera["position"], float) * flip,
        right=vectors["right"],
        top=vectors["up"],
        forward=vectors["forward"],
        up=best if best @ vectors["up"] > math.cos(math.radians(40)) else None,
        width=width,
        height=height,
        objects=tuple(objects),
        doubtful=tuple(doubtful),
        projection=_projection(camera, graph["handed"], width, height),
        nearby_degrees=min((min(abs(d) for d in view["degrees"]) for view in nearby), default=0),
        events=data.get("events") or {},
        turns=tuple(data.get("turns") or ()),
    )


def _projection(camera: Mapping[str, Any], handed: str, width: int, height: int) -> np.ndarray:
    """The clip matrix for a view space that looks along -z; from the field of view where the capture has no matrix."""
    given = camera.get("projectionMatrix")
    if given and handed == "right":
        return np.array(given, float).reshape(4, 4).T
    fov = float(camera.get("fov") or 0.8)
    f = 1 / math.tan((fov if fov < 3.2 else math.radians(fov)) / 2)
    return np.array([[f * height / width, 0, 0, 0], [0, f, 0, 0], [0, 0, -1, -0.2], [0, 0, -1, 0]])


def _objects(data: Mapping[str, Any], flip: np.ndarray, width: int, height: int) -> tuple[list[Obj], list[Obj]]:
    graph, least = data["graph"], width * height / 480000
    asked: list[Obj] = []
    doubtful: list[Obj] = []
    grouped = _groups(graph["nodes"])
    seen: dict[int, list[Obj]] = {}
    for k, node in enumerate(graph["nodes"]):
        for o, sure in _of_node(node, data, flip, width, height):
            if o.pixels < DOUBT_PIXELS * least:
                continue
            if k in grouped:
                seen.setdefault(grouped[k], []).append(o)
                continue
            (asked if sure and _can_ask(o, least) else doubtful).append(o)
    for index, parts in seen.items():
        whole = _joined(graph["nodes"][index], parts, flip)
        (asked if _can_ask(whole, least) else doubtful).append(whole)
    return asked, doubtful


def _first(material: Any) -> Mapping[str, Any]:
    if isinstance(material, list):
        return material[0] if material else {}
    return material or {}


def _can_ask(o: Obj, least: float) -> bool:
    return o.pixels >= MIN_PIXELS * least and (o.visible is None or o.visible >= MIN_VISIBLE)


def _groups(nodes: list[Mapping[str, Any]]) -> dict[int, int]:
    """Meshes that belong to a declared thing (`userData.entity`): node index to the thing's index."""
    out: dict[int, int] = {}
    for k, node in enumerate(nodes):
        if (node.get("userData") or {}).get("entity"):
            out[k] = k
        elif node["parent"] in out:
            out[k] = out[node["parent"]]
    return out


def _of_node(node: Mapping[str, Any], data: Mapping[str, Any], flip: np.ndarray, width: int, height: int) -> Any:
    """The objects of a node (one an instance), with whether they may be asked about."""
    if not node.get("drawable") or not node.get("worldBox"):
        return
    parts = node.get("instances") if node.get("idCount", 1) > 1 else None
    for k, part in enumerate(parts or [node]):
        mask, box = part.get("mask"), part.get("worldBox")
        if not mask or not box:
            continue
        low, high = np.array(box["min"], float) * flip, np.array(box["max"], float) * flip
        material = node.get("material")
        first = _first(material)
        scale = part["scale"] if parts else node["world"]["scale"]
        shape = shape_name(node, scale)
        share = mask["pixels"] / (width * height)
        x0, y0, x1, y1 = mask["box"]
        o = Obj(
            id=part["id"],
            path=node["path"] + (f"[{k}]" if parts else ""),
            name=node.get("name") or "",
            kind=node["type"],
            low=np.minimum(low, high),
            high=np.maximum(low, high),
            pixels=mask["pixels"],
            box=(x0, y0, x1, y1),
            centroid=tuple(mask["centroid"]),
            shape=shape,
            **_colours(material, mask, bool(parts) and bool(part.get("colorLinear"))),
            visible=None if parts else node.get("visibleFraction"),
            hidden_by={int(i): n for i, n in (node.get("occludedBy") or {}).items()},
            solo=node.get("soloPixels") or 0,
            nearby=() if parts else _nearby(data, node["id"]),
            front=_front(node, flip),
            whole=x0 > 0 and y0 > 0 and x1 < width and y1 < height,
            ids=(part["id"],),
        )
        clear = first.get("transparent") and (first.get("opacity") or 0) < 0.95
        flat = float(np.sort(o.size)[0]) < 0.02 * o.diagonal and share > 0.08
        solid = node["type"] in ("Mesh", "SkinnedMesh", "InstancedMesh")
        yield o, solid and not clear and not flat and share <= 0.25 and o.diagonal < 1e4


def _colours(material: Any, mask: Mapping[str, Any], own: bool) -> dict[str, str | None]:
    """The paint's name; as `colour` only where the name of what is on the screen agrees."""
    painted = paint(material)
    name = colour_name(rgb(painted)) if painted and not own else None
    shown = colour_name(mask["rgb"], furthest=60, margin=1.1, light=0.35) if mask.get("rgb") else None
    return {"paint": name, "colour": name if name == shown else None}


def _nearby(data: Mapping[str, Any], number: int) -> tuple[Mapping[str, Any], ...]:
    views = data.get("nearby") or []
    found = [view["visible"].get(str(number)) for view in views]
    return tuple(found) if views and all(found) else ()


def _front(node: Mapping[str, Any], flip: np.ndarray) -> np.ndarray | None:
    declared = (node.get("userData") or {}).get("front")
    if not declared:
        return None
    v = (np.array(node["matrixWorld"], float).reshape(4, 4).T[:3, :3] @ np.array(declared, float)) * flip
    return v / np.linalg.norm(v)


def _joined(node: Mapping[str, Any], parts: list[Obj], flip: np.ndarray) -> Obj:
    pixels = sum(o.pixels for o in parts)
    centroid = np.sum([np.array(o.centroid) * o.pixels for o in parts], axis=0) / pixels
    boxes = np.array([o.box for o in parts])
    low, high = np.min([o.low for o in parts], axis=0), np.max([o.high for o in parts], axis=0)
    box = (*boxes[:, :2].min(0), *boxes[:, 2:].max(0))
    first = parts[0]
    return replace(
        first,
        path=node["path"],
        name=node.get("name") or "",
        kind="Entity",
        low=low,
        high=high,
        pixels=pixels,
        box=tuple(float(v) for v in box),
        centroid=(float(centroid[0]), float(centroid[1])),
        shape=None,
        colour=None,
        paint=None,
        visible=None,
        hidden_by={},
        nearby=(),
        front=_front(node, flip),
        whole=all(o.whole for o in parts),
        ids=tuple(o.id for o in parts),
    )
