"""The pictures of the sketch probes' report."""

from __future__ import annotations

from builders.sketch.render import CANVAS
from schemas import Plot

PLOTS = (
    Plot(
        "steps",
        "Drawings step by step",
        "Grey is what was there, in colour what the step adds. Drawings without a known order show"
        " all their parts at once. A label on the wrong stroke, or a drawing of something else, is seen here first.",
        "media",
        "SELECT s.source || ': ' || CASE WHEN s.kind = 'scene' THEN 'scenes' ELSE g.category END AS facet,"
        " g.sketch_id AS id, g.caption AS caption FROM gallery g JOIN sketches s USING (sketch_id)"
        " QUALIFY row_number() OVER (PARTITION BY facet ORDER BY hash(g.sketch_id)) <= 8"
        " ORDER BY facet, hash(g.sketch_id)",
        needs=("gallery", "sketches"),
        media="gallery.strip",
    ),
    Plot(
        "precedence",
        "Which part comes first",
        "Share of the drawings with both parts that begin the row's part before the column's. Rows and columns stand in"
        " the canonical order: the more the upper right is 1, the more fixed the order. Grey: too few drawings.",
        "heatmap",
        """
        WITH known AS (SELECT source, category, kemeny FROM order_summaries WHERE pairs_counted > 0),
        sides AS (SELECT source, category, part_a AS y, part_b AS x, p, counted FROM orders
          UNION ALL SELECT source, category, part_b, part_a, 1 - p, counted FROM orders
          UNION ALL SELECT source, category, unnest(kemeny), unnest(kemeny), NULL, false FROM known)
        SELECT source || ': ' || category AS facet, x, y, CASE WHEN counted THEN p END AS value FROM sides
          JOIN known USING (source, category)
        ORDER BY facet, list_position(kemeny, y) DESC, list_position(kemeny, x)
        """,
        x_title="later",
        y_title="earlier",
        value_title="share",
        needs=("orders", "order_summaries"),
    ),
    Plot(
        "ceilings",
        "Categories: order, variance and human ceiling",
        "A model's tau is to be read against `human_tau`; an unresolved order is none to be right or wrong about."
        " `flips_if_late`: pairs whose majority would change if parts that are missing had come later.",
        "table",
        "SELECT source, category, split, drawings, list_aggregate(kemeny, 'string_agg', ' > ') AS canonical_order,"
        " round(entropy, 3) AS entropy, round(agreement, 3) AS agreement, round(human_tau, 3) AS human_tau,"
        " round(stability, 3) AS stability, pairs_resolved || ' of ' || pairs_counted AS resolved, flips_if_late,"
        " kemeny = borda AS borda_agrees FROM order_summaries WHERE pairs_counted > 0"
        " ORDER BY source, entropy, category",
        needs=("order_summaries",),
    ),
    Plot(
        "entropy_and_tau",
        "Where orders vary, people agree less",
        "A point is a category: mean entropy of its pairs, and what a person reaches against the order of others.",
        "scatter",
        "SELECT entropy AS x, human_tau AS y FROM order_summaries WHERE entropy IS NOT NULL"
        " AND human_tau IS NOT NULL ORDER BY ALL",
        x_title="entropy (bit)",
        y_title="human tau",
        needs=("order_summaries",),
    ),
    Plot(
        "ink",
        "How little of the canvas a part is",
        "Share of the canvas that a part's strokes cover, as a power of ten. A patch of a 24 x 24 grid is -2.76: a map"
        " of patches cannot follow thinner lines, which is why the score of all ink stands beside a model's.",
        "histogram",
        f"SELECT log10(ink_area / {CANVAS * CANVAS}) AS value FROM parts",
        x_title="log10 of the share of the canvas",
        needs=("parts",),
    ),
    Plot(
        "splits",
        "Drawings by split",
        "Categories and drawers of one side are not on the other.",
        "table",
        "SELECT source, kind, split, count(*) AS drawings, count(DISTINCT category) AS categories,"
        " count(DISTINCT drawer) AS known_drawers, count(*) FILTER (n_parts > 0) AS with_parts,"
        " count(duration_ms) AS with_times FROM sketches GROUP BY ALL ORDER BY ALL",
        needs=("sketches",),
    ),
)
