"""A release on disk, ready to be compared with what the Hub holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from releases.hub.remote import Entry
from releases.manifest import MANIFEST, File, Manifest, read_manifest, verify_files
from schemas import GoldsmithError
from schemas.files import sha256_file

HUB_OWN = frozenset({".gitattributes"})
"""Files that the Hub puts into a repository by itself."""


def tag_of(version: str) -> str:
    """The tag of a version: `1.2.0` and `v1.2.0` both give `v1.2.0`."""
    return "v" + version.removeprefix("v")


@dataclass(frozen=True)
class Local:
    """A release folder whose files have just been found to be those of its manifest.

    Attributes:
        files: every file to publish by path, manifest.json among them.
    """

    folder: Path
    manifest: Manifest
    files: Mapping[str, File]

    @classmethod
    def read(cls, folder: Path) -> Local:
        """Re-hash the release in `folder`.

        Raises:
            GoldsmithError: it is no release, or its files are not those that were released.
        """
        manifest = read_manifest(folder)
        if problems := verify_files(folder):
            raise GoldsmithError(
                f"[{folder}] is not as it was released ({len(problems)} differences, first: {problems[0]}): "
                "release again"
            )
        return cls(folder, manifest, {file.path: file for file in with_manifest(folder, manifest)})

    @property
    def tag(self) -> str:
        """The tag it is published under."""
        return tag_of(self.manifest.version)

    def differences(self, tree: Mapping[str, Entry], *, extras: bool = True) -> list[str]:
        """What a tree has other than this release: one line a file. With `extras`, files that are not its own, too."""
        return compare(self.files.values(), tree, self.folder, extras=extras)

    def differing(self, tree: Mapping[str, Entry]) -> list[File]:
        """The files that the tree lacks or has with other bytes."""
        return [file for file in self.files.values() if not is_same(file, tree.get(file.path), self.folder)]


def with_manifest(folder: Path, manifest: Manifest) -> list[File]:
    """The files of a manifest and manifest.json itself, sorted by path."""
    path = folder / MANIFEST
    own = File(MANIFEST, path.stat().st_size, sha256_file(path))
    return sorted([*manifest.files, own], key=lambda file: file.path)


def compare(files: Iterable[File], tree: Mapping[str, Entry], folder: Path, *, extras: bool = True) -> list[str]:
    """What `tree` has other than `files`, whose bytes are in `folder`; one line a file, sorted."""
    listed = {file.path: file for file in files}
    lines = []
    for path, file in listed.items():
        entry = tree.get(path)
        if entry is None:
            lines.append(f"{path}: missing on the Hub")
        elif entry.size != file.bytes:
            lines.append(f"{path}: {entry.size} bytes on the Hub, not {file.bytes}")
        elif not is_same(file, entry, folder):
            lines.append(f"{path}: other bytes on the Hub")
    if extras:
        lines += [f"{path}: not part of the release" for path in tree if path not in listed and path not in HUB_OWN]
    return sorted(lines)


def is_same(file: File, entry: Entry | None, folder: Path) -> bool:
    """Whether an entry is this file: by sha256 where the Hub gives one, else by the git sha1 of the local bytes."""
    if entry is None or entry.size != file.bytes:
        return False
    if entry.sha256 is not None:
        return entry.sha256 == file.sha256
    return entry.git_sha1 == _git_sha1(folder / file.path, file.sha256)


@cache
def _git_sha1(path: Path, sha256: str) -> str:
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
