"""A dataset at an address: whole or not there, and never in the place of something else."""

from __future__ import annotations

import json
import secrets
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


def test_what_a_broken_copy_has_sent_is_not_sent_again(tiny, tmp_path, address, monkeypatch):
    out = tmp_path / "out"
    tiny.build(out)
    files = type(fsspec.url_to_fs(address)[0])
    real, sent = files.put_file, []

    def put(self, path, *arguments, **options):
        if len(sent) == 4:
            raise TimeoutError("the line is cut")
        sent.append(path)
        return real(self, path, *arguments, **options)

    monkeypatch.setattr("builders.copy_out._STEP_BYTES", 1)
    with monkeypatch.context() as patch:
        patch.setattr(files, "put_file", put)
        with pytest.raises(GoldsmithError, match="the line is cut"):
            copy_out(out, address)
    assert copy_out(out, address) == len(here(out)) - 4
    assert there(address) == here(out)


def test_a_file_that_another_has_changed_there_is_sent_again(tiny, tmp_path, address):
    out = tmp_path / "out"
    tiny.build(out)
    copy_out(out, address)
    files, root = fsspec.url_to_fs(address)
    cut = next(name for name in there(address) if name.startswith("data/"))
    files.pipe_file(f"{root}/{cut}", b"cut off")
    assert copy_out(out, address) == 2
    assert there(address) == here(out)


def test_trying_an_address_leaves_nothing_there(tiny, tmp_path, address):
    refuse_address(address, "tinyset")
    assert there(address) == {}
    tiny.build(tmp_path / "out")
    copy_out(tmp_path / "out", address)
    refuse_address(address, "tinyset")
    assert there(address) == here(tmp_path / "out")


def test_an_address_that_cannot_be_written_is_refused_before_anything_is_built(address, monkeypatch):
    files = type(fsspec.url_to_fs(address)[0])
    monkeypatch.setattr(files, "pipe_file", lambda *_, **__: (_ for _ in ()).throw(PermissionError("read only")))
    with pytest.raises(GoldsmithError, match=r"cannot be used \(read only\): check .* your rights there"):
        refuse_address(address, "tinyset")


@pytest.mark.parametrize("repository", ["datasets/me/tinyset", "datasets/me/tinyset/x", "me/model", "spaces/me/x"])
def test_a_repository_of_the_hub_takes_releases_alone(repository):
    with pytest.raises(GoldsmithError, match=r"only checked releases belong: .* `release` and `publish`"):
        refuse_address(f"hf://{repository}", "tinyset")


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
