"""Tools over a capture's time line: trajectories, order of events, change over time, cause. Times are frames of 1/60 s.

They read the changes that `capture.interact` found; an object's path is in world coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from builders.webspatial.space.scene import Obj, Scene
from builders.webspatial.space.tools import AMBIGUOUS, tool

KINDS = {"move": "moved", "rotate": "turned", "scale": "changed size", "colour": "changed colour"}
APART = 6
"""Frames that two beginnings must be apart to have an order."""


def changes_of(s: Scene, o: Obj) -> list[Mapping[str, Any]]:
    """What happened to an object or to a group that it is in, in order."""
    return [c for c in s.events.get("changes", ()) if o.path == c["object"] or o.path.startswith(c["object"] + "/")]


def _kinds(changes: Sequence[Mapping[str, Any]]) -> set[str]:
    return {KINDS[c["type"]] if c["type"] in KINDS else str(c["type"]) for c in changes}


@tool("(a: Object) -> left | right | towards | away", "viewer", ("left", "right", "towards", "away"))
def trajectory(s: Scene, a: Obj) -> str:
    """Where a moved, for the viewer, from the first to the last frame: on the ground, 20 degrees clear of every
    border."""
    moves = [c for c in changes_of(s, a) if c["type"] == "move" and c.get("world_to")]
    right, forward = s.flat_right, s.flat_forward
    if len(moves) != 1 or right is None or forward is None:
        return AMBIGUOUS
    path = np.array(moves[0]["world_to"], float) - np.array(moves[0]["world_from"], float)
    x, z = float(path @ right), float(path @ forward)
    length = float(np.hypot(x, z))
    straight = length > 0.9 * moves[0]["path"] and length > 0.5 * a.diagonal * s.slack
    if not straight:
        return AMBIGUOUS
    least = np.cos(np.radians(45 - 20 * s.slack)) * length
    for name, value in (("right", x), ("left", -x), ("away", z), ("towards", -z)):
        if value >= least:
            return name
    return AMBIGUOUS


@tool("(a: Object, b: Object) -> A | B", "time", ("A", "B"), camera=False)
def first(s: Scene, a: Obj, b: Obj) -> str:
    """Which of the two began to change first, by 6 frames (0.1 s) at least."""
    begins = [min((c["start"] for c in changes_of(s, o)), default=None) for o in (a, b)]
    if begins[0] is None or begins[1] is None or abs(begins[0] - begins[1]) < APART:
        return AMBIGUOUS
    return "A" if begins[0] < begins[1] else "B"


@tool("(a: Object) -> moved | turned | changed size | changed colour", "time", tuple(KINDS.values()), camera=False)
def change(s: Scene, a: Obj) -> str:
    """The one way in which a changed from the first frame to the last."""
    kinds = _kinds(changes_of(s, a))
    name = next(iter(kinds)) if len(kinds) == 1 else AMBIGUOUS
    # A turned ball looks as before.
    return AMBIGUOUS if name not in KINDS.values() or (name == "turned" and a.shape in ("sphere", None)) else name


@tool("(a: Object) -> yes | no", "time", ("yes", "no"), camera=False)
def changed(s: Scene, a: Obj) -> str:
    """Whether anything about a changed from the first frame to the last."""
    kinds = _kinds(changes_of(s, a))
    if not kinds:
        return "no" if s.events.get("frames") else AMBIGUOUS
    return "yes" if kinds & {"moved", "changed size", "changed colour"} else AMBIGUOUS


@tool("(a: Object, input: kind of input) -> yes | no", "time, against a run without the input", ("yes", "no"),
      camera=False)  # fmt: skip
def because(s: Scene, a: Obj, input: str) -> str:
    """Did a change because of the input: yes, where it does not in a run without the input; no, where it changes alike
    without it. Ambiguous where the input only altered the change, or where there was any other input."""
    found = changes_of(s, a)
    inputs = s.events.get("inputs", ())
    if not found or [i["type"] for i in inputs].count(input) != 1 or len({i["frame"] for i in inputs}) != 1:
        return AMBIGUOUS
    caused = {c["caused"] for c in found}
    if len(caused) != 1 or any(c.get("altered") for c in found):
        return AMBIGUOUS
    return "yes" if caused.pop() else "no"


@tool("(left: View, right: View) -> turned | mirrored", "pictures by the page's renderer", ("turned", "mirrored"),
      camera=False)  # fmt: skip
def mental_rotation(s: Scene, thing: int, left: int, right: int) -> str:
    """Are two views the same object, turned, or one the mirror image of the other; the object was shown to be
    chiral."""
    views = s.turns[thing]["views"]
    a, b = views[left], views[right]
    return AMBIGUOUS if a["picture"] == b["picture"] else ("turned" if a["mirrored"] == b["mirrored"] else "mirrored")


@tool("(reference: View, candidates: three Views) -> 1 | 2 | 3", "pictures by the page's renderer", ("1", "2", "3"),
      camera=False)  # fmt: skip
def same_object(s: Scene, thing: int, reference: int, candidates: Sequence[int]) -> str:
    """Which of three views is the reference turned; the two others are mirror images."""
    views = s.turns[thing]["views"]
    same = [k for k, c in enumerate(candidates, 1) if views[c]["mirrored"] == views[reference]["mirrored"]]
    return str(same[0]) if len(same) == 1 and reference not in candidates else AMBIGUOUS
