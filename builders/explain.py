"""Walk a row back to the bytes it came from: the row, its lineage, and the place in each source.

Not its business: whether the row is right (`quality`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from builders.sources import Sources
from schemas import DatasetFolder, GoldsmithError, Table, sql

_LINE = re.compile(r"lines? (\d+)(?:\s?[-–]\s?(\d+))?\b")
_BYTE = re.compile(r"(?:offset|byte) (\d+)\b")
_IN_FOLDER = re.compile(r"(?P<file>.+?) (?P<place>(?:lines?|offset|byte) \d.*)")
_SHOWN_LINES = 20
_SHOWN_CHARACTERS = 2000


@dataclass(frozen=True)
class Excerpt:
    """A piece of a source, with what it is (`line 12`)."""

    label: str
    text: str


@dataclass(frozen=True)
class Origin:
    """One record that a row came from.

    Attributes:
        place: where in the source, as the builder named it.
        url: of the source, or its bundled file's path; for a file of one's own in place of it, that it is one.
        excerpts: the source's content at the place.
        problem: why there is no excerpt; empty if there is one.
    """

    source: str
    sha256: str
    place: str
    licence: str
    url: str
    citation: str
    excerpts: tuple[Excerpt, ...]
    problem: str


@dataclass(frozen=True)
class Explanation:
    """A row and where it came from."""

    table: str
    id: str
    split: str
    row: dict[str, Any]
    origins: tuple[Origin, ...]

    def to_json(self) -> dict[str, Any]:
        """A plain form for programs; bytes are given by their number."""
        return json.loads(json.dumps(asdict(self), default=_plain, ensure_ascii=False))

    def text(self) -> str:
        """For people."""
        lines = [f"{self.table} > {self.id} ({self.split})"]
        lines += [f"  {name}: {_short(value)}" for name, value in self.row.items()]
        for origin in self.origins:
            lines += ["", f"from {origin.source}, {origin.place}"]
            facts = {"at": origin.url, "sha256": origin.sha256, "licence": origin.licence, "cite": origin.citation}
            lines += [f"  {name:8} {value}" for name, value in facts.items() if value]
            lines += [
                f"  {excerpt.label:8} {line}" for excerpt in origin.excerpts for line in excerpt.text.splitlines()
            ]
            lines += [f"  {origin.problem}"] if origin.problem else []
        return "\n".join(lines)


def explain(folder: DatasetFolder, row_id: str, sources: Sources, table: str | None = None) -> Explanation:
    """Find a row by its id and show where it came from.

    Args:
        sources: of the dataset's builder; a source that cannot be had costs its excerpt only.
        table: needed where the id is in several tables.

    Raises:
        GoldsmithError: no such table or row (the nearest ids are named), it was withdrawn, it is in several tables, or
            a file is missing or damaged.
    """
    names = [each.name for each in folder.schema.tables]
    if table is not None and table not in names:
        raise GoldsmithError(f"[{table}] is no table of {folder.schema.name}: its tables are {', '.join(names)}")
    found = []
    for name in [table] if table else names:
        declared = folder.schema.table(name)
        _refuse_gone(folder, name)
        with _readable(folder.data(name)):
            found += [(declared, split, row) for split, row in _rows(folder, declared, row_id)]
    tables = sorted({declared.name for declared, _, _ in found})
    if not found:
        _refuse_withdrawn(folder, row_id, table)
        raise GoldsmithError(f"[{row_id}] is no row{_near(folder, [table] if table else names, row_id)}")
    if len(tables) > 1:
        raise GoldsmithError(f"[{row_id}] is in the tables {', '.join(tables)}: say which with --table")
    declared, split, row = found[0]
    path = folder.lineage(declared.name)
    with _readable(path):
        lines = pq.read_table(path, filters=[("id", "=", row_id)]).to_pylist()
    own = {source["name"] for source in folder.build["sources"] if source.get("override")}
    origins = tuple(_origin(line, sources, line["source"] in own) for line in lines)
    return Explanation(declared.name, row_id, split, row, origins)


def _refuse_gone(folder: DatasetFolder, table: str) -> None:
    """A row of a file that is gone would pass for one that never was."""
    for file in folder.build["files"]:
        path = folder.path / file["path"]
        if file["table"] == table and not path.is_file():
            raise GoldsmithError(f"[{path}] is missing: build the dataset again, or get the release again")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Read a file or folder of the dataset in this block; its damage is said in one line."""
    try:
        if not path.exists():
            raise GoldsmithError(f"[{path}] is missing: build the dataset again, or get the release again")
        yield
    except (pa.ArrowException, OSError, duckdb.Error) as error:
        cause = " ".join(str(error).split())[:200]
        raise GoldsmithError(
            f"[{path}] is damaged ({cause}): build the dataset again, or get the release again"
        ) from None


def _refuse_withdrawn(folder: DatasetFolder, row_id: str, table: str | None) -> None:
    if not folder.tombstones.is_file():
        return
    with _readable(folder.tombstones):
        stones = pq.read_table(folder.tombstones, filters=[("id", "=", row_id)]).to_pylist()
    for stone in stones:
        if table in (None, stone["table"]):
            text = f"was withdrawn on {stone['date']} ({stone['reason']})"
            raise GoldsmithError(
                f"[{stone['table']} > {row_id}] {text}; the last release with it is {stone['last_version']}"
            )


def _rows(folder: DatasetFolder, table: Table, row_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not folder.shards(table.name):
        raise GoldsmithError(f"[{folder.data(table.name)}] has no shard: build the dataset again")
    for split, paths in folder.shards(table.name).items():
        query = f"FROM {sql.scan(paths)} WHERE {table.row_id_sql()} = $id"
        with duckdb.connect() as connection:
            found = connection.sql(query, params={"id": row_id}).to_arrow_table()
        for row in found.to_pylist():
            yield split, row


def _near(folder: DatasetFolder, tables: list[str], row_id: str) -> str:
    paths = [folder.lineage(table) for table in tables]
    query = (  # An id without its first parts is likely to be meant by those that end with it.
        "SELECT DISTINCT id, ends_with(id, '/' || $id) AS ends, jaro_winkler_similarity(id, $id) AS likeness "
        f"FROM {sql.scan(paths)} ORDER BY ends DESC, likeness DESC, id LIMIT 3"
    )
    with _readable(folder.path / "lineage"), duckdb.connect() as connection:
        near = [row[0] for row in connection.execute(query, {"id": row_id}).fetchall()]
    return f": the nearest are {', '.join(near)}" if near else ", the dataset is empty: build it"


def _origin(line: dict[str, Any], sources: Sources, own: bool) -> Origin:
    name = line["source"]
    excerpts: tuple[Excerpt, ...] = ()
    problem = url = citation = ""
    try:
        spec = sources.spec(name)
        url, citation = spec.url or spec.path or "", spec.citation
        url = f"your own file in place of {url}" if own else url
        now = sources.resolve(name).sha256
        if now == line["sha256"]:
            excerpts = tuple(_excerpts(sources, name, line["place"]))
            problem = "" if excerpts else "the place cannot be shown: look it up in the source"
        else:
            problem = f"the source is now another file (sha256 {now}): give the old one with --source {name}=PATH"
    except GoldsmithError as error:
        problem = f"the source is not at hand: {error}"
    return Origin(name, line["sha256"], line["place"], line["licence"], url, citation, excerpts, problem)


def _excerpts(sources: Sources, name: str, place: str) -> Iterator[Excerpt]:
    if sources.resolve(name).encoding == "folder":
        yield from _in_folder(sources.path(name), place)
    elif match := _LINE.match(place):
        first = int(match[1])
        last = min(int(match[2] or first), first + _SHOWN_LINES - 1)
        if first > 1:
            yield from (Excerpt("line 1", line) for _, line in _lines(sources, name, 1, 1))
        yield from (Excerpt(f"line {number}", line) for number, line in _lines(sources, name, first, last))
    elif match := _BYTE.match(place):
        with sources.open(name) as file:
            file.seek(int(match[1]))
            yield Excerpt(place, file.read(_SHOWN_CHARACTERS // 4).decode("utf-8", "backslashreplace"))
    elif sources.resolve(name).encoding != "binary":
        yield from _search(sources, name, place)


def _in_folder(folder: Path, place: str) -> Iterator[Excerpt]:
    """Lines of a file of a folder, for a place such as `clips.tsv line 12`; nothing for other places."""
    match = _IN_FOLDER.fullmatch(place)
    line = _LINE.match(match["place"]) if match else None
    if match is None or line is None or not (folder / match["file"]).resolve().is_relative_to(folder.resolve()):
        return
    first = int(line[1])
    last = min(int(line[2] or first), first + _SHOWN_LINES - 1)
    with open(folder / match["file"], encoding="utf-8-sig", errors="backslashreplace", newline="\n") as file:
        for number, text in enumerate(itertools.islice(file, last), start=1):
            if number == 1 or number >= first:
                yield Excerpt(f"line {number}", text.rstrip("\r\n")[:_SHOWN_CHARACTERS])


def _search(sources: Sources, name: str, place: str) -> Iterator[Excerpt]:
    """The first line that holds the last word of a place such as `record NC_1`, and those after it."""
    word = place.split()[-1] if place.split() else ""
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for number, line in _lines(sources, name, 1, None):
        if word and whole.search(line):
            following = _lines(sources, name, number, number + 4)
            yield from (Excerpt(f"line {near}", text) for near, text in following)
            return


def _lines(sources: Sources, name: str, first: int, last: int | None) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1, ended by a line feed."""
    encoding = "latin-1" if sources.resolve(name).encoding == "latin-1" else "utf-8-sig"
    with sources.open(name) as file, TextIOWrapper(file, encoding, "backslashreplace", newline="\n") as text:
        for number, line in enumerate(itertools.islice(text, first - 1, last), start=first):
            yield number, line.rstrip("\r\n")[:_SHOWN_CHARACTERS]


def _plain(value: Any) -> Any:
    return f"{len(value)} bytes" if isinstance(value, bytes) else str(value)


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    text = json.dumps(value, default=_plain, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    return text if len(text) <= 200 else f"{text[:199]}…"
