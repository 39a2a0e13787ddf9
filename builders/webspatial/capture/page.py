"""One page with the hooks installed: opened without a network, moved frame by frame, read out.

Not its business: time limits over a hung page (`runner`) and what is kept of a capture (`store`).
"""

from __future__ import annotations

import json
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.webspatial.capture.serve import Packages, mime

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Download, Request, Route

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
        blocked: URLs it asked for that the network rule refused.
        failed: requests that ended in an error.
        log: (kind, text) of console errors and of exceptions.
        downloads: how many downloads it tried; none is kept.
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
        self.blocked: list[str] = []
        self.failed: list[str] = []
        self.downloads = 0
        self._inflight: set[Request] = set()
        self._packages, self._allow = packages, tuple(allow)
        self._script = init_script({"mode": "virtual" if virtual else "real", "seed": seed, "fps": 60})
        self._context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=1,
            locale="en-US",
            timezone_id="UTC",
            service_workers="block",
            accept_downloads=False,
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
        self._context.on("page", lambda other: other.close() if other is not page else None)
        page.route("**/*", self._handle)

    def _lost(self, request: Request) -> None:
        self._inflight.discard(request)
        self.failed.append(request.url[:200])

    def _refuse(self, download: Download) -> None:
        self.downloads += 1
        download.cancel()

    def _handle(self, route: Route) -> None:
        """The network rule: loopback, what the source entry allows, and npm packages in place of CDNs."""
        url = route.request.url
        host = urllib.parse.urlsplit(url).hostname
        own = urllib.parse.urlsplit(self.url)
        if url.startswith(("data:", "blob:")):
            return route.continue_()
        if urllib.parse.urlsplit(url).netloc == own.netloc:
            if "__ws_worker=1" in url:
                answer = route.fetch()
                body = self._script + "\n" + answer.text()
                return route.fulfill(status=answer.status, body=body, content_type="text/javascript")
            return route.continue_()
        if host in self._allow:
            return route.continue_()
        file = self._packages.file_of(url) if self._packages else None
        if file:
            headers = {"access-control-allow-origin": "*"}
            return route.fulfill(body=file.read_bytes(), content_type=mime(file), headers=headers)
        self.blocked.append(url[:200])
        return route.abort()

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
        """What `hooks/safe.js` kept from happening."""
        return {**(self._ask(self.page, "globalThis.__WSSAFE || {}") or {}), "downloads": self.downloads}

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

        try:
            self._context.close()
        except Error:
            return
