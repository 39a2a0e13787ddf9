"""Predictions through the scorer on a small dataset: what is counted, what is refused, what stands beside it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from scored_virogym import ASSAYS, PARTLY, PROTEINS, write

from builders.build import build
from builders.virogym import baselines
from builders.virogym.builder import BUILDER
from builders.virogym.scoring.predictions import Predictions
from builders.virogym.scoring.score import Scorer, score
from schemas import DatasetFolder, GoldsmithError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> DatasetFolder:
    return write(tmp_path_factory.mktemp("virogym"))


@pytest.fixture(scope="module")
def variants(folder) -> pl.DataFrame:
    return pl.read_parquet(folder.path / "data/variants/*.parquet").filter(pl.col("kind").is_in(["sub", "multi"]))


@pytest.fixture(scope="module")
def some(variants) -> pl.DataFrame:
    """Noisy predictions of all substitutions."""
    noise = np.random.default_rng(0).normal(size=variants.height) * 3
    return variants.select("assay_id", "mutant", score=pl.col("score") + pl.Series(noise))


def _assays(report) -> dict[str, dict]:
    return {each["assay_id"]: each for each in report.to_json()["sections"][0]["assays"]}


def test_each_assay_has_its_own_rank_correlation(folder, some, variants, tmp_path):
    some.write_csv(tmp_path / "p.csv")
    report = score(folder, tmp_path / "p.csv")
    for assay_id, found in _assays(report).items():
        mine = pl.col("assay_id") == assay_id
        expected = spearmanr(some.filter(mine)["score"], variants.filter(mine)["score"])[0]
        assert found["by_model"]["model"]["tie_safe"]["spearman"] == pytest.approx(expected)
        assert found["rows"] == variants.filter(mine).height
    assert set(_assays(report)) == set(ASSAYS)
    assert "assays 3 of 3" in report.text()
    spearman = {each: found["by_model"]["model"]["tie_safe"]["spearman"] for each, found in _assays(report).items()}
    assert {item: value for item, _, value in report.items} == {name: max(0, rho) for name, rho in spearman.items()}


def test_forms_of_the_file_keys_and_the_order_of_its_rows_do_not_matter(folder, some, variants, tmp_path):
    by_id = some.with_columns(variant_id=variants["variant_id"]).select("assay_id", "variant_id", "score")
    shuffled = by_id.sample(fraction=1.0, shuffle=True, seed=1)
    some.write_csv(tmp_path / "a.csv")
    shuffled.write_parquet(tmp_path / "b.parquet")
    shuffled.write_ndjson(tmp_path / "c.jsonl")
    some.write_csv(tmp_path / "d.tsv", separator="\t")
    found = [score(folder, path).to_json() for path in sorted(tmp_path.iterdir())]
    for each in found:
        del each["predictions"]
    assert found[0] == found[1] == found[2] == found[3]


def test_the_predictions_of_the_builder_are_those_of_its_baseline(folder):
    rows = baselines.predict("blosum62", folder, {})
    found = _assays(Scorer(folder).score(Predictions.of("b", "dms", rows)))
    assert set(found) == set(ASSAYS)
    for each in found.values():
        assert each["by_model"]["model"] == each["by_model"]["blosum62"]


def test_a_whole_assay_may_be_left_out_and_is_counted(folder, some):
    rows = some.filter(pl.col("assay_id") != PARTLY)
    report = Scorer(folder).score(Predictions.of("p", "dms", rows)).to_json()
    assert (report["groups"], report["groups_of_dataset"]) == (2, 3)
    assert PARTLY not in {each["assay_id"] for each in report["sections"][0]["assays"]}


def test_predictions_of_stops_are_left_aside_and_counted(folder, some):
    stops = pl.DataFrame({"assay_id": ["A_cell_entry"], "mutant": ["M1*"], "score": [0.0]})
    report = Scorer(folder).score(Predictions.of("p", "dms", pl.concat([some, stops]))).to_json()
    assert report["left_aside"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.filter(pl.col("mutant") != "M1A"), "no score for 1 of the 380 rows that are scored, such as M1A"),
        (lambda p: pl.concat([p, p[:2]]), "A_cell_entry M1A is there twice (2 such rows): keep one"),
        (lambda p: p.with_columns(score=pl.lit(float("nan"))), "nan is no finite number"),
        (lambda p: p.with_columns(score=pl.lit("high")), "'high' is no finite number"),
        (lambda p: p.with_columns(score=pl.lit(None, pl.Float64)), "score] is empty (1,154 rows): give every row a"),
        (lambda p: p.with_columns(score=pl.lit(True)), "score] holds Boolean, not plain values"),
        (lambda p: p.with_columns(assay_id=pl.lit(b"A\xff")), "assay_id] holds Binary, not plain values"),
        (lambda p: p.with_columns(serum_id=pl.lit("s"), strain_id=pl.lit("t")), "has the columns of 2 tasks"),
        (lambda p: p.with_columns(score=pl.lit(float("inf"))), "inf is no finite number"),
        (lambda p: pl.concat([p, p[:1].with_columns(mutant=pl.lit("M1Z"))]), "M1Z is no row of this assay"),
        (lambda p: pl.concat([p, p[:1].with_columns(assay_id=pl.lit("Q"))]), "Q is no assay of this dataset"),
        (lambda p: p.rename({"score": "value"}), "has the columns assay_id, mutant, value: give assay_id"),
        (lambda p: p.with_columns(score=pl.concat_list("score")), "score] holds List, not plain values"),
        (lambda p: p[:0], "holds no prediction"),
        (lambda p: p.with_columns(split=pl.lit("chance")), "'chance' is none of random"),
        (lambda p: p.with_columns(mutant=pl.lit(None, pl.String)), "has no assay_id or mutant"),
    ],
)  # fmt: skip
def test_bad_predictions_end_in_one_line(folder, some, tmp_path, change, message):
    change(some).write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(GoldsmithError) as error:
        score(folder, tmp_path / "bad.parquet")
    assert message in str(error.value)
    assert "bad.parquet" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"", "is empty"),
        ("p.csv", b"assay_id,mutant,score,score\nA,B,1,2\n", "p.csv > score. is the name of 2 columns: keep one"),
        ("p.tsv", b"\xef\xbb\xbfassay_id\tassay_id\tmutant\tscore\nA\tA\tB\t1\n", "assay_id. is the name of 2 columns"),
        ("p.csv.gz", gzip.compress(b"assay_id,mutant,score\nA,B,1\n")[:-9], "p.csv.gz. cannot be read"),
        ("p.csv", b"assay_id,mutant,score\nA,B\xff\xfe,1\n", "cannot be read"),
        ("p.csv", b"assay_id,mutant,score\nA,B,1,2,3\n", "cannot be read"),
        ("p.parquet", b"PAR1 is how it starts", "cannot be read"),
        ("p.jsonl", b'{"assay_id": 1\n', "p.jsonl > line 1. cannot be read"),
        ("p.jsonl", b'{"assay_id": "A"}\n{"score": NaN}\n', "line 2. cannot be read .NaN is no number of JSON"),
        ("p.jsonl", b'{"assay_id": "A"}\n[1]\n', "line 2. cannot be read .it is no JSON object"),
        (
            "p.jsonl",
            b'{"assay_id": "A", "mutant": "B", "score": 1}\n{"assay_id": "A", "mutant": "C", "score": 1, "score": 2}\n',
            "p.jsonl > line 2. it has 'score' twice: write one object a line",
        ),
        (
            "p.jsonl",
            b'{"assay_id": "A", "mutant": "B"}\n\n{"assay_id": "A", "mutant": "C", "score": 1, "score": 2}\n',
            "p.jsonl > line 3. it has 'score' twice",
        ),
        ("p.jsonl", b'{"assay_id": "\xff"}\n', "line 1. cannot be read .it is no UTF-8"),
        ("p.xlsx", b"PK", "unknown form"),
    ],
)
def test_files_that_are_no_table_end_in_one_line(folder, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GoldsmithError, match=message) as error:
        score(folder, tmp_path / name)
    assert "\n" not in str(error.value)
    with pytest.raises(GoldsmithError, match="is no file"):
        score(folder, tmp_path / "absent.csv")


def test_a_folder_without_the_table_is_named(tmp_path, some):
    some.write_csv(tmp_path / "p.csv")
    with pytest.raises(GoldsmithError, match=r"variants\] is absent"):
        score(DatasetFolder(tmp_path / "empty"), tmp_path / "p.csv")


def test_a_table_that_is_cut_off_is_named(tmp_path, some):
    (tmp_path / "data" / "variants").mkdir(parents=True)
    (tmp_path / "data" / "variants" / "test-00000-of-00001.parquet").write_bytes(b"PAR1 and no end")
    with pytest.raises(GoldsmithError, match=r"variants. cannot be read .*: build virogym again"):
        Scorer(DatasetFolder(tmp_path)).score(Predictions.of("p", "dms", some))


def test_supervised_predictions_are_scored_split_by_split(folder):
    rows = baselines.predict("site-mean", folder, {})
    report = Scorer(folder).score(Predictions.of("s", "dms", rows)).to_json()
    sections = {each["split"]: each for each in report["sections"]}
    assert list(sections) == ["random", "modulo", "contiguous", "cluster"]
    assert {len(each["assays"]) for name, each in sections.items() if name in ("modulo", "contiguous")} == {3}
    assert PARTLY not in {each["assay_id"] for each in sections["random"]["assays"]}  # it has multi-mutants
    for each in sections["cluster"]["assays"]:
        assert each["within_folds"]["model"] == pytest.approx(each["by_model"]["model"]["tie_safe"]["spearman"])


def test_a_split_deals_single_changes_only_where_it_is_of_sites(folder, some):
    sections = Scorer(folder).score(Predictions.of("p", "dms", some)).to_json()["sections"]
    counted = {each["split"]: (each["eligible"], each["rows"]) for each in sections}
    assert counted["modulo"] == counted["contiguous"] == (3 * 380, 3 * 380 + 14)
    assert counted["random"] == counted["cluster"] == (3 * 380 + 14, 3 * 380 + 14)


def test_spearman_within_folds_ignores_the_level_of_a_fold(folder, variants):
    """Each fold's own order is perfect, its level is wrong."""
    only = variants.filter(pl.col("assay_id") == "A_cell_entry")
    rows = only.select("assay_id", "mutant", score=pl.col("score") - 100 * pl.col("split_modulo").cast(pl.Float64))
    found = Scorer(folder).score(Predictions.of("p", "dms", rows)).to_json()["sections"]
    within = {each["split"]: each["within_folds"].get("model") for each in found}
    assert within["modulo"] == pytest.approx(1.0)
    assert within["contiguous"] < 0.5


def test_human_and_ferret_sera_are_never_pooled_and_hamming_has_its_sign(folder):
    rows = baselines.predict("hamming", folder, {})
    report = Scorer(folder).score(Predictions.of("h", "neutralisation", rows)).to_json()
    assert list(report["species"]) == ["ferret", "human"]
    assert report["species"]["ferret"]["model"]["mean"]["concordance"] > 0.9
    assert report["species"]["human"]["model"]["mean"]["spearman"] < -0.9
    assert report["species"]["human"]["model"]["cohorts"] == 2
    censored = {each["cohort"]: each["censored"] for each in report["cohorts"]}
    assert all(0 < share < 1 for share in censored.values())
    assert report["cohorts"][0]["by_model"]["model"] == report["cohorts"][0]["by_model"]["hamming"]
    text = Scorer(folder).score(Predictions.of("h", "neutralisation", rows)).text()
    assert "ferret sera" in text
    assert "human sera" in text


def test_titre_predictions_may_hold_strains_without_a_titre_but_no_strangers(folder):
    rows = baselines.predict("hamming", folder, {})
    known = rows.filter(pl.col("serum_id") == "FCI_0")
    with pytest.raises(GoldsmithError, match="no score for 1 of the 10 rows"):
        Scorer(folder).score(Predictions.of("h", "neutralisation", known[1:]))
    stranger = known[:1].with_columns(strain_id=pl.lit("X"))
    with pytest.raises(GoldsmithError, match="X is no row of this serum"):
        Scorer(folder).score(Predictions.of("h", "neutralisation", pl.concat([known, stranger])))


def test_items_are_assays_and_windows_and_sera_are_refused_as_items(folder, some):
    assert {item for item, _, _ in Scorer(folder).score(Predictions.of("p", "dms", some)).items} == set(
        some["assay_id"]
    )
    rows = baselines.predict("hamming", folder, {})
    titres = Scorer(folder).score(Predictions.of("p", "neutralisation", rows))
    with pytest.raises(GoldsmithError, match="sera are no items: leave --items out"):
        _ = titres.items


def test_windows_are_in_the_order_of_time_and_unlabelled_candidates_are_left_aside(folder):
    rows = baselines.predict("persistence", folder, {})
    scored = Scorer(folder).score(Predictions.of("c", "emergence", rows))
    report = scored.to_json()
    first_item = report["windows"][0]["by_model"]["model"]["auroc"]
    assert scored.items[0] == ("earlier virogym all", "emergence", pytest.approx(max(0, 2 * first_item - 1)))
    assert list(dict.fromkeys(each["window_id"] for each in report["windows"])) == ["earlier", "later"]
    assert report["left_aside"] == 2 * 20  # the deletions
    first = report["windows"][0]
    assert (first["label"], first["reach"], first["candidates"]) == ("virogym", "all", 380)
    assert first["by_model"]["model"] == first["by_model"]["persistence"]
    labels = {(each["label"], each["reach"]) for each in report["windows"]}
    assert labels == {(a, b) for a in ("virogym", "other", "novel") for b in ("all", "one_nucleotide")}
    empty = next(each for each in report["windows"] if each["label"] == "other")
    assert empty["positive"] == 0
    assert empty["candidates"] < 380 / 2  # the rule `other` knows nothing of changes that are not listed
    assert empty["by_model"]["model"]["ap"] is None


def test_the_command_scores_and_a_mistake_is_one_line(folder, some, tmp_path):
    some.write_csv(tmp_path / "p.csv")
    command = [sys.executable, "-m", "goldsmith", "score", "virogym"]
    good = subprocess.run(
        [*command, str(tmp_path / "p.csv"), "-d", str(folder.path), "--json"], capture_output=True, text=True, cwd=ROOT
    )
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout) == BUILDER.score(folder, tmp_path / "p.csv").to_json()
    bad = subprocess.run(
        [*command, str(tmp_path / "absent.csv"), "-d", str(folder.path)], capture_output=True, text=True, cwd=ROOT
    )
    assert bad.returncode == 2
    assert len(bad.stderr.splitlines()) == 1


def test_baselines_and_leaderboard_from_the_command_line(folder, some, tmp_path):
    from click.testing import CliRunner

    from builders.virogym.__main__ import main

    some.filter(pl.col("assay_id") != PARTLY).write_csv(tmp_path / "my <model>.csv")
    where = ["-d", str(folder.path), "-o"]
    for name in baselines.NAMES:
        if name != "site-independent":
            done = CliRunner().invoke(main, ["baseline", name, *where, str(tmp_path / f"{name}.parquet")])
            assert done.exit_code == 0, done.output
            assert f"goldsmith score virogym {tmp_path / name}.parquet -d {folder.path}`" in done.output
            assert score(folder, tmp_path / f"{name}.parquet").text()
    page = tmp_path / "board.html"
    done = CliRunner().invoke(main, ["leaderboard", *where, str(page), str(tmp_path / "my <model>.csv")])
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "my &lt;model&gt;" in text
    assert "my <model>" not in text
    assert "http" not in text  # nothing is fetched
    for word in (
        "human sera",
        "ferret sera",
        ">earlier<",
        "virogym, reachable by one nucleotide",
        "2 of 3",
        "site mean",
    ):
        assert word in text
    twice = CliRunner().invoke(main, ["leaderboard", *where, str(page), *[f"m={tmp_path / 'blosum62.parquet'}"] * 2])
    assert twice.exit_code == 2
    assert "two files for dms" in twice.output


def test_site_independent_scores_follow_the_alignments_columns(folder, tmp_path):
    """The reference has a gap in the alignment's third column; V is usual at position 4 and never seen is -4.6 less."""
    reference = PROTEINS["made_a"]
    rows = [reference[:2] + "-" + reference[2:]] + [
        reference[:2] + "G" + reference[2:3] + "V" + reference[4:i] + "C" + reference[i + 1 :] for i in range(5, 9)
    ]
    (tmp_path / "a.fasta").write_text("".join(f">r{i}\n{row}\n" for i, row in enumerate([*rows, rows[0]])))
    found = baselines.predict("site-independent", folder, {"made_a": tmp_path / "a.fasta"})
    score_of = dict(zip(found["variant_id"], found["score"], strict=True))
    assert found["assay_id"].unique(maintain_order=True).to_list() == ["A_cell_entry", "A_sera_escape"]
    assert score_of["made_a A4V"] == pytest.approx(np.log((4 + 0.05) / (1 + 0.05)))
    assert score_of["made_a M1W"] == pytest.approx(np.log(0.05 / 5.05))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b">a\nMKT\n>b\nMK\n", "records of lengths"),
        (b"no header\n", "0 records of lengths"),
        (b">a\nMKTAYI\n", "no record with the reference's 20 residues and 6 columns"),
        (b">a\n\xff\xfe\n", "is no text"),
    ],
)
def test_alignments_that_do_not_fit_are_refused(folder, tmp_path, content, message):
    (tmp_path / "a.fasta").write_bytes(content)
    with pytest.raises(GoldsmithError, match=message):
        baselines.predict("site-independent", folder, {"made_a": tmp_path / "a.fasta"})


def test_site_independent_needs_an_alignment_of_a_known_reference(folder, tmp_path):
    for alignments, message in (
        ({}, "needs an alignment"),
        ({"made_q": tmp_path}, "is no reference of this dataset"),
        ({"made_a": tmp_path / "absent"}, "is absent"),
    ):
        with pytest.raises(GoldsmithError, match=message):
            baselines.predict("site-independent", folder, alignments)


def test_a_language_model_predicts_through_the_command(folder, tmp_path):
    """A tiny random ESM, from its folder to scores; assays of one protein share their passes."""
    pytest.importorskip("transformers", reason="needs goldsmith[virogym-models]")
    from click.testing import CliRunner
    from test_virogym_models import make_esm

    from builders.virogym.__main__ import main
    from builders.virogym.models import predict

    make_esm(tmp_path / "esm")
    for task in ("dms", "emergence"):
        out = tmp_path / f"{task}.parquet"
        command = ["model", str(tmp_path / "esm"), "-d", str(folder.path), "-o", str(out), "--task", task]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
        assert score(folder, out).to_json()["groups"] == {"dms": 3, "emergence": 2}[task]
    rows = pl.read_parquet(tmp_path / "dms.parquet").filter(pl.col("assay_id") == "A_sera_escape")
    alone = predict.load(str(tmp_path / "esm"), None).score(PROTEINS["made_a"], rows["variant_id"].str.slice(7))
    assert rows["score"].to_numpy() == pytest.approx(alone, abs=1e-6)
    with pytest.raises(GoldsmithError, match="none of the dataset's"):
        predict.predict(str(tmp_path / "esm"), None, folder, "dms", ["Q"], 8, "cpu", note=print)


def test_the_bundled_sample_is_scored_in_every_task(tmp_path, sample):
    """The tables as the builder writes them, not as this test folder does."""
    built = tmp_path / "built"
    build(BUILDER, sample(), built, progress=False)
    folder = DatasetFolder(built)
    scorer = Scorer(folder)
    tasks = {"site-mean": "dms", "grantham": "dms", "hamming": "neutralisation", "codon": "emergence"}
    for name, task in tasks.items():
        report = scorer.score(Predictions.of(name, task, baselines.predict(name, folder, {})))
        assert report.to_json()["groups"] > 0
        assert report.text().startswith(name)
