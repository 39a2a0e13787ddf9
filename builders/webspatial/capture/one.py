"""One page, whole: opened, captured, played, turned and stored; or the reason why not.

Not its business: pages that hang (`runner` ends the process they run in).
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.webspatial.capture import interact, store, turning
from builders.webspatial.capture.page import AppPage
from builders.webspatial.capture.pages import PageEntry
from builders.webspatial.capture.serve import FolderServer, Packages

if TYPE_CHECKING:
    from playwright.sync_api import Browser


SHARE = 0.6
"""Of the time a page may take: when a time line that has not ended is left out, so that the page is not lost for it."""


def capture_page(
    browser: Browser,
    entry: PageEntry,
    folder: Path,
    mounts: Mapping[str, Path],
    packages: Packages | None,
    out: Path,
    seconds: float = math.inf,
) -> dict[str, Any]:
    """Capture a page into `out`, without its time line where that would not end in `seconds`.

    Returns the record of what came of it; its `status` is `captured` or one of `store.REASONS`.
    """
    shutil.rmtree(out / entry.id, ignore_errors=True)
    server = FolderServer(folder, mounts, entry.isolate)
    start = time.monotonic()
    try:
        app = _page(browser, entry, server, packages)
        try:
            again = partial(_page, browser, entry, server, packages)
            record = _capture(app, entry, out, again, start + SHARE * seconds)
        finally:
            app.close()
    finally:
        server.close()
    return {**identity(entry), **record, "seconds": _since(start)}


def identity(entry: PageEntry) -> dict[str, Any]:
    """Which page, as the list had it, a record is about."""
    return {"id": entry.id, "entry": entry.digest, "group": entry.group, "path": entry.path}


def _page(browser: Browser, entry: PageEntry, server: FolderServer, packages: Packages | None) -> AppPage:
    return AppPage(
        browser,
        server.base + entry.path,
        seed=entry.seed,
        size=entry.size,
        packages=packages if entry.npm else None,
        allow=entry.allow,
    )


def _capture(
    app: AppPage, entry: PageEntry, out: Path, again: Callable[[], AppPage], deadline: float
) -> dict[str, Any]:
    start = time.monotonic()
    app.open()
    loaded = _since(start)
    ready = app.warm(entry.warm)
    before = app.picture() if entry.check_pixels else None
    found = app.capture(nearby=entry.nearby, **({"solo": 24, "nearbySolo": 14} if entry.nearby else {}))
    times: dict[str, Any] = {"load_s": loaded, "ready_frame": ready, "capture_ms": round(found.get("captureMs") or 0)}
    if not found.get("graph"):
        reason = _reason(found, app)
        return {"status": reason, "message": store.REASONS[reason], "detail": _detail(app), **times}
    declare_fronts(found["graph"]["nodes"], entry.fronts)
    pictures = {"canvas": store.png(found.pop("colorPng"))} if found.get("colorPng") else {}
    if found.get("idPng"):
        pictures["ids"] = store.png(found.pop("idPng"))
    page_picture = app.picture() if entry.keep_page else None
    data = {"page": _page_facts(entry), "safe": app.safe(), **found}
    if page_picture:
        pictures["page"] = page_picture
        if before:
            data["changed_pixels"] = store.differing(before, page_picture)
    if entry.turns:
        data["turns"], more = turning.turns(app, found["graph"])
        pictures |= more
    if entry.frames:
        try:
            data["events"], more = _time_line(app, entry, found, again, deadline)
            pictures |= more
        except interact.ScriptFailedError as error:
            return {"status": "script_failed", "message": store.REASONS["script_failed"], "detail": str(error), **times}
        except interact.TooSlowError as error:
            data["no_events"] = times["no_events"] = str(error)
    store.write(out, entry.id, data, pictures)
    graph = found["graph"]
    facts = {
        "engine": graph["engine"],
        "revision": str(graph.get("revision")),
        "nodes": len(graph["nodes"]),
        "seen": found.get("objectsSeen", 0),
        "in_worker": found.get("inWorker", False),
    }
    return {"status": "captured", "masked": bool(found.get("objectsSeen")), **facts, **times}


def declare_fronts(nodes: list[dict[str, Any]], fronts: Mapping[str, Sequence[float]]) -> None:
    """Put the fronts that the list declares (`PageEntry.fronts`) where an application's own would be."""
    for node in nodes:
        names = (node["path"], (node.get("geometry") or {}).get("type") or "")
        for pattern, front in fronts.items():
            if node.get("drawable") and any(fnmatchcase(name, pattern) for name in names):
                node["userData"] = {"front": list(front), **(node.get("userData") or {})}


def _page_facts(entry: PageEntry) -> dict[str, Any]:
    names = ("group", "path", "url", "commit", "licence", "redistribute", "warm", "frames", "seed", "size", "actions")
    return {name: getattr(entry, name) for name in names}


def _time_line(
    app: AppPage, entry: PageEntry, found: dict[str, Any], again: Callable[[], AppPage], deadline: float
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The script played, and once more in a fresh page without it, so that a cause can be told from a coincidence."""
    seen = [n for n in found["graph"]["nodes"] if n.get("mask")]
    targets = {n[key]: tuple(n["mask"]["centroid"]) for key in ("path", "name") for n in seen if n[key]}
    wanted = {0, *entry.pictures, entry.frames}  # "From the first picture to the last" is the whole time line.
    played = interact.play(app, entry.actions, entry.frames, wanted, targets, deadline)
    scale = _usual_size(found["graph"])
    changes = interact.segments(played["series"], scale)
    control: list[dict[str, Any]] = []
    if entry.actions:
        other = again()
        try:
            other.open()
            other.warm(entry.warm)
            other.capture(nearby=0, solo=0)
            alone = interact.play(other, (), entry.frames, deadline=deadline)
            control = interact.segments(alone["series"], scale)
        finally:
            other.close()
    interact.link(played["inputs"], changes, control)
    for change in changes:
        change["id"] = _ids(found["graph"]).get(change["object"])
    pictures = {f"frame-{frame:03}": store.png(shot) for frame, shot in played["pictures"].items() if shot}
    events = {"frames": entry.frames, "scale": scale, "inputs": played["inputs"], "changes": changes}
    shown = sorted(frame for frame, shot in played["pictures"].items() if shot)
    return {**events, "control": control, "pictures": shown}, pictures


def _ids(graph: dict[str, Any]) -> dict[str, int]:
    return {n["path"]: n["id"] for n in graph["nodes"] if n.get("drawable")}


def _usual_size(graph: dict[str, Any]) -> float:
    """The median size of what is seen; of two, the smaller: a single thing on a large floor."""
    boxes = [n["worldBox"] for n in graph["nodes"] if n.get("worldBox") and n.get("maskPixels")]
    sizes = sorted(sum((b - a) ** 2 for a, b in zip(x["min"], x["max"], strict=True)) ** 0.5 for x in boxes)
    return next((size for size in sizes[(len(sizes) - 1) // 2 :] if size > 0), 1.0)


def _reason(found: dict[str, Any], app: AppPage) -> str:
    error = found.get("error", "no_answer")
    if error != "no_scene":
        return error if error in store.REASONS else "no_answer"
    errors = [text for kind, text in app.log if kind == "pageerror"]
    missing = [url for url in app.failed if "favicon" not in url and url.startswith("404")]
    status = found.get("status") or {}
    if app.safe().get("webgpu") and not status.get("gl"):
        return "webgpu"
    if app.blocked:
        return "needs_network"
    if missing:
        return "missing_file"
    if errors:
        return "page_error"
    return "no_scene" if status.get("gl") else "no_webgl"


def _detail(app: AppPage) -> str:
    texts = [text for kind, text in app.log if kind in ("pageerror", "goto", "evaluate")]
    return " | ".join([*texts[:2], *app.blocked[:2], *app.failed[:2]])[:400]


def _since(start: float) -> float:
    return round(time.monotonic() - start, 2)
