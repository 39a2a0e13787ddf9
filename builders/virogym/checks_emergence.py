"""C21, for the table `emergence`: are candidates complete, counts honest and times in order?

A row is named by window, reference and mutation. A window's id names its two periods (`2020-2021`, `2020-01/2020-06`).
A mutation that the source's table lacks was not counted: its count is missing, never zero.
"""

from schemas import Check, Figure

ID = "concat_ws('/', window_id, reference_id, mutation)"

_PERIOD = "([12][0-9]{3}(?:-(?:0[1-9]|1[0-2])\\b)?)"

_TIME = f"""
WITH period AS (
    SELECT window_id, min({ID}) AS id, regexp_extract_all(window_id, '{_PERIOD}') AS periods,
        min(TRY_CAST(data_cutoff AS DATE)) AS cutoff
    FROM emergence GROUP BY window_id
), ends AS (
    SELECT *, CASE length(periods[2]) WHEN 4 THEN (periods[2] || '-12-31')::DATE
        WHEN 7 THEN last_day((periods[2] || '-01')::DATE) END AS until
    FROM period
)
SELECT id, CASE WHEN len(periods) <> 2 OR periods[1] >= periods[2] THEN 'its periods are not one before the other'
    ELSE 'data end on ' || coalesce(cutoff::VARCHAR, 'no known day') || ', the window on ' || until END AS message
FROM ends WHERE len(periods) <> 2 OR periods[1] >= periods[2] OR cutoff IS NULL OR cutoff < until
"""

_DENOMINATOR = f"""
SELECT min({ID}) AS id, CASE WHEN min(n_seq_T) <> max(n_seq_T) OR min(n_seq_T1) <> max(n_seq_T1)
    THEN 'the number of sequences differs between the mutations of a window'
    ELSE 'the number of sequences is the sum of the mutations'' counts' END AS message
FROM emergence GROUP BY window_id, reference_id
HAVING min(n_seq_T) <> max(n_seq_T) OR min(n_seq_T1) <> max(n_seq_T1)
    OR sum(count_T) = min(n_seq_T) OR sum(count_T1) = min(n_seq_T1)
"""

_REVERSION = f"""
WITH first AS (
    SELECT reference_site, reference_wt FROM numbering
    WHERE reference_id = (SELECT arg_min(reference_id, window_id) FROM emergence)
)
SELECT {ID} AS id, 'is_reversion is ' || coalesce(is_reversion::VARCHAR, 'null') || ', the first reference has '
    || reference_wt AS message
FROM emergence JOIN first ON ref_site = reference_site
WHERE is_reversion IS DISTINCT FROM (right(mutation, 1) = reference_wt AND left(mutation, 1) <> reference_wt)
"""

EMERGENCE_CHECKS = (
    Figure(
        "C21_candidates",
        "Share of all single substitutions of the reference that a window has as candidates.",
        "block",
        "emergence",
        """SELECT window_id || ' ' || reference_id AS subject,
                count(DISTINCT mutation) FILTER (regexp_full_match(mutation, '[A-Z][0-9]+[A-Z]'))
                    / (19 * any_value(length)) AS value
            FROM emergence JOIN "references" USING (reference_id) GROUP BY window_id, reference_id""",
        low=1.0,
        high=1.0,
        unit="share",
        needs=("references",),
        advice="Mutations that were never seen are candidates too: add them.",
    ),
    Check(
        "C21_wild_type",
        "The wild-type letter of a candidate is the reference's residue.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id, 'reference ' || reference_id || ' has '
                || substr(sequence, regexp_extract(mutation, '[0-9]+')::INTEGER, 1) AS message
            FROM emergence JOIN "references" USING (reference_id)
            WHERE left(mutation, 1) <> substr(sequence, regexp_extract(mutation, '[0-9]+')::INTEGER, 1)""",
        needs=("references",),
        advice="Counts are on the first reference's numbering: carry them over to the window's own reference.",
    ),
    Check(
        "C21_absent",
        "A count is missing exactly where the source does not list the mutation.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id, 'observed_T is ' || coalesce(observed_T::VARCHAR, 'null') || ', count_T is '
                || coalesce(count_T::VARCHAR, 'null') AS message
            FROM emergence WHERE observed_T IS NULL OR observed_T <> (count_T IS NOT NULL)""",
        advice="Absent is not zero: sources leave rare mutations out.",
    ),
    Check(
        "C21_time",
        "The first period is before the second, and the data reach its end.",
        "block",
        "emergence",
        _TIME,
        advice="A second period that is cut short counts what has not yet risen as not emergent: shorten the window.",
    ),
    Check(
        "C21_denominator",
        "A window has one number of sequences for each period, and it is not the sum of the counts.",
        "block",
        "emergence",
        _DENOMINATOR,
        advice="Divide by sequences: a sum of counts grows with the number of mutations a genome.",
    ),
    Check(
        "C21_frequency",
        "Counts are at most the number of sequences, and a frequency is their ratio.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id,
                format('{{}} of {{}} and {{}} of {{}} sequences', count_T, n_seq_T, count_T1, n_seq_T1) AS message
            FROM emergence WHERE count_T > n_seq_T OR count_T1 > n_seq_T1
                OR abs(freq_T - count_T / n_seq_T) > 1e-9 OR abs(freq_T1 - count_T1 / n_seq_T1) > 1e-9""",
        advice="Compute frequencies from the counts and sequences of the same period.",
    ),
    Check(
        "C21_labels",
        "A novel mutation was not seen before and is seen after, and each label names its rule.",
        "block",
        "emergence",
        f"""SELECT {ID} AS id, CASE WHEN coalesce(label_rule, '') = '' THEN 'no label_rule'
                ELSE format('is_novel with {{}} before and {{}} after', count_T, count_T1) END AS message
            FROM emergence WHERE coalesce(label_rule, '') = ''
                OR (is_novel AND (coalesce(count_T, 0) > 0 OR coalesce(count_T1, 0) = 0))""",
        advice="Make the labels from the counts again.",
    ),
    Check(
        "C21_reversion",
        "Changes back to the first reference's residue are flagged.",
        "block",
        "emergence",
        _REVERSION,
        needs=("numbering",),
        advice="Sources count changes from the first reference: a reversion has no count there and is no negative.",
    ),
)
"""The checks of this module, in their order."""
