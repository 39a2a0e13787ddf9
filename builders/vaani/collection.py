"""What a collection of recordings looks like: its tables, which column means what, whose names are in it.

`description` reads it from a `collection.toml`, or finds what the folder is without one; how the tables are read is the
business of `records`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
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


@dataclass(frozen=True)
class Collection:
    """A collection as described; all of it plain JSON values, so that it can be a shard's parameter.

    Attributes:
        licence: an SPDX identifier, or the owner's words; `licence_link` says where its text is.
        title, description, creators, purpose, homepage: what the documents say of the collection; "": not known.
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
    title: str = ""
    description: str = ""
    creators: str = ""
    purpose: str = ""
    homepage: str = ""
    licence_link: str = ""
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


def hub_tables(folder: Path, column: str = "audio") -> list[str]:
    """The Parquet files of a folder with an audio (or image) column, sorted."""
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.parquet")) if column in header(path)]


def header(path: Path) -> frozenset[str]:
    """The column names of a table; none where there is no such file."""
    if not path.is_file():
        return frozenset()
    if path.suffix == ".parquet":
        try:
            return frozenset(pq.read_schema(path).names)
        except pa.ArrowException as error:
            reason = " ".join(str(error).split())
            raise GoldsmithError(f"[{path.name}] is no Parquet ({reason}): fetch it again, whole") from None
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        return frozenset(next(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","), ()))


def sound_files(folder: Path, places: tuple[str, ...]) -> Iterator[str]:
    """Every file below the given folders, as paths in the collection, sorted."""
    for place in places:
        for path in sorted((folder / place).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(folder).as_posix()
