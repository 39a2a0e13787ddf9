"""The recorder's file names: what they say, and how what they say of people is kept out of a release.

The published `audio.path` keeps names such as
`IISc_VaaniProject_M_KA_DakshinKannada_xxxx99609_0821160000_KTCMMAO_136341_589_4854.wav`: vendor, state, district,
speaker, session, image, record, and where the clip starts and ends in its recording (ms). For one vendor the speaker
part is four letters of the person's name and digits, so names are personal data: they leave this module as pseudonyms
(keyed with a salt that no release holds); `naming` gives every record its own.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from schemas import GoldsmithError

_NAME = re.compile(
    r"(?:IISc_VaaniProject_(?P<vendor>[A-Z])_)?(?P<state>[A-Za-z]+)_(?P<district>\w+?)_(?P<speaker>[A-Za-z0-9]+)_"
    r"(?P<session>\d+)_(?P<image>[A-Za-z0-9-]+)_(?P<record>\d+)_(?P<start_ms>\d+)_(?P<end_ms>\d+)\.[A-Za-z0-9]{2,5}"
)
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
SALT_BYTES = 16
"""The least length of a salt: names have little entropy, so the salt must have enough for both."""


@dataclass(frozen=True)
class RecorderName:
    """What a recorder's file name says; `start_ms` and `end_ms` are places in the recording."""

    vendor: str | None
    state: str
    district: str
    speaker: str
    session: str
    image: str
    record: str
    start_ms: int
    end_ms: int

    @property
    def recording(self) -> str:
        """The recording that the clip was cut from: the name less its last two numbers."""
        return "_".join(
            (self.vendor or "", self.state, self.district, self.speaker, self.session, self.image, self.record)
        )

    @property
    def personal(self) -> bool:
        """Whether the speaker part holds letters, which are letters of a person's name."""
        return not self.speaker.isdecimal()


def parse_name(path: str) -> RecorderName | None:
    """Parse a path's file name; None where it is no recorder's name."""
    match = _NAME.fullmatch(PurePosixPath(path).name)
    if match is None:
        return None
    parts = match.groupdict()
    return RecorderName(**{**parts, "start_ms": int(parts["start_ms"]), "end_ms": int(parts["end_ms"])})


def pseudonym(kind: str, name: str, salt: bytes) -> str:
    """A stable stand-in for `name`, such as `spk_mdcpbag…` (64 bits): the same for the same salt, useless without it.

    It is written in the letters a to p, for ten digits in a row would look like a phone number.

    Args:
        kind: `utt`, `spk`, `rec`, `trn` or `img`; the same name gets different stand-ins in different roles.
    """
    digest = hashlib.blake2b(f"{kind}\0{name}".encode(), key=salt[:64], digest_size=8).hexdigest()
    return f"{kind}_{digest.translate(_LETTERS)}"


def read_salt(content: bytes) -> bytes:
    """The salt in a salt file, blanks at its ends removed.

    Raises:
        GoldsmithError: it is too short to protect anything.
    """
    salt = content.strip()
    if len(salt) < SALT_BYTES:
        raise GoldsmithError(
            f"[salt] has {len(salt)} bytes, at least {SALT_BYTES} are needed: write one with `openssl rand -hex 32`"
        )
    return salt
