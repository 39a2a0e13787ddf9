"""The page list: which pages are captured, from which folder, with which input. A TOML file.

[[group]]
name = "owner/repository"          # names the folder that is given with --folder
url, commit, licence = "..."       # where it is from; a licence of NONE means that captures may not be passed on
redistribute = true
npm = true                         # library URLs of jsdelivr and unpkg are served from npm's packages
allow = ["host"]                   # hosts that may be asked besides; none is the rule
pages = ["a.html", "b.html?x=1"]   # or [[group.page]] with path, actions, frames, seed, size, turns, nearby
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from schemas import GoldsmithError


@dataclass(frozen=True)
class PageEntry:
    """A page to capture.

    Attributes:
        group, path: which folder, which page in it (with its query).
        warm: frames before the capture; frames: frames of the time line after it; pictures: at which of them.
        actions: see `interact.play`.
        nearby: degrees by which the camera is turned to re-check what is hidden; 0 for none.
        turns: whether chiral objects are pictured turned and mirrored.
        keep_page: whether the picture of the whole page is kept.
    """

    group: str
    path: str
    url: str = ""
    commit: str = ""
    licence: str = ""
    redistribute: bool = True
    npm: bool = False
    allow: tuple[str, ...] = ()
    warm: int = 12
    frames: int = 0
    pictures: tuple[int, ...] = ()
    actions: tuple[tuple[Any, ...], ...] = ()
    seed: int = 1
    size: tuple[int, int] = (800, 600)
    nearby: float = 0
    turns: bool = False
    keep_page: bool = True
    isolate: bool = False
    mounts: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A name for its folder: readable, and different for different entries."""
        text = f"{self.group}/{self.path}/{self.actions or ''}/{self.seed}"
        readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{self.group.rpartition('/')[2]}-{self.path}").strip("-")
        return f"{readable[-60:].strip('-')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


_PAGE_KEYS = {f.name for f in fields(PageEntry)}


def read_pages(path: Path) -> list[PageEntry]:
    """Read a page list.

    Raises:
        GoldsmithError: it is absent, no TOML, or an entry is wrong.
    """
    try:
        groups = tomllib.loads(path.read_text(encoding="utf-8"))["group"]
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is absent: give a page list (see builders/webspatial/README.md)") from None
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise GoldsmithError(f"[{path}] is no page list ({error}): it needs [[group]] entries") from None
    entries: list[PageEntry] = []
    for group in groups:
        shared = {k: v for k, v in group.items() if k not in ("name", "pages", "page")}
        for page in [{"path": p} for p in group.get("pages", [])] + group.get("page", []):
            entries.append(_entry(path, {"group": group.get("name", ""), **shared, **page}))
    return entries


def _entry(path: Path, form: dict[str, Any]) -> PageEntry:
    unknown = sorted(set(form) - _PAGE_KEYS)
    if unknown or not form["group"]:
        raise GoldsmithError(f"[{path.name} > {form.get('path')}] {unknown or 'no group name'}: see capture/pages.py")
    lists = {
        k: tuple(tuple(x) if isinstance(x, list) else x for x in v) for k, v in form.items() if isinstance(v, list)
    }
    return PageEntry(**{**form, **lists})
