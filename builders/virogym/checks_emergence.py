"""C21 to C24, for the tables of emergence: are candidates complete, counts honest and times in order?

A change that the source does not list was not counted: its count is missing, never zero.
"""

from builders.virogym.checks_tasks import origin_checks
from builders.virogym.schema_emergence import EMERGENCE, WINDOWS
from schemas import Check, Figure

ID = EMERGENCE.row_id_sql()

_TIME = """
WITH ends AS (
    SELECT window_id, "start_T", "end_T", "start_T1", "end_T1", TRY_CAST(data_cutoff AS DATE) AS cutoff,
        last_day(TRY_CAST("end_T1" || '-01' AS DATE)) AS until
    FROM windows
)
SELECT window_id AS id, CASE
    WHEN cutoff IS NULL OR until IS NULL THEN 'a month or the last day of the data is no date'
    WHEN cutoff < until THEN 'data end on ' || cutoff || ', the window on ' || until
    ELSE 'its periods are not one before the other' END AS message
FROM ends WHERE cutoff IS NULL OR until IS NULL OR cutoff < until OR "start_T" > "end_T" OR "end_T" >= "start_T1"
    OR "start_T1" > "end_T1"
"""

_DENOMINATOR = """
SELECT w.window_id AS id, CASE
    WHEN min(e."n_seq_T") <> max(e."n_seq_T") OR min(e."n_seq_T1") <> max(e."n_seq_T1")
        THEN 'the number of genomes differs between the changes of a window'
    WHEN min(e."n_seq_T") <> any_value(w."n_seq_T") OR min(e."n_seq_T1") <> any_value(w."n_seq_T1")
        THEN 'the number of genomes is not that of the window'
    ELSE 'the number of genomes is the sum of the counts' END AS message
FROM emergence AS e JOIN windows AS w USING (window_id) GROUP BY w.window_id
HAVING min(e."n_seq_T") <> max(e."n_seq_T") OR min(e."n_seq_T1") <> max(e."n_seq_T1")
    OR min(e."n_seq_T") <> any_value(w."n_seq_T") OR min(e."n_seq_T1") <> any_value(w."n_seq_T1")
    OR (count("count_T") > 1 AND sum("count_T") = min(e."n_seq_T") AND max("count_T") < min(e."n_seq_T"))
    OR (count("count_T1") > 1 AND sum("count_T1") = min(e."n_seq_T1") AND max("count_T1") < min(e."n_seq_T1"))
"""

_REVERSION = f"""
WITH root AS (
    SELECT window_id, reference_site AS ref_site, reference_wt AS root_wt
    FROM windows JOIN numbering ON root_id = numbering.reference_id
), judged AS (
    SELECT e.*, coalesce(mut = root_wt AND wt <> root_wt, false) AS back, root_wt
    FROM emergence AS e LEFT JOIN root USING (window_id, ref_site)
)
SELECT {ID} AS id, 'is_reversion is ' || is_reversion || ' and status ' || status || ', the root has '
    || coalesce(root_wt, 'no such site') AS message
FROM judged WHERE is_reversion IS DISTINCT FROM back OR back <> (status = 'reversion')
"""

EMERGENCE_CHECKS = (
    Figure(
        "C21_candidates",
        "Share of all changes of one residue of the reference, deletions included, that a window has as candidates.",
        "block",
        "emergence",
        """SELECT window_id || ' ' || reference_id AS subject,
                count(DISTINCT mutation) FILTER (regexp_full_match(mutation, '[A-Z][0-9]+([A-Z]|del)'))
                    / (20 * any_value(length)) AS value
            FROM emergence JOIN "references" USING (reference_id) GROUP BY window_id, reference_id""",
        low=1.0,
        high=1.0,
        unit="share",
        needs=("references",),
        advice="Mutations that were never seen are candidates too: add them.",
    ),
    Check(
        "C21_wild_type",
        "The wild-type letter of a candidate is the reference's residue, and its parts say what `mutation` says.",
        "block",
        "emergence",
        f"""SELECT {EMERGENCE.row_id_sql("e")} AS id, 'reference ' || reference_id || ' has '
                || substr(sequence, regexp_extract(mutation, '[0-9]+')::INTEGER, 1) AS message
            FROM emergence AS e JOIN "references" USING (reference_id)
            WHERE left(mutation, 1) <> substr(sequence, regexp_extract(mutation, '[0-9]+')::INTEGER, 1)
                OR wt <> left(mutation, 1)
                OR mut <> CASE WHEN mutation LIKE '%del' THEN '-' ELSE right(mutation, 1) END""",
        needs=("references",),
        advice="Counts are on the root's numbering: carry them over to the window's own reference.",
    ),
    Check(
        "C21_absent",
        "A count is missing exactly where the source does not count the change.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id, 'status ' || status || ', observed_T ' || coalesce(observed_T::VARCHAR, 'null')
                || ', count_T ' || coalesce("count_T"::VARCHAR, 'null') || ', count_T1 '
                || coalesce("count_T1"::VARCHAR, 'null') AS message
            FROM emergence WHERE observed_T IS DISTINCT FROM (status = 'counted')
                OR observed_T IS DISTINCT FROM ("count_T" IS NOT NULL)
                OR observed_T IS DISTINCT FROM ("count_T1" IS NOT NULL)""",
        advice="Absent and masked are not zero: sources leave rare changes and bad sites out.",
    ),
    Check(
        "C21_time",
        "The first period is before the second, and the data reach its end.",
        "block",
        "windows",
        _TIME,
        advice="A second period that is cut short counts what has not yet risen as not emergent: shorten the window.",
    ),
    Check(
        "C21_denominator",
        "A window has one number of genomes for each period, and it is not the sum of the counts.",
        "block",
        "windows",
        _DENOMINATOR,
        needs=("emergence",),
        advice="Divide by genomes: a sum of counts grows with the number of mutations a genome.",
    ),
    Check(
        "C21_frequency",
        "Counts are at most the number of genomes, and a frequency is their ratio.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id, format('{{}} of {{}} and {{}} of {{}} genomes',
                "count_T", "n_seq_T", "count_T1", "n_seq_T1") AS message
            FROM emergence WHERE "count_T" > "n_seq_T" OR "count_T1" > "n_seq_T1"
                OR abs("freq_T" - "count_T" / "n_seq_T") > 1e-9 OR abs("freq_T1" - "count_T1" / "n_seq_T1") > 1e-9
                OR ("freq_T" IS NULL) <> ("count_T" IS NULL) OR ("freq_T1" IS NULL) <> ("count_T1" IS NULL)""",
        advice="Compute frequencies from the counts and genomes of the same period.",
    ),
    Check(
        "C21_distance",
        "A substitution has its distance in nucleotides, a deletion has none.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id, 'min_nt_dist is ' || coalesce(min_nt_dist::VARCHAR, 'missing') AS message FROM emergence
            WHERE (mut = '-') <> (min_nt_dist IS NULL)""",
        advice="Distances come from the codons of the window's own reference: build again.",
    ),
    Check(
        "C21_labels",
        "A novel change was not seen before and is seen after, what was not counted is not called novel, and the label "
        "is that of its rule.",
        "block",
        "emergence",
        f"""SELECT {EMERGENCE.row_id_sql("e")} AS id, CASE
                WHEN r.label_rule IS NULL THEN coalesce(e.label_rule, 'null') || ' is none of the rules'
                WHEN is_emergent IS DISTINCT FROM list_contains(emergent_by, e.label_rule) AND is_emergent IS NOT NULL
                    THEN 'is_emergent is ' || is_emergent || ', emergent_by '
                        || coalesce(emergent_by::VARCHAR, 'null')
                ELSE format('is_novel is {{}} with {{}} before and {{}} after', is_novel, "count_T", "count_T1")
                END AS message
            FROM emergence AS e LEFT JOIN label_rules AS r USING (label_rule)
            WHERE r.label_rule IS NULL OR is_novel IS DISTINCT FROM
                    (CASE WHEN observed_T THEN "count_T" = 0 AND "count_T1" > 0 END)
                OR (is_emergent IS NOT NULL
                    AND is_emergent IS DISTINCT FROM list_contains(emergent_by, e.label_rule))""",
        needs=("label_rules",),
        advice="Make the labels from the counts again.",
    ),
    Check(
        "C21_reversion",
        "Changes back to the root's residue are flagged, and have no count.",
        "block",
        "emergence",
        _REVERSION,
        needs=("numbering", "windows"),
        advice="Sources count changes from the root: a reversion has no count there and is no negative.",
    ),
    *origin_checks("window", WINDOWS),
    Check(
        "C24_window_account",
        "Each record of a window's source counts a candidate or is dropped for a reason; all candidates are there.",
        "block",
        "windows",
        """WITH told AS (
                SELECT window_id, n_candidates, n_rows_in, coalesce(list_sum(map_values(
                    n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT))), 0)::BIGINT AS dropped FROM windows
            ), present AS (
                SELECT window_id, count(*) AS n, count(*) FILTER (observed_T) AS counted
                FROM emergence GROUP BY window_id
            )
            SELECT window_id AS id, format('{} records: {} counted and {} dropped; {} of {} candidates', n_rows_in,
                coalesce(counted, 0), dropped, coalesce(n, 0), n_candidates) AS message
            FROM told LEFT JOIN present USING (window_id)
            WHERE n_rows_in <> coalesce(counted, 0) + dropped OR coalesce(n, 0) <> n_candidates""",
        needs=("emergence",),
        advice="Counts were lost between the source and the table: build again, and report it.",
    ),
)
"""The checks of this module, in their order."""
