"""Send files to a staging branch through a worker process, with a deadline on silence.

The worker can hang, die or be refused; what it achieved is then read from the branch, and the rest is sent again.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from releases.hub.local import Local, is_same
from releases.hub.plan import COMMIT_FILES, Plan
from releases.hub.progress import Progress
from releases.hub.remote import Remote
from releases.hub.wire import Failure, scrub
from releases.manifest import File
from schemas import GoldsmithError
from schemas.stop import deferred


def stage(local: Local, plan: Plan, remote: Remote, progress: Progress, *, xet: bool) -> dict[str, Any]:
    """Bring the files of the plan to its staging branch, and return the branch's tree once they are all there.

    Raises:
        GoldsmithError: it did not succeed; main is untouched, and what was sent is kept for the next run.
    """
    patience, failure = remote.patience, None
    progress.start("send", sum(file.bytes for file in plan.send))
    for number in range(1, patience.attempts + 1):
        tree = remote.tree(plan.staging)
        missing = [file for file in plan.send if not is_same(file, tree.get(file.path), local.folder)]
        progress.reach(sum(file.bytes for file in plan.send) - sum(file.bytes for file in missing))
        if not missing:
            return tree
        if number > 1:
            if failure is None or failure.kind not in ("transient", "conflict"):
                break
            time.sleep(patience.wait(number - 1, failure.wait))
        failure = _Worker(local, plan, remote, missing, xet=xet).run(progress)
    tree = remote.tree(plan.staging)
    if all(is_same(file, tree.get(file.path), local.folder) for file in plan.send):
        return tree
    failure = failure or Failure("refused", "the Hub took the files but does not list them (is there a .gitignore?)")
    hint = "" if not xet or failure.kind != "transient" else ", or with --no-xet"
    raise GoldsmithError(f"{failure.error(f'{remote.repo} > upload')}{hint}; nothing that readers see has changed")


class _Worker:
    """One run of `releases.hub.upload_worker`."""

    def __init__(self, local: Local, plan: Plan, remote: Remote, files: Sequence[File], *, xet: bool) -> None:
        self.silence = remote.patience.silence
        self.total = sum(file.bytes for file in plan.send)
        self.before = self.total - sum(file.bytes for file in files)
        self.environment = _environment(xet)
        self.job = {
            "endpoint": remote.endpoint,
            "token": remote.token,
            "repo": remote.repo,
            "branch": plan.staging,
            "message": f"Stage {plan.tag}",
            "commit_files": COMMIT_FILES,
            "files": [
                {"path": f.path, "local": str((local.folder / f.path).resolve()), "bytes": f.bytes, "sha256": f.sha256}
                for f in files
            ],
        }

    def run(self, progress: Progress) -> Failure | None:
        """None when the worker says that all is done; else what stopped it."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as noise:
            process = None
            try:
                with deferred():
                    process = subprocess.Popen(  # noqa: S603 (our own file, by this interpreter)
                        [sys.executable, "-P", str(Path(__file__).with_name("upload_worker.py"))],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=noise,
                        env=self.environment,
                        text=True,
                        encoding="utf-8",
                    )
                failure = self._follow(process, progress)
            finally:
                if process is not None:
                    process.kill()
                    process.wait()
            if failure is _DIED:
                noise.seek(0)
                words = scrub(noise.read())[-200:]
                return Failure("transient", f"the upload process died{f' ({words})' if words else ''}")
            return failure

    def _follow(self, process: subprocess.Popen[str], progress: Progress) -> Failure | None:
        assert process.stdin is not None
        assert process.stdout is not None
        reports: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_lines, args=(process.stdout, reports), daemon=True).start()
        with contextlib.suppress(BrokenPipeError):  # it died at once: seen below, as the end of its reports
            process.stdin.write(json.dumps(self.job) + "\n")
            process.stdin.flush()
        while True:
            try:
                line = reports.get(timeout=self.silence)
            except queue.Empty:
                return Failure("transient", f"the upload moved nothing for {self.silence:.0f} seconds")
            if line is None:
                return _DIED
            match json.loads(line):
                case {"moved": moved}:
                    progress.reach(self.before + moved)
                case {"failure": failure}:
                    return Failure(**failure)
                case {"bug": trace}:
                    raise RuntimeError(trace)
                case {"done": True}:
                    return None


_DIED = Failure("transient", "the upload process died")


def _lines(pipe: IO[str], reports: queue.Queue[str | None]) -> None:
    with pipe:
        for line in pipe:
            reports.put(line)
    reports.put(None)


def _environment(xet: bool) -> dict[str, str]:
    environment = dict(os.environ)
    environment.pop("HF_HUB_DISABLE_PROGRESS_BARS", None)  # the worker reads its progress from them
    environment.setdefault("HF_XET_CLIENT_RETRY_MAX_ATTEMPTS", "2")  # else silent for 266 seconds without a store
    environment.setdefault("MALLOC_ARENA_MAX", "1")  # else Xet's threads hold a quarter more memory
    if not xet:
        environment["HF_HUB_DISABLE_XET"] = "1"
    return environment
