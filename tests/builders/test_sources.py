"""Where sources are found, that wrong bytes are refused with a line that helps, and how they are read."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import os
import pickle
import socket
import threading
from pathlib import Path

import fsspec
import pytest

from builders.mirrors import split_mirrors
from builders.sources import Sources
from schemas import GoldsmithError

CONTENT = b"id,value\na,1\n"


def pin(folder: Path, url: str, content: bytes = CONTENT, more: str = "", redistribute: str = "true") -> Path:
    """A `sources.toml` with one source `a` of this content."""
    folder.mkdir(exist_ok=True)
    (folder / "sources.toml").write_text(
        f'[a]\nurl = "{url}"\nsha256 = "{hashlib.sha256(content).hexdigest()}"\nsize = {len(content)}\n'
        'licence = "MIT"\n'
        f'redistribute = {redistribute}\naccessed = "2026-11-30"\ncitation = "A. Author"\n{more}'
    )
    return folder


@pytest.fixture
def mirror(tmp_path):
    """Put a file into a mirror; returns the mirror."""

    def put(content: bytes = CONTENT, name: str = "example.org/x/a.csv") -> str:
        path = tmp_path / "mirror" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return str(tmp_path / "mirror")

    return put


@pytest.fixture
def pinned(tmp_path):
    return pin(tmp_path / "builder", "https://example.org/x/a.csv")


@pytest.fixture
def web(tmp_path):
    """A web server over the folder it returns, and its address."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def cached_files() -> list[Path]:
    return [path for path in Path(os.environ["GOLDSMITH_CACHE"]).rglob("*") if path.is_file()]


def test_a_folder_mirror_is_used_in_place(pinned, mirror):
    sources = Sources.load(pinned, mirrors=[mirror()])
    assert sources.bytes("a") == CONTENT
    assert sources.path("a").is_relative_to(mirror())
    assert cached_files() == []
    assert sources.used == {"a"}


def test_mirrors_of_the_environment_come_last(pinned, mirror, monkeypatch, tmp_path):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("GOLDSMITH_MIRRORS", os.pathsep.join([str(tmp_path / "empty"), mirror()]))
    assert Sources.load(pinned).bytes("a") == CONTENT


def test_an_fsspec_mirror_is_copied_to_the_cache(pinned):
    with fsspec.open("memory://test-mirror/example.org/x/a.csv", "wb") as file:
        file.write(CONTENT)
    sources = Sources.load(pinned, mirrors=["memory://test-mirror"])
    assert sources.bytes("a") == CONTENT
    assert [path.read_bytes() for path in cached_files()] == [CONTENT]
    assert Sources.load(pinned, offline=True).bytes("a") == CONTENT


def test_a_url_is_fetched_once_then_cached(tmp_path, web):
    folder, address = web
    (folder / "a.csv").write_bytes(CONTENT)
    builder = pin(tmp_path / "builder", f"{address}/a.csv")
    came = []
    assert Sources.load(builder).resolve("a", came.append).sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert sum(came) == len(CONTENT)
    (folder / "a.csv").unlink()
    assert Sources.load(builder).bytes("a") == CONTENT


def test_a_spoilt_cache_is_fetched_again(tmp_path, web):
    folder, address = web
    (folder / "a.csv").write_bytes(CONTENT)
    builder = pin(tmp_path / "builder", f"{address}/a.csv")
    Sources.load(builder).resolve("a")
    (cached,) = cached_files()
    cached.write_bytes(b"spoilt")
    assert Sources.load(builder).bytes("a") == CONTENT


@pytest.mark.parametrize("over", ["mirror", "web"])
def test_a_wrong_checksum_names_both_sums_and_the_place(tmp_path, web, mirror, over):
    folder, address = web
    wrong = b"id,value\na,2\n"
    (folder / "a.csv").write_bytes(wrong)
    builder = pin(tmp_path / "builder", f"{address}/a.csv" if over == "web" else "https://example.org/x/a.csv")
    with pytest.raises(GoldsmithError) as caught:
        Sources.load(builder, mirrors=[mirror(wrong)], offline=over == "mirror").resolve("a")
    text = str(caught.value)
    assert hashlib.sha256(wrong).hexdigest() in text
    assert hashlib.sha256(CONTENT).hexdigest() in text
    assert (address if over == "web" else "example.org/x/a.csv") in text
    assert "\n" not in text
    assert cached_files() == []


def test_a_longer_file_is_given_up_at_the_pinned_size(tmp_path, web):
    folder, address = web
    (folder / "a.csv").write_bytes(CONTENT + b"more")
    with pytest.raises(GoldsmithError, match=f"longer than the pinned {len(CONTENT)} bytes"):
        Sources.load(pin(tmp_path / "builder", f"{address}/a.csv")).resolve("a")
    assert cached_files() == []


@pytest.mark.parametrize("over", ["mirror", "web"])
def test_an_lfs_pointer_is_named_as_one(tmp_path, web, mirror, over):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    folder, address = web
    (folder / "a.csv").write_bytes(pointer)
    url = f"{address}/a.csv" if over == "web" else "https://example.org/x/a.csv"
    builder = pin(tmp_path / "builder", url, b"x" * 1000)
    with pytest.raises(GoldsmithError, match="is a Git LFS pointer, not the file") as caught:
        Sources.load(builder, mirrors=[mirror(pointer)], offline=over == "mirror").resolve("a")
    assert over == "mirror" or "run `git lfs pull` there" in str(caught.value)


def test_no_network_is_one_line_with_the_url_and_what_to_do(tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/a.csv"
    with pytest.raises(GoldsmithError) as caught:
        Sources.load(pin(tmp_path / "builder", url)).resolve("a")
    text = str(caught.value)
    assert url in text
    assert "--mirror" in text
    assert "\n" not in text


def test_offline_never_asks_the_url(pinned):
    with pytest.raises(GoldsmithError, match="in no cache or mirror: give --mirror DIR"):
        Sources.load(pinned, offline=True).resolve("a")


def test_a_file_that_is_gone_is_said_to_be(tmp_path, web):
    with pytest.raises(GoldsmithError, match="is no longer at http"):
        Sources.load(pin(tmp_path / "builder", f"{web[1]}/gone.csv")).resolve("a")


def test_a_mirror_that_is_no_folder_is_named(pinned, tmp_path):
    with pytest.raises(GoldsmithError, match="absent\\] is no folder"):
        Sources.load(pinned, mirrors=[str(tmp_path / "absent")]).resolve("a")


def test_a_source_fetched_by_hand_says_how(tmp_path, mirror):
    builder = pin(tmp_path / "builder", "https://example.org/x/a.csv", more='manual = "Sign at\\n example.org."')
    with pytest.raises(GoldsmithError, match=r"fetched by hand: Sign at example\.org; then pass --source a=PATH"):
        Sources.load(builder).resolve("a")
    assert Sources.load(builder, mirrors=[mirror()]).bytes("a") == CONTENT


def test_an_own_file_takes_the_place_of_a_source(pinned, tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes(b"mine\n")
    sources = Sources.load(pinned, overrides={"a": own})
    assert sources.text("a") == "mine\n"
    assert sources.resolve("a").override
    assert sources.sha256("a") == hashlib.sha256(b"mine\n").hexdigest()


def test_an_own_file_has_to_exist_and_to_stand_for_a_source(pinned, tmp_path):
    with pytest.raises(GoldsmithError, match="is no file: give an existing one"):
        Sources.load(pinned, overrides={"a": tmp_path / "absent"}).resolve("a")
    with pytest.raises(GoldsmithError, match=r"\[b\] is no source of this dataset: its sources are a"):
        Sources.load(pinned, overrides={"b": tmp_path / "absent"})


def test_a_bundled_file_is_checked_where_it_is_pinned(tmp_path):
    (tmp_path / "a.csv").write_bytes(CONTENT)
    (tmp_path / "sources.toml").write_text(f'[a]\npath = "a.csv"\nlicence = "MIT"\nsha256 = "{"0" * 64}"\n')
    with pytest.raises(
        GoldsmithError, match=f"a.csv has sha256 {hashlib.sha256(CONTENT).hexdigest()}, sources.toml says 0"
    ):
        Sources.load(tmp_path).resolve("a")


def test_a_bundled_file_may_not_be_a_link_that_leads_out(tmp_path):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "builder").mkdir()
    (tmp_path / "builder" / "a.csv").symlink_to(tmp_path / "secret")
    (tmp_path / "builder" / "sources.toml").write_text('[a]\npath = "a.csv"\nlicence = "MIT"\n')
    with pytest.raises(GoldsmithError, match="leads out of the folder"):
        Sources.load(tmp_path / "builder").resolve("a")


def test_the_sample_has_its_own_sources(tmp_path):
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "a.csv").write_bytes(CONTENT)
    (tmp_path / "sample" / "sources.toml").write_text('[a]\npath = "a.csv"\nlicence = "MIT"\n')
    sources = Sources.load(tmp_path, sample=True)
    assert sources.folder == tmp_path / "sample"
    assert sources.names == ["a"]
    with pytest.raises(GoldsmithError, match="is absent"):
        Sources.load(tmp_path)


def bundled(tmp_path: Path, content: bytes, name: str = "a.csv") -> Sources:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "sources.toml").write_text(f'[a]\npath = "{name}"\nlicence = "MIT"\n')
    return Sources.load(tmp_path)


@pytest.mark.parametrize(
    ("content", "text", "bom", "encoding"),
    [
        (b"", "", False, "utf-8"),
        (b"a\r\nb\n", "a\r\nb\n", False, "utf-8"),
        (b"\xef\xbb\xbfa,b\n", "a,b\n", True, "utf-8"),
        ("Zürich\n".encode(), "Zürich\n", False, "utf-8"),
        ("Zürich\n".encode("latin-1"), "Zürich\n", False, "latin-1"),
        (b"cut \xc3", "cut \xc3", False, "latin-1"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_text_and_what_is_recorded_of_it(tmp_path, content, text, bom, encoding, compressed):
    stored = gzip.compress(content) if compressed else content
    sources = bundled(tmp_path, stored, "a.csv.gz" if compressed else "a.csv")
    assert sources.text("a") == text
    assert sources.bytes("a") == content
    found = sources.resolve("a")
    assert (found.bom, found.encoding, found.gzip) == (bom, encoding, compressed)
    assert found.sha256 == hashlib.sha256(stored).hexdigest()


def test_a_character_across_two_chunks_is_no_fault(tmp_path):
    content = b"x" * ((1 << 20) - 1) + "ü".encode()
    assert bundled(tmp_path, content).resolve("a").encoding == "utf-8"


@pytest.mark.parametrize("spoil", [lambda data: data[:-4], lambda data: data[:20], lambda data: data[:-8] + b"\0" * 8])
def test_a_broken_gzip_is_named(tmp_path, spoil):
    data = gzip.compress(b"line\n" * 1000)
    with pytest.raises(GoldsmithError, match="is a broken or truncated gzip"):
        bundled(tmp_path, spoil(data), "a.csv.gz").text("a")


def test_binary_files_are_recorded_as_such(tmp_path):
    assert bundled(tmp_path, b"\x89PNG\0\1\2").resolve("a").encoding == "binary"
    assert bundled(tmp_path, gzip.compress(b"tar"), "a.tar.gz").resolve("a").encoding == "binary"


def test_what_may_not_be_passed_on_is_left_out_when_asked(tmp_path, mirror):
    builder = pin(tmp_path / "builder", "https://example.org/x/a.csv", redistribute="false")
    whole = Sources.load(builder, mirrors=[mirror()])
    assert whole.allows("a")
    assert whole.left_out == []
    part = Sources.load(builder, mirrors=[mirror()], redistributable_only=True)
    assert not part.allows("a")
    assert part.left_out == ["a"]
    with pytest.raises(GoldsmithError, match="may not be redistributed"):
        part.bytes("a")


def test_a_shard_reads_only_what_it_declares_also_in_another_process(pinned, mirror):
    sources = Sources.load(pinned, mirrors=[mirror()])
    assert pickle.loads(pickle.dumps(sources.only(["a"]))).bytes("a") == CONTENT
    with pytest.raises(GoldsmithError, match="is read but not declared: add it to the shard's inputs"):
        sources.only([]).bytes("a")


def test_a_full_cache_is_said_to_be_full(tmp_path, web, small_disk, monkeypatch):
    content = b"x" * 500_000
    (web[0] / "a.csv").write_bytes(content)
    disk = small_disk(100_000)
    monkeypatch.setenv("GOLDSMITH_CACHE", str(disk))
    with pytest.raises(
        GoldsmithError, match=r"cannot keep a \(No space left on device\): make room, or set GOLDSMITH_CACHE"
    ):
        Sources.load(pin(tmp_path / "builder", f"{web[1]}/a.csv", content)).resolve("a")
    assert [path for path in disk.rglob("*") if path.is_file()] == []


def test_mirrors_are_split_at_the_separator_but_not_within_urls():
    text = "/a:s3://b/c:http://host:8000/d:https://host:81:e/f::memory://g"
    assert split_mirrors(text) == ["/a", "s3://b/c", "http://host:8000/d", "https://host:81", "e/f", "memory://g"]


def test_a_folder_where_a_file_is_pinned_is_refused_unread(pinned, tmp_path):
    folder = tmp_path / "much"
    folder.mkdir()
    (folder / "unreadable").symlink_to("unreadable")  # Reading it would fail in another way.
    for read in ("sha256", "resolve"):
        with pytest.raises(GoldsmithError, match=r"\[a\] .*much is a folder, a file is needed: give a file"):
            getattr(Sources.load(pinned, overrides={"a": folder}), read)("a")


def test_a_file_that_vanishes_is_one_line(pinned, tmp_path, monkeypatch):
    own = tmp_path / "own.csv"
    own.write_bytes(CONTENT)
    exists = Path.exists

    def then_gone(path: Path, **options) -> bool:
        there = exists(path, **options)
        path.unlink(missing_ok=True)
        return there

    monkeypatch.setattr(Path, "exists", then_gone)
    with pytest.raises(GoldsmithError, match=r"\[a\] .*own\.csv cannot be read \(No such file or directory\): leave"):
        Sources.load(pinned, overrides={"a": own}).sha256("a")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("id,v".encode("utf-16"), "byte 0xff at 0"),
        (b"\xfe\xff" + "अआ".encode("utf-16-be"), "byte 0xfe at 0"),
        (b"\xff\xfe\x41\x30" * 10, "byte 0xff at 0"),
        (b"ab\0c", "byte 0x00 at 2"),
        (b"\x89PNG\0", "byte 0x89 at 0"),
    ],
)
def test_what_is_no_text_is_refused_as_text(tmp_path, content, fault):
    sources = bundled(tmp_path, content)
    assert sources.bytes("a") == content
    with pytest.raises(GoldsmithError, match=rf"\[a\] is not UTF-8 text \({fault}.*\): give the text itself"):
        sources.text("a")
