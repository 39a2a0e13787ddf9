"""A git repository read by plumbing: objects only, no checkout, no hooks, filters, submodules or network.

A repository is a git directory (bare or not), or a `git fast-export` stream, which is taken into a temporary
repository. Blobs are hashed again when they are read: a commit's id then vouches for every byte, wherever it came from.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from builders.verivul import child
from schemas import GoldsmithError
from schemas.rooms import Room

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)
_SAFE = ("-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
         "-c", "protocol.allow=never", "-c", "core.attributesFile=/dev/null",
         "-c", "core.packedGitLimit=1g")  # fmt: skip
_SHA = re.compile(r"[0-9a-f]{40}")
_SECONDS = 4 * 3600
_MEMORY = 16 << 30
"""Bytes of address space: git maps the indexes of a repository's packs as they are."""


class MissingError(Exception):
    """An object that is not in the repository, or is not what its id says."""


@dataclass(frozen=True)
class Commit:
    """A commit's header; `date` is the committer's day, ISO."""

    id: str
    parents: tuple[str, ...]
    date: str
    message: str


@dataclass(frozen=True)
class Hunks:
    """What a fix does to a file: line numbers from 1.

    Attributes:
        deleted: in the old file; `added`: in the new file.
        inserted: old lines after which lines are put, where none is deleted.
    """

    deleted: tuple[int, ...]
    added: tuple[int, ...]
    inserted: tuple[int, ...]

    @property
    def size(self) -> int:
        """Changed lines, both sides."""
        return len(self.deleted) + len(self.added)


class Repository:
    """Reads commits. Use as a context manager: a stream's temporary repository goes with it.

    Raises:
        GoldsmithError: the path is no repository and no stream.
    """

    def __init__(self, path: Path) -> None:
        self._room: Room | None = None
        if path.is_dir():
            self._dir = path
            inner = path / ".git"
            if inner.is_dir():
                self._dir = inner
        else:
            self._room = Room("git")
            self._dir = Path(self._room.name)
            self._run("init", "-q", "--bare", str(self._dir))
            self._run("fast-import", "--quiet", stdin=path.read_bytes())
        if not (self._dir / "objects").is_dir():
            raise GoldsmithError(f"[{path}] is no git repository: give a clone, or a git fast-export stream")

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        if self._room is not None:
            self._room.cleanup()

    def _run(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        closed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
                  "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1"}  # fmt: skip
        command = ["git", *_SAFE, "--git-dir", str(self._dir), *arguments]
        bounds = child.limits(
            seconds=_SECONDS, memory=_MEMORY, files=resource.RLIM_INFINITY if self._room is not None else 0
        )
        try:
            done = subprocess.run(  # noqa: S603
                command, input=stdin or b"", capture_output=True, check=False, timeout=_SECONDS, preexec_fn=bounds,
                env={**child.environment(tempfile.gettempdir()), **closed},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise MissingError(f"git {arguments[0]} does not end") from None
        if done.returncode < 0:
            raise MissingError(f"git {arguments[0]} was ended by signal {-done.returncode}")
        if done.returncode != 0:
            raise MissingError(" ".join(done.stderr.decode("utf-8", "replace").split())[:200])
        return done.stdout

    def commit(self, sha: str) -> Commit:
        """A commit by its full id.

        Raises:
            MissingError: it is not there.
        """
        if not _SHA.fullmatch(sha):
            raise MissingError(f"{sha!r} is no full commit id")
        content = self._read([sha], "commit")[sha].decode("utf-8", "replace")
        header, _, message = content.partition("\n\n")
        parents = tuple(re.findall(r"^parent ([0-9a-f]{40})$", header, re.M))
        date = self._run("show", "-s", "--format=%cs", sha).decode().strip()
        return Commit(sha, parents, date, message)

    def grep(self, pattern: str) -> list[str]:
        """Ids of all commits, on any branch, that are no merges and whose message matches."""
        found = self._run("log", "--all", "-i", "-E", f"--grep={pattern}", "--no-merges", "--format=%H")
        return found.decode().split()

    def changed(self, old: str, new: str) -> list[tuple[str, str]]:
        """(status letter, path) of each file that differs; renames are an `R` with the new path."""
        parts = self._run("diff-tree", "-r", "-z", "--no-commit-id", "--name-status", "-M", old, new).split(b"\0")
        found, at = [], 0
        while at + 1 < len(parts):
            status = parts[at].decode()[:1]
            step = 3 if status in "RC" else 2
            found.append((status, os.fsdecode(parts[at + step - 1])))
            at += step
        return found

    def hunks(self, old: str, new: str, path: str) -> Hunks:
        """The lines of a file that differ between two commits."""
        text = self.diff(old, new, [path])
        deleted, added, inserted = [], [], []
        for match in _HUNK.finditer(text):
            start, count = int(match[1]), int(match[2] or 1)
            deleted += range(start, start + count)
            added += range(int(match[3]), int(match[3]) + int(match[4] or 1))
            if count == 0:
                inserted.append(start)
        return Hunks(tuple(deleted), tuple(added), tuple(inserted))

    def diff(self, old: str, new: str, paths: Iterable[str]) -> str:
        """The difference of these files without context lines."""
        options = ("-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--text")
        content = self._run("diff", *options, old, new, "--", *(f":(literal){path}" for path in paths))
        return content.decode("utf-8", "replace")

    def patch_id(self, diff: str) -> str:
        """An id of a difference that line numbers do not change: cherry-picks of one fix share it."""
        return self._run("patch-id", "--stable", stdin=diff.encode()).decode().split(" ")[0]

    def files(self, commit: str, wanted: re.Pattern[str]) -> dict[str, tuple[str, bytes]]:
        """path -> (blob id, content) of the plain files of a commit whose path matches; links and submodules not.

        Raises:
            MissingError: a blob is absent or has other bytes than its id says.
        """
        found = {}
        for line in self._run("ls-tree", "-r", "-z", commit).split(b"\0"):
            head, _, name = line.partition(b"\t")
            path = os.fsdecode(name)
            mode, _, blob = head.decode().partition(" blob ")
            if mode in ("100644", "100755") and blob and wanted.search(path):
                found[path] = blob
        contents = self._read(list(found.values()), "blob")
        return {path: (blob, contents[blob]) for path, blob in found.items()}

    def _read(self, ids: list[str], kind: str) -> dict[str, bytes]:
        raw = self._run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in ids).encode())
        found, at = {}, 0
        for name in ids:
            end = raw.index(b"\n", at)
            header = raw[at:end].decode().split()
            if len(header) != 3 or header[1] != kind:
                raise MissingError(f"{name} is not in the repository")
            start, size = end + 1, int(header[2])
            content = raw[start : start + size]
            if hashlib.sha1(b"%s %d\0%s" % (kind.encode(), size, content), usedforsecurity=False).hexdigest() != name:
                raise MissingError(f"{name} has other bytes than its id says")
            found[name] = content
            at = start + size + 1
        return found
