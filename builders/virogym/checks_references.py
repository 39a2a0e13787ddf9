"""C02, C04 and C13: references, their numbering, and the whole sequences that are made from them."""

from builders.virogym.schema import AMINO_ACIDS, NUMBERING, PROTEINGYM, REFERENCES, VARIANTS
from schemas import Alike, Check

ID = VARIANTS.row_id_sql()

_SHOWN = "CASE WHEN kind IN ('sub', 'multi') THEN mutant ELSE '' END"

_COPY = f"""
WITH segment AS (
    SELECT assay_id, variant_id, CASE op WHEN 'ins' THEN pos + 1 ELSE pos END AS cut_from,
        CASE op WHEN 'ins' THEN pos ELSE pos2 END AS cut_to, mt,
        coalesce(lag(cut_to) OVER (PARTITION BY assay_id, variant_id ORDER BY cut_from, cut_to), 0) AS copied
    FROM edits WHERE op <> 'sub' OR n_mut > 1
), rebuilt AS (
    SELECT assay_id, variant_id,
        string_agg(substr(sequence, copied + 1, cut_from - copied - 1) || mt, '' ORDER BY cut_from, cut_to)
            || substr(any_value(sequence), max(cut_to) + 1) AS expected
    FROM segment JOIN assay_facts USING (assay_id) GROUP BY assay_id, variant_id
), place AS (
    SELECT reference_id, pos::INTEGER AS pos, substr(sequence, 1, pos - 1) AS head, substr(sequence, pos + 1) AS tail
    FROM (SELECT reference_id, sequence, unnest(range(1, length(sequence) + 1)) AS pos FROM "references")
), single AS (
    SELECT p.*, reference_id, TRY_CAST(substr(mutant, 2, length(mutant) - 2) AS INTEGER) AS pos
    FROM proteingym AS p LEFT JOIN assay_facts ON "DMS_id" = assay_id
), theirs AS MATERIALIZED (
    SELECT "DMS_id" AS assay_id, count(*) AS n,
        sum(hash(p.variant_id, "DMS_score", "DMS_score_bin", coalesce(mutant, ''))) AS digest,
        list({PROTEINGYM.row_id_sql("p")}) FILTER (mutated_sequence IS DISTINCT FROM
            CASE WHEN pos IS NULL THEN expected ELSE concat(head, right(mutant, 1), tail) END) AS wrong
    FROM single AS p LEFT JOIN place USING (reference_id, pos)
    LEFT JOIN rebuilt AS r ON p."DMS_id" = r.assay_id AND p.variant_id = r.variant_id GROUP BY "DMS_id"
), ours AS (
    SELECT assay_id, count(*) AS n, sum(hash(variant_id, score, bin, {_SHOWN})) AS digest
    FROM variants WHERE kind NOT IN ('stop', 'wt', 'syn') GROUP BY assay_id
), differing AS (
    SELECT coalesce(assay_id, '') AS assay_id FROM ours FULL JOIN theirs USING (assay_id)
    WHERE ours.n IS DISTINCT FROM theirs.n OR ours.digest IS DISTINCT FROM theirs.digest
    UNION SELECT assay_id FROM repeats
)
SELECT unnest(wrong) AS id, 'mutated_sequence is not the reference with the edits' AS message FROM theirs
UNION ALL
SELECT {PROTEINGYM.row_id_sql("p")}, CASE
    WHEN kind IS NULL THEN 'it is not in variants'
    WHEN kind IN ('stop', 'wt', 'syn') THEN 'a ' || kind || ' row has no place here'
    WHEN "DMS_score" IS DISTINCT FROM score THEN 'its score is not that of variants'
    WHEN "DMS_score_bin" IS DISTINCT FROM bin THEN 'its bin is not that of variants'
    ELSE 'its mutant is not that of variants' END
FROM (FROM proteingym WHERE coalesce("DMS_id", '') IN (FROM differing)) AS p
LEFT JOIN (SELECT *, {_SHOWN} AS shown FROM variants WHERE assay_id IN (FROM differing)) AS v
    ON p."DMS_id" = v.assay_id AND p.variant_id = v.variant_id
WHERE kind IS NULL OR kind IN ('stop', 'wt', 'syn') OR "DMS_score" IS DISTINCT FROM score
    OR "DMS_score_bin" IS DISTINCT FROM bin OR coalesce(p.mutant, '') <> shown
"""
# The large tables are read once, for a join of the two costs more than that: rows are compared one by one only in
# assays whose sums of row hashes differ (equal by chance: one in 1.8e19), and in those that have a variant twice.

REFERENCE_CHECKS = (
    Alike(
        "C04_nearly_same_protein",
        "References of which nine in ten residues are the same, so that their assays are no independent evidence.",
        "references",
        "sequence",
        "protein",
        severity="info",
        advice="Strains of one virus are alike by nature: count them as one where results are averaged (cluster_90).",
    ),
    Check(
        "C02_numbering",
        "A numbering map gives each position of its reference one number of the field, and its right residue.",
        "block",
        "numbering",
        f"""SELECT {NUMBERING.row_id_sql()} AS id, CASE
                WHEN sequential_site > length THEN 'the reference has ' || length || ' residues'
                WHEN reference_wt <> substr(sequence, sequential_site, 1)
                    THEN 'residue ' || reference_wt || ', the reference has ' || substr(sequence, sequential_site, 1)
                ELSE 'site ' || reference_site || ' stands for ' || n || ' positions' END AS message
            FROM (SELECT *, count(*) OVER (PARTITION BY reference_id, reference_site) AS n FROM numbering) AS numbered
            JOIN "references" USING (reference_id)
            WHERE n > 1 OR reference_wt IS DISTINCT FROM substr(sequence, sequential_site, 1)""",
        needs=("references",),
        advice="Read site maps as text (`150d`), and use the map of this strain.",
    ),
    Check(
        "C02_numbering_whole",
        "A reference has a number for each of its positions.",
        "block",
        "references",
        f"""SELECT {REFERENCES.row_id_sql()} AS id,
                format('the numbering has {{}} of {{}} positions', count(DISTINCT sequential_site), any_value(length))
                    AS message
            FROM "references" LEFT JOIN numbering USING (reference_id) GROUP BY reference_id
            HAVING count(DISTINCT sequential_site) <> any_value(length)""",
        needs=("numbering",),
        advice="The site map has lost lines: compare it with its source.",
    ),
    Check(
        "C02_numbering_aligned",
        "The field's number agrees with an alignment to the sequence that the numbering is made for.",
        "block",
        "numbering",
        f"""SELECT {NUMBERING.row_id_sql()} AS id, 'site ' || reference_site || ', the alignment says '
                || coalesce(aligned_site::VARCHAR, 'that it is an insertion') AS message
            FROM numbering WHERE reference_id IN (SELECT reference_id FROM numbering WHERE aligned_site IS NOT NULL)
                AND nullif(greatest(TRY_CAST(reference_site AS INTEGER), 0), 0) IS DISTINCT FROM aligned_site""",
        advice="An insertion or a deletion was lost or put elsewhere: compare the map with the alignment.",
    ),
    Check(
        "C02_variant_sites",
        "A variant's sites are those that the numbering gives its positions.",
        "block",
        "variants",
        f"""SELECT {ID} AS id, format('site {{}}, the numbering says {{}}', site, reference_site) AS message
            FROM edits JOIN numbering AS n ON edits.reference_id = n.reference_id AND pos = sequential_site
            WHERE site IS DISTINCT FROM reference_site
            UNION ALL
            SELECT {ID}, format('site {{}}, the numbering says {{}}', site2, reference_site)
            FROM edits JOIN numbering AS n ON edits.reference_id = n.reference_id AND pos2 = sequential_site
            WHERE wt2 IS NOT NULL AND site2 IS DISTINCT FROM reference_site""",
        needs=("edits", "numbering"),
        advice="ref_site and mutant were made with different maps: build again.",
    ),
    Check(
        "C04_sequence_alphabet",
        "References are made of the 20 amino acids.",
        "block",
        "references",
        f"""SELECT {REFERENCES.row_id_sql()} AS id, 'it holds ' || translate(sequence, '{AMINO_ACIDS}', '') AS message
            FROM "references" WHERE translate(sequence, '{AMINO_ACIDS}', '') <> '' OR length(sequence) <> length""",
        advice="Take gaps and stops out of the sequence, and correct length.",
    ),
    Check(
        "C13_sequence",
        "mutated_sequence is the reference with the edits applied, with the score and bin of variants.",
        "block",
        "proteingym",
        _COPY,
        needs=("edits", "assay_facts", "variants", "repeats"),
        advice="The copy in ProteinGym's columns disagrees with variants: build again.",
    ),
    Check(
        "C13_complete",
        "Each substitution, multi-mutant, insertion and deletion has its row in ProteinGym's columns.",
        "block",
        "assays",
        """SELECT assay_id AS id, format('{} of {} rows', coalesce(p.n, 0), v.n) AS message
            FROM (SELECT assay_id, sum(n)::BIGINT AS n FROM counts
                WHERE kind NOT IN ('stop', 'wt', 'syn') GROUP BY assay_id) AS v
            LEFT JOIN (SELECT "DMS_id" AS assay_id, count(*) AS n FROM proteingym GROUP BY "DMS_id") AS p
            USING (assay_id)
            WHERE p.n IS DISTINCT FROM v.n""",
        needs=("counts", "proteingym"),
        advice="Build again: the table for ProteinGym's readers lacks rows, or has some twice.",
    ),
)
"""The checks of this module, in their order."""
