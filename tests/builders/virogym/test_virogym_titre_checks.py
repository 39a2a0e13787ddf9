"""C15 and C17 to C24 on made tables of titres and emergence: each check finds its planted defects, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_tasks import counted, made_tables, retitre, titres
from made_virogym import Tables, failed, folder, run

from builders.virogym.checks import CHECKS
from builders.virogym.checks_emergence import EMERGENCE_CHECKS
from builders.virogym.checks_titres import TITRE_CHECKS
from builders.virogym.schema import NUMBERING, REFERENCES
from builders.virogym.schema_emergence import EMERGENCE_TABLES
from builders.virogym.schema_titres import TITRE_TABLES
from schemas import Dataset

TITRES = Dataset("virogym", "Made", "Made.", TITRE_TABLES)
EMERGENCE = Dataset("virogym", "Made", "Made.", (*EMERGENCE_TABLES, REFERENCES, NUMBERING))
"""The tables of one task alone: the others are slow to write."""

PLANTS: list[Any] = []


def plant(check: str) -> Callable[[Callable[[Tables], None]], Callable[[Tables], None]]:
    """Register a function that plants a defect which `check` must find."""

    def keep(function: Callable[[Tables], None]) -> Callable[[Tables], None]:
        PLANTS.append(pytest.param(check, function, id=f"{check}-{function.__name__}"))
        return function

    return keep


def test_clean_tables_fire_nothing(tmp_path: Path) -> None:
    results = run(folder(tmp_path, made_tables()))
    assert failed(results) == {}
    left = [name for name, result in results.items() if result.status == "not_applicable"]
    assert left == ["C04_nearly_same_protein.leakage"]  # a benchmark has one split


def test_every_check_has_a_planted_defect() -> None:
    ours = {check.name for check in (*TITRE_CHECKS, *EMERGENCE_CHECKS)}
    assert ours <= {check.name for check in CHECKS.checks}
    assert ours - {"C18_copies", "C18_repeats"} == {param.values[0] for param in PLANTS}


def test_copies_and_repeats_are_reported(tmp_path: Path) -> None:
    made = made_tables()
    made["neutralisation"][0]["n_rep"] = 59
    results = run(folder(tmp_path, made), "C18_copies", "C18_repeats")
    copies = {value.subject: value.value for value in results["C18_copies"].figures}
    repeats = {value.subject: value.value for value in results["C18_repeats"].figures}
    assert copies == {"MADE_hi": 3, "MADE_seqneut": 3}
    assert repeats == {"MADE_hi": 59, "MADE_seqneut": 2}


@plant("C15_titres")
def one_serum_in_two_tasks(made: Tables) -> None:
    hi = [row for row in titres(made, "hi") if row["serum_id"].endswith("S1")]
    for row, other in zip([row for row in titres(made, "seqneut") if row["serum_id"].endswith("S1")], hi, strict=True):
        row.update({key: other[key] for key in ("titre", "log2_titre", "log2_drop", "censor", "limit")})


@plant("C17_censoring")
def flag_without_limit(made: Tables) -> None:
    next(row for row in made["neutralisation"] if row["censor"] == "left")["limit"] = None


@plant("C17_censoring")
def an_unknown_flag(made: Tables) -> None:
    made["neutralisation"][0]["censor"] = "<"


@plant("C17_censoring")
def half_the_limit(made: Tables) -> None:
    retitre(next(row for row in made["neutralisation"] if row["censor"] == "left"), 20.0)


@plant("C17_censoring")
def limit_without_flag(made: Tables) -> None:
    made["neutralisation"][0]["limit"] = 40.0


@plant("C17_detection")
def below_the_first_dilution(made: Tables) -> None:
    retitre(next(row for row in titres(made, "seqneut") if row["censor"] == "none"), 12.0)


@plant("C17_pile_up")
def flags_lost(made: Tables) -> None:
    for row in titres(made, "seqneut"):
        row.update(censor="none", limit=None)


@plant("C17_pile_up")
def flags_lost_on_a_two_fold_series(made: Tables) -> None:
    for row in titres(made, "hi"):
        row.update(censor="none", limit=None)


@plant("C17_two_fold")
def a_mean_of_titres(made: Tables) -> None:
    retitre(titres(made, "hi")[0], 704.0)


@plant("C17_two_fold")
def a_mean_among_repeats(made: Tables) -> None:
    titres(made, "hi")[0]["replicates"] = ["1280", "704", "<40"]


@plant("C18_once")
def an_exact_copy(made: Tables) -> None:
    made["neutralisation"].append(dict(made["neutralisation"][0]))


@plant("C18_once")
def a_second_measurement(made: Tables) -> None:
    made["neutralisation"].append({**made["neutralisation"][0], "titre": 1280.0, "log2_titre": math.log2(1280)})


@plant("C18_spread")
def four_fold_apart(made: Tables) -> None:
    made["neutralisation"][0]["replicates"] = ["640", "2560"]


@plant("C18_spread")
def four_fold_above_a_bound(made: Tables) -> None:
    made["neutralisation"][0]["replicates"] = ["<40", "160"]


@plant("C19_strain")
def a_strain_without_a_sequence(made: Tables) -> None:
    made["viruses"][3]["sequence"] = None


@plant("C19_strain")
def a_name_that_does_not_join(made: Tables) -> None:
    made["neutralisation"][4]["strain_id"] = "A/Town/03/2023|HA1"


@plant("C19_strain")
def an_unknown_immunogen(made: Tables) -> None:
    made["neutralisation"][4].update(homologous_strain_id="A/Nowhere/1/2023|HA1", log2_drop=None)


@plant("C19_sequenced")
def a_task_of_names_alone(made: Tables) -> None:
    made["viruses"][5].update(sequence=None, span=None)


@plant("C19_sequence")
def an_unknown_residue(made: Tables) -> None:
    made["viruses"][3]["sequence"] = made["viruses"][3]["sequence"][:-1] + "X"


@plant("C19_sequence")
def a_gap(made: Tables) -> None:
    made["viruses"][3]["sequence"] = "-" + made["viruses"][3]["sequence"]


@plant("C19_name")
def leading_zeros(made: Tables) -> None:
    made["viruses"][3]["canonical_name"] = "A/Thailand/08/2022"


@plant("C19_name")
def subtype_in_the_name(made: Tables) -> None:
    made["viruses"][3]["canonical_name"] = "A/Thailand/8/2022_H3N2"


@plant("C19_name")
def accession_in_the_name(made: Tables) -> None:
    made["viruses"][3]["canonical_name"] = "A/Maryland/64/2024_PV283376"


@plant("C19_name")
def passage_in_the_name(made: Tables) -> None:
    made["viruses"][3]["canonical_name"] = "A/Maryland/64/2024-egg"


@plant("C19_name")
def one_name_for_two_strains(made: Tables) -> None:
    made["viruses"][3]["canonical_name"] = made["viruses"][4]["canonical_name"]


@plant("C19_span")
def two_spans_in_a_task(made: Tables) -> None:
    made["viruses"][3]["span"] = "HA0"


@plant("C19_span")
def another_span_than_the_task_says(made: Tables) -> None:
    for row in made["viruses"]:
        row["span"] = "HA0"


@plant("C20_log2")
def another_logarithm(made: Tables) -> None:
    made["neutralisation"][0]["log2_titre"] = math.log10(made["neutralisation"][0]["titre"])


@plant("C20_log2")
def a_drop_from_another_strain(made: Tables) -> None:
    made["neutralisation"][6]["log2_drop"] += 1


@plant("C20_log2")
def a_drop_from_a_censored_titre(made: Tables) -> None:
    next(row for row in made["neutralisation"] if row["log2_drop"] is None)["log2_drop"] = 0.0


@plant("C20_unit")
def logarithms_as_titres(made: Tables) -> None:
    for row in titres(made, "seqneut"):
        retitre(row, row["log2_titre"])


@plant("C22_titre_text")
def titres_in_latin_1(made: Tables) -> None:
    next(row for row in made["sources"] if row["name"] == "MADE_hi.csv")["facts"]["encoding"] = "latin-1"


@plant("C23_titre_licence")
def titres_without_a_licence(made: Tables) -> None:
    made["titre_tasks"][0].update(licence_spdx="NONE", redistributable=False)


@plant("C23_titre_licence_agrees")
def another_licence_than_the_source(made: Tables) -> None:
    made["titre_tasks"][0]["licence_spdx"] = "CC0-1.0"


@plant("C23_donor")
def a_birth_year(made: Tables) -> None:
    made["sera"][0]["serum_id"] = "MADE_hi|PENN23_y1949_s012_d0"


@plant("C23_donor")
def a_date(made: Tables) -> None:
    made["sera"][0]["serum_id"] = "MADE_hi|S1 2023-05-01"


@plant("C23_donor")
def a_sex(made: Tables) -> None:
    made["sera"][0]["serum_id"] = "MADE_hi|S1_F"


@plant("C24_titre_account")
def a_record_that_was_lost(made: Tables) -> None:
    made["titre_tasks"][0]["n_rows_in"] += 1


@plant("C24_titre_account")
def a_row_too_many(made: Tables) -> None:
    made["titre_tasks"][0].update(n_rows_out=95, n_rows_in=99)


@plant("C21_candidates")
def unseen_candidates_left_out(made: Tables) -> None:
    made["emergence"] = [row for row in made["emergence"] if row["observed_T"]]


@plant("C21_candidates")
def deletions_left_out(made: Tables) -> None:
    made["emergence"] = [row for row in made["emergence"] if row["mut"] != "-"]


@plant("C21_wild_type")
def letters_of_another_reference(made: Tables) -> None:
    row = made["emergence"][0]
    row["mutation"] = ("A" if row["mutation"][0] != "A" else "C") + row["mutation"][1:]


@plant("C21_wild_type")
def parts_that_say_something_else(made: Tables) -> None:
    made["emergence"][0]["mut"] = "W" if made["emergence"][0]["mut"] != "W" else "Y"


@plant("C21_absent")
def absent_as_zero(made: Tables) -> None:
    next(row for row in made["emergence"] if row["status"] == "absent")["count_T"] = 0


@plant("C21_absent")
def masked_as_counted(made: Tables) -> None:
    counted(made)[0]["status"] = "masked"


@plant("C21_time")
def periods_exchanged(made: Tables) -> None:
    row = made["windows"][0]
    row.update(start_T=row["start_T1"], end_T=row["end_T1"], start_T1=row["start_T"], end_T1=row["end_T"])


@plant("C21_time")
def data_that_end_early(made: Tables) -> None:
    made["windows"][1]["data_cutoff"] = "2022-08-31"


@plant("C21_denominator")
def the_sum_of_counts(made: Tables) -> None:
    total = sum(row["count_T"] for row in counted(made))
    made["windows"][0]["n_seq_T"] = total
    for row in made["emergence"]:
        if row["window_id"] == "made_2020":
            row["n_seq_T"] = total


@plant("C21_denominator")
def several_denominators(made: Tables) -> None:
    made["emergence"][0]["n_seq_T1"] = 20_001


@plant("C21_denominator")
def another_number_than_the_window_says(made: Tables) -> None:
    made["windows"][0]["n_seq_T1"] = 20_001


@plant("C21_frequency")
def frequency_of_another_period(made: Tables) -> None:
    row = next(row for row in counted(made) if row["count_T"])
    row["freq_T"] = row["count_T"] / row["n_seq_T1"]


@plant("C21_frequency")
def more_than_all_genomes(made: Tables) -> None:
    counted(made)[0].update(count_T=10_001, freq_T=1.0001)


@plant("C21_distance")
def a_distance_of_a_deletion(made: Tables) -> None:
    next(row for row in made["emergence"] if row["mut"] == "-")["min_nt_dist"] = 3


@plant("C21_labels")
def novel_but_seen_before(made: Tables) -> None:
    next(row for row in counted(made) if row["count_T"]).update(is_novel=True)


@plant("C21_labels")
def novel_though_not_counted(made: Tables) -> None:
    next(row for row in made["emergence"] if row["status"] == "absent")["is_novel"] = False


@plant("C21_labels")
def a_label_without_a_rule(made: Tables) -> None:
    made["emergence"][0]["label_rule"] = ""


@plant("C21_labels")
def a_label_of_no_rule(made: Tables) -> None:
    counted(made)[0].update(is_emergent=True, emergent_by=[])


@plant("C21_reversion")
def an_unflagged_reversion(made: Tables) -> None:
    next(row for row in made["emergence"] if row["is_reversion"])["is_reversion"] = False


@plant("C21_reversion")
def a_reversion_taken_as_absent(made: Tables) -> None:
    next(row for row in made["emergence"] if row["is_reversion"])["status"] = "absent"


@plant("C22_window_text")
def a_pointer_in_place_of_counts(made: Tables) -> None:
    next(row for row in made["sources"] if row["name"] == "MADE_counts.csv")["size"] = 132
    made["windows"][0]["n_rows_in"] = 0


@plant("C23_window_licence")
def counts_that_may_not_be_passed_on(made: Tables) -> None:
    made["windows"][0].update(licence_spdx="GISAID", redistributable=False)


@plant("C23_window_licence_agrees")
def counts_said_to_be_free(made: Tables) -> None:
    next(row for row in made["sources"] if row["name"] == "MADE_counts.csv").update(redistribute=False)


@plant("C24_window_account")
def a_count_that_was_lost(made: Tables) -> None:
    made["windows"][0]["n_rows_in"] += 1


@plant("C24_window_account")
def a_candidate_that_was_lost(made: Tables) -> None:
    made["windows"][0]["n_candidates"] += 1


@pytest.mark.parametrize(("check", "defect"), PLANTS)
def test_planted_defect_is_found(check: str, defect: Callable[[Tables], None], tmp_path: Path) -> None:
    made = made_tables()
    defect(made)
    ours = TITRES if check in {each.name for each in TITRE_CHECKS} else EMERGENCE
    result = run(folder(tmp_path, made, ours), check)[check]
    assert result.status == "failed", result
    assert result.failures >= 1
