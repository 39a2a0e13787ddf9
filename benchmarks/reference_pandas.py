"""What `virogym_552k.py` is measured against: reading and checking the same tables with pandas, a row at a time.

Written in the manner of ProteinGym's clean-up of raw assays: `DataFrame.apply` and Python functions for each mutant. It
does less than the builder and its checks (no rejects, replicates, folds, HGVS or report): sites to positions, alphabet,
wild type, number, mean of duplicates, whole sequence made and compared, coverage, bin at the median, likeness.

    python benchmarks/reference_pandas.py INPUTS
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from builders.sources import Sources
from builders.virogym import references, registry
from builders.virogym.hgvs import ONE
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.substitution import BLOSUM62

LETTERS = set(AMINO_ACIDS)


def mutate(sequence: str, mutant: str) -> str:
    """The sequence with the changes of a mutant such as `A12V:C20W`."""
    letters = list(sequence)
    for change in mutant.split(":"):
        old, position, new = change[0], int(change[1:-1]), change[-1]
        assert letters[position - 1] == old
        letters[position - 1] = new
    return "".join(letters)


def hgvs_to_mutant(text: str) -> str | None:
    """`p.Asn1Ala` as `N1A`."""
    match = re.fullmatch(r"p\.\(?([A-Z][a-z]{2})(\d+)([A-Z][a-z]{2}|\*)\)?", text)
    return ONE[match[1]] + match[2] + ONE[match[3]] if match else None


def mutants(table: pd.DataFrame, entry: registry.AssayEntry, positions: dict[str, int]) -> pd.Series:
    """The mutant of each row, or None."""
    columns = entry.columns
    if entry.reader == "mavedb":
        return table[columns.get("hgvs", "hgvs_pro")].apply(hgvs_to_mutant)
    site, wt, mut = (columns.get(key, name) for key, name in (("site", "site"), ("wt", "wildtype"), ("mut", "mutant")))

    def name(row: pd.Series) -> str | None:
        position = positions.get(str(row[site]))
        return None if position is None else f"{row[wt]}{position}{row[mut]}"

    return table.apply(name, axis=1)


def clean(table: pd.DataFrame, entry: registry.AssayEntry, reference: references.Reference) -> dict[str, float]:
    """One assay, cleaned and checked; figures that depend on every row."""
    sequence = reference.sequence
    table = table.copy()
    table["mutant"] = mutants(table, entry, reference.positions(entry.sites))
    table = table[table["mutant"].notnull()]
    table = table[table["mutant"].apply(lambda x: all(len(y) >= 3 for y in x.split(":")))]
    table = table[
        table["mutant"].apply(
            lambda x: all(y[0] in LETTERS and y[1:-1].isnumeric() and y[-1] in LETTERS for y in x.split(":"))
        )
    ]
    table = table[table["mutant"].apply(lambda x: all(0 < int(y[1:-1]) <= len(sequence) for y in x.split(":")))]
    table = table[table["mutant"].apply(lambda x: all(y[0] == sequence[int(y[1:-1]) - 1] for y in x.split(":")))]
    table = table[table["mutant"].apply(lambda x: all(y[0] != y[-1] for y in x.split(":")))]
    score = entry.columns.get("average", entry.columns["score"])
    table["score"] = pd.to_numeric(table[score], errors="coerce")
    table = table[table["score"].notnull()]
    merged = table.groupby("mutant")["score"].mean().reset_index()
    merged["mutated_sequence"] = merged["mutant"].apply(lambda x: mutate(sequence, x))
    wrong = merged["mutated_sequence"].apply(lambda x: len(x) != len(sequence) or not set(x) <= LETTERS).sum()
    merged["bin"] = (merged["score"] >= merged["score"].median()).astype(int)
    merged["position"] = merged["mutant"].apply(lambda x: int(x[1:-1]))
    coverage = merged.groupby("position")["mutant"].nunique().mean() / 19
    likeness = merged["mutant"].apply(lambda x: BLOSUM62[x[0], x[-1]]).corr(merged["score"], method="spearman")
    return {"rows": len(merged), "wrong": int(wrong), "coverage": coverage, "likeness": likeness}


def main() -> None:
    """Clean all assays of the inputs."""
    folder = Path(sys.argv[1])
    known, sources = registry.read_registry(folder / "assays.toml"), Sources.load(folder)
    rows = 0
    for entry in known.assays.values():
        reference = references.load(entry.reference, known.references[entry.reference], sources)
        rows += int(clean(pd.read_csv(sources.path(entry.source), low_memory=False), entry, reference)["rows"])
    print(f"{rows:,} substitutions")


if __name__ == "__main__":
    main()
