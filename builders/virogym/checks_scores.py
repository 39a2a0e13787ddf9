"""C06 to C12 and C15: are the values plausible, complete and measured once?

The bounds come from 23 real assays; where a rule would fail clean data of one design, the rule asks for the design
instead of being loosened (see the comments).
"""

from builders.virogym.schema import VARIANTS
from schemas import Check, Figure

ID = VARIANTS.row_id_sql()

_STOPS = """
WITH stops AS (
    SELECT assay_id, direction, wt_value FROM assay_facts WHERE fitness AND assay_id IN
        (SELECT assay_id FROM edits WHERE kind = 'stop' GROUP BY assay_id HAVING count(*) >= 20)
), middle AS (
    SELECT assay_id, median(score) FILTER (kind = 'stop') AS stop, median(score) FILTER (kind = 'sub') AS missense,
        coalesce(median(score) FILTER (kind IN ('wt', 'syn')), any_value(wt_value * direction), missense) AS wild_type
    FROM edits JOIN stops USING (assay_id) GROUP BY assay_id
)
"""

_COVERAGE = """
WITH measured AS (
    SELECT assay_id, pos, count(*) AS n FROM missense GROUP BY ALL
), span AS (
    SELECT assay_id, library_design, unnest(range(first, last + 1))::INTEGER AS pos, typical
    FROM (SELECT assay_id, min(pos) AS first, max(pos) AS last, median(n) AS typical FROM measured GROUP BY assay_id)
    JOIN assay_facts USING (assay_id) WHERE NOT after_entry AND library_design <> 'multi'
), direct AS (
    SELECT assay_id, pos, coalesce(n, 0) AS n,
        CASE library_design WHEN 'saturation' THEN 19 ELSE typical END AS expected
    FROM span LEFT JOIN measured USING (assay_id, pos)
), after AS (
    SELECT assay_id, pos, sum(measured) AS n, sum(expected) AS expected FROM measured_after_entry WHERE quintile > 3
    GROUP BY assay_id, pos HAVING sum(expected) >= 3
)
SELECT assay_id AS subject, avg((n < expected / 2)::INTEGER) AS value, any_value(high) AS high,
    'thin sites: ' || string_agg(pos, ', ' ORDER BY n / expected, pos) FILTER (n < expected / 2)[:60] AS message
FROM (SELECT *, 0.05 AS high FROM direct UNION ALL SELECT *, 0.1 FROM after) GROUP BY assay_id
"""
# In a saturation library 19 are expected, in others the assay's own median (a designed library of spike has 6 a site).
# After cell entry, only what enters can be measured: expected are the variants of the two upper quintiles of entry;
# real assays have up to 0.015 thin sites when measured directly and up to 0.075 after entry.

_MISSING = """
SELECT assay_id || ' entry quintile ' || quintile AS subject, 1 - sum(measured) / sum(expected) AS value
FROM measured_after_entry GROUP BY assay_id, quintile
"""

_SAME = """
WITH size AS (
    SELECT reference_id, min(n) AS smallest
    FROM (SELECT reference_id, assay_id, count(*) AS n FROM missense GROUP BY ALL)
    GROUP BY reference_id HAVING count(*) > 1
), sample AS (
    SELECT assay_id, reference_id, variant_id, score FROM missense JOIN size USING (reference_id)
    WHERE smallest < 3000 OR variant_id < '08'
), pair AS (
    SELECT a.assay_id, b.assay_id AS other, a.score AS x, b.score AS y
    FROM sample AS a JOIN sample AS b ON a.reference_id = b.reference_id AND a.variant_id = b.variant_id
        AND a.assay_id > b.assay_id
), ranked AS (
    SELECT *, (rank() OVER by_x + count(*) OVER by_x) / 2.0 AS x_rank,
        (rank() OVER by_y + count(*) OVER by_y) / 2.0 AS y_rank
    FROM pair WINDOW by_x AS (PARTITION BY assay_id, other ORDER BY x),
        by_y AS (PARTITION BY assay_id, other ORDER BY y)
), judged AS (
    SELECT assay_id, other, count(*) AS n, greatest(abs(corr(x, y)), abs(corr(x_rank, y_rank))) AS r
    FROM ranked GROUP BY assay_id, other
)
SELECT assay_id AS id, format('same values as {} (correlation {:.4f} over {} shared variants)', other, r, n) AS message
FROM judged WHERE n >= 50 AND r > 0.999
"""
# One variant in 32 (ids are hashes) tells as much as all, where that leaves enough. Ranks find the same values in
# another unit (log or linear), the absolute value finds those with the sign flipped.

SCORE_CHECKS = (
    Figure(
        "C06_stops",
        "Median of the stop codons less that of the wild type, in assays where a broken protein scores low.",
        "block",
        "variants",
        _STOPS + "SELECT assay_id AS subject, stop - wild_type AS value FROM middle",
        high=0.0,
        unit="score",
        needs=("edits", "assay_facts"),
        advice="The sign is wrong: correct the assay's direction.",
    ),
    Figure(
        "C06_stops_low",
        "Share of the stop codons below the median of the missense variants.",
        "block",
        "variants",
        _STOPS
        + """SELECT assay_id AS subject, avg((score < missense)::INTEGER) AS value
            FROM edits JOIN middle USING (assay_id) WHERE kind = 'stop' GROUP BY assay_id""",
        low=0.75,
        unit="share",
        needs=("edits", "assay_facts"),
        advice="Stop codons should break the protein: the sign is wrong, or scores stand in the wrong rows.",
    ),
    Figure(
        "C07_likeness",
        "Spearman's rho of the score with BLOSUM62, in assays where a broken protein scores low.",
        "warn",
        "variants",
        "SELECT assay_id AS subject, CASE WHEN n >= 200 THEN rho END AS value, 'over ' || n AS message FROM likeness",
        low=0.05,
        unit="rho",
        needs=("likeness",),
        advice="Negative: the sign is wrong. Near 0: scores stand in the wrong rows. Real assays have 0.19 to 0.32.",
    ),
    Figure(
        "C07_proline",
        "Median score of changes to proline less that of all missense, in assays where a broken protein scores low.",
        "warn",
        "variants",
        "SELECT assay_id AS subject, CASE WHEN n >= 200 THEN proline END AS value, 'over ' || n AS message "
        "FROM likeness",
        high=0.0,
        unit="score",
        needs=("likeness",),
        advice="Proline breaks structures: above 0 the sign is wrong, or scores stand in the wrong rows.",
    ),
    Check(
        "C08_duplicates",
        "A variant occurs once in an assay; two measurements are kept as replicates of one row.",
        "block",
        "variants",
        f"""SELECT {ID} AS id, format('{{}} rows whose scores differ by up to {{:.4g}}', n, spread) AS message
            FROM repeats WHERE spread > 0""",
        needs=("repeats",),
        advice="Two libraries or tables were put together: keep each value in replicates, with their mean as score.",
    ),
    Figure(
        "C08_duplicates_spread",
        "Largest difference between two scores of one variant, for assays that have variants twice.",
        "info",
        "variants",
        "SELECT assay_id AS subject, max(spread) AS value FROM repeats GROUP BY assay_id",
        needs=("repeats",),
        unit="score",
    ),
    Check(
        "C09_score",
        "Scores are finite numbers, and the fractions of escape maps lie between 0 and 1.",
        "block",
        "variants",
        f"""SELECT {ID} AS id, CASE WHEN score IS NULL OR NOT isfinite(score) THEN 'score is no finite number'
                WHEN score_raw IS NULL OR NOT isfinite(score_raw) THEN 'score_raw is no finite number'
                ELSE 'escape fraction ' || score_raw || ' is outside 0 to 1' END AS message
            FROM variants JOIN assays USING (assay_id)
            WHERE score IS NULL OR NOT isfinite(score) OR score_raw IS NULL OR NOT isfinite(score_raw)
                OR (score_unit = 'ratio' AND phenotype IN ('antibody_escape', 'sera_escape')
                    AND score_raw NOT BETWEEN 0 AND 1)""",
        needs=("assays",),
        advice="A missing value is a reject `no_score`; escape above 1 was normalised in another way than the rest.",
    ),
    Figure(
        "C10_coverage",
        "Share of sites with less than half of the expected substitutions.",
        "warn",
        "variants",
        _COVERAGE,
        unit="share of sites",
        needs=("missense", "assay_facts", "measured_after_entry"),
        advice="Lines of the source were lost, or library_design in assays.toml is not that of the library.",
    ),
    Figure(
        "C11_missing_by_entry",
        "Share of the substitutions without a value, by quintile of cell entry (1: hardly enters): values are not "
        "missing at random.",
        "info",
        "variants",
        _MISSING,
        unit="share missing",
        needs=("measured_after_entry",),
        advice="Do not read a missing value as no escape, and do not fill it in.",
    ),
    Figure(
        "C12_observations",
        "Share of substitutions that were seen less than twice, where the source counts.",
        "warn",
        "variants",
        "SELECT assay_id AS subject, sum(n_thin) / sum(n_counted) AS value FROM counts "
        "WHERE kind = 'sub' AND n_counted > 0 GROUP BY assay_id",
        high=1 / 3,
        unit="share",
        needs=("counts",),
        advice="Ask for a minimum of observations in the assay's filters. Unfiltered real assays have up to 0.24.",
    ),
    Figure(
        "C12_least_observations",
        "The least number of observations behind a value, where the source counts.",
        "info",
        "variants",
        "SELECT assay_id AS subject, min(least) AS value FROM counts WHERE kind <> 'wt' GROUP BY assay_id",
        unit="observations",
        needs=("counts",),
    ),
    Check(
        "C15_same_values",
        "No two assays of one reference have the same values.",
        "block",
        "assays",
        _SAME,
        needs=("missense",),
        advice="One measurement was registered twice, perhaps from two publishers or in two units: keep one.",
    ),
)
"""The checks of this module, in their order."""
