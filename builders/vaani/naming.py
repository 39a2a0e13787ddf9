"""Who and what a record is: the ids of clip, speaker and recording, from columns or from the recorder's file name.

Where names are personal data, every id is a pseudonym keyed with the owner's salt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from builders.vaani.collection import Collection
from builders.vaani.file_names import RecorderName, parse_name, pseudonym
from builders.vaani.records import Record
from schemas import GoldsmithError

_NAMING = frozenset({"path", "utterance", "speaker", "recording", "transcriber"})


@dataclass(frozen=True)
class Identity:
    """The ids of a clip as they are released; `name` is what the file name says, if it is a recorder's."""

    utterance: str
    speaker: str | None
    recording: str | None
    transcriber: str | None
    name: RecorderName | None


class Naming:
    """Gives records their ids.

    Args:
        salt: None where no name is personal.
    """

    def __init__(self, collection: Collection, salt: bytes | None) -> None:
        self._personal = collection.personal_names
        self._salt = salt
        if self._personal and salt is None:
            raise GoldsmithError(
                "[salt] file names may hold parts of people's names and are to be replaced by pseudonyms: give "
                "--source salt=FILE (16 random bytes or more that you keep), or say personal_names = false in "
                "collection.toml if they hold none"
            )

    def identify(self, fields: Mapping[str, str]) -> Identity:
        """The ids of a record with an utterance or a path.

        Raises:
            GoldsmithError: the collection says that no name is personal, and this one is.
        """
        path = fields.get("path", "")
        name = parse_name(path) if path else None
        speaker, recording = fields.get("speaker"), fields.get("recording")
        if name is not None:
            speaker = speaker or "_".join((name.vendor or "", name.state, name.district, name.speaker))
            recording = recording or name.recording
            if name.personal and not self._personal:
                raise GoldsmithError(
                    "[collection.toml > personal_names] is false, but the speaker part of a file name holds letters, "
                    "which are a person's: take it out and give --source salt=FILE"
                )
        utterance = fields.get("utterance") or str(PurePosixPath(path).with_suffix(""))
        return Identity(
            self._released("utt", utterance) or "",
            self._released("spk", speaker),
            self._released("rec", recording),
            self._released("trn", fields.get("transcriber")),
            name,
        )

    def shown(self, record: Record) -> str:
        """A record's text for the rejects, which are released too: as it stands, or, where names are personal, its
        fields without them."""
        if not self._personal:
            return record.raw
        plain = {name: value for name, value in record.fields.items() if name not in _NAMING}
        if path := record.fields.get("path"):
            plain["path"] = self.stand_in(path)
        return json.dumps(plain, ensure_ascii=False, sort_keys=True)

    def stand_in(self, path: str) -> str:
        """What a path is called where others can read it."""
        return self._released("utt", str(PurePosixPath(path).with_suffix(""))) or path

    def _released(self, kind: str, value: str | None) -> str | None:
        if value is None or self._salt is None or not self._personal:
            return value
        return pseudonym(kind, value, self._salt)
