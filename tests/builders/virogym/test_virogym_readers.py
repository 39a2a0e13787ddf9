"""Every reader on a few lines of its format."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.virogym import resolve, variants
from builders.virogym.readers import read
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry
from builders.virogym.schema import AMINO_ACIDS
from schemas import GoldsmithError

SEQUENCE = "MAACDEFGHI"
SITES = ("-2", "-1", "1", "2", "3", "3a", "4", "5", "6", "7")
REFERENCE = Reference("R", "gene", SEQUENCE, SITES, (None,) * 10, beyond=(("8", 12, "stop_site"),))


def entry(reader: str, **values) -> AssayEntry:
    given = {
        "source": "s", "virus": "v", "study": "s", "reference": "R", "strain": "s", "protein": "p",
        "phenotype": "cell_entry", "readout": "r", "unit": "log2", "direction": 1, "columns": {"score": "effect"},
    }  # fmt: skip
    return AssayEntry(reader=reader, **{**given, **values})


def resolved(assay: AssayEntry, text: str) -> pl.DataFrame:
    return resolve.resolve(read(assay, text, REFERENCE, "virogym > A > s"), REFERENCE, assay)


def outcome(assay: AssayEntry, text: str) -> list[tuple[str, float]]:
    """(mutant, value) of usable records, (reason, line) of the others."""
    return [
        (reason, line) if reason else (mutant, score)
        for reason, line, mutant, score in resolved(assay, text).select("reason", "line", "mutant", "score").rows()
    ]


# ------------------------------------------------------------------------------------------------------------- dms-vep


def test_dmsvep_rows():
    text = (
        "site,wildtype,mutant,effect,effect_std,times_seen,n_selections\n"
        "-2,M,*,-6.4,3.4,8.25,8\n-2,M,M,0,0,,8\n-1,A,-,-2,0,3,8\n1,A,-,-3,0,3,8\n3a,E,K,0.5,0.1,2,4\n"
        "3a,E,L,NA,,,\n3a,E,V,high,,,\n3a,E,W,inf,,,\n3a,W,L,1,,,\n9,W,L,1,,,\n8,*,L,1,,,\n3a,E,X,1,,,\n3a,E,,1,,,\n"
    )
    columns = {"score": "effect", "sd": "effect_std", "n_obs": "times_seen", "n_rep": "n_selections"}
    assert outcome(entry("dmsvep", columns=columns), text) == [
        ("M1*", -6.4), ("M1M", 0.0), ("A3del", -2.0), ("A3del", -3.0), ("E6K", 0.5), ("no_score", 7), ("bad_score", 8),
        ("bad_score", 9), ("wrong_residue", 10), ("unknown_site", 11), ("stop_site", 12), ("unknown_residue", 13),
        ("missing_field", 14),
    ]  # fmt: skip
    found = resolved(entry("dmsvep", columns=columns), text)
    assert found["kind"].to_list()[:5] == ["stop", "wt", "del", "del", "sub"]
    assert found["hgvs_pro"].to_list()[:5] == ["p.Met1Ter", "p.Met1=", "p.Ala3del", "p.Ala3del", "p.Glu6Lys"]
    assert found["ref_site"].to_list()[:5] == [["-2"], ["-2"], ["1"], ["1"], ["3a"]]
    assert found.row(4, named=True)["sd"] == 0.1


def test_dmsvep_escape_with_replicates():
    text = "site,wildtype,mutant,escape_median,LibA,LibB\n2,C,W,0.4,0.3,0.5\n2,C,Y,0.2,,0.2\n"
    assay = entry("dmsvep", columns={"score": "escape_median"}, replicates=["LibA", "LibB"])
    assert resolved(assay, text)["replicates"].to_list() == [[0.3, 0.5], [0.2]]


def test_dms_view_and_escape_maps_are_filtered_by_condition():
    text = "site,label_site,wildtype,mutation,condition,delta\n4,2,C,W,bind,1\n4,2,C,W,expr,2\n4,2,C,Y,bind,3\n"
    columns = {"site": "label_site", "mut": "mutation", "score": "delta"}
    assert outcome(entry("dmsvep", columns=columns, filters={"condition": "bind"}), text) == [("C4W", 1), ("C4Y", 3)]
    with pytest.raises(GoldsmithError, match="no record has 'fold'"):
        outcome(entry("dmsvep", columns=columns, filters={"condition": "fold"}), text)


def test_a_least_number_of_observations_rejects_and_does_not_hide():
    text = "site,wildtype,mutant,effect,times_seen\n2,C,W,1,1\n2,C,Y,2,3\n2,C,A,3,\n"
    assert outcome(entry("dmsvep", filters={"times_seen": {"min": 2}}), text) == [
        ("filtered", 2), ("C4Y", 2.0), ("filtered", 4),
    ]  # fmt: skip


def test_barcoded_variants_have_several_changes():
    text = "func_score,barcode,aa_substitutions\n0.1,AA,\n-1,AC,C2W D3K\n-2,AG,D3K C2W\n-3,AT,E3aG\n-4,CA,C2W C2Y\n"
    assay = entry("dmsvep", columns={"score": "func_score", "mutant": "aa_substitutions", "replicate": "barcode"})
    assert outcome(assay, text) == [
        ("wild_type", 2), ("C4W:D5K", -1.0), ("C4W:D5K", -2.0), ("E6G", -3.0), ("overlapping_edits", 6),
    ]  # fmt: skip
    usable = resolved(assay, text).filter(pl.col("reason").is_null())
    rows, more = variants.merged(usable)
    assert rows.select("mutant", "score", "replicates", "n_rep").rows() == [
        ("C4W:D5K", -1.5, [-1.0, -2.0], 2.0), ("E6G", -3.0, [-3.0], 1.0),
    ]  # fmt: skip
    assert more == [(0, 4)]


# ---------------------------------------------------------------------------------------------------------- dms_tools2


def test_wide_preferences_become_log_ratios():
    weights = ",".join("0.4" if a == "C" else "0.1" if a == "W" else "0.0" if a == "Y" else "0.03" for a in AMINO_ACIDS)
    text = f"site,wildtype,{','.join(AMINO_ACIDS)}\n2,C,{weights}\n"
    found = resolved(entry("dms_tools2", columns={}, transform="log2_wt"), text)
    values = dict(found.filter(pl.col("reason").is_null()).select("mutant", "score").rows())
    assert (values["C4C"], values["C4W"]) == (0.0, pytest.approx(-2.0))
    assert found.filter(pl.col("mut") == "Y").select("reason", "raw").row(0) == ("bad_score", 0.0)
    assert found.height == 20
    assert set(found["line"]) == {2}


def test_long_preferences_and_diffsel():
    prefs = "site,wt,mut,prefs\n2,C,C,0.5\n2,C,W,0.125\n3,D,K,0.1\n"
    columns = {"score": "prefs", "wt": "wt", "mut": "mut"}
    assay = entry("dms_tools2", columns=columns, transform="log2_wt")
    assert outcome(assay, prefs) == [("C4C", 0.0), ("C4W", -2.0), ("bad_score", 4)]  # site 3 lacks its wild type
    diffsel = "site,wildtype,mutation,mutdiffsel\n2,C,W,7.2\n2,C,C,\n"
    columns = {"score": "mutdiffsel", "mut": "mutation"}
    assert outcome(entry("dms_tools2", columns=columns), diffsel) == [("C4W", 7.2), ("no_score", 3)]


# ---------------------------------------------------------------------------------------------------------- ProteinGym


def changed(*edits: tuple[int, str]) -> str:
    letters = list(SEQUENCE)
    for position, new in edits:
        letters[position - 1] = new
    return "".join(letters)


def test_proteingym_substitutions_and_multi_mutants():
    text = (
        "mutant,mutated_sequence,DMS_score,DMS_score_bin\n"
        f"C4W,{changed((4, 'W'))},1.5,1\nC4W:D5K,{changed((4, 'W'), (5, 'K'))},0.5,0\n"
        f"C4C:D5G,{changed((5, 'G'))},0.2,0\nC4Y,{changed((4, 'W'))},1,1\nC4A:D5K,{changed((4, 'A'))},1,1\n"
        f"D5Y,{changed((5, 'Y'))},,\n"
    )
    assert outcome(entry("proteingym", columns={}, sites="sequential"), text) == [
        ("C4W", 1.5), ("C4W:D5K", 0.5), ("D5G", 0.2), ("sequence_mismatch", 5), ("sequence_mismatch", 6),
        ("no_score", 7),
    ]  # fmt: skip


def test_proteingym_indels_have_no_mutant():
    text = "mutated_sequence,DMS_score\nMAACEFGHI,1\nMACDEFGHI,2\nMAACWDEFGHI,3\nMAACDEFGHI,4\nMAAXDEFGHI,5\n"
    assert outcome(entry("proteingym", columns={}, sites="sequential"), text) == [
        ("D5del", 1.0), ("A3del", 2.0), ("C4_D5insW", 3.0), ("wild_type", 5), ("unknown_residue", 6),
    ]  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- MaveDB


def test_mavedb_is_read_tolerantly():
    text = (
        "accession,hgvs_nt,hgvs_splice,hgvs_pro,score\n"
        "urn:mavedb:00000001-a-1#1,NA,NA,p.Cys4Trp,1\nurn:mavedb:00000001-a-1#2,NA,NA,p.Cys4*,-6\n"
        "urn:mavedb:00000001-a-1#3,NA,NA,p.(Cys4Tyr),2\nurn:mavedb:00000001-a-1#4,NA,NA,p.Cys4=,0.1\n"
        "urn:mavedb:00000001-a-1#5,NA,NA,_wt,0\nurn:mavedb:00000001-a-1#6,NA,NA,p.Cys4Xaa,0\n"
        'urn:mavedb:00000001-a-1#7,NA,NA,"p.[Cys4Trp;Asp5Lys]",3\nurn:mavedb:00000001-a-1#8,NA,NA,p.Cys4del,4\n'
        "urn:mavedb:00000001-a-1#9,NA,NA,p.Glu6fs,4\nurn:mavedb:00000001-a-1#10,NA,NA,RBD:p.Asp5Lys,5\n"
    )
    assay = entry("mavedb", columns={}, sites="sequential", identity="syn", target="RBD")
    assert outcome(assay, text) == [
        ("C4W", 1.0), ("C4*", -6.0), ("C4Y", 2.0), ("C4C", 0.1), ("wild_type", 6), ("unknown_residue", 7),
        ("C4W:D5K", 3.0), ("C4del", 4.0), ("unsupported_change", 10), ("D5K", 5.0),
    ]  # fmt: skip
    assert resolved(assay, text)["kind"].to_list()[3] == "syn"


@pytest.mark.parametrize("spelling", ["NA", "nan", "None", "", "undefined", "n/a", "NULL", "nil", "-", "  "])
def test_missing_values_in_all_spellings(spelling):
    text = f"hgvs_pro,score\np.Cys4Trp,{spelling}\np.Cys4Tyr,1\n"
    assert outcome(entry("mavedb", columns={}, sites="sequential"), text) == [("no_score", 2), ("C4Y", 1.0)]


def test_libraries_are_replicates():
    text = "hgvs_pro,score,average,library\n" + "".join(
        f"p.Cys4{mutant},{score},{average},{library}\n"
        for mutant, score, average, library in [
            ("Trp", -0.05, -0.03, 1), ("Tyr", "NA", -0.5, 1), ("Ala", "NA", "NA", 1),
            ("Trp", -0.02, -0.03, 2), ("Tyr", -0.5, -0.5, 2), ("Ala", "NA", "NA", 2),
        ]
    )  # fmt: skip
    columns = {"score": "score", "replicate": "library"}
    for more_columns, value in (({"average": "average"}, -0.03), ({}, -0.035)):
        assay = entry("mavedb", columns={**columns, **more_columns}, sites="sequential")
        found = resolved(assay, text)
        assert found["reason"].to_list() == [None, "no_score", "no_score", None, None, "no_score"]
        rows, more = variants.merged(found.filter(pl.col("reason").is_null()))
        assert rows.select("mutant", "replicates", "n_rep").rows() == [("C4W", [-0.05, -0.02], 2), ("C4Y", [-0.5], 1)]
        assert rows["score"].to_list() == [pytest.approx(value), -0.5]
        assert more == [(0, 5)]


def test_a_repeat_within_a_library_is_not_averaged_away():
    text = "hgvs_pro,score,library\np.Cys4Trp,1,1\np.Cys4Trp,2,2\np.Cys4Trp,9,2\n"
    assay = entry("mavedb", columns={"score": "score", "replicate": "library"}, sites="sequential")
    rows, more = variants.merged(resolved(assay, text))
    assert rows["score"].to_list() == [1.5, 9.0]
    assert more == [(0, 3)]


# ---------------------------------------------------------------------------------------------------------- EVcouplings


def test_comma_separated_mutants_and_a_segment_called_na():
    text = 'segment,mutant,effect\nNA,C4W,1\nNA,"C4W,D5K",2\nHA,C4Y,3\nNA,wt,0\n'
    assay = entry("evcouplings", sites="sequential", filters={"segment": "NA"})
    assert outcome(assay, text) == [("C4W", 1.0), ("C4W:D5K", 2.0), ("wild_type", 5)]


# ------------------------------------------------------------------------------------------------------------- any file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("site,wildtype,mutant,effect\n", "has a header and no record"),
        ("site,wildtype,mutant,effect\n2,C,W,1\n2,C", "ends within a record"),
        (
            "gene,start,stop\nE,1,2\n",
            "has no column `site`; its columns are gene, start, stop: is it the file of another",
        ),
        ("site,wildtype,mutant,effect\n2,C,W,1,7,8\n", "is no CSV table"),
        ("site,wildtype,mutant,effect,note\n2,C,W,1,5,a\n3,C,W,1,a\n", "is no CSV table"),  # a decimal comma
        ('site,wildtype,mutant,effect,note\n2,C,W,1,a\n3,C,W,1,"cut of', "is no CSV table"),
    ],
)
def test_files_that_cannot_be_read(text, said):
    with pytest.raises(GoldsmithError, match=said) as error:
        outcome(entry("dmsvep"), text)
    assert "virogym > A > s" in str(error.value)


def test_lines_are_those_of_the_file():
    """Blank lines, a byte order mark, carriage returns and quoted line ends do not shift them."""
    text = '\ufeffsite,wildtype,mutant,effect,note\r\n2,C,W,1,a\r\n\r\n2,C,Y,2,"b\r\nc"\r\n2,C,A,NA,d\r\n'
    text = text.replace("\r\n", "\n")
    assert resolved(entry("dmsvep"), text).select("line", "reason").rows() == [(2, None), (4, None), (6, "no_score")]
    crlf = "site,wildtype,mutant,effect\r\n2,C,W,1\r\n2,C,Y,2\r\n"
    assert outcome(entry("dmsvep"), crlf) == [("C4W", 1.0), ("C4Y", 2.0)]


def test_an_unknown_column_key_is_named():
    with pytest.raises(GoldsmithError, match=r"columns > scores\] is unknown"):
        outcome(
            entry("dmsvep", columns={"scores": "effect", "score": "effect"}), "site,wildtype,mutant,effect\n2,C,W,1\n"
        )
    with pytest.raises(GoldsmithError, match=r"columns > score\] is missing"):
        outcome(entry("dmsvep", columns={}), "site,wildtype,mutant,effect\n2,C,W,1\n")


singles = st.integers(1, 10).flatmap(
    lambda i: st.sampled_from(AMINO_ACIDS).map(lambda new: (i, new)).filter(lambda pair: SEQUENCE[i - 1] != pair[1])
)


@given(st.lists(st.lists(singles, min_size=1, max_size=4, unique_by=lambda pair: pair[0]), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_multi_mutants_round_trip_in_every_separator(chosen):
    """The same variants in four formats become the same rows."""
    names = [[f"{SEQUENCE[i - 1]}{i}{new}" for i, new in one] for one in chosen]
    expected = [":".join(sorted(one, key=lambda name: int(name[1:-1]))) for one in names]
    values = range(len(names))
    tables = {
        "proteingym": ("mutant,DMS_score\n", ":", {}),
        "evcouplings": ("mutant,effect\n", ",", {"score": "effect"}),
        "dmsvep": ("words,effect\n", " ", {"mutant": "words", "score": "effect"}),
    }
    for reader, (header, separator, columns) in tables.items():
        text = header + "".join(f'"{separator.join(one)}",{i}\n' for i, one in zip(values, names, strict=True))
        found = resolved(entry(reader, columns=columns, sites="sequential"), text)
        assert found["mutant"].to_list() == expected
        assert found["score"].to_list() == list(map(float, values))
    from builders.virogym.hgvs import THREE

    text = "hgvs_pro,score\n"
    for one, i in zip(names, values, strict=True):
        parts = ";".join(f"{THREE[name[0]]}{name[1:-1]}{THREE[name[-1]]}" for name in one)
        text += f'"p.[{parts}]",{i}\n' if len(one) > 1 else f"p.{parts},{i}\n"
    assert resolved(entry("mavedb", columns={}, sites="sequential"), text)["mutant"].to_list() == expected
