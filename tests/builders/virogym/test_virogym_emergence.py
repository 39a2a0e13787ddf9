"""Emergence windows: candidates, counts that are missing or zero, codons, reversions and label rules."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from Bio.Data.CodonTable import standard_dna_table
from hypothesis import given
from hypothesis import strategies as st

from builders.virogym import codons, emergence
from builders.virogym.builder import BUILDER
from builders.virogym.references import Reference
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.tasks import LabelRule, Window
from schemas import GoldsmithError

ROOT = Reference("root", "r", "MKV", ("1", "2", "3"), (None,) * 3)
CODING = ["ATG", "AAA", "GTT"]


def window(**changes) -> Window:
    given = {"source": "c", "virus": "V", "study": "S", "protein": "X", "reference": "root", "root": "root",
             "codons": "g", "T": ["2020-01", "2020-02"], "T1": ["2020-03", "2020-03"], "data_cutoff": "2020-03-31",
             "label_rule": "r", "listed_from": "all"}  # fmt: skip
    return Window(**{**given, **changes})


def table(*rows: str) -> str:
    return "\n".join(["mutation,2020-01,2020-02,2020-03", *rows]) + "\n"


def counted(entry: Window, *rows: str, reference: Reference = ROOT, triplets=CODING, genomes=None):
    counts = emergence.read_counts(table(*rows), genomes, entry, ROOT, "x")
    found = emergence.candidates(entry, reference, ROOT, triplets)
    return emergence.counted(found, counts, entry), counts


def row(rows: pl.DataFrame, mutation: str) -> dict:
    return rows.filter(pl.col("mutation") == mutation).row(0, named=True)


def test_candidates_are_complete():
    rows, _ = counted(window(), "K2R,0,1,5")
    assert rows.height == 3 * 20
    assert set(rows["mutation"]) == {f"{wt}{i}{mut}" for i, wt in enumerate("MKV", 1)
                                     for mut in [*AMINO_ACIDS.replace(wt, ""), "del"]}  # fmt: skip


def test_absent_is_neither_zero_nor_masked():
    rows, counts = counted(window(masked_sites=["3"]), "K2R,0,0,5", "V3A,9,9,9")
    assert counts.genomes == (18, 9)
    assert row(rows, "K2R")["status"] == "counted"
    assert (row(rows, "K2R")["count_T"], row(rows, "K2R")["freq_T"]) == (0, 0.0)
    assert (row(rows, "K2E")["status"], row(rows, "K2E")["count_T"]) == ("absent", None)
    assert (row(rows, "V3A")["status"], row(rows, "V3A")["count_T1"], row(rows, "V3A")["freq_T1"]) == (
        "masked", None, None)  # fmt: skip
    assert row(rows, "K2del")["status"] == "not_counted"
    assert set(emergence.left_over(rows, counts)["reason"]) == {"no_candidate"}


def test_deletions_are_counted_where_the_source_counts_them():
    rows, _ = counted(window(deletions=True), "K2del,1,2,3", "V3-,1,1,1")
    assert [row(rows, name)["count_T"] for name in ("K2del", "V3del", "M1del")] == [3, 2, None]
    assert row(rows, "M1del")["status"] == "absent"
    _, counts = counted(window(), "K2del,1,2,3", "K2R,1,1,1")
    assert counts.rows["reason"].to_list() == ["not_counted", None]


@pytest.mark.parametrize(
    ("line", "reason"),
    [("N679,1,1,1", "unreadable_mutation"), ("K2X,1,1,1", "unknown_residue"), ("K9R,1,1,1", "unknown_site"),
     ("R2K,1,1,1", "wrong_residue"), ("K2K,1,1,1", "no_change"), ("K2R,1,,1", "bad_count"), ("K2R,1,-1,1", "bad_count"),
     ("K2R,1,1.5,1", "bad_count")],
)  # fmt: skip
def test_records_that_count_no_candidate(line, reason):
    rows, counts = counted(window(), line, "V3A,7,7,7")
    assert emergence.left_over(rows, counts)["reason"].to_list() == [reason]


def test_a_change_that_is_listed_twice_counts_for_neither():
    rows, counts = counted(window(), "K2R,1,1,1", "K2R,2,2,2", "V3A,7,7,7")
    assert emergence.left_over(rows, counts)["reason"].to_list() == ["repeated_mutation"] * 2
    assert row(rows, "K2R")["status"] == "absent"


def test_genomes_are_counted_or_bounded_from_below():
    rows, counts = counted(window(), "K2R,5,1,2", "V3A,1,8,1")
    assert (counts.genomes, counts.at_least, counts.total) == ((13, 2), True, (15, 3))
    genomes = "month,genomes\n2020-01,10\n2020-02,20\n2020-03,40\n"
    rows, counts = counted(window(), "K2R,5,1,2", "V3A,1,8,1", genomes=genomes)
    assert (counts.genomes, counts.at_least) == ((30, 40), False)
    assert row(rows, "K2R")["freq_T1"] == 0.05
    with pytest.raises(GoldsmithError, match="has no number for 2020-03"):
        counted(window(), "K2R,5,1,2", genomes=genomes.replace("2020-03", "2020-04"))


def test_counts_after_the_cutoff_are_refused():
    with pytest.raises(GoldsmithError, match="has counts of 2020-03, after data_cutoff 2020-02-29"):
        counted(window(data_cutoff="2020-02-29"), "K2R,5,1,2")


def test_a_later_reference_has_its_own_candidates_and_reversions():
    """K2R with V3 deleted: what the source counts at 2 is from K; back to K has no count."""
    late = Reference("late", "r", "MR", ("1", "2"), (None,) * 2)
    of_root = {"1": ("M", "ATG"), "2": ("K", "AAA"), "3": ("V", "GTT")}
    triplets = codons.reference_codons("MR", ("1", "2"), of_root, {}, "x")
    assert triplets == ["ATG", "AGA"]
    rows, counts = counted(window(), "K2R,5,1,2", "K2E,1,2,3", "V3A,1,1,1", reference=late, triplets=triplets)
    back = row(rows, "R2K")
    assert (back["status"], back["is_reversion"], back["count_T"], back["min_nt_dist"]) == ("reversion", True, None, 1)
    assert (row(rows, "R2E")["count_T"], row(rows, "R2E")["is_reversion"]) == (3, False)
    assert row(rows, "R2G")["min_nt_dist"] == 1  # GGA; from the root's AAA it takes two
    assert row(rows, "R2E")["min_nt_dist"] == 2
    assert emergence.left_over(rows, counts)["reason"].to_list() == ["no_candidate"] * 2


def test_codons_that_cannot_be_told_are_asked_for():
    of_root = {"1": ("S", "TCC"), "2": ("I", "ATA")}
    with pytest.raises(GoldsmithError, match="lacks site 1: TCC becomes a codon of W with more than one nucleotide"):
        codons.reference_codons("WI", ("1", "2"), of_root, {}, "x")
    with pytest.raises(GoldsmithError, match="lacks site 1: ATA becomes a codon of L in several ways"):
        codons.reference_codons("L", ("1",), {"1": ("I", "ATA")}, {}, "x")
    with pytest.raises(GoldsmithError, match="CTC does not code for W"):
        codons.reference_codons("WI", ("1", "2"), of_root, {"1": "CTC"}, "x")
    assert codons.reference_codons("LI", ("1", "2"), of_root, {"1": "CTC"}, "x") == ["CTC", "ATA"]


def test_the_genetic_code_is_the_standard_one():
    assert {codon: a for codon, a in codons.CODONS.items() if a != "*"} == standard_dna_table.forward_table
    assert {codon for codon, a in codons.CODONS.items() if a == "*"} == set(standard_dna_table.stop_codons)


@given(st.sampled_from(["".join(each) for each in product("ACGT", repeat=3)]))
def test_distances_are_those_of_all_pairs(codon):
    for residue in AMINO_ACIDS:
        ways = [sum(x != y for x, y in zip(codon, other, strict=True))
                for other, a in standard_dna_table.forward_table.items() if a == residue]  # fmt: skip
        assert codons.distances(codon)[residue] == min(ways)


def test_a_coding_sequence_of_another_protein_is_refused():
    assert codons.root_codons(">x\nATGAAAGTTTAA\n", None, "MKV", "x") == CODING
    with pytest.raises(GoldsmithError, match="translates to another protein than root \\(from position 2 on\\)"):
        codons.root_codons(">x\nATGAGAGTTTAA\n", None, "MKV", "x")
    genome = (BUILDER.folder / "sample" / "emergence_genome.gb").read_text()
    with pytest.raises(GoldsmithError, match="names Y, which the GenBank file has no CDS of"):
        codons.root_codons(genome, "Y", "MKV", "x")


def labels(rule: LabelRule, *rows: str) -> dict[str, bool | None]:
    made, counts = counted(window(), *rows)
    series = emergence.emergent(made, rule, counts)
    return dict(zip(made["mutation"].to_list(), series.to_list(), strict=True))


def test_virogyms_rule():
    """A rise of the share of all counts of 1e-4, or a ten-fold one of what was there; absent counts as zero."""
    rule = LabelRule("m", "c", [{"delta_min": 1e-4}, {"count_T_min": 1, "fold_min": 10.0}], "counts", "zero", 2)
    big = "V3A,50000,49999,100000"
    made = labels(rule, big, "K2R,0,0,20", "K2E,0,1,9", "K2N,0,0,9", "K2T,0,1,11")
    assert (made["K2R"], made["K2E"], made["K2N"], made["K2T"]) == (True, False, False, True)
    assert made["K2Q"] is False  # absent
    assert made["K2del"] is None  # not counted


def test_a_rule_that_does_not_guess_what_is_absent():
    rule = LabelRule("m", "c", [{"freq_T_max": 0.009, "freq_T1_min": 0.01}])
    made = labels(rule, "V3A,500,500,1000", "K2R,1,1,10", "K2E,100,0,100")
    assert (made["K2R"], made["K2E"], made["K2Q"]) == (True, False, None)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_rules_agree_with_plain_python(first, second, third):
    rule = LabelRule("m", "c", [{"delta_min": 1e-4}, {"count_T_min": 1, "fold_min": 10.0}], "counts", "zero", 2)
    made = labels(rule, "V3A,5000,5000,9000", f"K2R,{first},{second},{third}")
    before, after, all_before, all_after = first + second, third, 10_000 + first + second, 9_000 + third
    share, later = before / all_before, after / all_after
    expected = later - share >= 1e-4 or (before > 0 and round(later / share, 2) >= 10)
    assert made["K2R"] == expected


def test_the_sample_has_every_status(sample, build):
    built = build(sample(), "window", "label_rules")
    rows = built.tables["emergence"]
    assert set(rows["status"]) == {"counted", "absent", "masked", "not_counted", "reversion"}
    assert built.tables["windows"]["n_seq_kind"].to_list() == ["genomes", "at_least"]
    assert rows.group_by("window_id").len()["len"].sort().to_list() == [35 * 20, 36 * 20]
    assert rows.filter(pl.col("is_reversion"))["ref_site"].to_list() == ["5", "10", "12", "21"]
    only = rows.filter(pl.col("status") != "counted")
    assert only["count_T"].null_count() == only["count_T1"].null_count() == only["is_novel"].null_count() == only.height
    seen = rows.filter(pl.col("is_emergent").is_not_null())
    holds = seen["emergent_by"].list.contains(seen["label_rule"])
    assert holds.equals(seen["is_emergent"], check_names=False)
