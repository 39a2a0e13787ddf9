"""C01, C03 to C05 and C14: does each mutant describe a real change of its reference?

Where notes and code say "fails", the query returns the row. What a mutant's parts are is the business of
`checks_views`.
"""

from builders.virogym.schema import AMINO_ACIDS, VARIANTS
from schemas import Check, Figure

ID = VARIANTS.row_id_sql()

UNREADABLE = ("bad_mutant", "bad_hgvs", "unknown_residue", "missing_field", "overlapping_edits")
"""Codes of rejects whose change could not be read."""

_WILD_TYPE = """
WITH place AS (
    SELECT assay_id, pos, wt, fits, count(*) AS n FROM edits WHERE pos IS NOT NULL GROUP BY ALL
), share AS (
    SELECT assay_id, coalesce(sum(n) FILTER (fits), 0) / sum(n) AS value FROM place GROUP BY assay_id
), shifted AS (
    SELECT assay_id, shift,
        coalesce(sum(n) FILTER (pos + shift > 0 AND substr(sequence, pos + shift, 1) = wt), 0) / sum(n) AS match
    FROM place SEMI JOIN (FROM share WHERE value < 1) USING (assay_id) JOIN assay_facts USING (assay_id)
    CROSS JOIN (SELECT unnest(range(-30, 31)) AS shift) GROUP BY assay_id, shift
), best AS (
    SELECT assay_id, arg_max(shift, match) AS shift, max(match) AS match FROM shifted GROUP BY assay_id
)
SELECT assay_id AS subject, value, format('best shift {}, where {:.1f} % match', shift, 100 * match) AS message
FROM share LEFT JOIN best USING (assay_id)
"""

_KIND = f"""
WITH shape AS (
    SELECT assay_id, variant_id, any_value(kind) AS kind, any_value(n_mut) AS n_mut, count(*) AS n,
        bool_or(op IS NULL OR pos IS NULL) AS unread, bool_or(op = 'sub' AND wt = mt) AS idle,
        bool_or(contains(mt, '*')) AS stop, bool_and(op = 'sub') AS subs,
        sum(length(mt) - CASE op WHEN 'ins' THEN 0 ELSE pos2 - pos + 1 END) AS growth
    FROM edits WHERE op IS NULL OR pos IS NULL OR n_mut <> 1 OR op <> 'sub' OR kind <> 'sub' OR wt = mt OR mt = '*'
    GROUP BY assay_id, variant_id
), said AS (
    SELECT *, CASE WHEN unread THEN 'unread' WHEN n > 1 AND idle THEN 'idle' WHEN stop THEN 'stop'
        WHEN NOT subs THEN CASE WHEN growth > 0 THEN 'ins' ELSE 'del' END WHEN n > 1 THEN 'multi'
        WHEN idle THEN CASE kind WHEN 'syn' THEN 'syn' ELSE 'wt' END ELSE 'sub' END AS shows
    FROM shape
)
SELECT {ID} AS id, CASE shows WHEN 'unread' THEN 'the edits cannot be read'
    WHEN 'idle' THEN 'one of the edits changes nothing'
    ELSE 'kind is ' || kind || ' with n_mut ' || n_mut || ', the edits say ' || shows END AS message
FROM said WHERE shows <> kind OR n_mut <> CASE WHEN shows IN ('wt', 'syn') THEN 0 ELSE n END
"""

_ORDER = f"""
WITH step AS (
    SELECT assay_id, variant_id, n_mut, op = 'sub' AND wt = mt AS idle, count(*) OVER of_variant AS n,
        lag(CASE op WHEN 'ins' THEN pos ELSE pos2 END) OVER (of_variant ORDER BY ordinal) AS before,
        pos < before OR (pos = before AND op <> 'ins') AS disorder
    FROM edits WHERE n_mut > 1 OR ordinal > 1 WINDOW of_variant AS (PARTITION BY assay_id, variant_id)
)
SELECT {ID} AS id, CASE
    WHEN bool_or(disorder) THEN 'its edits are not in the order of their positions, or one position has two'
    WHEN bool_or(idle) THEN 'one of its edits changes nothing'
    ELSE 'n_mut is ' || any_value(n_mut) || ', it has ' || max(n) || ' edits' END AS message
FROM step GROUP BY assay_id, variant_id HAVING bool_or(disorder) OR bool_or(idle) OR bool_or(n <> n_mut)
"""

SEQUENCE_CHECKS = (
    Figure(
        "C01_wild_type",
        "Share of an assay's edits whose wild-type letter is the reference's residue at that position.",
        "block",
        "variants",
        _WILD_TYPE,
        low=1.0,
        unit="share",
        needs=("edits", "assay_facts"),
        advice="A match of 5 to 10 % is a wrong offset (see the best shift), 67 to 95 % another strain, 0 % wild type "
        "and mutant exchanged. Correct the numbering or the reference in assays.toml; a known difference of the "
        "library goes into the reference's background.",
    ),
    Check(
        "C01_wild_type_rows",
        "The wild-type letter is not the reference's residue.",
        "block",
        "variants",
        f"""SELECT {ID} AS id, format('{{}} at {{}}, reference {{}} has {{}}', concat_ws('_', wt, wt2),
                concat_ws('_', pos, CASE WHEN wt2 IS NOT NULL THEN pos2 END), e.reference_id,
                concat_ws('_', substr(sequence, pos, 1), CASE WHEN wt2 IS NOT NULL THEN substr(sequence, pos2, 1) END))
                AS message
            FROM edits AS e JOIN assay_facts USING (assay_id) WHERE pos IS NOT NULL AND NOT fits""",
        needs=("edits", "assay_facts"),
        advice="See C01_wild_type.",
    ),
    Figure(
        "C01_rejected",
        "Share of a source's records that were rejected: the reference has another residue there, or no such site.",
        "block",
        "variants",
        """SELECT source AS subject,
                (sum(coalesce(reasons['wrong_residue'], 0)) + sum(coalesce(reasons['unknown_site'], 0)))
                    / sum(records) AS value
            FROM accounting WHERE table_name = 'variants' GROUP BY source HAVING sum(records) > 0""",
        high=0.0,
        unit="share",
        needs=("accounting",),
        advice="The reference is not the strain that was mutated, or the site map misses sites: see the rejects.",
    ),
    Figure(
        "C03_parse_rate",
        "Share of a source's records whose change could be read.",
        "block",
        "variants",
        f"""WITH unread AS (
                SELECT source, reason, count(*) AS n, any_value(message) AS example FROM rejects
                WHERE table_name = 'variants' AND reason IN {UNREADABLE} GROUP BY ALL
            ), counted AS (
                SELECT source, sum(n) AS n, string_agg(n || ' x ' || example, '; ' ORDER BY n DESC) AS message
                FROM unread GROUP BY source
            )
            SELECT source AS subject, 1 - coalesce(n, 0) / sum(records) AS value, any_value(message) AS message
            FROM accounting LEFT JOIN counted USING (source) WHERE table_name = 'variants'
            GROUP BY source, n HAVING sum(records) > 0""",
        low=0.995,
        unit="share",
        needs=("accounting", "rejects"),
        advice="Teach the reader this spelling (`*` for Ter, `_wt`, `_sy`), or filter these records in assays.toml.",
    ),
    Check(
        "C04_alphabet",
        "Edits are made of the 20 amino acids and `*`; never `-`, X, B, Z, J, U or O.",
        "block",
        "variants",
        f"""SELECT {ID} AS id, format('edit {{}} has a letter that is no amino acid: {{}} to {{}}', ordinal,
                wt || coalesce(wt2, ''), mt) AS message FROM edits
            WHERE pos IS NOT NULL AND (NOT contains('{AMINO_ACIDS}*', wt) OR NOT contains('{AMINO_ACIDS}*', wt2)
                OR (op = 'sub' AND NOT contains('{AMINO_ACIDS}*', mt))
                OR (op LIKE '%ins' AND translate(mt, '{AMINO_ACIDS}', '') <> ''))""",
        needs=("edits",),
        advice="`-` is a deletion and belongs into kind `del`; other letters are no measured change.",
    ),
    Check(
        "C05_kind",
        "kind and n_mut say what the edits say: a row that changes nothing is `wt` or `syn`, never a substitution.",
        "block",
        "variants",
        _KIND,
        needs=("edits",),
        advice="Rows with the wild type's residue inflate every score of a model: give them kind wt or syn.",
    ),
    Check(
        "C14_multi_mutants",
        "A multi-mutant has each position once, in order, and no edit that changes nothing.",
        "block",
        "variants",
        _ORDER,
        needs=("edits",),
        advice="`F10F:W38V` is the same protein as `W38V` and would be in two folds: write it in its shortest form.",
    ),
)
"""The checks of this module, in their order."""
