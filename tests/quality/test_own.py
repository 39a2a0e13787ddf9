"""A dataset's own checks: views, needs, SQL that does not run, figures and their bounds."""

from __future__ import annotations

import pytest
from quality_folders import failing, results

from quality.run import check
from schemas import Check, CheckSet, Column, Dataset, Figure, Float, GoldsmithError, Table, Text, Unique, View

TABLE = Table("items", "Items.", (Column("id", Text(), "Key."), Column("score", Float(), "S.")), key=("id",))
DATASET = Dataset("things", "Things", "Things.", (TABLE,))
ROWS = {"items": {"train": [{"id": "a", "score": 1.0}, {"id": "b", "score": 5.0}]}}


def run(folder, *checks, views=(), rows=ROWS, **keywords):
    made = folder(DATASET, rows)
    return made, check(made, CheckSet(checks, tuple(views)), groups=("own",), **keywords)


def own(sql: str, name: str = "own", **keywords) -> Check:
    return Check(name, "The score is low", "warn", "items", sql, **keywords)


def test_failing_rows_and_their_message_are_kept(folder):
    made, report = run(folder, own("SELECT id, 'score ' || score AS message FROM items WHERE score > 2"))
    assert failing(made) == {"own": ["b"]}
    assert results(report)["own"].examples == (("b", "[things > items > b] score 5.0"),)


def test_without_a_message_the_meaning_is_said(folder):
    _, report = run(folder, own("SELECT id, NULL AS message FROM items"), own("SELECT id FROM items", "other"))
    assert results(report)["own"].examples[0][1] == "[things > items > a] The score is low"
    assert results(report)["other"].examples[0][1] == "[things > items > a] The score is low"


def test_a_check_on_clean_rows_passes(folder):
    made, report = run(folder, own("SELECT id FROM items WHERE score > 9"))
    assert results(report)["own"].status == "passed"
    assert failing(made) == {}


@pytest.mark.parametrize(
    "sql",
    ["SELECT id FROM nowhere", "SELEC id", "SELECT score AS value FROM items", "SELECT id::INTEGER AS id FROM items"],
    ids=["no table", "no SQL", "no id", "fails on a value"],
)
def test_sql_that_does_not_run_names_its_check_in_one_line(folder, sql):
    with pytest.raises(GoldsmithError, match=r"^\[things > own\] its SQL .*: mend the check$") as raised:
        run(folder, own(sql))
    assert "\n" not in str(raised.value)


def test_sql_of_a_view_or_figure_that_does_not_run_names_it(folder):
    with pytest.raises(GoldsmithError, match=r"\[things > view v\] its SQL does not run"):
        run(folder, views=[View("v", "SELECT x FROM items")])
    with pytest.raises(GoldsmithError, match=r"\[things > f\] its SQL returns the columns \['a'\], and no `subject`"):
        run(folder, Figure("f", "F", "warn", "items", "SELECT 1 AS a"))


def test_what_needs_an_absent_table_does_not_apply(folder):
    views = [View("seen", "SELECT * FROM titres", needs=("titres",)), View("both", "FROM seen", needs=("seen",))]
    checks = (
        own("SELECT id FROM both", "a", needs=("both",)),
        Check("b", "B", "block", "titres", "SELECT id FROM titres"),
        Unique("c", "C", "block", "titres", ("x",)),
        Figure("d", "D", "warn", "items", "SELECT 1 AS subject, 2 AS value", needs=("previous_items",)),
    )
    _, report = run(folder, *checks, views=views)
    assert {name: result.why for name, result in results(report).items() if result.table in ("items", "titres")} == {
        "a": "the dataset has no both",
        "b": "the dataset has no titres",
        "c": "the dataset has no titres",
        "d": "the dataset has no previous_items",
    }
    assert report.passed


@pytest.mark.parametrize("materialise", [False, True])
def test_views_are_shared(folder, materialise):
    views = [View("high", "SELECT * FROM items WHERE score > 2", materialise), View("ids", "SELECT id FROM high")]
    made, _ = run(folder, own("FROM ids"), views=views)
    assert failing(made) == {"own": ["b"]}


def test_the_side_views_can_be_read(folder):
    sql = """SELECT i.id FROM items AS i JOIN lineage AS l USING (id) JOIN sources AS s ON l.source = s.name
        WHERE l.table_name = 'items' AND l.place = 'line 2' AND i._split = 'train' AND s.redistribute
            AND (SELECT sum(rows) FROM accounting WHERE table_name = 'items') = 2
            AND (SELECT count(*) FROM files WHERE table_name = 'items') = 3 AND (SELECT count(*) FROM rejects) = 0"""
    made, _ = run(folder, own(sql))
    assert failing(made) == {"own": ["b"]}


def test_figures_outside_their_bounds_fail_and_nulls_do_not_apply(folder):
    sql = """SELECT * FROM (VALUES ('low', 0.5, NULL, NULL), ('good', 1.0, NULL, NULL), ('null', NULL, NULL, NULL),
        ('own', 0.5, 0.1, 0.6), ('nan', 'nan'::DOUBLE, NULL, NULL)) AS f(subject, value, low, high)"""
    made, report = run(folder, Figure("f", "F", "block", "items", sql, low=1, high=2, unit="s"))
    found = results(report)["f"]
    assert failing(made) == {"f": ["low", "nan"]}
    assert [value.subject for value in found.figures] == ["good", "low", "nan", "own"]
    assert found.examples[0] == ("low", "[things > items > low] 0.5 is below 1")
    assert not report.passed


def test_a_figure_without_bounds_is_only_reported(folder):
    _, report = run(folder, Figure("f", "F", "block", "items", "SELECT 'a' AS subject, 7 AS value"))
    assert results(report)["f"].status == "reported"


def test_sql_reads_no_other_file_and_no_network(folder, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("id\nx\n")
    for place in (secret, "https://example.org/x.csv"):
        with pytest.raises(GoldsmithError, match="does not run"):
            run(folder, own(f"SELECT id FROM read_csv('{place}')"))
