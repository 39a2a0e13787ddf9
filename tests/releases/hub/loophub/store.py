"""What the loopback Hub keeps: repositories as snapshots in memory, objects as files, accounts by token."""

from __future__ import annotations

import hashlib
import itertools
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

GITATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"


class RefusalError(Exception):
    """An answer that is an error: status, message, and the Hub's error code where it has one."""

    def __init__(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.headers = status, message, code, headers or {}


@dataclass(frozen=True)
class Account:
    """Whose token it is. `role` is of the token (`read`, `write`), `orgs` gives the role in each organization."""

    name: str
    role: str = "write"
    orgs: dict[str, str] = field(default_factory=dict)
    expired: bool = False


@dataclass(frozen=True)
class Node:
    """A file in a tree: git oid, size, and sha256 where it is a large file."""

    oid: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True)
class Commit:
    """A snapshot."""

    parent: str | None
    tree: dict[str, Node]
    title: str
    author: str


def git_oid(data: bytes) -> str:
    """The oid that git gives a blob."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def large(sha256: str, size: int) -> Node:
    """The node of a large file; git holds a pointer for it."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
    return Node(git_oid(pointer.encode()), size, sha256)


class Repo:
    """A dataset repository."""

    def __init__(self, name: str, author: str, visibility: str, gitattributes: Node) -> None:
        self.name, self.visibility = name, visibility
        self.gated: str | bool = False
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        self._numbers = itertools.count()
        self.refs["refs/heads/main"] = self.add(
            Commit(None, {".gitattributes": gitattributes}, "initial commit", author)
        )

    def add(self, commit: Commit) -> str:
        """Keep a commit; its oid."""
        parts = (commit.parent, sorted((path, node.oid) for path, node in commit.tree.items()), commit.title)
        oid = hashlib.sha1(repr((*parts, next(self._numbers))).encode()).hexdigest()
        self.commits[oid] = commit
        return oid

    def resolve(self, revision: str) -> str:
        """The commit that a branch, a tag or an oid names."""
        for ref in (revision, f"refs/heads/{revision}", f"refs/tags/{revision}"):
            if ref in self.refs:
                return self.refs[ref]
        if revision in self.commits:
            return revision
        raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def tree(self, revision: str = "main") -> dict[str, Node]:
        """The files of a revision."""
        return self.commits[self.resolve(revision)].tree

    def titles(self, revision: str = "main") -> list[str]:
        """The titles of the commits of a revision, latest first."""
        return [self.commits[oid].title for oid in self.history(self.resolve(revision))]

    def history(self, oid: str | None) -> Iterator[str]:
        """Commits from `oid` back."""
        while oid is not None:
            yield oid
            oid = self.commits[oid].parent


class Store:
    """All that the Hub keeps, and who may do what."""

    def __init__(self, folder: Path, accounts: dict[str, Account]) -> None:
        self.blobs, self.objects, self.parts = folder / "blobs", folder / "objects", folder / "parts"
        for place in (self.blobs, self.objects, self.parts):
            place.mkdir(parents=True, exist_ok=True)
        self.accounts = accounts
        self.repos: dict[str, Repo] = {}
        self.buckets: dict[str, dict[str, str]] = {}
        """The Xet hash of each file of each bucket."""
        self.lock = threading.RLock()

    def keep_blob(self, data: bytes) -> Node:
        """Keep a small file."""
        oid = git_oid(data)
        (self.blobs / oid).write_bytes(data)
        return Node(oid, len(data))

    def object(self, sha256: str) -> Path:
        """Where a large file lies (or would)."""
        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise RefusalError(400, "no sha256")
        return self.objects / sha256

    def create(self, name: str, author: str, visibility: str) -> Repo:
        """A new repository with its first commit."""
        repo = self.repos[name] = Repo(name, author, visibility, self.keep_blob(GITATTRIBUTES))
        return repo

    def account(self, authorization: str) -> Account | None:
        """The account of a header `Bearer TOKEN`; None without one."""
        if not authorization.startswith("Bearer "):
            return None
        account = self.accounts.get(authorization.removeprefix("Bearer "))
        if account is None:
            raise RefusalError(401, "Invalid credentials in Authorization header")
        if account.expired:
            raise RefusalError(401, "User Access Token is expired")
        return account

    def readable(self, name: str, account: Account | None, *, content: bool = False) -> Repo:
        """The repository, if this account may see it (with `content`: its files)."""
        repo = self.repos.get(name)
        member = account is not None and _role(name, account) is not None
        if repo is None or (repo.visibility == "private" and not member):
            raise RefusalError(401 if account is None else 404, "Repository not found", "RepoNotFound")
        if content and repo.gated and not member:
            raise RefusalError(401 if account is None else 403, f"Access to dataset {name} is restricted.", "GatedRepo")
        return repo

    def check_writer(self, name: str, account: Account | None) -> Account:
        """The account, if it may write to this name."""
        if account is None:
            raise RefusalError(401, "Repository not found", "RepoNotFound")
        if account.role != "write" or _role(name, account) not in ("admin", "write"):
            raise RefusalError(403, "Forbidden: you must use a write token to upload to a repository.")
        return account

    def writable(self, name: str, account: Account | None) -> Repo:
        """The repository, if this account may write to it."""
        self.readable(name, account)
        self.check_writer(name, account)
        return self.repos[name]


def _role(name: str, account: Account) -> str | None:
    namespace = name.split("/")[0]
    return "admin" if namespace == account.name else account.orgs.get(namespace)
