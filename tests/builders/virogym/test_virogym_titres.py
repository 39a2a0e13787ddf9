"""Titre tables: names of strains, limits, copies and repeats, homologous titres, and nothing of the donors."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.explain import explain
from builders.virogym import strains, titres
from builders.virogym.builder import BUILDER
from builders.virogym.readers.titres import immunogens, read
from builders.virogym.tasks import StrainList, TitreTask
from schemas import DatasetFolder, GoldsmithError

DONOR = re.compile(r"(19|20)\d\d-\d\d|y(19|20)\d\d|14\.5|collection|\bage|\bsex", re.IGNORECASE)
FASTA = ">A/Town/1/2020_H3N2_AB123456\nMKL\n>A/Town/2/2020\nMKV\n>A/Town/2/2020X-9\nMRV\n"


def task(**changes) -> TitreTask:
    """A task; the reader is `seqneut` unless changed."""
    given = {"source": "t", "reader": "seqneut", "virus": "V", "study": "S", "strains": "L", "assay": "seqneut",
             "species": "human", "cohort": "c", "readout": "r"}  # fmt: skip
    return TitreTask(**{**given, **changes})


def seqneut(*rows: str) -> str:
    return "\n".join(["group,serum,virus,titer,titer_bound,titer_sem,n_replicates", *rows]) + "\n"


def found(known: strains.Strains, spelling: str) -> strains.Strain:
    """The strain of a spelling, which the list must have."""
    strain = known.find(spelling)
    assert strain is not None, spelling
    return strain


def assembled(text: str, entry: TitreTask, fasta: str = FASTA) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
    records = read(entry, text, "unstated", "x")
    known = strains.library(StrainList("H3N2", "s", "HA1"), "L", fasta, [])
    return titres.assemble(titres.resolved(records, entry, known).filter(pl.col("reason").is_null()))


@pytest.mark.parametrize(
    ("spelling", "name", "grown", "subtype", "accession"),
    [
        ("A/Thailand/08/2022", "A/Thailand/8/2022", "", None, None),
        ("A/Thailand/8/2022_H3N2", "A/Thailand/8/2022", "", "H3N2", None),
        ("A/Thailand/8/2022 (H3N2)", "A/Thailand/8/2022", "", "H3N2", None),
        ("A/DE/DE-DHSS-901/2025_(H3N2)_H3N2_PV195781", "A/DE/DE-DHSS-901/2025", "", "H3N2", "PV195781"),
        ("A/Maryland/64/2024_H1N1_PV283376_A156T_K53N", "A/Maryland/64/2024", "", "H1N1", "PV283376 A156T K53N"),
        ("A/France/IDF-IPP29542/2023-egg_H3N2", "A/France/IDF-IPP29542/2023", "egg", "H3N2", None),
        ("A/HongKong/4801/2014egg", "A/HongKong/4801/2014", "egg", None, None),
        ("A/Texas/50/2012X-223A", "A/Texas/50/2012", "X-223A", None, None),
        ("A/Switzerland/9715293/2013NIB-88_H3N2", "A/Switzerland/9715293/2013", "NIB-88", "H3N2", None),
        ("A/Brisbane/02/2018_IVR-190_H1N1", "A/Brisbane/2/2018", "IVR-190", "H1N1", None),
        ("IVR-238 (A/Victoria/4897/2022)", "A/Victoria/4897/2022", "IVR-238", None, None),
        ("A/Uganda/UVRI_KIS6850_2024_H1N1_PV221151_K53N", "A/Uganda/UVRI_KIS6850_2024", "", "H1N1", "PV221151 K53N"),
        ("A/Malaysia/IMR-SARI1989/2023", "A/Malaysia/IMR-SARI1989/2023", "", None, None),
        ("A/Zero/000/2020", "A/Zero/0/2020", "", None, None),
    ],
)
def test_spellings(spelling, name, grown, subtype, accession):
    parsed = strains.parse(spelling)
    assert (parsed.name, parsed.grown, parsed.subtype, parsed.accession) == (name, grown, subtype, accession)
    assert parsed.passage == ("egg" if grown else "unstated")


@given(st.text(max_size=60))
def test_a_canonical_name_is_its_own(text):
    once = strains.parse(text)
    assert strains.parse(text) == once
    assert strains.parse(once.name.replace("/", "/00")).key[0].count("/") == once.key[0].count("/")


@pytest.mark.parametrize(
    ("history", "passage"),
    [("MDCK2/SIAT1", "cell"), ("S1", "cell"), ("E4", "egg"), ("E3/MDCK1", "egg"), ("egg", "egg"), ("cell", "cell"),
     ("", "unstated"), (None, "unstated"), ("clinical specimen", "unstated")],
)  # fmt: skip
def test_passage_histories(history, passage):
    assert strains.passage_of(history, "unstated") == passage


def test_an_egg_strain_is_another_strain():
    known = strains.library(StrainList("H3N2", "s", "HA1"), "L", FASTA, [])
    assert found(known, "A/Town/002/2020").sequence == "MKV"
    assert found(known, "A/Town/2/2020X-9").sequence == "MRV"
    assert known.find("A/Town/2/2020-egg") is None
    assert known.find("A/Town/2/2020", "egg") is None
    assert found(known, "a/town/01/2020_H3N2").strain_id == "A/Town/1/2020|HA1"


def test_sequences_that_cannot_be_joined_are_refused():
    twice = FASTA + ">A/Town/02/2020_H3N2\nMKW\n>A/Odd/1/2020\nMXL\n>A/Town/001/2020\nMKL\n>A/Gap/1/2020\nM-L\n"
    known = strains.library(StrainList("H3N2", "s", "HA1"), "L", twice, [("A/New/1/2020", "cell", "t", "line 2")])
    assert known.find("A/Town/2/2020") is None
    reasons = {(place, reason) for place, _, reason, _ in known.refused}
    assert reasons == {("record A/Town/2/2020", "two_sequences"), ("record A/Town/02/2020_H3N2", "two_sequences"),
                       ("record A/Odd/1/2020", "bad_sequence"), ("record A/Gap/1/2020", "bad_sequence")}  # fmt: skip
    assert found(known, "A/Town/1/2020").more == ("record A/Town/001/2020",)
    new = found(known, "A/New/1/2020")
    assert (new.strain_id, new.sequence, new.span) == ("A/New/1/2020|L", None, None)


def test_bounds_are_kept():
    text = seqneut("g,S1,A/Town/1/2020,40,upper,0,3", "g,S1,A/Town/2/2020,40960,lower,1,3",
                   "g,S2,A/Town/1/2020,81.6,interpolated,6.5,3")  # fmt: skip
    rows, more = assembled(text, task(detection_low=40.0))
    assert rows["censor"].to_list() == ["left", "right", "none"]
    assert rows["limit"].to_list() == [40, 40960, None]
    assert rows["titre"].to_list() == [40, 40960, 81.6]
    assert rows["n_rep"].to_list() == [3, 3, 3]
    assert not more


def test_a_flag_above_the_limit_bounds_by_its_own_titre():
    """The median of bounded and free replicates: 25 rows of the H3N2 library are so."""
    rows, _ = assembled(seqneut("g,S1,A/Town/1/2020,45.3,upper,2,3"), task(detection_low=40.0))
    assert rows.select("censor", "limit", "titre").row(0) == ("left", 45.3, 45.3)


def test_without_a_column_of_bounds_the_limit_is_the_flag():
    text = "serum,virus,titer\nS1,A/Town/1/2020,40\nS1,A/Town/2/2020,41\nS2,A/Town/1/2020,10240\n"
    rows, _ = assembled(text, task(detection_low=40.0, detection_high=10240.0))
    assert rows["censor"].to_list() == ["left", "none", "right"]
    plain, _ = assembled(text, task())
    assert plain["censor"].to_list() == ["none"] * 3


def test_a_coded_limit():
    """The DRIVE inhibition titres write 5 for `<10`."""
    text = "serum,virus,titer\nS1,A/Town/1/2020,5\nS1,A/Town/2/2020,10\n"
    rows, _ = assembled(text, task(coded={"5": "<10"}, assay="hi"))
    assert rows.select("titre", "censor").rows() == [(10.0, "left"), (10.0, "none")]


@pytest.mark.parametrize(
    ("given", "titre", "censor"),
    [
        (["80", "160"], math.sqrt(80 * 160), "none"),
        (["80", "80", "160"], 80, "none"),
        (["<40", "<40", "80"], 40, "left"),
        (["<40", "80", "80"], 80, "none"),
        (["<40", "80"], math.sqrt(40 * 80), "left"),
        ([">5120", "2560"], math.sqrt(5120 * 2560), "right"),
        (["<40", "40"], 40, "left"),
    ],
)
def test_repeats_become_their_median(given, titre, censor):
    header = "virus_strain\tserum_strain\tserum_id\tsource\ttiter"
    lines = [f"A/Town/1/2020\tA/Town/2/2020\tF1/20\treport{i}\t{text}" for i, text in enumerate(given)]
    rows, more = assembled("\n".join([header, *lines]) + "\n", task(reader="nextstrain", assay="hi"))
    assert rows.height == 1
    assert rows["titre"][0] == pytest.approx(titre)
    assert (rows["censor"][0], rows["n_rep"][0]) == (censor, len(given))
    assert rows["replicates"][0].to_list() == given
    assert more == [(0, line) for line in range(3, 2 + len(given))]


def test_a_copy_is_no_repeat():
    header = "virus_strain\tserum_strain\tserum_id\tsource\ttiter\tvirus_passage"
    line = "A/Town/1/2020\tA/Town/2/2020\tF1/20\treport\t80\tSIAT1"
    text = "\n".join([header, line, line, line.replace("report", "other"), line.replace("SIAT1", "E3")]) + "\n"
    records = read(task(reader="nextstrain"), text, "unstated", "x")
    assert records["reason"].to_list() == [None, "copy", None, None]
    assert records["passage"].to_list() == ["cell", "cell", "cell", "egg"]
    rows, _ = assembled(text, task(reader="nextstrain"))
    assert rows["n_rep"].to_list() == [2]  # the egg-grown one has no sequence, and is another strain


@pytest.mark.parametrize(
    ("row", "reason"),
    [("g,S1,A/Town/1/2020,,upper,0,3", "no_titre"), ("g,S1,A/Town/1/2020,NA,upper,0,3", "no_titre"),
     ("g,S1,A/Town/1/2020,-4,upper,0,3", "bad_titre"), ("g,S1,A/Town/1/2020,0,upper,0,3", "bad_titre"),
     ("g,S1,A/Town/1/2020,forty,upper,0,3", "bad_titre"), ("g,S1,A/Town/1/2020,40,above,0,3", "bad_bound"),
     ("g,S1,,40,upper,0,3", "no_strain"), ("g,,A/Town/1/2020,40,upper,0,3", "no_serum")],
)  # fmt: skip
def test_records_that_cannot_be_used(row, reason):
    assert read(task(), seqneut(row), "unstated", "x")["reason"].to_list() == [reason]


def test_a_serum_is_compared_with_its_homologous_titre():
    text = seqneut("g,S1,A/Town/1/2020,160,interpolated,1,3", "g,S1,A/Town/2/2020,40,upper,1,3",
                   "g,S2,A/Town/2/2020,80,interpolated,1,3")  # fmt: skip
    entry = task(target="A/Town/01/2020")
    known = strains.library(StrainList("H3N2", "s", "HA1"), "L", FASTA, [])
    good = titres.resolved(read(entry, text, "unstated", "x"), entry, known)
    people, rule = titres.homologous_strains(titres.sera(good, None), entry, known)
    rows = titres.with_drop(titres.assemble(good)[0], people.select("serum", "homologous_strain_id"))
    assert rule == "target"
    assert rows["log2_drop"].to_list() == [0, 2, None]
    assert set(rows["homologous_strain_id"]) == {"A/Town/1/2020|HA1"}


def test_immunogens_come_from_the_table_of_sera():
    text = "id,age,sex,exposure\nF1,3,F,inoculated with A/Town/01/2020\nF2,4,M,naive\n"
    entry = task(sera_columns={"serum": "id", "immunogen": "exposure"}, immunogen_pattern="with (?P<strain>.+)")
    table = immunogens(entry, text, "x")
    assert table.columns == ["line", "serum", "immunogen"]
    assert table["immunogen"].to_list() == ["A/Town/01/2020", None]


def test_birth_years_leave_and_sera_stay_apart():
    text = seqneut("g,P_y1949_s012_d0,A/Town/1/2020,80,interpolated,1,3")
    assert read(task(serum_drop="_y[0-9]{4}"), text, "unstated", "x")["serum"].to_list() == ["P_s012_d0"]
    two = seqneut("g,P_y1949_s1,A/Town/1/2020,80,interpolated,1,3", "g,P_y1950_s1,A/Town/1/2020,80,interpolated,1,3")
    with pytest.raises(GoldsmithError, match="makes 2 sera one"):
        read(task(serum_drop="_y[0-9]{4}"), two, "unstated", "x")


def test_strains_without_sequences_stop_the_build_and_are_named(sample, build, tmp_path):
    (tmp_path / "few.fasta").write_text(">A/Alder/3/2010_H3N2_XY100000\nMKL\n")
    with pytest.raises(GoldsmithError, match=r"12 of 13 strains have no sequence: A/Birch/10/2011, .*: add the seq"):
        build(sample(hemagglutinin=tmp_path / "few.fasta"), "titres.SAMPLE_seqneut_adults")


def test_a_table_of_another_form_is_named_by_its_columns(sample, build):
    with pytest.raises(GoldsmithError, match="has no column `virus`; its columns are mutation, 2020-01"):
        build(sample(hemagglutinin_titers=BUILDER.folder / "sample" / "emergence_counts.csv"), "titres")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> DatasetFolder:
    """The sample, as a user builds it."""
    from builders.build import build
    from builders.sources import Sources

    out = tmp_path_factory.mktemp("sample") / "virogym"
    build(BUILDER, Sources.load(BUILDER.folder, sample=True, offline=True), out, progress=False)
    return DatasetFolder(out)


@pytest.mark.parametrize("kind", ["data", "rejects", "lineage"])
@pytest.mark.parametrize("table", ["sera", "neutralisation", "titre_tasks", "viruses"])
def test_nothing_of_the_donors_is_in_the_dataset(built, kind, table):
    """Birth years in serum names, and columns of age, sex and date: they are in the sources and nowhere else."""
    raw = "".join((BUILDER.folder / "sample" / name).read_text() for name in
                  ("hemagglutinin_titers.csv", "hemagglutinin_ferrets.csv", "hemagglutinin_sera.csv"))  # fmt: skip
    assert len(DONOR.findall(raw)) > 300
    files = built.path / (f"data/{table}/*.parquet" if kind == "data" else f"{kind}/{table}.parquet")
    frame = pl.read_parquet(files)
    kept = frame.drop("source_sha256", "sha256", strict=False)
    assert not DONOR.search(kept.write_json())
    assert {"age", "sex", "date", "collection_date"}.isdisjoint(frame.columns)


def test_explain_shows_no_line_that_tells_of_a_donor(built, sample):
    for table in ("sera", "neutralisation"):
        rows = pl.read_parquet(built.path / f"lineage/{table}.parquet").filter(pl.col("source") != "hemagglutinin_hi")
        ids = rows.unique("source")["id"].to_list()
        assert len(ids) >= 2
        for row_id in ids:
            shown = explain(built, row_id, sample(), table)
            assert shown.origins[0].problem == "the place cannot be shown: look it up in the source"
            assert not DONOR.search(shown.text())


def test_the_sample_tells_of_its_planted_records(built):
    tasks = pl.read_parquet(built.path / "data/titre_tasks/*.parquet")
    assert dict(tasks.select("task_id", "n_rows_in").iter_rows())["SAMPLE_hi_ferrets"] == 198
    rejects = pl.read_parquet(built.path / "rejects/neutralisation.parquet")
    assert dict(rejects["reason"].value_counts().iter_rows()) == {"copy": 35, "no_titre": 1}
    viruses = pl.read_parquet(built.path / "data/viruses/*.parquet")
    assert viruses.filter(pl.col("passage") == "egg")["reassortant"].to_list() == ["X-31A"]
    sera = pl.read_parquet(built.path / "data/sera/*.parquet").filter(pl.col("task_id") == "SAMPLE_seqneut_ferrets")
    raised = dict(sera.select("immunogen_name", "immunogen_strain_id").iter_rows())
    assert raised["A/Birch/010/2011"] == "A/Birch/10/2011|HA1"
    assert raised["A/Yew/1/2009"] is None
    assert Path(built.path / "data/neutralisation").is_dir()
