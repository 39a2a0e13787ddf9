"""WebSpatial's own checks, and the plots of its report."""

from __future__ import annotations

from builders.webspatial.audits import AUDITS
from schemas import Alike, Check, CheckSet, Figure, Plot

CHECKS = CheckSet(
    checks=(
        Check(
            "balanced_answers",
            "Within a half, a type, a text and its options, every option is the answer equally often, so that the "
            "words of a question tell nothing.",
            "block",
            "questions",
            """WITH cell AS (
                SELECT fold, type, text, options, answer, count(*) AS n, min(question_id) AS id FROM questions GROUP
                BY ALL
            ), whole AS (
                SELECT fold, type, text, options, count(*) AS answers, min(n) AS low, max(n) AS high, min(id) AS id
                FROM cell GROUP BY ALL
            )
            SELECT id, text || ': ' || answers || ' of ' || len(options) || ' answers, ' || low || ' to ' || high
                || ' times' AS message
            FROM whole WHERE answers <> len(options) OR low <> high""",
            advice="Balance again over the whole (space/balance.py); merging builds undoes it.",
        ),
        Check(
            "answer_is_an_option",
            "The answer is among the options, and the options differ.",
            "block",
            "questions",
            """SELECT question_id AS id FROM questions
            WHERE NOT list_contains(options, answer) OR len(list_distinct(options)) <> len(options)""",
        ),
        Check(
            "asked_scenes_only",
            "Questions are about scenes whose graph agrees with their pixels.",
            "block",
            "questions",
            """SELECT question_id AS id, why_not AS message FROM questions JOIN scenes USING (scene_id) WHERE NOT
            asked""",
            needs=("scenes",),
        ),
        Check(
            "graph_agrees_with_pixels",
            "Of the scenes that are asked about, at least 97 % of the compared meshes agree with the picture.",
            "block",
            "scenes",
            "SELECT scene_id AS id FROM scenes WHERE asked AND meshes_agree < 0.97 * meshes_compared",
        ),
        Alike(
            "same_scene",
            "No two scenes look nearly alike.",
            "scenes",
            "screenshot",
            "image",
            severity="info",
            advice="A page that was captured twice, or that two applications share: ask about one of them.",
        ),
        Check(
            "may_be_passed_on",
            "Every scene's application may be passed on.",
            "block",
            "scenes",
            "SELECT scene_id AS id, 'licence: ' || licence AS message FROM scenes WHERE NOT redistributable",
            advice="Build with --redistributable.",
        ),
        Check(
            "marked_objects_exist",
            "Every mark stands for an object of the scene that may be asked about.",
            "block",
            "questions",
            """WITH mark AS (
                SELECT question_id, scene_id, unnest(map_values(marks::VARCHAR::JSON::MAP(VARCHAR, INTEGER))) AS
                object_id FROM questions
            )
            SELECT DISTINCT question_id AS id FROM mark
            WHERE NOT EXISTS (FROM objects o WHERE o.scene_id = mark.scene_id AND o.object_id = mark.object_id AND
            o.can_ask)
            """,
            needs=("objects",),
        ),
        Check(
            "never_too_close",
            "No question's trace has an ambiguous result.",
            "block",
            "questions",
            """SELECT question_id AS id FROM questions WHERE trace::VARCHAR LIKE '%"result":"ambiguous"%'""",
        ),
        Figure(
            "answer_prior",
            "How far the commonest answer of a type lies above chance.",
            "warn",
            "questions",
            """WITH n AS (
                SELECT type, list_position(options, answer) AS place, count(*) AS n, avg(1.0 / len(options)) AS chance
                FROM questions GROUP BY ALL
            )
            SELECT type AS subject, max(n) / sum(n) - sum(chance * n) / sum(n) AS value FROM n GROUP BY type
            ORDER BY type""",
            high=0.1,
        ),
        Figure(
            "questions_by_type",
            "Questions of each type.",
            "info",
            "questions",
            "SELECT type AS subject, count(*) AS value FROM questions GROUP BY type ORDER BY type",
        ),
        Figure(
            "changes_once",
            "Changes that are told of an object and again of one below it, in the same frame and of the same kind.",
            "warn",
            "events",
            """SELECT a.scene_id AS subject, count(*) AS value FROM events a JOIN events b
                ON a.scene_id = b.scene_id AND a.type = b.type AND a.start = b.start
                AND b.path LIKE a.path || '/%' AND NOT a.is_input AND NOT b.is_input AND a.type IN ('appear', 'show',
                'hide')
            GROUP BY a.scene_id ORDER BY 1""",
            high=0,
        ),
    ),
    plots=(
        Plot(
            "types",
            "Questions by type and answer",
            "Every answer of a type is asked about as often as every other; pick-one types balance the place.",
            "bar",
            """SELECT type AS facet, 'option ' || list_position(options, answer) AS x, count(*) AS value
            FROM questions GROUP BY ALL ORDER BY 1, 2""",
            x_title="place of the answer",
            y_title="questions",
            needs=("questions",),
        ),
        Plot(
            "engines",
            "Scenes by engine",
            "Scenes that were captured, and of which questions are made.",
            "table",
            """SELECT source, engine, engine_version, count(*) AS scenes, count(*) FILTER (asked) AS asked,
                sum(n_objects) AS objects, sum(meshes_compared) AS meshes_compared, sum(meshes_agree) AS meshes_agree
            FROM scenes GROUP BY ALL ORDER BY ALL""",
            needs=("scenes",),
        ),
        Plot(
            "refused",
            "Pages and scenes without questions",
            "Rejected pages by reason, and captured scenes that are not asked about.",
            "table",
            """SELECT reason, count(*) AS n FROM rejects GROUP BY reason
            UNION ALL SELECT why_not, count(*) FROM scenes WHERE NOT asked GROUP BY why_not ORDER BY 2 DESC, 1""",
            needs=("scenes",),
        ),
        Plot(
            "events",
            "What changed in time",
            "Each dot is a change: the frame in which it begins, by scene.",
            "scatter",
            """SELECT type AS facet, start AS x, dense_rank() OVER (ORDER BY scene_id) AS y FROM events WHERE NOT
            is_input ORDER BY facet, y, x""",
            x_title="frame (1/60 s)",
            y_title="scene, in the order of ids",
            needs=("events",),
        ),
    ),
    audits=AUDITS,
)
