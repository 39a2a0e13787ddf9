"""Each check of ViroGym's own finds the defect it is meant for, and finds nothing in the same tables without it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from Bio.Align import substitution_matrices
from made_tasks import made_tables
from made_virogym import ENTRY, GROWTH, SERA, Row, Tables, failed, folder, run, tables

from builders.build import build
from builders.sources import Sources
from builders.virogym import edits
from builders.virogym.builder import BUILDER
from builders.virogym.checks import CHECKS
from builders.virogym.checks_emergence import EMERGENCE_CHECKS
from builders.virogym.checks_titres import TITRE_CHECKS
from builders.virogym.plots import BY_CHEMISTRY
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.substitution import BLOSUM62
from quality.connect import Session, add_views, opened
from quality.own import add_own_views, missing
from schemas import DatasetFolder, Plot

PLANTS: list[Any] = []


def plant(check: str) -> Callable[[Callable[[Tables], None]], Callable[[Tables], None]]:
    """Register a function that plants a defect which `check` must find."""

    def keep(function: Callable[[Tables], None]) -> Callable[[Tables], None]:
        PLANTS.append(pytest.param(check, function, id=f"{check}-{function.__name__}"))
        return function

    return keep


def first(rows: list[Row], **wanted: Any) -> Row:
    """The first row with these values."""
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


def of(made: Tables, assay_id: str) -> list[Row]:
    """The variants of an assay."""
    return [row for row in made["variants"] if row["assay_id"] == assay_id]


def test_clean_tables_fire_nothing(tmp_path: Path) -> None:
    results = run(folder(tmp_path, tables()))
    assert failed(results) == {}
    applied = {name[:3] for name, result in results.items() if result.status != "not_applicable"}
    assert {f"C{number:02}" for number in (*range(1, 17), 22, 23, 24)} <= applied


def test_bundled_sample_fires_what_is_planted(tmp_path: Path) -> None:
    build(BUILDER, Sources.load(BUILDER.folder, sample=True, offline=True), tmp_path / "sample", progress=False)
    results = run(DatasetFolder(tmp_path / "sample"))
    assert failed(results) == {"C17_two_fold": 1, "C18_spread": 1}  # a planted titre of 704, warned of
    assert results["C14_multi_mutants"].status == "passed"


def test_numbers_of_the_notes_are_all_there() -> None:
    assert {check.name[:3] for check in CHECKS.checks} == {f"C{number:02}" for number in range(1, 25)}
    assert len({check.name for check in CHECKS.checks}) == len(CHECKS.checks)


def test_every_check_has_a_planted_defect() -> None:
    planted = {param.values[0] for param in PLANTS}
    reported = {"C08_duplicates_spread", "C11_missing_by_entry", "C12_least_observations"}
    of_other_tasks = {check.name for check in (*TITRE_CHECKS, *EMERGENCE_CHECKS)}  # test_virogym_titre_checks
    ours = {check.name for check in CHECKS.checks} - of_other_tasks
    assert ours - planted == reported


def test_blosum62_is_biopythons() -> None:
    matrix = substitution_matrices.load("BLOSUM62")
    assert {(a, b): int(matrix[a, b]) for a in AMINO_ACIDS for b in AMINO_ACIDS} == BLOSUM62


@plant("C01_wild_type")
@plant("C01_wild_type_rows")
def another_letter(made: Tables) -> None:
    row = first(of(made, ENTRY), kind="sub")
    row["mutant"] = ("A" if row["mutant"][0] != "A" else "C") + row["mutant"][1:]


@plant("C01_wild_type_rows")
def second_letter_of_a_range(made: Tables) -> None:
    row = next(row for row in of(made, GROWTH) if row["mutant"].endswith("23del") and "_" in row["mutant"])
    row["mutant"] = row["mutant"].replace("_" + row["mutant"].partition("_")[2][0], "_*")


@plant("C01_rejected")
def a_rejected_residue(made: Tables) -> None:
    made["accounting"][0]["rejects"] = {"no_score": 2, "wrong_residue": 1}


@plant("C02_numbering")
def a_site_twice(made: Tables) -> None:
    made["numbering"][20]["reference_site"] = made["numbering"][21]["reference_site"]


@plant("C02_numbering")
def a_wrong_residue(made: Tables) -> None:
    row = made["numbering"][20]
    row["reference_wt"] = "A" if row["reference_wt"] != "A" else "C"


@plant("C02_numbering_whole")
def a_lost_site(made: Tables) -> None:
    del made["numbering"][20]


@plant("C02_numbering_aligned")
def a_lost_insertion(made: Tables) -> None:
    for row in made["numbering"][11:40]:
        row["aligned_site"] = int(row["reference_site"].rstrip("a")) + 1


@plant("C02_variant_sites")
def another_map(made: Tables) -> None:
    first(of(made, ENTRY), kind="sub")["ref_site"] = ["7"]


@plant("C02_variant_sites")
def another_map_for_the_end_of_a_range(made: Tables) -> None:
    row = next(row for row in of(made, GROWTH) if row["mutant"].endswith("42del") and "_" in row["mutant"])
    row["ref_site"] = [*row["ref_site"][:2], "41"]


@plant("C03_parse_rate")
def unread_records(made: Tables) -> None:
    n = made["accounting"][0]["rows"] // 20
    made["accounting"][0]["rejects"]["bad_hgvs"] = n
    made["accounting"][0]["records"] += n
    reject = {"reason": "bad_hgvs", "message": "p.Asn1* is not HGVS", "source": f"{ENTRY}.csv", "place": "line 3"}
    made["rejects"] += [{**reject, "record": "p.Asn1*,1"}] * n


@plant("C04_alphabet")
def an_unknown_residue(made: Tables) -> None:
    row = first(of(made, ENTRY), kind="sub")
    row["mutant"] = row["mutant"][:-1] + "X"


@plant("C04_alphabet")
def an_unknown_inserted_residue(made: Tables) -> None:
    row = next(row for row in of(made, GROWTH) if row["mutant"].endswith("insWW"))
    row["mutant"] = row["mutant"].replace("insWW", "insWB")


@plant("C04_sequence_alphabet")
def a_gap_in_the_reference(made: Tables) -> None:
    made["references"][0]["sequence"] = "-" + made["references"][0]["sequence"][1:]


@plant("C04_nearly_same_protein")
def a_strain_with_one_change(made: Tables) -> None:
    sequence = made["references"][0]["sequence"] * 4
    for name, changed in {"Strain_A": sequence, "Strain_B": sequence[:30] + "W" + sequence[31:]}.items():
        made["references"].append({**made["references"][0], "reference_id": name, "sequence": changed})


@plant("C05_kind")
def identity_as_substitution(made: Tables) -> None:
    first(of(made, ENTRY), kind="wt").update(kind="sub", n_mut=1)


@plant("C05_kind")
@plant("C14_multi_mutants")
def an_idle_edit_in_a_multi_mutant(made: Tables) -> None:
    row = first(of(made, GROWTH), kind="multi")
    parts = row["mutant"].split(":")
    row["mutant"] = ":".join([parts[0][:-1] + parts[0][0], *parts[1:]])


@plant("C05_kind")
def stop_as_substitution(made: Tables) -> None:
    first(of(made, ENTRY), kind="stop")["kind"] = "sub"


@plant("C05_kind")
def insertion_as_deletion(made: Tables) -> None:
    first(of(made, GROWTH), kind="ins")["kind"] = "del"


@plant("C05_kind")
def an_unreadable_mutant(made: Tables) -> None:
    first(of(made, ENTRY), kind="sub")["mutant"] = "p.Asn1Ala"


@plant("C05_kind")
@plant("C14_multi_mutants")
def edits_miscounted(made: Tables) -> None:
    first(of(made, GROWTH), kind="multi")["n_mut"] = 2


@plant("C06_stops")
@plant("C06_stops_low")
@plant("C07_likeness")
@plant("C07_proline")
def sign_flipped(made: Tables) -> None:
    for row in of(made, ENTRY):
        row["score"] = -row["score"]


@plant("C06_stops_low")
@plant("C07_likeness")
def scores_shuffled(made: Tables) -> None:
    rows = of(made, ENTRY)
    scores = [row["score"] for row in rows]
    random.Random(3).shuffle(scores)
    for row, score in zip(rows, scores, strict=True):
        row["score"] = score


@plant("C08_duplicates")
def measured_twice(made: Tables) -> None:
    row = first(of(made, ENTRY), kind="sub")
    made["variants"].append({**row, "score": row["score"] + 0.3})


@plant("C09_score")
def not_a_number(made: Tables) -> None:
    first(of(made, ENTRY), kind="sub")["score"] = math.nan


@plant("C09_score")
def infinite_in_the_source(made: Tables) -> None:
    first(of(made, ENTRY), kind="sub")["score_raw"] = math.inf


@plant("C09_score")
def escape_above_one(made: Tables) -> None:
    first(made["assays"], assay_id=SERA)["score_unit"] = "ratio"
    for row in of(made, SERA):
        row["score_raw"] = 0.5
    of(made, SERA)[0]["score_raw"] = 1.2


@plant("C10_coverage")
def lost_sites(made: Tables) -> None:
    lost = {str(position) for position in range(20, 26)}
    made["variants"] = [row for row in made["variants"] if row["assay_id"] != ENTRY or row["mutant"][1:-1] not in lost]


@plant("C10_coverage")
def lost_sites_after_entry(made: Tables) -> None:
    lost = {str(position) for position in range(20, 32)}
    made["variants"] = [row for row in made["variants"] if row["assay_id"] != SERA or row["mutant"][1:-1] not in lost]


@plant("C12_observations")
def seen_once(made: Tables) -> None:
    for row in of(made, ENTRY)[::2]:
        row["n_obs"] = 1.0


@plant("C13_sequence")
def a_second_change(made: Tables) -> None:
    row = made["proteingym"][3]
    row["mutated_sequence"] = row["mutated_sequence"][:-1] + ("A" if row["mutated_sequence"][-1] != "A" else "C")


@plant("C13_sequence")
def a_lost_residue(made: Tables) -> None:
    made["proteingym"][3]["mutated_sequence"] = made["proteingym"][3]["mutated_sequence"][:-1]


@plant("C13_sequence")
def an_insertion_in_another_place(made: Tables) -> None:
    row = next(row for row in made["proteingym"] if "WW" in row["mutated_sequence"])
    row["mutated_sequence"] = row["mutated_sequence"].replace("WW", "") + "WW"


@plant("C13_sequence")
def a_multi_mutant_with_one_edit(made: Tables) -> None:
    rows = [row for row in made["proteingym"] if row["mutant"] and ":" in row["mutant"]]
    rows[0]["mutated_sequence"] = rows[1]["mutated_sequence"]


@plant("C13_sequence")
def another_score(made: Tables) -> None:
    made["proteingym"][3]["DMS_score"] += 1


@plant("C13_sequence")
def a_copy_of_nothing(made: Tables) -> None:
    made["proteingym"][3]["variant_id"] = "0" * 40


@plant("C13_complete")
def a_lost_copy(made: Tables) -> None:
    del made["proteingym"][3]


@plant("C14_multi_mutants")
def unsorted(made: Tables) -> None:
    row = first(of(made, GROWTH), kind="multi")
    row["mutant"] = ":".join(reversed(row["mutant"].split(":")))


@plant("C14_multi_mutants")
def one_position_twice(made: Tables) -> None:
    row = first(of(made, GROWTH), kind="multi")
    parts = row["mutant"].split(":")
    row["mutant"] = ":".join([parts[0], parts[0][:-1] + "W", parts[2]])


def _again(made: Tables, change: Callable[[float], float]) -> None:
    """The sera escape once more, under another name."""
    made["assays"].append({**first(made["assays"], assay_id=SERA), "assay_id": "MADE_again"})
    made["variants"] += [{**row, "assay_id": "MADE_again", "score": change(row["score"])} for row in of(made, SERA)]


@plant("C15_same_values")
def the_same_values_in_another_assay(made: Tables) -> None:
    _again(made, lambda score: score)


@plant("C15_same_values")
def the_same_values_in_another_unit(made: Tables) -> None:
    _again(made, math.exp)


@plant("C15_same_values")
def the_same_values_with_the_sign_flipped(made: Tables) -> None:
    _again(made, lambda score: -2 * score)


@plant("C16_cluster")
def rows_in_another_cluster(made: Tables) -> None:
    first(of(made, ENTRY), kind="sub")["split_cluster"] = "made_b"


@plant("C16_nested")
def a_wider_cluster_torn(made: Tables) -> None:
    for row in made["references"]:
        row["cluster_90"] = "made_a"


@plant("C16_nested")
def a_cluster_named_after_nothing(made: Tables) -> None:
    made["references"][0]["cluster_30"] = "another"


@plant("C16_alike")
def homologues_apart(made: Tables) -> None:
    one, other = made["references"]
    other["sequence"] = one["sequence"][:40] + other["sequence"][40:]


@plant("C16_random_fold")
def one_variant_in_two_folds(made: Tables) -> None:
    row = of(made, SERA)[0]
    row["split_random"] = (row["split_random"] + 1) % 5


@plant("C16_site_fold")
def one_site_in_two_folds(made: Tables) -> None:
    row = of(made, SERA)[0]
    row["split_contiguous"] = (row["split_contiguous"] + 1) % 5


@plant("C22_text")
def latin_1(made: Tables) -> None:
    made["sources"][0]["facts"]["encoding"] = "latin-1"


@plant("C22_text")
def a_pointer(made: Tables) -> None:
    made["sources"][0]["size"] = 132
    first(made["assays"], assay_id=ENTRY)["n_rows_out"] = 0


@plant("C22_missing_words")
def neuraminidase_read_as_missing(made: Tables) -> None:
    made["assays"][0]["protein"] = "nan"


@plant("C23_licence")
def no_licence(made: Tables) -> None:
    made["assays"][0].update(licence_spdx="NONE", redistributable=False)
    made["sources"][0].update(licence="NONE", redistribute=False)


@plant("C23_licence_agrees")
def another_licence(made: Tables) -> None:
    made["sources"][0].update(licence="NONE", redistribute=False)


@plant("C24_account")
def a_lost_row(made: Tables) -> None:
    made["variants"].remove(first(of(made, ENTRY), kind="sub"))


@plant("C24_account")
def a_lost_record(made: Tables) -> None:
    made["assays"][0]["n_rows_in"] += 1


@plant("C24_account")
def a_reject_that_the_source_does_not_know(made: Tables) -> None:
    made["assays"][0]["n_dropped_by_reason"] = json.dumps({"no_score": 4})


@plant("C24_published")
def another_count_than_published(made: Tables) -> None:
    made["assays"][0]["n_published"] = 1


@pytest.mark.parametrize(("check", "defect"), PLANTS)
def test_planted_defect_is_found(check: str, defect: Callable[[Tables], None], tmp_path: Path) -> None:
    made = tables()
    defect(made)
    result = run(folder(tmp_path, made), check)[check]
    assert result.status == "failed", result
    assert result.failures >= 1
    assert all(message.startswith(f"[virogym > {result.table} > ") for _, message in result.examples)


def test_offset_is_named(tmp_path: Path) -> None:
    made = tables()
    for row in of(made, ENTRY):
        place = int("".join(filter(str.isdigit, row["mutant"])))
        row["mutant"] = row["mutant"].replace(str(place), str(place + 18))
    (value,) = (
        value for value in run(folder(tmp_path, made), "C01_wild_type")["C01_wild_type"].figures if value.message
    )
    assert value.subject == ENTRY
    assert value.value < 0.2
    assert "best shift -18" in value.message


def test_unread_spelling_is_shown(tmp_path: Path) -> None:
    made = tables()
    unread_records(made)
    (example,) = run(folder(tmp_path, made), "C03_parse_rate")["C03_parse_rate"].examples
    assert "p.Asn1* is not HGVS" in example[1]


def test_spread_of_duplicates_is_reported(tmp_path: Path) -> None:
    made = tables()
    measured_twice(made)
    (value,) = run(folder(tmp_path, made), "C08_duplicates_spread")["C08_duplicates_spread"].figures
    assert (value.subject, round(value.value, 6)) == (ENTRY, 0.3)


def test_equal_duplicates_are_left_to_the_key_check(tmp_path: Path) -> None:
    made = tables()
    made["variants"].append(dict(first(of(made, ENTRY), kind="sub")))
    assert run(folder(tmp_path, made), "C08_duplicates")["C08_duplicates"].status == "passed"


def test_missing_values_follow_entry(tmp_path: Path) -> None:
    figures = run(folder(tmp_path, tables()), "C11_missing_by_entry")["C11_missing_by_entry"].figures
    missing = {value.subject: value.value for value in figures}
    assert missing[f"{SERA} entry quintile 1"] > 0.6
    assert missing[f"{SERA} entry quintile 5"] == 0


def test_noise_is_no_second_registration(tmp_path: Path) -> None:
    made = tables()
    chance = random.Random(5)
    _again(made, lambda score: score + chance.gauss(0, 0.3))
    assert run(folder(tmp_path, made), "C15_same_values")["C15_same_values"].status == "passed"


def test_insertion_beside_a_substitution_is_in_order(tmp_path: Path) -> None:
    """`C12W:C12_D13insPP` changes and extends: the made tables hold it, and it is no defect."""
    made = tables()
    assert any(row["mutant"].endswith("insPP") and ":" in row["mutant"] for row in made["variants"])
    assert failed(run(folder(tmp_path, made), "C14_multi_mutants", "C05_kind", "C13_sequence")) == {}


def test_binding_after_entry_is_no_fitness(tmp_path: Path) -> None:
    """Binding of viruses that had to enter first follows no BLOSUM62; where nothing had to enter, it must."""
    made = tables()
    first(made["assays"], assay_id=SERA).update(phenotype="binding", direction=1)
    assert failed(run(folder(tmp_path / "after", made), "C07_likeness")) == {}
    made["assays"] = [row for row in made["assays"] if row["assay_id"] != ENTRY]
    assert failed(run(folder(tmp_path / "alone", made), "C07_likeness")) == {"C07_likeness": 1}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The made tables with the views that checks and plots share."""
    made = folder(tmp_path_factory.mktemp("plots"), made_tables())
    with opened(made, None, memory_limit="1GB", threads=1) as session:
        add_views(session, set())
        add_own_views(session, CHECKS.views)
        yield session


@pytest.mark.parametrize("plot", CHECKS.plots, ids=lambda plot: plot.name)
def test_plot_has_its_columns(plot: Plot, session: Session) -> None:
    needed = {"heatmap": {"facet", "x", "y", "value"}, "histogram": {"facet", "value"}, "bar": {"facet", "x", "value"}}
    assert not missing(session, plot.needs)
    assert {row[0] for row in session.rows(f"DESCRIBE {plot.sql}")} == needed[plot.kind]
    assert len(session.rows(plot.sql)) >= 4


def test_landscape_has_the_fields_sites_in_order(session: Session) -> None:
    (landscape,) = (plot for plot in CHECKS.plots if plot.name == "landscape")
    rows = [row for row in session.rows(landscape.sql) if row[0] == ENTRY]
    sites = list(dict.fromkeys(row[1] for row in rows))
    assert sites[:4] == ["-2", "-1", "1", "2"]
    assert sites[10:13] == ["9", "9a", "10"]
    assert {row[2] for row in rows} == set(BY_CHEMISTRY)
    assert set(BY_CHEMISTRY) == {*AMINO_ACIDS, "*", "del"}


def test_ids_are_those_of_the_builder() -> None:
    row = tables()["variants"][0]
    assert row["variant_id"] == edits.variant_id("made_a", row["mutant"])
