"""Makes the bundled sample: `python -P -m builders.virogym.make_sample`. The same bytes on every machine.

Proteins, viruses and scores are invented: nothing here was measured, and no sequence is of a real virus. What is
real is the form of the files: each format that the readers know, with its habits (negative and lettered sites, a site
for the stop codon, deletions, rows of the wild type, two libraries, missing values) and a few records that cannot be
used.
A score is likeness of the residues (BLOSUM62), times how much the site minds, plus noise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from builders.virogym.hgvs import THREE
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.substitution import BLOSUM62

FOLDER = Path(__file__).parent / "sample"

CODONS = "GCTTGCGACGAATTCGGTCACATCAAACTGATGAACCCGCAGCGTTCTACCGTTTGGTAC"
"""One for each of the amino acids, in the order of their letters."""

Score = Callable[[int, str], float]


def protein(rng: random.Random, length: int) -> str:
    """A sequence of the 20 amino acids that starts with M; now and then a residue is repeated."""
    letters = ["M"]
    while len(letters) < length:
        letters.append(letters[-1] if rng.random() < 0.12 else rng.choice(AMINO_ACIDS))
    return "".join(letters)


def landscape(rng: random.Random, sequence: str, noise: float = 0.3) -> Score:
    """A score for each position (from 1) and mutant letter (`*` and `-` break the protein); about 0 if harmless."""
    minds = [rng.uniform(0.1, 1.0) for _ in sequence]

    def score(position: int, mutant: str) -> float:
        if mutant == "*":
            return -6.0 + rng.gauss(0, noise)
        if mutant == "-":
            return -4.0 * minds[position - 1] + rng.gauss(0, noise)
        unlike = 5 - BLOSUM62[sequence[position - 1], mutant] + (3 if mutant == "P" else 0)
        return -0.45 * unlike * minds[position - 1] + rng.gauss(0, noise)

    return score


def epitope(rng: random.Random, sequence: str, center: int) -> Score:
    """Escape from an antibody: large at a few sites around `center`, else about 0."""

    def score(position: int, mutant: str) -> float:
        return max(0.0, 3.0 - abs(position - center)) * rng.uniform(0.3, 1.0) + rng.gauss(0, 0.05)

    return score


def changes(sequence: str, extra: str = "", own: bool = False) -> Iterator[tuple[int, str, str]]:
    """(position, wild type, mutant) of all single changes, with the letters in `extra` and, if `own`, the wild type."""
    for position, wt in enumerate(sequence, 1):
        for mutant in extra + AMINO_ACIDS:
            if own or mutant != wt:
                yield position, wt, mutant


def other(rng: random.Random, residue: str) -> str:
    """Another residue."""
    return rng.choice([letter for letter in AMINO_ACIDS if letter != residue])


def number(value: float) -> str:
    """Four significant digits, as dms-vep-pipeline writes them."""
    return f"{value:.4g}"


def write(name: str, header: str, rows: list[str]) -> None:
    """A table, as UTF-8 with line feeds."""
    (FOLDER / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8", newline="\n")


def write_fasta(name: str, **records: str) -> None:
    """A FASTA file, a line a record."""
    text = "".join(f">{record}\n{sequence}\n" for record, sequence in records.items())
    (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


def glycoprotein(rng: random.Random) -> None:
    """dms-vep tables of a protein whose first two residues are before site 1: there is no site 0."""
    sequence = protein(rng, 44)
    sites = [str(i - 2 if i > 2 else i - 3) for i in range(1, len(sequence) + 1)]
    region = ["signal_peptide"] * 2 + ["head"] * 22 + ["stem"] * 20
    write_fasta("glycoprotein.fasta", gene=sequence + "*")
    rows = [f"{i},{sites[i - 1]},{wt},{region[i - 1]}" for i, wt in enumerate(sequence, 1)]
    rows.append(f"{len(sequence) + 1},{len(sequence) - 1},*,stem")
    write("glycoprotein_sites.csv", "sequential_site,reference_site,sequential_wt,region", rows)
    entry = landscape(rng, sequence)
    values = {(position, mutant): entry(position, mutant) for position, _, mutant in changes(sequence, "*-")}
    rows = []
    for position, wt, mutant in changes(sequence, "*-", own=True):
        site = sites[position - 1]
        if mutant == wt:
            rows.append(f"{site},{wt},{wt},0,0,,4")
        else:
            sd, seen = number(rng.uniform(0, 0.5)), number(rng.uniform(2, 12))
            rows.append(f"{site},{wt},{mutant},{number(values[position, mutant])},{sd},{seen},4")
    rows.append(f"{sites[9]},{sequence[9]},X,-0.31,0.2,3,2")
    rows += [f"{len(sequence) - 1},*,{mutant},0.02,0.1,3,2" for mutant in "KQ"]
    write("glycoprotein_entry.csv", "site,wildtype,mutant,effect,effect_std,times_seen,n_selections", rows)
    _escape(rng, sequence, sites, values)


def _escape(rng: random.Random, sequence: str, sites: list[str], entry: dict[tuple[int, str], float]) -> None:
    """Escape is measured where the protein still enters: values are not missing at random."""
    antibody, serum = epitope(rng, sequence, 14), epitope(rng, sequence, 27)
    rows, summary = [], []
    for position, wt, mutant in changes(sequence):
        site, enters = sites[position - 1], entry[position, mutant] > -2.5
        if enters and rng.random() < 0.9:
            first = antibody(position, mutant)
            second = first + rng.gauss(0, 0.1)
            mean, spread = (first + second) / 2, abs(first - second) / 2**0.5
            cells = [1, site, wt, mutant, f"{wt}{site}{mutant}", number(mean), number(mean), number(spread), 2]
            cells += [number(rng.uniform(2, 9)), 1, number(first), number(second)]
            rows.append(",".join(map(str, cells)))
        escape = number(serum(position, mutant)) if enters else ""
        summary.append(f"{site},{wt},{mutant},{escape},{number(entry[position, mutant])},{position}")
    header = (
        "epitope,site,wildtype,mutant,mutation,escape_mean,escape_median,escape_std,n_models,times_seen,frac_models"
    )
    write("glycoprotein_mAb.csv", f"{header},LibA-mAb,LibB-mAb", rows)
    write("glycoprotein_summary.csv", "site,wildtype,mutant,sera escape,cell entry,sequential_site", summary)


def spike(rng: random.Random) -> None:
    """Tables of a protein with two residues more than the one its numbering is made for: sites 16a and 16b."""
    scheme = protein(rng, 40)
    sequence = scheme[:16] + "WH" + scheme[16:]
    sites = [*map(str, range(1, 17)), "16a", "16b", *map(str, range(17, 41))]
    write_fasta("spike.fasta", scheme=scheme, sample=sequence)
    rows = [f"{i},{site}" for i, site in enumerate(sites, 1)]
    write("spike_sites.csv", "sequential_site,reference_site", rows)
    expression, binding = landscape(rng, sequence), landscape(rng, sequence)
    rows = []
    for position, wt, mutant in changes(sequence, own=True):
        value = 0.0 if mutant == wt else expression(position, mutant)
        rows.append(f"{position},{sites[position - 1]},{wt},{mutant},expression,{number(value)}")
        if position <= 4:
            rows.append(f"{position},{sites[position - 1]},{wt},{mutant},other,{number(binding(position, mutant))}")
    write("spike_dms_view.csv", "site,label_site,wildtype,mutation,condition,mut_delta_effect", rows)
    _score_set(rng, sequence, binding)
    _barcodes(rng, sequence, sites, landscape(rng, sequence))


def _score_set(rng: random.Random, sequence: str, binding: Score) -> None:
    """A MaveDB score set: two libraries, `*` for Ter, parentheses, `=` and what cannot be used."""
    rows = []
    for library in "12":
        for position, wt, mutant in changes(sequence, "*"):
            right = f"{THREE[wt]}{position}{'*' if mutant == '*' else THREE[mutant]}"
            name = f"p.({right})" if position == 7 else f"p.{right}"
            value = "NA" if rng.random() < 0.02 else f"{binding(position, mutant):.2f}"
            rows.append(f'"{name}",{value},"{library}"')
        rows += [f'"p.{THREE[wt]}{i}=",{rng.gauss(0, 0.05):.2f},"{library}"' for i, wt in enumerate(sequence[:6], 1)]
        rows.append(f'"_wt",0.01,"{library}"')
    first, last = sequence[4], sequence[5]
    rows.append(f'"p.{THREE[first]}5_{THREE[last]}6insGlySer",-2.31,"1"')
    rows += [f'"p.{THREE[first]}5Xaa",-0.52,"1"', f'"p.{THREE[last]}6fs",-3.9,"1"']
    write("spike_binding.csv", '"hgvs_pro","score","library"', rows)


def _barcodes(rng: random.Random, sequence: str, sites: list[str], score: Score) -> None:
    """Functional scores of barcoded variants, several changes each, in words separated by blanks."""
    rows = []
    for i in range(260):
        positions = sorted(rng.sample(range(1, len(sequence) + 1), rng.choice([0, 1, 1, 2, 3])))
        chosen = [(position, other(rng, sequence[position - 1])) for position in positions]
        words = [f"{sequence[position - 1]}{sites[position - 1]}{mutant}" for position, mutant in chosen]
        value = sum(score(position, mutant) for position, mutant in chosen) + rng.gauss(0, 0.1)
        barcode = "".join(rng.choice("ACGT") for _ in range(8)) + f"{i:03d}"
        rows.append(f"{number(value)},{barcode},{' '.join(words)},{len(words)}")
    write("spike_func_scores.csv", "func_score,barcode,aa_substitutions,n_aa_substitutions", rows)


def envelope(rng: random.Random) -> None:
    """dms_tools2 tables (wide preferences, differential selection) and a comma-separated table of a coding sequence."""
    sequence = protein(rng, 42)
    codons = dict(zip(AMINO_ACIDS, (CODONS[i : i + 3] for i in range(0, 60, 3)), strict=True))
    write_fasta("envelope_codon.fasta", E=("".join(codons[a] for a in sequence) + "TAA").lower())
    growth, selection, fitness = landscape(rng, sequence), epitope(rng, sequence, 20), landscape(rng, sequence)
    rows, pairs = [], []
    for position, wt in enumerate(sequence, 1):
        weights = [2.0 ** (growth(position, a) if a != wt else 0.5) for a in AMINO_ACIDS]
        rows.append(f"{position},{wt}," + ",".join(number(weight / sum(weights)) for weight in weights))
        pairs += [f"{position},{wt},{a},{'' if a == wt else number(selection(position, a))}" for a in AMINO_ACIDS]
    write("envelope_prefs.csv", "site,wildtype," + ",".join(AMINO_ACIDS), rows)
    write("envelope_mutdiffsel.csv", "site,wildtype,mutation,mutdiffsel", pairs)
    rows = ["NA,wt,0"]
    for position, wt, mutant in changes(sequence[:24]):
        rows.append(f"NA,{wt}{position}{mutant},{number(fitness(position, mutant))}")
    for _ in range(80):
        pair = sorted(rng.sample(range(1, 25), 2))
        chosen = [(p, other(rng, sequence[p - 1])) for p in pair]
        words = ",".join(f"{sequence[p - 1]}{p}{a}" for p, a in chosen)
        rows.append(f'NA,"{words}",{number(sum(fitness(p, a) for p, a in chosen))}')
    rows += [f"HA,A{i}V,0.5" for i in range(1, 6)]
    write("envelope_epistatic.csv", "segment,mutant,fitness", rows)


def capsid(rng: random.Random) -> None:
    """ProteinGym's files of a polyprotein of which only a part was mutated: singles, multi-mutants and indels."""
    whole = protein(rng, 52)
    first, last = 9, 46
    part = whole[first - 1 : last]
    score = landscape(rng, part)
    rows = []

    def changed(chosen: list[tuple[int, str]]) -> str:
        letters = list(whole)
        for position, mutant in chosen:
            letters[first + position - 2] = mutant
        return "".join(letters)

    for position, wt, mutant in changes(part):
        value = -score(position, mutant)
        rows.append(f"{wt}{first + position - 1}{mutant},{changed([(position, mutant)])},{number(value)}")
    for _ in range(60):
        pair = sorted(rng.sample(range(1, len(part) + 1), 2))
        chosen = [(p, other(rng, part[p - 1])) for p in pair]
        words = ":".join(f"{part[p - 1]}{first + p - 1}{a}" for p, a in chosen)
        rows.append(f"{words},{changed(chosen)},{number(-sum(score(p, a) for p, a in chosen))}")
    name, _, value = rows[100].split(",")
    rows[100] = f"{name},{changed([(2, 'W'), (30, 'W')])},{value}"  # a sequence of another mutant
    rows[200] = rows[200].rsplit(",", 1)[0] + ","  # not measured
    write("capsid_substitutions.csv", "mutant,mutated_sequence,DMS_score", rows)
    indels = []
    for start in range(first, last - 3, 2):
        indels.append(f"{whole[: start - 1]}{whole[start:]},{number(rng.gauss(-2, 0.5))}")
        indels.append(f"{whole[:start]}GS{whole[start:]},{number(rng.gauss(-1.5, 0.5))}")
        indels.append(f"{whole[: start - 1]}{whole[start + 2 :]},{number(rng.gauss(-3, 0.5))}")
    indels = list({line.split(",")[0]: line for line in indels}.values())
    write("capsid_indels.csv", "mutated_sequence,DMS_score", indels)
    header = "DMS_id,UniProt_ID,taxon,target_seq,seq_len,region_mutated,DMS_binarization_method"
    row = f"CAPSD_SAMPLE_2026,CAPSD_SAMPLE,Virus,{whole},{len(whole)},{first}-{last},median"
    write("capsid_reference.csv", header, [row])


def main() -> None:
    """Write all files of the sample."""
    from builders.virogym.make_sample_tasks import emergence, hemagglutinin  # it imports this module

    FOLDER.mkdir(exist_ok=True)
    for seed, part in enumerate((glycoprotein, spike, envelope, capsid, hemagglutinin, emergence)):
        part(random.Random(20261130 + seed))  # noqa: S311  (invented data, no secret)


if __name__ == "__main__":
    main()
