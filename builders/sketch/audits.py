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
    max_error=0.05,
    severity="warn",
    needs=("gallery",),
)

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
    max_error=0.1,
    severity="warn",
    needs=("sketches",),
)
"""Parts that are alone of their name in a drawing, so that the name says which. People do not see our strokes; a part
is wrong where their box and that of its ink overlap by less than half."""

AUDITS = (NAMES, BOXES)
