"""`sources.toml`, read and checked: what each source is and which bytes it must have.

Not its business: where the bytes are (`builders.fetch`) and how they are read (`builders.sources`).
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from builders.mirrors import mirror_path
from schemas import GoldsmithError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Source:
    """A source as it is declared.

    Attributes:
        name: its key in `sources.toml`.
        url: where it comes from; None for a bundled file and for some that are fetched by hand.
        path: of a bundled file, relative to `sources.toml`.
        sha256, size: of the pinned file, size in bytes; a bundled file may leave them out.
        licence: an SPDX identifier where there is one, else the words of the owner.
        redistribute: whether a release may hold what is made from it.
        accessed: ISO date.
        citation: how its makers want to be named.
        manual: how a person gets it, where no program may (a gated or licence-bound source).
        git: the url is a git repository, read from a local clone. Its commits are pinned by their ids, in the shards'
            parameters; the clone's files are of no account.
        secret: a key that its owner keeps, such as the salt of pseudonyms: no source of data, so that documents do not
            list it.
    """

    name: str
    url: str | None = None
    path: str | None = None
    sha256: str | None = None
    size: int | None = None
    licence: str = ""
    redistribute: bool = True
    accessed: str = ""
    citation: str = ""
    manual: str = ""
    git: bool = False
    secret: bool = False


_KEYS = frozenset(field.name for field in fields(Source)) - {"name"}
_REQUIRED_OF_URL = ("licence", "redistribute", "accessed", "citation")


def read_sources_toml(path: Path) -> dict[str, Source]:
    """Read and check a `sources.toml`.

    Raises:
        GoldsmithError: it is absent, no TOML, or an entry is wrong; the first fault is named.
    """
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is absent: a builder needs it (a sample has its own in sample/)") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[{path}] is no TOML ({error}): correct it") from None
    return {name: _source(f"{path.name} > {name}", name, entry) for name, entry in content.items()}


def _source(where: str, name: str, entry: object) -> Source:
    if not _NAME.fullmatch(name):
        raise GoldsmithError(f"[{where}] is no name for a source: use letters, digits, `_`, `-`, `.` and `+`")
    if not isinstance(entry, dict):
        raise GoldsmithError(f"[{where}] is no table: write [{name}] and its keys below")
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise GoldsmithError(f"[{where} > {unknown[0]}] is unknown: the keys are {', '.join(sorted(_KEYS))}")
    if isinstance(entry.get("accessed"), datetime.date):
        entry = {**entry, "accessed": entry["accessed"].isoformat()[:10]}
    kinds = {"size": int, "redistribute": bool, "git": bool, "secret": bool}
    for key, value in entry.items():
        kind = kinds.get(key, str)
        if type(value) is not kind:
            raise GoldsmithError(f"[{where} > {key}] is {value!r}: it must be of type {kind.__name__}")
    source = replace(Source(name), **entry)
    _check_pin(where, source, entry)
    return source


def _check_pin(where: str, source: Source, entry: Mapping[str, object]) -> None:
    if not source.licence.strip():
        raise GoldsmithError(f"[{where} > licence] is missing: say under which licence it is, or that it has none")
    if source.sha256 is not None and not _SHA256.fullmatch(source.sha256):
        raise GoldsmithError(f"[{where} > sha256] is {source.sha256!r}: it must be 64 lower-case hexadecimal digits")
    if source.size is not None and source.size < 0:
        raise GoldsmithError(f"[{where} > size] is {source.size}: it must be the size in bytes")
    if source.path is not None:
        if source.url is not None or source.manual:
            raise GoldsmithError(f"[{where}] has a path and a url: a bundled file has the path alone")
        parts = source.path.replace("\\", "/").split("/")
        if not source.path or Path(source.path).is_absolute() or ".." in parts or "\0" in source.path:
            raise GoldsmithError(f"[{where} > path] {source.path!r} leads out of the folder: keep it inside")
        return
    missing = [key for key in _REQUIRED_OF_URL if key not in entry]
    if source.git:
        missing += ["url"] if source.url is None else []
    elif not source.manual:
        missing += [key for key in ("url", "sha256", "size") if key not in entry]
    if missing:
        raise GoldsmithError(
            f"[{where} > {missing[0]}] is missing: a source that is not bundled is pinned by all its keys"
        )
    try:
        datetime.date.fromisoformat(source.accessed)
    except ValueError:
        raise GoldsmithError(f"[{where} > accessed] is {source.accessed!r}: write the date as 2026-11-30") from None
    if source.url is not None:
        mirror_path(where, source.url)
