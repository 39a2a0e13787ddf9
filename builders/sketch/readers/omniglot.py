"""Omniglot's strokes: a text file a drawing, `x,y,t` a line, between START and BREAK lines; y is up, so it is turned.

`<set>/<alphabet>/character01/0108_07.txt`: the number after the bar is the drawer, counted within the alphabet. Read
from the zip file as it is published, or from its folder. Nothing in an archive is unpacked, so no name in it can lead
anywhere.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from builders.sketch import names, strokes
from builders.sketch.forms import BadDrawingError, Drawing, Entry, Problem, files, unique
from builders.sketch.text_files import text
from schemas import GoldsmithError

_PATH = re.compile(r"(?:.*/)?(?P<alphabet>[^/]+)/(?P<character>character\d+)/(?P<item>\d+)_(?P<drawer>\d+)\.txt")
_LARGEST = 4 << 20
"""Bytes of a drawing's text; more is no drawing."""


class Omniglot:
    """A zip file, a folder of zip files, or the folder that was in one."""

    def __init__(self, path: Path) -> None:
        zips = [path] if path.is_file() else files(path, ".zip")
        self._archives = {each.name: _opened(each) for each in zips}
        self._texts = {} if path.is_file() else {p.relative_to(path).as_posix(): p for p in files(path, ".txt")}
        if not self._archives and not self._texts:
            raise GoldsmithError(f"[{path}] has no drawing: give Omniglot's strokes_background.zip or its folder")

    def entries(self) -> Iterator[Entry | Problem]:
        yield from (_entry(name, name) for name in sorted(self._texts))
        for archive in sorted(self._archives):
            for member in sorted(self._archives[archive].namelist()):
                if member.endswith(".txt") and not member.startswith("__MACOSX/"):
                    yield _entry(f"{archive}:{member}", member)

    def drawing(self, entry: Entry) -> Drawing:
        with_times = [_rows(block) for block in _blocks(self._text(entry.file))]
        found, repairs = strokes.timed(with_times)
        kept, more = strokes.usable(found)
        return Drawing("character", kept, repairs=unique(repairs + more))

    def _text(self, name: str) -> str:
        if name in self._texts:
            return text(self._texts[name])
        archive, _, member = name.partition(":")
        opened = self._archives[archive]
        if opened.getinfo(member).file_size > _LARGEST:
            raise BadDrawingError("too_long", "the text is too large for a drawing")
        try:
            return opened.read(member).decode("utf-8", errors="backslashreplace")
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
            raise BadDrawingError("bad_archive", f"it cannot be read from the archive ({error})") from None


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise GoldsmithError(f"[{path}] is no zip file that can be read ({error}): fetch it again, whole") from None


def _entry(name: str, member: str) -> Entry | Problem:
    match = _PATH.fullmatch(member)
    if match is None:
        return Problem("bad_name", "its path is not alphabet/character01/0001_01.txt", name)
    alphabet = names.tidy(match["alphabet"])
    category = f"{alphabet} {match['character'].replace('character', 'character ')}"
    return Entry(
        name, 0, f"{match['alphabet']}-{match['item']}-{match['drawer']}", category, f"{alphabet} {match['drawer']}"
    )


def _blocks(content: str) -> list[list[str]]:
    """The lines of each stroke."""
    blocks: list[list[str]] = [[]]
    for line in content.split("\n"):
        word = line.strip()
        if word == "BREAK":
            blocks.append([])
        elif word and word != "START":
            blocks[-1].append(word)
    return [block for block in blocks if block]


def _rows(block: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    try:
        values = [[float(value) for value in line.split(",")] for line in block]
    except ValueError:
        raise BadDrawingError("bad_row", "a line is neither x,y,t nor START nor BREAK") from None
    rows = strokes.table(values, "points")
    if rows.shape[1] != 3:
        raise BadDrawingError("bad_row", f"a point has {rows.shape[1]} numbers: x, y and t are three")
    return *strokes.points(rows[:, 0], -rows[:, 1]), rows[:, 2]
