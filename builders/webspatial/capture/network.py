"""What a page may reach: its own origin, hosts that its list allows, and npm's packages in place of two CDNs.

Twice enforced. Requests that the driver sees, of the page and of windows it opens, are refused by address. What it does
not see (WebSockets, shared workers, preconnections) ends at a proxy that refuses: the browser connects of itself to the
page's own port and to allowed hosts only. Datagrams are the browser's own rule (`browser`).
"""

from __future__ import annotations

import http.client
import socketserver
import threading
import urllib.parse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from builders.webspatial.capture.serve import Packages, mime

if TYPE_CHECKING:
    from playwright.sync_api import ProxySettings, Route


class Network:
    """The network of the page at `url`, an address of a loopback server.

    Attributes:
        blocked: what was asked for and refused: URLs, or host and port where no more is known.
    """

    def __init__(self, url: str, packages: Packages | None, allow: Sequence[str], worker: str) -> None:
        """`worker` is put in front of the scripts of workers that `hooks/workers.js` marked."""
        self.blocked: list[str] = []
        self._own = urllib.parse.urlsplit(url).netloc
        self._packages, self._allow, self._worker = packages, tuple(allow), worker
        blocked = self.blocked

        class Refusal(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                words = self.rfile.readline(4096).decode("latin-1").split()  # "CONNECT host:port" or "GET url"
                if len(words) > 1:
                    blocked.append(words[1][:200])

        self._proxy = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusal)
        self._proxy.daemon_threads = True
        threading.Thread(target=self._proxy.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def proxy(self) -> ProxySettings:
        """For the browser context: the refusing proxy, for all (loopback, too) but the own port and allowed hosts."""
        server = f"http://127.0.0.1:{self._proxy.server_address[1]}"
        return {"server": server, "bypass": ",".join(("<-loopback>", self._own, *self._allow))}

    def handle(self, route: Route) -> None:
        """Answer, pass on or refuse a request that the driver sees."""
        url = route.request.url
        parts = urllib.parse.urlsplit(url)
        if parts.scheme in ("data", "blob"):
            return route.continue_()
        if parts.netloc == self._own:
            return self._hooked(route, parts) if "__ws_worker=1" in parts.query else route.continue_()
        if parts.hostname in self._allow:
            return route.continue_()
        file = self._packages.file_of(url) if self._packages else None
        if file:
            headers = {"access-control-allow-origin": "*"}
            return route.fulfill(body=file.read_bytes(), content_type=mime(file), headers=headers)
        self.blocked.append(url[:200])
        return route.abort()

    def _hooked(self, route: Route, parts: urllib.parse.SplitResult) -> None:
        connection = http.client.HTTPConnection(self._own, timeout=10)
        try:
            connection.request("GET", parts.path)
            answer = connection.getresponse()
            body = self._worker + "\n" + answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        route.fulfill(status=answer.status, body=body, content_type="text/javascript")

    def close(self) -> None:
        """End the proxy."""
        self._proxy.shutdown()
        self._proxy.server_close()
