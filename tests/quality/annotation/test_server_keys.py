"""The token of a Label Studio account: it goes to that server alone, and is printed nowhere."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from quality.annotation.label_studio import Server
from schemas import GoldsmithError

LEGACY, PERSONAL = "SECRET", "SECRET.to.exchange"


class _Handler(http.server.BaseHTTPRequestHandler):
    asked: list[tuple[int, str, str | None]]
    targets: dict[str, str]

    def do_GET(self) -> None:
        self.asked.append((self.server.server_port, self.path, self.headers["Authorization"]))  # pyright: ignore[reportAttributeAccessIssue]
        target = self.targets.get(self.path)
        body = b"[]"
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 (its name is given)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def handler() -> type[_Handler]:
    return type("Handler", (_Handler,), {"asked": [], "targets": {}})


@pytest.fixture
def urls(handler) -> Iterator[tuple[str, str]]:
    """Two servers."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as one:
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
            for server in (one, other):
                threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            yield f"http://127.0.0.1:{one.server_port}", f"http://127.0.0.1:{other.server_port}"
            other.shutdown()
        one.shutdown()


@pytest.mark.parametrize(
    ("token", "method", "path"),
    [
        (LEGACY, "GET", "/api/users/"),
        (LEGACY, "POST", "/api/projects/"),
        (PERSONAL, "GET", "/api/token/refresh/"),
    ],
)
def test_a_token_does_not_follow_a_redirect_to_another_server(handler, urls, token, method, path):
    here, there = urls
    handler.targets[path] = f"{there}{path}?token=SECRET"
    with pytest.raises(GoldsmithError) as caught:
        Server(here, token).call(method, path, {} if method == "POST" else None)
    assert str(caught.value).startswith(f"[{here}] sends its callers on to {there}, where your key is not taken: ")
    assert "SECRET" not in str(caught.value)
    assert [(f"http://127.0.0.1:{port}", where) for port, where, _ in handler.asked] == [(here, path)]


def test_a_redirect_within_the_server_is_followed(handler, urls):
    handler.targets["/api/users"] = "/api/users/"
    assert Server(urls[0], LEGACY).call("GET", "/api/users") == []
    assert [(path, key) for _, path, key in handler.asked] == [
        ("/api/users", "Token SECRET"), ("/api/users/", "Token SECRET")
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["http://user:SECRET@127.0.0.1", "http://SECRET@127.0.0.1:8080/"])
def test_an_address_with_a_password_is_refused(url):
    with pytest.raises(GoldsmithError, match=r"^\[--url > http://\.\.\.\] has a user or a password in it") as caught:
        Server(url, LEGACY)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://ho st", "http://127.0.0.1:port"])
@pytest.mark.parametrize("token", [LEGACY, PERSONAL])
def test_an_address_that_cannot_be_one_is_one_line(url, token, monkeypatch):
    monkeypatch.setattr("quality.annotation.label_studio._PAUSE", 0)
    with pytest.raises(GoldsmithError, match=r"cannot be reached \(InvalidURL"):
        Server(url, token).call("GET", "/api/users/")
