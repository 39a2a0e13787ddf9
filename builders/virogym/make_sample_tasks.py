"""The sample's titres and emergence: invented strains, sera and counts in the forms of real files (see `make_sample`).

Planted, as in real tables: names in several spellings, an egg-grown variant, a sequence with an unknown residue, birth
years in serum names, donors' age, sex and date, limits as flags and as `<40`, copied and repeated records, a titre off
the two-fold series; changes that no row counts, deletions, an unknown residue, a masked site.
"""

from __future__ import annotations

import random

from builders.virogym.codons import CODONS
from builders.virogym.make_sample import changes, number, other, protein, write, write_fasta

LENGTH = 48
EPITOPE = range(8, 26)
TOWNS = "Alder Birch Cedar Elder Hazel Holly Larch Maple Olive Rowan Spruce Willow".split()  # noqa: SIM905
SERA = 18
MONTHS = [f"{year}-{month:02d}" for year in (2020, 2021) for month in range(1, 13)]


def strains(rng: random.Random) -> dict[str, str]:
    """Canonical name -> sequence: each is the one before with a few changes, half of them in the epitope."""
    sequence, made = protein(rng, LENGTH), {}
    for i, town in enumerate(TOWNS):
        letters = list(sequence)
        for place in [rng.choice(EPITOPE), rng.randrange(1, LENGTH)][: 1 + i % 2]:
            letters[place] = other(rng, letters[place])
        sequence = "".join(letters)
        made[f"A/{town}/{3 + 7 * i}/{2010 + i}"] = sequence
    return made


def hemagglutinin(rng: random.Random) -> None:
    """Titre tables and the strains that they name, each file with its own spelling."""
    known = strains(rng)
    names = list(known)
    egg = list(known[names[3]])
    egg[12] = other(rng, egg[12])
    records = {f"{name}_H3N2_XY{100000 + i}": sequence for i, (name, sequence) in enumerate(known.items())}
    records[f"{names[3]}X-31A_H3N2"] = "".join(egg)
    records[f"{names[5]}_H3N2_XY100005"] = known[names[5]]
    records["A/Thorn/5/2015_H3N2"] = known[names[4]][:-1] + "X"
    write_fasta("hemagglutinin.fasta", **records)
    tested = {**known, f"{names[3]}X-31A": "".join(egg)}
    _human(rng, tested, names)
    _ferret(rng, known, names)
    _inhibition(rng, known, names)


def titre(rng: random.Random, one: str, home: str, height: float, noise: float) -> float:
    """log2 of a titre: `height` at home, less 0.8 for each difference in the epitope."""
    apart = sum(one[i] != home[i] for i in EPITOPE)
    return height - 0.8 * apart + rng.gauss(0, noise)


def _human(rng: random.Random, tested: dict[str, str], names: list[str]) -> None:
    """seqneut-pipeline's aggregated titres. Each donor neutralises a strain of their youth best."""
    rows = []
    for i in range(2 * SERA):
        group = "adults" if i < SERA else "children"
        born = 1950 + 2 * i if i < SERA else 1994 + i
        serum = f"SMP26_y{born}_s{i:03d}_d{0 if i % 2 else 28}"
        home = tested[names[rng.randrange(len(names))]]
        height = rng.uniform(9, 11.5)
        for name, sequence in tested.items():
            value = 2 ** titre(rng, sequence, home, height, 0.3)
            bound, value = ("upper", 40.0) if value < 40 else ("interpolated", value)
            bound, value = ("lower", 2560.0) if value > 2560 else (bound, value)
            sem = number(0 if bound != "interpolated" else value * rng.uniform(0.02, 0.2))
            rows.append(f"{group},{serum},{name},{number(value)},{bound},{sem},3,midpoint")
    rows[100] = ",".join([*rows[100].split(",")[:3], "", "", "", "0", "midpoint"])
    header = "group,serum,virus,titer,titer_bound,titer_sem,n_replicates,titer_as"
    write("hemagglutinin_titers.csv", header, rows)


def _ferret(rng: random.Random, known: dict[str, str], names: list[str]) -> None:
    """Ferret sera with a table of their own, in which the strain has leading zeros; one strain is not in the list."""
    rows, sera = [], []
    for i, name in enumerate(names[:6]):
        town, isolate, year = name.split("/")[1:]
        raised = f"A/{town}/{int(isolate):03d}/{year}" if i else "A/Yew/1/2009"
        sera.append(f"F{i + 1},ferrets,ferret,1.5,{'MF'[i % 2]},2026-03-0{i + 1},inoculated with {raised}")
        for each, sequence in known.items():
            value = max(20.0, 2 ** titre(rng, sequence, known[name], 10.5, 0.2))
            rows.append(f"F{i + 1},{each}_H3N2,{number(value)},14.5,{'MF'[i % 2]},2026-03-0{i + 1}")
    write("hemagglutinin_ferrets.csv", "serum,strain,titer,age_years,sex,collection_date", rows)
    header = "\ufeffserum,cohort,species,age,sex,collection_date,exposure_info"
    write("hemagglutinin_sera.csv", header, sera)


def _inhibition(rng: random.Random, known: dict[str, str], names: list[str]) -> None:
    """Haemagglutination inhibition in the form of fauna's tables, put together from reports with passages."""
    rows = []
    for i in range(12):
        raised = names[i % len(names)]
        for j, name in enumerate(names):
            level = round(titre(rng, known[name], known[raised], 10.3, 0.2) - 3.32)
            text = "<40" if level < 2 else ">2560" if level > 8 else str(10 * 2**level)
            where = ["", "MDCK2/SIAT1", "SIAT3", "MDCK1"][j % 4]
            row = [name, raised, f"F{i:02d}/26", f"report_{i % 3}.csv", text, "hi", where, "E4"]
            rows.append("\t".join(row))
            if j % 5 == 0:
                rows.append("\t".join(row))
            if j % 6 == 0 and level >= 2:
                again = str(10 * 2 ** (level + rng.choice([0, 1])))
                rows.append("\t".join([*row[:3], "report_9.csv", again, *row[5:]]))
    rows[40] = "\t".join([*rows[40].split("\t")[:4], "704", *rows[40].split("\t")[5:]])
    header = "virus_strain\tserum_strain\tserum_id\tsource\ttiter\tassay_type\tvirus_passage\tserum_passage"
    write("hemagglutinin_hi.tsv", header, rows)


def emergence(rng: random.Random) -> None:
    """Counts by month of the changes of an invented protein, of which another lineage takes over in the second year."""
    root = protein(rng, 36)
    coding = "".join(rng.choice([codon for codon, residue in CODONS.items() if residue == a]) for a in root) + "TGA"
    write_fasta("emergence_root.fasta", root=root)
    _genbank(rng, coding, root)
    genomes = [round(400 * 1.25**i) for i in range(len(MONTHS))]
    rows = [f"{month},{n}" for month, n in zip(MONTHS, genomes, strict=True)]
    write("emergence_genomes.csv", "month,genomes", rows)
    rows = []
    for position, wt, mutant in changes(root, "-"):
        if position == 20 or rng.random() > 0.45:
            continue
        token = f"{wt}{position}{'del' if mutant == '-' else mutant}"
        start, share, rise = rng.randrange(-6, 22), 10 ** rng.uniform(-4, -2), rng.uniform(0.9, 1.5)
        shares = [0 if i < start else min(0.9, share * rise ** (i - start)) for i in range(len(MONTHS))]
        rows.append(",".join([token, *(str(round(n * each)) for n, each in zip(genomes, shares, strict=True))]))
    rows.append(",".join([f"{root[4]}5X", *["1"] * len(MONTHS)]))
    write("emergence_counts.csv", ",".join(["mutation", *MONTHS]), rows)


def _genbank(rng: random.Random, coding: str, root: str) -> None:
    """A GenBank record of a made genome with the gene in it."""
    before = "".join(rng.choice("ACGT") for _ in range(60))
    genome = (before + coding + "AAAAAAAAAAAA").lower()
    lines = [
        f"LOCUS       {'SAMPLE':<16} {len(genome):>11} bp    RNA     linear   SYN 30-NOV-2026",
        "DEFINITION  Invented genome.",
        "ACCESSION   SAMPLE",
        "VERSION     SAMPLE",
        "FEATURES             Location/Qualifiers",
        f"     CDS             {len(before) + 1}..{len(before) + len(coding)}",
        '                     /gene="X"',
        f'                     /translation="{root}"',
        "ORIGIN",
    ]
    for start in range(0, len(genome), 60):
        blocks = [genome[i : i + 10] for i in range(start, min(start + 60, len(genome)), 10)]
        lines.append(f"{start + 1:>9} " + " ".join(blocks))
    write("emergence_genome.gb", lines[0], [*lines[1:], "//"])
