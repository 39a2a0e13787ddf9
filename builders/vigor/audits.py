"""What people are asked about VIGOR's groundings: does the region show the concept, and would they paint the same?"""

from schemas import Audit, Show

GROUNDINGS = Audit(
    "grounding",
    "Is the concept in the picture, and does the outlined region show it?",
    "choice",
    "groundings",
    """SELECT g.grounding_id AS item_id, o.overlay, c.lemma AS concept, g.level AS stratum, g.method AS made_by,
        'yes' AS answer
    FROM groundings g JOIN gallery o USING (grounding_id) JOIN concepts c USING (concept_id)
    WHERE g.status = 'accepted'""",
    (Show("overlay", "image", "The region is bright and outlined"), Show("concept", "text", "Concept")),
    labels=("yes", "no"),
    max_error=0.05,
    severity="drop",
    needs=("gallery", "concepts"),
)
"""One accepted item a picture and level (the gallery holds exactly that), so that items are independent."""

MASKS = Audit(
    "masks",
    "Paint all of what is named.",
    "mask",
    "groundings",
    """SELECT item_id, image, name, stratum, made_by,
        json_object('height', height, 'width', width, 'masks', json_object('region', counts)) AS answer
    FROM (SELECT g.grounding_id AS item_id, i.image, c.lemma || coalesce(' (' || c.sense || ')', '') AS name,
            g.level AS stratum, coalesce(g.method, g.source) AS made_by, g.height, g.width, g.counts, g.crowd,
            i.pixel_height = g.height AND i.pixel_width = g.width AS fits,
            count(*) OVER (PARTITION BY g.image_id, g.concept_id) AS regions
        FROM groundings g JOIN images i USING (image_id) JOIN concepts c USING (concept_id)
        WHERE g.level IN ('object', 'part') AND g.truth = 'present')
    WHERE image IS NOT NULL AND counts IS NOT NULL AND fits AND regions = 1 AND NOT crowd""",
    (Show("image", "image"), Show("name", title="What to paint")),
    labels=("region",),
    gold_sql="""SELECT g.grounding_id AS item_id, i.image, c.lemma || coalesce(' (' || c.sense || ')', '') AS name,
        json_object('height', g.height, 'width', g.width, 'masks', json_object('region', g.counts)) AS answer
    FROM groundings g JOIN images i USING (image_id) JOIN concepts c USING (concept_id)
    WHERE g.level = 'object' AND g.truth = 'present' AND g.method IS NULL AND g.counts IS NOT NULL AND NOT g.crowd
        AND i.image IS NOT NULL AND i.pixel_height = g.height AND i.pixel_width = g.width
        AND g.area >= 0.05 * g.height * g.width
    QUALIFY count(*) OVER (PARTITION BY g.image_id, g.concept_id) = 1""",
    golds=5,
    tolerance=0.5,
    max_error=0.1,
    severity="warn",
    needs=("images", "concepts"),
)
"""Objects and parts that are alone of their concept in a picture, so that the name says which. People do not see our
mask; it is wrong where its intersection over union with theirs is below a half, as in the back-test. Known are large
objects that people of the source outlined."""

AUDITS = (GROUNDINGS, MASKS)
