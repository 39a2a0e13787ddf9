"""What people are asked about drawings: are the parts named right, and where is a named part?"""

from builders.sketch.render import CANVAS
from builders.sketch.schema import PARTS
from schemas import Audit, Show

NAMES = Audit(
    "parts",
    "Is each coloured part what its name says?",
    "choice",
    "sketches",
    """SELECT g.sketch_id AS item_id, g.strip, g.category, g.caption, s.source AS stratum, 'yes' AS answer
    FROM gallery g JOIN sketches s USING (sketch_id)""",
    (
        Show("strip", "image", "Each step adds a part, in colour"),
        Show("category", "text", "What was drawn"),
        Show("caption", "text", "Parts by step"),
    ),
    labels=("yes", "no"),
    gold_sql="""SELECT 'other ' || g.sketch_id AS item_id, g.strip, g.category, 'no' AS answer,
        min_by(o.caption, md5(g.sketch_id || o.sketch_id)) AS caption
    FROM gallery g JOIN gallery o ON o.category <> g.category AND o.caption <> g.caption GROUP BY ALL""",
    golds=10,
    max_error=0.05,
    severity="warn",
    needs=("gallery",),
)
"""Gold items have the caption of a drawing of something else."""

BOXES = Audit(
    "boxes",
    "Draw one box around all of the part that is named.",
    "parts",
    "parts",
    f"""SELECT item_id, source AS stratum, image, part, category,
        json_array({{'x': box[1] / side, 'y': box[2] / side, 'width': box[3] / side, 'height': box[4] / side,
            'label': 'part'}}) AS answer
    FROM (SELECT {PARTS.row_id_sql("p")} AS item_id, s.source, s.image, p.part, p.category, p.box,
            {CANVAS} / 100 AS side, count(*) OVER (PARTITION BY p.sketch_id, p.part) AS instances
        FROM parts p JOIN sketches s USING (sketch_id))
    WHERE instances = 1""",
    (Show("image", "image"), Show("part", title="Part"), Show("category", title="What was drawn")),
    labels=("part",),
    gold_sql=f"""SELECT 'all of ' || sketch_id AS item_id, image, 'all that is drawn' AS part, category,
        json_array({{'x': x0 / side, 'y': y0 / side, 'width': (x1 - x0) / side, 'height': (y1 - y0) / side,
            'label': 'part'}}) AS answer
    FROM (SELECT sketch_id, {CANVAS} / 100 AS side, min(box[1]) AS x0, min(box[2]) AS y0,
            max(box[1] + box[3]) AS x1, max(box[2] + box[4]) AS y1 FROM parts GROUP BY sketch_id)
        JOIN sketches USING (sketch_id)""",
    golds=5,
    max_error=0.1,
    severity="warn",
    needs=("sketches",),
)
"""Parts that are alone of their name in a drawing, so that the name says which. People do not see our strokes; a part
is wrong where their box and that of its ink overlap by less than half."""

AUDITS = (NAMES, BOXES)
