"""What the sketch probes ask of their rows, beside the shared checks. Pictures for the report are in `plots`.

No check drops a drawing: what cannot be used is refused when it is read, so the statistics and the drawings they were
made of leave together. Should drawings leave later (a withdrawal), the statistics no longer agree with them, and
`orders_of_other_drawings` takes them out of the release.
"""

from __future__ import annotations

from builders.sketch.audits import AUDITS
from builders.sketch.plots import PLOTS
from builders.sketch.render import CANVAS
from builders.sketch.schema import ORDER_SUMMARIES, ORDERS, PARTS, STEPS
from schemas import Alike, Check, CheckSet, Figure, View

_PART = PARTS.row_id_sql("p")
_PAIR = ORDERS.row_id_sql("o")
_SUMMARY = ORDER_SUMMARIES.row_id_sql("o")
_STEP = STEPS.row_id_sql("t")

FIRSTS = View(
    "part_turns",
    "SELECT source, category, sketch_id, part, min(first_stroke) AS turn FROM parts p JOIN"
    " (SELECT sketch_id, source FROM sketches WHERE ordered) USING (sketch_id) GROUP BY ALL",
    materialise=True,
    needs=("parts", "sketches"),
)
"""When each named part of a drawing was begun."""

PAIRS = View(
    "pair_counts",
    "SELECT a.source AS source, a.category AS category, a.part AS part_a, b.part AS part_b, count(*) AS n,"
    " count(*) FILTER (a.turn < b.turn) AS n_a_first FROM part_turns a JOIN part_turns b"
    " ON a.sketch_id = b.sketch_id AND a.part < b.part GROUP BY ALL",
    materialise=True,
    needs=("parts", "sketches"),
)
"""The counts of `orders` once more, from `parts`."""

_STROKES = Check(
    "stroke_rows_differ",
    "Every stroke has as many x as y, at least one, and as many times where it has times.",
    "block",
    "sketches",
    "SELECT sketch_id AS id, 'a stroke has rows of different length' AS message FROM sketches"
    " WHERE len(list_filter(strokes, lambda s: len(s.x) = 0 OR len(s.x) <> len(s.y) OR len(s.t) <> len(s.x))) > 0",
)
_COUNTS = Check(
    "counts_of_a_drawing_differ",
    "n_strokes is the number of strokes, n_parts that of parts, and an ordered drawing has a step for each part.",
    "block",
    "sketches",
    "SELECT s.sketch_id AS id, format('{} strokes, {} parts, {} steps', len(strokes), coalesce(parts, 0),"
    " coalesce(steps, 0)) AS message FROM sketches s"
    " LEFT JOIN (SELECT sketch_id, count(*) AS parts FROM parts GROUP BY 1) p ON p.sketch_id = s.sketch_id"
    " LEFT JOIN (SELECT sketch_id, count(*) AS steps FROM steps GROUP BY 1) t ON t.sketch_id = s.sketch_id"
    " WHERE n_strokes <> len(strokes) OR n_parts <> coalesce(parts, 0)"
    " OR coalesce(steps, 0) <> CASE WHEN ordered THEN n_parts ELSE 0 END",
    needs=("parts", "steps"),
)
_TURNS = Check(
    "parts_out_of_order",
    "Parts are numbered from 0 by their first stroke.",
    "block",
    "parts",
    f"SELECT {_PART} AS id, format('part {{}} begins at stroke {{}}', part_index, first_stroke) AS message FROM parts p"
    " QUALIFY part_index <> row_number() OVER (PARTITION BY sketch_id ORDER BY first_stroke, part_index) - 1",
)
_OWN_STROKES = Check(
    "strokes_of_a_part_are_wrong",
    "A part's strokes rise, are strokes of its drawing, and first_stroke and last_stroke are their ends.",
    "block",
    "parts",
    f"SELECT {_PART} AS id, format('strokes {{}} of {{}}', p.strokes, s.n_strokes) AS message FROM parts p JOIN"
    " (SELECT sketch_id, n_strokes, ordered FROM sketches) s ON s.sketch_id = p.sketch_id WHERE ordered AND"
    " (len(p.strokes) = 0 OR p.strokes <> list_sort(list_distinct(p.strokes)) OR p.strokes[1] <> first_stroke"
    " OR p.strokes[-1] <> last_stroke OR first_stroke < 0 OR last_stroke >= n_strokes)",
    needs=("sketches",),
)
_SHARED_STROKE = Check(
    "stroke_of_two_parts",
    "No stroke belongs to two parts.",
    "block",
    "parts",
    f"SELECT {_PART} AS id, format('stroke {{}} is also of another part', stroke) AS message FROM"
    " (SELECT sketch_id, part_index, unnest(strokes) AS stroke FROM parts) p"
    " QUALIFY row_number() OVER (PARTITION BY sketch_id, stroke ORDER BY part_index) > 1",
)
_STEPS = Check(
    "steps_do_not_grow",
    "Each step has more strokes than the one before, begins with its own part, and the last is the whole drawing.",
    "block",
    "steps",
    f"SELECT id, format('{{}} strokes', n_strokes) AS message FROM (SELECT {_STEP} AS id, t.n_strokes,"
    " s.n_strokes AS whole, p.part_index, p.first_stroke, next.first_stroke"
    " AS until FROM steps t JOIN sketches s ON s.sketch_id = t.sketch_id"
    " LEFT JOIN parts p ON p.sketch_id = t.sketch_id AND p.part_index = t.step AND p.part = t.part"
    " LEFT JOIN parts next ON next.sketch_id = t.sketch_id AND next.part_index = t.step + 1)"
    " WHERE part_index IS NULL OR n_strokes <= first_stroke OR n_strokes <> coalesce(until, whole)",
    needs=("sketches", "parts"),
)
_AREAS = Check(
    "areas_disagree",
    "A part owns no more than its strokes touch, its box holds them and lies on the canvas, and parts own no more than"
    " the drawing's ink.",
    "block",
    "parts",
    f"SELECT {_PART} AS id, format('mask {{}}, ink {{}}, box {{}}', mask_area, p.ink_area, box) AS message FROM parts p"
    " WHERE mask_area > p.ink_area OR box[3] * box[4] < p.ink_area OR box[1] < 0 OR box[2] < 0"
    f" OR box[1] + box[3] > {CANVAS} OR box[2] + box[4] > {CANVAS}"
    f" UNION ALL SELECT {_PART}, format('the parts own {{}} of {{}} pixels', owned, s.ink_area) FROM"
    " (SELECT *, sum(mask_area) OVER (PARTITION BY sketch_id) AS owned FROM parts) p JOIN"
    " (SELECT sketch_id, ink_area FROM sketches) s ON s.sketch_id = p.sketch_id WHERE owned > s.ink_area"
    " AND part_index = 0",
    needs=("sketches",),
)


def _digit(place: int) -> str:
    return f"((ascii(w[{place}]) - 48) & 31)"


def _signed(place: int) -> str:
    return f"({_digit(place)} - 2 * ({_digit(place)} & 16))"


RUNS = View(
    "mask_runs",
    f"""
    SELECT sketch_id, part_index, what, area,
      d[1] + coalesce(list_sum(list_transform(d[2:], lambda x, i: x * ((len(d) - 1 - i) // 2 + 1))), 0) AS total,
      coalesce(list_sum(list_transform(d[2:], lambda x, i: CASE WHEN i % 2 = 1 THEN x * ((len(d) - 1 - i) // 2 + 1)
        ELSE 0 END)), 0) AS inside
    FROM (SELECT *, list_transform(regexp_extract_all(counts, '[P-o]*[0-O]'), lambda w: CASE len(w)
        WHEN 1 THEN {_signed(1)} WHEN 2 THEN {_digit(1)} + 32 * {_signed(2)}
        WHEN 3 THEN {_digit(1)} + 32 * {_digit(2)} + 1024 * {_signed(3)}
        ELSE {_digit(1)} + 32 * {_digit(2)} + 1024 * {_digit(3)} + 32768 * {_signed(4)} END) AS d
      FROM (SELECT sketch_id, part_index, 'mask' AS what, mask_area AS area, mask AS counts FROM parts
        UNION ALL SELECT sketch_id, part_index, 'ink', ink_area, ink FROM parts))
    """,
    materialise=True,
    needs=("parts",),
)
"""COCO's run lengths decoded: 5 bits a character, low ones first, from the fourth number on as a difference to the one
before last. So a difference counts once for each number of its parity from there on, and sums need no recursion."""

_RUNS = Check(
    "runs_are_not_the_area",
    "The run lengths of mask and ink fill the canvas, and hold the pixels that mask_area and ink_area say.",
    "block",
    "parts",
    f"SELECT {_PART} AS id, format('{{}}: {{}} of {{}} pixels, {{}} inside, the area is {{}}', what, total,"
    f" {CANVAS * CANVAS}, inside, area) AS message FROM mask_runs p WHERE total <> {CANVAS * CANVAS} OR inside <> area",
)
_SPLIT = Check(
    "split_says_another",
    "The column split is the split that the row is in.",
    "block",
    "sketches",
    "SELECT sketch_id AS id, format('{} in {}', split, _split) AS message FROM sketches WHERE split <> _split",
)
_CATEGORY_LEAK = Check(
    "category_in_both_splits",
    "No category is in both splits: heads selected on it would be reported on it.",
    "block",
    "sketches",
    "SELECT sketch_id AS id, category AS message FROM sketches WHERE category IN"
    " (SELECT category FROM sketches GROUP BY category HAVING count(DISTINCT split) > 1)",
)
_DRAWER_LEAK = Check(
    "drawer_in_both_splits",
    "No drawer is in both splits.",
    "block",
    "sketches",
    "SELECT sketch_id AS id, drawer AS message FROM sketches WHERE drawer IN"
    " (SELECT drawer FROM sketches GROUP BY drawer HAVING count(DISTINCT split) > 1)",
)
_KEY_LEAK = Check(
    "drawing_in_both_splits",
    "No drawing of Quick, Draw! is in one split as itself and in the other with parts (SPG keeps the game's keys).",
    "block",
    "sketches",
    "SELECT sketch_id AS id, key AS message FROM sketches WHERE source IN ('spg', 'quickdraw', 'quickdraw_simplified')"
    " AND key IN (SELECT key FROM sketches WHERE source IN ('spg', 'quickdraw', 'quickdraw_simplified')"
    " GROUP BY key HAVING count(DISTINCT split) > 1)",
    advice="A file of SPG without names has drawings of a known category: name its parts (a .txt beside it).",
)
_TWICE = Check(
    "same_picture_twice",
    "No two drawings of a category look the same to the pixel.",
    "warn",
    "sketches",
    "SELECT sketch_id AS id, 'another drawing has the same picture' AS message FROM sketches"
    " QUALIFY row_number() OVER (PARTITION BY source, category, md5(image.bytes) ORDER BY sketch_id) > 1",
)
_UNNAMED = Check(
    "parts_without_names",
    "Parts have names: a file of SPG without its .txt has numbers alone.",
    "warn",
    "parts",
    f"SELECT {_PART} AS id, part AS message FROM parts p WHERE regexp_full_match(part, 'part [0-9]+')",
    advice="Put a .txt with the names of its labels beside the file. Until then nothing is asked or measured of them.",
)
_HIDDEN = Check(
    "part_drawn_over",
    "Of each part something is to be seen.",
    "info",
    "parts",
    f"SELECT {_PART} AS id, part || ' was drawn over' AS message FROM parts p WHERE mask_area = 0",
)
_OUTSIDE = Check(
    "points_outside_the_canvas",
    "Points lie on the canvas that the drawing was made on.",
    "info",
    "sketches",
    "SELECT sketch_id AS id, format('{} strokes leave {:.0f} x {:.0f}', len(off), width, height) AS message FROM"
    " (SELECT sketch_id, width, height, list_filter(strokes, lambda s: list_min(s.x) < 0 OR list_max(s.x) > width"
    " OR list_min(s.y) < 0 OR list_max(s.y) > height) AS off FROM sketches WHERE width IS NOT NULL)"
    " WHERE len(off) > 0",
    advice="They are kept: the rendering fits all points.",
)
_LONG = Check(
    "longer_than_the_game",
    "A drawing of Quick, Draw! took no longer than the 20 s of a round.",
    "info",
    "sketches",
    "SELECT sketch_id AS id, format('{} ms', duration_ms) AS message FROM sketches"
    " WHERE source = 'quickdraw' AND duration_ms > 21000",
)
_STALE = Check(
    "orders_of_other_drawings",
    "The counts of a pair are those of the drawings that are here.",
    "drop",
    "orders",
    f"SELECT {_PAIR} AS id, format('says {{}} of {{}}, the drawings say {{}} of {{}}', o.n_a_first, o.n,"
    " coalesce(c.n_a_first, 0), coalesce(c.n, 0)) AS message FROM orders o LEFT JOIN pair_counts c"
    " USING (source, category, part_a, part_b) WHERE o.n <> coalesce(c.n, 0)"
    " OR o.n_a_first <> coalesce(c.n_a_first, 0)",
    advice="Drawings left after the statistics were made: build again without them.",
)
_STALE_SUMMARY = Check(
    "summary_of_other_drawings",
    "A category's summary is of the drawings that are here.",
    "drop",
    "order_summaries",
    f"SELECT {_SUMMARY} AS id, format('says {{}} drawings, there are {{}}', o.drawings, coalesce(c.n, 0)) AS message"
    " FROM order_summaries o LEFT JOIN (SELECT source, category, count(DISTINCT sketch_id) AS n FROM part_turns JOIN"
    " (SELECT source, category, unnest(parts) AS part FROM order_summaries) USING (source, category, part)"
    " GROUP BY 1, 2) c USING (source, category) WHERE o.drawings <> coalesce(c.n, 0)",
    advice="Drawings left after the statistics were made: build again without them.",
)
_PERMUTATION = Check(
    "order_is_no_permutation",
    "Kemeny's and Borda's orders have each part of the category once.",
    "block",
    "order_summaries",
    f"SELECT {_SUMMARY} AS id, format('{{}} of {{}}', kemeny, parts) AS message FROM order_summaries o"
    " WHERE list_sort(kemeny) <> list_sort(parts) OR list_sort(borda) <> list_sort(parts)"
    " OR len(presence) <> len(parts)",
)
_NEIGHBOURS = Check(
    "order_against_the_majority",
    "No two neighbours of a Kemeny order stand against the majority of the drawings that have both.",
    "block",
    "order_summaries",
    f"SELECT {_SUMMARY} AS id, format('{{}} before {{}}, but {{}} of {{}} drawings say otherwise', one, other,"
    " n - n_first, n) AS message FROM (SELECT o.*, one, other, p.n AS n,"
    " CASE WHEN p.part_a = one THEN p.n_a_first ELSE p.n - p.n_a_first END AS n_first FROM"
    " (SELECT *, unnest(kemeny[:-2]) AS one, unnest(kemeny[2:]) AS other FROM order_summaries"
    " WHERE method = 'kemeny' AND len(kemeny) > 1) o JOIN orders p ON p.source = o.source"
    " AND p.category = o.category AND p.part_a = least(one, other) AND p.part_b = greatest(one, other)) o"
    " WHERE 2 * n_first < n",
    needs=("orders",),
)
_OPTIONS = Check(
    "shuffle_without_its_reverse",
    "A temporal question lists each part once, and is asked again with the list backwards.",
    "block",
    "prompts",
    "SELECT prompt_id AS id, 'its parts or its reverse are wrong' AS message FROM (SELECT *,"
    " count(*) OVER w AS both_ways, list(options) OVER w AS lists"
    " FROM prompts WHERE kind = 'temporal' WINDOW w AS (PARTITION BY source, category, sketch_id, seed))"
    " WHERE both_ways <> 2 OR len(options) <> len(list_distinct(options)) OR lists[1] <> list_reverse(lists[2])"
    " OR NOT contains(question, list_aggregate(options, 'string_agg', ', '))",
)
_ASKED = Check(
    "question_about_no_part",
    "A spatial question is about a part of its drawing that has pixels of its own name alone.",
    "block",
    "prompts",
    "SELECT prompt_id AS id, 'no such part' AS message FROM prompts q LEFT JOIN (SELECT sketch_id, part_index, part,"
    " count(*) OVER (PARTITION BY sketch_id, part) AS same FROM parts) p ON p.sketch_id = q.sketch_id"
    " AND p.part_index = q.part_index AND p.part = q.part AND same = 1 WHERE kind = 'spatial' AND p.part IS NULL",
    needs=("parts",),
)
_SPEARMAN = Figure(
    "entropy_against_human_tau",
    "Spearman's correlation over categories: where orders vary, people agree less with each other.",
    "warn",
    "order_summaries",
    "SELECT source AS subject, corr(e, t) AS value, format('{} categories', count(*)) AS message FROM (SELECT source,"
    " rank() OVER (PARTITION BY source ORDER BY entropy) AS e, rank() OVER (PARTITION BY source ORDER BY human_tau)"
    " AS t FROM order_summaries WHERE entropy IS NOT NULL AND human_tau IS NOT NULL) GROUP BY source"
    " HAVING count(*) >= 4 ORDER BY source",
    high=-0.5,
    advice="Entropy and agreement are two views of the same orders: a weak relation means that one is wrong.",
)
_ENTROPY = Figure(
    "order_entropy",
    "How much the order of a category's parts varies: 0 is one order, 1 a coin for every pair.",
    "info",
    "order_summaries",
    "SELECT source || ': ' || category AS subject, entropy AS value, format('{} pairs, {} resolved', pairs_counted,"
    " pairs_resolved) AS message FROM order_summaries WHERE entropy IS NOT NULL ORDER BY ALL",
    unit="bit",
)
_CEILING = Figure(
    "human_tau",
    "What a person reaches against the order of others: the ceiling for a model.",
    "info",
    "order_summaries",
    "SELECT source || ': ' || category AS subject, human_tau AS value, format('halves differ by {:.3f}', human_tau_sd)"
    " AS message FROM order_summaries WHERE human_tau IS NOT NULL ORDER BY ALL",
)
_REPAIRS = Figure(
    "repaired_drawings",
    "Drawings that had to be mended, by what was wrong.",
    "info",
    "sketches",
    "SELECT source || ': ' || repair AS subject, count(*) AS value FROM (SELECT source, unnest(repairs) AS repair"
    " FROM sketches) GROUP BY 1 ORDER BY 1",
)
_STOPPED = Figure(
    "recognized_share",
    "Share of drawings that the game's classifier stopped, where that is known: their late parts are missing.",
    "info",
    "sketches",
    "SELECT source AS subject, avg(recognized::INT) AS value, format('{} drawings', count(*)) AS message FROM sketches"
    " WHERE recognized IS NOT NULL GROUP BY 1 ORDER BY 1",
)
_CALIBRATION = Figure(
    "calibration_share",
    "Share of the drawings with parts that heads may be selected on; with none, or nothing else, there is no probe.",
    "warn",
    "sketches",
    "SELECT 'all' AS subject, avg((split = 'calibration')::INT) AS value FROM sketches WHERE n_parts > 0",
    low=0.02,
    high=0.98,
)

_SAME_DRAWING = Alike(
    "nearly_same_drawing",
    "Drawings that are nearly the same lines, wherever and in whatever order they were drawn.",
    "sketches",
    "strokes",
    "strokes",
    severity="info",
    leak="info",
    advice="Simple things (a circle, a line) are drawn alike by nature. Look: of rich drawings it is a copy.",
)

CHECKS = CheckSet(
    checks=(
        _SAME_DRAWING,
        _STROKES, _COUNTS, _TURNS, _OWN_STROKES, _SHARED_STROKE, _STEPS, _AREAS, _RUNS, _SPLIT, _CATEGORY_LEAK,
        _DRAWER_LEAK, _KEY_LEAK, _TWICE, _UNNAMED, _HIDDEN, _OUTSIDE, _LONG, _STALE, _STALE_SUMMARY, _PERMUTATION,
        _NEIGHBOURS, _OPTIONS, _ASKED, _SPEARMAN, _ENTROPY, _CEILING, _REPAIRS, _STOPPED, _CALIBRATION,
    ),
    views=(FIRSTS, PAIRS, RUNS),
    plots=PLOTS,
    audits=AUDITS,
)  # fmt: skip
