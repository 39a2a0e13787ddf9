"""Names of influenza strains: many spellings of one, and the sequence that each stands for.

`A/Thailand/08/2022`, `A/Thailand/8/2022_H3N2` and `A/Thailand/8/2022_H3N2_PV283376_A156T` are one strain;
`A/Texas/50/2012` and `A/Texas/50/2012X-223A` (grown in eggs) are two, with two sequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from builders.virogym.residues import AMINO_ACIDS
from builders.virogym.tasks import StrainList

_SUBTYPE = re.compile(r"[ _]\(?(H\d{1,2}N\d{1,2})\)?(?=[ _]|$)")
_ACCESSION = re.compile(r"[ _](EPI_?ISL_?\d+|EPI\d+|[A-Z]{1,2}_?\d{5,8})(?:\.\d+)?((?:_[A-Z]\d+[A-Z])*)$")
_REASSORTANT = r"(?:NIB|NIBRG|IVR|CVR|SAN|NYMC[- ]?X|X)-?\d+[A-Z]{0,2}"
_GROWN = re.compile(rf"(?<=\d)[-_ ]?(egg|cell|{_REASSORTANT})$", re.IGNORECASE)
_WRAPPED = re.compile(rf"({_REASSORTANT}) \((A/.+)\)", re.IGNORECASE)
_EGG = re.compile(r"egg|\bE\d|\bAM\d", re.IGNORECASE)
_CELL = re.compile(r"cell|MDCK|SIAT|VERO|\b[CSM]\d|QMC", re.IGNORECASE)


@dataclass(frozen=True)
class Name:
    """What a spelling says.

    Attributes:
        name: canonical: no leading zeros, subtype, accession or passage.
        grown: `egg`, the reassortant, or nothing: with `name` it tells which sequence is meant.
        passage: `egg`, `cell` or `unstated`.
    """

    name: str
    grown: str
    passage: str
    subtype: str | None
    accession: str | None

    @property
    def key(self) -> tuple[str, str]:
        """Equal for spellings of one strain: case, blanks and underscores do not count."""
        return re.sub(r"[ _]", "", self.name).casefold(), self.grown.casefold().replace(" ", "")

    @property
    def reassortant(self) -> str | None:
        """The reassortant, where it is one."""
        return self.grown if self.grown not in ("", "egg") else None


def parse(spelling: str, passage: str = "unstated") -> Name:
    """Take a spelling apart.

    Args:
        passage: in what it was grown, where the spelling does not say: `egg`, `cell`, `unstated`.
    """
    text, grown, subtype, accession = " ".join(spelling.split()), "", None, None
    if match := _WRAPPED.fullmatch(text):
        grown, text = match[1], match[2]
    if match := _ACCESSION.search(text):
        accession = " ".join([match[1], *filter(None, match[2].split("_"))])
        text = text[: match.start()]
    while match := _SUBTYPE.search(text):
        subtype = match[1]
        text = text[: match.start()] + text[match.end() :]
    if match := _GROWN.search(text):
        grown, text = match[1], text[: match.start()]
    if grown.lower() == "cell":
        grown, passage = "", "cell"
    if grown.lower() == "egg" or (not grown and passage == "egg"):
        grown = "egg"
    *parts, year = text.rstrip("_ ").split("/")
    parts = [part.lstrip("0") or "0" if part.isdecimal() else part for part in parts]
    return Name("/".join([*parts, year]), grown, "egg" if grown else passage, subtype, accession)


def passage_of(text: str | None, default: str) -> str:
    """A laboratory's passage history (`MDCK2/SIAT1`, `E4`, `egg`) as `egg`, `cell` or `default`, if it says neither.

    A virus that was in eggs at any time has their changes.
    """
    if not text:
        return default
    return "egg" if _EGG.search(text) else "cell" if _CELL.search(text) else default


@dataclass(frozen=True)
class Strain:
    """A strain and where it comes from.

    Attributes:
        strain_id: see `schema_titres.VIRUSES`.
        sequence: of the list's span, or None.
        spellings: in the order of their first use.
        source, place: of the sequence, else of the name.
        more: further records of that source with the same strain and sequence.
    """

    strain_id: str
    name: Name
    sequence: str | None
    span: str | None
    spellings: tuple[str, ...]
    source: str
    place: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Strains:
    """A list of strains, to look spellings up in.

    Attributes:
        by_key: the strains.
        refused: records of the sequences that make no strain: (place, spelling, reason, message).
        two: keys of strains with two sequences: they cannot be told apart, and so cannot be joined to.
    """

    by_key: Mapping[tuple[str, str], Strain]
    refused: tuple[tuple[str, str, str, str], ...]
    two: frozenset[tuple[str, str]]
    aliases: Mapping[str, str]

    def find(self, spelling: str, passage: str = "unstated") -> Strain | None:
        """The strain of a spelling, None where the list has it not."""
        return self.by_key.get(parse(self.aliases.get(spelling, spelling), passage).key)


def headers(text: str) -> list[tuple[str, str]]:
    """(header, sequence in upper case) of each record of a FASTA file; headers are whole, for names hold blanks."""
    records: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(">"):
            records.append((line[1:].strip(), []))
        elif records:
            records[-1][1].append(line.strip())
    return [(name, "".join(lines).upper().rstrip("*")) for name, lines in records]


def library(entry: StrainList, list_id: str, text: str, named: Iterable[tuple[str, str, str, str]]) -> Strains:
    """The strains of a list: those with a sequence, then those that its tasks name without one.

    Args:
        text: the FASTA file; empty where the list has none.
        named: (spelling, passage, source, place) of the strains that the tasks' tables name.
    """
    found: dict[tuple[str, str], Strain] = {}
    refused: list[tuple[str, str, str, str]] = []
    two: set[tuple[str, str]] = set()
    for spelling, sequence in headers(text):
        place, name = f"record {spelling}", parse(entry.aliases.get(spelling, spelling), entry.passage)
        odd = sorted(set(sequence) - set(AMINO_ACIDS))
        if odd or not sequence:
            refused.append((place, spelling, "bad_sequence", f"it holds {''.join(odd) or 'nothing'}"))
        elif name.key not in found:
            strain_id = "|".join(filter(None, (name.name, name.grown, entry.span)))
            strain = Strain(strain_id, name, sequence, entry.span, (spelling,), entry.source or "", place)
            found[name.key] = strain
        elif found[name.key].sequence == sequence:
            had = found[name.key]
            found[name.key] = replace(had, spellings=(*had.spellings, spelling), more=(*had.more, place))
        else:
            two.add(name.key)
            refused.append((place, spelling, "two_sequences", "another record of the strain has another sequence"))
    for key in two:
        had = found.pop(key)
        places = zip((had.place, *had.more), had.spellings, strict=True)
        refused += [(place, name, "two_sequences", "another record has another sequence") for place, name in places]
    for spelling, passage, source, place in named:
        name = parse(entry.aliases.get(spelling, spelling), passage)
        if name.key in found:
            had = found[name.key]
            if spelling not in had.spellings:
                found[name.key] = replace(had, spellings=(*had.spellings, spelling))
        elif name.key not in two:
            strain_id = "|".join(filter(None, (name.name, name.grown, list_id)))
            found[name.key] = Strain(strain_id, name, None, None, (spelling,), source, place)
    return Strains(found, tuple(refused), frozenset(two), entry.aliases)
