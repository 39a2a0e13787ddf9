"""Which browser there is, and how it is started so that WebGL runs in software, the same everywhere.

Not its business: pages (`page`) and what to do with them (`runner`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from schemas import GoldsmithError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    # Never --disable-gpu: Chromium then makes no WebGL context. SwiftShader must be asked for since Chrome 144.
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
    "--js-flags=--max-old-space-size=2048",
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


def launch(playwright: Playwright) -> Browser:
    """Start the browser and see that it has WebGL.

    Raises:
        GoldsmithError: there is no browser, or it has no WebGL.
    """
    path = find_browser()
    if path is None:
        raise GoldsmithError(f"[webspatial > capture] {missing()}")
    browser = playwright.chromium.launch(executable_path=str(path), headless=True, args=list(FLAGS))
    page = browser.new_page()
    renderer = page.evaluate(PROBE)
    page.close()
    if renderer is None:
        browser.close()
        raise GoldsmithError(f"[webspatial > capture] {path} makes no WebGL context: try chromium-headless-shell")
    return browser
