"""The figures: right values, nothing outside the views, and errors that name the query."""

from __future__ import annotations

from pathlib import Path

import pytest

from cards import text
from cards.datasheet import Datasheet
from cards.queries import SHARED, Figures, Rows, Value
from cards.views import table_files
from schemas import Column, Dataset, DatasetFolder, GoldsmithError, Table, Text


def figures(folder: DatasetFolder, **own: str) -> Figures:
    return Figures(folder, Datasheet(figures=own), table_files(folder))


def test_the_shared_figures_are_right(spoken: DatasetFolder) -> None:
    made = figures(spoken)
    values = {name: result.value for name in made.queries if isinstance(result := made.get(name), Value)}
    sizes = [path.stat().st_size for table in spoken.schema.tables for path in spoken.all_shards(table.name)]
    assert values == {
        "rows": 10, "bytes": sum(sizes), "files": 3, "records": 13, "merged": 1, "rejected": 2
    }  # fmt: skip
    assert made.rows("tables")[0]["rows"] == 7
    assert [(r["table_name"], r["split"], r["rows"]) for r in made.rows("splits")] == [
        ("utterances", "train", 5),
        ("utterances", "test", 2),
        ("speakers", "train", 3),
    ]
    assert [(r["name"], r["rows"]) for r in made.rows("source_rows")] == [("corpus", 7), ("extra_words", 3)]
    assert [(r["licence"], r["rows"]) for r in made.rows("licence_rows")] == [("CC-BY-4.0", 7), ("MIT", 3)]
    assert made.rows("reject_reasons") == [{"table_name": "utterances", "reason": "no_text", "records": 2}]
    assert [(r["column_name"], r["missing"]) for r in made.rows("missing")] == [("age", 1), ("text", 1)]
    assert [(r["class"], r["rows"]) for r in made.rows("labels")] == [("no", 3), ("yes", 4)]
    assert made.rows("duplicates") == [{"table_name": "utterances", "rows": 7, "duplicates": 1}]
    assert [(r["severity"], r["passed"], r["failed"]) for r in made.rows("checks")] == [
        ("block", 1, 0),
        ("warn", 0, 1),
        ("info", 0, 0),
    ]
    assert [(r["name"], r["failures"]) for r in made.rows("failed_checks")] == [("noise", 2)]


def test_every_shared_figure_works_on_every_type(everything: DatasetFolder) -> None:
    made = figures(everything)
    for name in made.queries:
        made.get(name)
    assert made.get("rows").value == 5  # type: ignore[union-attr]
    assert {r["missing"] for r in made.rows("missing")} == {1}
    assert set(SHARED) <= set(made.queries)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('build.json')",
        "SELECT content FROM read_blob('{folder}/build.json')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
        "COPY (SELECT 1) TO '{folder}/data/utterances/train-00000-of-00001.parquet'",
        "WITH a AS (COPY (SELECT 1) TO '{folder}/data/utterances/train-00000-of-00001.parquet' "
        "(FORMAT parquet, USE_TMP_FILE false)) SELECT 1",
        "FROM query('SELECT 1')",
        "CREATE TABLE t AS SELECT 1",
        "SELECT 1; SELECT 2",
        "SET enable_external_access = true",
        "ATTACH '{folder}/x.db'",
        "INSTALL httpfs",
        "SELECT * FROM secret_of_python",
        "SELECT nonsense",
        "",
    ],
)
def test_an_own_figure_only_reads_the_views(spoken: DatasetFolder, sql: str) -> None:
    secret_of_python = __import__("pandas").DataFrame({"a": [1]})
    assert len(secret_of_python) == 1
    before = sorted((path, path.stat().st_size) for path in spoken.path.rglob("*"))
    with pytest.raises(GoldsmithError, match=r"datasheet.toml > figures > own"):
        figures(spoken, own=sql.replace("{folder}", str(spoken.path))).get("own")
    assert sorted((path, path.stat().st_size) for path in spoken.path.rglob("*")) == before


def test_own_figures(spoken: DatasetFolder) -> None:
    made = figures(spoken, longest="SELECT max(seconds) FROM utterances;", two="SELECT 1 AS a, 'x|y' AS b")
    assert text.plain(str(made.get("longest"))) == "5.5"
    table = made.get("two")
    assert isinstance(table, Rows)
    assert text.plain(str(table)) == "| a | b |\n| --- | --- |\n| 1 | x\\|y |"


def test_wrong_names_are_refused(spoken: DatasetFolder) -> None:
    with pytest.raises(GoldsmithError, match="name of a shared figure"):
        figures(spoken, rows="SELECT 1")
    with pytest.raises(GoldsmithError, match="no name for a figure"):
        figures(spoken, **{"a b": "SELECT 1"})
    with pytest.raises(GoldsmithError, match="did you mean 'rejected'"):
        figures(spoken).get("rejectd")


def test_a_table_may_not_hide_a_view(tmp_path: Path) -> None:
    from card_folders import write_folder

    table = Table("sources", "m", (Column("a", Text(), "m"),), ("a",))
    folder = write_folder(tmp_path / "d", Dataset("d", "D", "S", (table,)), {("sources", "train"): [{"a": "x"}]}, [])
    with pytest.raises(GoldsmithError, match="rename the table"):
        figures(folder)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(552065, "552,065"), (0.31714, "0.3171"), (12345.6, "12,346"), (True, "yes"), (None, ""), ("a|b", "a\\|b")],
)
def test_values_are_written_for_people(value: object, shown: str) -> None:
    assert text.number(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (64 << 20, "67.1 MB")])
def test_sizes_are_decimal(value: int, shown: str) -> None:
    assert text.size(value) == shown


def test_escaping() -> None:
    assert text.markdown("a_b*c`d|<i>&\n# x") == r"a\_b\*c\`d\|&lt;i&gt;&amp; \# x"
    assert text.code("a|b") == "`a\\|b`"
    assert text.code("a`b") == "a\\`b"
    assert text.code(r"\d+|x") == r"`\d+\|x`"
    assert text.link("n", "javascript:alert(1)") == "n"
    assert text.link("n", "https://example.org/a(b)") == "[n](<https://example.org/a(b)>)"
    assert text.link("n", "https://example.org/> x") == "n"
    assert text.plain(text.mark("n\ue001", "v\ue002w")) == "vw", "marks in a text are taken out"
