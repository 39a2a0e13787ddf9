"""Freeze a dataset folder as a release: through the gate, copied whole, with its lock and, last, its manifest.

The release appears at its place in one rename or not at all. What must be true of it is said in `releases.gate`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from releases.digest import digest_dataset, digest_whole
from releases.files import copy_file, refuse_inside, whole_folder, write_file
from releases.gate import Verdict, gate, stopping
from releases.manifest import (
    LOCK,
    MANIFEST,
    Checks,
    File,
    Lock,
    Manifest,
    Previous,
    TableRows,
    Waiver,
    read_manifest,
    to_text,
    verify_files,
    walk,
)
from releases.waivers import FILE, read_waivers
from schemas import DatasetFolder, GoldsmithError
from schemas.files import sha256_file


class RefusedError(GoldsmithError):
    """The gate is shut. `refusals` are all its reasons, one line each."""

    def __init__(self, folder: DatasetFolder, version: str, refusals: Sequence[str]) -> None:
        more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
        super().__init__(f"[{folder.schema.name} > {version}] is not released: {refusals[0]}{more}")
        self.refusals = tuple(refusals)


def release(
    folder: DatasetFolder,
    version: str,
    out: Path,
    *,
    previous: DatasetFolder | None = None,
    waivers: Path | None = None,
    today: datetime.date | None = None,
    write_documents: Callable[[Verdict], None] | None = None,
) -> Manifest:
    """Freeze `folder` as `version` (`auto`: the smallest honest one) in `out`.

    Where `out` is this very release already, nothing is done and its manifest is returned (`released` tells).

    Args:
        write_documents: writes the documents into `folder`, for the version and the waivers of the gate's verdict; if
            not given they must be there.

    Raises:
        RefusedError: the gate is shut.
        GoldsmithError: a folder or the waivers cannot be used, `out` is something else, or the disk is full.
    """
    refuse_inside(folder.path, out)
    verdict = gate(
        folder,
        version,
        previous=previous,
        waivers=_read(waivers),
        today=today,
        waivers_file=waivers,
        documents=not write_documents,
    )
    if write_documents and (out.exists() or not verdict.refusals):
        write_documents(verdict)
    if out.exists() and (there := released(folder, version, out, waivers)):
        return there
    if verdict.refusals:
        raise RefusedError(folder, verdict.version, verdict.refusals)
    with whole_folder(out) as partial:
        files = _copy(folder, waivers, partial)
        tables = digest_dataset(DatasetFolder(partial))
        lock = write_file(partial, LOCK, to_text(_lock(folder, tables, files).to_json()))
        manifest = _manifest(folder, previous, verdict, [*files, lock], tables)
        write_file(partial, MANIFEST, to_text(manifest.to_json()))
    return manifest


def released(folder: DatasetFolder, version: str, out: Path, waivers: Path | None = None) -> Manifest | None:
    """The manifest in `out` if it is an undamaged release of exactly these files as `version`; else None."""
    if not DatasetFolder(out).manifest_json.is_file() or verify_files(out):
        return None
    manifest = read_manifest(out)
    if version not in ("auto", manifest.version):
        return None
    here = {path: folder.path / path for path in _paths(folder)}
    if waivers:
        here[FILE] = waivers
    listed = {file.path: file.sha256 for file in manifest.files if file.path != LOCK}
    return manifest if listed == {path: sha256_file(file) for path, file in here.items()} else None


def _paths(folder: DatasetFolder) -> list[str]:
    """What a release takes from a dataset folder: all of it but what only a release has."""
    return [path for path in walk(folder.path) if path not in (MANIFEST, LOCK, FILE)]


def _read(waivers: Path | None) -> Sequence[Waiver]:
    return read_waivers(waivers) if waivers else ()


def _copy(folder: DatasetFolder, waivers: Path | None, into: Path) -> list[File]:
    """Copy what is released. The bytes that arrive must be the ones that passed the gate."""
    checked = {file["path"]: file["sha256"] for file in folder.report["files"]}
    files = []
    for path in _paths(folder):
        file = copy_file(folder.path, path, into)
        if checked.get(path, file.sha256) != file.sha256:
            raise GoldsmithError(f"[{folder.path} > {path}] changed while it was being released: check it again")
        files.append(file)
    if waivers:
        files.append(write_file(into, FILE, waivers.read_text(encoding="utf-8")))
    return files


def _lock(folder: DatasetFolder, tables: Mapping[str, TableRows], files: Sequence[File]) -> Lock:
    build = folder.build
    kept = ("name", "url", "path", "sha256", "size", "licence", "override")
    return Lock(
        dataset=build["dataset"],
        builder_version=build["version"],
        code=build["code"],
        tools=build["tools"],
        sample=build["sample"],
        redistributable_only=build["redistributable_only"],
        sources=tuple({key: source[key] for key in kept if key in source} for source in build["sources"]),
        digests={name: rows.digest for name, rows in tables.items()},
        files={file.path: file.sha256 for file in files if file.path.startswith("data/")},
        drops=bool(build.get("dropped")),
    )


def _manifest(
    folder: DatasetFolder,
    previous: DatasetFolder | None,
    verdict: Verdict,
    files: Sequence[File],
    tables: Mapping[str, TableRows],
) -> Manifest:
    before = None
    if previous:
        before = Previous(read_manifest(previous.path).version, sha256_file(previous.manifest_json))
    return Manifest(
        dataset=folder.schema.name,
        version=verdict.version,
        previous=before,
        files=tuple(sorted(files, key=lambda file: file.path)),
        tables=tables,
        digest=digest_whole(tables),
        schema=folder.build["schema"],
        licences=tuple(sorted({s["licence"] for s in folder.build["sources"] if not s.get("secret")})),
        checks=Checks(not stopping(folder.report), verdict.waived),
        lock_sha256=next(file.sha256 for file in files if file.path == LOCK),
        bump=verdict.bump,
        dropped=folder.build.get("dropped", {}),
    )
