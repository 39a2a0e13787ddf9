"""npm's packages in place of CDNs: what a page names is data to npm, and no half package is ever kept."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from pathlib import Path

import pytest

from builders.webspatial.capture.serve import Packages

FILES = {"package.json": '{"main": "./main.js"}', "main.js": "main", "lib/part.js": "part"}
NPM = """#!{python}
import json, pathlib, sys
with open({asked!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
archive = pathlib.Path({archive!r})
if not archive.is_file():
    sys.exit(1)
pathlib.Path("made.tgz").write_bytes(archive.read_bytes())
print("made.tgz")
"""


class Npm:
    """A program named npm that notes how it was called, and packs what `gives` was told."""

    def __init__(self, folder: Path) -> None:
        self._asked, self._archive = folder / "asked.jsonl", folder / "archive.tgz"
        text = NPM.format(python=sys.executable, asked=str(self._asked), archive=str(self._archive))
        (folder / "npm").write_text(text, encoding="utf-8")
        (folder / "npm").chmod(0o755)

    def gives(self, files: dict[str, str], cut: int | None = None) -> None:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
        self._archive.write_bytes(made.getvalue()[:cut])

    @property
    def asked(self) -> list[list[str]]:
        return [json.loads(line) for line in self._asked.read_text().splitlines()] if self._asked.exists() else []


@pytest.fixture
def npm(tmp_path, monkeypatch) -> Npm:
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    made = Npm(programs)
    made.gives(FILES)
    return made


@pytest.fixture
def packages(tmp_path) -> Packages:
    return Packages(tmp_path / "packages")


@pytest.mark.parametrize(
    ("url", "key", "content"),
    [
        ("https://unpkg.com/three", "three@latest", "main"),
        ("https://unpkg.com/three@0.187.0/lib/part.js", "three@0.187.0", "part"),
        ("https://cdn.jsdelivr.net/npm/@a/b.c@^1.0.0-rc.1/lib/part?x=1", "@a/b.c@^1.0.0-rc.1", "part"),
        ("https://fastly.jsdelivr.net/npm/three@next/main.js", "three@next", "main"),
    ],
)
def test_a_cdn_address_is_answered_from_the_package(npm, packages, url, key, content):
    for _ in range(2):  # The second time it is there.
        file = packages.file_of(url)
        assert file is not None
        assert file.read_text() == content
    assert npm.asked == [["pack", "--silent", "--ignore-scripts", "--", key]]


@pytest.mark.parametrize(
    "named",
    [
        "--registry=x", "-g", "x@--registry=x", "x@file:..", "x@..", "x@.", ".x", "..", "@-a/b", "@a/-b", "@./b", "x@",
        "x@git+ssh:y", "x@github:a", "x@1 2", "x@1%20--y", "x y", "X", "xé", "x@é", "~", "x:y",
    ],
)  # fmt: skip
@pytest.mark.parametrize("cdn", ["https://unpkg.com/", "https://cdn.jsdelivr.net/npm/"])
def test_what_is_no_name_and_version_is_never_shown_to_npm(npm, packages, cdn, named):
    assert packages.file_of(cdn + named) is None
    assert packages.file_of(cdn + named + "/package.json") is None
    assert npm.asked == []
    assert not packages.folder.exists()


@pytest.mark.parametrize(
    ("files", "cut"),
    [(FILES, 100), ({**FILES, "../../../out.js": "out"}, None), ({}, 0)],
    ids=["cut off", "leads out", "empty"],
)
def test_a_package_that_cannot_be_unpacked_is_absent_and_leaves_nothing(npm, packages, tmp_path, files, cut):
    npm.gives(files, cut)
    assert packages.file_of("https://unpkg.com/three") is None
    assert packages.file_of("https://unpkg.com/three") is None
    assert len(npm.asked) == 1
    assert list(packages.folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "packages"]


def test_what_a_killed_run_left_is_no_package(npm, packages):
    """Neither a folder without a package file, as releases before this one left it, nor a part beside it."""
    for name in ("three@latest/old.js", ".part-1/unpacked/package.json"):
        (packages.folder / name).parent.mkdir(parents=True)
        (packages.folder / name).write_text("{}")
    assert packages.file_of("https://unpkg.com/three/old.js") is None
    file = packages.file_of("https://unpkg.com/three/main.js")
    assert file == packages.folder / "three@latest" / "main.js"
