"""Agreement: equal to reference libraries, to published examples and to the definitions; bounds and symmetries."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from quality.annotation.agreement import Level, agreement, alpha_of, cohen, coincidence, gwet_ac1
from quality.annotation.consensus import dawid_skene

CASES = json.loads((Path(__file__).parent / "golden" / "oracles.json").read_text())["cases"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")

KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""The example of Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), and of Gwet's handbook."""


def loaded(answers: Sequence[Sequence[int | None]]) -> duckdb.DuckDBPyConnection:
    rows = [
        {"item": str(item), "annotator": f"a{person}", "label": str(label), "position": label}
        for person, line in enumerate(answers)
        for item, label in enumerate(line)
        if label is not None
    ]
    schema = pa.schema(
        [("item", pa.string()), ("annotator", pa.string()), ("label", pa.string()), ("position", pa.int32())]
    )
    con = duckdb.connect(config={"threads": 1})
    con.register("_rows", pa.Table.from_pylist(rows, schema))
    con.execute("CREATE TABLE votes AS FROM _rows")
    return con


def alpha(answers: Sequence[Sequence[int | None]], level: Level) -> float:
    labels, values, table = coincidence(loaded(answers), level)
    return alpha_of(table, values, level) if labels else math.nan


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_alpha_kappa_and_ac1_equal_the_libraries(case: dict[str, Any]) -> None:
    con = loaded(case["answers"])
    for level in LEVELS:
        assert alpha(case["answers"], level) == pytest.approx(case["alpha"][level], abs=1e-9)
    assert gwet_ac1(con) == pytest.approx(case["ac1"], abs=1e-6)
    found = {(pair.one, pair.other): pair.kappa for pair in cohen(con)}
    assert len(found) == len(case["kappa"])
    for name, kappa in case["kappa"].items():
        one, other = name.split("/")
        assert found[f"a{one}", f"a{other}"] == pytest.approx(
            math.nan if kappa is None else kappa, abs=1e-9, nan_ok=True
        )


def test_the_published_example() -> None:
    assert [round(alpha(KRIPPENDORFF, level), 3) for level in LEVELS] == [0.743, 0.815, 0.849]
    assert gwet_ac1(loaded(KRIPPENDORFF)) == pytest.approx(0.77544, abs=1e-5)


def test_high_raw_agreement_can_be_no_agreement() -> None:
    """93 of 100 alike, and kappa is below zero: one label is nearly everything."""
    one = [0] * 93 + [1] * 4 + [0] * 3
    other = [0] * 93 + [0] * 4 + [1] * 3
    found = agreement(loaded([one, other]))
    assert found.raw == pytest.approx(0.93)
    assert found.kappa == pytest.approx(cohen_kappa_score(one, other))
    assert round(found.kappa, 2) == -0.04
    assert round(found.ac1, 2) == 0.92


def test_the_bootstrap_interval_covers_and_is_the_same_again() -> None:
    case = max(CASES, key=lambda case: len(case["answers"][0]) * len(case["answers"]))
    con = loaded(case["answers"])
    first, second = agreement(con), agreement(con)
    assert first == second
    assert first.low < first.alpha < first.high


def test_nothing_to_say_is_nan() -> None:
    alone = agreement(loaded([[0, 1, 2]]))
    assert alone.items == 0
    assert all(math.isnan(figure) for figure in (alone.raw, alone.kappa, alone.alpha, alone.low, alone.ac1))
    same = agreement(loaded([[0, 0], [0, 0]]))
    assert (same.raw, same.ac1) == (1.0, 1.0)
    assert math.isnan(same.alpha)


answer = st.one_of(st.none(), st.integers(0, 3))
tables = st.integers(2, 4).flatmap(
    lambda people: st.lists(st.lists(answer, min_size=people, max_size=people), min_size=2, max_size=15)
).map(lambda items: [list(line) for line in zip(*items, strict=True)])  # fmt: skip


def by_definition(answers: Sequence[Sequence[int | None]]) -> float:
    """Nominal alpha as 1 - observed / expected disagreement over pairs of values, without any table."""
    units = [[x for x in unit if x is not None] for unit in zip(*answers, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    values = [x for unit in units for x in unit]
    n = len(values)
    observed = sum(
        sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
    ) / n if n else 0  # fmt: skip
    expected = sum(a != b for a, b in itertools.permutations(values, 2)) / (n * (n - 1)) if n > 1 else 0
    return 1 - observed / expected if expected else math.nan


@settings(max_examples=30, deadline=None)
@given(tables)
def test_alpha_is_its_definition(answers: list[list[int | None]]) -> None:
    assert alpha(answers, "nominal") == pytest.approx(by_definition(answers), abs=1e-9, nan_ok=True)


@settings(max_examples=8, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(answers: list[list[int | None]], random: Any) -> None:
    """People, items and (nominal) labels may be exchanged; every figure is at most 1."""
    people = random.sample(answers, len(answers))
    items = [list(line) for line in zip(*random.sample(list(zip(*people, strict=True)), len(people[0])), strict=True)]
    names = random.sample(range(4), 4)
    renamed = [[None if x is None else names[x] for x in line] for line in items]
    assert alpha(answers, "nominal") == pytest.approx(alpha(renamed, "nominal"), abs=1e-9, nan_ok=True)
    assert gwet_ac1(loaded(answers)) == pytest.approx(gwet_ac1(loaded(renamed)), abs=1e-9, nan_ok=True)
    mirrored = [[None if x is None else 3 - x for x in line] for line in answers]
    for level in LEVELS:
        found = alpha(answers, level)
        assert found == pytest.approx(alpha(mirrored, level), abs=1e-9, nan_ok=True)
        assert math.isnan(found) or found <= 1 + 1e-12


def simulated(people: Sequence[float], items: int, labels: int) -> tuple[list[tuple[str, str, str]], list[str]]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, labels, items)
    votes = [
        (f"i{item:04d}", f"a{person}", str(truth[item] if rng.random() < skill else rng.integers(0, labels)))
        for person, skill in enumerate(people)
        for item in range(items)
    ]
    return votes, [str(one) for one in truth]


def test_dawid_skene_beats_the_majority_where_some_guess() -> None:
    votes, truth = simulated([0.9, 0.85, 0.1, 0.1, 0.1], 300, 4)
    fitted = dawid_skene(votes, list("0123"))
    right = sum(fitted.label(index)[0] == truth[index] for index in range(300)) / 300
    by_item: dict[str, list[str]] = {}
    for item, _, label in votes:
        by_item.setdefault(item, []).append(label)
    majority = sum(max("0123", key=by_item[f"i{i:04d}"].count) == truth[i] for i in range(300)) / 300
    assert right > 0.9 > majority


def test_dawid_skene_is_the_same_in_any_order_and_decides_ties() -> None:
    votes, _ = simulated([0.8, 0.7, 0.6], 50, 3)
    one, other = dawid_skene(votes, list("012")), dawid_skene(list(reversed(votes)), list("012"))
    assert np.allclose(one.posterior, other.posterior, atol=1e-9)
    tie = dawid_skene([("x", "a", "1"), ("x", "b", "0")], ["0", "1"])
    assert tie.label(0) == ("0", pytest.approx(0.5))


def test_known_labels_stay_and_teach() -> None:
    """Two people who swap two labels would win against one who does not, were there no gold."""
    truth = ["0", "1"] * 20
    votes = [(f"i{n}", "good", label) for n, label in enumerate(truth)]
    votes += [(f"i{n}", who, "1" if label == "0" else "0") for n, label in enumerate(truth) for who in ("p", "q")]
    plain = dawid_skene(votes, ["0", "1"])
    taught = dawid_skene(votes, ["0", "1"], {f"i{n}": truth[n] for n in range(6)})
    index = plain.items.index("i30")
    assert plain.label(index)[0] == "1"
    assert taught.label(index)[0] == "0"
