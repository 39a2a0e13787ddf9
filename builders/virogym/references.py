"""The proteins that were mutated: sequence, numbering, alignment with the numbering's own protein, homology clusters.

Everything is made from a FASTA file (or ProteinGym's reference table), the entry in `assays.toml` and, where there is
one, a site map. A sequence with a gap or an unknown residue is refused: it would end in every mutated sequence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from builders.virogym import codons, edits
from builders.virogym.registry import ReferenceEntry
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.tables import read_table
from schemas import GoldsmithError

if TYPE_CHECKING:
    from Bio.Align import PairwiseAligner

    from builders.sources import Sources

_HOMOLOGY_SCORE = 60.0
"""Local BLOSUM62 alignments of unrelated proteins of this size score below it (30 to 55 among ViroGym's)."""


@dataclass(frozen=True)
class Reference:
    """A protein and the names of its sites.

    Attributes:
        id: its key in `assays.toml`.
        record: which record of the source it is.
        sequence: the 20 amino acids.
        sites: the field's number of each position, None where the site map misses it.
        regions: domain of each position, None where the map names none.
        places: the line of the site map for each position; None without a map.
        merged: further lines of the map that say the same: (position, line).
        beyond: sites of the map that are no residue of it, with their line and why (`stop_site`, `out_of_range`).
        before, after: residues of the source's protein that the span leaves out at each end.
    """

    id: str
    record: str
    sequence: str
    sites: tuple[str | None, ...]
    regions: tuple[str | None, ...]
    places: tuple[int | None, ...] | None = None
    merged: tuple[tuple[int, int], ...] = ()
    beyond: tuple[tuple[str, int, str], ...] = ()
    before: int = 0
    after: int = 0

    @property
    def stop_sites(self) -> frozenset[str]:
        """The field's number of the stop codon, where the site map has it."""
        return frozenset(site for site, _, reason in self.beyond if reason == "stop_site")

    def positions(self, numbering: str) -> dict[str, int]:
        """The position of each site, named as `reference` (the field's numbering) or `sequential`."""
        if numbering == "sequential":
            return {str(position): position for position, site in enumerate(self.sites, 1) if site is not None}
        return {site: position for position, site in enumerate(self.sites, 1) if site is not None}


def load(reference_id: str, entry: ReferenceEntry, sources: Sources) -> Reference:
    """Read a reference and its numbering.

    Raises:
        GoldsmithError: a record is absent, a residue is none of the 20, or the site map contradicts the sequence.
    """
    where = f"virogym > references > {reference_id}"
    record, sequence = _record(where, sources.text(entry.source), entry.record, entry.alphabet)
    sites = [str(position) for position in range(1, len(sequence) + 1)]
    sequence, sites = _with_background(where, sequence, sites, entry.background)
    before = after = 0
    if entry.span is not None:
        first, last = (str(position) for position in entry.span)
        if first not in sites or last not in sites:
            raise GoldsmithError(
                f"[{where} > span] {entry.span} is not within the {len(sequence)} residues: correct it"
            )
        keep = slice(sites.index(first), sites.index(last) + 1)
        before, after = keep.start, len(sites) - keep.stop
        sequence, sites = sequence[keep], sites[keep]
    if entry.map is None:
        regions = (None,) * len(sequence)
        return Reference(reference_id, record, sequence, tuple(sites), regions, before=before, after=after)
    return _mapped(Reference(reference_id, record, sequence, (), (), before=before, after=after), entry, sources)


def fasta(text: str) -> dict[str, str]:
    """The sequences of a FASTA file in upper case, by the first word of their header."""
    records: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(">"):
            lines = records.setdefault((line[1:].split() or [""])[0], [])
        else:
            lines.append(line.strip())
    return {name: "".join(lines).upper() for name, lines in records.items()}


def _record(where: str, text: str, record: str | None, alphabet: str) -> tuple[str, str]:
    if alphabet == "proteingym":
        table = read_table(text, where, ("DMS_id", "target_seq"))
        records = dict(zip(table["DMS_id"].to_list(), table["target_seq"].to_list(), strict=True))
    else:
        records = fasta(text)
    if record is None and len(records) == 1:
        record = next(iter(records))
    if record is None or record not in records:
        some = ", ".join(list(records)[:5]) or "no record"
        raise GoldsmithError(
            f"[{where} > record] {record!r} is not in the source, which has {some}: name one of its records"
        )
    sequence = records[record]
    if alphabet == "codon":
        if len(sequence) % 3:
            raise GoldsmithError(f"[{where}] has {len(sequence)} nucleotides, no multiple of 3: give the coding region")
        sequence = codons.translate(sequence.replace("U", "T"))
    sequence = sequence.removesuffix("*")
    for position, residue in enumerate(sequence, 1):
        if residue not in AMINO_ACIDS:
            raise GoldsmithError(
                f"[{where}] has `{residue}` at position {position}, none of the 20 amino acids: "
                "give an ungapped, fully known sequence"
            )
    if not sequence:
        raise GoldsmithError(f"[{where}] has no residue: give a protein sequence")
    return record, sequence


def _with_background(where: str, sequence: str, sites: list[str], background: list[str]) -> tuple[str, list[str]]:
    """The library's own changes. Inserted residues get the site before them and a letter (`214a`)."""
    positions = {site: position for position, site in enumerate(sites, 1)}
    try:
        changes = sorted(edits.parse(token, sequence, positions) for token in background)
    except edits.EditError as error:
        raise GoldsmithError(f"[{where} > background] {error}: correct the change or the record") from None
    new_sites = list(sites)
    for change in reversed(changes):
        if change.op == "del":
            del new_sites[change.start - 1 : change.end]
        elif change.op == "ins":
            letters = [f"{sites[change.start - 1]}{chr(ord('a') + i)}" for i in range(len(change.new))]
            new_sites[change.start : change.start] = letters
    return edits.apply(changes, sequence), new_sites


def _mapped(reference: Reference, entry: ReferenceEntry, sources: Sources) -> Reference:
    """The reference with the sites, regions and lines of its site map."""
    where, sequence = f"virogym > references > {reference.id} > map", reference.sequence
    table, shift = _map_table(where, reference, entry, sources)
    sites: dict[int, tuple[str, str | None, int]] = {}
    merged: list[tuple[int, int]] = []
    beyond: list[tuple[str, int, str]] = []
    for number, site, wt, region, line in table.iter_rows():
        if number is None or not number.isdecimal() or not site:
            raise GoldsmithError(f"[{where} > line {line}] maps {number!r} to {site!r}: both must be given")
        position = int(number) - shift
        if not 1 <= position <= len(sequence):
            beyond.append((site, line, "stop_site" if position == len(sequence) + 1 else "out_of_range"))
        elif position not in sites:
            if wt not in (None, sequence[position - 1]):
                raise GoldsmithError(
                    f"[{where} > line {line}] has {wt} at position {position}, the sequence {sequence[position - 1]}: "
                    "the map and the sequence are of different proteins, or one is shifted"
                )
            sites[position] = (site, region, line)
        elif sites[position][0] == site:
            merged.append((position, line))
        else:
            first = sites[position][0]
            raise GoldsmithError(
                f"[{where} > line {line}] position {position} is site {first} and {site}: keep one of them"
            )
    named = Counter(site for site, _, _ in sites.values())
    if len(named) < len(sites):
        twice = named.most_common(1)[0][0]
        raise GoldsmithError(f"[{where}] gives site {twice} to several positions: a site map must be one to one")
    found = [sites.get(position, (None, None, None)) for position in range(1, len(sequence) + 1)]
    return replace(
        reference,
        sites=tuple(site for site, _, _ in found),
        regions=tuple(region for _, region, _ in found),
        places=tuple(line for _, _, line in found),
        merged=tuple(merged),
        beyond=tuple(beyond),
    )


def _map_table(where: str, reference: Reference, entry: ReferenceEntry, sources: Sources) -> tuple[pl.DataFrame, int]:
    """The site map's number, site, wild type, region and line, and what to subtract from its numbers."""
    names = entry.map_columns
    number = "sequential" if "sequential" in names else "position"
    table = read_table(sources.text(entry.map or ""), where, (names[number], names["reference"]))
    optional = [
        pl.col(names[key]) if names.get(key) in table.columns else pl.lit(None, pl.String).alias(key)
        for key in ("wt", "region")
    ]
    chosen = table.select(
        pl.col(names[number]).alias("number"), pl.col(names["reference"]).alias("site"), *optional, pl.col("line")
    )
    return chosen, reference.before if number == "position" else 0


def aligned_sites(reference: Reference, entry: ReferenceEntry, sources: Sources) -> list[int | None]:
    """For each position, the position in the numbering's own protein that a global alignment pairs it with."""
    if entry.aligned_to is None:
        return [None] * len(reference.sequence)
    where = f"virogym > references > {reference.id} > aligned_to"
    _, own = _record(where, sources.text(entry.aligned_to), entry.aligned_record, "protein")
    pairs: dict[int, int] = {}
    for (start, end), (own_start, _) in zip(*_aligner("global").align(reference.sequence, own)[0].aligned, strict=True):
        pairs.update((int(start) + i + 1, int(own_start) + i + 1) for i in range(int(end) - int(start)))
    return [pairs.get(position) for position in range(1, len(reference.sequence) + 1)]


@lru_cache(maxsize=2)
def _aligner(mode: str) -> PairwiseAligner:
    """BLOSUM62 with BLASTP's gap costs; a global alignment does not count gaps at its ends."""
    from Bio.Align import PairwiseAligner, substitution_matrices

    aligner = PairwiseAligner(mode=mode)
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -11, -1
    if mode == "global":
        aligner.end_gap_score = 0
    return aligner


def identity(one: str, other: str) -> float:
    """Identical residues of the best local alignment, over the length of the shorter protein; 0 for unrelated ones."""
    aligner = _aligner("local")
    if one == other:
        return 1.0
    if aligner.score(one, other) < _HOMOLOGY_SCORE:
        return 0.0
    return float(aligner.align(one, other)[0].counts().identities / min(len(one), len(other)))


def clusters(sequences: Mapping[str, str], levels: Iterable[float]) -> list[dict[str, str]]:
    """For each level of identity the cluster of each reference: single linkage, named after the first member by id.

    All pairs are aligned once; equal sequences are aligned once for all.
    """
    distinct = sorted(set(sequences.values()))
    pairs = {(a, b): identity(a, b) for a, b in combinations(distinct, 2)}
    return [_linked(sequences, {pair for pair, value in pairs.items() if value >= level}) for level in levels]


def _linked(sequences: Mapping[str, str], links: set[tuple[str, str]]) -> dict[str, str]:
    root = {sequence: sequence for sequence in sequences.values()}

    def top(sequence: str) -> str:
        while root[sequence] != sequence:
            sequence = root[sequence]
        return sequence

    for a, b in sorted(links):
        root[top(a)] = top(b)
    names: dict[str, str] = {}
    for reference_id in sorted(sequences):
        names.setdefault(top(sequences[reference_id]), reference_id)
    return {reference_id: names[top(sequence)] for reference_id, sequence in sequences.items()}


def numbering_rows(reference: Reference, aligned: list[int | None]) -> pl.DataFrame:
    """The `numbering` rows of a reference, with the column `line` of the site map."""
    rows = pl.DataFrame(
        {
            "reference_id": [reference.id] * len(reference.sequence),
            "sequential_site": range(1, len(reference.sequence) + 1),
            "reference_site": reference.sites,
            "reference_wt": list(reference.sequence),
            "region": reference.regions,
            "aligned_site": aligned,
            "line": reference.places or [None] * len(reference.sequence),
        },
        schema_overrides={"region": pl.String, "aligned_site": pl.Int32, "sequential_site": pl.Int32, "line": pl.Int64},
    )
    return rows.filter(pl.col("reference_site").is_not_null())
