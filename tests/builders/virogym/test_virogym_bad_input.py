"""What goes wrong in real files, planted in the bundled sample: the build says what, or rejects the record."""

from __future__ import annotations

import re

import polars as pl
import pytest

from builders.virogym import make_sample
from builders.virogym.builder import BUILDER
from schemas import GoldsmithError

FOLDER = BUILDER.folder / "sample"
ENTRY = "assay.SAMPLE_cell_entry_G"


@pytest.fixture
def changed(tmp_path, sample):
    """The sample's sources with a file changed: `changed(name, old, new)` or `changed(name, function of the lines)`."""

    def make(name: str, change):
        path = next(FOLDER.glob(f"{name}.*"))
        text = path.read_text()
        lines = text.splitlines()
        new = "\n".join([lines[0], *change(lines[1:])]) + "\n" if callable(change) else text.replace(*change)
        assert new != text
        (tmp_path / path.name).write_text(new)
        return sample(**{name: tmp_path / path.name})

    return make


def shifted(by: int):
    """Every site moved, as by a forgotten signal peptide."""

    def change(lines):
        return [re.sub(r"^-?\d+", lambda site: str(int(site[0]) + by), line) for line in lines]

    return change


def swapped(lines):
    return [",".join([site, mutant, wt, *rest]) for site, wt, mutant, *rest in (line.split(",") for line in lines)]


@pytest.mark.parametrize("by", [18, -7, 1])
def test_an_offset_stops_the_build_and_is_named(changed, build, by):
    with pytest.raises(GoldsmithError) as error:
        build(changed("glycoprotein_entry", shifted(by)), ENTRY)
    said = str(error.value)
    assert said.startswith("[virogym > SAMPLE_cell_entry_G > glycoprotein_entry]")
    assert f"shifted by {-by:+d}" in said
    assert "correct the site map" in said
    assert "\n" not in said


def test_swapped_columns_stop_the_build_and_are_named(changed, build):
    with pytest.raises(GoldsmithError, match="the columns wt and mut are swapped"):
        build(changed("glycoprotein_entry", swapped), ENTRY)


def test_another_assays_file_is_named(sample, build, tmp_path):
    """The right columns, another protein: E's sites and residues in G's file."""
    rows = (FOLDER / "envelope_mutdiffsel.csv").read_text().splitlines()[1:]
    text = "site,wildtype,mutant,effect,effect_std,times_seen,n_selections\n"
    (tmp_path / "other.csv").write_text(text + "".join(f"{row},0.1,3,2\n" for row in rows))
    with pytest.raises(GoldsmithError, match=r"reference SAMPLE_E at 100.0%: it is the file of another assay"):
        build(sample(glycoprotein_entry=tmp_path / "other.csv"), ENTRY)


def test_another_table_is_named_by_its_columns(sample, build):
    with pytest.raises(GoldsmithError, match="has no column `effect`"):
        build(sample(glycoprotein_entry=FOLDER / "glycoprotein_mAb.csv"), ENTRY)


def test_a_mixture_that_nothing_explains_says_so(changed, build):
    def half(lines):
        return lines[:400] + shifted(3)(lines[400:])

    with pytest.raises(
        GoldsmithError, match=r"no shift within 30 sites fits \(best: .*check strain, numbering and file"
    ):
        build(changed("glycoprotein_entry", half), ENTRY)


def test_a_site_map_that_misses_a_site(changed, build):
    """The records at the site are rejected, not lost; 22 of 971 are over the budget, and the message says why."""
    sources = changed("glycoprotein_sites", lambda lines: [line for line in lines if not line.startswith("20,")])
    with pytest.raises(GoldsmithError, match=r"unknown_site 22, unknown_residue 1"):
        build(sources, ENTRY)
    rows = build(sources, "reference.SAMPLE_G").tables["numbering"]
    assert 20 not in rows["sequential_site"].to_list()  # which check C02 finds


@pytest.mark.parametrize("letter", ["-", "X"])
def test_a_gap_or_an_unknown_residue_in_the_sequence(changed, build, letter):
    sequence = (FOLDER / "glycoprotein.fasta").read_text().splitlines()[1]
    with pytest.raises(GoldsmithError, match=f"references > SAMPLE_G. has `{letter}` at position 11"):
        build(changed("glycoprotein", (sequence, sequence[:10] + letter + sequence[11:])))


def test_a_byte_order_mark_changes_nothing(tmp_path, sample, build):
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (FOLDER / "glycoprotein_entry.csv").read_bytes())
    plain, marked = build(sample(), ENTRY), build(sample(glycoprotein_entry=tmp_path / "bom.csv"), ENTRY)
    assert plain.tables["variants"].equals(marked.tables["variants"])


def test_an_empty_file(tmp_path, sample, build):
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(GoldsmithError, match="is empty: fetch the file again"):
        build(sample(glycoprotein_entry=tmp_path / "empty.csv"), ENTRY)


def test_a_file_cut_off_in_a_record(tmp_path, sample, build):
    whole = (FOLDER / "glycoprotein_entry.csv").read_bytes()
    (tmp_path / "cut.csv").write_bytes(whole[:20_003])
    with pytest.raises(GoldsmithError, match="ends within a record"):
        build(sample(glycoprotein_entry=tmp_path / "cut.csv"), ENTRY)


def test_duplicates_with_other_scores_stay_for_the_check(changed, build):
    """Averaging them would hide them: 5 % of the rows again, with another value."""

    def twice(lines):
        again = [",".join([*line.split(",")[:3], "0.123", *line.split(",")[4:]]) for line in lines[::20]]
        return lines + again

    rows = build(changed("glycoprotein_entry", twice), ENTRY).variants("SAMPLE_cell_entry_G")
    assert rows.height - rows["variant_id"].n_unique() >= 40


def test_sample_is_made_by_the_program(tmp_path, monkeypatch):
    monkeypatch.setattr(make_sample, "FOLDER", tmp_path)
    make_sample.main()
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix != ".toml"}


def test_the_sample_shows_every_kind_and_phenotype_and_accounts_for_every_record(sample, build):
    built = build(sample())
    rows = built.tables["variants"]
    assert set(rows["kind"]) == {"sub", "multi", "del", "ins", "stop", "syn", "wt"}
    assert set(built.tables["assays"]["phenotype"]) == {
        "antibody_escape", "sera_escape", "binding", "cell_entry", "expression", "stability", "viral_growth",
    }  # fmt: skip
    reasons = {reject.reason for reject in built.rejects}
    assert reasons == {
        "no_score", "stop_site", "unknown_residue", "unsupported_change", "wild_type", "sequence_mismatch",
        "copy", "no_titre", "bad_sequence", "no_candidate", "not_counted",
    }  # fmt: skip
    for key, records in built.read.items():
        assert records == built.rows[key] + built.merged[key] + built.rejected[key]
    flipped = rows.filter(pl.col("assay_id") == "SAMPLE_stability_C")
    assert (flipped["score"] == -flipped["score_raw"]).all()
    turned = {"-2", "-1", "1", "16a", "16b", "9"}
    assert turned <= set(rows["ref_site"].explode())
