"""The scorer on the real data: BLOSUM62's table, the splits of a site-mean model, titres and emergence."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import matthews_corrcoef, roc_auc_score

from builders.virogym.baselines import alignment, rising, substitutions, supervised, titres
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.scoring import neutralisation
from builders.virogym.scoring.emergence import measure
from builders.virogym.scoring.metrics import Assay

pytestmark = pytest.mark.real

GITHUB = "mirror/raw.githubusercontent.com"
RABV = f"{GITHUB}/dms-vep/RABV_Pasteur_G_DMS/e33449c268e8f2c7e7c9485c8305a0b3cd6e08ca"
MA22 = f"{GITHUB}/dms-vep/Flu_H3_Massachusetts2022_DMS/e5d475b9f90cae654ea5bef792a109c539368c09"
KP311 = f"{GITHUB}/dms-vep/SARS-CoV-2_KP.3.1.1_spike_DMS/893f9a1a7f8d5febc472e33fe392b4be22c76af4"
TRO11 = f"{GITHUB}/dms-vep/HIV_Envelope_TRO11_DMS_3BNC117_10-1074/c5b90f4132bb7077eed6a54ef8d3d45efec54951"
NIPAH = f"{GITHUB}/dms-vep/Nipah_Malaysia_F_DMS/7494cf7049413b4355bac5fe92f9aa74fa387c43"
ZIKV = f"{GITHUB}/jbloomlab/ZIKV_DMS_with_EvansLab/3167ea58c1eb3a156f41bd14de5348906ac68475"
EVESCAPE = f"{GITHUB}/OATML-Markslab/EVEscape/fc312ff0af0e00c516d978f7461423c80ba95b19"
FITNESS = f"{GITHUB}/jbloomlab/SARS2-mut-fitness/e03a31824464d344965508f5450ff55974fd3ff0"
H3_2023 = f"{GITHUB}/jbloomlab/flu_H3_2023_seqneut_vs_growth/bd958c6991cd69041e79ec45191d1968c53b3a60"

TABLE = {
    f"{RABV}/results/func_effects/averages/HEK293T_entry_func_effects.csv": {
        "effect": (8211, 0.317, 0.656, 0.196, 0.260, 0.282, 0.146),
    },
    f"{RABV}/results/summaries/all_antibodies_and_cell_entry.csv": {
        "monoclonal antibodies escape": (6787, 0.048, 0.531, 0.023, 0.108, 0.040, 0.022),
    },
    f"{MA22}/results/func_effects/averages/MDCKSIAT1_entry_func_effects.csv": {
        "effect": (9554, 0.270, 0.641, 0.162, 0.207, 0.195, 0.129),
    },
    f"{MA22}/results/summaries/Phenotypes.csv": {
        "pH stability": (5472, 0.070, 0.532, 0.043, 0.153, 0.031, 0.020),
        "sera escape": (5635, 0.069, 0.534, 0.035, 0.117, 0.062, 0.015),
    },
    f"{KP311}/results/func_effects/averages/293T_high_ACE2_entry_ultracentrifugated_func_effects.csv": {
        "effect": (10975, 0.219, 0.601, 0.146, 0.268, 0.188, 0.126),
    },
    f"{KP311}/results/summaries/all_adult_sera_escape.csv": {
        "adult sera escape": (6569, 0.049, 0.524, 0.018, 0.096, 0.035, 0.038),
    },
    f"{TRO11}/results/func_effects/averages/TZM-bl_entry_func_effects.csv": {
        "effect": (13408, 0.251, 0.632, 0.168, 0.183, 0.230, 0.161),
    },
    f"{NIPAH}/results/func_effects/averages/Nipah-F-CHO-bEFNB3_func_effects.csv": {
        "effect": (8592, 0.332, 0.668, 0.229, 0.277, 0.259, 0.214),
    },
    f"{ZIKV}/results/muteffects/unscaled_muteffects.csv": {
        "log2effect": (9576, 0.259, 0.627, 0.142, 0.248, 0.189, 0.152),
    },
    f"{EVESCAPE}/data/experiments/starr2020/Starr2020_rbd_bind_expr.csv": {
        "bind_avg": (3802, 0.305, 0.641, 0.175, 0.220, 0.238, 0.140),
        "expr_avg": (3798, 0.285, 0.646, 0.198, 0.195, 0.223, 0.155),
    },
    f"{EVESCAPE}/data/experiments/doud2016/Doud2016_h1_replication.csv": {
        "norm_tf_prefs": (10716, 0.288, 0.645, 0.176, 0.199, 0.200, 0.146),
    },
    f"{FITNESS}/results/dms/flynn_mpro_2022/processed.csv": {
        "growth": (5743, 0.209, 0.604, 0.115, 0.131, 0.123, 0.119),
    },
}
"""File -> column -> rows, BLOSUM62's Spearman, AUC, MCC and top 10 %, and the Spearman of Grantham and hydrophobicity.

Bins are at the median. Without NDCG, which in ProteinGym's form depends on the order of rows where BLOSUM62 ties.
"""


def substitutions_of(path: Path, column: str) -> pl.DataFrame:
    """mutant (numbered by row) and score of a table's substitutions, read without the builder."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for i, row in enumerate(rows, 1):
        wt, mt = row.get("wildtype") or row["wt"], row.get("mutant") or row["mut"]
        value = float(row[column] or "nan") if row[column] != "NA" else math.nan
        if wt != mt and wt in AMINO_ACIDS and mt in AMINO_ACIDS and math.isfinite(value):
            found.append((f"{wt}{i}{mt}", value))
    return pl.DataFrame(found, schema=["mutant", "score"], orient="row")


@pytest.mark.parametrize(("name", "column"), [(name, column) for name, columns in TABLE.items() for column in columns])
def test_blosum62_reaches_what_the_notes_found(shared_file, name, column):
    rows = substitutions_of(shared_file(name), column)
    y = rows["score"].to_numpy()
    assay = Assay.of(y, y >= np.median(y))
    found = {each: assay.score(substitutions.score(each, rows["mutant"])) for each in substitutions.MATRICES}
    plain = found["blosum62"]["proteingym"]
    values = [plain[each] for each in ("spearman", "auc", "mcc", "top_recall")]
    others = [found[each]["proteingym"]["spearman"] for each in ("grantham", "hydrophobicity")]
    assert (rows.height, *(round(value, 3) for value in (*values, *others))) == TABLE[name][column]
    # The same once more with scikit-learn, and NDCG of either form within what shuffles of the rows give.
    s = substitutions.score("blosum62", rows["mutant"])
    assert plain["auc"] == pytest.approx(roc_auc_score(y >= np.median(y), s))
    assert plain["mcc"] == pytest.approx(matthews_corrcoef(y >= np.median(y), s >= np.median(s)))
    shuffled = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(y))
        shuffled.append(Assay.of(y[order], assay.bins[order]).score(s[order])["proteingym"]["ndcg"])
    assert min(shuffled) - 0.01 < found["blosum62"]["tie_safe"]["ndcg"] < max(shuffled) + 0.01


@pytest.fixture(scope="module")
def dms(real) -> pl.DataFrame:
    """The registered assays' substitutions."""
    return real[1].tables["variants"].filter(pl.col("kind").is_in(["sub", "multi"]))


@pytest.mark.parametrize(
    ("assay_id", "random", "modulo", "contiguous"),
    [("RABV_cell_entry_Pasteur", 0.78, 0.249, 0.130), ("FLU_cell_entry_H3N2_MA22", 0.78, 0.253, 0.223)],
)
def test_a_site_mean_model_lives_by_memory_of_the_site(dms, assay_id, random, modulo, contiguous):
    """Random folds are other draws than the notes', so two digits."""
    rows = dms.filter(pl.col("assay_id") == assay_id)
    changes = substitutions.changes(rows["mutant"])
    y = rows["score"].to_numpy()
    found = {}
    for split in ("random", "modulo", "contiguous"):
        fold = rows[f"split_{split}"].to_numpy()
        made = supervised.site_mean(changes["position"].to_numpy(), changes["mt"].to_numpy(), y, fold)
        found[split] = np.mean([spearmanr(made[fold == each], y[fold == each])[0] for each in range(5)])
    assert round(found["random"], 2) == random
    assert (round(found["modulo"], 3), round(found["contiguous"], 3)) == (modulo, contiguous)


def test_the_78_sequences_of_zikv_give_a_site_independent_score(real, dms, shared_file):
    references = real[1].tables["references"].filter(pl.col("reference_id") == "ZIKV_E_MR766")
    frequencies = alignment.log_frequencies(shared_file(f"{ZIKV}/data/E_alignment.fasta"), references["sequence"][0])
    rows = dms.filter(pl.col("assay_id") == "ZIKV_viral_growth_MR766")
    assert round(spearmanr(alignment.score(rows["mutant"], frequencies), rows["score"])[0], 3) == 0.197


@pytest.fixture(scope="module")
def candidates(real) -> pl.DataFrame:
    """The labelled candidates of 2020 to 2021, by position and letter, with baselines."""
    rows = real[1].tables["emergence"].filter(pl.col("window_id") == "SARS2_spike_2020_to_2021", pl.col("mut") != "-")
    position = pl.col("mutation").str.extract(r"(\d+)").cast(pl.Int64)
    return rising.with_baselines(rows).with_columns(position=position).sort("position", "mut")


def _evescape(shared_file, candidates: pl.DataFrame, column: str) -> np.ndarray:
    """A published score of each candidate, its lowest where there is none."""
    path = shared_file(f"{EVESCAPE}/results/summaries_with_scores/full_spike_evescape.csv")
    table = pl.read_csv(path, infer_schema_length=None).select(pl.col("i").alias("position"), "mut", column)
    joined = candidates.join(table, on=["position", "mut"], how="left", maintain_order="left")[column]
    return joined.fill_null(joined.min()).to_numpy()


def test_emergence_of_2020_to_2021(candidates, shared_file):
    """Expected values over ties, and the notes' values under the ties that their seed broke."""
    label = candidates["is_emergent"].to_numpy()
    assert (len(label), int(label.sum())) == (24187, 125)
    assert int((candidates["is_emergent"] & (candidates["min_nt_dist"] > 1)).sum()) == 6
    assert int((candidates["is_emergent"] & candidates["is_novel"]).sum()) == 8
    score = {name: candidates[f"score_{name}"].to_numpy() for name in rising.BASELINES}
    evescape = _evescape(shared_file, candidates, "evescape")
    score = {
        "blosum62": score["blosum62"], "codon": score["codon"], "codon_blosum62": score["codon_blosum62"],
        "persistence": score["persistence"], "eve": _evescape(shared_file, candidates, "fitness_eve"),
        "evescape": evescape,
    }  # fmt: skip
    chance = np.random.default_rng(0)
    chance.random(len(label))  # the notes' random model, drawn before
    notes = {}
    for name, values in score.items():
        notes[name] = measure(label, values + 1e-9 * chance.random(len(label)))
    expected = {name: measure(label, values) for name, values in score.items()}

    def shown(found):
        return {name: (round(each["auroc"], 3), round(each["ap"], 3)) for name, each in found.items()}

    assert shown(notes) == {
        "blosum62": (0.696, 0.011), "codon": (0.815, 0.014), "codon_blosum62": (0.845, 0.018),
        "persistence": (0.932, 0.107), "eve": (0.703, 0.015), "evescape": (0.722, 0.017),
    }  # fmt: skip
    assert shown(expected) == {
        "blosum62": (0.694, 0.011), "codon": (0.825, 0.016), "codon_blosum62": (0.844, 0.018),
        "persistence": (0.927, 0.107), "eve": (0.704, 0.015), "evescape": (0.722, 0.017),
    }  # fmt: skip
    assert (round(expected["persistence"]["p@100"], 3), round(expected["persistence"]["r@500"], 3)) == (0.2, 0.368)
    near = measure(label, evescape - 100 * (candidates["min_nt_dist"].to_numpy() > 1))
    assert (round(near["auroc"], 3), round(near["ap"], 3)) == (0.897, 0.053)
    assert (round(near["p@100"], 2), round(near["r@500"], 2)) == (0.10, 0.28)


@pytest.fixture(scope="module")
def h3(shared_file) -> pl.DataFrame:
    """Titres of 2023 with minus the Hamming distance to A/Darwin/9/2021, read without the builder."""
    table = pl.read_csv(shared_file(f"{H3_2023}/data/H3_seqneut_titers.csv"), infer_schema_length=None)
    sequences: dict[str, str] = {}
    name = ""
    for line in shared_file(f"{H3_2023}/data/2023-2024_H3_library_protein_constructs.fasta").read_text().splitlines():
        if line.startswith(">"):
            name = line[1:]
        sequences[name] = sequences.get(name, "") + ("" if line.startswith(">") else line.strip())
    far = {name: -titres.distance(sequence, sequences["A/Darwin/9/2021"]) for name, sequence in sequences.items()}
    return table.with_columns(score=pl.col("virus").replace_strict(far, return_dtype=pl.Float64))


def test_people_neutralise_older_strains_better_so_the_distance_to_the_vaccine_has_the_wrong_sign(h3):
    means = {}
    for (group, _), rows in h3.group_by("group", "serum"):
        censor = (
            rows["titer_bound"].replace_strict({"interpolated": "none", "upper": "left", "lower": "right"}).to_list()
        )
        measured = ["none"] * rows.height  # the notes took limits as titres
        y, s = rows["titer"].log(2).to_numpy(), rows["score"].to_numpy()
        found = (neutralisation.serum(y, measured, s)[0], *neutralisation.serum(y, censor, s))
        means.setdefault(group, []).append(found)
    by_group = {group: np.nanmean(values, axis=0) for group, values in means.items()}
    assert {group: round(value[0], 2) for group, value in by_group.items()} == {
        "PennVaccineCohort": -0.17, "SCH": -0.03, "PooledSera": -0.30,
    }  # fmt: skip
    penn = (
        h3.filter(pl.col("group") == "PennVaccineCohort")
        .group_by("virus")
        .agg(pl.col("titer").log(2).mean(), pl.col("score").first())
    )
    assert round(spearmanr(penn["titer"], penn["score"])[0], 3) == -0.289
    # Concordance with the censored titres is below a half too: it is not the limits that turn the sign.
    assert by_group["PennVaccineCohort"][2] < 0.5


def test_the_builders_titres_say_the_same_of_the_adults_of_penn(real):
    tables = real[1].tables
    rows = tables["neutralisation"].filter(pl.col("task_id") == "FLU_H3N2_seqneut_2023_Penn")
    sequences = dict(tables["viruses"].select("strain_id", "sequence").iter_rows())
    assert rows["homologous_strain_id"].n_unique() == 1
    home = sequences[rows["homologous_strain_id"][0]]
    far = {strain: -titres.distance(sequences[strain], home) for strain in rows["strain_id"].unique()}
    means = rows.group_by("strain_id").agg(pl.col("log2_titre").mean())
    scores = means["strain_id"].replace_strict(far, return_dtype=pl.Float64)
    assert round(spearmanr(means["log2_titre"], scores)[0], 3) == -0.289
