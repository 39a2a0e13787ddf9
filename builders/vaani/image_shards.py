"""The shards of images: by Parquet file, by the collection's table, or a folder of pictures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from builders.api import Batch, Read, Reject, Shard
from builders.sources import Sources
from builders.vaani import images
from builders.vaani.collection import Collection, hub_tables
from builders.vaani.naming import Naming
from builders.vaani.records import Record, Records
from builders.vaani.schema import IMAGES
from builders.vaani.waiting import Waiting

_EXTENSIONS = {"jpeg": "jpg", "mpo": "jpg"}
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


def image_shards(sources: Sources, collection: Collection) -> Iterator[Shard]:
    """Of `recordings` and of `images`, as far as they are given."""
    for name in ("recordings", "images"):
        if not sources.given(name) or not sources.allows(name):
            continue
        folder = sources.path(name)
        inputs = (name, "salt") if sources.given("salt") else (name,)
        common = {"source": name, "personal_names": collection.personal_names}
        for table in hub_tables(folder, "image"):
            if table not in collection.tables:
                yield Shard(f"images-{name}-{slug(table)}", inputs, {**common, "table": table})
        about = collection.images if name == "recordings" else {"folder": "."}
        if "table" in about or any((folder / about.get("folder", "\0")).glob("*")):
            yield Shard(f"images-{name}", inputs, {**common, **about})


def build_images(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    name = shard.parameters["source"]
    folder = sources.path(name)
    naming = Naming.of(shard.parameters["personal_names"], sources)
    reader = Records(folder, Collection("", ""))
    waiting = Waiting(name)
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


def slug(table: str) -> str:
    """A table's path as part of a shard's name, unique by a digest."""
    digest = hashlib.sha256(table.encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9]+", "-", table)[-80:].strip("-") + "-" + digest
