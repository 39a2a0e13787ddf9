"""A captured page reaches its own origin and nothing else: each way out is heard from a plain browser, and not here."""

from __future__ import annotations

import select
import socket
import time

import pytest

from builders.webspatial.capture import browser as browsers
from builders.webspatial.capture.page import AppPage
from builders.webspatial.capture.serve import FolderServer

pytestmark = pytest.mark.chromium

WAYS = {
    "script": "<script src='http://HOST/x.js'></script>",
    "image": "<img src='http://HOST/x.png'>",
    "inner frame": "<iframe src='http://HOST/'></iframe>",
    "fetch": "<script>fetch('http://HOST/', {mode: 'no-cors'})</script>",
    "fetch that outlives": "<script>fetch('http://HOST/', {mode: 'no-cors', keepalive: true})</script>",
    "beacon": "<script>navigator.sendBeacon('http://HOST/', 'secret')</script>",
    "event stream": "<script>new EventSource('http://HOST/')</script>",
    "WebSocket": "<script>new WebSocket('ws://HOST/')</script>",
    "WebSocket over TLS": "<script>new WebSocket('wss://HOST/')</script>",
    "WebSocket of a worker": "<script>new Worker('data:text/javascript,new WebSocket(\"ws://HOST/\")')</script>",
    "fetch of a worker": "<script>new Worker('worker.js')</script>",
    "fetch of a shared worker": "<script>new SharedWorker('worker.js')</script>",
    "fetch of a service worker": "<script>navigator.serviceWorker.register('worker.js')</script>",
    "WebTransport": "<script>new WebTransport('https://HOST/')</script>",
    "WebRTC over UDP": "<script>RTC('stun:HOST')</script>",
    "WebRTC over TCP": "<script>RTC('turn:HOST?transport=tcp')</script>",
    "prefetch": "<link rel=prefetch href='http://HOST/'>",
    "preload of a module": "<link rel=modulepreload href='http://HOST/x.js'>",
    "style": "<link rel=stylesheet href='http://HOST/x.css'>",
    "refresh": "<meta http-equiv=refresh content='0; url=http://HOST/'>",
    "location": "<script>location.href = 'http://HOST/'</script>",
    "link": "<a href='http://HOST/'>BOX</a>",
    "link to a window": "<a href='http://HOST/' target=_blank>BOX</a>",
    "link with a ping": "<a href='#here' ping='http://HOST/'>BOX</a>",
    "form to a window": "<form action='http://HOST/' target=_blank method=post><button>BOX</button></form>",
    "window that asks for a WebSocket": "<a href='socket.html' target=_blank>BOX</a>",
}  # fmt: skip
FILES = {"worker.js": "fetch('http://HOST/', {mode: 'no-cors'})", "socket.html": WAYS["WebSocket"]}
RTC = """<script>const RTC = urls => { const iceServers = [{urls, username: 'a', credential: 'b'}];
const c = new RTCPeerConnection({iceServers}); c.createDataChannel('x');
c.createOffer().then(offer => c.setLocalDescription(offer)) }</script>"""
BOX = "<span style='display: block; width: 300px; height: 200px'>here</span>"
UNSEEN = {"WebTransport", "WebRTC over UDP", "fetch of a service worker", "window that asks for a WebSocket"}
"""Ways that end before anything is asked for, so that there is no address to record."""


class Listener:
    """Hears whatever connects, or sends a datagram, to `host`; never answers."""

    def __init__(self) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._tcp.getsockname()[1]}"
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(self._tcp.getsockname())

    def hears(self, page, seconds: float) -> bool:
        """Whether anything comes within so long, while the page lives."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            page.wait_for_timeout(50)
            if select.select([self._tcp, self._udp], [], [], 0)[0]:
                return True
        return False

    def close(self) -> None:
        self._tcp.close()
        self._udp.close()


@pytest.fixture
def site(tmp_path):
    """A page that takes one way out, the listener that it leads to, and the page's server."""
    servers = []

    def make(way: str) -> tuple[str, Listener]:
        listener = Listener()
        folder = tmp_path / listener.host.replace(":", "_")
        folder.mkdir()
        for name, content in {**FILES, "page.html": f"<!doctype html><body>{RTC}{WAYS[way]}"}.items():
            content = content.replace("HOST", listener.host).replace("BOX", BOX)
            (folder / name).write_text(content, encoding="utf-8")
        server = FolderServer(folder)
        servers.extend((listener, server))
        return server.base + "page.html", listener

    yield make
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def plain(playwright):
    """The same browser as it starts by itself."""
    started = playwright.chromium.launch(executable_path=str(browsers.find_browser()))
    yield started
    started.close()


@pytest.mark.parametrize("way", WAYS)
def test_nothing_outside_its_origin_hears_a_page(browser, plain, site, way):
    url, listener = site(way)
    page = plain.new_context().new_page()
    page.goto(url, wait_until="commit")
    page.wait_for_timeout(100)
    page.mouse.click(40, 40)
    assert listener.hears(page, 10), "the test does not show a way out"
    page.context.close()

    url, listener = site(way)
    app = AppPage(browser, url)
    app.open(limit=3)
    app.page.mouse.click(40, 40)
    assert not listener.hears(app.page, 1)
    assert any(listener.host in blocked for blocked in app.blocked) or way in UNSEEN
    assert len(app.page.context.pages) == 1
    app.close()


@pytest.mark.parametrize(("allow", "heard"), [((), False), (("localhost",), True)])
def test_a_host_that_the_list_allows_is_reached(playwright, tmp_path, allow, heard):
    listener = Listener()
    port = listener.host.partition(":")[2]
    (tmp_path / "page.html").write_text(f"<!doctype html><img src='http://localhost:{port}/x.png'>", encoding="utf-8")
    server = FolderServer(tmp_path)
    browser = browsers.launch(playwright, allow)
    app = AppPage(browser, server.base + "page.html", allow=allow)
    app.open(limit=2)
    assert listener.hears(app.page, 0.5) is heard
    assert app.blocked == ([] if heard else [f"http://localhost:{port}/x.png"])
    app.close()
    browser.close()
    server.close()
    listener.close()
