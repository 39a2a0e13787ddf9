"""The report's table of distances to real code: Kolmogorov-Smirnov and Wasserstein-1, in SQL, with bootstrap intervals.

The same measures as in `distances`, which also has the two that take more than SQL (Jensen-Shannon, MMD). Draws come
from a digest of their number, so that the same rows give the same intervals everywhere.
"""

from __future__ import annotations

from builders.verivul.metrics import NAMES_OF_METRICS
from schemas import Plot

RESAMPLES = 200

_PARTS = (
    ("target functions", "programs", "metrics", "program_id", "language = 'c'"),
    ("whole programs", "programs", "program_metrics", "program_id", "language = 'c'"),
    ("baseline", "metrics_reference", "metrics", "reference_id", "sample = 'baseline'"),
    ("real", "metrics_reference", "metrics", "reference_id", "sample = 'real'"),
)
_METRICS = ", ".join(f"'{name}'" for name in NAMES_OF_METRICS)


def _rows(name: str, table: str, column: str, row_id: str, holds: str) -> str:
    values = ", ".join(f"{column}.{metric}::DOUBLE" for metric in NAMES_OF_METRICS)
    return (
        f"SELECT '{name}' AS sample, (row_number() OVER (ORDER BY {row_id})) - 1 AS spot, "
        f"unnest([{_METRICS}]) AS metric, unnest([{values}]) AS value FROM {table} WHERE {holds}"
    )


SQL = f"""WITH measured AS ({" UNION ALL ".join(_rows(*part) for part in _PARTS)}),
sizes AS (SELECT sample, max(spot) + 1 AS size FROM measured GROUP BY sample),
draws AS (SELECT sample, size, draw, CASE WHEN draw = 0 THEN place
        ELSE md5_number_lower(draw || ' ' || sample || ' ' || place) % size END AS spot
    FROM (SELECT sample, size, unnest(range(size::BIGINT)) AS place FROM sizes), range(0, {RESAMPLES + 1}) AS d(draw)),
steps AS (SELECT other.sample AS sample, draw, metric, value,
        sum(CASE WHEN drawn.sample = 'real' THEN -1.0 / drawn.size ELSE 1.0 / drawn.size END) AS step,
        count(*) AS amount
    FROM (SELECT sample FROM sizes) AS other JOIN (SELECT * FROM draws JOIN measured USING (sample, spot)) AS drawn
        ON drawn.sample = other.sample OR drawn.sample = 'real'
    WHERE other.sample <> 'real' GROUP BY ALL),
gaps AS (SELECT *, abs(sum(step) OVER sorted) AS gap, lead(value) OVER sorted - value AS width FROM steps
    WINDOW sorted AS (PARTITION BY sample, draw, metric ORDER BY value)),
spreads AS (SELECT sample, draw, metric, sum(amount * value) / sum(amount) AS mean,
        sum(amount * value * value) / sum(amount) AS square FROM steps GROUP BY ALL),
found AS (SELECT sample, draw, metric, max(gap) AS ks, sum(gap * width) AS area FROM gaps GROUP BY ALL),
scaled AS (SELECT sample, draw, metric, ks, coalesce(area, 0) / CASE WHEN square - mean * mean > 1e-18
        THEN sqrt(square - mean * mean) ELSE 1 END AS wasserstein FROM found JOIN spreads USING (sample, draw, metric))
"""

_CELL = (
    "printf('%.3f [%.3f, %.3f]', max({0}) FILTER (draw = 0), quantile_cont({0}, 0.025) FILTER (draw > 0), "
    "quantile_cont({0}, 0.975) FILTER (draw > 0))"
)

DISTANCES = Plot(
    "distances", "Distance to real code", "Kolmogorov-Smirnov and Wasserstein-1 (in pooled standard deviations) from "
    "the real functions, metric by metric, with 95 % bootstrap intervals. "
    "`python -P -m builders.verivul.distances` adds Jensen-Shannon and MMD.", "table",
    f"{SQL} SELECT metric, sample, {_CELL.format('ks')} AS \"Kolmogorov-Smirnov\", "
    f"{_CELL.format('wasserstein')} AS \"Wasserstein-1\" FROM scaled GROUP BY metric, sample ORDER BY metric, sample",
    needs=("metrics_reference",),
)  # fmt: skip
