"""The pictures of VIGOR's report."""

from __future__ import annotations

from schemas import Plot

_ORDER = "list_position(['low', 'intermediate', 'object', 'part', 'motion', 'relation'], level)"
_STATUS = "list_position(['reused', 'accepted', 'abstained', 'rejected'], status)"

PLOTS = (
    Plot(
        "gallery",
        "Regions, by level and what was decided",
        "The region is bright and outlined, of a relation the subject blue and the object red. On grey: the"
        " pixels may not "
        "be passed on. Abstained and rejected proposals are here to be judged, too; they say nothing in the data.",
        "media",
        f"SELECT level || ', ' || status AS facet, grounding_id AS id, caption FROM gallery"
        f" QUALIFY row_number() OVER (PARTITION BY level, status ORDER BY hash(grounding_id)) <= 24"
        f" ORDER BY {_ORDER}, {_STATUS}, hash(grounding_id)",
        needs=("gallery",),
        media="gallery.overlay",
    ),
    Plot(
        "levels",
        "Levels: origin, audit and back-test",
        "Accepted groundings of a level leave a release unless `bound` reaches `target`.",
        "table",
        "SELECT level, reused, accepted, abstained, rejected, audited, errors, bound, target, released, tested_truths,"
        f" tested_precision, tested_coverage FROM levels ORDER BY {_ORDER}",
        needs=("levels",),
    ),
    Plot(
        "backtests",
        "Back-test: the generator where the truth was hidden",
        "`precision_before` and `mean_iou` (of regions) are of all proposals, `precision` of the accepted ones;"
        " `coverage` is of all that was hidden.",
        "table",
        "SELECT b.level AS level, i.source AS source, b.method AS method, count(*) AS pictures,"
        " sum(truths)::BIGINT AS hidden, sum(proposed)::BIGINT AS proposed,"
        " sum(b.accepted)::BIGINT AS accepted, round(sum(right_before) / nullif(sum(proposed), 0), 3) AS"
        " precision_before, round(sum(iou_sum) / nullif(sum(proposed), 0), 3) AS mean_iou,"
        " round(sum(correct) / nullif(sum(b.accepted), 0), 3) AS precision, round(sum(correct) /"
        " nullif(sum(truths), 0), 3)"
        f" AS coverage FROM backtests b JOIN images i USING (image_id) GROUP BY b.level, i.source, b.method ORDER BY"
        f" {_ORDER.replace('level', 'b.level')}, i.source, b.method",
        needs=("backtests", "images"),
    ),
    Plot(
        "statuses",
        "Groundings by level and status",
        "Reused ones are taken over from sources; the others were proposed here.",
        "bar",
        "SELECT level AS facet, status AS x, n AS value FROM (SELECT level, status, count(*) AS n FROM groundings"
        f" WHERE truth <> 'absent' GROUP BY level, status) ORDER BY {_ORDER}, {_STATUS}",
        x_order=("reused", "accepted", "abstained", "rejected"),
        needs=("groundings",),
    ),
    Plot(
        "areas",
        "How large regions are",
        "Share of the picture, as a power of ten: small regions cap what a coarse heat map can reach.",
        "histogram",
        f"SELECT level AS facet, log10(area / (height * width)) AS value FROM groundings WHERE area IS NOT NULL"
        f" ORDER BY {_ORDER}",
        x_title="log10 of the share of the picture",
        needs=("groundings",),
    ),
    Plot(
        "licences",
        "Licences of the pictures",
        "Pixels are held only where the licence allows it and the file was at hand.",
        "table",
        "SELECT source, licence, pixels_allowed, count(*) AS pictures, count(image) AS with_pixels FROM images"
        " GROUP BY ALL"
        " ORDER BY ALL",
        needs=("images",),
    ),
)
