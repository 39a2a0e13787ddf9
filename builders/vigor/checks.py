"""What VIGOR asks of its rows, beside the shared checks; of generated ones in `checks_generated`. Pictures for the
report are in `plots`."""

from __future__ import annotations

from builders.vigor.audits import AUDITS
from builders.vigor.checks_generated import GENERATED
from builders.vigor.plots import PLOTS
from schemas import Alike, Check, CheckSet, View

BOX_FITS = View(
    "box_fits",
    """
    SELECT grounding_id, image_id, box, mask_box, shared / (box[3] * box[4] + mask_box[3] * mask_box[4] - shared) AS iou
    FROM (
      SELECT *, greatest(0, least(box[1] + box[3], mask_box[1] + mask_box[3]) - greatest(box[1], mask_box[1]))
        * greatest(0, least(box[2] + box[4], mask_box[2] + mask_box[4]) - greatest(box[2], mask_box[2])) AS shared
      FROM groundings WHERE box IS NOT NULL AND mask_box IS NOT NULL AND origin = 'reused'
        AND level IN ('object', 'part')
    ) WHERE box[3] * box[4] + mask_box[3] * mask_box[4] > shared
    """,
    materialise=True,
    needs=("groundings",),
)
"""How well the source's box and the box around its mask agree, of objects and parts."""

CONTRADICTED = View(
    "contradicted_images",
    "SELECT image_id, avg(iou) AS fit, count(*) AS boxes FROM box_fits GROUP BY image_id HAVING avg(iou) < 0.6",
    needs=("groundings",),
)
"""Pictures whose boxes and masks were made on differently turned copies: all their boxes are off, not one."""

_CONTRADICTED = Check(
    "boxes_contradict_masks",
    "In the mean over a picture, the source's boxes and masks overlap by more than 0.6.",
    "warn",
    "images",
    "SELECT image_id AS id, format('{} boxes overlap their masks by {:.2f} in the mean', boxes, fit) AS message"
    " FROM contradicted_images",
    needs=("groundings",),
    advice="One of them was drawn on a turned copy of the picture; the masks of these pictures leave a release.",
)
_CONTRADICTED_ROWS = Check(
    "mask_of_a_contradicted_picture",
    "No mask or box, and nothing that stands on one, is of a picture whose boxes contradict its masks.",
    "drop",
    "groundings",
    "SELECT grounding_id AS id, 'boxes and masks of this picture contradict each other' AS message FROM groundings"
    " WHERE image_id IN (SELECT image_id FROM contradicted_images) AND truth = 'present'",
)
_ONE_BOX = Check(
    "box_contradicts_mask",
    "The source's box overlaps the box around its mask by half or more.",
    "warn",
    "groundings",
    "SELECT grounding_id AS id, format('box {} and mask {} overlap by {:.2f}', box, mask_box, iou) AS message"
    " FROM box_fits WHERE iou < 0.5",
    advice="Look at the overlay: a box of many parts of which one was marked, or a mask that slipped.",
)
_AREA = Check(
    "area_is_not_the_pixel_count",
    "Where the source counts pixels (panoptic segments), its area is the mask's number of pixels.",
    "warn",
    "groundings",
    "SELECT grounding_id AS id, format('the source says {:.0f}, the mask has {}', source_area, area) AS message"
    " FROM groundings WHERE source IN ('panoptic', 'psg') AND NOT crowd AND source_area <> area",
)
_POLYGON_AREA = Check(
    "area_is_far_from_the_masks",
    "A polygon's area is within a fifth of its mask's pixels, above 100 pixels.",
    "info",
    "groundings",
    "SELECT grounding_id AS id, format('the source says {:.0f}, the mask has {}', source_area, area) AS message"
    " FROM groundings WHERE source NOT IN ('panoptic', 'psg') AND area > 100 AND abs(area - source_area) > 0.2 *"
    " source_area",
)
_SIZES = Check(
    "picture_has_another_size",
    "The upright file is as wide and high as the source says, and as its masks are.",
    "block",
    "images",
    "SELECT image_id AS id, format('the file is {}x{}, the source says {}x{}', pixel_width, pixel_height, width,"
    " height)"
    " AS message FROM images WHERE pixel_width <> width OR pixel_height <> height"
    " UNION ALL SELECT DISTINCT i.image_id, 'a mask has another size than the picture'"
    " FROM groundings g JOIN images i USING (image_id) WHERE g.height <> i.height OR g.width <> i.width",
    needs=("groundings",),
    advice="The annotations were made on another copy: turned by its EXIF tag, or scaled.",
)
_LICENCE = Check(
    "pixels_without_licence",
    "Pixels are held only where the picture's licence allows to pass them on.",
    "block",
    "images",
    "SELECT image_id AS id, licence || ' does not allow it' AS message FROM images"
    " WHERE image IS NOT NULL AND NOT pixels_allowed",
)
_ENDS = Check(
    "relation_without_two_ends",
    "A relation joins two different groundings of one picture.",
    "block",
    "groundings",
    "SELECT r.grounding_id AS id, 'its ends are missing, the same, or in another picture' AS message FROM groundings r"
    " LEFT JOIN groundings s ON s.grounding_id = r.subject_id LEFT JOIN groundings o ON o.grounding_id = r.object_id"
    " WHERE r.level = 'relation' AND r.truth = 'present' AND (s.grounding_id IS NULL OR o.grounding_id IS NULL"
    " OR s.grounding_id = o.grounding_id OR s.image_id <> r.image_id OR o.image_id <> r.image_id)",
)
_TWICE = Check(
    "relation_said_twice",
    "No relation stands twice between the same two groundings.",
    "block",
    "groundings",
    "SELECT grounding_id AS id, concept_id || ' is there already' AS message FROM groundings"
    " WHERE level = 'relation' AND truth = 'present' QUALIFY row_number() OVER"
    " (PARTITION BY concept_id, subject_id, object_id ORDER BY grounding_id) > 1",
)
_ABSENT = Check(
    "absence_nobody_said",
    "A concept is absent only where a source says so, and then it has no region.",
    "block",
    "groundings",
    "SELECT grounding_id AS id, 'absent without a source, or with a region' AS message FROM groundings"
    " WHERE truth = 'absent' AND (origin <> 'reused' OR counts IS NOT NULL OR len(origin_ids) = 0)",
)
_BOTH = Check(
    "present_and_absent",
    "No concept is both present and absent in a picture.",
    "warn",
    "groundings",
    "SELECT a.grounding_id AS id, a.concept_id || ' is also said to be present' AS message FROM groundings a"
    " SEMI JOIN (SELECT image_id, concept_id FROM groundings WHERE truth = 'present') p"
    " ON p.image_id = a.image_id AND p.concept_id = a.concept_id WHERE a.truth = 'absent'",
)
_COLOURS = Check(
    "two_colours",
    "A region has one colour, or people know that it has several.",
    "info",
    "groundings",
    "SELECT min(grounding_id) AS id, parent_id || ' is ' || string_agg(lemma, ', ' ORDER BY lemma) AS message"
    " FROM groundings JOIN concepts USING (concept_id) WHERE family = 'colour' AND truth = 'present'"
    " GROUP BY parent_id HAVING count(DISTINCT lemma) > 1",
    needs=("concepts",),
    advice="A shirt can be red and orange; where it is one colour, one of them is wrong.",
)
_INSIDE = Check(
    "part_outside_its_whole",
    "A part's box lies within its whole's box, up to a tenth.",
    "warn",
    "groundings",
    "SELECT id, format('only {:.0f} % of its box is inside', 100 * share) AS message FROM (SELECT p.grounding_id AS id,"
    " greatest(0, least(p.mask_box[1] + p.mask_box[3], w.mask_box[1] + w.mask_box[3]) - greatest(p.mask_box[1],"
    " w.mask_box[1]))"
    " * greatest(0, least(p.mask_box[2] + p.mask_box[4], w.mask_box[2] + w.mask_box[4]) -"
    " greatest(p.mask_box[2], w.mask_box[2]))"
    " / (p.mask_box[3] * p.mask_box[4]) AS share FROM groundings p JOIN groundings w ON w.grounding_id = p.parent_id"
    " WHERE p.level = 'part' AND p.truth = 'present' AND p.mask_box IS NOT NULL AND w.mask_box IS NOT NULL)"
    " WHERE share < 0.9",
)
_TINY = Check(
    "smaller_than_16_pixels",
    "A mask has 16 pixels or more; smaller ones can hardly be pointed at.",
    "info",
    "groundings",
    "SELECT grounding_id AS id, area || ' pixels' AS message FROM groundings WHERE area < 16 AND origin = 'reused'",
)
_SAME_BOX = Check(
    "two_objects_one_box",
    "No two objects of a picture have the same box.",
    "info",
    "groundings",
    "SELECT grounding_id AS id, concept_id || ' has the box of another object' AS message FROM groundings"
    " WHERE level = 'object' AND origin = 'reused' AND box IS NOT NULL AND NOT crowd QUALIFY row_number()"
    " OVER (PARTITION BY image_id, box ORDER BY grounding_id) > 1",
)
_FRAMES = Check(
    "masklet_without_its_frames",
    "A masklet has an entry for each frame of its clip.",
    "block",
    "groundings",
    "SELECT grounding_id AS id, format('{} of {} frames', len(frames), n) AS message FROM groundings g"
    " JOIN images i USING (image_id) JOIN (SELECT source, clip, count(*) AS n FROM images GROUP BY ALL) c"
    " ON c.source = i.source AND c.clip = i.clip WHERE g.frames IS NOT NULL AND len(g.frames) <> n",
    needs=("images",),
)
_SAME_PICTURE = Alike(
    "same_picture",
    "No picture is there twice under two names, as it is or cropped or encoded again.",
    "images",
    "image",
    "image",
    apart="clip",
    advice="Sources share pictures: what is asked of one is asked twice. Keep one, or join their annotations.",
)
CHECKS = CheckSet(
    checks=(
        _SIZES, _LICENCE, _SAME_PICTURE, _CONTRADICTED, _CONTRADICTED_ROWS, _ONE_BOX, _AREA, _POLYGON_AREA, _TINY,
        _SAME_BOX, _FRAMES,
        _ENDS, _TWICE, _INSIDE, _COLOURS, _ABSENT, _BOTH, *GENERATED,
    ),
    views=(BOX_FITS, CONTRADICTED),
    plots=PLOTS,
    audits=AUDITS,
)  # fmt: skip
