"""Captures on engines and releases, from pages written here; prints a table.

three.js: classic r69 (minified) and r84, module r106, minified classic r125 and r150, modules r160 and r187,
WebGPURenderer (it falls back to WebGL 2); A-Frame, Babylon.js, PlayCanvas, and react-three-fiber in one bundle.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from builders.webspatial.capture import browser as browsers
from builders.webspatial.capture.one import capture_page
from builders.webspatial.capture.pages import PageEntry

pytestmark = pytest.mark.chromium
CDN = "https://cdn.jsdelivr.net/npm"
BODY = """
const r = new THREE.WebGLRenderer(); r.setSize(400, 300); document.body.appendChild(r.domElement);
const s = new THREE.Scene(), c = new THREE.PerspectiveCamera(50, 4 / 3, 0.1, 100); c.position.set(0, 2, 8);
c.lookAt(new THREE.Vector3(0, 0, 0)); c.updateMatrixWorld();
[[-2, 0xff0000], [0, 0x00ff00], [2, 0x0000ff]].forEach(([x, colour]) => { const m = new THREE.Mesh(
  new THREE.BoxGeometry(1, 1, 1), new THREE.MeshBasicMaterial({color: colour})); m.position.x = x; s.add(m); });
"""
ONCE = "r.render(s, c);"
LOOP = "(function draw() { requestAnimationFrame(draw); r.render(s, c); })();"


def classic(version: str, file: str, draw: str = LOOP) -> str:
    return f"<body><script src='{CDN}/three@{version}/{file}'></script><script>{BODY}{draw}</script>"


def module(version: str, file: str = "build/three.module.js", draw: str = LOOP) -> str:
    return f"<body><script type=module>import * as THREE from '{CDN}/three@{version}/{file}';{BODY}{draw}</script>"


WEBGPU = f"""<body><script type=importmap>{{"imports": {{"three":
"{CDN}/three@0.187.0/build/three.webgpu.js"}}}}</script>
<script type=module>import * as THREE from 'three'; {BODY.replace("WebGLRenderer()", "WebGPURenderer()")}
await r.init(); r.setAnimationLoop(() => r.render(s, c));</script>"""
PAGES = {
    "three r69 classic, minified": classic("0.69.0", "three.min.js"),
    "three r84 classic": classic("0.84.0", "build/three.js", ONCE),
    "three r106 module": module("0.106.0", draw=ONCE),
    "three r125 classic, minified": classic("0.125.0", "build/three.min.js"),
    "three r150 classic, minified": classic("0.150.0", "build/three.min.js", ONCE),
    "three r160 module, minified": module("0.160.0", "build/three.module.min.js"),
    "three r187 module": module("0.187.0"),
    "three r187 WebGPURenderer": WEBGPU,
}
FIBER = """import React from 'react'; import {createRoot} from 'react-dom/client';
import {Canvas} from '@react-three/fiber';
const h = React.createElement; const box = (x, colour) => h('mesh', {key: x, position: [x, 0, 0]}, h('boxGeometry'),
h('meshBasicMaterial', {color: colour})); createRoot(document.getElementById('r')).render(h(Canvas, {camera: {position:
[0, 2, 8]}}, [box(-2, 'red'), box(0, 'lime'), box(2, 'blue')]));"""
ROWS: list[str] = []


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    print("\nengine and build                 status      engine      release   objects seen  graph and pixels")
    print("\n".join(ROWS))


def _check(name, browser, packages, tmp_path, folder, page, mounts=None):
    from builders.webspatial.capture import store
    from builders.webspatial.space.agree import agreement

    entry = PageEntry("g", page, npm=True, size=(400, 300))
    record = capture_page(browser, entry, folder, mounts or {}, packages, tmp_path / "out")
    assert record["status"] == "captured", record
    found = agreement(store.read(tmp_path / "out" / entry.id).data["graph"])
    ROWS.append(
        f"{name:32} {record['status']:11} {record['engine']:11} {record['revision']:9} {record['seen']:12}"
        f"  {found.agree} of {found.compared}"
    )
    assert record["seen"] >= 3
    assert found.passed
    return record


@pytest.mark.parametrize("name", PAGES)
def test_three(name, browser, packages, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(f"<!doctype html><meta charset=utf-8>{PAGES[name]}", encoding="utf-8")
    assert _check(name, browser, packages, tmp_path, site, "index.html")["engine"] == "three.js"


@pytest.mark.parametrize(
    ("page", "engine"),
    [("aframe.html", "three.js"), ("babylon.html", "Babylon.js"), ("playcanvas.html", "PlayCanvas")],
)
def test_other_engines(page, engine, browser, packages, tmp_path):
    scenes = Path(browsers.__file__).parent.parent / "scenes"
    assert _check(page, browser, packages, tmp_path, scenes, f"{page}?seed=6")["engine"] == engine


def test_react_three_fiber_in_one_minified_bundle(browser, packages, tmp_path):
    """Bundled with esbuild from npm's packages; skips where npm cannot install them."""
    room = tmp_path / "bundle"
    room.mkdir()
    (room / "app.js").write_text(FIBER, encoding="utf-8")
    wanted = ["react@19.2.0", "react-dom@19.2.0", "three@0.180.0", "@react-three/fiber@9.4.0", "esbuild@0.25.0"]
    done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *wanted], cwd=room)
    if done.returncode:
        pytest.skip("npm could not install react-three-fiber")
    command = ["npx", "esbuild", "app.js", "--bundle", "--minify", "--format=iife", "--outfile=bundle.js"]
    subprocess.run([*command, '--define:process.env.NODE_ENV="production"'], cwd=room, check=True, capture_output=True)
    html = "<!doctype html><body style='margin:0'><div id=r style='width:400px;height:300px'></div>"
    (room / "index.html").write_text(html + "<script src=bundle.js></script>", encoding="utf-8")
    _check("react-three-fiber 9, minified", browser, packages, tmp_path, room, "index.html")
