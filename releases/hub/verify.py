"""Whether what the Hub gives back is what was released.

Sums in a tree prove names, not bytes: a store that flips a bit goes unnoticed by every listing and by the client's own
checks. So files are read back, as a reader would, and hashed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from releases.hub.local import HUB_OWN, is_same, tag_of, with_manifest
from releases.hub.progress import Progress
from releases.hub.remote import Entry, Remote, quiet
from releases.hub.wire import Patience
from releases.manifest import LOCK, MANIFEST, File, read_manifest
from schemas import GoldsmithError
from schemas.rooms import Room

SAMPLE_BYTES = 256 << 20
SAMPLE_FILES = 200
"""Bytes and files to read back, at most; a release that has fewer is read back whole."""


@dataclass(frozen=True)
class Verified:
    """What was found in a published release.

    Attributes:
        commit: that the tag points to.
        manifest_sha256: of the manifest on the Hub; compare it with one that you trust.
        read: files that were read back and hashed, of `files` files.
        problems: one line a difference from the manifest; empty where there is none.
    """

    repo: str
    version: str
    commit: str
    manifest_sha256: str
    files: int
    bytes: int
    read: tuple[str, ...]
    problems: tuple[str, ...]


def sample(files: Iterable[File], seed: str, budget: int = SAMPLE_BYTES) -> list[File]:
    """Files to read back, drawn by `seed`: at most SAMPLE_FILES of them and `budget` bytes, but one in any case."""
    drawn = sorted(files, key=lambda file: file.path)
    random.Random(seed).shuffle(drawn)  # noqa: S311 (a sample, no secret)
    chosen, total = [], 0
    for file in drawn:
        if chosen and total + file.bytes > budget:
            continue
        if len(chosen) == SAMPLE_FILES:
            break
        chosen.append(file)
        total += file.bytes
    return chosen


def read_back(remote: Remote, files: Sequence[File], where: Callable[[File], str], progress: Progress) -> list[str]:
    """Read `files` back, each at revision `where(file)`; a line for each whose bytes are not the released ones."""
    lines = []
    progress.start("read back", sum(file.bytes for file in files))
    for file in files:
        found = remote.read(file.path, where(file))
        if found.sha256 != file.sha256:
            lines.append(f"{file.path}: the Hub gives back other bytes (sha256 {found.sha256}, not {file.sha256})")
        progress.advance(file.bytes)
    return lines


def verify(
    repo: str,
    version: str,
    *,
    everything: bool = False,
    token: str | None = None,
    endpoint: str | None = None,
    patience: Patience | None = None,
    progress: bool = True,
) -> Verified:
    """Check a published release against its own manifest. Needs no token where the repository is public.

    All files are compared by name, size and sum. A sample of their bytes is read back and hashed (all of them with
    `everything`), and all files that the Hub keeps in git, for which it gives no sha256.

    Raises:
        GoldsmithError: there is no such repository or version, it has no manifest, or the Hub does not answer.
    """
    remote = Remote(repo, token=token, endpoint=endpoint, patience=patience or Patience())
    with quiet(), Progress(progress) as bar, Room("verify") as scratch:
        state, tag = remote.state(), tag_of(version)
        if state is None:
            raise GoldsmithError(f"[{repo}] is not there, or your token may not see it: check the name, or log in")
        if tag not in state.tags:
            known = ", ".join(sorted(state.tags)) or "none"
            raise GoldsmithError(f"[{repo} > {tag}] is not published; versions there: {known}")
        commit = state.tags[tag]
        tree = remote.tree(commit)
        if MANIFEST not in tree:
            raise GoldsmithError(f"[{repo} > {tag}] has no {MANIFEST}: it was not published by goldsmith")
        folder = Path(scratch)
        (folder / MANIFEST).write_bytes(remote.read_bytes(MANIFEST, commit))
        manifest = read_manifest(folder)
        *files, own = sorted(with_manifest(folder, manifest), key=lambda file: file.path == MANIFEST)
        problems = _listed(files, tree)
        if tag_of(manifest.version) != tag:
            problems.append(f"{MANIFEST}: says version {manifest.version}")
        if next((file.sha256 for file in files if file.path == LOCK), None) != manifest.lock_sha256:
            problems.append(f"{LOCK}: is not the one of the manifest")
        there = [file for file in files if file.path in tree]
        small = [file for file in there if tree[file.path].sha256 is None]
        large = [file for file in there if tree[file.path].sha256 is not None]
        chosen = small + (large if everything else sample(large, own.sha256))
        problems += read_back(remote, chosen, lambda _: commit, bar)
    size = sum(file.bytes for file in files) + own.bytes
    read = tuple(sorted(file.path for file in chosen))
    return Verified(repo, manifest.version, commit, own.sha256, len(files) + 1, size, read, tuple(sorted(problems)))


def _listed(files: Sequence[File], tree: dict[str, Entry]) -> list[str]:
    """Differences that the listing shows; it has no sha256 for small files, those are read back."""
    lines = []
    for file in files:
        entry = tree.get(file.path)
        if entry is None:
            lines.append(f"{file.path}: missing")
        elif entry.size != file.bytes:
            lines.append(f"{file.path}: has {entry.size} bytes, not {file.bytes}")
        elif entry.sha256 is not None and not is_same(file, entry, Path()):
            lines.append(f"{file.path}: has other bytes")
    listed = {file.path for file in files} | HUB_OWN | {MANIFEST}
    return lines + [f"{path}: not in the manifest" for path in tree if path not in listed]
