"""A dataset at an address: whole or not there, and never in the place of something else."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from builders.copy_out import copy_out, refuse_address
from schemas import GoldsmithError


@pytest.fixture(params=["memory", "file"])
def address(request, tmp_path) -> str:
    """An empty place of a file system that fsspec knows."""
    if request.param == "file":
        return f"file://{tmp_path}/far away/tinyset"
    return f"memory://{secrets.token_hex(4)}/tinyset"


def there(address: str) -> dict[str, bytes]:
    files, root = fsspec.url_to_fs(address)
    root = root.rstrip("/")
    return {path[len(root) + 1 :]: files.cat_file(path) for path in files.find(root)}


def here(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and ".build" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_the_same_files_are_there(tiny, tmp_path, address):
    tiny.build(tmp_path / "out")
    refuse_address(address, "tinyset")
    assert copy_out(tmp_path / "out", address) == len(here(tmp_path / "out"))
    assert there(address) == here(tmp_path / "out")


def test_a_later_build_sends_what_changed_and_takes_stale_files_away(tiny, tmp_path, address, lines_of):
    out = tmp_path / "out"
    tiny.build(out)
    copy_out(out, address)
    files, root = fsspec.url_to_fs(address)
    files.pipe_file(f"{root}/README.md", b"of the build before")
    files.pipe_file(f"{root}/mine.txt", b"a note")
    tiny.write(a=lines_of("a", 12), c_test=lines_of("c_test", 9))
    tiny.build(out)
    sent = copy_out(out, address)
    assert 0 < sent < len(here(out))
    assert there(address) == {**here(out), "mine.txt": b"a note"}


def test_a_copy_that_breaks_off_is_no_dataset_and_goes_on(tiny, tmp_path, address, lines_of, monkeypatch):
    out = tmp_path / "out"
    tiny.build(out)
    copy_out(out, address)
    tiny.write(a=lines_of("a", 20), b=lines_of("b", 20))
    tiny.build(out)
    files = type(fsspec.url_to_fs(address)[0])
    with monkeypatch.context() as patch:
        patch.setattr(files, "put_file", lambda *_, **__: (_ for _ in ()).throw(TimeoutError("the line is cut")))
        with pytest.raises(GoldsmithError, match=r"the line is cut\): .* the dataset is whole in"):
            copy_out(out, address)
    assert "build.json" not in there(address)
    refuse_address(address, "tinyset")
    with pytest.raises(GoldsmithError, match="holds tinyset: give an empty address to -o for other"):
        refuse_address(address, "other")
    copy_out(out, address)
    assert there(address) == here(out)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("thesis.tex", b"", "holds something else"),
        ("build.json", json.dumps({"dataset": "other"}).encode(), "holds other"),
        ("manifest.json", b"{}", "is a release"),
        ("build.json", b"{", "cannot be used"),
    ],
)
def test_other_things_are_left_alone(tiny, tmp_path, address, file, content, said):
    files, root = fsspec.url_to_fs(address)
    files.makedirs(root, exist_ok=True)
    files.pipe_file(f"{root}/{file}", content)
    with pytest.raises(GoldsmithError, match=said):
        refuse_address(address, "tinyset")
    tiny.build(tmp_path / "out")
    with pytest.raises(GoldsmithError, match=said):
        copy_out(tmp_path / "out", address)
    assert there(address) == {file: content}


def test_an_address_of_no_known_kind():
    with pytest.raises(GoldsmithError, match=r"\[gopher://x/y\] is no address that can be read"):
        refuse_address("gopher://x/y", "tinyset")


@pytest.fixture
def s3(monkeypatch) -> Iterator[str]:
    """A bucket of a server that speaks S3, on this machine."""
    pytest.importorskip("s3fs", reason="needs s3fs: pip install 'goldsmith[s3]'")
    pytest.importorskip("moto.server", reason="needs a server that speaks S3: pip install 'moto[server]'")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "invented",
        "AWS_SECRET_ACCESS_KEY": "invented",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.1)
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    files.mkdir("bucket")
    yield "s3://bucket/tinyset"
    server.kill()
    server.wait()


@pytest.mark.s3
def test_a_real_server_of_s3(s3, tmp_path):
    command = [sys.executable, "-m", "goldsmith", "build", "virogym", "--sample", "-o", s3]
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for sent in (True, False):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("1 files sent" in done.stdout) != sent
        assert there(s3) == here(tmp_path / "out" / "virogym")
