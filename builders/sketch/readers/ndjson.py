"""Quick, Draw! and its part-labelled subset SPG: a drawing a line, coordinates in rows.

Quick, Draw! strokes are `[xs, ys, ts]` (raw) or `[xs, ys]` (simplified to 0..255). SPG strokes (SketchGNN's copy) are
`[xs, ys, labels]`, the label repeated for each point, in files named after their category (`apple_raw.ndjson`), whose
label names are in `apple.txt`; in some strokes the label row stands twice. SPG's original is one JSON object a file,
`{"train_data": [[[dx, dy, pen, label], ...], ...]}`, also called `.ndjson`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch import names, strokes
from builders.sketch.forms import (
    BadDrawingError,
    Drawing,
    Entry,
    Problem,
    Stroke,
    digest,
    files,
    short,
    text_of,
    unique,
)
from builders.sketch.text_files import as_objects, line, text
from schemas import GoldsmithError


def _record(folder: Path, entry: Entry) -> dict[str, Any]:
    return json.loads(line(folder / entry.file, entry.index))


class QuickDraw:
    """A folder of `*.ndjson`, raw or simplified; the word of each line is its category."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = files(folder, ".ndjson")
        if not self._files:
            raise GoldsmithError(f"[{folder}] has no .ndjson file: give Quick, Draw!'s files")

    def entries(self) -> Iterator[Entry | Problem]:
        for path in self._files:
            name = path.relative_to(self._folder).as_posix()
            for index, content, record in as_objects(path, name):
                if isinstance(record, Problem):
                    yield record
                    continue
                word, key = text_of(record, "word"), text_of(record, "key_id")
                if word and key:
                    yield Entry(name, index, key, names.tidy(word), None, digest(record.get("drawing")), "line")
                else:
                    message = "it needs word, key_id and drawing"
                    yield Problem("bad_record", message, f"{name} line {index + 1}", short(content))

    def drawing(self, entry: Entry) -> Drawing:
        record = _record(self._folder, entry)
        rows = _stroke_rows(record)
        sizes = {len(stroke) for stroke in rows}
        if sizes == {3}:
            with_times = []
            for stroke in rows:
                x, y = strokes.points(stroke[0], stroke[1])
                t = strokes.numbers(stroke[2], "times")
                if len(t) != len(x):
                    raise BadDrawingError("uneven_rows", f"a stroke has {len(x)} points and {len(t)} times")
                with_times.append((x, y, t))
            found, repairs = strokes.timed(with_times)
        elif sizes == {2}:
            found, repairs = [Stroke(*strokes.points(*stroke)) for stroke in rows], []
        else:
            raise BadDrawingError("bad_row", f"strokes have {sorted(sizes)} rows: two, or three with times")
        kept, more = strokes.usable(found)
        recognized = record.get("recognized")
        country = text_of(record, "countrycode")
        return Drawing(
            "object",
            kept,
            country=country if country and len(country) == 2 else None,
            recognized=recognized if isinstance(recognized, bool) else None,
            repairs=unique(repairs + more),
        )


class Spg:
    """A folder of SPG's files in either form, with a `.txt` of label names for each category."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = files(folder, ".ndjson", ".json")
        self._names = {path.stem: path for path in files(folder, ".txt")}
        if not self._files:
            raise GoldsmithError(f"[{folder}] has no .ndjson file: give SPG's files, and a .txt of names for each")

    def entries(self) -> Iterator[Entry | Problem]:
        # Files without names come last, so that a drawing that is also in a named one is taken from there.
        for path in sorted(self._files, key=lambda path: self._category(path.stem) is None):
            name = path.relative_to(self._folder).as_posix()
            known = self._category(path.stem)
            category = names.tidy(known or path.stem)
            original = _original(path)
            if original is not None:
                for index, drawing in enumerate(original):
                    yield Entry(
                        name,
                        index,
                        f"{path.stem}-{index}",
                        category,
                        None,
                        digest(drawing),
                        "drawing",
                        known is not None,
                    )
                continue
            for index, content, record in as_objects(path, name):
                if isinstance(record, Problem):
                    yield record
                    continue
                key = text_of(record, "key_id")
                if key:
                    yield Entry(
                        name, index, key, category, None, digest(record.get("drawing")), "line", known is not None
                    )
                else:
                    yield Problem("bad_record", "it has no key_id", f"{name} line {index + 1}", short(content))

    def drawing(self, entry: Entry) -> Drawing:
        path = self._folder / entry.file
        parts = self._part_names(path.stem)
        original = _original(path)
        if original is not None:
            found, labels, repairs = _offset_strokes(original[entry.index])
        else:
            found, labels, repairs = _labelled_strokes(_stroke_rows(_record(self._folder, entry)))
        used = sorted(set(labels))
        if used and not 0 <= used[0] <= used[-1] < len(parts):
            raise BadDrawingError(
                "unknown_label", f"a stroke has the label {used[-1]}, there are {len(parts)} names of parts"
            )
        tidied = [names.part_name(parts[value]) for value in used]
        groups = list(dict.fromkeys(name for name, _ in tidied))
        place = {value: groups.index(name) for value, (name, _) in zip(used, tidied, strict=True)}
        with_groups = [Stroke(s.x, s.y, None, place[value]) for s, value in zip(found, labels, strict=True)]
        kept, more = strokes.usable(with_groups)
        respelt = ["part_respelt"] if any(mended for _, mended in tidied) else []
        return Drawing("object", kept, tuple(groups), repairs=unique(repairs + more + respelt))

    def _category(self, stem: str) -> str | None:
        """The longest name of a `.txt` that a file's name begins with: `apple` of `apple_raw` and `apple256`."""
        fits = [name for name in self._names if stem.startswith(name) and not stem[len(name) :][:1].isalpha()]
        return max(fits, key=len, default=None)

    def _part_names(self, stem: str) -> list[str]:
        """The names of labels 0, 1, ...; a file without names has numbered parts, so that its strokes can be used."""
        category = self._category(stem)
        if category is None:
            return [f"part {number}" for number in range(strokes.MOST_GROUPS)]
        named = self._names[category]
        return _label_names(named, named.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _label_names(path: Path, stamp: int) -> list[str]:
    return [each.strip() for each in text(path).split("\n") if each.strip()]


@lru_cache(maxsize=2)
def _parsed(path: Path, stamp: int) -> list[Any] | None:
    try:
        value = json.loads(text(path))
    except (ValueError, RecursionError):
        return None  # Lines, or broken: then each line says so.
    if not isinstance(value, dict):
        return None
    sets = [value.get(name) for name in ("train_data", "val_data", "test_data")]
    if not any(isinstance(each, list) for each in sets):
        return None
    return [drawing for each in sets if isinstance(each, list) for drawing in each]


def _original(path: Path) -> list[Any] | None:
    """The drawings of a file in SPG's original form; None for any other."""
    return _parsed(path, path.stat().st_mtime_ns)


def _stroke_rows(record: dict[str, Any]) -> list[list[Any]]:
    rows = record.get("drawing")
    if not isinstance(rows, list) or not rows:
        raise BadDrawingError("no_strokes", "its drawing is missing or empty")
    if not all(isinstance(stroke, list) for stroke in rows):
        raise BadDrawingError("bad_row", "a stroke is no list of rows")
    return rows


def _labelled_strokes(rows: list[list[Any]]) -> tuple[list[Stroke], list[int], list[str]]:
    """Strokes, their labels, and what was mended, of rows x, y, label (and the label again)."""
    found, labels, repairs = [], [], []
    for stroke in rows:
        if len(stroke) == 4 and stroke[2] == stroke[3]:
            repairs.append("label_row_twice")
        elif len(stroke) != 3:
            raise BadDrawingError("bad_row", f"a stroke has {len(stroke)} rows: x, y and labels are three")
        x, y = strokes.points(stroke[0], stroke[1])
        if not len(x) and not stroke[2]:
            repairs.append("empty_stroke")
            continue
        labels.append(strokes.label(stroke[2], len(x)))
        found.append(Stroke(x, y))
    return found, labels, repairs


def _offset_strokes(drawing: Any) -> tuple[list[Stroke], list[int], list[str]]:
    """The same of offset rows dx, dy, pen, label."""
    rows = strokes.table(drawing, "points")
    if rows.shape[1] != 4:
        raise BadDrawingError("bad_row", f"points have {rows.shape[1]} numbers: dx, dy, pen and label are four")
    found = strokes.from_offsets(rows)
    ends = np.cumsum([len(stroke.x) for stroke in found])
    labels = [strokes.label(part, len(part)) for part in np.split(rows[:, 3], ends[:-1])]
    return found, labels, []
