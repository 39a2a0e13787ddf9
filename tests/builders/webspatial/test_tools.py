"""The spatial tools on scenes laid by hand: each answer, its opposite, and what is too close."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.webspatial.space import program
from builders.webspatial.space.scene import load
from builders.webspatial.space.tools import AMBIGUOUS, TOOLS

RED, BLUE = "#d62020", "#2040d8"


def ask(s, name, *numbers, **more):
    return TOOLS[name].run(s, *(s.object(n) for n in numbers), **more)


@pytest.mark.parametrize(
    ("tool", "places", "answer"),
    [
        ("side", [(-3, 0, 0), (3, 0, 0)], "left"),
        ("side", [(0.2, 0, 0), (0, 0, 0.1)], AMBIGUOUS),
        ("depth_order", [(0, 0, 3), (0, 0, -3)], "in front"),
        ("depth_order", [(0, 0, 0.2), (0, 0, 0)], AMBIGUOUS),
        ("height", [(0, 2, 0), (1, 0, 0)], "above"),
        ("height", [(0, 0.3, 0), (2, 0, 0)], AMBIGUOUS),
        ("nearer_camera", [(0, 0, 4), (0, 0, -3)], "A"),
        ("nearer_camera", [(0, 0, 0), (0, 0, -0.3)], AMBIGUOUS),
    ],
)
def test_viewer(scene, tool, places, answer):
    s = scene([{"at": p} for p in places])
    assert ask(s, tool, 1, 2) == answer
    opposite = {"left": "right", "in front": "behind", "above": "below", "A": "B"}
    assert ask(s, tool, 2, 1) == opposite.get(answer, AMBIGUOUS)


def test_left_and_right_are_the_viewers_not_the_worlds(scene):
    """From the other side the same two objects are the other way round."""
    places = [{"at": (-3, 0, 0)}, {"at": (3, 0, 0)}]
    assert ask(scene(places), "side", 1, 2) == "left"
    assert ask(scene(places, eye=(0, 3, -10)), "side", 1, 2) == "right"


def test_no_horizon_no_answer(scene):
    s = scene([{"at": (-3, 0, 0)}, {"at": (3, 0, 0)}], eye=(0, 12, 0.01))
    assert ask(s, "depth_order", 1, 2) == AMBIGUOUS


@pytest.mark.parametrize(
    ("a", "answer"), [((0, 0, 0), "yes"), ((0.2, 0, 0), "yes"), ((0, 0, 4), "no"), ((0, 0, 1.2), AMBIGUOUS)]
)
def test_between(scene, a, answer):
    assert ask(scene([{"at": a}, {"at": (-3, 0, 0)}, {"at": (3, 0, 0)}]), "between", 1, 2, 3) == answer


def test_inside_and_on(scene):
    big = {"at": (0, 0, 0), "size": 2}
    assert ask(scene([{"at": (0, 0, 0), "size": 0.5}, big]), "inside", 1, 2) == "yes"
    assert ask(scene([{"at": (0, 1.25, 0), "size": 0.5}, big]), "inside", 1, 2) == "no"
    assert ask(scene([{"at": (1, 0, 0), "size": 0.5}, big]), "inside", 1, 2) == AMBIGUOUS
    assert ask(scene([{"at": (0, 1.25, 0), "size": 0.5}, big]), "on", 1, 2) == "yes"
    assert ask(scene([{"at": (0, 1.32, 0), "size": 0.5}, big]), "on", 1, 2) == AMBIGUOUS
    assert ask(scene([{"at": (3, 1.25, 0), "size": 0.5}, big]), "on", 1, 2) == "no"


def test_distances(scene):
    s = scene([{"at": p, "size": 0.4} for p in ((0, 0, 0), (1, 0, 0), (0, 0, 2), (-4, 0, 0))])
    assert ask(s, "nearest", 1, 2, 3, 4) == "B"
    assert ask(s, "farthest", 1, 2, 3, 4) == "D"
    assert ask(s, "distance_ratio", 1, 2, 3) == "half"
    assert ask(s, "distance_ratio", 1, 4, 3) == "double"
    near = scene([{"at": p, "size": 0.4} for p in ((0, 0, 0), (2, 0, 0), (0, 0, 2.1), (-4, 0, 0))])
    assert ask(near, "nearest", 1, 2, 3, 4) == AMBIGUOUS
    assert ask(near, "distance_ratio", 1, 2, 3) == "same"


def test_size_is_real_size(scene):
    s = scene([{"at": (0, 0, -6), "size": 2}, {"at": (0, 0, 5), "size": 1}])
    assert ask(s, "larger", 1, 2) == "A"
    assert ask(scene([{"at": (0, 0, 0), "size": 1.2}, {"at": (3, 0, 0)}]), "larger", 1, 2) == AMBIGUOUS


@given(turn=st.sampled_from([0, 90, 180, 270]), yaw=st.floats(0, 2 * math.pi), off=st.floats(-29, 29))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_direction_after_a_turn(capture_data, turn, yaw, off):
    """Known by construction: the target stands `off` degrees from the quarter's middle."""
    for k, name in enumerate(("front", "right", "behind", "left")):
        angle = yaw + math.radians(turn + 90 * k + off)
        ahead = (3 * math.sin(yaw), 0, -3 * math.cos(yaw))
        target = (4 * math.sin(angle), 0, -4 * math.cos(angle))
        s = load("s", capture_data([{"at": p, "size": 0.3} for p in ((0, 0, 0), ahead, target)]))
        at, face, goal = (s.object(n) for n in (1, 2, 3))
        assert TOOLS["after_turn"].run(s, at, face, turn, goal) == name


def test_near_a_border_is_ambiguous(scene):
    a = math.radians(40)
    s = scene([{"at": p, "size": 0.3} for p in ((0, 0, 0), (0, 0, -3), (3 * math.sin(a), 0, -3 * math.cos(a)))])
    assert ask(s, "perspective", 1, 2, 3) == AMBIGUOUS


def test_route(scene):
    places = ((0, 0, 4), (0, 0, 0), (-4, 0, 0))
    assert ask(scene([{"at": p, "size": 0.3} for p in places]), "route", 1, 2, 3) == "left"
    back = ((0, 0, 4), (0, 0, 0), (0, 0, 3))
    assert ask(scene([{"at": p, "size": 0.3} for p in back]), "route", 1, 2, 3) == "back"


def test_own_front_must_be_declared(scene):
    """A car that looks along its own +z, turned so that this is the world's -x."""
    turned = [0, 0, 1, 0, 0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 0, 1]
    car = {"at": (0, 0, 0), "size": 0.5, "userData": {"front": [0, 0, 1]}, "matrix": turned}
    assert ask(scene([car, {"at": (-4, 0, 0)}]), "object_side", 1, 2) == "front"
    assert ask(scene([car, {"at": (0, 0, -4)}]), "object_side", 1, 2) == "right"
    assert ask(scene([{"at": (0, 0, 0)}, {"at": (-4, 0, 0)}]), "object_side", 1, 2) == AMBIGUOUS


def test_hidden_by_needs_the_nearby_views(scene):
    view = {"fraction": 0.7, "by": {"2": 400}}
    node = {"visibleFraction": 0.7, "occludedBy": {"2": 480}}
    nearby = [{"degrees": [2, 2], "visible": {"1": view}}, {"degrees": [-2, -2], "visible": {"1": view}}]
    objects = [{"at": (0, 0, 0), "node": node}, {"at": (0, 0, 2)}]
    assert ask(scene(objects, nearby=nearby), "hidden_by", 1, 2) == "yes"
    assert ask(scene(objects), "hidden_by", 1, 2) == AMBIGUOUS
    nearby[1]["visible"]["1"] = {"fraction": 1.0, "by": {}}
    assert ask(scene(objects, nearby=nearby), "hidden_by", 1, 2) == AMBIGUOUS


def test_count_refuses_what_is_doubtful(scene):
    reds = [{"at": (k * 2 - 2, 0, 0)} for k in range(3)]
    assert TOOLS["count"].run(scene(reds), "red", "any") == "3"
    assert TOOLS["count"].run(scene([*reds, {"at": (0, 0, 3), "node": {"visibleFraction": 0.4}}]), "red") == AMBIGUOUS
    painted = {"at": (0, 0, 3), "node": {"material": {"type": "ShaderMaterial", "color": RED}}}
    assert TOOLS["count"].run(scene([*reds, painted]), "red") == AMBIGUOUS
    blue = {"at": (0, 0, 3), "color": BLUE, "rgb": [32, 64, 216]}
    assert TOOLS["count"].run(scene([*reds, blue]), "red") == "3"


def test_a_turned_camera_that_changes_the_answer_makes_it_ambiguous(scene):
    """Nearly behind each other: right of it now, left of it after a turn of two degrees."""
    far = [{"at": (0.9, 0, -30), "size": 0.5}, {"at": (0, 0, 30), "size": 0.5}]
    s = scene(far, eye=(0, 3, 40))
    call = {"tool": "side", "args": {"a": {"mark": "A"}, "b": {"mark": "B"}}}
    assert program.run(s, call, {"A": 1, "B": 2}, margin=False).answer in ("right", AMBIGUOUS)
    assert program.run(s, call, {"A": 1, "B": 2}).answer == AMBIGUOUS
    clear = scene([{"at": (-3, 0, 0)}, {"at": (3, 0, 0)}])
    found = program.run(clear, call, {"A": 1, "B": 2})
    assert (found.answer, found.margin) == ("left", 8.0)
    assert found.trace[-1]["tool"] == "side"


def test_left_handed_worlds_are_turned_around(capture_data):
    data = capture_data([{"at": (0, 0, 3)}, {"at": (0, 0, -3)}])
    mirrored = {**data, "graph": {**data["graph"], "handed": "left"}}
    camera = mirrored["graph"]["camera"]
    for key in ("position", "right", "up", "forward"):
        camera[key] = list(np.array(camera[key]) * [1, 1, -1])
    for node in mirrored["graph"]["nodes"]:
        low, high = node["worldBox"]["min"], node["worldBox"]["max"]
        node["worldBox"] = {"min": [low[0], low[1], -high[2]], "max": [high[0], high[1], -low[2]]}
    assert ask(load("s", mirrored), "depth_order", 1, 2) == "in front"


def _clicked(scene, change, inputs=("pointermove", "pointerdown", "pointerup", "click"), frames=(4, 4, 4, 4)):
    told = {"type": "move", "object": "scene0/a", "start": 4, "end": 9, "path": 1.0, "caused": False, **change}
    given = [{"type": kind, "frame": frame} for kind, frame in zip(inputs, frames, strict=True)]
    events = {"frames": 20, "inputs": given, "changes": [told]}
    s = scene([{"at": (0, 0, 0), "name": "a"}, {"at": (3, 0, 0), "name": "b"}], events=events)
    return [TOOLS["because"].run(s, o, input="click") for o in s.objects]


def test_because_of_the_click(scene):
    """What did not change is not asked about, nor what the click only altered, nor a drag's click."""
    assert _clicked(scene, {"caused": True}) == ["yes", "ambiguous"]
    assert _clicked(scene, {"caused": False}) == ["no", "ambiguous"]
    assert _clicked(scene, {"caused": False, "altered": True}) == ["ambiguous", "ambiguous"]
    assert _clicked(scene, {"caused": True}, frames=(2, 4, 9, 9)) == ["ambiguous", "ambiguous"]
    assert _clicked(scene, {"caused": True}, inputs=("pointermove",), frames=(4,)) == ["ambiguous", "ambiguous"]
