"""Changes: told once, at the right object and frame; caused only where a run without the input differs."""

from __future__ import annotations

from builders.webspatial.capture.interact import link, segments


def row(p=(0, 0, 0), q=(0, 0, 0, 1), s=(1, 1, 1), c="#ff0000", v=True, d=True):
    return {"p": list(p), "q": list(q), "s": list(s), "w": list(p), "c": c, "e": None, "o": 1, "v": v, "d": d}


def series(frames):
    return [{"frame": k, "rows": rows} for k, rows in enumerate(frames)]


def test_a_move_has_its_frames_and_its_length():
    frames = [{"scene0/a": row((max(0, min(k - 4, 10)) * 0.1, 0, 0))} for k in range(24)]
    (change,) = segments(series(frames), 1)
    assert (change["type"], change["start"], change["end"]) == ("move", 4, 14)
    assert abs(change["path"] - 1) < 1e-6
    assert change["world_to"] == [1, 0, 0]


def test_a_group_moves_once_and_its_children_do_not():
    """States are relative to the parent: a carried child stays where it is."""
    group = {f"scene0/g/{k}": row() for k in range(60)}
    frames = [{"scene0/g": row((k * 0.1, 0, 0), d=False), **group} for k in range(10)]
    assert [(c["type"], c["object"]) for c in segments(series(frames), 1)] == [("move", "scene0/g")]


def test_an_added_group_is_told_once():
    after = {"scene0/g": row(d=False), "scene0/g/a": row(), "scene0/g/b": row()}
    found = segments(series([{"scene0/x": row()}] * 2 + [{"scene0/x": row(), **after}] * 3), 1)
    assert [(c["type"], c["object"], c["start"]) for c in found] == [("appear", "scene0/g", 2)]


def test_helpers_that_draw_nothing_are_left_out():
    frames = [{"scene0/a": row(), "scene0/helper": row((k, 0, 0), d=False)} for k in range(5)]
    assert segments(series(frames), 1) == []


def test_trembling_is_no_move():
    frames = [{"scene0/a": row((1e-6 * (k % 2), 0, 0))} for k in range(20)]
    assert segments(series(frames), 1) == []


def test_colour_and_visibility():
    frames = [{"scene0/a": row(c="#ff0000" if k < 3 else "#00ff00", v=k < 6)} for k in range(9)]
    found = [(c["type"], c["start"], c.get("to")) for c in segments(series(frames), 1)]
    assert found == [("colour", 3, "#00ff00"), ("hide", 6, False)]


def test_because_of_the_click_only_where_a_run_without_it_differs():
    click = {"type": "click", "frame": 5, "hit": {"path": "scene0/a"}}
    with_it = [
        {"scene0/a": row(c="#ff0000" if k < 6 else "#0000ff"), "scene0/b": row((0.1 * k, 0, 0))} for k in range(12)
    ]
    without = [{"scene0/a": row(), "scene0/b": row((0.1 * k, 0, 0))} for k in range(12)]
    changes = segments(series(with_it), 1)
    link([click], changes, segments(series(without), 1))
    told = {c["object"]: (c["caused"], c["direct"]) for c in changes}
    assert told == {"scene0/a": (True, True), "scene0/b": (False, False)}
    # The same change without the click as well: it only followed it.
    changes = segments(series(with_it), 1)
    link([click], changes, segments(series(with_it), 1))
    assert not any(c["caused"] for c in changes)


def test_what_comes_late_is_caused_and_what_only_ends_otherwise_is_altered():
    """A run without the input is the judge, not the time that passed since it."""
    click = {"type": "click", "frame": 2, "hit": {"path": "scene0/a"}}
    late = [{"scene0/a": row(c="#ff0000" if k < 14 else "#0000ff")} for k in range(18)]
    changes = segments(series(late), 1)
    link([click], changes, [])
    assert [(c["caused"], c["follows"], "altered" in c) for c in changes] == [(True, None, False)]
    # Nothing is caused by an input that comes after it.
    link([{**click, "frame": 17}], changes, [])
    assert [c["caused"] for c in changes] == [False]
    falls = [{"scene0/a": row((0, -0.1 * k, 0))} for k in range(12)]
    pushed = [{"scene0/a": row((0.1 * max(0, k - 5), -0.1 * k, 0))} for k in range(12)]
    changes = segments(series(pushed), 1)
    link([{**click, "frame": 5}], changes, segments(series(falls), 1))
    assert [(c["caused"], c.get("altered")) for c in changes] == [(False, True)]
