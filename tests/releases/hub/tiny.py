"""Small releases for the Hub's tests: real Parquet files, a real card, a real manifest; nothing a builder made."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from releases.digest import digest_dataset, digest_whole
from releases.manifest import LOCK, Bump, Checks, File, Lock, Manifest, to_text, walk
from schemas import Column, Dataset, DatasetFolder, Float, Image, Int, Table, Text
from schemas.files import sha256_file
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.hub_files import data_files, dataset_info
from schemas.hub_words import size_category
from schemas.parquet import write_parquet

READINGS = Table(
    "readings",
    "Readings of a gauge.",
    (
        Column("id", Text(), "Names the reading."),
        Column("level", Float(64), "Height of the water.", unit="m"),
        Column("gauge", Int(32), "Number of the gauge."),
    ),
    key=("id",),
    splits=("train", "test"),
)
PICTURES = Table(
    "pictures",
    "Pictures of the gauge.",
    (Column("id", Text(), "Names the picture."), Column("picture", Image(), "The picture.")),
    key=("id",),
    splits=("train",),
)
GAUGES = Dataset("gauges", "Gauges", "Levels of a river.", (READINGS, PICTURES), language=("en",))

Rows = Mapping[str, Sequence[Mapping[str, object]]]


def readings(count: int, start: int = 0) -> list[dict[str, object]]:
    """`count` readings; the same number is always the same reading."""
    return [{"id": f"r{n:07d}", "level": (n * 7919 % 1000) / 100, "gauge": n % 7} for n in range(start, start + count)]


def png(shade: int) -> bytes:
    """A grey picture of one pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    image = chunk(b"IDAT", zlib.compress(bytes([0, shade])))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + image + chunk(b"IEND", b"")


def pictures(count: int) -> list[dict[str, object]]:
    """Pictures of one pixel, each of its own shade."""
    return [{"id": f"p{n}", "picture": {"bytes": png(n), "path": f"p{n}.png"}} for n in range(count)]


def write_shards(folder: Path, table: Table, split: str, rows: Sequence[Mapping[str, object]], shards: int = 1) -> None:
    """Write `rows` as `shards` shards."""
    place = folder / "data" / table.name
    place.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // shards)
    for index in range(shards):
        part = pa.RecordBatch.from_pylist(list(rows[index * size : (index + 1) * size]), table.arrow)
        write_parquet(place / shard_name(split, index, shards), table.arrow, [part])


def make_release(
    folder: Path, version: str = "1.0.0", *, count: int = 40, shards: int = 2, small: bool = False
) -> Path:
    """A release with two configs; a `small` one has three files on the Hub besides its manifest and lock."""
    dataset = Dataset("gauges", "Gauges", "Levels.", (READINGS,)) if small else GAUGES
    write_shards(folder, READINGS, "train", readings(count), 1 if small else shards)
    if not small:
        write_shards(folder, READINGS, "test", readings(10, start=1_000_000))
        write_shards(folder, PICTURES, "train", pictures(3))
        for name in ("lineage", "rejects"):
            (folder / name).mkdir()
        for table in dataset.tables:
            ids = [
                row["id"] for row in (readings(count) + readings(10, 1_000_000) if table is READINGS else pictures(3))
            ]
            lines = [
                {"id": i, "source": "s", "sha256": "0" * 64, "place": f"line {i}", "licence": "CC0-1.0"} for i in ids
            ]
            batch = pa.RecordBatch.from_pylist(lines, LINEAGE_SCHEMA)
            write_parquet(folder / "lineage" / f"{table.name}.parquet", LINEAGE_SCHEMA, [batch])
            write_parquet(folder / "rejects" / f"{table.name}.parquet", REJECT_SCHEMA, [])
    finish(folder, dataset, version)
    return folder


def finish(folder: Path, dataset: Dataset, version: str) -> None:
    """Write the records of a release whose data is there: build.json, README.md, the lock and the manifest."""
    (folder / "build.json").write_text(json.dumps(build_record(folder, dataset), sort_keys=True, indent=1))
    write_card(folder, dataset)
    write_manifest(folder, dataset, version)


def build_record(folder: Path, dataset: Dataset) -> dict[str, object]:
    """build.json, with an account for the one source."""
    files, accounting = [], []
    for path in walk(folder):
        kind, name, *shard = path.removesuffix(".parquet").split("/")
        split = {"split": shard[0].split("-")[0]} if shard else {}
        rows, sums = pq.read_metadata(folder / path).num_rows, sha256_file(folder / path)
        entry = {"path": path, "table": name, "rows": rows, "bytes": (folder / path).stat().st_size, "sha256": sums}
        files.append({**entry, **split})
        if kind == "lineage":
            accounting.append({"source": "s", "table": name, "records": rows, "rows": rows, "merged": 0, "rejects": {}})
    head = {"format": 1, "dataset": dataset.name, "version": "1", "schema": dataset.to_json(), "code": "0" * 64}
    return {**head, "tools": {}, "sources": [], "files": files, "accounting": accounting}


def write_card(folder: Path, dataset: Dataset) -> None:
    """README.md with a YAML head that fits the files."""
    files = {file.path: file for file in data_files(folder)}
    configs, infos = [], []
    for table in dataset.tables:
        splits = [
            (split, [files[path.relative_to(folder).as_posix()] for path in paths])
            for split, paths in DatasetFolder(folder).shards(table.name).items()
        ]
        patterns = [{"split": split, "path": f"data/{table.name}/{split}-*.parquet"} for split, _ in splits]
        configs.append({"config_name": table.name, "data_files": patterns, **({} if configs else {"default": True})})
        infos.append(dataset_info(table.name, splits))
    rows = sum(file.rows for file in files.values())
    head = {"license": "cc0-1.0", "size_categories": [size_category(rows)], "configs": configs, "dataset_info": infos}
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n# {dataset.title}\n")


def write_manifest(folder: Path, dataset: Dataset, version: str) -> None:
    """goldsmith.lock and manifest.json for the files that are there."""
    tables = digest_dataset(DatasetFolder(folder))
    digests = {name: rows.digest for name, rows in tables.items()}
    sums = {path: sha256_file(folder / path) for path in walk(folder) if path.startswith("data/")}
    lock = Lock(dataset.name, "1", "0" * 64, {}, False, False, (), digests, sums, False)
    (folder / LOCK).write_text(to_text(lock.to_json()))
    (folder / "manifest.json").unlink(missing_ok=True)
    files = tuple(File(p, (folder / p).stat().st_size, sha256_file(folder / p)) for p in walk(folder))
    manifest = Manifest(
        dataset=dataset.name,
        version=version,
        previous=None,
        files=files,
        tables=tables,
        digest=digest_whole(tables),
        schema=dataset.to_json(),
        licences=("CC0-1.0",),
        checks=Checks(True, ()),
        lock_sha256=sha256_file(folder / LOCK),
        bump=Bump("first", ()),
        dropped={},
    )
    (folder / "manifest.json").write_text(to_text(manifest.to_json()))
