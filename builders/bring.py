"""A user's own source at an address (`--source NAME=s3://...`): a file or a folder, copied into the cache to be read.

Nothing pins it, so the far side is asked each time, and what has changed there is copied again. Not its business:
sources that are pinned (`builders.fetch`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from builders.address import open_address, unusable
from schemas import GoldsmithError
from schemas.address import shown

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_CHUNK = 1 << 20
_BROUGHT = "brought.jsonl"


def bring(source: str, address: str, cache: Path) -> Path:
    """Copy what is at `address` into the cache, but for files that are there from the last time.

    Args:
        source: the name of the source, for errors.

    Returns:
        The copy: a file, or a folder that holds what the far one holds.

    Raises:
        GoldsmithError: there is nothing at the address, or it cannot be read.
    """
    files, root = open_address(address)
    home = cache / "addresses" / hashlib.sha256(address.encode()).hexdigest()[:32]
    found, is_file = _listed(files, root, address)
    if not found:
        raise GoldsmithError(f"[{source}] {shown(address)} holds nothing: give the address of a file or a folder")
    copy = home / ("file" if is_file else "folder") / _inside(source, "", _plain(root).rpartition("/")[2])
    if not is_file:
        _forget(copy, {_inside(source, root, path) for path in found})
    had = _had(home / _BROUGHT)
    for path, facts in sorted(found.items()):
        name = "" if is_file else _inside(source, root, path)
        mark = hashlib.sha256(repr(sorted(facts.items(), key=str)).encode()).hexdigest()
        target = copy / name if name else copy
        if had.get(name) == mark and target.is_file() and target.stat().st_size == facts["size"]:
            continue
        _copy(_chunks(files, path, address), target)
        if target.stat().st_size != facts["size"]:
            raise GoldsmithError(
                f"[{source}] {shown(path)} changed while it was copied: leave it alone and run it again"
            )
        with open(home / _BROUGHT, "a", encoding="utf-8") as file:
            print(json.dumps({"name": name, "mark": mark}), file=file)
    return copy


def _listed(files: AbstractFileSystem, root: str, address: str) -> tuple[dict[str, dict[str, Any]], bool]:
    """The files there, each with what the file system tells of it, and whether the address is that of a file."""
    try:
        files.invalidate_cache()  # Some file systems keep listings whatever they are told.
        if files.isfile(root):
            return {root: files.info(root)}, True
        return cast(dict[str, dict[str, Any]], files.find(root, detail=True)), False
    except FileNotFoundError:
        return {}, False
    except Exception as error:
        raise unusable(address, error) from error


def _plain(root: str) -> str:
    """The path of an address: of the web, without the query, which may be a key and is no part of a file's name."""
    return root.partition("?")[0] if root.startswith(("http://", "https://")) else root


def _inside(source: str, root: str, path: str) -> str:
    """The place of a far file within the folder."""
    name = path.removeprefix(root).removeprefix("/")
    if "\\" in name or "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise GoldsmithError(f"[{source}] {path!r} is no name for a file here: give a folder without it")
    return name


def _had(record: Path) -> Mapping[str, str]:
    """What was brought before: the mark of each file by name. A line that was cut off is left out."""
    had: dict[str, str] = {}
    if record.is_file():
        for line in record.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            had[entry["name"]] = entry["mark"]
    return had


def _forget(folder: Path, names: set[str]) -> None:
    """Remove what the far side no longer has."""
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in names:
            path.unlink()


def _chunks(files: AbstractFileSystem, path: str, address: str) -> Iterator[bytes]:
    """A far file's bytes. Its failures are told as those of the address; those of the disk stay what they are."""
    try:
        with cast(Any, files.open(path, "rb")) as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except Exception as error:
        raise unusable(address, error) from error


def _copy(chunks: Iterator[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.part")
    with open(temporary, "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    temporary.replace(target)
