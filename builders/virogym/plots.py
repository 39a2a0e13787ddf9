"""What a person looks at first in ViroGym's report: the landscape of each assay, and what is missing from it."""

from schemas import Plot

BY_CHEMISTRY = (
    "G",
    "A",
    "V",
    "L",
    "I",
    "M",
    "P",
    "F",
    "W",
    "Y",
    "S",
    "T",
    "C",
    "N",
    "Q",
    "H",
    "K",
    "R",
    "D",
    "E",
    "*",
    "del",
)
"""Small and aliphatic, aromatic, polar, positive, negative; then stop and deletion."""

PLOTS = (
    Plot(
        "landscape",
        "Score by site and amino acid",
        "Each column is a site in the field's own numbering, each row what it was changed to, by chemistry. Grey is "
        "not measured. Rows of one colour throughout, or columns shifted against the protein's domains, are mistakes.",
        "heatmap",
        """SELECT assay_id AS facet, site AS x, CASE op WHEN 'del' THEN 'del' ELSE mt END AS y, avg(score) AS value
            FROM edits WHERE n_mut = 1 AND op IN ('sub', 'del') AND pos2 = pos
            GROUP BY assay_id, reference_id, pos, site, y ORDER BY assay_id, pos, y""",
        x_title="site",
        y_title="amino acid",
        value_title="score",
        y_order=BY_CHEMISTRY,
        needs=("edits",),
    ),
    Plot(
        "scores",
        "Scores by kind of change",
        "Where a broken protein scores low, stop codons lie left and rows with the wild type's residue right.",
        "histogram",
        """SELECT assay_id || ': ' || kind AS facet, score AS value FROM variants
            ORDER BY assay_id, list_position(['sub', 'multi', 'stop', 'syn', 'wt', 'del', 'ins'], kind)""",
        x_title="score",
        y_title="variants",
        needs=("variants",),
    ),
    Plot(
        "coverage",
        "Substitutions a site",
        "How many of the 19 other amino acids have a value. Gaps are sites that the library or a filter left out.",
        "bar",
        """SELECT m.assay_id AS facet, coalesce(reference_site, m.pos::VARCHAR) AS x, count(*) AS value
            FROM missense AS m LEFT JOIN numbering AS n ON m.reference_id = n.reference_id AND m.pos = n.sequential_site
            GROUP BY m.assay_id, m.pos, reference_site ORDER BY m.assay_id, m.pos""",
        x_title="site",
        y_title="substitutions",
        needs=("missense", "numbering"),
    ),
    Plot(
        "rejects",
        "Records that became no row",
        "By reason. `no_score` was not measured, `merged` shares a row with a replicate.",
        "bar",
        """SELECT assay_id AS facet, reason AS x, n AS value FROM (
                SELECT assay_id, unnest(map_keys(reasons)) AS reason, unnest(map_values(reasons)) AS n
                FROM (SELECT assay_id, n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT) AS reasons FROM assays)
            ) ORDER BY assay_id, n DESC, reason""",
        x_title="reason",
        y_title="records",
        needs=("assays",),
    ),
    Plot(
        "missing",
        "Missing values by cell entry",
        "Share of the substitutions of the entry assay without a value here, by quintile of entry (1: hardly enters).",
        "bar",
        """SELECT assay_id AS facet, quintile AS x, 1 - sum(measured) / sum(expected) AS value
            FROM measured_after_entry GROUP BY assay_id, quintile ORDER BY assay_id, quintile""",
        x_title="quintile of entry",
        y_title="share missing",
        needs=("measured_after_entry",),
    ),
    Plot(
        "correlation",
        "Assays of one reference against each other",
        "Pearson's correlation over the substitutions that both have. 1 off the diagonal: one measurement twice.",
        "heatmap",
        """WITH pair AS (
                SELECT a.reference_id, a.assay_id AS x, b.assay_id AS y, count(*) AS n, corr(a.score, b.score) AS r
                FROM missense AS a JOIN missense AS b ON a.reference_id = b.reference_id AND a.variant_id = b.variant_id
                    AND a.assay_id <= b.assay_id
                GROUP BY ALL
            ), several AS (
                SELECT reference_id FROM pair WHERE x <> y GROUP BY reference_id
            )
            SELECT reference_id AS facet, x, y, r AS value FROM pair SEMI JOIN several USING (reference_id)
            WHERE n >= 50
            UNION ALL
            SELECT reference_id, y, x, r FROM pair SEMI JOIN several USING (reference_id) WHERE n >= 50 AND x <> y
            ORDER BY 1, 2, 3""",
        x_title="assay",
        y_title="assay",
        value_title="correlation",
        needs=("missense",),
    ),
)
"""The pictures, in their order."""
