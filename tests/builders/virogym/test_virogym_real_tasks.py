"""Titres and emergence of the real files: the figures of the project's notes come out of the build and its checks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from made_virogym import failed, folder, run

from builders.sources import Sources
from builders.virogym import strains
from builders.virogym.builder import BUILDER
from builders.virogym.readers.titres import read
from builders.virogym.strains import headers
from builders.virogym.tasks import StrainList, TitreTask

pytestmark = pytest.mark.real

HI, DRIVE, PENN = "FLU_H3N2_HI_NIMR", "FLU_H1N1_seqneut_DRIVE", "FLU_H3N2_seqneut_2023_Penn"
FIRST, SECOND, ALPHA = "SARS2_spike_2020_to_2021", "SARS2_spike_2021_to_2022", "SARS2_spike_Alpha_2021_to_2022"


@pytest.fixture(scope="module")
def tables(real) -> dict[str, pl.DataFrame]:
    return real[1].tables


def of(table: pl.DataFrame, task_id: str) -> pl.DataFrame:
    return table.filter(pl.col("task_id") == task_id)


def test_every_record_is_a_row_a_repeat_or_a_reject(real):
    built = real[1]
    mine = {key: n for key, n in built.read.items() if key[1] in ("neutralisation", "viruses", "emergence")}
    assert mine == {
        ("h3_2023_titres", "neutralisation"): 10_943, ("drive_titres", "neutralisation"): 2_916,
        ("hi_h3n2", "neutralisation"): 1_773, ("h3_2023_proteins", "viruses"): 79,
        ("gisaid_months", "emergence"): 3 * 3_546,
    }  # fmt: skip
    for key, records in mine.items():
        assert records == built.rows[key] + built.merged[key] + built.rejected[key]


def test_the_inhibition_table_has_475_copies_and_a_key_59_times(real, tables):
    rows = of(tables["neutralisation"], HI)
    assert real[1].reasons("hi_h3n2") == {"copy": 475}
    assert rows["n_rep"].max() == 59
    most = rows.sort("n_rep").row(-1, named=True)
    assert most["serum_id"].endswith("A/Perth/16/2009 F35/11")
    assert most["strain_id"].startswith("A/Victoria/361/2011")
    assert Counter(most["replicates"]) == {"80": 37, "160": 19, "40": 3}
    assert most["titre"] == 80
    assert (rows.height, rows.filter(pl.col("censor") == "left").height) == (759, 10)
    assert of(tables["sera"], HI).height == 50
    home = rows.filter(pl.col("strain_id") == pl.col("homologous_strain_id"))
    assert home["serum_id"].n_unique() == 19


def test_its_checks_find_them(tables, tmp_path: Path):
    names = ("neutralisation", "titre_tasks", "sera", "viruses")
    made = folder(tmp_path, {name: tables[name].to_dicts() for name in names})
    results = run(made)
    copies = {value.subject: value.value for value in results["C18_copies"].figures}
    repeats = {value.subject: value.value for value in results["C18_repeats"].figures}
    assert (copies[HI], repeats[HI]) == (475, 59)
    found = {name: n for name, n in failed(results).items() if name[:3] in ("C17", "C18", "C19", "C20")}
    # 704 stands twice; 35 pairs lie four-fold apart; two tasks have strains without a sequence.
    assert found == {"C17_two_fold": 1, "C18_spread": 35, "C19_sequenced": 2}


def test_raw_rows_of_the_inhibition_table_are_found_by_the_checks(shared_file, tmp_path: Path):
    """Without the builder's merging: 153 pairs of serum and strain have several rows."""
    (path,) = shared_file("mirror/raw.githubusercontent.com/nextstrain/seasonal-flu").glob("*/example_data/cdc*.tsv")
    text = pl.read_csv(path, separator="\t", infer_schema=False)
    raw = text.select(
        task_id=pl.lit("raw"), strain_id="virus_strain",
        serum_id=pl.concat_str("serum_strain", pl.lit(" "), "serum_id"),
        titre=pl.col("titer").str.strip_chars("<>").cast(pl.Float64),
    )  # fmt: skip
    result = run(folder(tmp_path, {"neutralisation": raw.to_dicts()}), "C18_once")["C18_once"]
    assert result.failures == 153


def test_limits_are_kept(tables):
    rows = tables["neutralisation"].filter(pl.col("source") == "h3_2023_titres")
    assert dict(rows["censor"].value_counts().iter_rows()) == {"none": 10_326, "left": 591, "right": 26}
    left = rows.filter(pl.col("censor") == "left")
    assert left.filter(pl.col("titre") == 40).height == 566
    assert left.filter(pl.col("titre") > 40).height == 25  # medians of bounded and free replicates
    assert (left["limit"] == left["titre"]).all()
    assert set(of(tables["neutralisation"], DRIVE)["censor"]) == {"none"}


def test_limits_that_lose_their_flag_are_found(shared_file, tables, tmp_path: Path):
    rows = tables["neutralisation"].filter(pl.col("source") == "h3_2023_titres")
    rows = rows.with_columns(censor=pl.lit("none"), limit=pl.lit(None, pl.Float64), task_id=pl.lit("lost"))
    made = folder(tmp_path, {"neutralisation": rows.to_dicts()})
    values = {value.subject: value.value for value in run(made, "C17_pile_up")["C17_pile_up"].figures}
    assert values == {"lost lowest": 566, "lost highest": 26}


def test_a_limit_that_is_coded_as_half(shared_file):
    """The DRIVE inhibition titres write 5 for `<10`: 19 of 60."""
    (path,) = shared_file("mirror/raw.githubusercontent.com/jbloomlab/flu_seqneut_DRIVE_2021-22_repeat_vax").glob(
        "*/data/DRIVE_HAI_titers_Hawaii_Y2_H1N1.csv")  # fmt: skip
    columns = {"serum": ["pID", "timepoint"], "virus": "strain"}
    task = TitreTask("t", "seqneut", "V", "S", "L", "hi", "human", "c", "r", columns=columns, coded={"5": "<10"})
    records = read(task, path.read_text(), "unstated", "x")
    assert dict(records["censor"].value_counts().iter_rows()) == {"left": 19, "none": 41}
    assert records["titre"].min() == 10


def test_replicates_become_the_published_median(shared_file, real):
    """The DRIVE serum with a table of replicates: their median is the aggregated titre."""
    (path,) = shared_file("mirror/raw.githubusercontent.com/jbloomlab/flu_seqneut_DRIVE_2021-22_repeat_vax").glob(
        "*/results/sera/DRIVE_D10007d0/titers_per_replicate.csv")  # fmt: skip
    task = TitreTask("t", "seqneut", "V", "S", "L", "seqneut", "human", "c", "r", sequences="optional")
    records = read(task, path.read_text(), "unstated", "x")
    median = records.group_by("virus").agg(pl.col("titre").median(), pl.len())
    whole = of(real[1].tables["neutralisation"], DRIVE).filter(pl.col("serum_id").str.ends_with("D10007d0"))
    names = real[1].tables["viruses"].select("strain_id", virus=pl.col("aliases").list.first())
    joined = whole.join(names, on="strain_id").join(median, on="virus", suffix="_median")
    assert joined.height == whole.height == 36
    assert (joined["n_rep"] == joined["len"]).all()
    assert ((joined["titre"] / joined["titre_median"]).log().abs() < 1e-3).all()


def test_29_of_145_strains_have_no_sequence(shared_file):
    root = shared_file("mirror/raw.githubusercontent.com/jbloomlab/flu-seqneut-2025")
    (fasta,), (barcodes,) = root.glob("*/data/ha_sequences/*.fasta"), root.glob("*/data/viral_libraries/*.csv")
    known = strains.library(StrainList("H3N2", "s", "ectodomain"), "L", fasta.read_text(), [])
    assert len(known.by_key) == len(headers(fasta.read_text())) == 116
    assert not known.refused
    names = pl.read_csv(barcodes)["strain"].unique().to_list()
    lost = [name for name in names if known.find(name) is None]
    assert (len(lost), len(names)) == (29, 145)
    assert "A/Thailand/8/2022_H3N2" in lost
    assert {strain.name.subtype for strain in known.by_key.values()} == {"H1N1", "H3N2"}


def test_egg_grown_strains_have_their_own_sequences(tables):
    viruses = tables["viruses"].filter(pl.col("span") == "HA0")
    assert viruses.height == 79
    assert viruses["sequence"].str.len_chars().unique().to_list() == [569]
    egg = viruses.filter(pl.col("passage") == "egg")
    assert set(egg["reassortant"].drop_nulls()) == {"NIB-88", "X-223A", "X-307A", "X-327"}
    other = viruses.filter(pl.col("passage") == "unstated").select("canonical_name", "sequence")
    pairs = egg.join(other, on="canonical_name", suffix="_cell")
    assert pairs.height == 6
    assert (pairs["sequence"] != pairs["sequence_cell"]).all()


def test_ferret_titres_of_the_benchmark_are_read_in_their_form(real, build, tmp_path: Path):
    """titers_FCI.csv has the form of the library's other titres; its real sera and strains are at hand."""
    sources = real[0]
    path = tmp_path / "titers_FCI.csv"
    header = "group,serum,virus,titer,titer_bound,titer_sem,n_replicates,titer_as"
    titres = {"A/Croatia/10136RV/2023_H3N2": 640, "A/Victoria/4897/2022_IVR-238_H1N1": 80}
    rows = [f"FCI,FCI_{i},{virus},{titre},interpolated,5,2,midpoint" for i in (4, 15, 17)
            for virus, titre in titres.items()]  # fmt: skip
    path.write_text("\n".join([header, *rows]) + "\n")
    given = Sources.load(BUILDER.folder, mirrors=[str(m) for m in sources._fetcher.mirrors],
                         overrides={"fci_titres": path}, offline=True)  # fmt: skip
    built = build(given, "seqneut_2025")
    sera = built.tables["sera"].sort("serum_id")
    assert sera["immunogen_name"].to_list() == [
        "IVR-238 (A/Victoria/4897/2022)", "A/Norway/07606/2024", "A/Croatia/10136RV/2023"]  # fmt: skip
    assert sera["immunogen_strain_id"].to_list() == [
        "A/Victoria/4897/2022|IVR-238|seqneut_2025", None, "A/Croatia/10136RV/2023|ectodomain"]  # fmt: skip
    drops = built.tables["neutralisation"].filter(pl.col("serum_id").str.ends_with("FCI_4"))["log2_drop"].to_list()
    assert drops == pytest.approx([0, 3])


@pytest.mark.parametrize("table", ["sera", "neutralisation"])
def test_no_birth_year_is_left(real, table):
    kept = real[1].tables[table].write_json() + "".join(each.record + each.place for each in real[1].rejects)
    assert "_y19" not in kept
    assert "_y20" not in kept
    assert real[1].tables["sera"].filter(pl.col("task_id") == PENN).height == 78


def test_the_first_window(tables):
    """24,187 substitutions, 125 emergent, 8 of them novel, 6 with more than one nucleotide."""
    rows = tables["emergence"].filter(pl.col("window_id") == FIRST)
    substitutions = rows.filter(pl.col("mut") != "-")
    assert (rows.height, substitutions.height) == (20 * 1273, 24_187)
    emergent = substitutions.filter("is_emergent")
    assert emergent.height == 125
    assert emergent["is_novel"].sum() == 8
    assert emergent.filter(pl.col("min_nt_dist") > 1).height == 6
    assert dict(rows["status"].value_counts().iter_rows()) == {"counted": 3_542, "absent": 20_645, "not_counted": 1_273}
    assert substitutions["is_emergent"].null_count() == 0
    window = tables["windows"].filter(pl.col("window_id") == FIRST).row(0, named=True)
    assert (window["n_counts_T1"], window["n_seq_kind"]) == (49_657_300, "at_least")
    d614g = rows.filter(pl.col("mutation") == "D614G").row(0, named=True)
    assert 0.99 < d614g["freq_T1"] <= 1
    assert window["n_seq_T1"] < window["n_counts_T1"] / 7


def test_the_second_window(tables):
    """107 emergent, none novel, 38 with more than one nucleotide from Wuhan-Hu-1."""
    rows = tables["emergence"].filter((pl.col("window_id") == SECOND) & (pl.col("mut") != "-"))
    emergent = rows.filter("is_emergent")
    assert (rows.height, emergent.height, emergent["is_novel"].sum()) == (24_187, 107, 0)
    assert emergent.filter(pl.col("min_nt_dist") > 1).height == 38


def test_alpha_has_its_own_candidates(tables):
    rows = tables["emergence"].filter(pl.col("window_id") == ALPHA)
    assert rows.height == 20 * 1270
    back = rows.filter("is_reversion")
    sites = ["501", "570", "614", "681", "716", "982", "1118"]
    assert back["ref_site"].to_list() == sites
    assert back["min_nt_dist"].to_list() == [1] * 7
    assert back["count_T"].null_count() == 7
    assert not set(rows["ref_site"]) & {"69", "70", "144"}
    n501 = rows.filter((pl.col("ref_site") == "501") & (pl.col("mut") == "T")).row(0, named=True)
    assert n501["mutation"] == "Y498T"
    assert n501["min_nt_dist"] == 2  # TAT to ACT; from the root's AAT it is one
