"""Whether the files are those that were built: there, unchanged, readable, with the schema's columns and the rows said.

Runs before DuckDB opens a file, so that a broken one becomes a finding and no crash.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas import Check, DatasetFolder
from schemas.files import sha256_file
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA

PRESENT = Check(
    "files.present",
    "Every file of build.json is there, and no other file is among the data",
    "block",
    "files",
    "-- not SQL: the folder's listing against build.json",
    advice="Build again, or remove the stray file.",
)
UNCHANGED = Check(
    "files.unchanged",
    "Every file has the bytes that were built (sha256 of build.json)",
    "block",
    "files",
    "-- not SQL: sha256 of each file against build.json",
    advice="Build again: the files were changed after the build.",
)
READABLE = Check(
    "files.readable",
    "Every file is Parquet with the declared columns and the number of rows in build.json",
    "block",
    "files",
    "-- not SQL: each file's footer against the schema and build.json",
    advice="Build again: the file is broken, or from another version of the schema.",
)


@dataclass
class Files:
    """What was found on disk.

    Attributes:
        hashes: path -> sha256 as hashed now, of every file there is that build.json names, of build.json and of audits.
        unreadable: paths that SQL must not open.
        absent, changed, broken: (path, what is wrong) for the three checks.
    """

    hashes: dict[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    absent: list[tuple[str, str]] = field(default_factory=list)
    changed: list[tuple[str, str]] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, look: _Look) -> None:
        """Take in what was seen of a file that build.json names."""
        for where, what in ((self.absent, look.absent), (self.changed, look.changed), (self.broken, look.broken)):
            if what:
                where.append((path, what))
        if not look.opens:
            self.unreadable.add(path)
        if look.sha256:
            self.hashes[path] = look.sha256


def examine(folder: DatasetFolder, *, hashes: bool) -> Files:
    """Look at every file that build.json names; `hashes` reads all their bytes."""
    found = Files()
    entries = sorted(folder.build["files"], key=lambda entry: entry["path"])
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # hashing lets go of the interpreter, and looking does not
        paths = [folder.path / entry["path"] for entry in entries]
        digests = [pool.submit(sha256_file, path) if hashes and path.is_file() else None for path in paths]
        for entry, path, digest in zip(entries, paths, digests, strict=True):
            found.add(entry["path"], _look(folder, entry, path, digest))
    named = {entry["path"] for entry in entries}
    for kind in ("data", "lineage", "rejects"):
        for path in sorted((folder.path / kind).rglob("*")):
            relative = path.relative_to(folder.path).as_posix()
            if path.is_file() and relative not in named:
                found.absent.append((relative, "is not in build.json"))
    if hashes:
        found.hashes["build.json"] = sha256_file(folder.build_json)
        for path in sorted((folder.path / "audit").rglob("*")):
            if path.is_file():
                found.hashes[path.relative_to(folder.path).as_posix()] = sha256_file(path)
    return found


@dataclass
class _Look:
    """What one file is like; a text is empty where nothing is wrong."""

    absent: str = ""
    changed: str = ""
    broken: str = ""
    sha256: str = ""
    opens: bool = False


def _look(folder: DatasetFolder, entry: dict[str, Any], path: Path, hashed: Future[str] | None) -> _Look:
    if not path.is_file():
        return _Look(absent="is missing")
    fault, opens = _fault(folder, entry, path)
    if hashed is None:
        return _Look(broken=fault, opens=opens)
    digest = hashed.result()
    if digest == entry["sha256"]:
        return _Look(broken=fault, sha256=digest, opens=opens)
    changed = f"has sha256 {digest[:12]}..., built was {entry['sha256'][:12]}..."
    torn = _decode(path) if opens else ""
    return _Look(changed=changed, broken=torn or fault, sha256=digest, opens=opens and not torn)


def _fault(folder: DatasetFolder, entry: dict[str, Any], path: Path) -> tuple[str, bool]:
    """(what is wrong, whether SQL can read it all the same)."""
    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        return f"is no readable Parquet file ({str(error).splitlines()[0]})", False
    expected = _expected(folder, entry)
    if not schema.equals(expected):
        wrong = [name for name in expected.names if name not in schema.names or not _same(schema, expected, name)]
        more = [name for name in schema.names if name not in expected.names]
        return f"has other columns than declared ({', '.join(wrong + more) or 'their order'})", False
    if rows != entry["rows"]:
        return f"has {rows:,} rows, build.json says {entry['rows']:,}", True
    return "", True


def _same(schema: pa.Schema, expected: pa.Schema, name: str) -> bool:
    return schema.field(name).equals(expected.field(name))


def _decode(path: Path) -> str:
    """What is wrong with the content of a file that was changed: its footer may be whole and its pages not."""
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                batch.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        return f"cannot be read to its end ({str(error).splitlines()[0]})"
    return ""


def _expected(folder: DatasetFolder, entry: dict[str, Any]) -> pa.Schema:
    kind = entry["path"].split("/")[0]
    return {"lineage": LINEAGE_SCHEMA, "rejects": REJECT_SCHEMA}.get(kind) or folder.schema.table(entry["table"]).arrow
