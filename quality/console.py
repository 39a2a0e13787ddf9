"""A report for a terminal: a table, examples of what failed that a person can follow, and one closing line."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text as Styled

from quality.results import Report, Result

_GRAVITY = {"block": 0, "drop": 1, "warn": 2, "info": 3}
_STYLES = {"block": "bold red", "drop": "red", "warn": "yellow", "info": "cyan"}
_SHOWN = 3


def table(report: Report) -> Grid:
    """How the checks of each table ended: a line a table, and under it a line for each check that failed."""
    grid = Grid(title=f"{report.title} ({report.dataset})", title_justify="left")
    grid.add_column("table or check", overflow="fold", ratio=3)
    grid.add_column("passed", justify="right")
    grid.add_column("failed", justify="right")
    grid.add_column("what it means", overflow="fold", ratio=5)
    for name, results in _by_table(report.results).items():
        failed = sorted((result for result in results if result.status == "failed"), key=_rank)
        passed = sum(result.status in ("passed", "reported") for result in results)
        skipped = sum(result.status == "not_applicable" for result in results)
        note = f"{skipped} not applicable" if skipped else ""
        grid.add_row(Styled(name, style="bold"), f"{passed}", f"{len(failed)}", Styled(note, style="dim"))
        for result in failed:
            style = _STYLES[result.severity]
            count = Styled(f"{result.failures:,} ({result.severity})", style=style)
            grid.add_row(Styled(f"  {result.name}", style=style), "", count, Styled(result.meaning))
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
    console.print(table(report))
    for result in sorted((each for each in report.results if each.status == "failed"), key=_rank):
        for _, message in result.examples[:_SHOWN]:
            console.print(Styled(message))
        if result.failures > _SHOWN:
            console.print(Styled(f"  and {result.failures - _SHOWN:,} more: quality/findings.parquet has them all"))
        if result.advice:
            console.print(Styled(f"  {result.advice}", style="dim"))
    console.print(Styled(closing(report), style="bold"))


def _by_table(results: Iterable[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.table or "the whole", []).append(result)
    return found


def _rank(result: Result) -> tuple[int, str]:
    return _GRAVITY[result.severity], result.name
