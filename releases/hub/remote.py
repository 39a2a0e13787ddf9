"""A dataset repository on the Hub, as far as publishing needs it: who am I, where do refs stand, what is in a tree.

All calls here are safe to repeat and are repeated. The calls that move a branch or a tag are in `releases.hub.publish`.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from huggingface_hub import HfApi, get_session, hf_hub_url
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from releases.hub.wire import Patience, WireError, attempt
from schemas import GoldsmithError

_T = TypeVar("_T")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Entry:
    """A file in a tree: its size, and the sha256 of its bytes (large files) or their git blob sha1 (small ones)."""

    size: int
    sha256: str | None
    git_sha1: str | None


@dataclass(frozen=True)
class State:
    """Where a repository stands: its refs, each with the commit it points to, and who may read it."""

    branches: Mapping[str, str]
    tags: Mapping[str, str]
    private: bool
    gated: str | bool


@dataclass(frozen=True)
class Read:
    """What came back for a file: size and sha256 of the bytes."""

    size: int
    sha256: str


class Remote:
    """A dataset repository. `token` None takes the one of the login; it is never shown nor kept.

    Raises (from every call):
        GoldsmithError: it failed for good, in one line.
    """

    def __init__(self, repo: str, *, token: str | None, endpoint: str | None, patience: Patience) -> None:
        if not _NAME.fullmatch(repo):
            raise GoldsmithError(f"[{repo}] is no name of a repository: write it as ORG/NAME")
        self.repo = repo
        self.api = HfApi(endpoint=endpoint, token=token)
        self.endpoint = self.api.endpoint
        self.token = token
        self.patience = patience

    def ask(self, what: str, call: Callable[[], _T]) -> _T:
        """The result of a call that is safe to repeat."""
        try:
            return attempt(call, self.endpoint, self.patience)
        except WireError as failed:
            raise failed.failure.error(f"{self.repo} > {what}") from None

    def url(self, revision: str) -> str:
        """Where a person looks at a revision."""
        return f"{self.endpoint}/datasets/{self.repo}/tree/{revision}"

    def check_may_write(self, exists: bool) -> str:
        """The user's name.

        Raises:
            GoldsmithError: there is no token, or it may not write to this repository.
        """
        account = self.ask("who am I", self.api.whoami)
        namespace = self.repo.split("/")[0]
        role = account.get("auth", {}).get("accessToken", {}).get("role")
        if role == "read":
            raise GoldsmithError(f"[{self.repo}] the token of {account['name']} may only read: use one that may write")
        roles = {org["name"]: org.get("roleInOrg") for org in account.get("orgs", [])}
        if namespace != account["name"] and roles.get(namespace, "none") in ("none", "read"):
            raise GoldsmithError(f"[{self.repo}] {account['name']} may not write to {namespace}: ask for a role there")
        if exists:
            self.ask("may I write", lambda: self.api.auth_check(self.repo, repo_type="dataset", write=True))
        return account["name"]

    def state(self) -> State | None:
        """Where the repository stands; None if there is none that this token may see."""
        try:
            info = attempt(
                lambda: self.api.dataset_info(self.repo, expand=["private", "gated"]),
                self.endpoint,
                self.patience,
            )
        except WireError as failed:
            if failed.failure.kind == "missing":
                return None
            raise failed.failure.error(f"{self.repo} > state") from None
        refs = self.ask("refs", lambda: self.api.list_repo_refs(self.repo, repo_type="dataset"))
        branches = {ref.name: ref.target_commit for ref in refs.branches}
        tags = {ref.name: ref.target_commit for ref in refs.tags}
        return State(branches, tags, bool(info.private), info.gated or False)

    def tree(self, revision: str) -> dict[str, Entry]:
        """All files of a revision, by path."""

        def listing() -> dict[str, Entry]:
            found = self.api.list_repo_tree(self.repo, recursive=True, revision=revision, repo_type="dataset")
            return {item.path: _entry(item) for item in found if isinstance(item, RepoFile)}

        return self.ask("files", listing)

    def read(self, path: str, revision: str, sink: Callable[[bytes], Any] = lambda _: None) -> Read:
        """Get a file as any reader would, past every cache, and hash it. `sink` is given the bytes as they come (from
        the start again if the transfer broke)."""
        url = hf_hub_url(self.repo, path, repo_type="dataset", revision=revision, endpoint=self.endpoint)
        headers = {**build_hf_headers(token=self.token), "Accept-Encoding": "identity"}

        def get() -> Read:
            digest, size = hashlib.sha256(), 0
            with get_session().stream("GET", url, headers=headers) as response:
                if response.is_error:
                    response.read()
                hf_raise_for_status(response)
                for piece in response.iter_bytes(1 << 20):
                    digest.update(piece)
                    size += len(piece)
                    sink(piece)
            return Read(size, digest.hexdigest())

        return self.ask(path, get)

    def read_bytes(self, path: str, revision: str) -> bytes:
        """The content of a small file."""
        parts: list[bytes] = []
        found = self.read(path, revision, parts.append)
        return b"".join(parts)[-found.size :] if found.size else b""  # before it, what broken transfers brought


def _entry(item: RepoFile) -> Entry:
    if item.lfs is not None:
        return Entry(item.size, item.lfs.sha256, None)
    return Entry(item.size, None, item.blob_id)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the client's own log to errors: it prints each retry, with signed URLs."""
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
