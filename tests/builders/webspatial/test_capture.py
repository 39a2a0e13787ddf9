"""Capturing in a real browser: hostile pages, the network rule, repeatability, and that a capture changes nothing."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from builders.webspatial.capture import browser as browsers
from builders.webspatial.capture import store
from builders.webspatial.capture.one import capture_page
from builders.webspatial.capture.page import AppPage
from builders.webspatial.capture.pages import PageEntry, read_pages
from builders.webspatial.capture.runner import Limits, capture_all
from builders.webspatial.capture.serve import FolderServer
from builders.webspatial.space.agree import agreement
from schemas import GoldsmithError

pytestmark = pytest.mark.chromium
SCENES = Path(browsers.__file__).parent.parent / "scenes"

HOSTILE = {
    "endless": "<script>for (;;) {}</script>",
    "alert": "<script>alert(1); confirm(2); prompt(3)</script>",
    "download": "<script>onload = () => { const a = document.createElement('a'); a.href = URL.createObjectURL("
    "new Blob(['x'])); a.download = 'x.txt'; document.body.append(a); a.click(); }</script>",
    "popup": "<script>window.open('about:blank'); setInterval(() => window.open('/alert.html'), 30)</script>",
    "flat": "<canvas id=c></canvas><script>c.getContext('2d').fillRect(0, 0, 9, 9)</script>",
    "webgpu": "<script>navigator.gpu && 1; addEventListener('load', async () => { if (!navigator.gpu) throw "
    "new Error('needs WebGPU') })</script>",
    "leave": "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }; location.href = 'http://192.0.2.1/'"
    "</script>",
    "network": "<script src='http://192.0.2.1/three.js'></script><script>new THREE.Scene()</script>",
}
MANY = """<script type=module>import * as THREE from 'https://cdn.jsdelivr.net/npm/three@0.187.0/build/three.module.js';
const r = new THREE.WebGLRenderer(), s = new THREE.Scene(), c = new THREE.PerspectiveCamera(); document.body.append(
r.domElement); const g = new THREE.BoxGeometry(), m = new THREE.MeshBasicMaterial(); for (let i = 0; i < 10000; i++) {
const o = new THREE.Mesh(g, m); o.position.set(i % 100, i / 100, -90); s.add(o); } c.position.z = 5; r.render(s, c)
</script>"""


def test_hostile_pages_end_in_a_reason(tmp_path, playwright, packages):
    site = tmp_path / "site"
    site.mkdir()
    for name, content in {**HOSTILE, "many": MANY}.items():
        (site / f"{name}.html").write_text(f"<!doctype html><body>{content}", encoding="utf-8")
    pages = ", ".join(f'"{name}.html"' for name in [*HOSTILE, "many"])
    (tmp_path / "list.toml").write_text(f'[[group]]\nname = "a/b"\nlicence = "x"\nnpm = true\npages = [{pages}]\n')
    folders, limits = {"a/b": site}, Limits(seconds=25)
    out = tmp_path / "out"
    before = set(tmp_path.iterdir())
    records = capture_all(tmp_path / "list.toml", folders, out, packages=packages.folder, limits=limits)
    found = {Path(r["path"]).stem: r["status"] for r in records}
    assert found.pop("many") == "too_many_drawables"
    assert found.pop("endless") == "time_limit"
    assert found.pop("webgpu") == "webgpu"
    assert found.pop("network") == "needs_network"
    assert set(found.values()) <= {"no_webgl", "no_scene", "no_answer", "needs_network"}, found
    # Nothing beside the output, and nothing temporary left in it.
    assert set(tmp_path.iterdir()) - before == {out}
    assert sorted(p.name for p in out.iterdir()) == ["log.jsonl", "rejects.jsonl"]
    assert len(list(store.rejects(out))) == len(HOSTILE) + 1
    again = capture_all(tmp_path / "list.toml", folders, out, packages=packages.folder, limits=limits)
    assert again == records


CASES = {
    "random scene": PageEntry("g", "static.html?kind=room&mode=any&seed=21", npm=True, size=(480, 360), nearby=2.5),
    "declared things": PageEntry("g", "static.html?kind=street&seed=3", npm=True, size=(480, 360)),
    "animation": PageEntry("g", "moving.html?seed=2", npm=True, size=(480, 360), frames=24, pictures=(0, 24)),
    "click": PageEntry("g", "clicked.html?seed=2", npm=True, size=(480, 360), frames=16,
                       actions=((4, "click", "clicked"),)),
    "chirality": PageEntry("g", "polycube.html?cells=0,0,0;1,0,0;1,1,0;1,1,1;2,1,1", npm=True, size=(320, 320),
                           turns=True),
    "Babylon.js": PageEntry("g", "babylon.html?seed=51", npm=True, size=(480, 360)),
    "PlayCanvas": PageEntry("g", "playcanvas.html?seed=51", npm=True, size=(480, 360)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_same_capture_twice_in_two_processes(case, playwright, packages, tmp_path):
    """Graph, canvas, masks, page picture and event log; and most meshes agree with their pixels."""
    sums = []
    for k in range(2):
        started = browsers.launch(playwright)
        record = capture_page(started, CASES[case], SCENES, {}, packages, tmp_path / str(k))
        started.close()
        assert record["status"] == "captured", record
        sums.append(store.sums(tmp_path / str(k) / CASES[case].id))
    assert sums[0] == sums[1]
    assert {"graph", "canvas", "ids", "page"} <= set(sums[0])
    found = agreement(store.read(tmp_path / "0" / CASES[case].id).data["graph"])
    assert found.compared > 0
    assert found.passed
    data = store.read(tmp_path / "0" / CASES[case].id).data
    if case == "click":
        caused = {c["object"].split("/")[1].split("#")[0]: c["caused"] for c in data["events"]["changes"]}
        assert caused["clicked"] is True
        assert False in caused.values()
    if case == "chirality":
        assert len(data["turns"]) == 1


@pytest.mark.parametrize("page", ["static.html?kind=room&seed=4", "babylon.html?seed=4", "aframe.html?seed=4"])
def test_a_capture_changes_no_pixel_of_the_page(page, browser, packages):
    server = FolderServer(SCENES)
    try:
        app = AppPage(browser, server.base + page, packages=packages, size=(400, 300))
        app.open()
        assert app.warm(12) is not None
        before = app.picture(30)
        assert app.capture(nearby=2).get("graph")
        after = app.picture(30)
        app.close()
    finally:
        server.close()
    pictures = [np.asarray(Image.open(io.BytesIO(p or b""))).astype(int) for p in (before, after)]
    assert len(np.unique(pictures[0].reshape(-1, pictures[0].shape[2]), axis=0)) > 20
    assert np.count_nonzero(pictures[0] - pictures[1]) == 0


def test_no_path_leads_out_of_the_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    site = tmp_path / "site"
    site.mkdir()
    (site / "link").symlink_to(tmp_path / "secret.txt")
    server = FolderServer(site)
    try:
        import http.client

        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/link", "//etc/passwd"):
            connection = http.client.HTTPConnection(server.base.split("/")[2])
            connection.request("GET", path)
            assert connection.getresponse().status == 404
    finally:
        server.close()


def test_a_page_list_with_a_mistake_is_named(tmp_path):
    path = tmp_path / "list.toml"
    path.write_text('[[group]]\nname = "a/b"\npages = ["x.html"]\ncolour = 3\n')
    with pytest.raises(GoldsmithError, match="colour"):
        read_pages(path)
    with pytest.raises(GoldsmithError, match="absent"):
        read_pages(tmp_path / "none.toml")
    path.write_text('[[group]]\nname = "a/b"\npages = ["x.html"]\n')
    with pytest.raises(GoldsmithError, match="no folder"):
        capture_all(path, {}, tmp_path / "out")
