"""The tables of the sketch probes, column by column.

Two splits: heads of a model are selected on `calibration` and reported on `report`. No category and no drawer is in
both, so what was selected is never measured on its own drawings. All masks are COCO run lengths on the canonical canvas
(`builders.sketch.render.CANVAS` pixels square).
"""

from builders.sketch.render import CANVAS
from schemas import Bool, Column, Dataset, Float, Image, Int, List, Struct, Table, Text

SPLITS = ("calibration", "report")
KINDS = ("object", "scene", "character")

_SPLIT = Column("split", Text(), "Where heads may be selected, or where they are reported.", allowed=SPLITS)
_SKETCH = Column("sketch_id", Text(), "The drawing.", references="sketches.sketch_id")
_CATEGORY = Column("category", Text(), "What was to be drawn: lower case, words with blanks between.")
_SOURCE = Column("source", Text(), "The source, as sources.toml names it.")
_STROKE = Struct((("x", List(Float(32))), ("y", List(Float(32))), ("t", List(Int(32)))))
_BOX = List(Float())


def _share(name: str, meaning: str, *, nullable: bool = True, unit: str | None = None) -> Column:
    return Column(name, Float(), meaning, unit=unit, nullable=nullable, minimum=0, maximum=1)


SKETCHES = Table(
    "sketches",
    "One drawing: its strokes as they were drawn, and its canonical rendering.",
    (
        Column("sketch_id", Text(), "Source, category and the source's id, joined by `/`."),
        _SOURCE,
        Column("key", Text(), "The source's own id."),
        Column("kind", Text(), "Parts of an object, objects of a scene, or a character.", allowed=KINDS),
        Column(
            "category",
            Text(),
            "What was to be drawn: lower case, words with blanks between. Of a scene, its description's id.",
        ),
        Column("drawer", Text(), "Who drew it, a code of the source; missing where it is not known.", nullable=True),
        _SPLIT,
        Column("country", Text(), "Where it was drawn: ISO 3166 code.", nullable=True),
        Column(
            "recognized",
            Bool(),
            "Whether the game's classifier knew it: the drawing stopped at that moment, so late parts are missing.",
            nullable=True,
        ),
        Column("duration_ms", Int(32), "From the first point to the last.", unit="ms", nullable=True, minimum=0),
        Column("width", Float(32), "Of the canvas it was drawn on.", unit="source units", nullable=True, minimum=0),
        Column("height", Float(32), "Of the canvas it was drawn on.", unit="source units", nullable=True, minimum=0),
        Column(
            "strokes",
            List(_STROKE),
            "In the order of drawing, in the source's coordinates, y down; `t` in ms from the first point, where known."
            " Empty for a drawing of pixels alone.",
        ),
        Column("n_strokes", Int(32), "How many.", minimum=0),
        Column("n_parts", Int(32), "Rows in `parts`; 0 where the source names none.", minimum=0),
        Column("ordered", Bool(), "Whether the order of its strokes is known."),
        Column("repairs", List(Text()), "What had to be mended, a code each."),
        Column("image", Image(), f"Canonical rendering, {CANVAS} x {CANVAS}, ink 0 on 255."),
        Column("ink_area", Int(32), "Pixels of ink.", unit="px", minimum=1),
        Column("licence", Text(), "Of the drawing, by SPDX where there is a name."),
    ),
    key=("sketch_id",),
    splits=SPLITS,
)

PARTS = Table(
    "parts",
    "A named part of a drawing, or an object of a scene, with its strokes and pixels. Numbered by their first stroke.",
    (
        _SKETCH,
        Column("part_index", Int(32), "From 0, in the order of first strokes.", minimum=0),
        Column("part", Text(), "Its name: lower case, words with blanks between.", minimum=1),
        Column("instance", Int(32), "From 0, among objects of the same name in a scene.", minimum=0),
        _CATEGORY,
        _SPLIT,
        Column("strokes", List(Int(32)), "Indices of its strokes, from 0; empty for a drawing of pixels alone."),
        Column("first_stroke", Int(32), "Its first.", nullable=True, minimum=0),
        Column("last_stroke", Int(32), "Its last.", nullable=True, minimum=0),
        Column("returned", Bool(), "The pen came back to it after another part.", nullable=True),
        Column("box", _BOX, "x, y, width, height around its ink.", unit="px", minimum=4, maximum=4),
        Column("mask", Text(), "Pixels that belong to it, as run lengths: where strokes cross, to the later one."),
        Column("mask_area", Int(32), "Pixels of `mask`; 0 where it was drawn over.", unit="px", minimum=0),
        Column("ink", Text(), "All pixels that its strokes touch, as run lengths, also where another lies over it."),
        Column("ink_area", Int(32), "Pixels of `ink`.", unit="px", minimum=1),
    ),
    key=("sketch_id", "part_index"),
    splits=SPLITS,
)

STEPS = Table(
    "steps",
    "The drawing as it stood when the pen was about to begin the next part; the last step is the whole drawing.",
    (
        _SKETCH,
        Column("step", Int(32), "From 0: the `part_index` of the part that this step begins with.", minimum=0),
        Column("part", Text(), "Its name."),
        Column("n_strokes", Int(32), "Strokes drawn by then.", minimum=1),
        Column("image", Image(), "Partial rendering, in the place and scale of the whole."),
    ),
    key=("sketch_id", "step"),
    splits=SPLITS,
)

ORDERS = Table(
    "orders",
    "For two parts of a category: how often people draw one before the other. `part_a` is the first by alphabet.",
    (
        _SOURCE,
        _CATEGORY,
        Column("part_a", Text(), "One part."),
        Column("part_b", Text(), "The other."),
        _SPLIT,
        Column("n", Int(32), "Drawings that have both.", minimum=0),
        Column("n_a_first", Int(32), "Of these, a's first stroke is before b's.", minimum=0),
        Column("only_a", Int(32), "Drawings that have a alone.", minimum=0),
        Column("only_b", Int(32), "Drawings that have b alone.", minimum=0),
        _share("p", "n_a_first / n."),
        _share("p_if_late", "The same if a missing part had always come later."),
        _share("entropy", "Of p: 0 one order, 1 a coin.", unit="bit"),
        Column("counted", Bool(), "Enough drawings have both for the category's entropy and for a verdict."),
        Column("a_first", Bool(), "The canonical (Kemeny) order has a before b."),
        _share("agreement", "Share of bootstrap Kemeny orders that have the pair so, too.", nullable=False),
        Column("resolved", Bool(), "Counted, and 95 % or more of them do."),
    ),
    key=("source", "category", "part_a", "part_b"),
    splits=SPLITS,
)

ORDER_SUMMARIES = Table(
    "order_summaries",
    "For each category: its canonical order, how fixed it is, and what a person reaches against other people.",
    (
        _SOURCE,
        _CATEGORY,
        _SPLIT,
        Column("drawings", Int(32), "Drawings with stroke order and named parts.", minimum=1),
        Column("comparable", Int(32), "Of these, with two parts or more.", minimum=0),
        Column("parts", List(Text()), "Its parts, by alphabet.", minimum=1),
        Column("presence", List(Float()), "Share of the drawings that have each part."),
        Column("kemeny", List(Text()), "The canonical order: it contradicts the fewest ordered pairs of the drawings."),
        Column(
            "method",
            Text(),
            "`kemeny` is exact (8 parts or fewer); with more parts it is Borda's order.",
            allowed=("kemeny", "borda"),
        ),
        Column("borda", List(Text()), "By the mean share of other parts that come later."),
        Column("resolved", Bool(), "Every counted pair is resolved, and there is one."),
        Column("pairs_counted", Int(32), "Pairs that enough drawings have.", minimum=0),
        Column("pairs_resolved", Int(32), "Of these, resolved.", minimum=0),
        _share("entropy", "Mean over counted pairs by count.", unit="bit"),
        _share("agreement", "Share of ordered pairs of the drawings that `kemeny` has so."),
        Column(
            "human_tau",
            Float(),
            "Human ceiling: mean Kendall tau of drawings to the Kemeny order of the other half, over random halves.",
            nullable=True,
            minimum=-1,
            maximum=1,
        ),
        Column("human_tau_sd", Float(), "Standard deviation over halves.", nullable=True, minimum=0),
        Column(
            "stability", Float(), "Mean Kendall tau of the two halves' orders.", nullable=True, minimum=-1, maximum=1
        ),
        _share("returned", "Share of comparable drawings that come back to a part."),
        _share("recognized", "Share that the classifier stopped, where known."),
        Column("flips_if_late", Int(32), "Counted pairs whose majority changes if missing parts were late.", minimum=0),
        Column("seed", Int(64), "Of the bootstrap and the halves.", minimum=0),
    ),
    key=("source", "category"),
    splits=SPLITS,
)

PROMPTS = Table(
    "prompts",
    "A question of the probe. Lists of parts come in pairs, a shuffle and its reverse: biases for places cancel.",
    (
        Column("prompt_id", Text(), "Kind, category or drawing, and number."),
        Column("kind", Text(), "Order of parts, or where a part is.", allowed=("temporal", "spatial")),
        _SOURCE,
        _CATEGORY,
        Column(
            "sketch_id",
            Text(),
            "The drawing to show; missing where the category alone is asked about.",
            nullable=True,
            references="sketches.sketch_id",
        ),
        Column("part_index", Int(32), "Of a spatial question: the part asked for.", nullable=True, minimum=0),
        Column("part", Text(), "Its name.", nullable=True),
        Column("question", Text(), "The text to ask, with the parts in the order of `options`."),
        Column("options", List(Text()), "The parts as listed in the question; empty for a spatial one."),
        Column("seed", Int(64), "Of the shuffle.", nullable=True, minimum=0),
        Column("reverse", Bool(), "It is the shuffle read backwards."),
        _SPLIT,
    ),
    key=("prompt_id",),
    splits=SPLITS,
)

GALLERY = Table(
    "gallery",
    "A drawing step by step in one picture: what was there in grey, the next part in colour; a few of each category.",
    (
        _SKETCH,
        _CATEGORY,
        Column("caption", Text(), "Its parts in the order of drawing."),
        Column("strip", Image(), "The steps, numbered, in rows."),
    ),
    key=("sketch_id",),
    splits=SPLITS,
)

SKETCH = Dataset(
    "sketch",
    "Sketch probes: order, place and parts of drawings",
    "Drawings with the order of their strokes and the names of their parts, objects and scenes, in one form: strokes,"
    " one canonical rendering, a mask for each part, the drawing after each part, and for each category how people"
    " order its parts and how much they agree. Made to ask a vision-language model, without training, in which order"
    " things are drawn, whether its attention finds a part, and which of its heads do.",
    (SKETCHES, PARTS, STEPS, ORDERS, ORDER_SUMMARIES, PROMPTS, GALLERY),
    language=("en",),
    tasks=("visual-question-answering", "image-segmentation"),
    tags=("sketch", "stroke-order", "attention", "probing"),
)
