"""One page with the hooks installed: opened, moved frame by frame, read out.

Not its business: what it may reach (`network`), time limits over a hung page (`runner`) and what is kept of a capture
(`store`).
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.webspatial.capture.network import Network
from builders.webspatial.capture.serve import Packages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Download, Page, Request

HOOKS = Path(__file__).parent.parent / "hooks"
ORDER = (
    "safe", "clock", "ids", "discover", "maths", "pixels", "three_objects", "three_graph", "three_ids", "babylon",
    "playcanvas", "turns", "capture", "events",
)  # fmt: skip

PATIENT, GIVE_UP = 30, 90
"""Frames that a page without a scene is stepped one by one, and at all."""


def init_script(config: Mapping[str, Any]) -> str:
    """The hooks as one script; `config` is the clock's: mode, seed, fps."""
    parts = [f"globalThis.__WS_CFG = {json.dumps(dict(config))};"]
    parts += [(HOOKS / f"{name}.js").read_text(encoding="utf-8") for name in ORDER]
    return "\n".join(parts)


class AppPage:
    """A page of an application in a fresh context (profile) of a browser.

    Attributes:
        blocked: what it asked for and was refused; see `Network`.
        failed: requests that ended in an error.
        log: (kind, text) of console errors and of exceptions.
        downloads: how many downloads it tried; none is kept.
        windows: how many windows its links and forms opened; each was closed at once.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        seed: int = 1,
        virtual: bool = True,
        size: tuple[int, int] = (800, 600),
        packages: Packages | None = None,
        allow: Sequence[str] = (),
        hooks: bool = True,
        init: str = "",
    ) -> None:
        self.url, self.virtual = url, virtual
        self.log: list[tuple[str, str]] = []
        self.failed: list[str] = []
        self.downloads = self.windows = 0
        self._inflight: set[Request] = set()
        self._script = init_script({"mode": "virtual" if virtual else "real", "seed": seed, "fps": 60})
        self._network = Network(url, packages, allow, self._script)
        self.blocked = self._network.blocked
        self._context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=1,
            locale="en-US",
            timezone_id="UTC",
            service_workers="block",
            accept_downloads=False,
            proxy=self._network.proxy,
        )
        if hooks:
            self._context.add_init_script(self._script + (HOOKS / "workers.js").read_text(encoding="utf-8") + init)
        self.page = self._context.new_page()
        self._scene: Any = self.page  # Where the scene was found: the page, an inner frame or a worker.
        self._watch()

    def _watch(self) -> None:
        page = self.page
        page.on("console", lambda m: self.log.append((m.type, m.text[:300])) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.log.append(("pageerror", str(error)[:300])))
        page.on("request", lambda r: self._inflight.add(r))
        page.on("requestfinished", lambda r: self._inflight.discard(r))
        page.on("requestfailed", self._lost)
        page.on("response", lambda r: self.failed.append(f"{r.status} {r.url[:200]}") if r.status >= 400 else None)
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.on("download", self._refuse)
        self._context.on("page", self._shut)
        self._context.route("**/*", self._network.handle)

    def _lost(self, request: Request) -> None:
        self._inflight.discard(request)
        self.failed.append(request.url[:200])

    def _refuse(self, download: Download) -> None:
        self.downloads += 1
        download.cancel()

    def _shut(self, window: Page) -> None:
        self.windows += 1
        window.close()

    def idle(self, quiet: float, limit: float) -> bool:
        """Wait until nothing was loading for `quiet` seconds; False when `limit` seconds passed first."""
        start = last = time.monotonic()
        while (now := time.monotonic()) - start < limit:
            if self._inflight:
                last = now
            elif now - last > quiet:
                return True
            self.page.wait_for_timeout(25)
        return False

    def open(self, limit: float = 25) -> None:
        """Load the page; what goes wrong is in `log`."""
        from playwright.sync_api import Error

        try:
            self.page.goto(self.url, wait_until="load", timeout=limit * 1000)
        except Error as error:
            self.log.append(("goto", str(error).splitlines()[0][:300]))
        self.idle(0.15, limit)

    def step(self, frames: int = 1) -> None:
        """Move the page's clock on by `frames` of 1/60 s, in its workers and inner frames, too."""
        from playwright.sync_api import Error

        for other in self._others:
            try:
                other.evaluate("n => globalThis.__WST && __WST.step(n)", frames)
            except Error:
                continue
        if self.virtual:
            self.page.evaluate("n => __WST.step(n)", frames)
        else:
            self.page.wait_for_timeout(frames * 1000 / 60)

    def play(self, frames: int) -> list[dict[str, Any] | None]:
        """The state of every object after each of so many further frames; see `state`."""
        if self.virtual and self._scene is self.page and not self._others:
            code = """async n => { const out = []; for (let k = 0; k < n; k++) {
              await __WST.step(1); const s = __WS.snap(); out.push(s && s.rows); } return out; }"""
            return self.page.evaluate(code, frames)
        states = []
        for _ in range(frames):
            self.step()
            states.append(self.state())
        return states

    def state(self) -> dict[str, Any] | None:
        """The state of every object now, by its path; None where there is no scene. See `WS.snap` in
        `hooks/events.js`."""
        found = self._ask(self._scene, "globalThis.__WS && __WS.snap()")
        return found["rows"] if found else None

    def shot(self) -> str | None:
        """What the page draws now, as the hooks give a picture; None where there is no scene."""
        code = """() => { const E = globalThis.__WS && __WS.engine(); if (!E || !E.gl()) return null;
          E.repaint(); return __WS.png(__WSGL.read(E.gl()), true); }"""
        return self._ask(self._scene, code)

    def warm(self, frames: int = 20, limit: float = 12) -> int | None:
        """Step until a scene is drawn and loading is over, then to frame `frames`.

        Returns the frame at which a scene was there first, None if there was none within `limit` seconds.
        """
        start, n, ready = time.monotonic(), 0, None
        while time.monotonic() - start < limit:
            some = 1 if ready or n < PATIENT or self._inflight else 4
            self.step(some)
            n += some
            quiet = self.idle(0.05, 6)
            if ready is None and self._drawn():
                ready = n
            if ready is not None and quiet and n >= ready + 2:
                break
            if ready is None and n >= GIVE_UP and not self._inflight:
                break
        self.step(max(0, frames - n))
        return ready

    def _drawn(self) -> bool:
        return any(self._ask(target, "!!(globalThis.__WS && __WS.engine && __WS.engine())") for target in self._targets)

    @property
    def _others(self) -> list[Any]:
        return [*self.page.frames[1:], *self.page.workers]

    @property
    def _targets(self) -> list[Any]:
        return [self.page, *self._others]

    def _ask(self, target: Any, code: str, argument: Any = None) -> Any:
        from playwright.sync_api import Error

        try:
            return target.evaluate(code, argument)
        except Error as error:
            if target is self.page:
                self.log.append(("evaluate", str(error).splitlines()[0][:300]))
            return None

    def capture(self, **options: Any) -> dict[str, Any]:
        """Graph, picture and masks of this instant, from the page, its inner frames or its workers.

        Returns what `WS.capture` in `hooks/capture.js` gives; `error` where there is nothing.
        """
        first: dict[str, Any] = {}
        for target in self._targets:
            found = self._ask(target, "o => globalThis.__WS && __WS.capture ? __WS.capture(o) : null", options)
            if found and found.get("graph"):
                self._scene = target
                return {**found, "inWorker": target in self.page.workers}
            first = first or found or {}
        return first or {"error": "no_answer"}

    def safe(self) -> dict[str, Any]:
        """What was kept from happening, by `hooks/safe.js` and here."""
        found = self._ask(self.page, "globalThis.__WSSAFE || {}") or {}
        return {**found, "windows": found.get("windows", 0) + self.windows, "downloads": self.downloads}

    def picture(self, limit: float = 12) -> bytes | None:
        """The whole page as PNG, None if the browser does not give it in time."""
        from playwright.sync_api import Error

        try:
            return self.page.screenshot(timeout=limit * 1000)
        except Error as error:
            self.log.append(("picture", str(error).splitlines()[0][:200]))
            return None

    def close(self) -> None:
        """End the context and all that the page kept."""
        from playwright.sync_api import Error

        with contextlib.suppress(Error):
            self._context.close()
        self._network.close()
