"""A dataset's plots as data for the report's page: each query run once, its rows arranged by facet.

Drawing is the page's business (`templates/report.js`). Numbers keep four significant digits: a picture shows no more.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import numpy as np

from quality.connect import Session
from quality.failures import reason
from quality.media import items
from schemas import GoldsmithError, Plot

TABLE_ROWS = 200
HISTOGRAM_BINS = 60
_COLUMNS = {
    "heatmap": ("x", "y", "value"),
    "histogram": ("value",),
    "bar": ("x", "value"),
    "scatter": ("x", "y"),
    "media": ("id", "caption"),
}


def pictures(session: Session, plots: Sequence[Plot]) -> list[dict[str, Any]]:
    """The plots that apply, in order: name, title, caption, kind, titles and `facets` (name -> arrays).

    Raises:
        GoldsmithError: a plot's SQL does not run, or lacks a column its kind needs.
    """
    found = []
    for plot in plots:
        if all(need in session.names for need in plot.needs):
            facets = _facets(session, plot)
            if facets:
                found.append(
                    {
                        "name": plot.name,
                        "title": plot.title,
                        "caption": plot.caption,
                        "kind": plot.kind,
                        "xTitle": plot.x_title,
                        "yTitle": plot.y_title,
                        "valueTitle": plot.value_title,
                        "facets": facets,
                    }
                )
    return found


def _facets(session: Session, plot: Plot) -> dict[str, Any]:
    try:
        result = session.con.execute(_in_order(plot.sql))
        names = [str(column[0]) for column in result.description or ()]
        missing = [name for name in _COLUMNS.get(plot.kind, ()) if name not in names]
        if missing:
            raise GoldsmithError(f"[plot > {plot.name}] returns the columns {names}, and no {missing}: mend its SQL")
        if plot.kind == "table":
            rows = [[_cell(value) for value in row] for row in result.fetchmany(TABLE_ROWS)]
            return {"": {"columns": names, "rows": rows}} if rows else {}
        if plot.kind == "media":
            rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
            return items(session.folder, plot, rows)
        columns = result.fetchnumpy()
    except duckdb.Error as error:
        raise GoldsmithError(f"[plot > {plot.name}] does not run ({reason(error)}): mend its SQL") from None
    if not len(columns[names[0]]):
        return {}
    arrange = {"heatmap": _heatmap, "histogram": _histogram, "bar": _bar, "scatter": _scatter}[plot.kind]
    return {facet: arrange(plot, part) for facet, part in _split(columns)}


def _in_order(query: str) -> str:
    """The query, in an order of its own if it has none: the same data give the same page."""
    return query if "order by" in query.lower() else f"SELECT * FROM ({query}) ORDER BY ALL"


def _split(columns: dict[str, Any]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """The rows of each facet, in the query's order of facets."""
    values = {
        name: np.ma.filled(column, None) if column.dtype == object else column for name, column in columns.items()
    }
    if "facet" not in values:
        yield "", values
        return
    facets = values["facet"].astype(str)
    order, places = np.unique(facets, return_index=True)
    groups = np.argsort(np.searchsorted(order, facets), kind="stable")
    borders = np.cumsum(np.unique(facets, return_counts=True)[1])[:-1]
    parts = np.split(groups, borders)
    for index in np.argsort(places):
        yield str(order[index]), {name: column[parts[index]] for name, column in values.items()}


def _numbers(column: np.ndarray) -> np.ndarray:
    """As floats; missing is NaN."""
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def _categories(column: np.ndarray, order: Sequence[str]) -> list[str]:
    """The values in a declared order, then those it does not name in the query's order."""
    seen = dict.fromkeys(str(value) for value in column)
    return [name for name in order if name in seen] + [name for name in seen if name not in set(order)]


def _heatmap(plot: Plot, part: dict[str, np.ndarray]) -> dict[str, Any]:
    xs, ys = _categories(part["x"], plot.x_order), _categories(part["y"], plot.y_order)
    column = {name: index for index, name in enumerate(xs)}
    row = {name: index for index, name in enumerate(ys)}
    cells = np.full((len(ys), len(xs)), np.nan, np.float32)
    at = [row[str(value)] for value in part["y"]], [column[str(value)] for value in part["x"]]
    cells[at] = _numbers(part["value"])
    finite = cells[np.isfinite(cells)]
    low, high = (float(edge) for edge in np.percentile(finite, [1, 99])) if len(finite) else (0.0, 1.0)
    # Base64 of float32 is a third of the size of JSON numbers; Plotly reads it as it is.
    data = {"dtype": "f4", "bdata": base64.b64encode(cells.tobytes()).decode(), "shape": f"{len(ys)}, {len(xs)}"}
    return {"x": xs, "y": ys, "z": data, "low": low, "high": high}


def _histogram(plot: Plot, part: dict[str, np.ndarray]) -> dict[str, Any]:
    values = _numbers(part["value"])
    counts, edges = np.histogram(values[np.isfinite(values)], HISTOGRAM_BINS)
    return {"x": _short((edges[:-1] + edges[1:]) / 2), "y": counts.tolist(), "width": float(edges[1] - edges[0])}


def _bar(plot: Plot, part: dict[str, np.ndarray]) -> dict[str, Any]:
    order = {name: index for index, name in enumerate(_categories(part["x"], plot.x_order))}
    rows = np.argsort([order[str(value)] for value in part["x"]], kind="stable")
    return {"x": [str(value) for value in part["x"][rows]], "y": _short(_numbers(part["value"])[rows])}


def _scatter(plot: Plot, part: dict[str, np.ndarray]) -> dict[str, Any]:
    return {"x": _short(_numbers(part["x"])), "y": _short(_numbers(part["y"]))}


def _short(values: np.ndarray) -> list[float | None]:
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
