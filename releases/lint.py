"""What `publish`, the Hub or its viewer will refuse in a release, foretold without a network.

Every file is compared with its checksum in the manifest. The limits are the Hub's own, as documented or seen in its
errors in 2026; the rules of a card's YAML are in `schemas.hub`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.digest import read_batches
from releases.hub.withdraw import FILE as TOMBSTONES
from releases.manifest import MANIFEST, read_manifest, walk
from releases.tombstones import returned_rows
from schemas import GoldsmithError
from schemas.files import sha256_file
from schemas.hub import card_problems, read_card
from schemas.hub_files import data_files

_POINTER = b"version https://git-lfs.github.com/spec/v1"
_FORBIDDEN = {".git", ".cache"}


@dataclass(frozen=True)
class Limits:
    """Limits of the Hub, in bytes and entries.

    Attributes:
        scan: what the viewer reads of a row group that has no page index.
        row_group: uncompressed; above, readers need too much memory for one.
        cell: of text, lists and JSON; the viewer does not show a row with a larger one.
        media: of a picture or a sound.
        file: advised maximum of one file.
        entries: in one folder.
        files: in the repository.
    """

    scan: int = 300_000_000
    row_group: int = 300_000_000
    cell: int = 2_000_000
    media: int = 100_000_000
    file: int = 200_000_000_000
    entries: int = 10_000
    files: int = 100_000


def lint(release: Path, limits: Limits | None = None) -> list[str]:
    """All that `publish`, the Hub, its viewer or `load_dataset` would refuse or show wrongly: one line each, empty if
    nothing.

    Raises:
        GoldsmithError: the folder is no release.
    """
    limits = limits or Limits()
    changed = _changed(release)
    problems = [*_listing_problems(release, limits, changed)]
    pointers = {path for path in walk(release) if _is_pointer(release / path)}
    problems += [f"[{path}] is an LFS pointer, not the file: fetch it with `git lfs pull`" for path in sorted(pointers)]
    broken = pointers | changed
    for path in walk(release):
        if path.endswith(".parquet") and path not in broken:
            try:
                problems += _parquet_problems(release, path, limits)
            except (pa.ArrowException, OSError, GoldsmithError) as error:
                broken.add(path)
                problems.append(f"[{path}] is no Parquet file ({error}): release again")
    if not any(path.startswith(("data/", TOMBSTONES)) for path in broken):
        problems += _card(release)
        problems += returned_rows(release)
    return problems


def _card(release: Path) -> list[str]:
    readme = release / "README.md"
    if not readme.is_file():
        return ["[README.md] is missing: run `goldsmith card`, then release again"]
    try:
        metadata, _ = read_card(readme.read_text(encoding="utf-8"))
    except (GoldsmithError, UnicodeDecodeError) as error:
        return [str(error)]
    return card_problems(metadata, data_files(release))


def _is_pointer(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_POINTER)) == _POINTER


def _changed(release: Path) -> set[str]:
    """The files whose bytes are not those that were released."""
    files = read_manifest(release).files
    return {f.path for f in files if (release / f.path).is_file() and sha256_file(release / f.path) != f.sha256}


def _listing_problems(release: Path, limits: Limits, changed: Collection[str]) -> Iterator[str]:
    """Names, numbers, sizes and checksums of files."""
    listed = {file.path: file for file in read_manifest(release).files}
    paths = list(walk(release))
    for path, file in listed.items():
        if not (release / path).is_file():
            yield f"[{path}] is in the manifest but not in the folder: get the release again"
        elif (actual := (release / path).stat().st_size) != file.bytes:
            yield f"[{path}] has {actual} bytes, the manifest says {file.bytes}: get the release again"
        elif path in changed:
            yield f"[{path}] is not the file that was released, its sha256 is another: get the release again"
        elif file.bytes > limits.file:
            yield f"[{path}] has {file.bytes} bytes, the Hub advises at most {limits.file}: make more shards"
    for path in paths:
        if path not in listed and path != MANIFEST:
            yield f"[{path}] is not in the manifest: take it out of the release"
    for path in listed:
        if forbidden := _FORBIDDEN.intersection(PurePosixPath(path).parts):
            yield f"[{path}] the Hub refuses files under {min(forbidden)}: rename it"
    if len(paths) > limits.files:
        yield f"[{release.name}] has {len(paths)} files, the Hub advises at most {limits.files}: make larger shards"
    for folder, count in sorted(_entries(paths).items()):
        if count > limits.entries:
            yield f"[{folder}] has {count} entries, the Hub allows {limits.entries}: make larger shards"


def _entries(paths: list[str]) -> Counter[str]:
    """How many entries (files and folders) each folder has."""
    places = {PurePosixPath(path) for path in paths}
    places |= {parent for place in places for parent in place.parents if parent.parts}
    return Counter(str(place.parent) for place in places)


def _parquet_problems(release: Path, path: str, limits: Limits) -> Iterator[str]:
    with pq.ParquetFile(release / path) as file:
        for field in file.schema_arrow:
            if _has_null_type(field.type):
                yield f"[{path} > {field.name}] has no type (all null): declare it in the schema"
        for index in range(file.metadata.num_row_groups):
            yield from _row_group_problems(file.metadata.row_group(index), f"{path} > row group {index}", limits)
        yield from _cell_problems(file, release, path, limits)


def _has_null_type(kind: pa.DataType) -> bool:
    if pa.types.is_null(kind):
        return True
    return any(_has_null_type(kind.field(index).type) for index in range(kind.num_fields))


def _row_group_problems(group: pq.RowGroupMetaData, where: str, limits: Limits) -> Iterator[str]:
    columns = [group.column(index) for index in range(group.num_columns)]
    stored = sum(column.total_compressed_size for column in columns)
    if stored > limits.scan and not all(column.has_offset_index for column in columns):
        yield (
            f"[{where}] has {stored} bytes and no page index, the viewer reads at most {limits.scan}: "
            "write it with goldsmith's own writer"
        )
    if group.total_byte_size > limits.row_group:
        yield f"[{where}] has {group.total_byte_size} bytes, more than {limits.row_group}: make smaller row groups"


def _cell_problems(file: pq.ParquetFile, release: Path, path: str, limits: Limits) -> Iterator[str]:
    """Cells that are too large. A column whose chunks are all within the limit is not read."""
    footer = file.metadata
    largest: Counter[str] = Counter()
    for index in range(footer.num_row_groups):
        sizes: Counter[str] = Counter()
        for number in range(footer.num_columns):
            column = footer.row_group(index).column(number)
            # A dictionary holds a value once, so a large cell is in the chunk's size at least once.
            sizes[column.path_in_schema.split(".")[0]] += column.total_uncompressed_size
        largest |= sizes
    for field in file.schema_arrow:
        limit = limits.media if _is_media(field.type) else limits.cell
        if largest[field.name] <= limit:
            continue
        size = max((_largest_cell(batch.column(0)) for batch in read_batches(release / path, [field.name])), default=0)
        if size > limit:
            yield f"[{path} > {field.name}] has a cell of {size} bytes, the viewer shows at most {limit}: split the row"


def _is_media(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and [field.name for field in kind] == ["bytes", "path"]


def _largest_cell(values: pa.Array) -> int:
    """The bytes of the largest cell, counted in Arrow's memory."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        return pc.max(pc.binary_length(values)).as_py() or 0  # pyright: ignore
    if not pa.types.is_nested(values.type):
        return 0
    return max((values.slice(index, 1).nbytes for index in range(len(values))), default=0)
