"""A finished dataset folder copied to an address that fsspec knows (`s3://`, `gs://`, `hf://`, `file://`).

`build.json` goes first and comes last: until all files are there, the address holds no dataset. A copy that broke off
is done again from the folder, which stays. Not its business: releases, which `publish` brings to the Hub whole.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec

from builders.assemble import MADE, STALE
from schemas import GoldsmithError

_SIGN = ".goldsmith-copy"
"""Lies at the address while a copy is under way, and holds the name of the dataset."""


def is_address(out: str) -> bool:
    """Whether a place to build is an address and no path."""
    return "://" in out


def copy_out(folder: Path, address: str) -> int:
    """Make `address` hold the dataset of `folder`, in place of an earlier build of the same dataset.

    Returns:
        The number of files that were sent; those that were there from the earlier build are left.

    Raises:
        GoldsmithError: the address holds other things, or cannot be written.
    """
    place = _Place(address)
    build = json.loads((folder / "build.json").read_text(encoding="utf-8"))
    try:
        return place.take(folder, build)
    except GoldsmithError:
        raise
    except Exception as error:  # Each of the many file systems has errors of its own.
        raise _failed(address, error, f"; the dataset is whole in {folder}") from error


def refuse_address(address: str, name: str) -> None:
    """Refuse an address that cannot be used, before anything is built.

    Raises:
        GoldsmithError: it holds anything but an earlier build of `name`, or cannot be read.
    """
    place = _Place(address)
    try:
        place.refuse_foreign(name)
    except GoldsmithError:
        raise
    except Exception as error:
        raise _failed(address, error) from error


def _failed(address: str, error: Exception, more: str = "") -> GoldsmithError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return GoldsmithError(f"[{address}] cannot be used ({reason}): check the address and your rights there{more}")


class _Place:
    def __init__(self, address: str) -> None:
        self._address = address
        try:
            self._files, root = fsspec.url_to_fs(address, use_listings_cache=False)
        except ImportError as error:
            raise GoldsmithError(f"[{address}] {' '.join(str(error).split())}: install that package") from None
        except ValueError as error:
            raise GoldsmithError(
                f"[{address}] is no address of a folder ({error}): write it as s3://BUCKET/x"
            ) from None
        self._root = root.rstrip("/")

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _json(self, name: str) -> Any:
        return json.loads(self._files.cat_file(self._at(name)))

    def refuse_foreign(self, name: str) -> dict[str, Any]:
        """The earlier build's `build.json`; empty where there is none."""
        if self._files.exists(self._at("manifest.json")):
            raise GoldsmithError(f"[{self._address}] is a release, which never changes: give another address to -o")
        earlier: dict[str, Any] = {}
        if self._files.exists(self._at("build.json")):
            earlier = self._json("build.json")
            there = earlier.get("dataset")
        elif self._files.exists(self._at(_SIGN)):
            there = self._json(_SIGN)
        else:
            there = "something else" if self._names() else name
        if there != name:
            raise GoldsmithError(f"[{self._address}] holds {there}: give an empty address to -o for {name}")
        return earlier

    def _names(self) -> set[str]:
        """All files there, as paths from the root."""
        if not self._files.exists(self._root):
            return set()
        return {str(path)[len(self._root) + 1 :] for path in self._files.find(self._root)}

    def take(self, folder: Path, build: dict[str, Any]) -> int:
        earlier = self.refuse_foreign(build["dataset"])
        there = {file["path"]: file["sha256"] for file in earlier.get("files", ())}
        self._files.makedirs(self._root, exist_ok=True)
        self._files.pipe_file(self._at(_SIGN), json.dumps(build["dataset"]).encode())
        if earlier:
            self._files.rm_file(self._at("build.json"))
        names = self._names()
        wanted = {file["path"]: file for file in build["files"]}
        for name in sorted(names - set(wanted)):
            if name.partition("/")[0] in (*MADE, *STALE):  # Of the earlier build: also its reports and documents.
                self._files.rm_file(self._at(name))
        sent = 0
        for name, file in wanted.items():
            same = name in names and there.get(name) == file["sha256"] and self._size(name) == file["bytes"]
            if not same:
                self._send(folder / name, name, file["bytes"])
                sent += 1
        self._send(folder / "build.json", "build.json", (folder / "build.json").stat().st_size)
        self._files.rm_file(self._at(_SIGN))
        return sent + 1

    def _send(self, path: Path, name: str, size: int) -> None:
        self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
        self._files.put_file(str(path), self._at(name))
        if self._size(name) != size:
            raise GoldsmithError(f"[{self._address} > {name}] did not arrive whole: run the build again")

    def _size(self, name: str) -> int:
        return int(self._files.info(self._at(name))["size"])
