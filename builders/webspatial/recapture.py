"""The bundled sample's pages captured again on this machine, and compared with the bundled captures part by part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from builders.webspatial import make_sample
from builders.webspatial.capture import browser, store
from builders.webspatial.capture.pages import read_pages
from builders.webspatial.capture.runner import capture_all
from schemas import GoldsmithError


def recapture(out: Path, every: int) -> Iterator[str]:
    """Capture every n-th page of the sample into `out`; yields lines for people, never fails for want of a browser."""
    if browser.missing() and not os.environ.get("GOLDSMITH_BROWSER"):
        found = browser.from_registry(out / ".browser")
        if found:
            os.environ["GOLDSMITH_BROWSER"] = str(found.resolve())
    why = browser.missing()
    if why:
        yield f"no page is captured here, the stored captures are used: {why}"
        return
    pages = out / "pages.toml"
    out.mkdir(parents=True, exist_ok=True)
    pages.write_text(_some(make_sample.page_list(), every), encoding="utf-8")
    folder = {make_sample.GROUP: make_sample.FOLDER / "scenes"}
    try:
        records = capture_all(pages, folder, out / "captures", packages=out / ".packages")
    except GoldsmithError as error:
        yield f"no page is captured here, the stored captures are used: {error}"
        return
    entries = {entry.id: entry for entry in read_pages(pages)}
    for record in records:
        yield f"{record['status']:10} {_compared(record['id'], out)}  {entries[record['id']].path[:70]}"


def _some(text: str, every: int) -> str:
    """The page list with every n-th page."""
    head, *pages = text.split("[[group.page]]")
    return head + "".join("[[group.page]]" + page for page in pages[::every])


def _compared(name: str, out: Path) -> str:
    bundled, again = make_sample.FOLDER / "sample" / "captures" / name, out / "captures" / name
    if not (again / "capture.json.gz").is_file():
        return "not compared"
    old, new = store.sums(bundled), store.sums(again)
    differ = sorted(part for part in {*old, *new} if old.get(part) != new.get(part))
    return "the same graph, pictures and events" if not differ else f"differs in {', '.join(differ)}"
