"""The tests' side of the loopback: client processes, repositories laid down beforehand, and what a reader can see."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from loophub import Account, Loophub, Repo
from loophub.store import Commit, large

from releases.manifest import walk
from schemas.files import sha256_file

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "hf_WriteTokenOfTheTests0123456789abcd"
READ_TOKEN = "hf_ReadTokenOfTheTests0123456789abcde"
OLD_TOKEN = "hf_ExpiredTokenOfTheTests0123456789ab"
STRANGER = "hf_StrangerTokenOfTheTests0123456789a"
ACCOUNTS = {
    TOKEN: Account("bot", orgs={"acme": "write", "guests": "read"}),
    READ_TOKEN: Account("reader", role="read", orgs={"acme": "write"}),
    OLD_TOKEN: Account("bot", orgs={"acme": "write"}, expired=True),
    STRANGER: Account("stranger"),
}
QUICK = {"attempts": 3, "first_wait": 0.05, "longest_wait": 0.2, "silence": 30.0}


class Call:
    """A command under way."""

    def __init__(self) -> None:
        self.pid: Future[int] = Future()
        self.result: Future[dict[str, Any]] = Future()

    def get(self, timeout: float = 200) -> dict[str, Any]:
        """The answer. A crash of the code under test is an error of the test."""
        answer = self.result.result(timeout)
        assert "crash" not in answer, answer["crash"]
        return answer


class Client:
    """A process with the real clients (`client.py`), with a home and a login of its own."""

    def __init__(
        self, home: Path, endpoint: str = "", *, fork: bool = False, token: str = TOKEN, **settings: str
    ) -> None:
        home.mkdir(parents=True)
        (home / "token").write_text(token)  # where `hf auth login` keeps it
        self.home, self.errors = home, home.parent / f"{home.name}.stderr"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTEST"))}
        quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1", "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
        paths = {"HF_HOME": str(home), "PYTHONPATH": f"{ROOT}", **({"HF_ENDPOINT": endpoint} if endpoint else {})}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("client.py")), *(["fork"] if fork else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(self.errors, "w"),  # noqa: SIM115 (the process keeps it)
            env={**kept, **quiet, **paths, **settings},
            text=True,
        )
        self.calls: dict[int, Call] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, do: str, **values: Any) -> Call:
        """Begin a command."""
        assert self.process.stdin is not None
        with self._lock:
            number = len(self.calls)
            call = self.calls[number] = Call()
            print(json.dumps({"id": number, "do": do, **values}), file=self.process.stdin, flush=True)
        return call

    def publish(self, hub: Loophub, release: Path, repo: str, **options: Any) -> Call:
        """Begin to publish, with little patience."""
        options = {"patience": QUICK, "xet": hub.xet is not None, **options}
        return self.start("publish", release=str(release), repo=repo, endpoint=hub.endpoint, **options)

    def verify(self, hub: Loophub, repo: str, version: str, **options: Any) -> dict[str, Any]:
        """Verify, and wait for it."""
        return self.start("verify", repo=repo, version=version, endpoint=hub.endpoint, **options).get()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            call = self.calls[answer.pop("id")]
            if "pid" in answer:
                call.pid.set_result(answer["pid"])
            else:
                call.result.set_result(answer)
        for call in self.calls.values():
            if not call.result.done():
                call.result.set_result({"crash": f"the client process ended: {self.errors.read_text()[-2000:]}"})


def lay(hub: Loophub, repo: str, release: Path, tag: str) -> Repo:
    """Put a release into a public repository, as if it had been published."""
    store = hub.store
    here = store.repos.get(repo) or store.create(repo, "bot", "public")
    tree = {".gitattributes": here.tree()[".gitattributes"]}
    for path in walk(release):
        file = release / path
        if path.endswith(".parquet"):
            sha256 = sha256_file(file)
            shutil.copyfile(file, store.object(sha256))
            tree[path] = large(sha256, file.stat().st_size)
        else:
            tree[path] = store.keep_blob(file.read_bytes())
    oid = here.add(Commit(here.resolve("main"), tree, f"Release {tag}", "bot"))
    here.refs["refs/heads/main"] = here.refs[f"refs/tags/{tag}"] = oid
    return here


def seen(hub: Loophub, repo: str) -> dict[str, Any]:
    """All that a reader can see of a repository: its files on main, its tags, and whether they may look."""
    here = hub.store.repos.get(repo)
    if here is None or (here.visibility == "private" and not any(ref.startswith("refs/tags/") for ref in here.refs)):
        return {"main": None, "tags": {}}
    tags = {ref: oid for ref, oid in here.refs.items() if ref.startswith("refs/tags/")}
    return {"main": here.tree(), "tags": tags, "visibility": here.visibility, "gated": here.gated}


def holds(hub: Loophub, repo: str, revision: str, release: Path) -> bool:
    """Whether a revision holds the bytes of the release: every file of it, and nothing else."""
    tree = {path: node for path, node in hub.store.repos[repo].tree(revision).items() if path != ".gitattributes"}
    if sorted(tree) != sorted(walk(release)):
        return False
    for path, node in tree.items():
        stored = hub.store.object(node.sha256) if node.sha256 else hub.store.blobs / node.oid
        if node.sha256 and not stored.exists() and hub.xet and (found := hub.xet.find(node.sha256)):
            stored = hub.xet.restore(found, hub.store.parts / f"{node.sha256}.restored")
        if not stored.exists() or stored.read_bytes() != (release / path).read_bytes():
            return False
    return True


def published(hub: Loophub, repo: str, release: Path, tag: str) -> bool:
    """Whether the release is published: main and the tag hold it, it can be read, and nothing is left over."""
    here = hub.store.repos.get(repo)
    if here is None or f"refs/tags/{tag}" not in here.refs:
        return False
    whole = holds(hub, repo, "main", release) and holds(hub, repo, tag, release)
    return whole and here.visibility == "public" and not [ref for ref in here.refs if "staging" in ref]
