"""A finished dataset folder copied to an address that fsspec knows (`s3://`, `gs://`, `file://`, `hf://buckets/`).

`build.json` goes first and comes last: until all files are there, the address holds no dataset. What a copy that broke
off has sent is written down at the address, and the next copy goes on from there. Not its business: releases, which
`publish` brings to the Hub whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from builders.address import open_address, unusable
from builders.assemble import MADE, STALE
from schemas import GoldsmithError
from schemas.address import refuse_key

_SIGN = ".goldsmith-copy"
"""Lies at the address while a copy is under way: the dataset's name, and the files that are there with their sums."""

_WITHOUT_FOLDERS = {"s3", "gs", "abfs", "hf"}
"""Stores where a folder is but the start of a name. To make one would make a bucket under a name that was mistyped."""

_STEP_BYTES = 1 << 30
"""What is sent before it is written down: a copy that breaks off sends no more than this again."""


def copy_out(folder: Path, address: str) -> int:
    """Make `address` hold the dataset of `folder`, in place of an earlier build of the same dataset.

    Returns:
        The number of files that were sent; those that were there already are left.

    Raises:
        GoldsmithError: the address holds other things, or cannot be written.
    """
    place = _Place(address)
    build = json.loads((folder / "build.json").read_text(encoding="utf-8"))
    try:
        return place.take(folder, build)
    except GoldsmithError:
        raise
    except Exception as error:
        raise unusable(address, error, f"; the dataset is whole in {folder}") from error


def refuse_address(address: str, name: str) -> None:
    """Refuse an address that cannot be used, before anything is built: a file is written there and taken away.

    Raises:
        GoldsmithError: it holds anything but an earlier build of `name`, or cannot be read or written.
    """
    place = _Place(address)
    try:
        place.try_to_write(name)
    except GoldsmithError:
        raise
    except Exception as error:
        raise unusable(address, error) from error


class _Place:
    def __init__(self, address: str) -> None:
        self._address = refuse_key("-o", address)
        self._files, self._root = open_address(address)
        protocols = {self._files.protocol} if isinstance(self._files.protocol, str) else set(self._files.protocol)
        if "hf" in protocols and not self._root.startswith("buckets/"):
            raise GoldsmithError(
                f"[{address}] is a repository of the Hub, where only checked releases belong: build into a folder, "
                "then `goldsmith check`, `card`, `release` and `publish`; a build may go to hf://buckets/OWNER/BUCKET/x"
            )
        self._has_folders = not protocols & _WITHOUT_FOLDERS

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _json(self, name: str) -> Any:
        return json.loads(self._files.cat_file(self._at(name)))

    def _sizes(self) -> dict[str, int]:
        """All files there, as paths from the root, with their sizes in bytes."""
        self._files.invalidate_cache()  # Some file systems keep listings whatever they are told.
        if not self._files.exists(self._root):
            return {}
        found = cast(dict[str, Any], self._files.find(self._root, detail=True))
        return {str(path)[len(self._root) + 1 :]: int(facts["size"]) for path, facts in found.items()}

    def _held(self, name: str, there: Mapping[str, int]) -> dict[str, str]:
        """The sums of files of the dataset `name`, as they are written down there; refuses whatever else is there."""
        if "manifest.json" in there:
            raise GoldsmithError(f"[{self._address}] is a release, which never changes: give another address to -o")
        held: dict[str, str] = {}
        if "build.json" in there:
            earlier = self._json("build.json")
            holder = earlier.get("dataset")
            held = {file["path"]: file["sha256"] for file in earlier.get("files", ())}
        elif _SIGN in there:
            sign = self._json(_SIGN)
            holder, held = sign["dataset"], sign["files"]
        else:
            holder = "something else" if there else name
        if holder != name:
            raise GoldsmithError(f"[{self._address}] holds {holder}: give an empty address to -o for {name}")
        return held

    def try_to_write(self, name: str) -> None:
        there = self._sizes()
        self._held(name, there)
        if _SIGN not in there:
            self._sign(name, {})
            self._files.rm_file(self._at(_SIGN))

    def take(self, folder: Path, build: dict[str, Any]) -> int:
        name, wanted = build["dataset"], {file["path"]: file for file in build["files"]}
        there = self._sizes()
        sums = self._held(name, there)
        held = {
            path: file["sha256"]
            for path, file in wanted.items()
            if sums.get(path) == file["sha256"] and there.get(path) == file["bytes"]
        }
        self._sign(name, held)
        for path in sorted(there):
            # What the earlier build has left, also its reports and documents; a file that is not ours stays.
            if path == "build.json" or (path not in wanted and path.partition("/")[0] in (*MADE, *STALE)):
                self._files.rm_file(self._at(path))
        todo = [path for path in wanted if path not in held]
        unwritten = 0
        for path in todo:
            self._send(folder / path, path, wanted[path]["bytes"])
            held[path] = wanted[path]["sha256"]
            unwritten += wanted[path]["bytes"]
            if unwritten >= _STEP_BYTES:
                self._sign(name, held)
                unwritten = 0
        self._send(folder / "build.json", "build.json", (folder / "build.json").stat().st_size)
        self._files.rm_file(self._at(_SIGN))
        return len(todo) + 1

    def _sign(self, name: str, held: Mapping[str, str]) -> None:
        self._make_room(_SIGN)
        self._files.pipe_file(self._at(_SIGN), json.dumps({"dataset": name, "files": held}).encode())

    def _send(self, path: Path, name: str, size: int) -> None:
        self._make_room(name)
        self._files.put_file(str(path), self._at(name))
        if self._files.info(self._at(name))["size"] != size:
            raise GoldsmithError(f"[{self._address} > {name}] did not arrive whole: run the build again")

    def _make_room(self, name: str) -> None:
        if self._has_folders:
            self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
