"""VAANI: from a collection of recordings to the corpus. Read this first.

`plan` reads the tables of the collection without a sound: ids, splits over all of it, shards by size. `build` takes the
records of one shard, decodes and measures each clip (`audio`), parses its transcript (`transcript`), and yields rows
or, with a reason, rejects. What is good enough is decided by the checks (`checks`), never here.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.api import Batch, Read, Reject, Shard
from builders.sources import Sources
from builders.vaani import asr, claims, file_names, images, languages, settings, splits
from builders.vaani.checks import CHECKS
from builders.vaani.collection import Collection, hub_tables, sound_files
from builders.vaani.decode import UnusableError
from builders.vaani.description import describe
from builders.vaani.naming import Naming
from builders.vaani.records import Record, Records
from builders.vaani.schema import CLAIMS, IMAGES, SETTINGS, UTTERANCES, VAANI
from builders.vaani.splits import Clip
from builders.vaani.utterance import Maker, mark_of, split_of
from schemas import Table

SHARD_BYTES = 256 << 20
SHARD_RECORDS = 20_000
_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 256
_DUPLICATE = "d"
_EXTENSIONS = {"jpeg": "jpg", "mpo": "jpg"}
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


class Vaani:
    """The builder; see `builders.api.Builder`."""

    schema = VAANI
    version = "1.0.0"
    folder = Path(__file__).parent
    checks = CHECKS
    expected_rejects = frozenset({"not_in_table"})
    reject_budget = 0.2  # Crowds leave missing and empty files behind; a wrong path would reject them all.

    def plan(self, sources: Sources) -> Iterator[Shard]:
        """Shards of utterances by table and size, of images, and one each for files that no table names, settings
        and claims."""
        if not sources.allows("recordings"):
            return
        folder = sources.path("recordings")
        given = sources.bytes("collection") if sources.given("collection") else None
        collection = describe(folder, given)
        settings.rows(collection)  # A threshold that does not exist is said now.
        common = {
            "collection": collection.to_json(),
            "tables": languages.tables_digest(),
            "versions": settings.versions(),
        }
        inputs = ["recordings", *(name for name in ("salt", "hypotheses") if sources.given(name))]
        naming = _naming(collection.personal_names, sources)
        records = Records(folder, collection)
        marks = _marks(records, naming, sources)
        for table in collection.tables:
            for first, count in _pieces(records.sizes(table)):
                parameters = {**common, "table": table, "first": first, "marks": marks[table][first : first + count]}
                yield Shard(f"utterances-{_slug(table)}-{first:08d}", tuple(inputs), parameters)
        if collection.audio:
            strays = _strays(records, naming)
            yield Shard("strays", tuple(inputs), {**common, "strays": strays})
        yield from _image_shards(sources, collection)
        yield Shard("settings", ("recordings",), common)
        if sources.given("claims"):
            yield Shard("claims", ("claims",), {})

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The rows of one shard."""
        kind = shard.name.partition("-")[0]
        if kind == "utterances":
            yield from _utterances(shard, sources)
        elif kind == "strays":
            yield from _stray_rejects(shard)
        elif kind == "images":
            yield from _images(shard, sources)
        elif kind == "settings":
            collection = Collection.from_json(shard.parameters["collection"])
            rows = settings.rows(collection)
            yield _batch(SETTINGS, "train", rows, "recordings", ["collection.toml"] * len(rows))
        else:
            rows = claims.read(sources.bytes("claims"))
            yield _batch(CLAIMS, "train", rows, "claims", [f"claim {number}" for number in range(1, len(rows) + 1)])


def _naming(personal: bool, sources: Sources) -> Naming:
    return Naming(personal, file_names.read_salt(sources.bytes("salt")) if sources.given("salt") else None)


def _marks(records: Records, naming: Naming, sources: Sources) -> dict[str, str]:
    """For each table a letter a record: its split and whether its image is in train (`mark_of`), or that its id was
    there before."""
    clips: list[Clip] = []
    met: set[str] = set()
    marks: dict[str, list[str | None]] = {}
    for table in records.collection.tables:
        marks[table] = []
        for record in records.read(table, sounds=False):
            clip = _clip(record, naming, records.collection)
            if clip is not None and clip.name in met:
                marks[table].append(_DUPLICATE)
                continue
            if clip is not None:
                met.add(clip.name)
                clips.append(clip)
            marks[table].append(None if clip is not None else "t")
    earlier = _earlier(sources)
    assigned = splits.assign(clips, records.collection.splits, earlier)
    letters = iter(map(mark_of, assigned, splits.image_in_train(clips, assigned)))
    return {table: "".join(mark or next(letters) for mark in found) for table, found in marks.items()}


def _clip(record: Record, naming: Naming, collection: Collection) -> Clip | None:
    """What the split of a record depends on; None for a record that will be rejected unread."""
    if _unusable(record):
        return None
    identity = naming.identify(record.fields)
    district = record.fields.get("district") or (identity.name.district if identity.name else "")
    stratum = "\0".join(
        (
            languages.language(record.fields.get("language", ""), collection.alias("language")).name,
            languages.district(district, collection.alias("district")),
        )
    )
    return Clip(identity.utterance, identity.speaker, identity.recording, stratum, record.fields.get("image"))


def _earlier(sources: Sources) -> dict[str, str]:
    if not sources.given("earlier"):
        return {}
    rows = pq.read_table(io.BytesIO(sources.bytes("earlier")), columns=["speaker_id", "split"]).to_pylist()
    return {row["speaker_id"]: row["split"] for row in rows}


def _pieces(sizes: list[int]) -> Iterator[tuple[int, int]]:
    """(first record, number of records) of shards of about `SHARD_BYTES` of sound."""
    first = size = 0
    for index, more in enumerate(sizes, start=1):
        size += more
        if size >= SHARD_BYTES or index - first >= SHARD_RECORDS:
            yield first, index - first
            first, size = index, 0
    if first < len(sizes):
        yield first, len(sizes) - first


def _slug(table: str) -> str:
    """A table's path as part of a shard's name, unique by a digest."""
    digest = hashlib.sha256(table.encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9]+", "-", table)[-80:].strip("-") + "-" + digest


def _unusable(record: Record) -> tuple[str, str] | None:
    """Why a record cannot be used whatever its sound is."""
    if record.problem is not None:
        return record.problem
    if not record.fields.get("path") and not (record.data and record.fields.get("utterance")):
        return "no_file", "the record names no file"
    return None


def _utterances(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    collection = Collection.from_json(shard.parameters["collection"])
    naming = _naming(collection.personal_names, sources)
    records = Records(sources.path("recordings"), collection)
    heard = asr.read_hypotheses(sources.bytes("hypotheses"), "hypotheses") if sources.given("hypotheses") else {}
    maker = Maker(collection, heard)
    marks, table, first = shard.parameters["marks"], shard.parameters["table"], shard.parameters["first"]
    waiting = _Waiting("recordings")
    for record, mark in zip(records.read(table, first, len(marks)), marks, strict=True):
        problem = _unusable(record)
        if problem is None and mark == _DUPLICATE:
            problem = "duplicate_id", "an earlier record has the same id"
        if problem is None:
            try:
                row = maker.row(record, naming.identify(record.fields), records.sound(record), *split_of(mark))
            except UnusableError as error:
                problem = error.reason, str(error)
            except FileNotFoundError:
                problem = "missing_file", "the file is not in the collection"
            except (OSError, ValueError) as error:
                problem = "unreadable_file", " ".join(str(error).split())
            else:
                yield from waiting.add(UTTERANCES, row["split"], row, record.place, row["bytes"])
                continue
        reason, message = problem
        yield Reject("utterances", reason, message, "recordings", record.place, naming.shown(record))
    yield from waiting.rest(UTTERANCES)
    yield Read("recordings", "utterances", len(marks))


def _strays(records: Records, naming: Naming) -> list[str]:
    """Sound files that no record names, as they may be called."""
    named = {
        record.fields.get("path") for table in records.collection.tables for record in records.read(table, sounds=False)
    }
    found = [path for path in sound_files(records.folder, records.collection.audio) if path not in named]
    return sorted(naming.stand_in(path) for path in found)


def _stray_rejects(shard: Shard) -> Iterator[Reject | Read]:
    strays = shard.parameters["strays"]
    for stray in strays:
        yield Reject("utterances", "not_in_table", "no table names this file", "recordings", stray)
    yield Read("recordings", "utterances", len(strays))


def _image_shards(sources: Sources, collection: Collection) -> Iterator[Shard]:
    """Shards of images: by Parquet file, by the collection's table, or one for a folder of pictures."""
    for name in ("recordings", "images"):
        if not sources.given(name) or not sources.allows(name):
            continue
        folder = sources.path(name)
        inputs = (name, "salt") if sources.given("salt") else (name,)
        common = {"source": name, "personal_names": collection.personal_names}
        for table in hub_tables(folder, "image"):
            if table not in collection.tables:
                yield Shard(f"images-{name}-{_slug(table)}", inputs, {**common, "table": table})
        about = collection.images if name == "recordings" else {"folder": "."}
        if "table" in about or any((folder / about.get("folder", "\0")).glob("*")):
            yield Shard(f"images-{name}", inputs, {**common, **about})


def _images(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    name = shard.parameters["source"]
    folder = sources.path(name)
    naming = _naming(shard.parameters["personal_names"], sources)
    reader = Records(folder, Collection("", ""))
    waiting = _Waiting(name)
    met: set[str] = set()
    count = 0
    for record in _image_records(shard, folder, naming):
        count += 1
        key = record.fields.get("image") or record.fields.get("path", "")
        problem = record.problem
        if problem is None and key in met:
            problem = "duplicate_id", "an earlier record has the same id"
        if problem is None:
            try:
                data = reader.sound(record)
                about = images.measure(data)
            except images.UnusableImageError as error:
                problem = error.reason, str(error)
            except (OSError, ValueError):
                problem = "missing_file", "the file is not in the collection"
            else:
                met.add(key)
                file = Path(record.fields.get("path", key)).name
                shown = f"{naming.image(key)}.{_EXTENSIONS.get(about['format'], about['format'])}"
                media = {"bytes": data, "path": shown if naming.personal else file}
                row = {"image_id": naming.image(key), "image": media, "theme": record.fields.get("theme"), **about}
                yield from waiting.add(IMAGES, "train", row, record.place, len(data))
                continue
        yield Reject("images", *problem, name, record.place, naming.shown(record, "img"))
    yield from waiting.rest(IMAGES)
    yield Read(name, "images", count)


def _image_records(shard: Shard, folder: Path, naming: Naming) -> Iterator[Record]:
    """The records of an images shard."""
    if "table" in shard.parameters:
        described = Collection("", "", columns=shard.parameters.get("columns", {}))
        yield from Records(folder, described).read(shard.parameters["table"])
        return
    for path in sorted((folder / shard.parameters["folder"]).rglob("*")):
        if path.suffix.lower() in _PICTURES and not path.name.startswith("."):
            name = path.relative_to(folder).as_posix()
            yield Record(naming.stand_in(name, "img"), {"path": name}, {}, name)


class _Waiting:
    """Rows that wait to become a batch, by split."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._places: dict[str, list[str]] = {}
        self._bytes: dict[str, int] = {}

    def add(self, table: Table, split: str, row: dict[str, Any], place: str, size: int) -> Iterator[Batch]:
        """Keep a row; give a batch when enough wait."""
        self._rows.setdefault(split, []).append(row)
        self._places.setdefault(split, []).append(place)
        self._bytes[split] = self._bytes.get(split, 0) + size
        if self._bytes[split] >= _BATCH_BYTES or len(self._rows[split]) >= _BATCH_ROWS:
            yield self._take(table, split)

    def rest(self, table: Table) -> Iterator[Batch]:
        """All that still waits."""
        for split in list(self._rows):
            yield self._take(table, split)

    def _take(self, table: Table, split: str) -> Batch:
        self._bytes.pop(split)
        return _batch(table, split, self._rows.pop(split), self._source, self._places.pop(split))


def _batch(table: Table, split: str, rows: list[dict[str, Any]], source: str, places: Iterable[str]) -> Batch:
    arrays = []
    for declared in table.arrow:
        values = [row[declared.name] for row in rows]
        kind = declared.type
        if isinstance(kind, pa.BaseExtensionType):
            arrays.append(pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type)))
        else:
            arrays.append(pa.array(values, kind))
    return Batch(table.name, split, pa.RecordBatch.from_arrays(arrays, schema=table.arrow), source, list(places))


BUILDER = Vaani()
