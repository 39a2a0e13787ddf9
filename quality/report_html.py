"""quality/report.html: one page that holds everything it shows, for people. The figures come from the report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from quality.connect import add_views, opened
from quality.files import examine
from quality.own import add_own_views
from quality.pictures import pictures
from quality.results import Measured, Report, Result
from schemas import CheckSet, DatasetFolder, sql
from schemas.files import replace_text

_TEMPLATES = Path(__file__).parent / "templates"
_GRAVITY = ("block", "drop", "warn", "info")


def write(folder: DatasetFolder, report: Report, checks: CheckSet, *, memory_limit: str | None = None) -> Path:
    """Write the page of `report`, with the dataset's own plots; these see the view `findings` too (schemas.folder).

    Raises:
        GoldsmithError: a plot's SQL does not run.
    """
    with opened(folder, None, memory_limit=memory_limit) as session:
        add_views(session, examine(folder, hashes=False).unreadable)
        add_own_views(session, checks.views)
        session.con.execute(f"CREATE VIEW findings AS FROM {sql.scan([folder.findings])}")
        session.names.add("findings")
        drawn = pictures(session, checks.plots)
    text = _render(report, drawn)
    replace_text(folder.report_html, text)
    return folder.report_html


def _render(report: Report, drawn: list[dict[str, Any]]) -> str:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=_number, share=_share, strip=_strip)
    charts = [each for each in drawn if each["kind"] not in ("table", "media")]
    return environment.get_template("report.html.j2").render(
        report=report,
        failed=sorted((each for each in report.results if each.status == "failed"), key=_rank),
        figures=[each for each in report.results if each.kind == "figure" and each.figures],
        counts=_counts(report),
        tables=_tables(report.profile),
        rejects=_rejects(report.accounting),
        pictures=drawn,
        data=_script_json(charts),
        plotly=Markup(_plotly()) if charts else "",  # noqa: S704 - the library's own source
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704
        script=Markup((_TEMPLATES / "report.js").read_text(encoding="utf-8")),  # noqa: S704
    )


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def _script_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704


def _counts(report: Report) -> list[tuple[str, int, str]]:
    """(what, how many, style) for the head of the page."""
    status = Counter(result.status for result in report.results)
    failed = Counter(result.severity for result in report.results if result.status == "failed")
    found = [("passed", status["passed"] + status["reported"], "passed")]
    found += [(f"failed: {severity}", failed[severity], severity) for severity in _GRAVITY if failed[severity]]
    return [*found, ("not applicable", status["not_applicable"], "quiet")]


def _tables(profile: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, table in profile.items():
        columns = []
        for column, facts in table["columns"].items():
            highest = max(facts["histogram"], default=0)
            bars = [round(100 * count / highest) for count in facts["histogram"]] if highest else []
            missing = facts["nulls"] / table["rows"] if table["rows"] else 0.0
            columns.append({**facts, "name": column, "bars": bars, "missing": missing})
        found.append({"name": name, "rows": table["rows"], "splits": table["splits"], "columns": columns})
    return found


def _rejects(accounting: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """(table, reason, records) over all sources, the most first."""
    total: Counter[tuple[str, str]] = Counter()
    for line in accounting:
        for reason, count in line["rejects"].items():
            total[line["table"], reason] += count
    return [(table, reason, count) for (table, reason), count in total.most_common()]


def _rank(result: Result) -> tuple[int, str]:
    return _GRAVITY.index(result.severity), result.name


def _number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value else "0"


def _strip(value: Measured, every: tuple[Measured, ...]) -> dict[str, float]:
    """Where a value and its bounds lie on a common scale, in percent from the left."""
    numbers = [each for one in every for each in (one.value, one.low, one.high) if each is not None]
    numbers = [each for each in numbers if abs(each) != float("inf") and each == each]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    width = (high - low) or 1.0

    def place(number: float) -> float:
        return round(2 + 96 * min(1.0, max(0.0, (number - low) / width)), 2)

    left = 0.0 if value.low is None else place(value.low)
    right = 100.0 if value.high is None else place(value.high)
    return {"at": place(value.value), "left": left, "width": right - left}
