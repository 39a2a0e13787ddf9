"""Site-independent scores from an alignment of relatives: log frequency of the new residue less that of the old.

The alignment is the user's FASTA file, of proteins or of codons. Its columns are mapped to the reference by the record
that is the reference, or, where none is, taken as they are if there are as many as the reference has residues. Equal
sequences count once; each of the 20 residues starts with 1/20 of a count; gaps and unknown residues do not count.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from builders.virogym.baselines.substitutions import summed
from builders.virogym.schema import AMINO_ACIDS
from schemas import GoldsmithError

Floats = npt.NDArray[np.float64]

_CODON_LETTERS = set("ACGTUN-.RYSWKMBDHV")
_PSEUDO = 1.0


def log_frequencies(path: Path, reference: str) -> Floats:
    """log of the frequency of each residue at each position of the reference, shape (length, 20).

    Raises:
        GoldsmithError: no record, records of different lengths, or an alignment of another protein.
    """
    records = _proteins(path)
    columns = _columns(path, records, reference)
    counts = np.full((len(reference), len(AMINO_ACIDS)), _PSEUDO / len(AMINO_ACIDS))
    for record in dict.fromkeys(records):
        for position, column in enumerate(columns):
            letter = AMINO_ACIDS.find(record[column])
            if letter >= 0:
                counts[position, letter] += 1
    return np.log(counts / counts.sum(axis=1, keepdims=True))


def score(mutants: pl.Series, frequencies: Floats) -> Floats:
    """The score of substitutions, the sum over several, shape (n,).

    Args:
        frequencies: from `log_frequencies`, of the reference that the mutants are of.
    """

    def single(parts: pl.DataFrame) -> Floats:
        row = parts["position"].to_numpy() - 1
        return frequencies[row, parts["mt"].to_numpy()] - frequencies[row, parts["wt"].to_numpy()]

    return summed(mutants, single)


def _proteins(path: Path) -> list[str]:
    records: list[list[str]] = []
    try:
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            if line.startswith(">"):
                records.append([])
            elif records:
                records[-1].append(line.strip().upper())
    except UnicodeDecodeError:
        raise GoldsmithError(f"[{path}] is no text: give an alignment in FASTA") from None
    aligned = ["".join(lines) for lines in records]
    lengths = sorted({len(record) for record in aligned})
    if len(lengths) != 1 or not lengths[0]:
        raise GoldsmithError(
            f"[{path}] has {len(aligned)} records of lengths {lengths[:3]}: give aligned records of one length in FASTA"
        )
    if all(set(record) <= _CODON_LETTERS for record in aligned) and lengths[0] % 3 == 0:
        return [_translated(record) for record in aligned]
    return aligned


def _translated(record: str) -> str:
    from Bio.Seq import Seq  # Biopython is slow to import

    return str(Seq(record.replace("-", "N").replace(".", "N")).translate())


def _columns(path: Path, records: list[str], reference: str) -> list[int]:
    """The column of each position of the reference."""
    for record in records:
        columns = [i for i, letter in enumerate(record) if letter not in "-."]
        at = "".join(record[i] for i in columns).find(reference)
        if at >= 0:
            return columns[at : at + len(reference)]
    width = len(records[0].rstrip("*"))
    if width == len(reference):
        return list(range(width))
    raise GoldsmithError(
        f"[{path}] has no record with the reference's {len(reference)} residues and {width} columns: "
        "add the reference to the alignment"
    )
