"""A report for a terminal: what failed first, with examples a person can follow; then one closing line."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text as Styled

from quality.results import Report, Result

_ORDER = {"failed": 0, "reported": 1, "passed": 2, "not_applicable": 3}
_GRAVITY = {"block": 0, "drop": 1, "warn": 2, "info": 3}
_STYLES = {"block": "bold red", "drop": "red", "warn": "yellow", "info": "cyan"}
_SHOWN = 3


def table(report: Report) -> Grid:
    """The checks as a table: the failed ones first, the gravest of them on top; the passed ones are only counted."""
    grid = Grid(title=f"{report.title} ({report.dataset})", title_justify="left", expand=True)
    for header, options in (("check", {"ratio": 3}), ("result", {"ratio": 2}), ("what it means", {"ratio": 5})):
        grid.add_column(header, overflow="fold", **options)
    for result in sorted(_notable(report.results), key=_rank):
        grid.add_row(result.name, _verdict(result), Styled(result.why or result.meaning))
    return grid


def closing(report: Report) -> str:
    """The last line: how many checks passed, failed by severity, and were not applicable."""
    failed = Counter(result.severity for result in report.results if result.status == "failed")
    count = Counter(result.status for result in report.results)
    parts = [f"{count['passed'] + count['reported']} passed"]
    parts += [f"{failed[severity]} failed ({severity})" for severity in _GRAVITY if failed[severity]]
    parts += [f"{count['not_applicable']} not applicable"] if count["not_applicable"] else []
    return f"{report.dataset}: {'passed' if report.passed else 'FAILED'} ({', '.join(parts)})"


def show(report: Report) -> None:
    """Print the table, examples of what failed, and the closing line."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty())
    grid = table(report)
    if grid.row_count:
        console.print(grid)
    for result in sorted((each for each in report.results if each.status == "failed"), key=_rank):
        for _, message in result.examples[:_SHOWN]:
            console.print(Styled(message))
        if result.failures > _SHOWN:
            console.print(Styled(f"  and {result.failures - _SHOWN:,} more: quality/findings.parquet has them all"))
        if result.advice:
            console.print(Styled(f"  {result.advice}", style="dim"))
    console.print(Styled(closing(report), style="bold"))


def _notable(results: Iterable[Result]) -> list[Result]:
    return [result for result in results if result.status != "passed"]


def _rank(result: Result) -> tuple[int, int, str]:
    return _ORDER[result.status], _GRAVITY[result.severity], result.name


def _verdict(result: Result) -> Styled:
    if result.status == "failed":
        return Styled(f"{result.failures:,} failed ({result.severity})", style=_STYLES[result.severity])
    if result.status == "reported":
        return Styled(f"{len(result.figures)} values", style="dim")
    return Styled("not applicable", style="dim")
