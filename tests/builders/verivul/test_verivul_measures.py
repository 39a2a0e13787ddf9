"""Metrics against hand counts, distances, the memorisation guard."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.verivul import baseline, distances, metrics, neardup
from builders.verivul.distance_plot import DISTANCES, SQL
from schemas import GoldsmithError

# program: (loc, cyclomatic, nesting, dereferences, addresses, subscripts, fields, allocations, calls, casts, gotos)
HAND = {
    "int f(void) { return 0; }": (1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "int f(int a)\n{\n  if (a)\n    return 1;\n  return 0;\n}": (6, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    "int f(int a) {\n if (a > 1 && a < 5 || a == 9) return 1;\n return 0;\n}": (4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    "int f(int *p, int n) {\n int s = 0;\n for (int i = 0; i < n; i++)\n  s += p[i];\n return s;\n}":
        (6, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0),
    "struct s { int a; };\nint f(struct s *p, struct s q) {\n return p->a + q.a;\n}": (4, 1, 0, 1, 0, 0, 2, 0, 0, 0, 0),
    "int f(int a) {\n switch (a) {\n case 1: return 1;\n case 2: return 2;\n default: return 0;\n }\n}":
        (7, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    "void f(void) {\n char *p = malloc(4);\n /* a comment\n here */\n free(p);\n}": (4, 1, 0, 0, 0, 0, 0, 2, 2, 0, 0),
    "int f(int a) {\n int *p = &a;\n *p = 3;\n return *p;\n}": (5, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0),
    "int f(int a) {\n if (a) {\n  while (a) {\n   if (a == 2) break;\n   a--;\n  }\n }\n return a;\n}":
        (9, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0),
    "int f(int a) {\n if (a == 1) return 1;\n else if (a == 2) return 2;\n else return 3;\n}":
        (5, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    "int f(long a) {\n if (!a) goto out;\n return (int)a;\nout:\n return a ? 1 : 2;\n}":
        (6, 3, 1, 0, 0, 0, 0, 0, 0, 1, 1),
    "int g(int);\nint f(int a) {\n do { a = g(g(a)); } while (a > 3);\n return a;\n}":
        (5, 2, 1, 0, 0, 0, 0, 0, 2, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize(("text", "counts"), HAND.items())
def test_metrics_equal_counts_by_hand(text, counts):
    found = metrics.measure(text)
    lines = found["loc"]
    per_line = ("pointer_density", "address_density", "subscript_density", "field_density")
    got = (lines, found["cyclomatic"], found["max_nesting"], *(round(found[name] * lines) for name in per_line),
           found["allocations"], round(found["call_density"] * lines), round(found["cast_density"] * lines),
           found["gotos"])  # fmt: skip
    assert got == counts


def test_only_the_named_functions_count():
    text = "int f(int a) { return a; }\nint g(int a) { if (a) return 1; return 2; }\n"
    assert metrics.measure(text, ["f"])["cyclomatic"] == 1
    assert metrics.measure(text, ["f", "g"])["cyclomatic"] == 3


def _samples():
    real = [metrics.measure(text) for text in HAND]
    return real, [metrics.measure(text) for _, text in baseline.programs()]


def test_distances_are_nothing_between_equals_and_something_between_others():
    real, synthetic = _samples()
    for one in distances.compare(real, real):
        assert abs(one.value) < 0.2
    found = {(one.metric, one.name): one for one in distances.compare(real, synthetic)}
    joint = found["all", "mmd2"]
    assert joint.value > 0
    assert (joint.p or 0) < 0.05
    assert all(one.low <= one.high for one in found.values())
    assert distances.compare(real, synthetic) == distances.compare(real, synthetic)


def test_distances_against_known_values():
    one, other = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 1.0, 2.0, 2.0])
    assert distances.kolmogorov_smirnov(one, other) == 0.5
    assert distances.wasserstein(one, other) == pytest.approx(1 / np.std(np.concatenate([one, other])))
    assert distances.jensen_shannon(np.zeros(1000), np.ones(1000)) > 0.9
    with pytest.raises(GoldsmithError, match="too small"):
        distances.compare([], [])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 50), min_size=2, max_size=20), st.lists(st.floats(0, 50), min_size=2, max_size=20))
def test_distances_keep_their_bounds(one, other):
    a, b = np.array(one), np.array(other)
    assert 0 <= distances.kolmogorov_smirnov(a, b) <= 1
    assert -1e-9 <= distances.jensen_shannon(a, b) <= 1
    assert distances.wasserstein(a, b) >= 0


def test_the_guard_sees_copies_and_not_renamed_code():
    original = "int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }"
    assert neardup.containment(original, "int x;\n" + original + "\nint main(void) { return 0; }") == 1
    renamed = original.replace("p", "v1").replace("s ", "v2 ").replace("i", "q")
    assert neardup.containment(original, renamed) < 0.3
    assert neardup.containment("x", "x") == 1


def test_the_reports_distances_are_those_of_the_module():
    import duckdb
    import pyarrow as pa

    draw = np.random.default_rng(1)
    samples = [[{name: float(draw.integers(0, 6 + shift)) for name in metrics.NAMES_OF_METRICS} for _ in range(size)]
               for size, shift in ((9, 0), (7, 3), (8, 1))]  # fmt: skip
    targets, real, base = samples
    programs = pa.Table.from_pylist([
        {"program_id": f"p{n}", "language": "c", "metrics": row, "program_metrics": row}
        for n, row in enumerate(targets)
    ])  # fmt: skip
    metrics_reference = pa.Table.from_pylist([
        {"reference_id": f"{name}{n}", "sample": name, "metrics": row}
        for name, rows in (("real", real), ("baseline", base)) for n, row in enumerate(rows)
    ])  # fmt: skip
    with duckdb.connect() as connection:
        connection.register("programs", programs)
        connection.register("metrics_reference", metrics_reference)
        rows = connection.sql(f"{SQL} SELECT sample, metric, ks, wasserstein FROM scaled WHERE draw = 0").fetchall()
        shown = connection.sql(DISTANCES.sql).fetchall()
        assert shown == connection.sql(DISTANCES.sql).fetchall()
    found = {(sample, metric): values for sample, metric, *values in rows}
    assert len(found) == 3 * len(metrics.NAMES_OF_METRICS) == len(shown)
    for name, sample in (("target functions", targets), ("whole programs", targets), ("baseline", base)):
        for metric in metrics.NAMES_OF_METRICS:
            one, other = (np.array([row[metric] for row in rows]) for rows in (sample, real))
            wanted = (distances.kolmogorov_smirnov(one, other), distances.wasserstein(one, other))
            assert found[name, metric] == pytest.approx(wanted, abs=1e-9)
    value, low, high = re.findall(r"[\d.]+", shown[0][2])
    assert 0 <= float(low) <= float(high) <= 1
    assert 0 <= float(value) <= 1


@pytest.mark.parametrize(("safe", "found"), [("x", [("b", "the same as a")]), ("y", [])])
def test_the_same_pair_twice_is_found(safe, found):
    import duckdb

    from builders.verivul.checks import CHECKS
    from schemas import Check

    check = next(one for one in CHECKS.checks if one.name == "repeated")
    assert isinstance(check, Check)
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE pairs AS SELECT * FROM (VALUES ('a', 'a1', 'a2'), ('b', 'b1', 'b2')) "
                       "AS t(pair_id, vulnerable_id, safe_id)")  # fmt: skip
        connection.sql("CREATE TABLE programs AS SELECT * FROM (VALUES ('a1', 'v'), ('a2', 'x'), ('b1', 'v'), "
                       f"('b2', '{safe}')) AS t(program_id, code)")  # fmt: skip
        assert connection.sql(check.sql).fetchall() == found
