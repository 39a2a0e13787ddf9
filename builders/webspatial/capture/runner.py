"""Many pages: each in a process that is ended when it hangs or takes too much memory, so that no page stops the build.

Run again, it goes on where it stopped. Everything is written below the output folder, temporary profiles included.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.webspatial.capture import store
from builders.webspatial.capture.one import capture_page, identity
from builders.webspatial.capture.pages import PageEntry, read_pages
from builders.webspatial.capture.serve import Packages
from schemas import GoldsmithError
from schemas.stop import deferred

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Limits:
    """Seconds a page may take, and megabytes that its process and browser may hold together."""

    seconds: float = 60
    megabytes: int = 4000


def capture_all(
    pages: Path,
    folders: Mapping[str, Path],
    out: Path,
    *,
    packages: Path | None = None,
    limits: Limits | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Capture every page of a list whose group has a folder.

    Returns the records, one a page (also in `out/log.jsonl`). `out/rejects.jsonl` has those without a capture.

    Raises:
        GoldsmithError: a group has no folder, or there is no browser.
    """
    from builders.webspatial.capture.browser import missing

    why = missing()
    if why:
        raise GoldsmithError(f"[webspatial > capture] {why}")
    entries = read_pages(pages)
    for name in dict.fromkeys(name for entry in entries for name in (entry.group, *entry.mounts.values())):
        if name not in folders:
            raise GoldsmithError(f"[{pages.name} > {name}] has no folder: give --folder {name}=PATH")
        if not folders[name].is_dir():
            raise GoldsmithError(f"[--folder {name}={folders[name]}] is no folder: name the one that holds its pages")
    out.mkdir(parents=True, exist_ok=True)
    listed = out / ".pages.toml"  # What is edited while this runs counts in the next run.
    listed.write_bytes(pages.read_bytes())
    job = {
        "pages": str(listed.resolve()),
        "out": str(out.resolve()),
        "packages": str(packages.resolve()) if packages else None,
        "folders": {name: str(folder.resolve()) for name, folder in folders.items()},
        "seconds": (limits or Limits()).seconds,
    }
    (out / "job.json").write_text(json.dumps(job), encoding="utf-8")
    _supervise(entries, out, limits or Limits(), note)
    log = _log(out)
    records = [log[entry.id] for entry in entries]
    _write_rejects(out, entries)
    for name in ("job.json", "current.json", listed.name):
        (out / name).unlink(missing_ok=True)
    return records


def _log(out: Path) -> dict[str, dict[str, Any]]:
    path = out / "log.jsonl"
    if not path.is_file():
        return {}
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {record["id"]: record for record in records}


def _done(out: Path, entries: Sequence[PageEntry]) -> set[str]:
    """Pages that were captured, or rejected, as the list has them now."""
    log = _log(out)
    same = [e for e in entries if e.id in log and log[e.id].get("entry") == e.digest]
    return {e.id for e in same if log[e.id]["status"] != "captured" or (out / e.id / "capture.json.gz").is_file()}


def _append(out: Path, record: Mapping[str, Any]) -> None:
    with open(out / "log.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _supervise(entries: Sequence[PageEntry], out: Path, limits: Limits, note: Callable[[str], None]) -> None:
    by_id = {entry.id: entry for entry in entries}
    temporary = out / ".tmp"
    while (before := len(_done(out, entries))) < len(by_id):
        temporary.mkdir(exist_ok=True)
        (out / "current.json").write_text(json.dumps(["", time.time()]), encoding="utf-8")
        command = [sys.executable, "-P", "-m", "builders.webspatial.capture.runner", str(out.resolve())]
        environment = {**os.environ, "TMPDIR": str(temporary.resolve()), "PYTHONPATH": str(ROOT)}
        code, reason = _work(command, environment, out, limits)
        current = json.loads((out / "current.json").read_text(encoding="utf-8"))[0]
        if current and current not in _done(out, entries):
            status = reason or "crashed"
            record = {**identity(by_id[current]), "status": status, "message": store.REASONS[status]}
            _append(out, {**record, "seconds": limits.seconds if reason else 0})
        elif code and not current:
            raise GoldsmithError("[webspatial > capture] the browser does not start: see the lines above")
        after = len(_done(out, entries))
        if after == before:
            raise GoldsmithError(f"[{out}] nothing can be written there, or the browser ends at once: see above")
        note(f"{after} of {len(by_id)} pages")
        shutil.rmtree(temporary, ignore_errors=True)


def _work(command: Sequence[str], environment: Mapping[str, str], out: Path, limits: Limits) -> tuple[int, str | None]:
    """Run the worker; its exit code, and the limit that its page passed, if any."""
    process: subprocess.Popen[bytes] | None = None
    try:
        with deferred():
            process = subprocess.Popen(command, start_new_session=True, env=environment, cwd=out)  # noqa: S603  (our own module)
        reason = _watch(process, out, limits)
    finally:
        code = _end(process) if process is not None else 0
    return code, reason


def _watch(process: subprocess.Popen[bytes], out: Path, limits: Limits) -> str | None:
    """Wait for the worker, until its page passes a limit. The reason, None if it ended."""
    reason = None
    while process.poll() is None:
        time.sleep(0.25)
        try:
            current, since = json.loads((out / "current.json").read_text(encoding="utf-8"))
        except (ValueError, OSError):
            continue
        if time.time() - since > (limits.seconds if current else 60):
            reason = "time_limit"
        elif sum(_family(process.pid).values()) > limits.megabytes:
            reason = "memory_limit"
        if reason:
            break
    return reason


def _end(process: subprocess.Popen[bytes]) -> int:
    """End the worker with its browser; its exit code."""
    for pid in (*_family(process.pid), process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return process.wait()


def _family(pid: int) -> dict[int, float]:
    """Resident megabytes of all processes below a process, by their ids; none where /proc is absent.

    The browser is found by its parents: it has a session of its own.
    """
    parents: dict[int, int] = {}
    memory: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            child = int(stat.parent.name)
            parents[child], memory[child] = int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        except (OSError, ValueError, IndexError):
            continue
    below = {pid}
    while more := {child for child, parent in parents.items() if parent in below and child not in below}:
        below |= more
    return {child: memory[child] for child in below - {pid}}


def _write_rejects(out: Path, entries: Sequence[PageEntry]) -> None:
    records = _log(out)
    lines = []
    for entry in entries:
        record = records.get(entry.id, {})
        if record.get("status") != "captured":
            kept = {key: record.get(key, "") for key in ("id", "group", "path", "status", "message")}
            if record.get("detail"):
                kept["message"] += f": {store.canonical(record['detail'])}"
            kept |= {"licence": entry.licence, "commit": entry.commit}
            lines.append(json.dumps(kept, ensure_ascii=False, sort_keys=True) + "\n")
    (out / "rejects.jsonl").write_text("".join(lines), encoding="utf-8")


def _worker(out: Path) -> None:
    from playwright.sync_api import Error, sync_playwright

    from builders.webspatial.capture.browser import launch

    job = json.loads((out / "job.json").read_text(encoding="utf-8"))
    packages = Packages(Path(job["packages"])) if job["packages"] else None
    entries = read_pages(Path(job["pages"]))
    done = _done(out, entries)
    waiting = [entry for entry in entries if entry.id not in done]
    allow = {host for entry in waiting for host in entry.allow}
    with sync_playwright() as playwright:
        browser = launch(playwright, allow)
        for k, entry in enumerate(waiting):
            if k and k % 25 == 0:  # A browser grows with every page.
                browser.close()
                browser = launch(playwright, allow)
            start = time.time()
            (out / "current.json").write_text(json.dumps([entry.id, start]), encoding="utf-8")
            folder = Path(job["folders"][entry.group])
            mounts = {prefix: Path(job["folders"][name]) for prefix, name in entry.mounts.items()}
            try:
                record = capture_page(browser, entry, folder, mounts, packages, out, job["seconds"])
            except Error as error:  # The page took its process with it: the next has a browser of its own.
                detail = str(error).splitlines()[0][:300]
                record = {**identity(entry), "status": "crashed", "message": store.REASONS["crashed"], "detail": detail}
                record["seconds"] = round(time.time() - start, 2)
                browser.close()
                browser = launch(playwright, allow)
            _append(out, record)
            print(f"{record['status']:12} {record['seconds']:6.1f} s  {entry.group}/{entry.path}", file=sys.stderr)
        browser.close()


if __name__ == "__main__":
    try:
        _worker(Path(sys.argv[1]))
    except GoldsmithError as wrong:
        sys.exit(str(wrong))
