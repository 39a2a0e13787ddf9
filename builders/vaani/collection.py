"""What a collection of recordings looks like: its tables, which column means what, whose names are in it.

Said in `collection.toml` (in the folder, or given as the source `collection`), by one of the files in `collections/`
whose tables and columns the folder has, or by the published Parquet itself. See README.md for the keys. How the tables
are read is the business of `records`.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.vaani.splits import SHARES
from schemas import GoldsmithError

FIELDS = (
    *("path", "utterance", "speaker", "recording", "start_s", "end_s", "duration_s", "image"),
    *("language", "languages_known", "gender", "state", "district", "pincode", "stay_years"),
    *("transcript", "transcribed", "transcriber", "votes"),
)
"""What a column of a table can mean."""

IMAGE_FIELDS = ("image", "path", "theme")

HUB_COLUMNS = {
    "language": "language",
    "languages_known": "languagesKnown",
    "gender": "gender",
    "state": "state",
    "district": "district",
    "pincode": "pincode",
    "stay_years": "stay(years)",
    "transcribed": "isTranscriptionAvailable",
    "transcript": "transcript",
    "image": "referenceImage",
}
"""The published columns (the card of ARTPARK-IISc/Vaani); some districts lack some. `audio.path` is the file name."""

_KEYS: dict[str, tuple[str, ...] | None] = {
    "collection": (
        "name",
        "licence",
        "citation",
        "speech",
        "personal_names",
        "tables",
        "audio",
        "keep",
        "null",
        "quotes",
    ),
    "columns": FIELDS,
    "constants": FIELDS,
    "aliases": ("language", "district", "state"),
    "images": ("folder", "table", "columns"),
    "thresholds": None,
    "splits": tuple(SHARES),
}


@dataclass(frozen=True)
class Collection:
    """A collection as described; all of it plain JSON values, so that it can be a shard's parameter.

    Attributes:
        licence: an SPDX identifier, or the owner's words.
        speech: `spontaneous`, or `read` (prompts that many speakers share).
        personal_names: whether file names or speakers hold parts of people's names or numbers.
        tables: paths in the folder; CSV, TSV, JSONL or Parquet, in their order.
        audio: folders in which every sound file should be in a table.
        keep: further columns that go into `extra`.
        null: words that mean that a value is missing, besides the empty one.
        quotes: whether fields of CSV and TSV may be quoted; None: in CSV only.
        columns: our field -> their column.
        images: {"folder"} or {"table", "columns"}.
        splits: shares of validation and test.
    """

    name: str
    licence: str
    citation: str = ""
    speech: str = "spontaneous"
    personal_names: bool = True
    tables: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    null: tuple[str, ...] = ()
    quotes: bool | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    images: Mapping[str, Any] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    splits: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))

    def to_json(self) -> dict[str, Any]:
        """A plain form, for a shard's parameters."""
        return asdict(self)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Collection:
        """Read back what `to_json` wrote."""
        lists = ("tables", "audio", "keep", "null")
        values: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in form.items()}
        return cls(**values)

    def alias(self, kind: str) -> Mapping[str, str]:
        """The collection's own spellings of languages, districts or states."""
        return self.aliases.get(kind, {})


def describe(folder: Path, given: bytes | None = None) -> Collection:
    """The description of the collection in `folder`.

    Args:
        given: the content of a `collection.toml` from elsewhere, which wins over the folder's own.

    Raises:
        GoldsmithError: there is none and the folder is of no known form, or it says something wrong.
    """
    own = folder / "collection.toml"
    if given is not None or own.is_file():
        return _existing(folder, read_description(given if given is not None else own.read_bytes()))
    tables = hub_tables(folder)
    if tables:
        return Collection("vaani", "CC-BY-4.0", tables=tuple(tables), columns=HUB_COLUMNS)
    for path in sorted((Path(__file__).parent / "collections").glob("*.toml")):
        known = read_description(path.read_bytes())
        if all(set(known.columns.values()) <= _header(folder / table) for table in known.tables):
            return known
    raise GoldsmithError(
        "[recordings] has no collection.toml, no Parquet with audio, and is no collection known here: "
        "describe its tables and columns in a collection.toml (builders/vaani/README.md shows one)"
    )


def read_description(content: bytes) -> Collection:
    """Read and check a `collection.toml`.

    Raises:
        GoldsmithError: it is no TOML, or a key or a value is wrong; the first fault is named.
    """
    try:
        form = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[collection.toml] is no TOML ({error}): correct it") from None
    _check_keys(form)
    about = form.get("collection", {})
    for key in ("name", "licence"):
        if not isinstance(about.get(key), str) or not about[key].strip():
            raise GoldsmithError(f"[collection.toml > collection > {key}] is missing: say it in words")
    if about.get("speech", "spontaneous") not in ("spontaneous", "read"):
        raise GoldsmithError(f"[collection.toml > collection > speech] is {about['speech']!r}: spontaneous or read")
    for key in ("tables", "audio", "keep", "null"):
        if not isinstance(about.get(key, []), list):
            raise GoldsmithError(f'[collection.toml > collection > {key}] is no list: write ["..."]')
    lists: dict[str, Any] = {key: tuple(about.get(key, ())) for key in ("tables", "audio", "keep", "null")}
    if not lists["tables"]:
        raise GoldsmithError("[collection.toml > collection > tables] is missing: name at least one table")
    splits = {**SHARES, **form.get("splits", {})}
    if not all(isinstance(share, int | float) and 0 <= share <= 0.5 for share in splits.values()):
        raise GoldsmithError("[collection.toml > splits] must be shares from 0 to 0.5: the rest is train")
    words = ("name", "licence", "citation", "speech", "personal_names", "quotes")
    sections = ("columns", "constants", "aliases", "images", "thresholds")
    given: dict[str, Any] = {key: about[key] for key in words if key in about}
    given |= lists | {key: form.get(key, {}) for key in sections} | {"splits": splits}
    return Collection(**given)


def _check_keys(form: Mapping[str, Any]) -> None:
    for section, content in form.items():
        if section not in _KEYS or not isinstance(content, dict):
            raise GoldsmithError(f"[collection.toml > {section}] is unknown: the sections are {', '.join(_KEYS)}")
        allowed = _KEYS[section]
        for key in content:
            if allowed is not None and key not in allowed:
                near = get_close_matches(key, allowed, 1)
                hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(allowed)}"
                raise GoldsmithError(f"[collection.toml > {section} > {key}] is unknown: {hint}")


def _inside(key: str, path: str) -> None:
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise GoldsmithError(f"[collection.toml > {key}] {path} leads out of the folder: move it into the folder")


def _existing(folder: Path, collection: Collection) -> Collection:
    """The same, its table patterns replaced by the files that there are."""
    found: list[str] = []
    for key in ("table", "folder"):
        _inside(f"images > {key}", str(collection.images.get(key, "")))
    for pattern in collection.tables:
        _inside("tables", pattern)
        paths = sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern) if path.is_file())
        if not paths:
            raise GoldsmithError(f"[collection.toml > tables] {pattern} is not in the folder: correct the path")
        found += [path for path in paths if path not in found]
    return replace(collection, tables=tuple(found))


def hub_tables(folder: Path, column: str = "audio") -> list[str]:
    """The Parquet files of a folder with an audio (or image) column, sorted."""
    return [
        path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.parquet")) if column in _header(path)
    ]


def _header(path: Path) -> frozenset[str]:
    """The column names of a table; none where there is no such file."""
    if not path.is_file():
        return frozenset()
    if path.suffix == ".parquet":
        return frozenset(pq.read_schema(path).names)
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        return frozenset(next(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","), ()))


def sound_files(folder: Path, places: tuple[str, ...]) -> Iterator[str]:
    """Every file below the given folders, as paths in the collection, sorted."""
    for place in places:
        for path in sorted((folder / place).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(folder).as_posix()
