"""A user's own sources at addresses: what is built from them, and what is copied again."""

from __future__ import annotations

import hashlib
import http.server
import os
import secrets
import sys
import threading
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFile
from tinyset.builder import BUILDER

from builders.bring import bring
from builders.build import build
from schemas import GoldsmithError


@pytest.fixture(params=["memory", "file"])
def far(request, tmp_path):
    """An empty place of a file system that fsspec knows: its address, and a function that lays files there."""
    address = f"file://{tmp_path}/far away" if request.param == "file" else f"memory://{secrets.token_hex(4)}"
    files, root = fsspec.url_to_fs(address, auto_mkdir=True)

    def put(**texts: bytes) -> str:
        for name, content in texts.items():
            files.pipe_file(f"{root}/{name.replace('__', '/')}.csv", content)
        return address

    return put


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """The files that were read over the line."""
    seen: list[str] = []

    def chunks(files, path, _address):
        seen.append(path.rpartition("/")[2])
        yield files.cat_file(path)

    monkeypatch.setattr("builders.bring._chunks", chunks)
    return seen


def cache() -> Path:
    return Path(os.environ["GOLDSMITH_CACHE"])


def test_a_source_at_an_address_is_built_like_one_of_this_disk(tiny, tmp_path, far, lines_of, digests):
    content = lines_of("b", 30).encode()
    (tmp_path / "mine.csv").write_bytes(content)
    made = []
    for number, place in enumerate((tmp_path / "mine.csv", f"{far(mine=content)}/mine.csv")):
        build(BUILDER, tiny.sources(overrides={"b": place}), tmp_path / str(number), progress=False)
        made.append(digests(tmp_path / str(number)))
    assert made[0] == made[1]


def test_a_folder_has_the_sum_of_its_files(tiny, far):
    address = far(x=b"1", y__z=b"22")
    lines = [f"{hashlib.sha256(text).hexdigest()}  {name}\n" for text, name in ((b"1", "x.csv"), (b"22", "y/z.csv"))]
    (tiny.folder / "sources.toml").write_text(
        '[a]\nlicence = "MIT"\nredistribute = true\naccessed = "2026-11-30"\ncitation = "A"\nmanual = "a folder"\n'
    )
    resolved = tiny.sources(overrides={"a": address}).resolve("a")
    assert (resolved.sha256, resolved.size) == (hashlib.sha256("".join(lines).encode()).hexdigest(), 3)


def test_only_what_changed_comes_again_and_what_is_gone_goes(far, opened):
    address = far(x=b"1", y=b"2", z=b"3")
    folder = bring("a", address, cache())
    assert sorted(opened) == ["x.csv", "y.csv", "z.csv"]
    assert bring("a", address, cache()) == folder
    assert len(opened) == 3
    files, root = fsspec.url_to_fs(address)
    files.rm_file(f"{root}/z.csv")
    far(y=b"4", w=b"5")
    bring("a", address, cache())
    assert sorted(opened[3:]) == ["w.csv", "y.csv"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"w.csv": b"5", "x.csv": b"1", "y.csv": b"4"}


def test_a_copy_that_breaks_off_goes_on(far, monkeypatch, opened):
    address = far(x=b"1", y=b"2", z=b"3")
    files = type(fsspec.url_to_fs(address)[0])
    real = files.cat_file

    def cut(self, path, *arguments, **options):
        if path.endswith("y.csv"):
            raise GoldsmithError("the line is cut")
        return real(self, path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(files, "cat_file", cut)
        with pytest.raises(GoldsmithError, match="the line is cut"):
            bring("a", address, cache())
    folder = bring("a", address, cache())
    assert opened == ["x.csv", "y.csv", "y.csv", "z.csv"]
    assert sorted(path.name for path in folder.iterdir()) == ["x.csv", "y.csv", "z.csv"]


def test_nothing_at_an_address(tiny, far):
    address = far(x=b"1")
    with pytest.raises(GoldsmithError, match=rf"\[a\] {address}/none holds nothing: give the address of a file"):
        tiny.sources(overrides={"a": f"{address}/none"}).resolve("a")


def test_a_name_that_would_lead_out_of_the_cache_is_refused():
    address = f"memory://{secrets.token_hex(4)}"
    _, root = fsspec.url_to_fs(address)
    files = fsspec.filesystem("memory")
    files.store[f"{root}/../../x.csv"] = MemoryFile(files, f"{root}/../../x.csv", b"1")
    with pytest.raises(GoldsmithError, match="is no name for a file here"):
        bring("a", address, cache())


def test_an_address_that_nothing_here_can_read(tiny, monkeypatch):
    with pytest.raises(GoldsmithError, match=r"\[gopher://x/y\] is no address that can be read"):
        tiny.sources(overrides={"a": "gopher://x/y"}).resolve("a")
    monkeypatch.setitem(sys.modules, "gcsfs", None)  # As if it were not installed.
    with pytest.raises(GoldsmithError, match=r"\[gs://x/y\] .*: pip install 'gcsfs'"):
        tiny.sources(overrides={"a": "gs://x/y"}).resolve("a")


def test_a_signed_address_is_read_and_written_down_nowhere(tiny, tmp_path, lines_of):
    pytest.importorskip("aiohttp", reason="fsspec reads the web with it")
    content = lines_of("b", 30).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = self.path == "/x/b.csv?X-Amz-Signature=SECRET"
            self.send_response(200 if allowed else 403)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content if self.command == "GET" else b"")

        do_HEAD = do_GET  # noqa: N815 (its name is given)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/x/b.csv?X-Amz-Signature="
        build(BUILDER, tiny.sources(overrides={"b": f"{address}SECRET"}), tmp_path / "out", progress=False)
        with pytest.raises(GoldsmithError) as caught:
            build(BUILDER, tiny.sources(overrides={"b": f"{address}ANOTHER"}), tmp_path / "other", progress=False)
        server.shutdown()
    assert "ANOTHER" not in str(caught.value)
    written = [path for root in (tmp_path, cache()) for path in root.rglob("*") if path.is_file()]
    assert {"b.csv", "build.json", "readings.parquet"} <= {path.name for path in written}
    assert not [path for path in written if "SECRET" in str(path) or b"SECRET" in path.read_bytes()]
