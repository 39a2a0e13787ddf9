"""The tables of VIGOR, column by column.

A grounding is one region for one concept in one picture; what a source says is absent or unknown is a row, too, without
a region. Everything is in the split `test`: it is a benchmark.
"""

from builders.vigor.bounds import CONFIDENCE, TARGET
from builders.vigor.forms import LEVELS, TRUTHS
from schemas import Bool, Column, Dataset, Float, Image, Int, Json, List, Struct, Table, Text

STATUSES = ("reused", "accepted", "abstained", "rejected")
SPLIT = "test"
_SPLITS = (SPLIT,)
_BOX = List(Float())

IMAGES = Table(
    "images",
    "One picture, or one frame of a clip. Pixels are here only where the picture's own licence allows it.",
    (
        Column("image_id", Text(), "Source and the source's id."),
        Column("source", Text(), "The source that lists it."),
        Column("file_name", Text(), "As the source names it."),
        Column("clip", Text(), "Of a frame: the clip.", nullable=True),
        Column("frame", Int(32), "Of a frame: its number from 0.", nullable=True, minimum=0),
        Column("width", Int(32), "As the source says.", unit="px", minimum=0),
        Column("height", Int(32), "As the source says.", unit="px", minimum=0),
        Column("pixel_width", Int(32), "Of the upright file, where it was at hand.", unit="px", nullable=True),
        Column("pixel_height", Int(32), "Of the upright file, where it was at hand.", unit="px", nullable=True),
        Column("turned", Bool(), "The file said that its camera was tilted; it was turned once.", nullable=True),
        Column("licence", Text(), "Of the picture, by SPDX where there is a name."),
        Column("pixels_allowed", Bool(), "Whether that licence allows to pass the pixels on."),
        Column("image", Image(), "The file; missing where it may not be passed on or was not at hand.", nullable=True),
        Column("sha256", Text(), "Of the file at hand.", nullable=True, pattern="[0-9a-f]{64}"),
        Column("url", Text(), "Where the source says that it is.", nullable=True),
    ),
    key=("image_id",),
    splits=_SPLITS,
)

CONCEPTS = Table(
    "concepts",
    "Something a rationale can name.",
    (
        Column("concept_id", Text(), "Level, lemma and sense: `object/bat (animal)`."),
        Column("level", Text(), "Of abstraction.", allowed=LEVELS),
        Column("lemma", Text(), "Lower case, words with blanks between."),
        Column("sense", Text(), "What tells it from others of the same lemma; of a part, the whole.", nullable=True),
        Column("synset", Text(), "WordNet's name, where a source gives one.", nullable=True),
        Column("definition", Text(), "As a source gives it.", nullable=True),
        Column("synonyms", List(Text()), "Other lemmas for it, of all sources."),
        Column("family", Text(), "Concepts of a family exclude each other on the same pixels.", nullable=True),
        Column("sources", List(Text()), "The sources that can speak of it."),
    ),
    key=("concept_id",),
    splits=_SPLITS,
)

_FRAME = Struct((("frame", Int(32)), ("image_id", Text()), ("counts", Text())))

GROUNDINGS = Table(
    "groundings",
    "What is known of one concept in one picture: a region where it is, or that it is absent or unknown.",
    (
        Column("grounding_id", Text(), "Source and its annotation, or `generated:` and a digest of region and method."),
        Column(
            "image_id", Text(), "The picture; of a masklet, the first frame of its clip.", references="images.image_id"
        ),
        Column("concept_id", Text(), "The concept.", references="concepts.concept_id"),
        Column("level", Text(), "Of the concept.", allowed=LEVELS),
        Column(
            "truth",
            Text(),
            "`absent` only where the source says so; `unknown` also for what was abstained from or rejected.",
            allowed=TRUTHS,
        ),
        Column("origin", Text(), "Taken over from a source, or proposed here.", allowed=("reused", "generated")),
        Column("status", Text(), "What verification decided; `reused` was not put to it.", allowed=STATUSES),
        Column("source", Text(), "The source of the annotation, or of the picture."),
        Column("origin_ids", List(Text()), "The source's own ids."),
        Column("counts", Text(), "The mask as COCO's compressed run lengths.", nullable=True),
        Column("height", Int(32), "Of the mask.", unit="px", nullable=True, minimum=1),
        Column("width", Int(32), "Of the mask.", unit="px", nullable=True, minimum=1),
        Column("area", Int(64), "Pixels of the mask.", unit="px", nullable=True, minimum=1),
        Column(
            "mask_box", _BOX, "x, y, width, height around the mask.", unit="px", nullable=True, minimum=4, maximum=4
        ),
        Column(
            "box", _BOX, "x, y, width, height as the source gives it.", unit="px", nullable=True, minimum=4, maximum=4
        ),
        Column("source_area", Float(), "As the source gives it: a polygon's, or pixels.", nullable=True),
        Column("crowd", Bool(), "The region holds many of it; an overlap is then measured by what is inside."),
        Column("exhaustive", Bool(), "False where the source did not mark all of it in this picture."),
        Column(
            "parent_id",
            Text(),
            "The whole of a part, the bearer of a property.",
            nullable=True,
            references="groundings.grounding_id",
        ),
        Column("subject_id", Text(), "Of a relation.", nullable=True, references="groundings.grounding_id"),
        Column("object_id", Text(), "Of a relation.", nullable=True, references="groundings.grounding_id"),
        Column(
            "frames", List(_FRAME), "Of a masklet: a mask for each frame, none where it is not seen.", nullable=True
        ),
        Column("void", Text(), "Pixels that are neither in nor out, as run lengths.", nullable=True),
        Column("method", Text(), "Of a proposal: proposer and version.", nullable=True),
        Column("score", Float(), "The least clear yes of an accepted proposal.", nullable=True, minimum=0, maximum=1),
        Column("votes", Json(), "Of a proposal: every vote with its margin and what was measured.", nullable=True),
        Column("why", Text(), "Of a proposal: why it was decided so.", nullable=True),
        Column("policy", Text(), "Of a proposal: the rule's version.", nullable=True),
    ),
    key=("grounding_id",),
    splits=_SPLITS,
)

_MENTION = Struct(
    (
        ("concept_id", Text()),
        ("start", Int(32)),
        ("end", Int(32)),
        ("scope", Text()),
        ("bearer", Int(32)),
        ("subject", Int(32)),
        ("object", Int(32)),
    )
)

RATIONALES = Table(
    "rationales",
    "A text about a picture, with the concepts it names.",
    (
        Column("rationale_id", Text(), "As the source names it."),
        Column("image_id", Text(), "The picture it is about.", references="images.image_id"),
        Column("text", Text(), "The rationale."),
        Column(
            "mentions",
            List(_MENTION),
            "Concepts in order: characters from and to (end outside), scope (asserted, negated, hypothetical,"
            " question), "
            "and the places in this list of the bearer of a property and of a relation's two ends.",
        ),
        Column("n_asserted", Int(32), "Mentions that the text asserts.", minimum=0),
    ),
    key=("rationale_id",),
    splits=_SPLITS,
)

AUDITS = Table(
    "audits",
    "What a person found of one generated grounding, drawn at random from those accepted.",
    (
        Column("audit_id", Text(), "Round and grounding."),
        Column("round", Int(32), "Of the ladder: 1, or 2 and 3 with a stricter threshold.", minimum=1, maximum=3),
        Column("grounding_id", Text(), "What was looked at. It may have left the dataset with its level since."),
        Column("level", Text(), "Of its concept.", allowed=LEVELS),
        Column("correct", Bool(), "The concept is there and the region shows it."),
        Column("auditor", Text(), "A code, no name."),
        Column("seed", Int(64), "Of the draw."),
    ),
    key=("audit_id",),
    splits=_SPLITS,
)

BACKTESTS = Table(
    "backtests",
    "The generator on one picture whose dense truth was hidden from it.",
    (
        Column("image_id", Text(), "The picture.", references="images.image_id"),
        Column("level", Text(), "Of the concepts.", allowed=LEVELS),
        Column("method", Text(), "Proposer and version."),
        Column("truths", Int(32), "Groundings that were hidden.", minimum=0),
        Column("proposed", Int(32), "Proposals.", minimum=0),
        Column("accepted", Int(32), "Accepted of them.", minimum=0),
        Column("abstained", Int(32), "Abstained from.", minimum=0),
        Column("correct", Int(32), "Accepted ones that agree with the truth.", minimum=0),
        Column("right_before", Int(32), "Proposals that agree with the truth, before verification.", minimum=0),
        Column(
            "iou_sum",
            Float(),
            "Sum over the proposals of their IoU with what was hidden; missing where no regions were hidden.",
            nullable=True,
            minimum=0,
        ),
    ),
    key=("image_id", "level", "method"),
    splits=_SPLITS,
)

GALLERY = Table(
    "gallery",
    "Regions drawn over their pictures, a few of every level and status: to be looked at.",
    (
        Column("grounding_id", Text(), "What is shown."),
        Column("level", Text(), "Of its concept.", allowed=LEVELS),
        Column("status", Text(), "What verification decided.", allowed=STATUSES),
        Column("caption", Text(), "Concept, and why it was decided so."),
        Column("overlay", Image(), "The picture with the region; on grey where the pixels may not be passed on."),
    ),
    key=("grounding_id",),
    splits=_SPLITS,
)

_ALPHAS = "[0.03, 0.015, 0.005]"
# Clopper-Pearson by bisection: the share p at which `errors` or fewer wrong of n have the probability alpha.
_LEVELS_SQL = f"""
WITH RECURSIVE judged AS (
  SELECT level, max(round) AS round, {_ALPHAS}[max(round)] AS alpha,
    count(*) FILTER (a.round = last_round) AS n, count(*) FILTER (a.round = last_round AND NOT correct) AS errors
  FROM (SELECT *, max(round) OVER (PARTITION BY level) AS last_round FROM audits) a GROUP BY level
), bisect AS (
  SELECT level, n, errors, alpha, 0.0::DOUBLE AS low, 1.0::DOUBLE AS high, 0 AS step FROM judged
  UNION ALL
  SELECT level, n, errors, alpha, CASE WHEN tail < alpha THEN middle ELSE low END,
    CASE WHEN tail < alpha THEN high ELSE middle END, step + 1
  FROM (SELECT *, (low + high) / 2 AS middle,
      list_sum(list_transform(range(errors + 1), lambda k: exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        + k * ln(1 - (low + high) / 2) + (n - k) * ln((low + high) / 2)))) AS tail FROM bisect) WHERE step < 50
), bounds AS (
  SELECT level, CASE WHEN errors = n THEN 0.0 ELSE low END AS bound FROM bisect WHERE step = 50
), made AS (
  SELECT level, count(*) FILTER (status = 'reused' AND truth = 'present') AS reused,
    count(*) FILTER (status = 'accepted') AS accepted, count(*) FILTER (status = 'abstained') AS abstained,
    count(*) FILTER (status = 'rejected') AS rejected
  FROM groundings GROUP BY level
), tried AS (
  SELECT level, sum(truths) AS truths, sum(accepted) AS accepted, sum(correct) AS correct FROM backtests GROUP BY level
)
SELECT made.level, reused::BIGINT AS reused, made.accepted::BIGINT AS accepted, abstained::BIGINT AS abstained,
  rejected::BIGINT AS rejected,
  CASE WHEN reused + made.accepted = 0 THEN 0.0
    ELSE made.accepted / (reused + made.accepted) END::DOUBLE AS generated_share,
  coalesce(judged.n, 0)::BIGINT AS audited, coalesce(judged.errors, 0)::BIGINT AS errors,
  round(coalesce(bounds.bound, 0.0), 6)::DOUBLE AS bound, {TARGET}::DOUBLE AS target,
  coalesce(bounds.bound, 0.0) >= {TARGET} AS released,
  coalesce(tried.truths, 0)::BIGINT AS tested_truths, coalesce(tried.accepted, 0)::BIGINT AS tested_accepted,
  CASE WHEN tried.accepted > 0 THEN round(tried.correct / tried.accepted, 6) END::DOUBLE AS tested_precision,
  CASE WHEN tried.truths > 0 THEN round(tried.correct / tried.truths, 6) END::DOUBLE AS tested_coverage
FROM made LEFT JOIN judged USING (level) LEFT JOIN bounds USING (level) LEFT JOIN tried ON tried.level = made.level
"""

LEVELS_TABLE = Table(
    "levels",
    "What each level is made of, what its audit shows, and whether its generated groundings may be released.",
    (
        Column("level", Text(), "Of abstraction.", allowed=LEVELS),
        Column("reused", Int(64), "Groundings taken over from sources.", minimum=0),
        Column("accepted", Int(64), "Generated and accepted.", minimum=0),
        Column("abstained", Int(64), "Generated and abstained from: neither positive nor negative.", minimum=0),
        Column("rejected", Int(64), "Generated and rejected.", minimum=0),
        Column("generated_share", Float(), "Accepted, of all that are present.", minimum=0, maximum=1),
        Column("audited", Int(64), "Items of the last audit.", minimum=0),
        Column("errors", Int(64), "Wrong ones among them.", minimum=0),
        Column(
            "bound",
            Float(),
            f"One-sided Clopper-Pearson bound on precision, {CONFIDENCE:.0%} over the whole ladder.",
            minimum=0,
            maximum=1,
        ),
        Column("target", Float(), "What the bound must reach.", minimum=0, maximum=1),
        Column("released", Bool(), "Whether it does. If not, the accepted groundings leave a release."),
        Column("tested_truths", Int(64), "Hidden groundings of the back-test.", minimum=0),
        Column("tested_accepted", Int(64), "Accepted in the back-test.", minimum=0),
        Column("tested_precision", Float(), "Right ones of those.", nullable=True, minimum=0, maximum=1),
        Column("tested_coverage", Float(), "Hidden ones that were found.", nullable=True, minimum=0, maximum=1),
    ),
    key=("level",),
    splits=_SPLITS,
    derived=_LEVELS_SQL,
)

VIGOR = Dataset(
    "vigor",
    "VIGOR: concepts of rationales, grounded in pixels",
    "Concepts that a rationale can name (low-level properties, intermediate structures, objects, parts, motion,"
    " relations), "
    "each with the pixels that show it. Annotations of existing datasets are reused where they exist; what is"
    " missing is "
    "proposed and verified conservatively, and a level is passed on only when an audit shows its precision."
    " Every mask has "
    "its evidence beside it: the source's annotation, or the votes. Made to test whether a model looks at what"
    " it says.",
    (IMAGES, CONCEPTS, GROUNDINGS, RATIONALES, AUDITS, BACKTESTS, GALLERY, LEVELS_TABLE),
    language=("en",),
    tasks=("image-segmentation", "visual-question-answering"),
    tags=("grounding", "rationales", "concepts"),
)
