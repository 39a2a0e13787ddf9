"""The page list: which pages are captured, from which folder, with which input. A TOML file.

[[group]]
name = "owner/repository"          # names the folder that is given with --folder
url, commit, licence = "..."       # where it is from; a licence of NONE means that captures may not be passed on
redistribute = true
npm = true                         # library URLs of jsdelivr and unpkg are served from npm's packages
allow = ["host"]                   # hosts that may be asked besides; none is the rule
pages = ["a.html", "b.html?x=1"]   # or [[group.page]] with path and what differs: any attribute of PageEntry
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from schemas import GoldsmithError

ACTIONS = {
    "move": "point", "click": "point", "down": "", "up": "", "wheel": "number", "key": "text", "keydown": "text",
    "keyup": "text",
}  # fmt: skip
"""What may be scripted, and what it takes; a point is x and y in CSS pixels, or an object's name or path."""


@dataclass(frozen=True)
class PageEntry:
    """A page to capture.

    Attributes:
        group, path: which folder, which page in it (with its query).
        kind: what the page shows, for tables ("physics", "drag").
        warm: frames before the capture; frames: frames of the time line after it; pictures: at which of them
            besides the first and the last.
        actions: see `interact.play`.
        nearby: degrees by which the camera is turned to re-check what is hidden; 0 for none.
        turns: whether chiral objects are pictured turned and mirrored.
        keep_page: whether the picture of the whole page is kept.
        check_pixels: whether the page is pictured before the capture as well, and the pixels that differ are counted.
        isolate: whether the page is served with the headers that SharedArrayBuffer needs.
        fronts: path or geometry type of objects (with * for any text) to their front, in their own axes; for
            applications that have a rule for it and do not say so in the graph.
        mounts: URL prefix ("/lib/") to the name of a further folder that is served there.
    """

    group: str
    path: str
    kind: str = ""
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
    check_pixels: bool = False
    isolate: bool = False
    fronts: dict[str, list[float]] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A name for its folder: readable, and different for different entries."""
        text = f"{self.group}/{self.path}/{self.actions or ''}/{self.seed}"
        readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{self.group.rpartition('/')[2]}-{self.path}").strip("-")
        return f"{readable[-60:].strip('-')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def digest(self) -> str:
        """Of all that the list says of it: a page whose entry was changed is captured again."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


_FIELDS = {f.name: f for f in fields(PageEntry)}


def read_pages(path: Path) -> list[PageEntry]:
    """Read a page list.

    Raises:
        GoldsmithError: it is absent, no TOML, or an entry is wrong or there twice.
    """
    try:
        groups = tomllib.loads(path.read_text(encoding="utf-8"))["group"]
    except (FileNotFoundError, IsADirectoryError):
        raise GoldsmithError(f"[{path}] is absent: give a page list (see builders/webspatial/README.md)") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError) as error:
        raise GoldsmithError(f"[{path}] is no page list ({error}): it needs [[group]] entries") from None
    entries: dict[str, PageEntry] = {}
    for group in groups if isinstance(groups, list) else [groups]:
        for form in _forms(path, group):
            entry = _entry(path, form)
            if entry.id in entries:
                raise GoldsmithError(f"[{path.name} > {entry.group}/{entry.path}] is there twice: keep one")
            entries[entry.id] = entry
    if not entries:
        raise GoldsmithError(f"[{path}] names no pages: give pages = [...] or [[group.page]] entries")
    return list(entries.values())


def _forms(path: Path, group: Any) -> list[dict[str, Any]]:
    """One table a page, with what its group says of all."""
    name = group.get("name", "") if isinstance(group, dict) else ""
    where = f"[{path.name} > {name or 'group'}]"
    if not name or not isinstance(name, str):
        raise GoldsmithError(f"{where} has no name: give each [[group]] a name, which --folder refers to")
    plain, tables = group.get("pages", []), group.get("page", [])
    if not isinstance(plain, list) or not all(isinstance(p, str) for p in plain):
        raise GoldsmithError(f"{where} pages must be a list of texts: pages = ['a.html', 'b.html']")
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise GoldsmithError(f"{where} page must be [[group.page]] tables: for paths alone write pages = [...]")
    shared = {k: v for k, v in group.items() if k not in ("name", "pages", "page")}
    return [{"group": name, **shared, **page} for page in [*({"path": p} for p in plain), *tables]]


def _entry(path: Path, form: Mapping[str, Any]) -> PageEntry:
    where = f"[{path.name} > {form['group']} > {form.get('path', 'page')}]"
    unknown = sorted(set(form) - set(_FIELDS))
    if unknown:
        raise GoldsmithError(f"{where} unknown: {', '.join(unknown)}: see builders/webspatial/capture/pages.py")
    page = form.get("path")
    if not isinstance(page, str) or not page or page.startswith("/") or ".." in page.split("?")[0].split("/"):
        raise GoldsmithError(f"{where} path must name a page within the group's folder: write it as 'examples/a.html'")
    for name, value in form.items():
        wrong = _wrong(name, value)
        if wrong:
            raise GoldsmithError(f"{where} {name} = {value!r} is wrong: it must be {wrong}")
    lists = {
        k: tuple(tuple(x) if isinstance(x, list) else x for x in v) for k, v in form.items() if isinstance(v, list)
    }
    return PageEntry(**{**form, **lists})


def _whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


_WHOLE = {"warm": (0, 600), "frames": (0, 600), "seed": (0, 2**32 - 1)}


def _wrong(name: str, value: Any) -> str | None:
    """What a value should have been; None if it is that."""
    if name in _WHOLE:
        low, high = _WHOLE[name]
        return None if _whole(value, low, high) else f"a whole number from {low} to {high}"
    if name == "nearby":
        good = type(value) in (int, float) and 0 <= value <= 20
        return None if good else "a number of degrees from 0 to 20"
    if name == "size":
        good = isinstance(value, list) and len(value) == 2 and all(_whole(v, 16, 4096) for v in value)
        return None if good else "[width, height], each from 16 to 4096"
    if name == "pictures":
        good = isinstance(value, list) and all(_whole(v, 0, 600) for v in value)
        return None if good else "a list of frames"
    if name == "actions":
        good = isinstance(value, list) and all(map(_is_action, value))
        return None if good else f"a list of [frame, kind, ...], of kinds {', '.join(ACTIONS)}"
    if name == "allow":
        good = isinstance(value, list) and all(isinstance(v, str) for v in value)
        return None if good else "a list of host names"
    if name == "fronts":
        good = isinstance(value, dict) and all(map(_is_direction, value.values()))
        return None if good else "a table of path or geometry type to [x, y, z]"
    if name == "mounts":
        good = isinstance(value, dict) and all(isinstance(v, str) and k.startswith("/") for k, v in value.items())
        return None if good else "a table of URL prefix (from '/') to the name of a folder"
    is_flag = isinstance(_FIELDS[name].default, bool)
    return None if type(value) is (bool if is_flag else str) else ("true or false" if is_flag else "a text")


def _is_direction(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(type(v) in (int, float) for v in value) and any(value)


def _is_action(action: Any) -> bool:
    """Whether this is [frame, kind, ...] with what the kind takes."""
    if not isinstance(action, list) or len(action) < 2 or not _whole(action[0], 0, 600):
        return False
    takes, rest = ACTIONS.get(action[1]) if isinstance(action[1], str) else None, action[2:]
    numbers = all(type(v) in (int, float) for v in rest)
    if takes == "point":
        return (len(rest) == 2 and numbers) or (len(rest) == 1 and isinstance(rest[0], str))
    if takes == "number":
        return len(rest) == 1 and numbers
    if takes == "text":
        return len(rest) == 1 and isinstance(rest[0], str) and bool(rest[0])
    return takes == "" and not rest
