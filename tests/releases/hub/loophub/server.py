"""The plumbing: HTTP in, a route's answer out, with the faults in between."""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loophub.faults import Fault, Faults
from loophub.store import Account, RefusalError, Store
from loophub.xet import XetStore


class CutError(Exception):
    """The connection ends here."""


@dataclass
class Answer:
    """A route's answer. `body` is JSON data, bytes, or a file with the range of it to send."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"


@dataclass
class Record:
    """A request as it was seen. `status` is 0 where the connection was cut."""

    method: str
    path: str
    status: int = 0
    bytes_in: int = 0
    token: bool = False


Route = Callable[..., Answer]
ROUTES: list[tuple[str, re.Pattern[str], Route]] = []


def route(method: str, path: str) -> Callable[[Route], Route]:
    """Register a route; the groups of `path` become its arguments, unquoted."""

    def register(function: Route) -> Route:
        ROUTES.append((method, re.compile(path), function))
        return function

    return register


class Request(BaseHTTPRequestHandler):
    """One connection. Routes read the request from it."""

    protocol_version = "HTTP/1.1"
    hub: Loophub
    fault: Fault | None
    record: Record

    def log_message(self, *_: Any) -> None:
        """Silent; see `Loophub.log`."""

    @property
    def store(self) -> Store:
        return self.hub.store

    @property
    def account(self) -> Account | None:
        return self.store.account(self.headers.get("Authorization", ""))

    def pieces(self) -> Iterator[bytes]:
        """The body of the request, as it comes."""
        left = int(self.headers.get("Content-Length") or 0)
        cut = self.fault.cut_after if self.fault else None
        while left:
            if cut is not None and self.record.bytes_in >= cut:
                raise CutError
            size = min(left, 1 << 16)
            piece = self.rfile.read(size if cut is None else min(size, cut - self.record.bytes_in))
            if not piece:
                raise CutError
            left -= len(piece)
            self.record.bytes_in += len(piece)
            self.read = left == 0
            yield piece
        if cut is not None:
            raise CutError
        self.read = True

    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces())

    def json(self) -> Any:
        """The body as JSON; an empty one is {}."""
        return json.loads(self.body() or b"{}")

    def one(self, name: str, default: str = "") -> str:
        """A parameter of the query."""
        return self.query.get(name, [default])[0]

    def handle_one(self) -> None:
        """Serve a request."""
        url = urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(url.query)
        self.route_path, self.read = url.path, False
        self.record = Record(self.command, url.path, token="Authorization" in self.headers)
        self.fault = self.hub.faults.hit(self.command, url.path)
        number = self.hub.note(self.record)
        try:
            self.hub.on_request(number, "before")
            answer = self._answer()
            self.hub.on_request(number, "after")
            if self.fault and self.fault.lose_answer:
                raise CutError
            self._send(answer)
        except CutError:
            self._cut()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_one  # noqa: N815

    def _answer(self) -> Answer:
        fault = self.fault
        if fault and fault.delay:
            time.sleep(fault.delay)
        if fault and fault.before:
            fault.before(self.hub)
        try:
            if fault and fault.status is not None:
                self.body()
                body = fault.body if fault.body is not None else json.dumps({"error": f"injected {fault.status}"})
                return Answer(body.encode(), fault.status, dict(fault.headers))
            method = "GET" if self.command == "HEAD" else self.command
            for wanted, path, function in ROUTES:
                if wanted == method and (match := path.fullmatch(self.route_path)):
                    answer = function(self, *[urllib.parse.unquote(group or "") for group in match.groups()])
                    break
            else:
                raise RefusalError(404, f"no route {self.command} {self.route_path}")
            if not self.read:
                self.body()
            return answer
        except RefusalError as refusal:
            if not self.read:
                self.body()
            headers = {**refusal.headers, "X-Error-Message": refusal.message}
            if refusal.code:
                headers["X-Error-Code"] = refusal.code
            return Answer({"error": refusal.message}, refusal.status, headers)

    def _send(self, answer: Answer) -> None:
        self.record.status = answer.status
        path, start, body = None, 0, b""
        if isinstance(answer.body, tuple):
            path, start, size = answer.body
        else:
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            size = len(body)
        self.send_response(answer.status)
        for name, value in {"Content-Type": answer.kind, "Content-Length": str(size), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        limit = self.fault.truncate if self.fault and self.fault.truncate is not None else size
        if path is None:
            self.wfile.write(body[:limit])
        else:
            with open(path, "rb") as file:
                file.seek(start)
                left = min(limit, size)
                while left and (piece := file.read(min(left, 1 << 20))):
                    self.wfile.write(piece)
                    left -= len(piece)
        if limit < size:
            self.wfile.flush()
            raise CutError

    def _cut(self) -> None:
        """Reset the connection, as a broken network does."""
        self.record.status = 0
        self.close_connection = True
        try:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        except OSError:
            pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news."""
        if not isinstance(sys.exception(), (OSError, ValueError)):
            super().handle_error(request, client_address)


class Loophub:
    """A running Hub: `with Loophub(folder) as hub`. Large files come from a second port, as from the Hub's storage.

    Args:
        multipart_over: sizes above are sent in parts of `part_bytes`.
        xet: large files may also be sent to a Xet store in the folder.
    """

    def __init__(
        self,
        folder: Path,
        accounts: dict[str, Account],
        *,
        multipart_over: int | None = None,
        part_bytes: int = 1 << 16,
        xet: bool = False,
    ) -> None:
        import loophub.api
        import loophub.buckets
        import loophub.storage  # noqa: F401 (they register the routes)

        self.store = Store(folder, accounts)
        self.xet = XetStore(folder / "cas") if xet else None
        self.multipart_over, self.part_bytes = multipart_over, part_bytes
        self.faults = Faults()
        self.log: list[Record] = []
        self.watcher: Callable[[int, str], None] = lambda _number, _when: None
        self._lock = threading.Lock()
        handler = type("BoundRequest", (Request,), {"hub": self})
        self._servers = [_Server(("127.0.0.1", 0), handler) for _ in range(2)]
        self.endpoint, self.storage = (f"http://127.0.0.1:{server.server_port}" for server in self._servers)

    def note(self, record: Record) -> int:
        """Log a request; its number, from 0."""
        with self._lock:
            self.log.append(record)
            return len(self.log) - 1

    def on_request(self, number: int, when: str) -> None:
        """Tell the watcher: request `number` is about to be handled (`before`) or has been (`after`)."""
        self.watcher(number, when)

    def __enter__(self) -> Loophub:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
