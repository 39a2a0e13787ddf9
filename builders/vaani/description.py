"""What a folder of recordings says of itself, or is known to be.

Said in a `collection.toml` (in the folder, or given as the source `collection`; README.md shows the keys), by one of
the files in `collections/` whose tables and columns the folder has, or by the published Parquet itself.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from builders.vaani.collection import FIELDS, HUB_COLUMNS, IMAGE_FIELDS, Collection, header, hub_tables
from builders.vaani.splits import SHARES
from schemas import GoldsmithError

_Kind = tuple[Callable[[Any], bool], str]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are_words(values: Any) -> bool:
    return all(isinstance(value, str) and value for value in values)


_WORDS: _Kind = (lambda value: isinstance(value, str), "text: put it in quotes")
_FLAG: _Kind = (lambda value: isinstance(value, bool), "a switch: write true or false")
_NUMBER: _Kind = (_is_number, "a number: write one, without quotes")
_LIST: _Kind = (lambda value: isinstance(value, list) and _are_words(value), 'a list of texts: write ["...", "..."]')
_TABLE: _Kind = (
    lambda value: isinstance(value, dict) and _are_words(value.values()),
    'a table of texts: write { ours = "theirs" }',
)
_KEYS: dict[str, Mapping[str, _Kind] | _Kind] = {
    "collection": {
        **dict.fromkeys(("name", "licence", "citation", "speech"), _WORDS),
        **dict.fromkeys(("title", "description", "creators", "purpose", "homepage", "licence_link"), _WORDS),
        **dict.fromkeys(("personal_names", "quotes"), _FLAG),
        **dict.fromkeys(("tables", "audio", "keep", "null"), _LIST),
    },
    "columns": dict.fromkeys(FIELDS, _WORDS),
    "constants": dict.fromkeys(FIELDS, _WORDS),
    "aliases": dict.fromkeys(("language", "district", "state"), _TABLE),
    "images": {"folder": _WORDS, "table": _WORDS, "columns": _TABLE},
    "thresholds": _NUMBER,
    "splits": dict.fromkeys(SHARES, _NUMBER),
}
"""Section -> key -> what it is; thresholds have names of their own (`settings`)."""

PUBLISHED = Collection(
    "vaani",
    "CC-BY-4.0",
    citation="Project VAANI, ARTPARK and IISc Bangalore (CC BY 4.0)",
    title="VAANI: capturing the language landscape of India",
    description="People in India describe a picture from their region in their own words.",
    creators="Project VAANI of ARTPARK and the Indian Institute of Science, Bangalore",
    purpose="To have speech of all of India: people describe pictures from their own region in their own language, so "
    "that speech technology serves languages and dialects that had no data.",
    homepage="https://vaani.iisc.ac.in",
    licence_link="https://creativecommons.org/licenses/by/4.0/",
    columns=HUB_COLUMNS,
)
"""Project VAANI's own corpus, as it is on the Hub; its tables are the Parquet files that are there."""


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
        return replace(PUBLISHED, tables=tuple(tables))
    for path in sorted((Path(__file__).parent / "collections").glob("*.toml")):
        known = read_description(path.read_bytes())
        if all(set(known.columns.values()) <= header(folder / table) for table in known.tables):
            return known
    raise GoldsmithError(
        "[recordings] has no collection.toml, no Parquet with audio, and is no collection known here: "
        "describe its tables and columns in a collection.toml (builders/vaani/README.md shows one)"
    )


def _existing(folder: Path, collection: Collection) -> Collection:
    """The same, its table patterns replaced by the files that there are."""
    found: list[str] = []
    for pattern in collection.tables:
        paths = sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern) if path.is_file())
        if not paths:
            raise GoldsmithError(f"[collection.toml > tables] {pattern} is not in the folder: correct the path")
        found += [path for path in paths if path not in found]
    _check_images(folder, collection.images)
    return replace(collection, tables=tuple(found))


def _check_images(folder: Path, images: Mapping[str, Any]) -> None:
    """Refuse a table or a folder of images that is not there, for it would be taken for a collection without any."""
    if images and not images.keys() & {"table", "folder"}:
        raise GoldsmithError("[collection.toml > images] has no table and no folder: name one of them")
    for key, there in (("table", Path.is_file), ("folder", Path.is_dir)):
        if key in images and not there(folder / images[key]):
            raise GoldsmithError(
                f"[collection.toml > images > {key}] {images[key]} is not in the folder: correct the path"
            )


def read_description(content: bytes) -> Collection:
    """Read and check a `collection.toml`.

    Raises:
        GoldsmithError: it is no TOML, or a key or a value is wrong; the first fault is named.
    """
    try:
        form = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[collection.toml] is no TOML in UTF-8 ({error}): correct it") from None
    for section, keys in form.items():
        if section not in _KEYS or not isinstance(keys, dict):
            raise GoldsmithError(f"[collection.toml > {section}] is unknown: the sections are {', '.join(_KEYS)}")
        for key, value in keys.items():
            _check(section, key, value)
    about = form.get("collection", {})
    for key in ("name", "licence"):
        if not about.get(key, "").strip():
            raise GoldsmithError(f"[collection.toml > collection > {key}] is missing: say it in words")
    if about.get("speech", "spontaneous") not in ("spontaneous", "read"):
        raise GoldsmithError(f"[collection.toml > collection > speech] is {about['speech']!r}: spontaneous or read")
    if not about.get("tables"):
        raise GoldsmithError("[collection.toml > collection > tables] is missing: name at least one table")
    images = form.get("images", {})
    for key in images.get("columns", {}):
        _known("images > columns", key, IMAGE_FIELDS)
    places = {"images > folder": [images.get("folder", "")], "images > table": [images.get("table", "")]}
    for key, paths in (places | {name: about.get(name, []) for name in ("tables", "audio")}).items():
        for path in paths:
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise GoldsmithError(
                    f"[collection.toml > {key}] {path} leads out of the folder: move it into the folder"
                )
    splits = {**SHARES, **form.get("splits", {})}
    if not all(0 <= share <= 0.5 for share in splits.values()):
        raise GoldsmithError("[collection.toml > splits] must be shares from 0 to 0.5: the rest is train")
    lists = {key: tuple(about[key]) for key in ("tables", "audio", "keep", "null") if key in about}
    sections = {key: form[key] for key in ("columns", "constants", "aliases", "images", "thresholds") if key in form}
    return Collection(**{**about, **lists, **sections, "splits": splits})


def _check(section: str, key: str, value: Any) -> None:
    """Refuse a key that is unknown, or a value of another kind than its key's."""
    kinds = _KEYS[section]
    if isinstance(kinds, Mapping):
        _known(section, key, tuple(kinds))
    fits, words = kinds[key] if isinstance(kinds, Mapping) else kinds
    if not fits(value):
        raise GoldsmithError(f"[collection.toml > {section} > {key}] is {value!r}, but must be {words}")


def _known(section: str, key: str, keys: tuple[str, ...]) -> None:
    if key not in keys:
        near = get_close_matches(key, keys, 1)
        hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(keys)}"
        raise GoldsmithError(f"[collection.toml > {section} > {key}] is unknown: {hint}")
