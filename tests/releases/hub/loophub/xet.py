"""The Xet store that the real hf-xet keeps in a folder when it is told `local://`: what is in it, and how to read it.

A file is found by its sha256 or Xet hash, which hf-xet writes into the shards it uploads. Layout of a shard (hf-xet
1.8): a header of 48 bytes, then per file a record of 48 bytes (Xet hash, flags, number of segments), its segments,
their verification where flag 31 is set, and where flag 30 is set a record with the sha256. A record of ones ends the
list.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORD = 48
_END = b"\xff" * 32
_VERIFIED, _WITH_SHA256 = 1 << 31, 1 << 30


@dataclass(frozen=True)
class XetFile:
    """A file in the store."""

    hash: str
    size: int
    sha256: str
    """Empty where the client did not tell it, as for files of a bucket."""


def files_in_shard(data: bytes) -> Iterator[XetFile]:
    """The files that a shard describes."""
    at = RECORD
    while data[at : at + 32] != _END:
        name = _hex(data[at : at + 32])
        flags, count = struct.unpack_from("<II", data, at + 32)
        at += RECORD
        # A segment: 32 bytes xorb hash, flags, its bytes, first and last chunk.
        size = sum(struct.unpack_from("<I", data, at + number * RECORD + 36)[0] for number in range(count))
        at += RECORD * count * (2 if flags & _VERIFIED else 1)
        known = bool(flags & _WITH_SHA256)
        yield XetFile(name, size, _hex(data[at : at + 32]) if known else "")
        at += RECORD * known


def _hex(digest: bytes) -> str:
    """Xet writes a hash as four little-endian words."""
    return "".join(f"{word:016x}" for word in struct.unpack("<4Q", digest))


class XetStore:
    """The folder, seen from the server's side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"local://{folder}"
        self._known: list[XetFile] = []
        self._read: set[Path] = set()
        self._session: Any = None
        self._lock = threading.Lock()

    def find(self, digest: str) -> XetFile | None:
        """The file with this sha256 or Xet hash, if it was uploaded."""
        with self._lock:
            for path in (self.folder / "xet" / "xorbs" / "shards").glob("*.mdb"):
                if path not in self._read:
                    self._read.add(path)
                    self._known += files_in_shard(path.read_bytes())
            return next((file for file in self._known if digest in (file.sha256, file.hash)), None)

    def stored_bytes(self) -> int:
        """The bytes of all chunks in the store."""
        return sum(path.stat().st_size for path in (self.folder / "xet" / "xorbs" / "xorbs").glob("default.*[!t]"))

    def restore(self, file: XetFile, to: Path) -> Path:
        """Put a file together from its chunks, as the Hub does for readers without Xet."""
        import hf_xet

        xet: Any = hf_xet  # it has no type hints
        with self._lock:
            if not to.exists():
                self._session = self._session or xet.XetSession()
                part = to.with_suffix(".part")
                with self._session.new_file_download_group(endpoint=f"local://{self.folder}") as group:
                    group.start_download_file(xet.XetFileInfo(file.hash, file.size), str(part))
                part.replace(to)
        return to
