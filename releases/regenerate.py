"""What is needed to make a release again, and whether what was made is the same.

`goldsmith regenerate` reads `wants`, builds (and checks and drops, if the release did), and asks `compare`. Building is
not the business of this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from releases.digest import digest_dataset
from releases.manifest import Lock, Manifest, Waiver, read_lock, read_manifest, verify_files
from schemas import DatasetFolder, GoldsmithError
from schemas.files import sha256_file


@dataclass(frozen=True)
class Wants:
    """What a rebuild must be given.

    Attributes:
        sources: name -> sha256; the rebuild must use these very bytes and no other source.
        code: sha256 of the builder's code that made the release.
        drops: whether `drop` findings left the release: check the rebuild and apply them, too.
        waived: the waivers that were in force then; they hold for the rebuild whatever the day.
    """

    dataset: str
    version: str
    sample: bool
    redistributable_only: bool
    sources: Mapping[str, str]
    builder_version: str
    code: str
    tools: Mapping[str, str]
    drops: bool
    waived: tuple[Waiver, ...]


@dataclass(frozen=True)
class Comparison:
    """Whether a rebuild has the rows of the release, and what there is to say, one line each."""

    equal: bool
    lines: tuple[str, ...]


def wants(release: Path) -> Wants:
    """What it takes to make `release` again.

    Raises:
        GoldsmithError: the folder is no release, or one of its files is damaged.
    """
    manifest, lock = _intact(release)
    return Wants(
        dataset=lock.dataset,
        version=manifest.version,
        sample=lock.sample,
        redistributable_only=lock.redistributable_only,
        sources={source["name"]: source["sha256"] for source in lock.sources},
        builder_version=lock.builder_version,
        code=lock.code,
        tools=lock.tools,
        drops=lock.drops,
        waived=manifest.checks.waived,
    )


def missing_sources(wanted: Wants, found: Mapping[str, str]) -> list[str]:
    """A line for each source of the release that would be another file, or that nobody has given.

    Args:
        found: name -> sha256 of the sources at hand.
    """
    lines = []
    for name, sha256 in sorted(wanted.sources.items()):
        if found.get(name) != sha256:
            now = f"is another file now (sha256 {found[name]})" if name in found else "is not given"
            lines.append(f"[{name}] {now}: give the one with sha256 {sha256} with --source {name}=PATH")
    return lines


def compare(release: Path, rebuilt: DatasetFolder) -> Comparison:
    """Compare the rows of `rebuilt` with those of `release`, table by table, and their files.

    Equal rows make it equal; files may still differ in bytes, and then the lines say which and why.

    Raises:
        GoldsmithError: `release` is no release or damaged, or `rebuilt` is not whole.
    """
    _, lock = _intact(release)
    digests = {name: rows.digest for name, rows in digest_dataset(rebuilt).items()}
    lines = [*_inputs(lock, rebuilt.build), *_tables(lock.digests, digests)]
    equal = digests == dict(lock.digests)
    return Comparison(equal, (*lines, *_files(lock, rebuilt, equal)))


def _intact(release: Path) -> tuple[Manifest, Lock]:
    manifest = read_manifest(release)
    if problems := verify_files(release):
        raise GoldsmithError(f"[{release}] is damaged ({problems[0]}): get the release again")
    return manifest, read_lock(release)


def _inputs(lock: Lock, build: Mapping[str, Any]) -> Iterator[str]:
    """What the rebuild was made from, where it is not what the release was made from."""
    if lock.code != build["code"]:
        was, now = f"{lock.builder_version} ({lock.code[:12]})", f"{build['version']} ({build['code'][:12]})"
        yield f"builder code differs: was {was}, is {now}"
    for name in ("sample", "redistributable_only"):
        if getattr(lock, name) != build[name]:
            yield f"parameter differs: {name} was {getattr(lock, name)}, is {build[name]}"
    before = {source["name"]: source["sha256"] for source in lock.sources}
    after = {source["name"]: source["sha256"] for source in build["sources"]}
    yield from (f"source {line}" for line in _differing(before, after))
    yield from (f"tool {line}" for line in _differing(lock.tools, build["tools"]))


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"differs: {name} was {before.get(name, 'absent')}, is {after.get(name, 'absent')}"


def _tables(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name, "absent"), after.get(name, "absent")
        yield f"equal: {name} {was}" if was == now else f"different: {name} was {was}, is {now}"


def _files(lock: Lock, rebuilt: DatasetFolder, equal: bool) -> Iterator[str]:
    """How many data files are the same bytes, and why the others are not."""
    paths = [path for table in rebuilt.schema.tables for path in rebuilt.all_shards(table.name)]
    now = {path.relative_to(rebuilt.path).as_posix(): sha256_file(path) for path in paths}
    same = [path for path in now if lock.files.get(path) == now[path]]
    yield f"{len(same)} of {len(lock.files)} data files are equal byte for byte"
    others = sorted((lock.files.keys() | now.keys()) - set(same))
    if not others or not equal:
        yield from (f"other bytes: {path}" for path in others)
        return
    tools = [name for name, version in lock.tools.items() if rebuilt.build["tools"].get(name) != version]
    cause = f"written by another {', '.join(tools)}" if tools else "laid out in another way by the same tools"
    yield from (f"same rows, other bytes: {path} ({cause})" for path in others)
