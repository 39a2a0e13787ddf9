"""The same capture twice, each time by a browser process of its own; and a capture that changes no pixel of its page.

The pages are the bundled ones and those of `pages/`: a random scene, a drag, physics, constraints, an animation. Public
pages: `python -P -m builders.webspatial repeat builders/webspatial/pages/repeat.toml --folder ...`.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from builders.webspatial.capture import browser as browsers
from builders.webspatial.capture import repeat, store
from builders.webspatial.capture.page import AppPage
from builders.webspatial.capture.pages import PageEntry
from builders.webspatial.capture.serve import FolderServer
from builders.webspatial.space.agree import agreement

PAGES = Path(__file__).parent / "pages"
SCENES = Path(browsers.__file__).parent.parent / "scenes"
CELLS = "0,0,0;1,0,0;1,1,0;1,1,1;2,1,1"
OWN = {
    "random scene": {"path": "random.html", "nearby": 2.5, "frames": 20, "pictures": [0, 20]},
    "drag": {"path": "drag.html", "frames": 20, "actions": [
        [2, "move", "red"], [3, "down"], [6, "move", 120, 170], [9, "move", 170, 210], [12, "up"]]},
    "physics": {"path": "physics.html", "frames": 40, "pictures": [40], "actions": [[4, "click", 200, 150]]},
    "constraint": {"path": "constraint.html", "frames": 30, "actions": [
        [2, "move", "end"], [3, "down"], [6, "move", 260, 60], [12, "move", 300, 50], [20, "up"]]},
    "animation": {"path": "animation.html", "frames": 30, "pictures": [0, 15, 30]},
    "inner frame": {"path": "inner.html", "frames": 30, "pictures": [30]},
}  # fmt: skip
BUNDLED = {
    "declared things": {"path": "static.html?kind=street&seed=3"},
    "click": {"path": "clicked.html?seed=2", "frames": 16, "actions": [[4, "click", "clicked"]]},
    "chirality": {"path": f"polycube.html?cells={CELLS}", "turns": True, "size": [320, 320]},
    "Babylon.js": {"path": "babylon.html?seed=51"},
    "PlayCanvas": {"path": "playcanvas.html?seed=51"},
    "A-Frame": {"path": "aframe.html?seed=51"},
}


def _list() -> str:
    lines = []
    for group, pages in (("own", OWN), ("bundled", BUNDLED)):
        lines += ["[[group]]", f'name = "{group}"', "npm = true", "check_pixels = true"]
        for kind, page in pages.items():
            form = {"kind": kind, "size": [400, 300], **page}
            lines += ["[[group.page]]", *(f"{key} = {json.dumps(value)}" for key, value in form.items())]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def twice(tmp_path_factory, playwright, packages):
    """What `repeat` found, by kind of page, and the folder of the first captures."""
    out = tmp_path_factory.mktemp("twice")
    (out / "list.toml").write_text(_list(), encoding="utf-8")
    folders = {"own": PAGES, "bundled": SCENES}
    found = repeat.repeat(out / "list.toml", folders, out, packages=packages.folder)
    print("\n" + repeat.table(found))
    return {each.entry.kind: each for each in found}, out / "first"


@pytest.mark.chromium
@pytest.mark.parametrize("kind", [*OWN, *BUNDLED])
def test_the_same_capture_twice_in_two_processes(kind, twice):
    """Graph, canvas, masks, page picture and event log; no pixel changed; most meshes agree with their pixels."""
    found, captures = twice
    assert found[kind].statuses == ("captured", "captured")
    assert {"graph", "canvas", "ids", "page", "others"} <= set(found[kind].equal)
    assert all(found[kind].equal.values()), found[kind].equal
    assert found[kind].changed_pixels == 0
    agree = agreement(store.read(captures / found[kind].entry.id).data["graph"])
    assert agree.compared > 0
    assert agree.passed


@pytest.mark.chromium
def test_the_event_logs_tell_what_happened(twice):
    found, captures = twice
    assert {kind: bool(each.changes) for kind, each in found.items() if each.entry.frames} == dict.fromkeys(
        [*OWN, "click"], True
    )
    told = {kind: store.read(captures / found[kind].entry.id).data["events"] for kind in [*OWN, "click"]}
    hits = {i["hit"]["name"] for i in told["drag"]["inputs"] if i["type"] == "pointerdown"}
    assert hits == {"red"}
    caused = {(c["object"], c["type"]) for c in told["drag"]["changes"] if c["caused"] and c["direct"]}
    assert {("scene0/red#3", "move"), ("scene0/red#3", "emissive")} <= caused
    moved = {c["object"]: c["caused"] for c in told["physics"]["changes"] if c["type"] == "move"}
    assert False in moved.values()
    assert any(c["type"] == "appear" and c["caused"] for c in told["physics"]["changes"])
    pulled = told["constraint"]
    assert {i["hit"]["name"] for i in pulled["inputs"] if i["type"] == "pointerdown"} == {"end"}
    ends = [
        [c["to"] for c in pulled[run] if c["object"].startswith("scene0/end#") and c["type"] == "move"]
        for run in ("changes", "control")
    ]
    assert np.linalg.norm(np.subtract(ends[0][-1], ends[1][-1])) > 0.2, "the drag pulled the end of the chain"
    assert not any(c["caused"] for c in told["animation"]["changes"])
    assert {"move", "rotate", "colour"} <= {c["type"] for c in told["animation"]["changes"]}
    assert told["inner frame"]["changes"] == told["animation"]["changes"]
    clicked = {c["object"].split("/")[1].split("#")[0]: c["caused"] for c in told["click"]["changes"]}
    assert clicked["clicked"] is True
    assert False in clicked.values()


@pytest.mark.chromium
@pytest.mark.parametrize("page", ["static.html?kind=room&seed=4", "babylon.html?seed=4"])
def test_the_hooks_and_a_capture_change_no_pixel_of_a_page_that_stands_still(page, browser, packages):
    """Pictured as it is without any hook, and after a capture."""
    server = FolderServer(SCENES)
    pictures = []
    try:
        for hooks in (False, True):
            app = AppPage(browser, server.base + page, packages=packages, size=(400, 300), hooks=hooks, virtual=hooks)
            app.open()
            if hooks:
                assert app.warm(12) is not None
                assert app.capture(nearby=2).get("graph")
            else:
                app.step(12)
            pictures.append(app.picture(30) or b"")
            app.close()
    finally:
        server.close()
    assert len(np.unique(np.asarray(Image.open(io.BytesIO(pictures[0]))).reshape(-1, 3), axis=0)) > 20
    assert store.differing(*pictures) == 0


def _png(change: int = 0) -> bytes:
    pixels = np.zeros((4, 5, 3), np.uint8)
    pixels[0, :change] = (0, 0, 1)
    return store.encode(Image.fromarray(pixels))


def test_pixels_that_differ_are_counted():
    assert store.differing(_png(), _png()) == 0
    assert store.differing(_png(), _png(3)) == 3
    assert store.differing(_png(), store.encode(Image.new("RGB", (5, 5)))) == 25


def test_a_difference_in_any_part_is_seen():
    same = {"graph": "a", "canvas": "b", "ids": "c", "page": "d", "events": "e", "frame-016": "f"}
    for part in same:
        found = repeat.differences(same, {**same, part: "other"})
        assert [name for name, equal in found.items() if not equal] == ["others" if part == "frame-016" else part]
    assert all(repeat.differences(same, dict(same)).values())
    missing = {key: value for key, value in same.items() if key != "ids"}
    assert repeat.differences(same, missing)["ids"] is False


def test_the_table_tells_what_differs():
    entry = PageEntry("a/b", "p.html", kind="drag")
    good = repeat.Repeated(entry, ("captured", "captured"), {"graph": True, "others": True}, changed_pixels=0)
    bad = replace(good, equal={"graph": False, "others": True})
    lost = repeat.Repeated(entry, ("captured", "time_limit"), {})
    touched = replace(good, changed_pixels=1)
    assert [page.passed for page in (good, bad, lost, touched)] == [True, False, False, False]
    lines = repeat.table([good, bad, lost]).splitlines()
    assert " = " in lines[1]
    assert " ! " in lines[2]
    assert "time_limit" in lines[3]
    assert lines[4] == "1 of 3 pages the same; kinds: drag"
