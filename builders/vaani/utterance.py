"""From a record and its sound to a row of `utterances`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from builders.vaani import languages, pii, tags
from builders.vaani.asr import error_rates
from builders.vaani.audio import Meter
from builders.vaani.collection import Collection
from builders.vaani.decode import decode, fits, right_extension
from builders.vaani.naming import Identity
from builders.vaani.records import Record
from builders.vaani.splits import SPLITS
from builders.vaani.transcript import fold, parse

_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_GENDERS = {"m": "male", "f": "female", "o": "other"}
_NO_LETTERS = str.maketrans("", "", " '\u200c\u200d")


class Maker:
    """Makes the rows of one shard; keeps a meter, and what a recogniser heard.

    Args:
        hypotheses: utterance_id -> text.
    """

    def __init__(self, collection: Collection, hypotheses: Mapping[str, str]) -> None:
        self._collection = collection
        self._hypotheses = hypotheses
        self._meter = Meter()

    def row(self, record: Record, identity: Identity, data: bytes, split: str, image_in_train: bool) -> dict[str, Any]:
        """The row of a record.

        Raises:
            UnusableError: its sound cannot be used.
        """
        sound = decode(data)
        extension = PurePosixPath(record.fields.get("path", "")).suffix[1:].lower() or None
        name = re.sub(r"[^\w.-]+", "_", identity.utterance)
        words = tags.read(data, sound.container)
        row: dict[str, Any] = {
            "utterance_id": identity.utterance,
            "audio": {"bytes": data, "path": f"{name}.{right_extension(sound.container, sound.codec)}"},
            "image_in_train": image_in_train,
            "container": sound.container,
            "codec": sound.codec,
            "extension_given": extension,
            "extension_fits": extension is None or fits(extension, sound.container),
            "sampling_rate": sound.rate,
            "channels": sound.channels,
            "bytes": len(data),
            "tags": list(words),
            "tag_pii": sorted({kind for text in words.values() for kind in pii.kinds(text)}),
            **vars(self._meter.measure(sound)),
            "name_pii": pii.kinds(identity.utterance),
            "split": split,
            "licence": self._collection.licence,
            "extra": json.dumps(record.extra, ensure_ascii=False, sort_keys=True, default=str)
            if record.extra
            else None,
        }
        row |= self._about(record.fields, identity)
        row |= self._text(record.fields.get("transcript"), row["language"])
        return row | self._recognised(identity.utterance, row["text_clean"])

    def _about(self, fields: Mapping[str, str], identity: Identity) -> dict[str, Any]:
        """Who spoke, where, in which language, about what, in which piece of which recording."""
        name, collection = identity.name, self._collection
        state_given = fields.get("state") or (name.state if name else None)
        district_given = fields.get("district") or (name.district if name else None)
        state = languages.state(state_given, collection.alias("state")) if state_given else None
        district = languages.district(district_given, collection.alias("district")) if district_given else None
        lies_in = languages.state_of(district) if district else None
        label = fields.get("language")
        language = languages.language(label, collection.alias("language")) if label else None
        start = _number(fields.get("start_s"), name.start_ms / 1000 if name else None)
        end = _number(fields.get("end_s"), name.end_ms / 1000 if name else None)
        pincode = fields.get("pincode")
        gender = fields.get("gender", "").strip().lower() or None
        known = [part.strip() for part in re.split(r"[,;/|]", fields.get("languages_known", ""))]
        return {
            "speaker_id": identity.speaker,
            "recording_id": identity.recording,
            "start_s": start,
            "end_s": end,
            "claimed_duration_s": _number(
                fields.get("duration_s"), end - start if start is not None and end is not None else None
            ),
            "state": state or lies_in,
            "district": district,
            "state_given": state_given,
            "district_given": district_given,
            "district_fits": lies_in == state if lies_in and state else None,
            "pincode": pincode,
            "pincode_fits": languages.pin_fits(int(pincode), state)
            if state and pincode and pincode.isdecimal()
            else None,
            "stay_years": fields.get("stay_years"),
            "gender": _GENDERS.get(gender, gender) if gender else None,
            "language": language.name if language else None,
            "language_given": label,
            "iso639_3": language.iso639_3 if language else None,
            "bcp47": language.bcp47 if language else None,
            "language_family": language.family if language else None,
            "languages_known": [languages.language(part, collection.alias("language")).name for part in known if part],
            "image_id": identity.image,
            "transcribed_given": _YES_NO.get(fields.get("transcribed", "").strip().lower()),
            "transcriber_id": identity.transcriber,
            "votes": _whole(fields.get("votes")),
        }

    def _text(self, transcript: str | None, language: str | None) -> dict[str, Any]:
        """The transcript and all that is read off it."""
        parsed = parse(transcript or "")
        text = parsed.text
        shares = languages.scripts(text)
        own = languages.language(language).scripts if language else ()
        others = {letter for letter in text if own and not letter.isascii()}
        foreign = sorted(letter for letter in others if languages.script(letter) not in ("", "Latin", *own))
        return {
            "transcript": transcript,
            "text_clean": text if transcript is not None else None,
            "text_key": hashlib.blake2b(fold(text).encode(), digest_size=8).hexdigest() if text else None,
            "events": [vars(event) for event in parsed.events],
            "glosses": [vars(gloss) for gloss in parsed.glosses],
            "disfluencies": [vars(disfluency) for disfluency in parsed.disfluencies],
            "unintelligible": parsed.unintelligible,
            "transcript_issues": list(parsed.issues),
            "script": next(iter(shares), None),
            "script_share": sum(shares.get(script, 0.0) for script in own) if own and shares else None,
            "other_letters": "".join(foreign) or None,
            "detected_family": languages.detected_family(text),
            "letters": len(text.translate(_NO_LETTERS)),
            "transcript_pii": pii.kinds(transcript) if transcript else [],
        }

    def _recognised(self, utterance: str, text: str | None) -> dict[str, Any]:
        heard = self._hypotheses.get(utterance)
        rates = error_rates(text, heard) if text and heard is not None else None
        return {"asr_text": heard, "asr_wer": rates[0] if rates else None, "asr_cer": rates[1] if rates else None}


def split_of(mark: str) -> tuple[str, bool]:
    """(split, image in train) from a mark of the plan: t, v or e, a capital where the image is in train."""
    return SPLITS["tve".index(mark.lower())], mark.isupper()


def mark_of(split: str, image_in_train: bool) -> str:
    """The mark of a split; see `split_of`."""
    mark = "tve"[SPLITS.index(split)]
    return mark.upper() if image_in_train else mark


def _number(text: str | None, otherwise: float | None) -> float | None:
    try:
        return float(text) if text else otherwise
    except ValueError:
        return otherwise


def _whole(text: str | None) -> int | None:
    number = _number(text, None)
    return int(number) if number is not None and abs(number) < 2**31 else None
