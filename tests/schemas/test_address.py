"""Keys in addresses: none is taken, none is printed, and none goes where it was not meant to go."""

from __future__ import annotations

import http.server
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from schemas import GoldsmithError
from schemas.address import open_within_origin, refuse_key, shown


@pytest.mark.parametrize(
    "address",
    [
        "https://user:SECRET@127.0.0.1/",
        "HTTPS://SECRET@example.org/x",
        "http://user:8080@SECRET.example.org/",
        "s3://key:SECRET@bucket/x",
        "s3://key:SEC/RET@bucket/x",
        "simplecache::s3://key:SECRET@bucket",
        "zip://a.zip::https://user:SECRET@example.org/x",
        "sftp://user:SEC@RET@example.org/x",
    ],
)
@pytest.mark.parametrize("signed", [False, True])
def test_a_user_or_a_password_is_refused_and_not_repeated(address, signed):
    with pytest.raises(GoldsmithError, match=r"^\[--mirror > \w+://\.\.\.\] has a user or a password") as caught:
        refuse_key("--mirror", address, signed=signed)
    assert "SEC" not in str(caught.value)


@pytest.mark.parametrize(
    "query", ["X-Amz-Date=1&X-Amz-Signature=SECRET", "a=b&sig=SECRET", "access_token=SECRET", "x-goog-signature=SECRET"]
)
def test_a_signed_address_is_refused_where_it_would_be_kept(query):
    address = f"https://example.org/x?{query}"
    with pytest.raises(GoldsmithError, match=r"^\[-o > https://example.org/x\?\.\.\.\] is signed") as caught:
        refuse_key("-o", address)
    assert "SECRET" not in str(caught.value)
    assert refuse_key("-o", address, signed=True) == address


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org:8443/x@1?download=1&format=tsv",
        "hf://datasets/acme/words@main/x",
        "hf://gpt2@main/x",
        "abfs://container@account.dfs.core.windows.net/x",
        "s3://bucket/a:b@c",
        "http://[::1]:8080/a@b",
        "zip://a::https://example.org/n@1.zip",
        "/data/a:b@c",
        "../mirror",
    ],
)
def test_other_addresses_are_left_alone(address):
    assert refuse_key("--mirror", address) == address


def test_queries_are_left_out_of_what_is_printed():
    text = "403, message='Forbidden', url='https://example.org/x?X-Amz-Signature=SECRET' (why?)"
    assert shown(text) == "403, message='Forbidden', url='https://example.org/x?...' (why?)"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Authorization"]))  # pyright: ignore[reportAttributeAccessIssue]
        target = self.server.targets.get(self.path)  # pyright: ignore[reportAttributeAccessIssue]
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET  # noqa: N815 (its name is given)

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """Redirects the paths of `targets`; `asked` are the paths and keys that came in."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.targets: dict[str, str] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def two() -> Iterator[tuple[Server, Server]]:
    with Server() as one, Server() as other:
        for server in (one, other):
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield one, other
        one.shutdown()
        other.shutdown()


def request(url: str, data: bytes | None = None) -> urllib.request.Request:
    return urllib.request.Request(url, data, {"Authorization": "Token SECRET"})


@pytest.mark.parametrize("data", [None, b"{}"])
def test_a_key_is_not_sent_to_another_server(two, data):
    one, other = two
    one.targets = {"/a": f"{other.url}/b?sig=SECRET"}
    with pytest.raises(GoldsmithError) as caught:
        open_within_origin(request(f"{one.url}/a", data), 5)
    assert str(caught.value).startswith(
        f"[{one.url}] sends its callers on to {other.url}, where your key is not taken:"
    )
    assert "SECRET" not in str(caught.value)
    assert (one.asked, other.asked) == ([("/a", "Token SECRET")], [])


def test_within_a_server_redirects_are_followed(two):
    one, _ = two
    one.targets = {"/a": "/b", "/b": f"{one.url}/c"}
    with open_within_origin(request(f"{one.url}/a"), 5) as answer:
        assert answer.status == 200
    assert one.asked == [("/a", "Token SECRET"), ("/b", "Token SECRET"), ("/c", "Token SECRET")]


def test_another_scheme_of_the_same_host_is_another_server(two):
    one, _ = two
    one.targets = {"/a": f"https://127.0.0.1:{one.server_port}/a", "/b": "http://127.0.0.1:nonsense/"}
    for path in one.targets:
        with pytest.raises(GoldsmithError, match="sends its callers on to"):
            open_within_origin(request(f"{one.url}{path}"), 5)


def test_an_address_that_cannot_be_one_is_an_error_of_the_line():
    with pytest.raises(urllib.error.URLError, match="InvalidURL"):
        open_within_origin(request("http://ho st/"), 5)
    with pytest.raises(GoldsmithError, match="has a user or a password in it"):
        open_within_origin(request("http://user:SECRET@127.0.0.1/"), 5)
