"""The process that sends files to a branch of a repository: `python releases/hub/upload_worker.py`.

It is a process of its own because an upload can hang where no Python can reach it (hf-xet) or die, and because whether
Xet is used is decided by the environment before `huggingface_hub` is imported. It is told its job in one JSON line on
stdin, reports in JSON lines on stdout, and ends when stdin closes, that is when its parent is gone. It writes to the
branch it is given and to nothing else.

Job: {"endpoint", "token" (null: the login's), "repo", "branch", "message", "files": [{"path", "local", "bytes",
"sha256"}], "commit_files"}. Reports: {"moved": bytes}, {"committed": files}, {"failure": {"kind", "reason", "wait"}},
{"bug": traceback}, {"done": true}.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO

from huggingface_hub import CommitOperationAdd, HfApi, get_session
from huggingface_hub.utils import tqdm

if TYPE_CHECKING:
    from releases.hub import wire
else:

    def _beside(name: str) -> ModuleType:
        """A module of this folder, without `releases`, which brings Arrow and DuckDB: half a second and 70 MB."""
        spec = importlib.util.spec_from_file_location(f"goldsmith_{name}", Path(__file__).with_name(f"{name}.py"))
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    wire = _beside("wire")

GROUP_BYTES = 64 << 20
"""Bytes that are handed to the client at once: Xet keeps some four times as much in memory, and a broken upload does
so much again."""


class Reporter:
    """Reports on stdout, one JSON line each; bytes are sampled from the client's own bars."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._seen: dict[int, Any] = {}
        self._done = 0
        self._told = 0
        self._group = 0

    def say(self, **report: Any) -> None:
        """Report to the parent."""
        with self._lock:
            print(json.dumps(report), file=self._out, flush=True)

    def begin(self, size: int) -> None:
        """A group of `size` bytes begins."""
        self._seen.clear()
        self._group = size

    def end(self) -> None:
        """The group is through."""
        self._done += self._group
        self._group = 0
        self._tell(self._done)

    def watch(self) -> None:
        """Sample until the process ends."""
        while True:
            threading.Event().wait(0.5)
            self._tell(self._done + min(self._moving(), self._group))

    def _tell(self, moved: int) -> None:
        if moved > self._told:
            self._told = moved
            self.say(moved=moved)

    def _moving(self) -> int:
        """Bytes of the group that the client's bars show: one bar for all (Xet), or one a file."""
        for bar in list(getattr(tqdm, "_instances", ())):
            if getattr(bar, "unit", "") == "B":
                self._seen[id(bar)] = bar
        bars = list(self._seen.values())
        whole = [bar for bar in bars if str(bar.desc).startswith("Processing Files")]
        return int(sum(bar.n for bar in whole or bars))


def main() -> None:
    """Do the job on stdin."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not mix with the reports
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    reporter = Reporter(out)
    threading.Thread(target=reporter.watch, daemon=True).start()
    try:
        _upload(job, reporter)
        reporter.say(done=True)
    except Exception as error:
        failure = wire.failure_of(error, job["endpoint"]) or _xet_failure(error)
        if failure is None:
            reporter.say(bug=wire.scrub(traceback.format_exc()))
        else:
            reporter.say(failure=asdict(failure))
    os._exit(0)  # threads of the client may hang


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(3)


def _xet_failure(error: Exception) -> wire.Failure | None:
    """hf-xet speaks of a store that fails in plain RuntimeErrors."""
    if isinstance(error, RuntimeError):
        return wire.Failure("transient", f"the upload failed ({wire.scrub(str(error))[:200]})")
    return None


def _upload(job: dict[str, Any], reporter: Reporter) -> None:
    api = HfApi(endpoint=job["endpoint"], token=job["token"])
    files, size = job["files"], job["commit_files"]
    for start in range(0, len(files), size):
        batch = files[start : start + size]
        operations = [CommitOperationAdd(file["path"], file["local"]) for file in batch]
        for group in _groups(operations):
            get_session().timeout = wire.TIMEOUT
            reporter.begin(sum(operation.upload_info.size for operation in group))
            api.preupload_lfs_files(
                job["repo"], group, repo_type="dataset", revision=job["branch"], free_memory=False, num_threads=4
            )
            reporter.end()
        _check_unchanged(batch, operations)
        api.create_commit(
            job["repo"], operations, commit_message=job["message"], repo_type="dataset", revision=job["branch"]
        )
        reporter.say(committed=start + len(batch))


def _groups(operations: list[CommitOperationAdd]) -> Iterator[list[CommitOperationAdd]]:
    group: list[CommitOperationAdd] = []
    size = 0
    for operation in operations:
        if group and size + operation.upload_info.size > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(operation)
        size += operation.upload_info.size
    if group:
        yield group


def _check_unchanged(batch: list[dict[str, Any]], operations: list[CommitOperationAdd]) -> None:
    """The client hashed what it sent; it must be what was released."""
    for file, operation in zip(batch, operations, strict=True):
        if operation.upload_info.is_hashed and operation.upload_info.sha256.hex() != file["sha256"]:
            raise ValueError(f"{file['path']} changed while it was being published")


if __name__ == "__main__":
    main()
