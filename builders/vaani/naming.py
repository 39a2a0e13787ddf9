"""Who and what a record is: the ids of clip, speaker, recording and image, from columns or from the file name.

Where names are personal data, every id is a pseudonym keyed with the owner's salt. The owner finds a name again with

    python -P -m builders.vaani.naming RECORDINGS SALT > names.tsv

which lists every pseudonym beside its name: keep that file as you keep the salt, and out of every dataset folder.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from builders.sources import Sources
from builders.vaani.collection import Collection
from builders.vaani.description import describe
from builders.vaani.file_names import RecorderName, parse_name, pseudonym, read_salt
from builders.vaani.records import Record, Records
from schemas import GoldsmithError

_NAMING = frozenset({"path", "utterance", "speaker", "recording", "transcriber", "image"})
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}")


@dataclass(frozen=True)
class Identity:
    """The ids of a clip as they are released; `name` is what the file name says, if it is a recorder's."""

    utterance: str
    speaker: str | None
    recording: str | None
    transcriber: str | None
    image: str | None
    name: RecorderName | None


class Naming:
    """Gives records their ids.

    Args:
        personal: whether names are personal data (`personal_names` of the collection).
        salt: None where no name is personal.
    """

    def __init__(self, personal: bool, salt: bytes | None) -> None:
        self.personal = personal
        self._salt = salt
        if personal and salt is None:
            raise GoldsmithError(
                "[salt] file names may hold parts of people's names and are to be replaced by pseudonyms: give "
                "--source salt=FILE (16 random bytes or more that you keep), or say personal_names = false in "
                "collection.toml if they hold none"
            )

    @classmethod
    def of(cls, personal: bool, sources: Sources) -> Naming:
        """With the salt among the sources of a build."""
        return cls(personal, read_salt(sources.bytes("salt")) if sources.given("salt") else None)

    def identify(self, fields: Mapping[str, str]) -> Identity:
        """The ids of a record with an utterance or a path.

        Raises:
            GoldsmithError: the collection says that no name is personal, and this one is.
        """
        given, name = _given(fields)
        if name is not None and name.personal and not self.personal:
            raise GoldsmithError(
                "[collection.toml > personal_names] is false, but the speaker part of a file name holds letters, "
                "which are a person's: take it out and give --source salt=FILE"
            )
        return Identity(
            self._released("utt", given["utt"]) or "",
            self._released("spk", given["spk"]),
            self._released("rec", given["rec"]),
            self._released("trn", given["trn"]),
            self.image(given["img"]),
            name,
        )

    def image(self, name: str | None) -> str | None:
        """What an image is called, for the image itself and for the clips about it."""
        return self._released("img", name)

    def shown(self, record: Record, kind: str = "utt") -> str:
        """A record's text for the rejects, which are released too: as it stands, or, where names are personal, its
        fields without them. `kind` is `utt` for a clip, `img` for an image."""
        if not self.personal:
            return record.raw
        plain = {name: value for name, value in record.fields.items() if name not in _NAMING}
        if path := record.fields.get("path"):
            plain["path"] = self.stand_in(path, kind)
        if image := self.image(record.fields.get("image")):
            plain["image"] = image
        return json.dumps(plain, ensure_ascii=False, sort_keys=True)

    def stand_in(self, path: str, kind: str = "utt") -> str:
        """What the path of a clip (`utt`) or image (`img`) is called where others can read it; it keeps its
        extension."""
        if not self.personal:
            return path
        suffix = PurePosixPath(path).suffix
        name = self._released(kind, _stem(path) if kind == "utt" else path)
        return f"{name}{suffix if _EXTENSION.fullmatch(suffix) else ''}"

    def _released(self, kind: str, value: str | None) -> str | None:
        if value is None or self._salt is None or not self.personal:
            return value
        return pseudonym(kind, value, self._salt)


def _given(fields: Mapping[str, str]) -> tuple[dict[str, str | None], RecorderName | None]:
    """A record's own names by the kind of their pseudonyms, and what its file name says."""
    path = fields.get("path", "")
    name = parse_name(path) if path else None
    speaker, recording = fields.get("speaker"), fields.get("recording")
    if name is not None:
        speaker = speaker or "_".join((name.vendor or "", name.state, name.district, name.speaker))
        recording = recording or name.recording
    names = {
        "utt": fields.get("utterance") or _stem(path),
        "spk": speaker,
        "rec": recording,
        "trn": fields.get("transcriber"),
        "img": fields.get("image"),
    }
    return names, name


def _stem(path: str) -> str:
    plain = PurePosixPath(path)
    return str(plain.with_suffix("")) if plain.name else path


def names(folder: Path, collection: Collection, salt: bytes) -> Iterator[tuple[str, str]]:
    """(pseudonym, name) of every clip, speaker, recording, transcriber and image in the tables of a collection, each
    once. For the owner's eyes; never write it into a dataset folder."""
    records = Records(folder, collection)
    found = {
        (kind, name): None
        for table in collection.tables
        for record in records.read(table, sounds=False)
        if record.problem is None
        for kind, name in _given(record.fields)[0].items()
        if name
    }
    for kind, name in found:
        yield pseudonym(kind, name, salt), name


def main(arguments: list[str]) -> None:
    """The command line of this module."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -P -m builders.vaani.naming", description="List the pseudonyms of a collection beside its names."
    )
    parser.add_argument("recordings", type=Path, help="the collection's folder")
    parser.add_argument("salt", type=Path, help="the salt that its build was given")
    given = parser.parse_args(arguments)
    try:
        salt = read_salt(given.salt.read_bytes())
        for row in names(given.recordings, describe(given.recordings), salt):
            print("\t".join(row))
    except (GoldsmithError, OSError) as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
