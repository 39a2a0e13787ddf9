"""Which browser there is, and how it is started so that WebGL runs in software, the same everywhere.

Not its business: pages (`page`) and what to do with them (`runner`).
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from schemas import GoldsmithError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    # Never --disable-gpu: Chromium then makes no WebGL context. SwiftShader must be asked for since Chrome 144.
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    # No datagrams, so no WebRTC: the name that the headless shell knows, and that of the whole browser.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
    "--js-flags=--max-old-space-size=2048",
)
SPARTICUZ = "153.0.0"
_UNBROTLI = (
    "const fs = require('fs'), z = require('zlib'); require('stream').pipeline(fs.createReadStream(process.argv[1]), "
    "z.createBrotliDecompress(), fs.createWriteStream(process.argv[2]), e => process.exit(e ? 1 : 0))"
)
PROBE = """() => { const c = document.createElement('canvas'); const g = c.getContext('webgl2') ||
c.getContext('webgl');
 if (!g) return null; const e = g.getExtension('WEBGL_debug_renderer_info');
 return e ? g.getParameter(e.UNMASKED_RENDERER_WEBGL) : 'unknown renderer'; }"""


def find_browser() -> Path | None:
    """The browser to use: `GOLDSMITH_BROWSER`, else an installed Chromium; None where there is none."""
    named = os.environ.get("GOLDSMITH_BROWSER")
    if named:
        return Path(named) if Path(named).is_file() else None
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def from_registry(folder: Path) -> Path | None:
    """Chromium from the npm package @sparticuz/chromium, unpacked into `folder`; None where npm or node lacks.

    It runs on x86_64 Linux and needs libnss3, libnspr4 and libexpat1 from the system.
    """
    program = folder / "chromium"
    if program.is_file():
        return program
    if shutil.which("npm") is None or shutil.which("node") is None or platform.machine() not in ("x86_64", "AMD64"):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    fetch = ["npm", "pack", f"@sparticuz/chromium@{SPARTICUZ}", "--silent", "--ignore-scripts"]
    done = subprocess.run(fetch, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    archive = folder / (done.stdout.split() or ["none"])[-1]
    if done.returncode or not archive.is_file():
        return None
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    archive.unlink()
    for name, target in (("chromium.br", "chromium.part"), ("swiftshader.tar.br", "swiftshader.tar")):
        source = str(folder / "package" / "bin" / name)
        unpack = ["node", "-e", _UNBROTLI, source, str(folder / target)]
        if subprocess.run(unpack, check=False, capture_output=True).returncode:  # noqa: S603
            return None
    with tarfile.open(folder / "swiftshader.tar") as libraries:
        libraries.extractall(folder, filter="data")
    shutil.rmtree(folder / "package")
    (folder / "chromium.part").chmod(0o755)
    (folder / "chromium.part").rename(program)
    return program


def missing() -> str | None:
    """What capturing lacks on this machine and how to get it, in one line; None if nothing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the package playwright is absent: pip install 'goldsmith[webspatial]'"
    if find_browser() is None:
        return (
            "no Chromium was found: apt-get install chromium-headless-shell (or chromium), or name one in "
            "GOLDSMITH_BROWSER"
        )
    return None


def launch(playwright: Playwright, allow: Iterable[str] = ()) -> Browser:
    """Start the browser, which finds no host but loopback and those allowed, and see that it has WebGL.

    Root has no sandbox: Chromium does not start with one.

    Raises:
        GoldsmithError: there is no browser, or it has no WebGL.
    """
    path = find_browser()
    if path is None:
        raise GoldsmithError(f"[webspatial > capture] {missing()}")
    known = "".join(f", EXCLUDE {host}" for host in ("127.0.0.1", *sorted(set(allow))))
    flags = [*FLAGS, f"--host-resolver-rules=MAP * ~NOTFOUND{known}"]
    sandbox = os.geteuid() != 0
    browser = playwright.chromium.launch(executable_path=str(path), chromium_sandbox=sandbox, headless=True, args=flags)
    page = browser.new_page()
    renderer = page.evaluate(PROBE)
    page.close()
    if renderer is None:
        browser.close()
        raise GoldsmithError(f"[webspatial > capture] {path} makes no WebGL context: try chromium-headless-shell")
    return browser
