"""Pictures of titres and emergence for ViroGym's report: where titres are cut off, and what rises from T to T1."""

from schemas import Plot

_LEVELS = """
WITH level AS (
    SELECT task_id, censor, CASE censor WHEN 'none' THEN floor(log2(titre / 10))::INTEGER END AS step
    FROM neutralisation
)
SELECT task_id AS facet, CASE censor WHEN 'left' THEN '≤ limit' WHEN 'right' THEN '≥ limit'
    ELSE (10 * 2.0 ** step)::BIGINT::VARCHAR || ' to ' || (20 * 2.0 ** step)::BIGINT END AS x, count(*) AS value
FROM level GROUP BY task_id, censor, step
ORDER BY task_id, CASE censor WHEN 'left' THEN 0 WHEN 'none' THEN 1 ELSE 2 END, step
"""

_DROPPED = """
SELECT facet, reason AS x, n AS value FROM (
    SELECT facet, unnest(map_keys(reasons)) AS reason, unnest(map_values(reasons)) AS n FROM (
        SELECT task_id AS facet, n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT) AS reasons FROM titre_tasks
        UNION ALL SELECT window_id, n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT) FROM windows)
) ORDER BY facet, n DESC, reason
"""

_STEPS = ("0", *(f"{step / 2:.1f}" for step in range(-16, 1)))

_RISE = """
WITH step AS (
    SELECT window_id || CASE WHEN is_emergent THEN ': emergent' ELSE ': not emergent' END AS facet,
        CASE WHEN "count_T" = 0 THEN '0' ELSE format('{:.1f}', round(2 * log10("freq_T")) / 2) END AS x,
        CASE WHEN "count_T1" = 0 THEN '0' ELSE format('{:.1f}', round(2 * log10("freq_T1")) / 2) END AS y
    FROM emergence WHERE observed_T
)
SELECT facet, replace(x, '-0.0', '0.0') AS x, replace(y, '-0.0', '0.0') AS y, count(*) AS value FROM step
GROUP BY ALL ORDER BY ALL
"""

TASK_PLOTS = (
    Plot(
        "titres",
        "Titres, and those that are only bounds",
        "How many titres lie in each two-fold step. `≤ limit` and `≥ limit` are censored. A heap at the lowest or "
        "highest step beside no censored titre is a limit that has lost its flag.",
        "bar",
        _LEVELS,
        x_title="reciprocal dilution",
        y_title="titres",
        needs=("neutralisation",),
    ),
    Plot(
        "sera_by_strains",
        "log2 titre by serum and strain",
        "Sera by their name, strains by year of isolation. A row or column of one colour is a serum or strain that "
        "failed; white is not measured.",
        "heatmap",
        """SELECT n.task_id AS facet, canonical_name || coalesce(' ' || reassortant, '')
                || CASE WHEN passage = 'egg' AND reassortant IS NULL THEN ' egg' ELSE '' END AS x,
                serum_name AS y, log2_titre AS value
            FROM neutralisation AS n JOIN viruses USING (strain_id) JOIN sera USING (serum_id)
            ORDER BY n.task_id, regexp_extract(canonical_name, '[0-9]{4}$'), x, y""",
        x_title="strain",
        y_title="serum",
        value_title="log2 titre",
        needs=("neutralisation", "viruses", "sera"),
    ),
    Plot(
        "candidates",
        "Candidates of a window, by what is known of them",
        "Only `counted` ones have counts, which may be zero. `absent` ones are too rare for the source's list.",
        "bar",
        "SELECT window_id AS facet, status AS x, count(*) AS value FROM emergence GROUP BY ALL ORDER BY 1, 3 DESC, 2",
        x_title="status",
        y_title="candidates",
        needs=("emergence",),
    ),
    Plot(
        "windows",
        "Frequency before and after",
        "How many changes, by the log10 of their share of genomes in T and T1, in half steps; `0` was not seen. Above "
        "the diagonal are those that rose.",
        "heatmap",
        _RISE,
        x_title="log10 frequency in T",
        y_title="log10 frequency in T1",
        value_title="changes",
        x_order=_STEPS,
        y_order=_STEPS[::-1],
        needs=("emergence",),
    ),
    Plot(
        "reachable",
        "Share of emergent changes by nucleotide distance",
        "What one nucleotide reaches emerges far more often: a model must beat this to say something of fitness.",
        "bar",
        """SELECT window_id AS facet, min_nt_dist AS x, avg(is_emergent::INTEGER) AS value FROM emergence
            WHERE min_nt_dist IS NOT NULL AND is_emergent IS NOT NULL GROUP BY ALL ORDER BY 1, 2""",
        x_title="nucleotide changes",
        y_title="share emergent",
        needs=("emergence",),
    ),
    Plot(
        "dropped",
        "Records of titres and counts that became no row of their own",
        "By reason. `copy` equals an earlier record in every column, `merged` is a repeated measurement.",
        "bar",
        _DROPPED,
        x_title="reason",
        y_title="records",
        needs=("titre_tasks", "windows"),
    ),
)
"""The pictures, in their order."""
