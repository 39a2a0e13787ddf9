"""References: sequences, site maps, alignment, clusters."""

from __future__ import annotations

import random

import pytest

from builders.sources import Sources
from builders.virogym import references
from builders.virogym.registry import ReferenceEntry
from builders.virogym.schema import AMINO_ACIDS
from schemas import GoldsmithError

SOURCE = '[{name}]\npath = "{name}.txt"\nlicence = "CC0-1.0"\n'


@pytest.fixture
def load(tmp_path):
    """Load a reference from texts by source name."""

    def make(entry: dict, **texts: str):
        for name, text in texts.items():
            (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / "sources.toml").write_text("".join(SOURCE.format(name=name) for name in texts))
        whole = ReferenceEntry(**{"source": "fasta", "molecule": "m", "numbering": "n", **entry})
        return references.load("R", whole, Sources.load(tmp_path)), whole, Sources.load(tmp_path)

    return make


def test_a_protein_and_a_coding_sequence_give_the_same(load):
    protein, *_ = load({}, fasta=">gene\nMACDE\nFG*\n")
    coding, *_ = load({"alphabet": "codon"}, fasta=">gene x\natggcttgcgacgaattcggttaa\n")
    assert protein.sequence == coding.sequence == "MACDEFG"
    assert protein.sites == tuple("1234567")


@pytest.mark.parametrize(
    ("text", "entry", "said"),
    [
        (">a\nMAC-DE\n", {}, "has `-` at position 4"),
        (">a\nMACXDE\n", {}, "has `X` at position 4"),
        (">a\nMA*CDE\n", {}, r"has `\*` at position 3"),
        (">a\natgnct\n", {"alphabet": "codon"}, "has `X` at position 2"),
        (">a\natggc\n", {"alphabet": "codon"}, "no multiple of 3"),
        (">a\nMAC\n>b\nMAC\n", {}, "record"),
        (">a\nMAC\n", {"record": "c"}, "'c' is not in the source, which has a"),
        (">a\n*\n", {}, "has no residue"),
        ("", {}, "no record"),
        (">a\nMAC\n", {"span": [2, 9]}, "is not within the 3 residues"),
        (">a\nMAC\n", {"background": ["W2A"]}, "site 2 has A in the reference, not W"),
    ],
)
def test_a_sequence_that_cannot_be_used_is_refused(load, text, entry, said):
    with pytest.raises(GoldsmithError, match=said):
        load(entry, fasta=text)


def test_background_changes_sequence_and_numbering(load):
    entry = {"background": ["C3del", "E5_F6insHI", "A2G"], "span": [2, 6]}
    reference, *_ = load(entry, fasta=">a\nMACDEFG\n")
    assert reference.sequence == "GDEHIF"
    assert reference.sites == ("2", "4", "5", "5a", "5b", "6")
    assert (reference.before, reference.after) == (1, 1)


MAP = "sequential_site,reference_site,wt,region\n1,-1,M,signal\n2,1,A,head\n3,1a,C,head\n4,2,D,tail\n"


def test_a_site_map_is_read_as_text(load):
    columns = {"sequential": "sequential_site", "reference": "reference_site", "wt": "wt", "region": "region"}
    reference, *_ = load({"map": "map", "map_columns": columns}, fasta=">a\nMACD\n", map=MAP + "5,3,*,tail\n")
    assert reference.sites == ("-1", "1", "1a", "2")
    assert reference.regions == ("signal", "head", "head", "tail")
    assert reference.places == (2, 3, 4, 5)
    assert reference.stop_sites == {"3"}
    assert reference.positions("reference") == {"-1": 1, "1": 2, "1a": 3, "2": 4}


def test_a_map_that_misses_a_site_leaves_it_without_number(load):
    reference, entry, sources = load({"map": "map"}, fasta=">a\nMACD\n", map=MAP.replace("3,1a,C,head\n", ""))
    assert reference.sites == ("-1", "1", None, "2")
    rows = references.numbering_rows(reference, references.aligned_sites(reference, entry, sources))
    assert rows["sequential_site"].to_list() == [1, 2, 4]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2,1,A", "2,-1,A", "gives site -1 to several positions"),
        ("2,1,A", "1,1,M", "position 1 is site -1 and 1"),
        ("2,1,A", "2,1,W", "line 3] has W at position 2, the sequence A"),
        ("2,1,A", ",1,A", "line 3] maps None to '1'"),
        ("reference_site", "site", "has no column `reference_site`"),
    ],
)
def test_a_map_that_contradicts_is_refused(load, old, new, said):
    columns = {"sequential": "sequential_site", "reference": "reference_site", "wt": "wt"}
    with pytest.raises(GoldsmithError, match=said):
        load({"map": "map", "map_columns": columns}, fasta=">a\nMACD\n", map=MAP.replace(old, new))


def test_alignment_finds_insertions_and_deletions(load):
    scheme = "MACDEFGHIKLMNPQRSTVWYMACDEFGHIKLMNPQRSTVWY"
    changed = scheme[:10] + "WW" + scheme[10:20] + scheme[23:]
    reference, entry, sources = load({"aligned_to": "own"}, fasta=f">a\n{changed}\n", own=f">o\n{scheme}\n")
    expected = [*range(1, 11), None, None, *range(11, 21), *range(24, 43)]
    assert references.aligned_sites(reference, entry, sources) == expected


def test_proteingyms_reference_table_gives_a_part_of_a_polyprotein(load):
    table = "DMS_id,target_seq\nA_2020,MACDEFGHIK\nB_2020,MKKK\n"
    reference, *_ = load({"alphabet": "proteingym", "record": "A_2020", "span": [3, 6]}, fasta=table)
    assert (reference.sequence, reference.sites) == ("CDEF", ("3", "4", "5", "6"))


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_by_likeness_and_named_after_the_first(seed):
    letters = random.Random(seed)
    one, other = ("".join(letters.choices(AMINO_ACIDS, k=150)) for _ in range(2))
    near = "".join("A" if i % 20 == 0 else a for i, a in enumerate(one))
    far = "".join(letters.choice(AMINO_ACIDS) if letters.random() < 0.5 else a for a in one)
    sequences = {"c": one, "b": near, "a": other, "d": one[20:110], "e": far}
    at_30, at_90 = references.clusters(sequences, (0.3, 0.9))
    assert at_30 == {"c": "b", "b": "b", "d": "b", "a": "a", "e": "b"}
    assert at_90 == {"c": "b", "b": "b", "d": "b", "a": "a", "e": "e"}
    assert references.clusters(dict(reversed(sequences.items())), (0.3, 0.9)) == [at_30, at_90]


def test_fasta_reads_wrapped_and_lower_case_records():
    assert references.fasta(">a b c\nmac\nDE\n>d\n\nGG\n") == {"a": "MACDE", "d": "GG"}
