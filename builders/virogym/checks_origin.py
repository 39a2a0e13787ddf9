"""C16 and C22 to C24: may the rows be compared across folds, where do they come from, and are they all there?"""

from builders.virogym.schema import ASSAYS, REFERENCES, VARIANTS
from schemas import Check

ID = VARIANTS.row_id_sql()

_ALIKE = """
WITH word AS (
    SELECT DISTINCT reference_id, cluster_30, length, substr(sequence, i, 5) AS word
    FROM (SELECT *, unnest(range(1, length(sequence) - 3)) AS i FROM "references")
)
SELECT a.reference_id AS id, format('cluster {}, but like {} of cluster {} ({:.0f} % of the 5-residue words)',
    any_value(a.cluster_30), b.reference_id, any_value(b.cluster_30),
    100 * count(*) / any_value(least(a.length, b.length) - 4)) AS message
FROM word AS a JOIN word AS b ON a.word = b.word AND a.reference_id < b.reference_id AND a.cluster_30 <> b.cluster_30
GROUP BY a.reference_id, b.reference_id HAVING count(*) > 0.1 * any_value(least(a.length, b.length) - 4)
"""
# Needs no alignment: a tenth of the words of five is shared from about 60 % identity on, and never by chance.

_FOLDS = f"""
WITH torn AS (
    SELECT assay_id, pos FROM edits WHERE n_mut = 1 GROUP BY assay_id, pos
    HAVING min(split_modulo) <> max(split_modulo) OR min(split_contiguous) <> max(split_contiguous)
)
SELECT {ID} AS id, 'position ' || pos || ' is in several folds' AS message
FROM edits JOIN torn USING (assay_id, pos) WHERE n_mut = 1
"""

_ACCOUNT = """
WITH assay AS (
    SELECT a.assay_id, n_rows_in, n_rows_out, coalesce(n, 0) AS present, source_sha256,
        n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT) AS reasons, coalesce(reasons['merged'], 0) AS merged,
        coalesce(list_sum(map_values(reasons)), 0)::BIGINT - merged AS dropped
    FROM assays AS a LEFT JOIN (SELECT assay_id, sum(n)::BIGINT AS n FROM counts GROUP BY assay_id) USING (assay_id)
), source AS (
    SELECT sha256 AS source_sha256, sum(records) AS records, sum(a.merged) AS merged_in_source,
        sum(rejected) AS rejected
    FROM accounting AS a JOIN (SELECT DISTINCT name, sha256 FROM sources) ON source = name
    WHERE table_name = 'variants' GROUP BY sha256
), told AS (
    -- Rows that left after the build (withdrawn, or failed a `drop` check) are rejects that no assay counts.
    SELECT assay.*, records, merged_in_source, rejected, sum(n_rows_in) OVER of_source AS told_in,
        sum(merged) OVER of_source AS told_merged, sum(dropped) OVER of_source AS told_dropped,
        coalesce(rejected - told_dropped, 0) AS left_later, sum(n_rows_out - present) OVER of_source AS gone
    FROM assay LEFT JOIN source USING (source_sha256) WINDOW of_source AS (PARTITION BY source_sha256)
)
SELECT assay_id AS id, CASE
    WHEN present > n_rows_out OR gone <> left_later THEN format(
        'variants has {} rows, n_rows_out is {}, and {} left its source later', present, n_rows_out, left_later)
    WHEN n_rows_in <> n_rows_out + merged + dropped THEN format(
        '{} records in, {} rows, {} merged and {} dropped', n_rows_in, n_rows_out, merged, dropped)
    ELSE format('its source has {} records, {} of them merged and {} dropped; its assays say {}, {} and {}', records,
        merged_in_source, rejected, told_in, told_merged, told_dropped) END AS message
FROM told WHERE present > n_rows_out OR gone <> left_later OR n_rows_in <> n_rows_out + merged + dropped
    OR records <> told_in OR (merged_in_source <> told_merged AND gone = 0)
"""

ORIGIN_CHECKS = (
    Check(
        "C16_cluster",
        "All rows of an assay are in the homology cluster of its reference.",
        "block",
        "assays",
        """SELECT assay_id AS id, 'split_cluster has '
                || string_agg(DISTINCT split_cluster, ', ' ORDER BY split_cluster)
                || ', the reference is in ' || any_value(cluster_30) AS message
            FROM (SELECT DISTINCT assay_id, split_cluster FROM counts) JOIN assays USING (assay_id)
            JOIN "references" USING (reference_id)
            GROUP BY assay_id HAVING bool_or(split_cluster IS DISTINCT FROM cluster_30)""",
        needs=("counts", "references"),
        advice="A cluster in two folds shows a model the protein that it is tested on: build again.",
    ),
    Check(
        "C16_nested",
        "Clusters are consistent: equal proteins are together, a 90 % cluster is within one 30 % cluster, and each is "
        "named after a member.",
        "block",
        "references",
        f"""SELECT {REFERENCES.row_id_sql("r")} AS id, 'clusters ' || r.cluster_30 || ' and ' || r.cluster_90
                || ' contradict those of ' || o.reference_id AS message
            FROM "references" AS r JOIN "references" AS o
            ON (r.cluster_90 = o.cluster_90 AND r.cluster_30 <> o.cluster_30)
                OR (r.sequence = o.sequence AND r.cluster_90 <> o.cluster_90)
                OR (o.reference_id = r.cluster_30 AND o.cluster_30 <> r.cluster_30)
                OR (o.reference_id = r.cluster_90 AND o.cluster_90 <> r.cluster_90)
            UNION ALL
            SELECT {REFERENCES.row_id_sql()}, 'its cluster is named after no reference' FROM "references"
            WHERE cluster_30 NOT IN (SELECT reference_id FROM "references")
                OR cluster_90 NOT IN (SELECT reference_id FROM "references")""",
        advice="Cluster again over all references together.",
    ),
    Check(
        "C16_alike",
        "Proteins that share many words of five residues are in one 30 % cluster.",
        "block",
        "references",
        _ALIKE,
        advice="A model would be tested on a protein like one it has seen: cluster again.",
    ),
    Check(
        "C16_random_fold",
        "The same variant is in the same random fold in every assay.",
        "block",
        "variants",
        f"""SELECT {ID} AS id, 'it is also in another fold than ' || split_random AS message FROM variants
            WHERE variant_id IN (SELECT variant_id FROM variants GROUP BY variant_id
                HAVING min(split_random) <> max(split_random))""",
        advice="The fold must follow from the variant's id alone.",
    ),
    Check(
        "C16_site_fold",
        "In the modulo and the contiguous split, a position of an assay is in one fold.",
        "block",
        "variants",
        _FOLDS,
        needs=("edits",),
        advice="Otherwise these splits measure memory of sites, as the random one does: build again.",
    ),
    Check(
        "C22_text",
        "Sources are UTF-8, and none is a Git LFS pointer in place of its file.",
        "block",
        "assays",
        """SELECT assay_id AS id, CASE
                WHEN size < 200 AND n_rows_out = 0 THEN s.name || ' is a pointer of Git LFS or empty'
                ELSE s.name || ' is ' || encoding || ', not UTF-8' END AS message
            FROM assays JOIN sources AS s ON source_sha256 = s.sha256
            WHERE encoding <> 'utf-8' OR (size < 200 AND n_rows_out = 0)""",
        needs=("sources",),
        advice="Fetch the file itself (`git lfs pull`), and pin its checksum.",
    ),
    Check(
        "C22_missing_words",
        "No text of an assay is a word for a missing value: `NA` is a segment and a protein, `nan` is neither.",
        "block",
        "assays",
        f"""SELECT {ASSAYS.row_id_sql()} AS id, 'one of its texts is missing or the word nan' AS message FROM assays
            WHERE EXISTS (SELECT 1 FROM (SELECT unnest([virus_species, virus_family, strain, protein, readout_detail,
                score_name_raw, numbering_scheme, citation])) AS texts (word)
                WHERE word IS NULL OR lower(trim(word)) IN ('', 'nan', 'none', 'null', 'n/a', '<na>'))
                OR lower(trim(uniprot)) IN ('', 'nan', 'none', 'null')
                OR lower(trim(doi)) IN ('', 'nan', 'none', 'null')""",
        advice="Read tables as text; a reader that guesses takes the segment NA for a missing value.",
    ),
    Check(
        "C23_licence",
        "The source has a licence that allows passing it on.",
        "warn",
        "assays",
        """SELECT assay_id AS id, CASE
                WHEN licence_spdx IN ('', 'NONE') THEN 'the publisher of ' || source_repo || ' gives no licence'
                ELSE licence_spdx || ' does not allow passing it on' END AS message
            FROM assays WHERE NOT redistributable OR licence_spdx IN ('', 'NONE')""",
        advice="Build with --redistributable for a release, or ask the publisher for a licence.",
    ),
    Check(
        "C23_licence_agrees",
        "An assay's licence is that of its source, and no licence means that it may not be passed on.",
        "block",
        "assays",
        """SELECT assay_id AS id, format('{} and {}, its source {} has {} and {}', licence_spdx, redistributable,
                s.name, licence, redistribute) AS message
            FROM assays JOIN sources AS s ON source_sha256 = s.sha256
            WHERE redistributable <> redistribute OR licence_spdx <> licence
                OR (redistributable AND licence_spdx IN ('', 'NONE'))""",
        needs=("sources",),
        advice="Licences are declared once, in sources.toml: build again.",
    ),
    Check(
        "C24_account",
        "Records in = rows out + records merged + records dropped, for each assay and for its source.",
        "block",
        "assays",
        _ACCOUNT,
        needs=("counts", "accounting", "sources"),
        advice="Rows were lost or counted twice between the source and the table: build again, and report it.",
    ),
    Check(
        "C24_published",
        "An assay has as many substitutions as ProteinGym counts in it, where it counts the same rows.",
        "block",
        "assays",
        """SELECT assay_id AS id, format('{} substitutions, published are {}', coalesce(n, 0), n_published) AS message
            FROM assays LEFT JOIN (SELECT assay_id, sum(n)::BIGINT AS n FROM counts WHERE kind IN ('sub', 'multi')
                GROUP BY assay_id) USING (assay_id)
            WHERE n_published <> coalesce(n, 0)""",
        needs=("counts",),
        advice="Another version of the table, a filter, or rows with the wild type's residue among the substitutions.",
    ),
)
"""The checks of this module, in their order."""
