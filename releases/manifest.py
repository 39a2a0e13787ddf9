"""The manifest and the lock of a release, as types: read, written, and compared with the files on disk.

`manifest.json` says what a release is, byte by byte and row by row; `publish` works from it and never edits it.
`goldsmith.lock` says what is needed to make the release again. Deciding whether something may be released is the
business of `releases.gate`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from schemas import DatasetFolder, GoldsmithError
from schemas.files import sha256_file

FORMAT = 1
MANIFEST = "manifest.json"
LOCK = "goldsmith.lock"


@dataclass(frozen=True)
class File:
    """A file of the release: its path below the folder with `/`, its size in bytes and the sha256 of its bytes."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Rows:
    """A set of rows: how many, and their digest (see `releases.digest`)."""

    rows: int
    digest: str


@dataclass(frozen=True)
class TableRows:
    """The rows of a table, whole and by split."""

    rows: int
    digest: str
    splits: Mapping[str, Rows]


@dataclass(frozen=True)
class Previous:
    """The release before this one: its version and the sha256 of its manifest.json."""

    version: str
    sha256: str


@dataclass(frozen=True)
class Waiver:
    """A failed check that a person answers for, until a day (`YYYY-MM-DD`, included). No table: in every table."""

    check: str
    reason: str
    by: str
    until: str
    table: str | None = None

    def covers(self, check: str, table: str) -> bool:
        """Whether it is about this check of this table."""
        return self.check == check and self.table in (None, table)


@dataclass(frozen=True)
class Checks:
    """How the checks ended. `passed`: nothing that stops a release failed, waived or not."""

    passed: bool
    waived: tuple[Waiver, ...]


@dataclass(frozen=True)
class Bump:
    """The smallest honest step from the previous release (`major`, `minor`, `patch`, or `first`), and why."""

    least: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` holds.

    Attributes:
        files: every file of the release but manifest.json itself, by path.
        digest: over the digests of all tables.
        schema: the form that `schemas.Dataset.from_json` reads.
        licences: those of the sources, sorted.
        dropped: rows taken out by `drop` checks: check, table, count.
    """

    dataset: str
    version: str
    previous: Previous | None
    files: tuple[File, ...]
    tables: Mapping[str, TableRows]
    digest: str
    schema: Mapping[str, Any]
    licences: tuple[str, ...]
    checks: Checks
    lock_sha256: str
    bump: Bump
    dropped: Mapping[str, Mapping[str, int]]

    def to_json(self) -> dict[str, Any]:
        """The content of manifest.json."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Manifest:
        """Read back what `to_json` wrote."""
        tables = {
            name: TableRows(table["rows"], table["digest"], {split: Rows(**r) for split, r in table["splits"].items()})
            for name, table in form["tables"].items()
        }
        waived = tuple(Waiver(**waiver) for waiver in form["checks"]["waived"])
        return cls(
            dataset=form["dataset"],
            version=form["version"],
            previous=Previous(**form["previous"]) if form["previous"] else None,
            files=tuple(File(**file) for file in form["files"]),
            tables=tables,
            digest=form["digest"],
            schema=form["schema"],
            licences=tuple(form["licences"]),
            checks=Checks(form["checks"]["passed"], waived),
            lock_sha256=form["lock_sha256"],
            bump=Bump(form["bump"]["least"], tuple(form["bump"]["reasons"])),
            dropped=form["dropped"],
        )


@dataclass(frozen=True)
class Lock:
    """What `goldsmith.lock` holds: all that is needed to make the release again, and what must come out.

    Attributes:
        code: sha256 of the builder's code.
        tools: the version of each tool whose version may change bytes.
        sources: name, url or path, sha256, size and licence of each; `override` where it was a file of its maker's own.
        digests: of each table.
        files: sha256 of each data file; equal only with the same tools.
        drops: whether rows were taken out by `drop` checks after the build.
    """

    dataset: str
    builder_version: str
    code: str
    tools: Mapping[str, str]
    sample: bool
    redistributable_only: bool
    sources: tuple[Mapping[str, Any], ...]
    digests: Mapping[str, str]
    files: Mapping[str, str]
    drops: bool

    def to_json(self) -> dict[str, Any]:
        """The content of goldsmith.lock."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Lock:
        """Read back what `to_json` wrote."""
        values = {name: value for name, value in form.items() if name != "format"}
        return cls(**{**values, "sources": tuple(form["sources"])})


def to_text(form: Mapping[str, Any]) -> str:
    """The one way a record is written: sorted keys, so that equal records are equal bytes."""
    return json.dumps(form, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the release in `folder`.

    Raises:
        GoldsmithError: the folder is no release, or its manifest is not readable or names a path outside the folder.
    """
    path = DatasetFolder(folder).manifest_json
    form = _read(path, "no release (it has no manifest.json): run `goldsmith release`")
    try:
        manifest = Manifest.from_json(form)
    except (AttributeError, KeyError, TypeError) as error:
        raise GoldsmithError(f"[{path}] is no manifest ({error!r}): get the release again") from None
    for file in manifest.files:
        parts = PurePosixPath(file.path)
        if parts.is_absolute() or ".." in parts.parts or "\\" in file.path or file.path != str(parts):
            raise GoldsmithError(f"[{path} > {file.path}] leads out of the release: do not use this manifest")
    return manifest


def read_lock(folder: Path) -> Lock:
    """The lock of the release in `folder`.

    Raises:
        GoldsmithError: there is none, or it is not readable.
    """
    path = DatasetFolder(folder).lock
    try:
        return Lock.from_json(_read(path, "no release (it has no goldsmith.lock): run `goldsmith release`"))
    except (KeyError, TypeError) as error:
        raise GoldsmithError(f"[{path}] is no lock ({error!r}): get the release again") from None


def _read(path: Path, absent: str) -> Mapping[str, Any]:
    if not path.is_file():
        raise GoldsmithError(f"[{path.parent}] is {absent}")
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise GoldsmithError(f"[{path}] is not JSON ({error}): get the release again") from None
    if not isinstance(form, dict) or form.get("format") != FORMAT:
        raise GoldsmithError(f"[{path}] has a format that this goldsmith does not know: use a newer one")
    return form


def walk(folder: Path) -> Iterator[str]:
    """The files below `folder` as sorted paths with `/`, without hidden ones (a name that begins with a dot)."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root, name).relative_to(folder).as_posix() for name in names if not name.startswith(".")]
    return iter(sorted(found))


def verify_files(folder: Path) -> list[str]:
    """Re-hash every file of the release in `folder`: a line for each that is missing, changed or not in the manifest.

    Raises:
        GoldsmithError: the folder is no release.
    """
    listed = {file.path: file for file in read_manifest(folder).files}
    present = set(walk(folder)) - {MANIFEST}
    problems = []
    for path in sorted(listed.keys() | present):
        if path not in listed:
            problems.append(f"{path}: extra, the manifest does not list it")
        elif path not in present:
            problems.append(f"{path}: missing")
        elif sha256_file(folder / path) != listed[path].sha256:
            problems.append(f"{path}: changed, its sha256 is not the manifest's {listed[path].sha256}")
    return problems
