"""Edits: one canonical name for each changed protein."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from builders.virogym import edits
from builders.virogym.edits import Edit, EditError
from builders.virogym.schema import AMINO_ACIDS

SEQUENCE = "MAACDEEFGH"
POSITIONS = {str(i): i for i in range(1, 11)}

proteins = st.text(AMINO_ACIDS, min_size=3, max_size=30)


def canonical(*tokens: str) -> str:
    return edits.text(edits.canonical([edits.parse(t, SEQUENCE, POSITIONS) for t in tokens], SEQUENCE), SEQUENCE)


@pytest.mark.parametrize(
    ("tokens", "name"),
    [
        (["C4V"], "C4V"),
        (["C4*"], "C4*"),
        (["C4C"], "C4C"),
        (["C4-"], "C4del"),
        (["A2del"], "A3del"),  # HGVS: the right-most residue of a run
        (["A2_A3del"], "A2_A3del"),
        (["E6del", "E7del"], "E6_E7del"),
        (["A2_A3insA"], "A3_C4insA"),
        (["A3_C4insGG"], "A3_C4insGG"),
        (["C4delinsGG"], "C4delinsGG"),
        (["C4_D5delinsGH"], "C4G:D5H"),  # equal length: substitutions
        (["C4delinsCG"], "C4_D5insG"),  # it keeps C4
        (["D5G", "C4V"], "C4V:D5G"),
        (["C4C", "D5G"], "D5G"),  # ProteinGym #13: F10F:W38V is W38V
        (["C4C", "D5D"], "C4C"),
    ],
)
def test_canonical_names(tokens, name):
    assert canonical(*tokens) == name


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        (["W4V"], "wrong_residue"),
        (["C99V"], "unknown_site"),
        (["*11K"], "stop_site"),
        (["X4V"], "unknown_residue"),
        (["C4X"], "unknown_residue"),
        (["c4v"], "unknown_residue"),
        (["C4"], "bad_mutant"),
        (["4V"], "bad_mutant"),
        (["C4_E6insG"], "bad_mutant"),
        (["C4_A3del"], "bad_mutant"),
        (["C4V", "C4W"], "overlapping_edits"),
        (["A2_C4del", "A3G"], "overlapping_edits"),
    ],
)
def test_unusable_edits_say_why(tokens, reason):
    with pytest.raises(EditError) as error:
        canonical(*tokens)
    assert error.value.reason == reason


@given(proteins, st.data())
@settings(deadline=None)
def test_any_change_round_trips_through_its_name(sequence, data):
    """A sequence is turned into another; the edits that lead there have a name, and the name leads there again."""
    other = data.draw(st.one_of(proteins, _near(sequence)))
    assume(other and other != sequence)
    found = edits.canonical(edits.between(sequence, other), sequence)
    assert edits.apply(found, sequence) == other
    positions = {str(i): i for i in range(1, len(sequence) + 1)}
    tokens = edits.text(found, sequence).split(":")
    again = edits.canonical([edits.parse(token, sequence, positions) for token in tokens], sequence)
    assert again == found


@given(proteins, st.data())
@settings(deadline=None)
def test_the_same_deletion_has_one_name(sequence, data):
    """Deleting any residue of a run makes the same protein."""
    position = data.draw(st.integers(1, len(sequence)))
    made = edits.canonical([Edit(position, position, "del")], sequence)
    shorter = edits.apply(made, sequence)
    assert shorter == sequence[: position - 1] + sequence[position:]
    assert made == edits.canonical(edits.between(sequence, shorter), sequence)


def _near(sequence: str):
    """One insertion or substitution away."""
    place = st.integers(0, len(sequence))
    return st.builds(lambda i, new, cut: sequence[:i] + new + sequence[i + cut :], place, proteins, st.integers(0, 3))


@pytest.mark.parametrize(
    ("tokens", "kind"),
    [("C4V", "sub"), ("C4*", "stop"), ("C4C", "wt"), ("C4-", "del"), ("A3_C4insG", "ins"), ("C4delinsGG", "ins"),
     ("C4_E6delinsGG", "del"), ("C4V D5G", "multi"), ("C4V D5*", "stop"), ("C4V D5del", "del")],
)  # fmt: skip
def test_kinds(tokens, kind):
    found = edits.canonical([edits.parse(t, SEQUENCE, POSITIONS) for t in tokens.split()], SEQUENCE)
    assert edits.kind(found, SEQUENCE, "wt") == kind


def test_ids_depend_on_reference_and_change_alone():
    assert edits.variant_id("A", "C4V") == edits.variant_id("A", "C4V")
    assert len({edits.variant_id(*pair) for pair in [("A", "C4V"), ("B", "C4V"), ("A", "C4W")]}) == 3
