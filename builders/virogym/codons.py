"""Codons: a protein's coding sequence, and how many nucleotides an amino acid change needs.

A reference that circulated differs from the root by known changes; their codons follow from the root's where one
nucleotide explains them in one way, and are given by the entry where not. Codon-optimised genes of laboratories say
nothing about what a virus can reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from builders.virogym.residues import AMINO_ACIDS
from builders.virogym.strains import headers
from schemas import GoldsmithError

BASES = "TCAG"
_STANDARD = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODONS = {a + b + c: _STANDARD[16 * i + 4 * j + k] for i, a in enumerate(BASES) for j, b in enumerate(BASES)
          for k, c in enumerate(BASES)}  # fmt: skip
"""Codon -> amino acid (`*` for a stop): the standard genetic code, NCBI's table 1."""


def translate(nucleotides: str) -> str:
    """The protein of a coding sequence; `X` for a codon that holds more than the four bases."""
    return "".join(CODONS.get(nucleotides[i : i + 3], "X") for i in range(0, len(nucleotides) - 2, 3))


@lru_cache(maxsize=64)
def distances(codon: str) -> Mapping[str, int]:
    """Amino acid -> fewest nucleotide changes from this codon to one of its codons."""
    nearest = dict.fromkeys(AMINO_ACIDS, 3)
    for other, residue in CODONS.items():
        if residue != "*":
            nearest[residue] = min(nearest[residue], sum(x != y for x, y in zip(codon, other, strict=True)))
    return nearest


def root_codons(text: str, gene: str | None, protein: str, where: str) -> list[str]:
    """The codon of each position of a protein.

    Args:
        text: a GenBank file, of which `gene` names the coding region, or a FASTA file with one record.

    Raises:
        GoldsmithError: the gene is not there, or its translation is another protein.
    """
    if gene is None:
        records = headers(text)
        if len(records) != 1:
            raise GoldsmithError(
                f"[{where} > codons] has {len(records)} FASTA records: give one, or `gene` of a GenBank file"
            )
        coding = records[0][1].replace("U", "T")
    else:
        coding = _gene(text, gene, where)
    made = translate(coding).removesuffix("*")
    if made != protein:
        at = next((i for i, (x, y) in enumerate(zip(made, protein, strict=False), 1) if x != y), None)
        at = at or min(len(made), len(protein)) + 1
        raise GoldsmithError(
            f"[{where} > codons] translates to another protein than root (from position {at} on): "
            "give the coding sequence of the root"
        )
    return [coding[i : i + 3] for i in range(0, 3 * len(protein), 3)]


def _gene(text: str, gene: str, where: str) -> str:
    import io

    from Bio import SeqIO  # Biopython is slow to import, and most runs need none of it

    try:
        record = SeqIO.read(io.StringIO(text), "genbank")
    except ValueError as error:
        raise GoldsmithError(
            f"[{where} > codons] is no GenBank file with one record ({error}): fetch it again"
        ) from None
    for feature in record.features:
        if feature.type == "CDS" and gene in feature.qualifiers.get("gene", []):
            return str(feature.extract(record.seq)).upper()
    raise GoldsmithError(f"[{where} > gene] names {gene}, which the GenBank file has no CDS of: correct it")


def reference_codons(
    sequence: str,
    sites: Sequence[str | None],
    root: Mapping[str, tuple[str, str]],
    given: Mapping[str, str],
    where: str,
) -> list[str]:
    """The codon of each position of a reference.

    Args:
        sites: the root's position of each position, as text; inserted residues have a letter (`214a`).
        root: site -> (residue, codon).
        given: site -> codon, by the entry.

    Raises:
        GoldsmithError: a codon cannot be told, or a given one does not code for the residue.
    """
    made = []
    for residue, site in zip(sequence, sites, strict=True):
        own, codon = root.get(site or "", ("", ""))
        if site and site in given:
            codon = given[site]
            if CODONS.get(codon) != residue:
                raise GoldsmithError(
                    f"[{where} > reference_codons > {site}] {codon} does not code for {residue}: correct it"
                )
        elif own != residue:
            near = [other for other in CODONS if codon and CODONS[other] == residue
                    and sum(x != y for x, y in zip(codon, other, strict=True)) == 1]  # fmt: skip
            if len(near) != 1:
                how = "in several ways" if near else "with more than one nucleotide"
                raise GoldsmithError(
                    f"[{where} > reference_codons] lacks site {site}: {codon or 'nothing'} becomes a codon of "
                    f"{residue} {how}; give the virus's own codon"
                )
            codon = near[0]
        made.append(codon)
    return made
