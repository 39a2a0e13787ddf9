"""Scripted input and what follows it: the state of every object a frame, and the changes between them.

A change is a segment: one object moves, turns, scales, is shown, hidden, added, removed, or changes colour, from one
frame to another. It is caused by an input only if it does not happen in a second run without the input.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from builders.webspatial.capture.page import AppPage

STRIDE = 4
"""Frames that are played at once, at most: how soon a deadline is seen."""
GAP = 3
"""Frames without change that end a segment."""
FOLLOWS = 3
"""Frames after an input in which a change that follows it starts."""
Series = Sequence[Mapping[str, Any]]


class TooSlowError(Exception):
    """A time line that does not end before its deadline."""


class ScriptFailedError(Exception):
    """A script that cannot be played: it aims at what is not seen, or names a key that is none."""


def play(
    app: AppPage,
    actions: Sequence[Sequence[Any]],
    frames: int,
    pictures: Iterable[int] = (),
    targets: Mapping[str, tuple[float, float]] | None = None,
    deadline: float = math.inf,
) -> dict[str, Any]:
    """Run a script of (frame, kind, ...) over `frames` frames.

    Kinds: move x y, down, up, click x y, wheel dy, key NAME, keydown NAME, keyup NAME; x and y in CSS pixels, or
    one of `targets` in their place (the name of an object, or its path in the graph).

    Raises:
        ScriptFailedError: an action aims at no target, or the browser refuses it.
        TooSlowError: `deadline` (of `time.monotonic`) passed before the last frame.

    Returns {"inputs": what the page was told, with the object hit, "series": its state a frame, "pictures": {frame: PNG
    data URL}}, frames counted from 0.
    """
    page = app.page
    page.evaluate("() => { __WS.logMoves = true; __WS.events.length = 0; __WS.logEvents(); }")
    start = page.evaluate("__WS.frame()")
    series, shots, wanted = [app.state()], {}, sorted({p for p in pictures if p <= frames})
    pending = sorted((list(action) for action in actions), key=lambda action: action[0])
    frame = 0
    while True:
        while pending and pending[0][0] <= frame and frame < frames:
            _act(app, _aimed(pending.pop(0), targets or {}))
        if frame in wanted:
            shots[frame] = app.shot()
        if frame == frames:
            break
        if time.monotonic() > deadline:
            raise TooSlowError(f"it was at frame {frame} of {frames} when its time was over")
        ahead = [at for at in (*(action[0] for action in pending), *wanted, frame + STRIDE, frames) if at > frame]
        series += app.play(min(ahead) - frame)
        frame = min(ahead)
    inputs = page.evaluate("__WS.events")
    for record in inputs:
        record["frame"] -= start
        record.pop("t", None)
    rows = [{"frame": k, "rows": state} for k, state in enumerate(series) if state]
    return {"inputs": inputs, "series": rows, "pictures": shots}


def _aimed(action: list[Any], targets: Mapping[str, tuple[float, float]]) -> list[Any]:
    if len(action) == 3 and action[1] in ("move", "click"):
        if action[2] not in targets:
            raise ScriptFailedError(f"no object named {action[2]} is seen when the page is captured")
        return [*action[:2], *targets[action[2]]]
    return action


def _act(app: AppPage, action: list[Any]) -> None:
    from playwright.sync_api import Error

    try:
        _input(app, action)
    except Error as error:
        raise ScriptFailedError(f"{action}: {str(error).splitlines()[0]}") from None


def _input(app: AppPage, action: list[Any]) -> None:
    mouse, keyboard = app.page.mouse, app.page.keyboard
    match action[1:]:
        case ["move", x, y]:
            mouse.move(x, y)
        case ["down"]:
            mouse.down()
        case ["up"]:
            mouse.up()
        case ["click", x, y]:
            mouse.click(x, y)
        case ["wheel", dy]:
            mouse.wheel(0, dy)
        case ["key", name]:
            keyboard.press(name)
        case ["keydown", name]:
            keyboard.down(name)
        case ["keyup", name]:
            keyboard.up(name)
        case other:
            raise ValueError(f"unknown action {other}")


def segments(series: Series, scale: float) -> list[dict[str, Any]]:
    """The changes in a series, in the order they start; `scale` is the size of a usual object, in scene units.

    A child carried by its parent does not move of its own (states are relative to the parent), so a group's motion is
    one segment. Objects without anything to draw below them are left out.
    """
    paths = list(dict.fromkeys(path for state in series for path in state["rows"]))
    shown = {path for state in series for path, row in state["rows"].items() if row["d"] and row["v"]}
    found: list[dict[str, Any]] = []
    for path in paths:
        if not any(other == path or other.startswith(path + "/") for other in shown):
            continue
        rows = [(state["frame"], state["rows"].get(path)) for state in series]
        found += _presence(path, rows) + _motions(path, rows, scale) + _looks(path, rows)
    found = _topmost(found)
    return sorted(found, key=lambda change: (change["start"], change["object"], change["type"]))


def _topmost(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Added and removed groups are told once, at their top."""
    told = {(c["object"], c["type"], c["start"]) for c in changes}

    def above(change: dict[str, Any]) -> bool:
        parts = change["object"].split("/")
        return any(("/".join(parts[:k]), change["type"], change["start"]) in told for k in range(1, len(parts)))

    return [c for c in changes if c["type"] not in ("appear", "disappear", "show", "hide") or not above(c)]


def _presence(path: str, rows: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    frames = [frame for frame, row in rows if row]
    out = []
    if frames[0] != rows[0][0]:
        out.append({"type": "appear", "object": path, "start": frames[0], "end": frames[0]})
    if frames[-1] != rows[-1][0]:
        out.append({"type": "disappear", "object": path, "start": frames[-1] + 1, "end": frames[-1] + 1})
    return out


def _looks(path: str, rows: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    names = {"c": "colour", "e": "emissive", "o": "opacity", "v": "show"}
    out: list[dict[str, Any]] = []
    open_: dict[str, dict[str, Any]] = {}
    for (_, before), (frame, row) in itertools.pairwise(rows):
        if not before or not row:
            continue
        for key, name in names.items():
            if before.get(key) == row.get(key) or before.get(key) is None or row.get(key) is None:
                continue
            kind = ("show" if row["v"] else "hide") if key == "v" else name
            last = open_.get(key)
            if last and key != "v" and frame - last["end"] <= GAP:
                last.update(end=frame, to=row[key])
                continue
            open_[key] = {"type": kind, "object": path, "start": frame, "end": frame, "from": before[key]}
            open_[key]["to"] = row[key]
            out.append(open_[key])
    return out


def _motions(path: str, rows: list[tuple[int, Any]], scale: float) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for kind, key, amount, step, least in (
        ("move", "p", math.dist, 1e-4 * scale, 0.02 * scale),
        ("rotate", "q", _angle, 0.05, 2.0),
        ("scale", "s", math.dist, 1e-4, 0.02),
    ):
        current: dict[str, Any] | None = None
        for (frame0, before), (frame, row) in itertools.pairwise(rows):
            moved = amount(before[key], row[key]) if before and row and before[key] and row[key] else 0.0
            if moved > step:
                if current is None or frame - current["end"] > GAP:
                    current = {"type": kind, "object": path, "start": frame0, "path": 0.0, "from": before[key]}
                    current["world_from"] = before["w"]
                    out.append(current)
                current["end"] = frame
                current["path"] += moved
                current.update(to=row[key], world_to=row["w"])
        out = [c for c in out if c["type"] != kind or c["path"] >= least]
    for change in out:
        change["path"] = round(change["path"], 5)
    return out


def _angle(a: Sequence[float], b: Sequence[float]) -> float:
    return math.degrees(2 * math.acos(min(1.0, abs(sum(x * y for x, y in zip(a, b, strict=True))))))


def link(inputs: Sequence[Mapping[str, Any]], changes: list[dict[str, Any]], control: list[dict[str, Any]]) -> None:
    """Say of each change which input it follows, whether on the object hit, and whether it needs the input.

    `control` are the changes of a run without inputs. Runs are repeatable, so what is not in it is there because of an
    input; what is in it (same object and kind, starting within a frame) is not, but where it ends otherwise, an input
    altered it. Sets `follows`, `direct` and `caused`, and `altered` where that is so.
    """
    for change in changes:
        near = [i for i in inputs if 0 <= change["start"] - i["frame"] + 1 <= FOLLOWS + 1]
        best = max(near, key=lambda i: (_hits(i, change), i["type"] != "pointermove", i["frame"]), default=None)
        change["follows"] = None if best is None else {"type": best["type"], "frame": best["frame"]}
        change["direct"] = best is not None and _hits(best, change)
        alike = [c for c in control if (c["object"], c["type"]) == (change["object"], change["type"])]
        alike = [c for c in alike if abs(c["start"] - change["start"]) <= 1]
        change["caused"] = not alike and any(i["frame"] <= change["start"] + 1 for i in inputs)
        if alike and not any(c.get("to") == change.get("to") for c in alike):
            change["altered"] = True


def _hits(record: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
    path = (record.get("hit") or {}).get("path") or ""
    return bool(path) and (path == change["object"] or path.startswith(change["object"] + "/"))
