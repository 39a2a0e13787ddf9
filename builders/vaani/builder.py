"""VAANI: from a collection of recordings to the corpus. Read this first.

`plan` reads the tables of the collection without a sound: ids, splits over all of it, shards by size. `build` takes the
records of one shard, decodes and measures each clip (`audio`), parses its transcript (`transcript`), and yields rows
or, with a reason, rejects. What is good enough is decided by the checks (`checks`), never here.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from builders.api import Batch, Read, Reject, Shard
from builders.sources import Sources
from builders.vaani import asr, claims, languages, settings, splits
from builders.vaani.checks import CHECKS
from builders.vaani.collection import Collection, sound_files
from builders.vaani.decode import UnusableError
from builders.vaani.description import describe
from builders.vaani.image_shards import build_images, image_shards, slug
from builders.vaani.naming import Naming
from builders.vaani.records import Record, Records
from builders.vaani.schema import CLAIMS, SETTINGS, UTTERANCES, VAANI
from builders.vaani.splits import Clip
from builders.vaani.utterance import Maker, mark_of, split_of
from builders.vaani.waiting import Waiting, batch

SHARD_BYTES = 256 << 20
SHARD_RECORDS = 20_000
_DUPLICATE = "d"


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
        naming = Naming.of(collection.personal_names, sources)
        records = Records(folder, collection)
        marks = _marks(records, naming, sources)
        for table in collection.tables:
            for first, count in _pieces(records.sizes(table)):
                parameters = {**common, "table": table, "first": first, "marks": marks[table][first : first + count]}
                yield Shard(f"utterances-{slug(table)}-{first:08d}", tuple(inputs), parameters)
        if collection.audio:
            strays = _strays(records, naming)
            yield Shard("strays", tuple(inputs), {**common, "strays": strays})
        yield from image_shards(sources, collection)
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
            yield from build_images(shard, sources)
        elif kind == "settings":
            collection = Collection.from_json(shard.parameters["collection"])
            rows = settings.rows(collection)
            yield batch(SETTINGS, "train", rows, "recordings", ["collection.toml"] * len(rows))
        else:
            rows = claims.read(sources.bytes("claims"))
            yield batch(CLAIMS, "train", rows, "claims", [f"claim {number}" for number in range(1, len(rows) + 1)])


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


def _unusable(record: Record) -> tuple[str, str] | None:
    """Why a record cannot be used whatever its sound is."""
    if record.problem is not None:
        return record.problem
    if not record.fields.get("path") and not (record.data and record.fields.get("utterance")):
        return "no_file", "the record names no file"
    return None


def _utterances(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    collection = Collection.from_json(shard.parameters["collection"])
    naming = Naming.of(collection.personal_names, sources)
    records = Records(sources.path("recordings"), collection)
    heard = asr.read_hypotheses(sources.bytes("hypotheses"), "hypotheses") if sources.given("hypotheses") else {}
    maker = Maker(collection, heard)
    marks, table, first = shard.parameters["marks"], shard.parameters["table"], shard.parameters["first"]
    waiting = Waiting("recordings")
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


BUILDER = Vaani()
