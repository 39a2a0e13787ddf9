"""Folders that are there whole or not at all, and copies that are hashed on the way.

A folder is made beside its place under a hidden name, synced, and renamed. Whoever makes it holds a lock on it, so what
a killed process left is told from what another one is making.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from releases.manifest import File
from schemas import GoldsmithError
from schemas.files import sync

CHUNK = 4 << 20


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A new empty folder that becomes `out` when the block ends well, and vanishes when it does not.

    Raises:
        GoldsmithError: `out` is there already, its disk is full or not writable, or another process is making it.
    """
    if out.exists() or out.is_symlink():
        raise GoldsmithError(f"[{out}] is there already: remove it or choose another folder")
    partial = out.parent / f".{out.name}.{uuid.uuid4().hex}.partial"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _sweep(out)
        partial.mkdir()
        with _held(partial):
            yield partial
            for path in sorted(partial.rglob("*")):
                if path.is_dir():
                    sync(path)
            sync(partial)
            partial.rename(out)  # fails, too, if another process has made `out` meanwhile
            sync(out.parent)
    except OSError as error:
        raise GoldsmithError(_cause(out, error)) from error
    finally:
        if partial.exists():
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def work_folder(out: Path) -> Iterator[Path]:
    """A new empty folder for work on the disk of `out`, gone afterwards.

    What killed processes left is removed first; several may work beside one `out` at once.

    Raises:
        GoldsmithError: it cannot be made.
    """
    room = out.parent / f".{out.name}.{uuid.uuid4().hex}.work"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for left in _left(out, "work"):
            with suppress(OSError), _held(left):  # locked: another process is at work there
                shutil.rmtree(left, ignore_errors=True)
        room.mkdir()
    except OSError as error:
        raise GoldsmithError(_cause(out, error)) from error
    try:
        with _held(room):
            yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def refuse_inside(folder: Path, out: Path) -> None:
    """Refuse an `out` that is the dataset folder it is made from, or lies in it.

    Raises:
        GoldsmithError: it does.
    """
    if out.resolve().is_relative_to(folder.resolve()):
        raise GoldsmithError(f"[{out}] lies in the dataset folder {folder}: choose a folder outside of it")


def _cause(out: Path, error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return f"[{out}] the disk is full: free some space and run again; nothing was written"
        case errno.ENOTEMPTY:
            return f"[{out}] another process has just made it: remove it or choose another folder"
        case _:
            return f"[{out}] cannot be made ({error}): choose another folder; nothing was written"


def _sweep(out: Path) -> None:
    """Remove what killed processes left on the way to `out`."""
    for left in _left(out, "partial"):
        try:
            with _held(left):
                shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            raise GoldsmithError(f"[{out}] is being made by another process: wait for it") from None


def _left(out: Path, kind: str) -> list[Path]:
    return sorted(out.parent.glob(f".{glob.escape(out.name)}.*.{kind}"))


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder; the system gives it up when the process ends, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def copy_file(folder: Path, path: str, into: Path) -> File:
    """Copy `folder/path` to `into/path`, synced. A copy, no link: a later build must not reach into a release.

    Returns:
        The file with the sha256 of the bytes that were written.
    """
    target = into / path
    target.parent.mkdir(parents=True, exist_ok=True)
    sha256, size = hashlib.sha256(), 0
    with open(folder / path, "rb") as source, open(target, "wb") as copy:
        while chunk := source.read(CHUNK):
            sha256.update(chunk)
            size += copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return File(path, size, sha256.hexdigest())


def write_file(folder: Path, path: str, text: str) -> File:
    """Write a text file, synced."""
    data = text.encode()
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return File(path, len(data), hashlib.sha256(data).hexdigest())
