"""The metrics against scipy, scikit-learn, a plain transcription of ProteinGym's definitions, and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr
from sklearn.metrics import average_precision_score, matthews_corrcoef, roc_auc_score

from builders.virogym.scoring import neutralisation
from builders.virogym.scoring.averages import Groups, interval
from builders.virogym.scoring.emergence import measure
from builders.virogym.scoring.metrics import METRICS, Assay
from builders.virogym.scoring.ranking import Ranking, auroc, average_precision

FEW = st.integers(-3, 3).map(float)
pairs = st.integers(12, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-999, 999).map(lambda v: v / 7), min_size=n, max_size=n, unique=True),
        st.lists(FEW, min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


def transcribed(y, bins, s) -> dict[str, float]:
    """ProteinGym's definitions as its script writes them, with a stable sort."""
    k = int(np.floor(len(y) * 0.1))
    gains = (y - y.min()) / (y.max() - y.min())

    def dcg(by):
        ranks = np.argsort(np.argsort(-by, kind="stable"), kind="stable") + 1
        return sum(g / np.log2(r + 1) for r, g in zip(ranks, gains, strict=True) if r <= k)

    top_true, top_model = y >= np.percentile(y, 90), s >= np.percentile(s, 90)
    return {
        "spearman": spearmanr(y, s)[0],
        "auc": roc_auc_score(bins, s),
        "mcc": matthews_corrcoef(bins, [1 if v >= np.median(s) else 0 for v in s]),
        "ndcg": dcg(s) / dcg(gains),
        "top_recall": (top_true & top_model).sum() / top_true.sum(),
    }


@pytest.mark.parametrize("n", [11, 100, 1001])
@pytest.mark.parametrize("values", [4, 10_000])
def test_the_published_form_is_that_of_proteingym(n, values):
    chance = np.random.default_rng(n + values)
    y = chance.normal(size=n)
    s = np.round(chance.integers(0, values, n) + y).astype(float)
    bins = y >= np.median(y)
    found = Assay.of(y, bins).score(s)["proteingym"]
    assert found == pytest.approx(transcribed(y, bins, s), abs=1e-12)


@given(pairs)
@settings(deadline=None, max_examples=60)
def test_without_ties_both_forms_are_the_same(drawn):
    s, y, _ = drawn
    y, s = np.array(y), np.array(s)
    if len(set(y)) == 1:
        return
    found = Assay.of(y, y >= np.median(y)).score(s)
    assert found["tie_safe"] == pytest.approx(found["proteingym"], abs=1e-12, nan_ok=True)


@given(pairs)
@settings(deadline=None, max_examples=60)
def test_the_tie_safe_form_depends_on_neither_the_order_of_rows_nor_the_scale_of_scores(drawn):
    y, s, order = drawn
    y, s, order = np.array(y), np.array(s), np.array(order)
    bins = y >= np.median(y)
    found = Assay.of(y, bins).score(s)["tie_safe"]
    shuffled = Assay.of(y[order], bins[order]).score(s[order])["tie_safe"]
    stretched = Assay.of(y, bins).score(np.exp(2 * s) + 5)["tie_safe"]
    assert shuffled == pytest.approx(found, abs=1e-9)
    assert stretched == pytest.approx(found, abs=1e-9)


def test_the_published_form_depends_on_the_order_of_rows():
    """The reason for the other form."""
    chance = np.random.default_rng(3)
    y, s = chance.normal(size=200), chance.integers(0, 3, 200).astype(float)
    bins = y >= np.median(y)
    seen = {
        round(Assay.of(y[o], bins[o]).score(s[o])["proteingym"]["ndcg"], 6) for o in map(chance.permutation, [200] * 9)
    }
    assert len(seen) > 1


def test_the_tie_safe_form_is_the_mean_over_all_orders_of_the_ties():
    """Every way to break the ties is tried: 4! x 3! x 4! orders of 11 rows in three ties."""
    y = np.array([0.3, 2.0, -1.0, 4.0, 0.9, 1.5, -2.0, 3.1, 0.1, 5.0, 2.2])
    s = np.array([1, 1, 1, 2, 2, 0, 0, 2, 0, 1, 0], float)
    assay = Assay.of(y, y >= 1.5)
    ties = [np.flatnonzero(s == value) for value in (0, 1, 2)]
    found = []
    for orders in itertools.product(*(itertools.permutations(range(len(tie))) for tie in ties)):
        broken = s.copy()
        for tie, order in zip(ties, orders, strict=True):
            broken[tie] += np.array(order) / 100
        found.append(assay.score(broken)["proteingym"])
    means = {name: float(np.mean([each[name] for each in found])) for name in ("auc", "mcc", "ndcg", "top_recall")}
    tie_safe = assay.score(s)["tie_safe"]
    assert {name: tie_safe[name] for name in means} == pytest.approx(means, abs=1e-12)


def test_a_score_that_says_nothing_gets_what_chance_gets():
    y = np.arange(50.0)
    found = Assay.of(y, y >= 25).score(np.zeros(50))
    expected = {"spearman": 0.0, "auc": 0.5, "mcc": 0.0, "top_recall": 0.1}
    assert {name: found["tie_safe"][name] for name in expected} == pytest.approx(expected)
    assert np.isnan(found["proteingym"]["spearman"])
    assert found["proteingym"]["top_recall"] == 1.0  # all rows tie at the percentile, so all are let in


def test_edges_have_values_or_none():
    one = Assay.of(np.array([1.0]), np.array([True])).score(np.array([0.0]))["tie_safe"]
    assert np.isnan(one["auc"])
    assert one["ndcg"] == 0.0  # as ProteinGym: fewer than ten rows have no first 10 %
    constant = Assay.of(np.ones(20), np.ones(20, bool)).score(np.arange(20.0))["tie_safe"]
    assert np.isnan(constant["ndcg"])
    assert constant["mcc"] == 0.0


@given(pairs, st.integers(1, 11))
@settings(deadline=None, max_examples=60)
def test_ranks_auroc_and_average_precision_are_those_of_scipy_and_scikit_learn(drawn, positive):
    distinct, tied, order = drawn
    label = np.array(order) < positive
    for s in (np.array(distinct), np.array(tied)):
        ranking = Ranking.of(s)
        assert ranking.middle() == pytest.approx(rankdata(s))
        assert auroc(label, ranking) == pytest.approx(roc_auc_score(label, s))
    assert average_precision(label, Ranking.of(np.array(distinct))) == pytest.approx(
        average_precision_score(label, distinct)
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=2, max_size=5).filter(lambda r: any(b for _, b in r))
)
@settings(deadline=None, max_examples=15)
def test_average_precision_and_the_first_k_are_means_over_the_orders_of_ties(rows):
    s, label = np.array([float(a) for a, _ in rows]), np.array([b for _, b in rows])
    aps, hits = [], []
    for order in itertools.permutations(range(len(rows))):
        broken = s + np.array(order) / 100
        aps.append(average_precision_score(label, broken))
        hits.append(label[np.argsort(-broken)][:3].sum())
    ranking = Ranking.of(s)
    assert average_precision(label, ranking) == pytest.approx(np.mean(aps))
    assert ranking.within(3)[label].sum() == pytest.approx(np.mean(hits))


def test_precision_and_recall_at_k_of_a_window():
    label = np.zeros(1000, bool)
    label[:40] = True
    score = -np.arange(1000.0)
    found = measure(label, score)
    assert found["p@50"] == pytest.approx(0.8)
    assert found["r@50"] == 1.0
    assert found["auroc"] == found["ap"] == 1.0
    assert np.isnan(measure(np.zeros(5, bool), np.arange(5.0))["ap"])


titres = st.lists(
    st.tuples(st.integers(3, 9), st.sampled_from(["none", "none", "left", "right"]), FEW), min_size=5, max_size=14
)


@given(titres)
@settings(deadline=None, max_examples=80)
def test_concordance_counts_the_pairs_whose_order_is_known(rows):
    y = np.array([float(a) for a, _, _ in rows])
    censor = [b for _, b, _ in rows]
    s = np.array([c for _, _, c in rows])
    good = known = 0.0
    for i, j in itertools.permutations(range(len(rows)), 2):
        if y[i] > y[j] and censor[i] != "left" and censor[j] != "right":  # i is at least y[i], j at most y[j]
            known += 1
            good += 1 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0
    concordance, _ = neutralisation.pairs(*neutralisation.bounds(y, censor), s)
    assert np.isnan(concordance) if not known else concordance == pytest.approx(good / known)


@given(titres)
@settings(deadline=None, max_examples=60)
def test_kendall_is_scipys_where_nothing_is_censored_and_censoring_never_makes_a_pair(rows):
    y, s = np.array([float(a) for a, _, _ in rows]), np.array([c for _, _, c in rows])
    _, tau = neutralisation.pairs(*neutralisation.bounds(y, ["none"] * len(y)), s)
    expected = kendalltau(y, s).statistic
    if len(set(y)) > 1 and len(set(s)) > 1:
        assert tau == pytest.approx(expected)
    all_left = neutralisation.pairs(*neutralisation.bounds(y, ["left"] * len(y)), s)
    assert np.isnan(all_left).all()


@given(titres, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_titres_and_windows_depend_on_neither_the_order_of_rows_nor_the_scale_of_scores(rows, chance):
    order = list(range(len(rows)))
    chance.shuffle(order)
    y, s = np.array([float(a) for a, _, _ in rows]), np.array([c for _, _, c in rows])
    censor = [b for _, b, _ in rows]
    found = neutralisation.serum(y, censor, s)
    shuffled = neutralisation.serum(y[order], [censor[i] for i in order], s[order])
    assert shuffled == pytest.approx(found, nan_ok=True)
    assert neutralisation.serum(y, censor, s**3 + 2 * s) == pytest.approx(found, nan_ok=True)
    label = y > np.median(y)
    window = measure(label, s)
    assert measure(label[order], s[order]) == pytest.approx(window, nan_ok=True)
    assert measure(label, np.exp(s)) == pytest.approx(window, nan_ok=True)


def test_a_serum_is_ranked_by_its_measured_titres_and_needs_five():
    y = np.array([1.0, 2, 3, 4, 5, 9])
    censor = ["none"] * 5 + ["left"]
    assert neutralisation.serum(y, censor, np.array([1.0, 2, 3, 4, 5, -7]))[0] == pytest.approx(1.0)
    assert np.isnan(neutralisation.serum(y[:4], ["none"] * 4, np.arange(4.0))).all()


def test_means_are_over_clusters_then_phenotypes_and_leave_undefined_values_out():
    groups = Groups.of(["entry", "entry", "entry", "growth"], ["a", "a", "b", "a"])
    values = np.array([[0.1, 0.1], [0.3, np.nan], [0.6, 0.6], [0.0, np.nan]])
    assert groups.by_phenotype(values)[:, 0] == pytest.approx([(0.2 + 0.6) / 2, 0.0])
    assert groups.overall(values) == pytest.approx([0.2, (0.1 + 0.6) / 2])
    draws = groups.draws(values, 4000)
    assert draws[:, 0].mean() == pytest.approx(0.2, abs=0.02)
    assert (groups.draws(values, 50) == groups.draws(values, 50))[:, 0].all()
    low, high = interval(draws[:, 0])
    assert 0.1 - 1e-9 <= low < high <= 0.3 + 1e-9
    assert interval(np.array([np.nan])) is None


PUBLISHED = {
    "Spearman": {"TranceptEVE L": (0.456, 0.007), "GEMME": (0.455, 0.009), "ESM2 (650M)": (0.414, 0.012),
                 "Progen2 XL": (0.391, 0.008), "Site-Independent": (0.359, 0.012), "ProtGPT2": (0.188, 0.011)},
    "NDCG": {"TranceptEVE L": (0.786, None), "GEMME": (0.777, None), "ESM2 (650M)": (0.747, None),
             "Progen2 XL": (0.767, None), "Site-Independent": (0.748, None), "ProtGPT2": (0.654, None)},
}  # fmt: skip
"""ProteinGym's Summary_performance files at bb68524: average, and standard error of the difference to the best."""

BY_TYPE = {"Activity": 0.487, "Binding": 0.376, "Expression": 0.457, "OrganismalFitness": 0.459, "Stability": 0.5}
"""The same of TranceptEVE L's Spearman, by type of assay."""


@pytest.mark.real
@pytest.mark.parametrize("metric", list(PUBLISHED))
def test_the_averages_of_proteingym_come_out_of_its_217_assays(shared_file, metric):
    table = pl.read_csv(_published(shared_file, metric), infer_schema_length=None)
    assert table.height == 217
    groups = Groups.of(table["Selection Type"].to_list(), table["UniProt ID"].to_list())
    models = list(PUBLISHED[metric])
    values = table.select(models).to_numpy()
    found = dict(zip(models, groups.overall(values).tolist(), strict=True))
    assert {name: round(value, 3) for name, value in found.items()} == {
        name: value for name, (value, _) in PUBLISHED[metric].items()
    }
    if metric == "Spearman":
        by_type = dict(zip(groups.phenotypes, groups.by_phenotype(values)[:, 0].tolist(), strict=True))
        assert {name: round(value, 3) for name, value in by_type.items()} == BY_TYPE


@pytest.mark.real
def test_the_standard_errors_of_proteingym_come_out_of_the_bootstrap(shared_file):
    best = "AIDO Protein-RAG (16B)"
    models = list(PUBLISHED["Spearman"])
    table = pl.read_csv(_published(shared_file, "Spearman"), infer_schema_length=None)
    groups = Groups.of(table["Selection Type"].to_list(), table["UniProt ID"].to_list())
    values = table.select(models).to_numpy() - table[best].to_numpy()[:, None]
    errors = groups.draws(values).std(axis=0, ddof=1)
    assert errors == pytest.approx([error for _, error in PUBLISHED["Spearman"].values()], abs=6e-4)


def _published(shared_file, metric):
    name = f"benchmarks/DMS_zero_shot/substitutions/{metric}/DMS_substitutions_{metric}_DMS_level.csv"
    commit = "bb685245f8f4bb95a5b54b470396c23826cd6284"
    return shared_file(f"mirror/raw.githubusercontent.com/OATML-Markslab/ProteinGym/{commit}/{name}")


def test_the_names_of_metrics_are_those_of_the_report():
    from builders.virogym.scoring.report import HEADINGS

    assert tuple(HEADINGS) == METRICS
