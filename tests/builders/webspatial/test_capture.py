"""Hostile pages, the network rule, scripts that cannot be played, and page lists with mistakes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from builders.webspatial.capture import browser as browsers
from builders.webspatial.capture import store
from builders.webspatial.capture.one import capture_page, declare_fronts
from builders.webspatial.capture.pages import PageEntry, read_pages
from builders.webspatial.capture.runner import Limits, capture_all
from builders.webspatial.capture.serve import FolderServer
from schemas import GoldsmithError

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
THREE = """<script type=module>import * as THREE from 'https://cdn.jsdelivr.net/npm/three@0.187.0/build/three.module.js';
const r = new THREE.WebGLRenderer(), s = new THREE.Scene(), c = new THREE.PerspectiveCamera(); document.body.append(
r.domElement); const g = new THREE.BoxGeometry(), m = new THREE.MeshBasicMaterial(); const add = i => {
const o = new THREE.Mesh(g, m); o.position.set(i % 100, i / 100, -90); s.add(o); }; c.position.z = 5; WHAT
r.render(s, c)</script>"""
SCENES_THAT_FAIL = {
    "many": THREE.replace("WHAT", "for (let i = 0; i < 10000; i++) add(i);"),
    "later": THREE.replace(
        "WHAT", "add(0); let n = 0; r.setAnimationLoop(() => { r.render(s, c); if (++n == 5) for (;;) {} });"
    ),
    "no_context": "<script>HTMLCanvasElement.prototype.getContext = () => null</script>"
    + THREE.replace("WHAT", "add(0);"),
}


@pytest.mark.chromium
def test_hostile_pages_end_in_a_reason(tmp_path, playwright, packages):
    site = tmp_path / "site"
    site.mkdir()
    for name, content in {**HOSTILE, **SCENES_THAT_FAIL}.items():
        (site / f"{name}.html").write_text(f"<!doctype html><body>{content}", encoding="utf-8")
    pages = ", ".join(f'"{name}.html"' for name in [*HOSTILE, *SCENES_THAT_FAIL])
    (tmp_path / "list.toml").write_text(f'[[group]]\nname = "a/b"\nlicence = "x"\nnpm = true\npages = [{pages}]\n')
    folders, limits = {"a/b": site}, Limits(seconds=20)
    out = tmp_path / "out"
    before = set(tmp_path.iterdir())
    records = capture_all(tmp_path / "list.toml", folders, out, packages=packages.folder, limits=limits)
    found = {Path(r["path"]).stem: r["status"] for r in records}
    assert found.pop("many") == "too_many_drawables"
    assert found.pop("endless") == "time_limit"
    assert found.pop("later") == "time_limit"
    assert found.pop("no_context") == "page_error"
    assert found.pop("webgpu") == "webgpu"
    assert found.pop("network") == "needs_network"
    assert set(found.values()) <= {"no_webgl", "no_scene", "no_answer", "needs_network"}, found
    # Nothing beside the output, and nothing temporary left in it.
    assert set(tmp_path.iterdir()) - before == {out}
    assert sorted(p.name for p in out.iterdir()) == ["log.jsonl", "rejects.jsonl"]
    assert len(list(store.rejects(out))) == len(HOSTILE) + len(SCENES_THAT_FAIL)
    again = capture_all(tmp_path / "list.toml", folders, out, packages=packages.folder, limits=limits)
    assert again == records


GREEDY = """<script>const kept = []; setInterval(() => { for (let k = 0; k < 8; k++) kept.push(
new Uint8Array(3e7).fill(kept.length)); }, 1)</script>"""


@pytest.mark.chromium
def test_a_page_that_takes_all_memory_is_stopped(tmp_path, playwright):
    """And the page after it is still captured."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "greedy.html").write_text(f"<!doctype html><body>{GREEDY}", encoding="utf-8")
    (site / "after.html").write_text("<!doctype html><body>plain", encoding="utf-8")
    (tmp_path / "list.toml").write_text('[[group]]\nname = "a/b"\npages = ["greedy.html", "after.html"]\n')
    limits = Limits(seconds=40, megabytes=1500)
    records = capture_all(tmp_path / "list.toml", {"a/b": site}, tmp_path / "out", limits=limits)
    assert [r["status"] for r in records] == ["memory_limit", "no_webgl"]


@pytest.mark.chromium
def test_a_page_is_captured_again_when_its_entry_changes(tmp_path, playwright):
    """And what an earlier entry left is gone."""
    site, out = tmp_path / "site", tmp_path / "out"
    site.mkdir()
    (site / "p.html").write_text("<!doctype html><body>plain", encoding="utf-8")
    text = '[[group]]\nname = "a/b"\npages = ["p.html"]\n'
    (tmp_path / "list.toml").write_text(text)
    (first,) = capture_all(tmp_path / "list.toml", {"a/b": site}, out)
    (out / first["id"]).mkdir()
    (out / first["id"] / "capture.json.gz").write_bytes(b"old")
    (tmp_path / "list.toml").write_text(text + "warm = 3\n")
    (second,) = capture_all(tmp_path / "list.toml", {"a/b": site}, out)
    assert second["id"] == first["id"]
    assert second["entry"] != first["entry"]
    assert len((out / "log.jsonl").read_text().splitlines()) == 2
    assert store.names(out) == []
    assert [record["status"] for _, record in store.rejects(out)] == ["no_webgl"]


@pytest.mark.chromium
@pytest.mark.parametrize(
    ("action", "why"), [('[1, "click", "nobody"]', "nobody"), ('[1, "key", "NoSuchKey"]', "NoSuchKey")]
)
def test_a_script_that_cannot_be_played_is_a_reject(tmp_path, playwright, browser, packages, action, why):
    (tmp_path / "list.toml").write_text(
        f'[[group]]\nname = "g"\nnpm = true\nsize = [320, 240]\nframes = 4\nactions = [{action}]\n'
        'pages = ["static.html?kind=row&seed=1"]\n'
    )
    (entry,) = read_pages(tmp_path / "list.toml")
    record = capture_page(browser, entry, SCENES, {}, packages, tmp_path / "out")
    assert record["status"] == "script_failed"
    assert why in record["detail"]
    assert not (tmp_path / "out").exists()


@pytest.mark.chromium
def test_a_time_line_that_takes_too_long_is_left_out_and_its_page_is_not(tmp_path, browser, packages):
    entry = PageEntry("g", "moving.html?seed=2", npm=True, size=(320, 240), frames=60, actions=((4, "click", 9, 9),))
    record = capture_page(browser, entry, SCENES, {}, packages, tmp_path, seconds=0.1)
    assert record["status"] == "captured"
    assert record["no_events"] == "it was at frame 0 of 60 when its time was over"
    data = store.read(tmp_path / entry.id).data
    assert data["no_events"] == record["no_events"]
    assert "events" not in data
    assert not list((tmp_path / entry.id).glob("frame-*"))


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


PLAIN = '[[group]]\nname = "a/b"\n'
MISTAKES = {
    "colour": PLAIN + 'pages = ["x.html"]\ncolour = 3\n',
    "list of texts": PLAIN + 'pages = "x.html"\n',
    "no name": '[[group]]\npages = ["x.html"]\n',
    "names no pages": PLAIN,
    "needs \\[\\[group\\]\\]": "pages = []\n",
    "no page list": "[[group]\n",
    "within the group's folder": PLAIN + 'pages = ["../secret.html"]\n',
    "path must name": PLAIN + 'pages = ["/etc/passwd"]\n',
    "there twice": PLAIN + 'pages = ["x.html", "x.html"]\n',
    "frames = 'x'": PLAIN + 'pages = ["x.html"]\nframes = "x"\n',
    "frames = True": PLAIN + 'pages = ["x.html"]\nframes = true\n',
    "npm = 1": PLAIN + 'pages = ["x.html"]\nnpm = 1\n',
    "size": PLAIN + 'pages = ["x.html"]\nsize = [800]\n',
    "of kinds move": PLAIN + 'pages = ["x.html"]\nactions = [[1, "jump", 3]]\n',
    "actions": PLAIN + 'pages = ["x.html"]\nactions = [[1, "click", 3]]\n',
    "URL prefix": PLAIN + 'pages = ["x.html"]\nmounts = {lib = "c/d"}\n',
    "a table of path or geometry": PLAIN + 'pages = ["x.html"]\nfronts = {Cone = [0, 0, 0]}\n',
    "host names": PLAIN + "pages = ['x.html']\nallow = [3]\n",
}


@pytest.mark.parametrize("said", MISTAKES)
def test_a_page_list_with_a_mistake_is_named(tmp_path, said):
    path = tmp_path / "list.toml"
    path.write_text(MISTAKES[said])
    with pytest.raises(GoldsmithError, match=said):
        read_pages(path)


@pytest.mark.chromium
def test_a_list_that_is_absent_or_has_no_folder_is_named(tmp_path, playwright):
    path = tmp_path / "list.toml"
    with pytest.raises(GoldsmithError, match="absent"):
        read_pages(path)
    with pytest.raises(GoldsmithError, match="absent"):
        read_pages(tmp_path)
    path.write_text('[[group]]\nname = "a/b"\npages = ["x.html"]\nmounts = {"/lib/" = "c/d"}\n')
    with pytest.raises(GoldsmithError, match="a/b] has no folder"):
        capture_all(path, {}, tmp_path / "out")
    with pytest.raises(GoldsmithError, match="c/d] has no folder"):
        capture_all(path, {"a/b": tmp_path}, tmp_path / "out")
    with pytest.raises(GoldsmithError, match="is no folder"):
        capture_all(path, {"a/b": tmp_path / "none", "c/d": tmp_path}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["public", "repeat", "sample"])
def test_the_lists_of_this_repository_are_read(name):
    entries = read_pages(SCENES.parent / "pages" / f"{name}.toml")
    assert all(e.licence and e.npm for e in entries)
    assert any(e.frames and e.actions for e in entries)
    assert any(e.nearby for e in entries)


def test_a_front_that_the_list_declares_is_the_objects_unless_it_has_its_own():
    nodes = [
        {"path": "scene0/a", "drawable": True, "geometry": {"type": "ConeBufferGeometry"}},
        {"path": "scene0/b", "drawable": True, "geometry": {"type": "BoxGeometry"}},
        {"path": "scene0/c", "drawable": True, "geometry": {"type": "ConeGeometry"}, "userData": {"front": [1, 0, 0]}},
        {"path": "scene0/car#1", "drawable": True, "userData": {"kept": 1}},
        {"path": "scene0/car#2"},
    ]
    declare_fronts(nodes, {"Cone*": [0, 0, 1], "scene0/car#?": [0, 0, -1]})
    fronts = [(node.get("userData") or {}).get("front") for node in nodes]
    assert fronts == [[0, 0, 1], None, [1, 0, 0], [0, 0, -1], None]
    assert nodes[3]["userData"]["kept"] == 1


def test_what_is_no_capture_is_named(tmp_path):
    with pytest.raises(GoldsmithError, match="holds no captures"):
        store.some_names(tmp_path)
    with pytest.raises(GoldsmithError, match="absent"):
        store.read(tmp_path / "x")
    file = tmp_path / "x" / "capture.json.gz"
    file.parent.mkdir()
    for content in (b"no gzip", gzip.compress(b"{"), gzip.compress(b"[]"), gzip.compress(b'{"format": 1}')):
        file.write_bytes(content)
        with pytest.raises(GoldsmithError, match="no capture"):
            store.read(file.parent)
    store.write(tmp_path, "x", {"page": {"path": "p"}, "graph": {"nodes": [1]}}, {})
    assert store.read(file.parent).data["graph"] == {"nodes": [1]}
    (tmp_path / "rejects.jsonl").write_text('{"group": "a", "path": 3, "status": "x", "message": ""}\n')
    with pytest.raises(GoldsmithError, match="1] group, path"):
        list(store.rejects(tmp_path))
    (tmp_path / "rejects.jsonl").write_text("\n{\n")
    with pytest.raises(GoldsmithError, match="2] is no rejected page"):
        list(store.rejects(tmp_path))
