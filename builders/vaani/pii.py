"""Personal data in transcripts and file names: phones, Aadhaar, PAN, e-mail, UPI, in any script's digits.

Only what has a form is found. Names, addresses and numbers spoken in words are not; the datasheet says so.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PHONE = re.compile(r"(?<!\d)(?:\+?91[\s-]?|0)?[6-9]\d{4}[\s-]?\d{5}(?!\d)")
_AADHAAR = re.compile(r"(?<!\d)[2-9]\d{3}[\s-]?\d{4}[\s-]?\d{4}(?!\d)")
_PAN = re.compile(r"(?<![A-Z0-9])[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z](?![A-Z0-9])", re.IGNORECASE)
_EMAIL = re.compile(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z][A-Za-z.]+")
_UPI = re.compile(r"(?<![\w.-])[\w.-]{2,}@(?:ok\w+|ybl|upi|paytm|ibl|axl|apl)(?![\w.])")
_WORTH_A_LOOK = re.compile(r"\d[\d\s-]{8}|@")

# Verhoeff's scheme: the dihedral group D5's multiplication, and the powers of his permutation.
_TIMES = [[(a + b) % 5 if a < 5 else (a - b) % 5 for b in range(5)] + [0] * 5 for a in range(10)]
for _a in range(10):
    for _b in range(10):
        if _a < 5:
            _TIMES[_a][_b] = (_a + _b) % 5 if _b < 5 else (_a + _b - 5) % 5 + 5
        else:
            _TIMES[_a][_b] = (_a - 5 - _b) % 5 + 5 if _b < 5 else (_a - _b) % 5
_STEP = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]
_POWERS = [list(range(10))]
for _ in range(7):
    _POWERS.append([_STEP[digit] for digit in _POWERS[-1]])


@lru_cache(maxsize=1)
def _digits() -> dict[int, str]:
    """Every decimal digit of Unicode to its ASCII digit; the planes above the second have none."""
    characters = map(chr, range(128, 0x20000))
    return {ord(character): str(unicodedata.decimal(character)) for character in characters if character.isdecimal()}


def ascii_digits(text: str) -> str:
    """The text with every script's digits as ASCII ones; nothing else changes, nor any position."""
    return text if text.isascii() else text.translate(_digits())


def verhoeff(number: str) -> bool:
    """Whether a number's last digit is its right Verhoeff check digit (Verhoeff 1969), as Aadhaar's is."""
    check = 0
    for place, digit in enumerate(reversed(number)):
        check = _TIMES[check][_POWERS[place % 8][int(digit)]]
    return check == 0


def find(text: str) -> list[tuple[str, int, int]]:
    """What looks like personal data in `text`: (kind, start, end), sorted by place.

    Kinds: phone, aadhaar (check digit right), aadhaar_like (12 digits, check digit wrong), pan, email, upi.
    """
    plain = ascii_digits(text)
    found: list[tuple[str, int, int]] = []
    if _WORTH_A_LOOK.search(plain):
        for match in _AADHAAR.finditer(plain):
            valid = verhoeff(re.sub(r"\D", "", match[0]))
            found.append(("aadhaar" if valid else "aadhaar_like", match.start(), match.end()))
        for kind, pattern in (("phone", _PHONE), ("email", _EMAIL), ("upi", _UPI)):
            found += [(kind, match.start(), match.end()) for match in pattern.finditer(plain)]
    found += [("pan", match.start(), match.end()) for match in _PAN.finditer(plain)]
    return sorted(found, key=lambda hit: hit[1:])


def kinds(text: str) -> list[str]:
    """The kinds of personal data found in `text`, sorted, each once."""
    return sorted({kind for kind, _, _ in find(text)})
