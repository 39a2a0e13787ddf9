"""HGVS: tolerant in what it reads, strict in what it writes. The strings are those tried in the project's notes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mavehgvs import Variant

from builders.virogym import edits, hgvs
from builders.virogym.schema import AMINO_ACIDS

proteins = st.text(AMINO_ACIDS, min_size=3, max_size=30)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("p.Asn1Ala", ["N1A"]),
        ("p.Ala10Ter", ["A10*"]),
        ("p.Ala10*", ["A10*"]),
        ("p.(Glu27Trp)", ["E27W"]),
        ("p.Asn1=", ["N1N"]),
        ("p.Asn331Asn", ["N331N"]),
        ("p.Ala10del", ["A10del"]),
        ("p.Glu27_Gln29del", ["E27_Q29del"]),
        ("p.Asn1_Ile2insGly", ["N1_I2insG"]),
        ("p.Asn1delinsGlyPro", ["N1delinsGP"]),
        ("p.Ter345Lys", ["*345K"]),
        ("p.[Asn1Ala;Thr3Gly]", ["N1A", "T3G"]),
        ("p.[Thr3Gly;Asn1Ala]", ["T3G", "N1A"]),
        ("p.Asn1Ala p.Thr3Gly", ["N1A", "T3G"]),
        (" p.Asn1Ala", ["N1A"]),
        ("RBD:p.Asn1Ala", ["N1A"]),
        ("p.=", []),
        ("p.(=)", []),
        ("_wt", []),
        ("_sy", []),
    ],
)
def test_reads(text, tokens):
    assert hgvs.read(text) == tokens


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p.Glu23Xaa", "unknown_residue"),
        ("p.Sec10Ala", "unknown_residue"),
        ("p.Glu27fs", "unsupported_change"),
        ("p.N1A", "bad_hgvs"),
        ("p.Asn2aAla", "bad_hgvs"),
        ("p.Asn-2Ala", "bad_hgvs"),
        ("N501Y", "bad_hgvs"),
        ("", "bad_hgvs"),
        ("nan", "bad_hgvs"),
    ],
)
def test_refuses(text, reason):
    with pytest.raises(edits.EditError) as error:
        hgvs.read(text)
    assert error.value.reason == reason


def test_another_target_is_named():
    assert hgvs.read("RBD:p.Asn1Ala", target="RBD") == ["N1A"]
    with pytest.raises(edits.EditError) as error:
        hgvs.read("ACE2:p.Asn1Ala", target="RBD")
    assert error.value.reason == "other_target"


@given(proteins, st.data())
@settings(deadline=None)
def test_what_is_written_is_hgvs_and_reads_back(sequence, data):
    """Any change: mavehgvs accepts its name on that very protein, and reading it gives the same edits."""
    other = data.draw(st.one_of(proteins, st.permutations(list(sequence)).map("".join)))
    if other == sequence:
        return
    found = edits.canonical(edits.between(sequence, other), sequence)
    name = hgvs.write(found, sequence)
    Variant(name, targetseq=sequence)
    positions = {str(i): i for i in range(1, len(sequence) + 1)}
    again = edits.canonical([edits.parse(token, sequence, positions) for token in hgvs.read(name)], sequence)
    assert again == found


@given(st.sampled_from(AMINO_ACIDS), st.integers(1, 4000), st.sampled_from(AMINO_ACIDS + "*"))
@settings(deadline=None)
def test_one_substitution_round_trips(wild_type, position, mutant):
    sequence = "G" * (position - 1) + wild_type
    name = hgvs.write([edits.Edit(position, position, "sub", mutant)], sequence)
    assert hgvs.read(name) == [f"{wild_type}{position}{mutant}"]
    Variant(name)
