"""Several mirrors: one that fails does not keep another from giving the file, and what failed is said at the end."""

from __future__ import annotations

import hashlib
import http.server
import os
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from builders.commands import build, plan
from builders.mirrors import named_mirrors
from builders.sources import Sources
from goldsmith import main
from schemas import GoldsmithError

CONTENT = b"id,value\na,1\n"


@pytest.fixture
def nowhere() -> str:
    """An address at which nothing listens."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


@pytest.fixture
def pinned(tmp_path, nowhere) -> Callable[..., Path]:
    """A folder with one source whose own address does not answer."""

    def at(more: str = "") -> Path:
        folder = tmp_path / "builder"
        folder.mkdir()
        (folder / "sources.toml").write_text(
            f'[a]\nurl = "{nowhere}/a.csv"\nsha256 = "{hashlib.sha256(CONTENT).hexdigest()}"\nsize = {len(CONTENT)}\n'
            f'licence = "MIT"\nredistribute = true\naccessed = "2026-11-30"\ncitation = "A. Author"\n{more}'
        )
        return folder

    return at


@pytest.fixture
def folder(tmp_path, nowhere) -> Callable[[str, bytes | None], str]:
    """A mirror that is a folder and holds these bytes as the source."""

    def make(name: str, content: bytes | None) -> str:
        path = tmp_path / name / nowhere.removeprefix("http://") / "a.csv"
        path.parent.mkdir(parents=True)
        if content is not None:
            path.write_bytes(content)
        return str(tmp_path / name)

    return make


class _NoWeb(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(1 << 16)
        self.request.sendall(b"SSH-2.0-x\r\n")


@pytest.fixture
def no_web_server() -> Iterator[str]:
    """An address at which something answers that speaks no HTTP."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _NoWeb) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def broken(folder, nowhere, no_web_server, tmp_path) -> dict[str, tuple[str, str]]:
    """Mirrors that fail, each in its way, and what is said of them."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    wrong = folder("wrong", b"id,value\na,2\n")
    unreadable = folder("unreadable", CONTENT)
    return {
        "absent": (str(tmp_path / "absent"), f"[{tmp_path}/absent] is no folder"),
        "refused": (f"{nowhere}/mirror", f"cannot fetch {nowhere}/mirror/"),
        "no web server": (no_web_server, "(BadStatusLine: SSH-2.0-x)"),
        "no address": ("http://ho st", "InvalidURL"),
        "wrong": (wrong, f"{wrong}/"),
        "pointer": (folder("pointer", pointer), "is a Git LFS pointer, not the file"),
        "unreadable": (unreadable, f"{unreadable}/"),
        "unknown scheme": ("nonsense://x", "[nonsense://x]"),
        "empty store": ("memory://no-such-mirror", "[memory://no-such-mirror] holds nothing"),
    }


WAYS = (
    "absent", "refused", "no web server", "no address", "wrong", "pointer", "unreadable", "unknown scheme",
    "empty store",
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_file_cannot_be_read(monkeypatch):
    """As on a damaged disk, also for root."""
    from builders import fetch

    sum_file = fetch.sum_file

    def refusing(path: Path):
        if "unreadable" in path.parts:
            raise OSError(5, "Input/output error", str(path))
        return sum_file(path)

    monkeypatch.setattr(fetch, "sum_file", refusing)


@pytest.mark.parametrize("way", WAYS)
def test_the_next_mirror_has_the_file(pinned, folder, broken, way):
    mirror, _ = broken[way]
    sources = Sources.load(pinned(), mirrors=[mirror, folder("good", CONTENT)])
    assert sources.bytes("a") == CONTENT


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("absent", "unknown scheme", "empty store")])
def test_the_own_address_has_the_file(tmp_path, folder, broken, way):
    web = tmp_path / "web"
    web.mkdir()
    (web / "a.csv").write_bytes(CONTENT)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments, directory=str(web))

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        (tmp_path / "sources.toml").write_text(
            f'[a]\nurl = "http://127.0.0.1:{server.server_port}/a.csv"\nsize = {len(CONTENT)}\n'
            f'sha256 = "{hashlib.sha256(CONTENT).hexdigest()}"\nlicence = "MIT"\nredistribute = true\n'
            'accessed = "2026-11-30"\ncitation = "A. Author"\n'
        )
        assert Sources.load(tmp_path, mirrors=[broken[way][0]]).bytes("a") == CONTENT
        server.shutdown()


def test_all_that_failed_is_said_in_one_line(pinned, broken, nowhere):
    with pytest.raises(GoldsmithError) as caught:
        Sources.load(pinned(), mirrors=[mirror for mirror, _ in broken.values()]).resolve("a")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("[a] [")
    assert [said for _, said in broken.values() if said not in text] == []
    assert f"; cannot fetch {nowhere}/a.csv (" in text
    assert text.endswith("): --mirror takes a folder or a URL laid out as host/path")


def test_without_asking_its_own_address(pinned, broken, folder):
    with pytest.raises(GoldsmithError, match=r"sources.toml says .*: find the pinned file, or build from yours"):
        Sources.load(pinned(), mirrors=[broken["wrong"][0], folder("empty", None)], offline=True).resolve("a")


def test_a_source_that_a_person_fetches_tells_it_last(pinned, broken):
    builder = pinned('manual = "Sign there."\n')
    with pytest.raises(GoldsmithError, match=r"sources.toml says .*; is fetched by hand: Sign there; then pass"):
        Sources.load(builder, mirrors=[broken["wrong"][0]]).resolve("a")


@pytest.mark.parametrize("way", ["absent", "empty store", "unknown scheme"])
def test_the_only_mirror_has_to_be_there(pinned, broken, way):
    mirror, said = broken[way]
    with pytest.raises(GoldsmithError) as caught:
        Sources.load(pinned(), mirrors=[mirror]).resolve("a")
    assert str(caught.value).startswith(said)


def test_a_full_cache_is_no_fault_of_a_mirror(pinned, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GOLDSMITH_CACHE", str(tmp_path / "file"))
    import fsspec

    from builders.mirrors import mirror_path

    builder = pinned()
    place = mirror_path("a", Sources.load(builder).spec("a").url or "")
    with fsspec.open(f"memory://full/{place}", "wb") as file:
        file.write(CONTENT)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(GoldsmithError, match="cannot keep a"):
        Sources.load(builder, mirrors=["memory://full", str(tmp_path)]).resolve("a")


@pytest.mark.parametrize(
    "address", ["https://user:SECRET@127.0.0.1:1/", "s3://key:SECRET@bucket/x", "s3://k:SEC/RET@b", "ftp://k:SE:CRET@b"]
)
def test_a_mirror_of_the_environment_with_a_password_is_refused_whole(monkeypatch, address):
    monkeypatch.setenv("GOLDSMITH_MIRRORS", os.pathsep.join(["/a@b", address, "s3://bucket", "/data/x@1"]))
    with pytest.raises(GoldsmithError, match=r"^\[GOLDSMITH_MIRRORS > \w+://\.\.\.\] has a user") as caught:
        named_mirrors([])
    assert "SEC" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "virogym", "--mirror", "https://user:SECRET@127.0.0.1/"],
        ["build", "virogym", "--mirror", "s3://key:SECRET@bucket/x"],
        ["plan", "virogym", "--mirror", "https://127.0.0.1/?token=SECRET"],
        ["build", "vaani", "--source", "recordings=https://user:SECRET@127.0.0.1/x"],
        ["build", "vaani", "--source", "https://user:SECRET@127.0.0.1/x"],
        ["build", "vaani", "--source", "https://127.0.0.1/x?X-Amz-Signature=SECRET"],
        ["build", "virogym", "--sample", "-o", "s3://key:SECRET@bucket/x"],
        ["build", "virogym", "--sample", "-o", "memory://x?sig=SECRET"],
    ],
)
def test_no_key_is_printed(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert "SECRET" not in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["²/3", "1/²", "٣/4", "1/3/4", "/", "0/2", "3/2", "1/" + "9" * 5000])
def test_a_part_that_is_none(part, tmp_path):
    done = CliRunner().invoke(build, ["virogym", "--sample", "-o", str(tmp_path / "out"), "--shard", part])
    assert isinstance(done.exception, GoldsmithError)
    assert str(done.exception).endswith("write I/N with 1 <= I <= N, such as 3/8")


def test_a_plan_without_shards_says_what_to_give():
    done = CliRunner().invoke(plan, ["vigor"])
    text = str(done.exception)
    assert text.startswith("[vigor] the plan has no shards: give one of its sources with --source NAME=PATH (")
    assert text.endswith("), or --sample")
    assert {"coco"} <= set(text.partition("PATH (")[2].partition(")")[0].split(", "))
