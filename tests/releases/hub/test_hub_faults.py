"""Faults between here and the Hub. After each, a reader sees all of the new version or nothing of it; the next run ends
well. What was seen is printed as a table at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from driver import ACCOUNTS, OLD_TOKEN, QUICK, READ_TOKEN, Client, holds, lay, published, seen
from loophub import Fault, Loophub
from loophub.faults import FOREVER
from loophub.store import Commit
from tiny import make_release

REPO, TAG = "acme/gauges", "v1.1.0"
STORE, BATCH, PREUPLOAD = r"/_store/", r"objects/batch", r"/preupload/"
MAIN, STAGING, SET_TAG = r"/commit/main", r"/commit/staging", r"/tag/"
HTML = {"status": 502, "body": "<html>Bad Gateway</html>", "headers": {"Content-Type": "text/html"}}
SLOW_DOWN = {"status": 429, "headers": {"Retry-After": "1"}}
LIMITED = {"status": 429, "headers": {"RateLimit": '"api";r=0;t=1', "RateLimit-Policy": '"fixed window";"api";q=9;w=9'}}
ONCE = {"patience": {**QUICK, "attempts": 1}}

PUBLISHED = "published and verified"
UNTOUCHED = "nothing visible changed"
WHOLE = "whole on main, tag to come"
CLOSED = "tagged, still private"


@dataclass(frozen=True)
class Cell:
    """A fault, and what must be seen after the run that meets it and after the next one."""

    name: str
    faults: tuple[Fault, ...]
    first: str
    words: str = ""
    second: str = PUBLISHED
    options: dict[str, Any] = field(default_factory=dict)
    new: bool = False
    multipart: bool = False


def someone_commits(hub: Any) -> None:
    """A commit on main by somebody else, at the worst moment."""
    here = hub.store.repos[REPO]
    tree = {**here.tree(), "README.md": hub.store.keep_blob(b"---\nlicense: mit\n---\nnew words")}
    here.refs["refs/heads/main"] = here.add(Commit(here.resolve("main"), tree, "someone", "someone"))


def someone_tags(hub: Any) -> None:
    """The tag, set by somebody else on another commit."""
    hub.store.repos[REPO].refs[f"refs/tags/{TAG}"] = hub.store.repos[REPO].resolve("v1.0.0")


def put(**how: Any) -> tuple[Fault, ...]:
    return (Fault("PUT", STORE, **how),)


def post(path: str, **how: Any) -> tuple[Fault, ...]:
    return (Fault("POST", path, **how),)


CELLS = [
    Cell("no fault", (), PUBLISHED),
    *[Cell(f"PUT cut at byte {n}", put(cut_after=n), PUBLISHED) for n in (0, 1, 700)],
    Cell("PUT cut at byte 700, for ever", put(cut_after=700, times=FOREVER), UNTOUCHED, "connection", options=ONCE),
    Cell("PUT 500 once", put(status=500), PUBLISHED),
    Cell("PUT 500 for ever", put(status=500, times=FOREVER), UNTOUCHED, "answered 500", options=ONCE),
    Cell("PUT 429, Retry-After", put(**SLOW_DOWN), PUBLISHED),
    Cell("PUT answer lost", put(lose_answer=True), PUBLISHED),
    Cell("PUT 403, URL expired once", put(status=403), PUBLISHED),
    Cell("PUT 403, URL expired for ever", put(status=403, times=FOREVER), UNTOUCHED, "signed URL"),
    Cell("part of a PUT cut", (Fault("PUT", r"/part/2", cut_after=300),), PUBLISHED, multipart=True),
    Cell("complete_multipart 500", post("complete_multipart", status=500), PUBLISHED, multipart=True),
    Cell("PUT hangs", put(delay=30), PUBLISHED, options={"patience": {**QUICK, "silence": 10.0}}),
    Cell("LFS batch 429, Retry-After", post(BATCH, **SLOW_DOWN), PUBLISHED),
    Cell("preupload 429, RateLimit", post(PREUPLOAD, **LIMITED), PUBLISHED),
    Cell("validate-yaml 502 HTML once", post("validate-yaml", **HTML), PUBLISHED),
    Cell("validate-yaml 502 HTML for ever", post("validate-yaml", **HTML, times=FOREVER), UNTOUCHED, "no JSON"),
    Cell("staging commit 500 once", post(STAGING, status=500), PUBLISHED),
    Cell("staging commit, answer lost", post(STAGING, lose_answer=True), PUBLISHED),
    Cell("staging commit 403", post(STAGING, status=403, times=FOREVER), UNTOUCHED, "may write there"),
    Cell("branch answer lost", post(r"/branch/", lose_answer=True), PUBLISHED),
    Cell("store keeps wrong bytes", put(corrupt=True), UNTOUCHED, "other bytes", second=UNTOUCHED),
    Cell("read back truncated once", (Fault("GET", STORE, truncate=500),), PUBLISHED),
    Cell("read back 503 for ever", (Fault("GET", STORE, status=503, times=FOREVER),), UNTOUCHED, "503"),
    Cell("commit 429, Retry-After", post(MAIN, **SLOW_DOWN), PUBLISHED),
    Cell("commit 429, RateLimit", post(MAIN, **LIMITED), PUBLISHED),
    Cell("commit 500 twice", post(MAIN, status=500, times=2), PUBLISHED),
    Cell("commit 500 for ever", post(MAIN, status=500, times=FOREVER), UNTOUCHED, "answered 500"),
    Cell("commit cut before it was read", post(MAIN, cut_after=0), PUBLISHED),
    Cell("commit applied, answer lost", post(MAIN, lose_answer=True), PUBLISHED),
    Cell(
        "commit applied, answer lost, state 503 twice",
        (*post(MAIN, lose_answer=True), Fault("GET", r"/refs", status=503, times=2, skip=2)),
        PUBLISHED,
    ),
    Cell("commit 412, someone was faster", post(MAIN, before=someone_commits), UNTOUCHED, "by someone else"),
    Cell("commit 412, though main stands", post(MAIN, status=412), UNTOUCHED, "412"),
    Cell("commit 401, token revoked", post(MAIN, status=401, times=FOREVER), UNTOUCHED, "hf auth login"),
    Cell("commit 403", post(MAIN, status=403, times=FOREVER), UNTOUCHED, "403"),
    Cell("401, token expired", (), UNTOUCHED, "refused", options={"token": OLD_TOKEN}),
    Cell("403, token may only read", (), UNTOUCHED, "may only read", options={"token": READ_TOKEN}),
    Cell("tag 500 once", post(SET_TAG, status=500), PUBLISHED),
    Cell("tag applied, answer lost", post(SET_TAG, lose_answer=True), PUBLISHED),
    Cell("tag 500 for ever", post(SET_TAG, status=500, times=FOREVER), WHOLE, "not tagged yet"),
    Cell(
        "tag set by someone on another commit",
        post(SET_TAG, before=someone_tags),
        "tag",
        "another commit",
        second="tag",
    ),
    Cell("new: create, answer lost", post(r"repos/create", lose_answer=True), PUBLISHED, new=True),
    Cell(
        "new: settings 500 for ever", (Fault("PUT", r"/settings", status=500, times=FOREVER),), CLOSED, "500", new=True
    ),
    Cell(
        "new: staging not deleted", (Fault("DELETE", r"/branch/", status=500, times=FOREVER),), "left", "500", new=True
    ),
]


@pytest.fixture(scope="module")
def small_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_release(tmp_path_factory.mktemp("small") / "1", "1.0.0", small=True)


@pytest.fixture(scope="module")
def small_2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_release(tmp_path_factory.mktemp("small") / "2", "1.1.0", small=True, count=60)


def run_cell(cell: Cell, client: Client, folder: Path, old: Path, new: Path) -> list[tuple[str, dict[str, Any]]]:
    """Publish with the fault, then without; what was seen, and the answer, each time."""
    parts: dict[str, Any] = {"multipart_over": 800, "part_bytes": 500} if cell.multipart else {}
    with Loophub(folder, ACCOUNTS, **parts) as hub:
        if not cell.new:
            lay(hub, REPO, old, "v1.0.0")
        before, results = seen(hub, REPO), []
        for faults, options in ((cell.faults, cell.options), ((), {})):
            hub.faults.set(*faults)
            answer = client.publish(hub, new, REPO, **options).get()
            assert all(fault.hits for fault in faults), "the fault was not met"
            results.append((verdict(hub, new, before), answer))
        return results


def verdict(hub: Loophub, release: Path, before: dict[str, Any]) -> str:
    """What a reader sees."""
    if published(hub, REPO, release, TAG):
        return PUBLISHED
    now, here = seen(hub, REPO), hub.store.repos.get(REPO)
    tagged = here is not None and f"refs/tags/{TAG}" in here.refs
    someone = here is not None and "someone" in here.titles()[:1]
    if not tagged and (now["main"] == before["main"] or someone):
        return UNTOUCHED
    if here is None or not holds(hub, REPO, "main", release):
        return "BETWEEN"
    if not tagged:
        return WHOLE
    if not holds(hub, REPO, TAG, release):
        return "tag"
    return CLOSED if here.visibility == "private" else "left"


LABELS: dict[str, str] = {"tag": "whole on main, another's tag is kept", "left": "published, staging branch left"}


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, small_1: Path, small_2: Path
) -> Iterator[Callable[[Cell], list[tuple[str, dict[str, Any]]]]]:
    """The chosen cells, run side by side: the client waits much and works little."""
    items: list[Any] = [item for item in request.session.items if item.path == request.path]
    chosen = [item.callspec.params["cell"] for item in items]
    folder = tmp_path_factory.mktemp("faults")
    client = Client(folder / "home")
    with ThreadPoolExecutor(6) as pool:
        waiting = sorted(chosen, key=lambda cell: "for ever" not in cell.name)  # those that wait longest go first
        futures: dict[str, Future[Any]] = {
            cell.name: pool.submit(run_cell, cell, client, folder / f"hub{n}", small_1, small_2)
            for n, cell in enumerate(waiting)
        }
        yield lambda cell: futures[cell.name].result()
    client.close()


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_fault(cell: Cell, results: Callable[..., Any], seen_table: list[tuple[str, str, str]]) -> None:
    first, answer, second, again = [value for seen_then in results(cell) for value in seen_then]
    seen_table.append((cell.name, str(LABELS.get(first, first)), str(LABELS.get(second, second))))
    error = answer.get("error", "")
    assert (first, second) == (cell.first, cell.second), (error, again)
    assert ("error" in answer) == (first != PUBLISHED)
    assert cell.words in error
    assert "\n" not in error
    assert "Signature" not in error, "a signed URL is a secret"
