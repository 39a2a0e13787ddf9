"""C17 to C21 on hand-made tables: titres, sera, strains and emergence, which the dataset gets later."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_virogym import Row, Tables, failed, folder, run, tables

from builders.virogym.checks import CHECKS
from builders.virogym.schema import AMINO_ACIDS, SCHEMA
from schemas import Bool, Column, Dataset, Float, Int, Table, Text


def _table(name: str, key: str, **columns: str) -> Table:
    """A table; `columns` is type -> names, with blanks between them."""
    types = {"text": Text(), "real": Float(), "whole": Int(), "flag": Bool()}
    made = [
        Column(each, types[kind], "Made.", nullable=True) for kind, names in columns.items() for each in names.split()
    ]
    return Table(name, "Made.", tuple(made), tuple(key.split()), ("test",))


VIRUSES = _table(
    "viruses", "strain_id", text="strain_id canonical_name aliases subtype passage sequence span accession"
)
SERA = _table("sera", "serum_id", text="serum_id species cohort strain_id")
NEUTRALISATION = _table(
    "neutralisation",
    "serum_id strain_id assay source",
    text="serum_id strain_id assay censor homologous_strain_id source",
    real="titre log2_titre limit sem log2_drop",
    whole="n_rep",
)
EMERGENCE = _table(
    "emergence",
    "window_id reference_id mutation",
    text="window_id reference_id mutation ref_site label_rule source data_cutoff",
    whole="count_T count_T1 n_seq_T n_seq_T1 min_nt_dist",
    real="freq_T freq_T1",
    flag="observed_T is_reversion is_novel is_emergent",
)
DATASET = Dataset("virogym", "Made", "Made.", (*SCHEMA.tables, VIRUSES, SERA, NEUTRALISATION, EMERGENCE))

PLANTS: list[Any] = []


def plant(check: str) -> Callable[[Callable[[Tables], None]], Callable[[Tables], None]]:
    """Register a function that plants a defect which `check` must find."""

    def keep(function: Callable[[Tables], None]) -> Callable[[Tables], None]:
        PLANTS.append(pytest.param(check, function, id=f"{check}-{function.__name__}"))
        return function

    return keep


def made_tables() -> Tables:
    """The made tables with titres in two kinds of assay and two windows of emergence."""
    made = tables()
    names = [f"A/Town/{number}/2023" for number in range(1, 13)]
    sequence = made["references"][0]["sequence"]
    alike = {"passage": "cell", "sequence": sequence, "span": "HA1"}
    made["viruses"] = [{"strain_id": name, "canonical_name": name, **alike} for name in names]
    made["sera"] = [{"serum_id": f"S{number}", "species": "ferret", "strain_id": names[0]} for number in range(1, 9)]
    made["neutralisation"] = [
        _titre(serum["serum_id"], name, kind, i + j)
        for i, serum in enumerate(made["sera"])
        for j, name in enumerate(names)
        for kind in ("hi", "seqneut")
    ]
    made["emergence"] = _window("2020-2021", "made_a", made) + _window("2021-2022", "made_b", made)
    return made


def _titre(serum_id: str, strain_id: str, kind: str, step: int) -> Row:
    """Titres fall with `step`; the lowest are censored at 40."""
    titre = 2560.0 / 2**step if kind == "hi" else 2600.0 / 1.7**step
    censored = titre < 40
    titre = 40.0 if censored else titre
    row = {"serum_id": serum_id, "strain_id": strain_id, "assay": kind, "titre": titre, "log2_titre": math.log2(titre)}
    censor = {"censor": "left" if censored else "none", "limit": 40.0 if censored else None}
    home = 2560.0 if kind == "hi" else 2600.0
    first = home / (2 if kind == "hi" else 1.7) ** (int(serum_id[1:]) - 1)
    drop = math.log2(max(first, 40.0)) - row["log2_titre"]
    return {**row, **censor, "n_rep": 2, "homologous_strain_id": "A/Town/1/2023", "log2_drop": drop, "source": "made"}


def _window(window_id: str, reference_id: str, made: Tables) -> list[Row]:
    sequence = next(row["sequence"] for row in made["references"] if row["reference_id"] == reference_id)
    sites = [row["reference_site"] for row in made["numbering"] if row["reference_id"] == reference_id]
    root = {row["reference_site"]: row["reference_wt"] for row in made["numbering"] if row["reference_id"] == "made_a"}
    rows = []
    for position, wt in enumerate(sequence, 1):
        for mt in AMINO_ACIDS.replace(wt, ""):
            seen = (position + ord(mt)) % 3
            before, after = (None, 0) if seen == 0 else (position * seen, position * 2)
            counts = {"count_T": before, "count_T1": after, "n_seq_T": 10_000, "n_seq_T1": 20_000}
            ratios = {"freq_T": None if before is None else before / 10_000, "freq_T1": after / 20_000}
            site = sites[position - 1]
            first = root.get(site)
            labels = {
                "is_reversion": first is not None and mt == first and wt != first,
                "is_novel": False,
                "is_emergent": False,
            }
            named = {"window_id": window_id, "reference_id": reference_id, "mutation": f"{wt}{position}{mt}"}
            words = {"label_rule": "made", "source": "made", "data_cutoff": "2022-12-31"}
            rows.append(
                {**named, "ref_site": site, **counts, **ratios, "observed_T": before is not None, **labels, **words}
            )
    return rows


def titres(made: Tables, kind: str) -> list[Row]:
    """The rows of one kind of assay."""
    return [row for row in made["neutralisation"] if row["assay"] == kind]


def retitre(row: Row, titre: float) -> None:
    """Another titre, with its logarithm."""
    row.update(titre=titre, log2_titre=math.log2(titre), log2_drop=None)


def test_clean_tables_fire_nothing(tmp_path: Path) -> None:
    results = run(folder(tmp_path, made_tables(), DATASET))
    assert failed(results) == {}
    assert not [name for name, result in results.items() if result.status == "not_applicable"]


def test_every_check_has_a_planted_defect() -> None:
    ours = {check.name for check in CHECKS.checks if check.name[:3] in {"C17", "C18", "C19", "C20", "C21"}}
    assert ours == {param.values[0] for param in PLANTS}


@plant("C17_censoring")
def flag_without_limit(made: Tables) -> None:
    next(row for row in made["neutralisation"] if row["censor"] == "left")["limit"] = None


@plant("C17_censoring")
def an_unknown_flag(made: Tables) -> None:
    made["neutralisation"][0]["censor"] = "<"


@plant("C17_censoring")
def half_the_limit(made: Tables) -> None:
    retitre(next(row for row in made["neutralisation"] if row["censor"] == "left"), 20.0)


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


@plant("C18_once")
def an_exact_copy(made: Tables) -> None:
    made["neutralisation"].append(dict(made["neutralisation"][0]))


@plant("C18_once")
def a_second_measurement(made: Tables) -> None:
    made["neutralisation"].append({**made["neutralisation"][0], "titre": 1280.0, "log2_titre": math.log2(1280)})


@plant("C18_spread")
def four_fold_apart(made: Tables) -> None:
    copy = {**made["neutralisation"][0], "source": "other"}
    retitre(copy, 320.0)
    made["neutralisation"].append(copy)


@plant("C19_strain")
def a_strain_without_a_sequence(made: Tables) -> None:
    made["viruses"][3]["sequence"] = ""


@plant("C19_strain")
def a_name_that_does_not_join(made: Tables) -> None:
    made["neutralisation"][4]["strain_id"] = "A/Town/03/2023"


@plant("C19_strain")
def an_unknown_immunogen(made: Tables) -> None:
    made["neutralisation"][4].update(homologous_strain_id="A/Nowhere/1/2023", log2_drop=None)


@plant("C19_sequence")
def an_unknown_residue(made: Tables) -> None:
    made["viruses"][3]["sequence"] = made["viruses"][3]["sequence"][:-1] + "X"


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


@plant("C20_log2")
def another_logarithm(made: Tables) -> None:
    made["neutralisation"][0]["log2_titre"] = math.log10(made["neutralisation"][0]["titre"])


@plant("C20_log2")
def a_drop_from_another_strain(made: Tables) -> None:
    made["neutralisation"][6]["log2_drop"] += 1


@plant("C20_unit")
def logarithms_as_titres(made: Tables) -> None:
    for row in titres(made, "seqneut"):
        retitre(row, row["log2_titre"])


@plant("C21_candidates")
def unseen_candidates_left_out(made: Tables) -> None:
    made["emergence"] = [row for row in made["emergence"] if row["observed_T"]]


@plant("C21_wild_type")
def letters_of_another_reference(made: Tables) -> None:
    row = made["emergence"][0]
    row["mutation"] = ("A" if row["mutation"][0] != "A" else "C") + row["mutation"][1:]


@plant("C21_absent")
def absent_as_zero(made: Tables) -> None:
    next(row for row in made["emergence"] if not row["observed_T"])["count_T"] = 0


@plant("C21_time")
def periods_exchanged(made: Tables) -> None:
    for row in made["emergence"]:
        row["window_id"] = "-".join(reversed(row["window_id"].split("-")))


@plant("C21_time")
def data_that_end_early(made: Tables) -> None:
    for row in made["emergence"]:
        row["data_cutoff"] = "2022-08-31"


@plant("C21_denominator")
def the_sum_of_counts(made: Tables) -> None:
    total = sum(row["count_T"] or 0 for row in made["emergence"] if row["window_id"] == "2020-2021")
    for row in made["emergence"]:
        if row["window_id"] == "2020-2021":
            row["n_seq_T"] = total


@plant("C21_denominator")
def several_denominators(made: Tables) -> None:
    made["emergence"][0]["n_seq_T1"] = 20_001


@plant("C21_frequency")
def frequency_of_another_period(made: Tables) -> None:
    row = next(row for row in made["emergence"] if row["observed_T"])
    row["freq_T"] = row["count_T"] / row["n_seq_T1"]


@plant("C21_frequency")
def more_than_all_sequences(made: Tables) -> None:
    next(row for row in made["emergence"] if row["observed_T"]).update(count_T=10_001, freq_T=1.0001)


@plant("C21_labels")
def novel_but_seen_before(made: Tables) -> None:
    next(row for row in made["emergence"] if row["count_T"])["is_novel"] = True


@plant("C21_labels")
def a_label_without_a_rule(made: Tables) -> None:
    made["emergence"][0]["label_rule"] = ""


@plant("C21_reversion")
def an_unflagged_reversion(made: Tables) -> None:
    next(row for row in made["emergence"] if row["is_reversion"])["is_reversion"] = False


@pytest.mark.parametrize(("check", "defect"), PLANTS)
def test_planted_defect_is_found(check: str, defect: Callable[[Tables], None], tmp_path: Path) -> None:
    made = made_tables()
    defect(made)
    result = run(folder(tmp_path, made, DATASET), check)[check]
    assert result.status == "failed", result
    assert result.failures >= 1


def test_months_are_periods_too(tmp_path: Path) -> None:
    made = made_tables()
    for row in made["emergence"]:
        row["window_id"] = {"2020-2021": "2020-01/2020-06", "2021-2022": "2021-01/2022-12"}[row["window_id"]]
    assert failed(run(folder(tmp_path, made, DATASET), "C21_time")) == {}


def _real(path: Path, separator: str, names: dict[str, str]) -> pl.DataFrame:
    columns = pl.read_csv(path, separator=separator, infer_schema=False)
    return columns.select(pl.col(old).alias(new) for old, new in names.items()).with_columns(source=pl.lit("real"))


def _read(text: pl.DataFrame, *, flagged: bool) -> list[Row]:
    """Titres as text (`<40`) as rows; without `flagged`, the flags are lost."""
    titre = pl.col("titre").str.strip_chars("<>").cast(pl.Float64)
    sign = {"<": "left", ">": "right"}
    censor = pl.col("titre").str.slice(0, 1).replace_strict(sign, default="none") if flagged else pl.lit("none")
    read = text.with_columns(titre=titre, censor=censor, log2_titre=titre.log(2))
    return read.with_columns(limit=pl.when(pl.col("censor") != "none").then("titre")).to_dicts()


@pytest.mark.real
def test_real_inhibition_titres(shared_file: Callable[[str], Path], tmp_path: Path) -> None:
    """The figures of the notes: 153 repeated keys, 35 of them four-fold apart, two titres of 704."""
    folder_of_it = shared_file("mirror/raw.githubusercontent.com/nextstrain/seasonal-flu")
    (path,) = folder_of_it.glob("*/example_data/cdc_h3n2_cell_hi_titers.tsv")
    names = {"virus_strain": "strain_id", "serum_strain": "serum", "serum_id": "id", "titer": "titre"}
    text = _real(path, "\t", names).with_columns(serum_id=pl.concat_str("serum", pl.lit(" "), "id"), assay=pl.lit("hi"))
    made = folder(tmp_path, {"neutralisation": _read(text, flagged=True)}, DATASET)
    found = failed(run(made, "C17_censoring", "C17_pile_up", "C17_two_fold", "C18_once", "C18_spread"))
    assert found == {"C17_two_fold": 2, "C18_once": 153, "C18_spread": 35}


@pytest.mark.real
@pytest.mark.parametrize("flagged", [True, False])
def test_real_limits_of_detection(shared_file: Callable[[str], Path], tmp_path: Path, flagged: bool) -> None:
    """566 titres of the H3 library lie at its limit of 40: no finding with their flags, one without."""
    path = shared_file("mirror/raw.githubusercontent.com/jbloomlab/flu_H3_2023_seqneut_vs_growth")
    (path,) = path.glob("*/data/H3_seqneut_titers.csv")
    names = {"virus": "strain_id", "serum": "serum_id", "titer": "titre", "titer_bound": "bound"}
    sign = pl.col("bound").replace_strict({"upper": "<", "lower": ">"}, default="")
    text = _real(path, ",", names).with_columns(titre=pl.concat_str(sign, "titre"), assay=pl.lit("seqneut"))
    made = folder(tmp_path, {"neutralisation": _read(text, flagged=flagged)}, DATASET)
    figures = {value.subject: value for value in run(made, "C17_pile_up")["C17_pile_up"].figures}
    assert (figures.get("real seqneut lowest") is None) == flagged
    if not flagged:
        assert figures["real seqneut lowest"].value == 566


@pytest.mark.real
def test_real_limit_coded_as_half(shared_file: Callable[[str], Path], tmp_path: Path) -> None:
    """The DRIVE inhibition titres write 5 for `<10`: 19 of them, beside two of 10."""
    path = shared_file("mirror/raw.githubusercontent.com/jbloomlab/flu_seqneut_DRIVE_2021-22_repeat_vax")
    (path,) = path.glob("*/data/DRIVE_HAI_titers_Hawaii_Y2_H1N1.csv")
    text = _real(path, ",", {"strain": "strain_id", "pID": "serum_id", "titer": "titre"})
    rows = _read(text.with_columns(assay=pl.lit("hi")), flagged=True)
    results = run(folder(tmp_path, {"neutralisation": rows}, DATASET), "C17_pile_up")
    values = {each.subject: each.value for each in results["C17_pile_up"].figures}
    assert values["real hi lowest"] == 9.5
