"""The spatial tools: what can be asked of a scene, each with its frame, its unit and its margin.

Every tool returns an answer or `AMBIGUOUS` (too close to call, or it makes no sense here); a question that meets it
is not
asked. Frames: `viewer` is the camera's, with left, right and depth on the ground; `object` is the object's own, from
its declared front; `world` hangs on no camera. Lengths are scene units and only ever compared as ratios. Margins are
multiplied by `Scene.slack`; with 0 a tool is a plain comparison, which is how answers are checked from a turned camera.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from builders.webspatial.space.scene import Obj, Scene

AMBIGUOUS = "ambiguous"
CLEAR = 15.0
"""Degrees that a direction keeps clear of the border between two sectors."""
SECTORS = ("front", "right", "behind", "left")


@dataclass(frozen=True)
class Tool:
    """A tool as programs and people see it. `camera`: whether the answer hangs on where the camera is."""

    name: str
    signature: str
    frame: str
    meaning: str
    answers: tuple[str, ...]
    run: Callable[..., str]
    camera: bool = True


TOOLS: dict[str, Tool] = {}


def tool(signature: str, frame: str, answers: tuple[str, ...] = (), camera: bool = True) -> Callable[..., Callable]:
    """Register a function as a tool under its own name; its docstring is the meaning."""

    def register(run: Callable[..., str]) -> Callable[..., str]:
        name = run.__name__
        TOOLS[name] = Tool(name, f"{name}{signature}", frame, (run.__doc__ or "").strip(), answers, run, camera)
        return run

    return register


def _apart(s: Scene, a: Obj, b: Obj, axis: np.ndarray) -> int:
    """Sign of a's offset from b along an axis, 0 if less than half the sum of their half extents."""
    offset = float((a.centre - b.centre) @ axis)
    margin = s.slack * 0.25 * float(np.abs(axis) @ (a.size + b.size))
    return int(np.sign(offset)) if abs(offset) > margin else 0


@tool("(a: Object, b: Object) -> left | right", "viewer", ("left", "right"))
def side(s: Scene, a: Obj, b: Obj) -> str:
    """On which side of b is a, for the viewer: along the camera's right on the ground, and the picture agrees."""
    right, pa, pb = s.flat_right, s.at(a), s.at(b)
    if right is None or pa is None or pb is None:
        return AMBIGUOUS
    sign, dx = _apart(s, a, b, right), pa[0] - pb[0]
    least = s.slack * 0.15 * ((a.box[2] - a.box[0]) + (b.box[2] - b.box[0]))
    return AMBIGUOUS if sign == 0 or sign * dx <= least else ("right" if sign > 0 else "left")


@tool("(a: Object, b: Object) -> in front | behind", "viewer", ("in front", "behind"))
def depth_order(s: Scene, a: Obj, b: Obj) -> str:
    """Is a in front of b or behind it, for the viewer: along the view on the ground, and the depth agrees."""
    if s.flat_forward is None:
        return AMBIGUOUS
    sign = _apart(s, a, b, -s.flat_forward)
    return AMBIGUOUS if sign == 0 or sign * (s.depth(b) - s.depth(a)) <= 0 else ("in front" if sign > 0 else "behind")


@tool("(a: Object, b: Object) -> above | below", "world, up as the camera has it", ("above", "below"))
def height(s: Scene, a: Obj, b: Obj) -> str:
    """Is the whole of a above or below the whole of b; the picture agrees. None when looking steeply up or down."""
    pa, pb = s.at(a), s.at(b)
    if s.up is None or abs(s.pitch) > 60 or pa is None or pb is None:
        return AMBIGUOUS
    (a0, a1), (b0, b1) = _span(a, s.up), _span(b, s.up)
    tolerance = 0.1 * min(a1 - a0, b1 - b0)
    if s.slack == 0:
        return "above" if (a0 + a1) > (b0 + b1) else "below"
    if a0 >= b1 - tolerance and pa[1] < pb[1]:
        return "above"
    return "below" if b0 >= a1 - tolerance and pb[1] < pa[1] else AMBIGUOUS


def _span(o: Obj, up: np.ndarray) -> tuple[float, float]:
    ends = float(o.low @ up), float(o.high @ up)
    return min(ends), max(ends)


@tool("(a: Object, b: Object) -> A | B", "viewer", ("A", "B"))
def nearer_camera(s: Scene, a: Obj, b: Obj) -> str:
    """Which is nearer to the camera: by distance and by depth, one at least 1.15 times the other."""
    ratio = 1 + 0.15 * s.slack
    da, db = (float(np.linalg.norm(o.centre - s.eye)) for o in (a, b))
    za, zb = s.depth(a), s.depth(b)
    if db > ratio * da and zb > ratio * za > 0:
        return "A"
    return "B" if da > ratio * db and za > ratio * zb > 0 else AMBIGUOUS


def distance(a: Obj, b: Obj) -> float:
    """Between centres, in scene units."""
    return float(np.linalg.norm(a.centre - b.centre))


def gap(a: Obj, b: Obj) -> float:
    """Between the world boxes, in scene units; 0 where they touch."""
    return float(np.linalg.norm(np.maximum(0, np.maximum(a.low - b.high, b.low - a.high))))


def _nearer(a: Obj, b: Obj, to: Obj, ratio: float = 1.25) -> bool:
    ga, gb = gap(a, to), gap(b, to)
    return distance(b, to) > ratio * distance(a, to) and gb >= ratio * ga and gb > 0


@tool("(to: Object, b: Object, c: Object, d: Object) -> B | C | D", "world", ("B", "C", "D"), camera=False)
def nearest(s: Scene, to: Obj, b: Obj, c: Obj, d: Obj) -> str:
    """Which of three is nearest: by centres and by surfaces, the next one at least 1.25 times as far."""
    return _extreme(to, (b, c, d), lambda x, y: _nearer(x, y, to))


@tool("(to: Object, b: Object, c: Object, d: Object) -> B | C | D", "world", ("B", "C", "D"), camera=False)
def farthest(s: Scene, to: Obj, b: Obj, c: Obj, d: Obj) -> str:
    """Which of three is farthest: by centres and by surfaces, at least 1.25 times as far as the next."""
    return _extreme(to, (b, c, d), lambda x, y: _nearer(y, x, to))


def _extreme(to: Obj, three: tuple[Obj, ...], beats: Callable[[Obj, Obj], bool]) -> str:
    for letter, one in zip("BCD", three, strict=True):
        if all(beats(one, other) for other in three if other is not one):
            return letter
    return AMBIGUOUS


@tool("(a: Object, b: Object, c: Object) -> half | same | double", "world", ("half", "same", "double"), camera=False)
def distance_ratio(s: Scene, a: Obj, b: Obj, c: Obj) -> str:
    """Is the distance from a to b about half, the same as, or double that from a to c: by centres."""
    d = distance(a, c)
    r = distance(a, b) / d if d > 0 else 0
    for name, low, high in (("half", 0.42, 0.6), ("same", 0.88, 1.14), ("double", 1.67, 2.4)):
        if low <= r <= high:
            return name
    return AMBIGUOUS


@tool("(a: Object, b: Object) -> A | B", "world", ("A", "B"), camera=False)
def larger(s: Scene, a: Obj, b: Obj) -> str:
    """Which is really larger: diagonals of the world boxes, one at least 1.5 times the other."""
    if a.diagonal > 1.5 * b.diagonal:
        return "A"
    return "B" if b.diagonal > 1.5 * a.diagonal else AMBIGUOUS


@tool("(a: Object, b: Object, c: Object) -> yes | no", "world", ("yes", "no"), camera=False)
def between(s: Scene, a: Obj, b: Obj, c: Obj) -> str:
    """Is a between b and c: its foot at 25 to 75 % of the segment, no more than 15 % aside."""
    d = c.centre - b.centre
    length = float(np.linalg.norm(d))
    if length < 1e-9:
        return AMBIGUOUS
    t = float((a.centre - b.centre) @ d) / length**2
    aside = float(np.linalg.norm(a.centre - (b.centre + t * d))) / length
    if 0.25 <= t <= 0.75 and aside <= 0.15:
        return "yes"
    return "no" if t < -0.1 or t > 1.1 or aside > 0.5 else AMBIGUOUS


@tool("(a: Object, b: Object) -> yes | no", "world", ("yes", "no"), camera=False)
def inside(s: Scene, a: Obj, b: Obj) -> str:
    """Is a inside b: 95 % of its box in the box of b, which is larger; no: less than 5 %."""
    common = float(np.prod(np.maximum(0, np.minimum(a.high, b.high) - np.maximum(a.low, b.low))))
    share = common / float(np.prod(np.maximum(a.size, 1e-9)))
    if share > 0.95 and b.diagonal > 1.2 * a.diagonal:
        return "yes"
    return "no" if share < 0.05 else AMBIGUOUS


@tool("(a: Object, b: Object) -> yes | no", "world", ("yes", "no"), camera=False)
def on(s: Scene, a: Obj, b: Obj) -> str:
    """Does a stand on b: its bottom at the top of b within 5 % of its height, over half of its footprint above b."""
    if s.up is None:
        return AMBIGUOUS
    bottom, top = _span(a, s.up)[0], _span(b, s.up)[1]
    tall = float(np.abs(a.size @ s.up))
    over = 1.0
    for k in range(3):
        if abs(s.up[k]) < 0.5:
            over *= max(0.0, min(a.high[k], b.high[k]) - max(a.low[k], b.low[k])) / max(1e-9, a.size[k])
    if abs(bottom - top) < 0.05 * tall and over > 0.5:
        return "yes"
    return "no" if abs(bottom - top) > 0.3 * tall or over < 0.05 else AMBIGUOUS


@tool("(a: Object, b: Object) -> yes | no", "viewer, from the id pass", ("yes", "no"))
def hidden_by(s: Scene, a: Obj, b: Obj) -> str:
    """Does b hide a part of a: pixels of a's own silhouette that show b; 12 % or more is yes, none is no.

    Asked only where the cameras turned by `Scene.nearby_degrees` agree, and never for what the picture's edge cuts.
    """
    if not a.whole or not a.solo or not a.nearby:
        return AMBIGUOUS
    here = sum(n for i, n in a.hidden_by.items() if i in b.ids) / a.solo
    there = [_share(view, b) for view in a.nearby]
    if here >= 0.12 and min(there) >= 0.04:
        return "yes"
    return "no" if here == 0 and max(there) == 0 and (a.visible or 0) > 0.985 else AMBIGUOUS


def _share(view: Mapping[str, Any], b: Obj) -> float:
    hidden = sum(n for i, n in view["by"].items() if int(i) in b.ids)
    fraction = view["fraction"] or 0
    total = sum(view["by"].values())
    return (1 - fraction) * hidden / total if total else 0.0


def _heading(s: Scene, origin: Obj, ahead: np.ndarray, target: Obj, turn: float = 0) -> str:
    """In which quarter the target lies for someone at `origin` who faces `ahead` and then turned right by `turn`."""
    if s.up is None:
        return AMBIGUOUS
    a = ahead - (ahead @ s.up) * s.up
    b = target.centre - origin.centre
    b = b - (b @ s.up) * s.up
    if np.linalg.norm(a) < 1e-9 or float(np.linalg.norm(b)) < 0.75 * origin.diagonal:
        return AMBIGUOUS
    angle = math.degrees(math.atan2(float(np.cross(b, a) @ s.up), float(a @ b))) - turn
    for name, centre in zip(SECTORS, (0, 90, 180, 270), strict=True):
        if abs((angle - centre + 180) % 360 - 180) <= 45 - CLEAR:
            return name
    return AMBIGUOUS


def _facing(s: Scene, at: Obj, to: Obj) -> np.ndarray | None:
    d = to.centre - at.centre
    flat = d - (d @ s.up) * s.up if s.up is not None else d
    return d if float(np.linalg.norm(flat)) >= 0.75 * at.diagonal else None


@tool("(a: Object, b: Object) -> front | right | behind | left", "object", SECTORS, camera=False)
def object_side(s: Scene, a: Obj, b: Obj) -> str:
    """On which side of a is b, from a's own declared front; 15 degrees clear of every border."""
    return AMBIGUOUS if a.front is None else _heading(s, a, a.front, b)


@tool("(at: Object, face: Object, target: Object) -> front | right | behind | left", "person", SECTORS, camera=False)
def perspective(s: Scene, at: Obj, face: Obj, target: Obj) -> str:
    """Standing at one object and facing another: in which quarter is the target; 15 degrees clear of every border."""
    ahead = _facing(s, at, face)
    return AMBIGUOUS if ahead is None else _heading(s, at, ahead, target)


@tool("(at: Object, face: Object, turn: degrees, target: Object) -> front | right | behind | left", "person", SECTORS,
      camera=False)  # fmt: skip
def after_turn(s: Scene, at: Obj, face: Obj, turn: int, target: Obj) -> str:
    """As `perspective`, after turning right by 90, 180 or 270 degrees."""
    ahead = _facing(s, at, face)
    return AMBIGUOUS if ahead is None else _heading(s, at, ahead, target, turn)


@tool("(start: Object, via: Object, end: Object) -> left | right | straight on | back", "person",
      ("left", "right", "straight on", "back"), camera=False)  # fmt: skip
def route(s: Scene, start: Obj, via: Obj, end: Obj) -> str:
    """Walking from start to via and on to end: the turn taken at via; 15 degrees clear of every border."""
    ahead = _facing(s, start, via)
    if ahead is None:
        return AMBIGUOUS
    turn = _heading(s, via, ahead, end)
    return {"front": "straight on", "behind": "back"}.get(turn, turn)


@tool("(a: Object) -> colour", "picture", camera=False)
def colour(s: Scene, a: Obj) -> str:
    """The name of a's paint, where the name of its mean visible pixel is the same."""
    return a.colour or AMBIGUOUS


@tool("(a: Object) -> shape", "world", camera=False)
def shape(s: Scene, a: Obj) -> str:
    """The name of a's shape, from its geometry and world scale."""
    return a.shape or AMBIGUOUS


@tool("(colour: colour | any, shape: shape | any) -> 0 to 9", "picture")
def count(s: Scene, colour: str = "any", shape: str = "any") -> str:
    """How many objects of that colour and shape are seen; none may be doubtful, cut by the edge or mostly hidden."""
    total = 0
    for o in (*s.objects, *s.doubtful):
        if _is_ground(s, o):
            continue
        known = (colour == "any" or o.colour is not None) and (shape == "any" or o.shape is not None)
        may = (colour == "any" or o.paint in (None, colour)) and (shape == "any" or o.shape in (None, shape))
        if may and (o in s.doubtful or not known or not o.whole or (o.visible or 1) < 0.6):
            return AMBIGUOUS
        inside = s.project(o.centre)
        if may and (inside is None or not (0 < inside[0] < s.width and 0 < inside[1] < s.height)):
            return AMBIGUOUS
        total += may
    return str(total) if total <= 9 else AMBIGUOUS


def _is_ground(s: Scene, o: Obj) -> bool:
    flat = float(np.sort(o.size)[0]) < 0.02 * o.diagonal
    return o in s.doubtful and (o.pixels > 0.25 * s.width * s.height or (flat and o.pixels > 0.08 * s.width * s.height))
