"""The page and the terminal's table: what failed can be read, and no text of the data is markup or script."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from quality_folders import SOURCE
from rich.console import Console

from quality import console, report_html
from quality.run import check
from schemas import Check, CheckSet, Column, Dataset, Figure, Float, GoldsmithError, Plot, Table, Text, View

EVIL = "</script><script>alert('x')</script><img src=x onerror=alert(1)>"
TABLE = Table(
    "items",
    f"Items {EVIL}",
    (Column("id", Text(), f"Key {EVIL}"), Column("score", Float(), "S.", nullable=True)),
    key=("id",),
)
DATASET = Dataset("things", f"Things {EVIL}", "Things.", (TABLE,))
ROWS = {"items": {"train": [{"id": EVIL, "score": 1.0}, {"id": "b", "score": -2.0}, {"id": "c", "score": None}]}}
CHECKS = CheckSet(
    checks=(
        Check("own", f"Own {EVIL}", "block", "items", "SELECT id, id AS message FROM items", advice=EVIL),
        Figure("share", "Share", "warn", "items", "SELECT id AS subject, score AS value FROM items", low=0, unit=EVIL),
    ),
    views=(View("seen", "SELECT * FROM items"),),
    plots=(
        Plot(
            "map",
            "Map",
            EVIL,
            "heatmap",
            "SELECT id AS facet, id AS x, id AS y, score AS value FROM seen",
            needs=("seen",),
        ),
        Plot("spread", "Spread", "C", "histogram", "SELECT score AS value FROM items"),
        Plot("bars", "Bars", "C", "bar", "SELECT id AS x, score AS value FROM items", x_order=("c",)),
        Plot("cloud", "Cloud", "C", "scatter", "SELECT score AS x, score AS y FROM items"),
        Plot("rows", "Rows", "C", "table", "SELECT * FROM items"),
        Plot("absent", "Absent", "C", "table", "SELECT * FROM titres", needs=("titres",)),
    ),
)


class Page(HTMLParser):
    """The tags of a page, and the links to anything outside it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts = 0
        self.images = 0
        self.outside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.images += tag == "img"
        loads = [value or "" for name, value in attrs if name == "src" or (name == "href" and tag == "link")]
        self.outside += [value for value in loads if not value.startswith("data:")]
        assert not any(name.startswith("on") for name, _ in attrs)


@pytest.fixture
def page(folder) -> str:
    evil = {**SOURCE, "licence": EVIL, "citation": EVIL, "name": EVIL}
    made = folder(DATASET, ROWS, sources=[evil, {key: value for key, value in SOURCE.items() if key != "url"}])
    report = check(made, CHECKS)
    report_html.write(made, report, CHECKS)
    return made.report_html.read_text(encoding="utf-8")


def test_no_text_of_the_data_is_markup(page):
    assert "alert('x')</script>" not in page
    assert "<img" not in re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    assert "&lt;script&gt;alert" in page


def test_nothing_is_loaded_from_outside(page):
    found = Page(re.sub(r"(<script\b[^>]*>).*?(</script>)", r"\1\2", page, flags=re.DOTALL))
    assert found.outside == []
    assert found.images == 0
    assert found.scripts > 0


def test_what_failed_and_every_plot_that_applies_are_there(page):
    for text in ("own", "items.score", "Map", "Spread", "Bars", "Cloud", "Rows", "CC-BY-4.0"):
        assert text in page
    assert "Absent" not in page


def test_a_page_without_plots_has_no_plotting_library(folder):
    made = folder(DATASET, ROWS)
    report_html.write(made, check(made, CheckSet()), CheckSet())
    assert made.report_html.stat().st_size < 200_000


def test_a_plot_that_does_not_run_is_named(folder):
    made = folder(DATASET, ROWS)
    for sql in ("SELECT nothing FROM items", "SELECT id FROM items"):
        broken = CheckSet(plots=(Plot("odd", "Odd", "C", "bar", sql),))
        with pytest.raises(GoldsmithError, match=r"plot > odd|plot odd"):
            report_html.write(made, check(made, CheckSet()), broken)


def test_the_terminal_names_what_failed_and_ends_in_one_line(folder, capsys):
    report = check(folder(DATASET, ROWS), CHECKS)
    console.show(report)
    shown = capsys.readouterr().out
    assert "own" in shown
    assert "[things > items > b] b" in shown
    assert shown.strip().splitlines()[-1].startswith("things: FAILED")
    with io.StringIO() as file:
        Console(file=file, width=80).print(console.table(report))
        assert "own" in file.getvalue()
