"""The real assays: the measured facts of the project's notes, on the rows that are built."""

from __future__ import annotations

import polars as pl
import pytest
from scipy.stats import spearmanr

from builders.sources import Sources
from builders.virogym import diagnose, references, registry, resolve
from builders.virogym.builder import BUILDER
from builders.virogym.readers import read
from builders.virogym.substitution import BLOSUM62
from builders.virogym.tables import read_table
from schemas import GoldsmithError

pytestmark = pytest.mark.real

KNOWN = registry.read_registry(BUILDER.folder / "assays.toml")


def table(sources: Sources, name: str) -> pl.DataFrame:
    return read_table(sources.text(name), name)


def values_of(real, assay_id: str, column: str = "score") -> dict[str, float]:
    return dict(real[1].variants(assay_id).select("mutant", column).rows())


def read_as(sources: Sources, like: str, **changes) -> pl.DataFrame:
    """The usable rows of another file, read with a registered entry but for some keys."""
    entry = registry.entry(registry.AssayEntry, like, {**registry.form(KNOWN.assays[like]), **changes})
    reference = references.load(entry.reference, KNOWN.references[entry.reference], sources)
    records = read(entry, sources.text(entry.source), reference, "test")
    return resolve.resolve(records, reference, entry).filter(pl.col("reason").is_null())


def test_every_registered_assay_is_built_from_its_own_column(real):
    assert set(real[1].tables["assays"]["assay_id"]) == set(KNOWN.assays)
    assert len(KNOWN.assays) == 23
    assert real[1].tables["references"].height == len(KNOWN.references) == 11  # two of them are of emergence windows
    said = f"registers 23 assays of 6 proteins of 5 viruses, {real[1].tables['variants'].height:,} variants"
    assert said in (BUILDER.folder / "README.md").read_text()


def test_all_wild_types_match(real):
    """With the maps: 100 %, and not because what does not match was rejected."""
    sequences = dict(real[1].tables["references"].select("reference_id", "sequence").rows())
    of_assay = dict(real[1].tables["assays"].select("assay_id", "reference_id").rows())
    rows = (
        real[1]
        .tables["variants"]
        .with_columns(
            pl.col("mutant").str.extract_all(r"[A-Z]\d+").alias("places"),
        )
    )
    for assay_id, places in rows.select("assay_id", "places").explode("places").unique().rows():
        assert sequences[of_assay[assay_id]][int(places[1:]) - 1] == places[0]
    of_scans = [reject for reject in real[1].rejects if reject.table in ("variants", "numbering")]
    assert {reject.reason for reject in of_scans} == {"no_score", "stop_site"}


def test_the_one_exception_is_a_change_of_the_library(real):
    """Without T332N (position 330) 20 of BG505's 13,400 records do not match."""
    changed = {name for name, entry in KNOWN.references.items() if entry.background}
    assert changed == {"SARS2_spike_BA1", "HIV1_Env_BG505", "SARS2_spike_Alpha"}  # the last one is no library's
    entry = registry.form(KNOWN.references["HIV1_Env_BG505"])
    plain = references.load("plain", registry.entry(registry.ReferenceEntry, "x", {**entry, "background": []}), real[0])
    assay = KNOWN.assays["HIV1_viral_growth_BG505"]
    found = resolve.resolve(read(assay, real[0].text(assay.source), plain, "test"), plain, assay)
    wrong = found.filter(pl.col("reason") == "wrong_residue")
    assert (wrong.height, wrong["site"].unique().to_list(), wrong["wt"].unique().to_list()) == (20, ["332"], ["N"])


def test_rows_in_are_rows_out_merged_and_rejected(real):
    built = real[1]
    for key, records in built.read.items():
        assert records == built.rows[key] + built.merged[key] + built.rejected[key], key
    for name in {assay.source for assay in KNOWN.assays.values()}:
        assays = sum(assay.source == name for assay in KNOWN.assays.values())
        per_line = real[0].text(name).rstrip("\n").count("\n")
        assert built.read[name, "variants"] == assays * per_line


@pytest.mark.parametrize(
    ("assay_id", "rho", "n"),
    [
        ("RABV_cell_entry_Pasteur", 0.317, 8_211),
        ("FLU_cell_entry_H3N2_MA22", 0.270, 9_554),
        ("SARS2_binding_RBD_Wuhan_Hu_1", 0.305, 3_802),
        ("ZIKV_viral_growth_MR766", 0.259, 9_576),
        ("SARS2_cell_entry_KP311", 0.219, 10_975),
        ("SARS2_expression_RBD_Wuhan_Hu_1", 0.285, 3_798),
        ("FLU_viral_growth_H1N1_WSN", 0.288, 10_716),
        ("SARS2_viral_growth_Mpro_Flynn", 0.209, 5_743),
        ("FLU_sera_escape_H3N2_MA22", 0.069, 5_635),
        ("RABV_antibody_escape_Pasteur", 0.048, 6_787),
        ("SARS2_sera_escape_KP311_adult", 0.049, 6_569),
    ],
)
def test_blosum62_agrees_with_the_notes(real, assay_id, rho, n):
    rows = real[1].variants(assay_id).filter(pl.col("kind") == "sub")
    likeness = [BLOSUM62[mutant[0], mutant[-1]] for mutant in rows["mutant"]]
    assert rows.height == n
    assert round(float(spearmanr(likeness, rows["score"]).statistic), 3) == rho


def test_kinds_agree_with_the_notes_audit(real):
    """Rows of the wild type, stops and deletions are kept apart; deletions of one run are one protein."""
    counts = dict(real[1].variants("RABV_cell_entry_Pasteur")["kind"].value_counts().rows())
    assert (counts["wt"], counts["stop"], counts["del"] + 6) == (433, 115, 184)
    counts = dict(real[1].variants("SARS2_cell_entry_KP311")["kind"].value_counts().rows())
    assert (counts["wt"], counts["del"] + 45) == (1_247, 931)  # one each of the audit is on the stop codon's site
    assert real[1].reasons("kp311_entry") == {"stop_site": 5}
    assert real[1].reasons("rbd_binding") == {"no_score": 457}


def test_merged_deletions_make_the_same_protein(real):
    """Either codon of a pair of equal residues lost is one sequence: its row holds both values and their mean."""
    rows = real[1].variants("RABV_cell_entry_Pasteur").filter(pl.col("replicates").is_not_null())
    assert rows["replicates"].list.len().sum() - rows.height == 6
    for kind, score, replicates in rows.select("kind", "score_raw", "replicates").rows():
        assert kind == "del"
        assert score == pytest.approx(sum(replicates) / len(replicates))
    copies = real[1].tables["proteingym"]
    assert copies.group_by("DMS_id", "mutated_sequence").len()["len"].max() == 1


def test_starrs_four_formats_agree(real):
    """MaveDB (built), dms-view and EVEscape's table hold the same numbers; SARS2-mut-fitness has newer ones."""
    sources = real[0]
    view, evescape = table(sources, "rbd_dms_view"), table(sources, "evescape_rbd")
    for condition, column, assay_id, n in (
        ("ACE2-binding", "bind_avg", "SARS2_binding_RBD_Wuhan_Hu_1", 3_802),
        ("expression", "expr_avg", "SARS2_expression_RBD_Wuhan_Hu_1", 3_798),
    ):
        one = view.filter(pl.col("condition") == condition).select(
            site="label_site", mut="mutation", x=pl.col("mut_delta_effect").cast(float, strict=False)
        )
        two = evescape.select("mut", site="i", y=pl.col(column).cast(float, strict=False))
        both = one.join(two, on=["site", "mut"]).drop_nulls()
        assert both.height == (4_003 if condition == "ACE2-binding" else 3_999)
        assert (both["x"] == both["y"]).all()
        columns = {"site": "label_site", "mut": "mutation", "score": "mut_delta_effect"}
        again = read_as(sources, assay_id, source="rbd_dms_view", reader="dmsvep", sites="reference", columns=columns,
                        filters={"condition": condition})  # fmt: skip
        built = values_of(real, assay_id)
        shared = dict(again.filter(pl.col("kind") == "sub").select("mutant", "score").rows())
        assert len(shared) == n
        assert all(built[mutant] == value for mutant, value in shared.items())
    other = read_as(sources, "SARS2_binding_RBD_Wuhan_Hu_1", source="fitness_rbd", reader="dmsvep", sites="reference",
                    columns={"score": "ACE2 affinity"})  # fmt: skip
    built = values_of(real, "SARS2_binding_RBD_Wuhan_Hu_1")
    pairs = [(value, built[mutant]) for mutant, value in other.select("mutant", "score").rows() if mutant in built]
    assert spearmanr(pairs).statistic == pytest.approx(0.967, abs=0.005)


def test_the_published_mean_of_two_libraries_is_their_mean(real):
    rows = real[1].variants("SARS2_binding_RBD_Wuhan_Hu_1")
    off = rows.select((pl.col("replicates").list.mean() - pl.col("score_raw")).abs()).to_series()
    assert off.max() < 0.0101  # the published mean is of values that were not rounded
    assert rows["n_rep"].value_counts().sort("n_rep").rows() == [(1, 21), (2, 3_781)]


def test_ic90_folds_are_the_same_measurement(real):
    """17C7's fold changes are the escape model's values in log2: no second assay. So escape is a natural logarithm."""
    columns = {"score": "log2 fold change IC90 median", "n_obs": "times_seen", "n_rep": "n_models"}
    folds = read_as(real[0], "RABV_antibody_escape_Pasteur_17C7", source="rabv_17C7_icXX", columns=columns)
    built = values_of(real, "RABV_antibody_escape_Pasteur_17C7")
    pairs = [(built[mutant], value) for mutant, value in folds.select("mutant", "score").rows() if mutant in built]
    assert len(pairs) == len(built)
    assert all(value == pytest.approx(escape / 0.693147, rel=2e-3, abs=1e-4) for escape, value in pairs)
    assert KNOWN.assays["RABV_antibody_escape_Pasteur_17C7"].unit == "ln"


def test_zikas_preferences_are_the_same_measurement(real):
    """log2 ratios of the rescaled preferences are proportional to the registered effects."""
    prefs = read_as(real[0], "ZIKV_viral_growth_MR766", source="zikv_prefs", columns={}, transform="log2_wt")
    assert prefs.height == 10_080
    built = values_of(real, "ZIKV_viral_growth_MR766")
    pairs = prefs.select("mutant", "score").rows()
    ratios = [value / built[mutant] for mutant, value in pairs if abs(built[mutant]) > 0.01]
    assert max(ratios) - min(ratios) < 1e-3 * ratios[0]


def test_summaries_hold_the_same_values(real):
    """The stability and entry columns of MA22's summary are those of the registered files."""
    built = values_of(real, "FLU_stability_H3N2_MA22")
    columns = {"score": "pH stability"}
    again = read_as(real[0], "FLU_stability_H3N2_MA22", source="ma22_summary", columns=columns, replicates=[])
    shared = again.filter(pl.col("kind") == "sub").select("mutant", "score").rows()
    assert len(shared) == 5_472
    assert all(built[mutant] == value for mutant, value in shared)


def test_alignment_agrees_with_the_site_maps(real):
    """All 1,247 sites of KP.3.1.1 and 1,249 of BA.1: insertions have a letter and no partner."""
    for reference_id, n in (("SARS2_spike_KP311", 1_247), ("SARS2_spike_BA1", 1_249), ("SARS2_RBD_Wuhan_Hu_1", 201)):
        rows = real[1].tables["numbering"].filter(pl.col("reference_id") == reference_id)
        whole = pl.col("reference_site").cast(pl.Int32, strict=False)
        assert rows.select((whole.eq_missing(pl.col("aligned_site"))).sum()).item() == n == rows.height
    sites = real[1].tables["numbering"].filter(pl.col("reference_id") == "SARS2_spike_KP311")["reference_site"]
    assert {"16a", "16b", "16c", "16d"} < set(sites)


def test_proteins_and_coding_sequences_agree(real):
    for name in ("rabv", "ma22", "kp311"):
        pair = [
            references.load("x", registry.ReferenceEntry(f"{name}_{kind}", "m", "n", alphabet=kind), real[0]).sequence
            for kind in ("protein", "codon")
        ]
        assert pair[0] == pair[1]
    record = "A0A140D2T1_ZIKV_Sourisseau_2019"
    zikv = registry.ReferenceEntry("proteingym_substitutions", "m", "n", record, "proteingym", span=[291, 794])
    own = references.load("x", KNOWN.references["ZIKV_E_MR766"], real[0]).sequence
    theirs = references.load("x", zikv, real[0]).sequence
    assert len(own) == len(theirs) == 504
    assert sum(a != b for a, b in zip(own, theirs, strict=True)) <= 2


def test_published_counts(real):
    """ProteinGym's numbers of single mutants, where it counts the same rows."""
    published = {
        "SARS2_binding_RBD_Wuhan_Hu_1": "SPIKE_SARS2_Starr_2020_binding",
        "SARS2_expression_RBD_Wuhan_Hu_1": "SPIKE_SARS2_Starr_2020_expression",
        "ZIKV_viral_growth_MR766": "A0A140D2T1_ZIKV_Sourisseau_2019",
    }
    reference = table(real[0], "proteingym_substitutions")
    counts = dict(reference.select("DMS_id", "DMS_number_single_mutants").rows())
    assert {name for name, assay in KNOWN.assays.items() if assay.published} == set(published)
    for assay_id, dms_id in published.items():
        assert KNOWN.assays[assay_id].published == int(counts[dms_id])
        assert real[1].variants(assay_id).filter(pl.col("kind") == "sub").height == int(counts[dms_id])


def test_ba1_needs_its_own_reference(real):
    """Against Wuhan-Hu-1, 94 % of BA.1's wild types match: enough to go unnoticed, not enough to be built."""
    assay = KNOWN.assays["SARS2_cell_entry_BA1"]
    entry = registry.form(KNOWN.references["SARS2_spike_BA1"])
    wuhan = references.load("W", registry.entry(registry.ReferenceEntry, "x", {**entry, "background": []}), real[0])
    found = resolve.resolve(read(assay, real[0].text(assay.source), wuhan, "test"), wuhan, assay)
    known = found.filter(pl.col("site").is_in(wuhan.sites))
    assert diagnose.match(known, "wt", wuhan, "reference") == pytest.approx(0.941, abs=0.0005)
    assert found.filter(pl.col("wt") != "*").height - known.height == 62
    assert diagnose.share_unexpected(found) > BUILDER.reject_budget


def test_ba1s_changes_are_those_of_a_table_that_others_published(shared_file):
    """EVEscape's copy of Beguir et al., Table S5, lists them too, but for the deletion of 211 with L212I, which it
    writes in another way that leaves one residue too many."""
    path = shared_file(
        "mirror/raw.githubusercontent.com/OATML-Markslab/EVEscape/fc312ff0af0e00c516d978f7461423c80ba95b19/"
        "data/experiments/neutralization/Beguir_etal_2023_BioNtech_TableS5.csv"
    )
    listed = dict(read_table(path.read_text(encoding="utf-8-sig"), "S5").select("Lineage", "Mutations").rows())["BA.1"]
    theirs = {word.replace("-", "del").replace("ins214EPE", "R214_D215insEPE") for word in listed.split()}
    ours = set(KNOWN.references["SARS2_spike_BA1"].background)
    assert (ours - theirs, theirs - ours) == ({"N211del", "L212I"}, {"N211I", "L212V"})


def test_without_a_map_sites_are_not_positions(real):
    """5 % of RABV's and 10 % of KP.3.1.1's wild types match when sites are taken for positions."""
    for assay_id, share in (("RABV_cell_entry_Pasteur", 0.053), ("SARS2_cell_entry_KP311", 0.099)):
        assay = KNOWN.assays[assay_id]
        entry = registry.form(KNOWN.references[assay.reference])
        plain = references.load("x", registry.entry(registry.ReferenceEntry, "x", {**entry, "map": None}), real[0])
        records = read(assay, real[0].text(assay.source), plain, "test")
        found = resolve.resolve(records, plain, assay)
        numbers = found.filter(pl.col("site").str.contains(r"^\d+$"))
        assert diagnose.match(numbers, "wt", plain, "reference") == pytest.approx(share, abs=0.02)


def test_another_assays_file_is_recognised(real, tmp_path, shared_file):
    """MA22's entry table in place of RABV's: same columns, another protein."""
    mirror, own = [str(shared_file("mirror"))], {"rabv_entry": real[0].path("ma22_entry")}
    swapped = Sources.load(BUILDER.folder, mirrors=mirror, cache=tmp_path, offline=True, overrides=own)
    shard = next(shard for shard in BUILDER.plan(swapped) if shard.name == "assay.RABV_cell_entry_Pasteur")
    with pytest.raises(GoldsmithError, match=r"reference FLU_HA_MA22 at 100.0%: it is the file of another assay"):
        list(BUILDER.build(shard, swapped.only(shard.inputs)))


def test_variants_are_the_same_protein_in_every_assay_of_a_reference(real):
    one, two = (real[1].variants(name) for name in ("SARS2_cell_entry_KP311", "SARS2_binding_KP311"))
    both = one.join(two, on="variant_id")
    assert both.height > 8_000
    assert (both["mutant"] == both["mutant_right"]).all()
    assert (both["split_random"] == both["split_random_right"]).all()


def test_folds_are_balanced_and_follow_sites(real):
    rows = real[1].variants("RABV_cell_entry_Pasteur").filter(pl.col("kind") == "sub")
    sizes = rows["split_random"].value_counts()["count"]
    assert sizes.min() > 0.9 * rows.height / 5
    place = rows.with_columns(pos=pl.col("mutant").str.slice(1).str.head(-1).cast(int))
    assert (place["split_modulo"] == place["pos"] % 5).all()
    assert place.sort("pos")["split_contiguous"].is_sorted()
    assert set(place["split_contiguous"]) == set(range(5))
    wild_type = real[1].variants("RABV_cell_entry_Pasteur").filter(pl.col("kind") == "wt")
    assert wild_type.select("split_random", "split_modulo", "split_contiguous", "bin").null_count().row(0) == (433,) * 4


def test_homologous_proteins_share_a_cluster(real):
    rows = real[1].tables["references"].select("reference_id", "cluster_30", "cluster_90").rows()
    at_30 = {name: cluster for name, cluster, _ in rows}
    spike = {name for name, cluster in at_30.items() if cluster == at_30["SARS2_spike_KP311"]}
    of_windows = {"SARS2_spike_Wuhan_Hu_1", "SARS2_spike_Alpha"}
    assert spike == {"SARS2_spike_KP311", "SARS2_spike_BA1", "SARS2_RBD_Wuhan_Hu_1"} | of_windows
    assert at_30["FLU_HA_MA22"] == at_30["FLU_HA_WSN"]
    assert len(set(at_30.values())) == 6
    assert len({cluster for *_, cluster in rows}) == 7


def test_only_what_may_be_passed_on(tmp_path, shared_file):
    mirror = [str(shared_file("mirror"))]
    some = Sources.load(BUILDER.folder, mirrors=mirror, cache=tmp_path, offline=True, redistributable_only=True)
    names = [shard.name for shard in BUILDER.plan(some)]
    assert len([name for name in names if name.startswith(("reference.", "assay."))]) == 24
    assert not [name for name in names if "RABV" in name or "ZIKV" in name]
