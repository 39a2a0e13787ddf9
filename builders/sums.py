"""Checksums of source files and folders."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from schemas.files import sha256_file


@dataclass(frozen=True)
class Found:
    """A file with its checksum and its size in bytes."""

    path: Path
    sha256: str
    size: int


def sum_file(path: Path) -> Found:
    """Hash a file."""
    return Found(path, sha256_file(path), path.stat().st_size)


def sum_folder(path: Path) -> Found:
    """Hash a folder: the sha256 over a line `<sha256>  <relative path>` for each file, sorted by path.

    Files and folders whose names start with a dot do not count; the size is that of all files.
    """
    digest, size = hashlib.sha256(), 0
    files = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    for name in sorted(file.as_posix() for file in files if not any(part.startswith(".") for part in file.parts)):
        found = sum_file(path / name)
        digest.update(f"{found.sha256}  {name}\n".encode("utf-8", "surrogateescape"))
        size += found.size
    return Found(path, digest.hexdigest(), size)
