"""What people are asked about WebSpatial's questions: is the answer right, and which of two answers is."""

from schemas import Audit, Show

ANSWERS = Audit(
    "answers",
    "Look at the picture and the question. Is the given answer right?",
    "choice",
    "questions",
    """SELECT question_id AS item_id, image, text, array_to_string(options, ' / ') AS options, answer AS given,
        type AS stratum, 'right' AS answer FROM questions""",
    shows=(Show("image", "image"), Show("text"), Show("options"), Show("given")),
    labels=("right", "wrong", "cannot be said"),
    gold_sql="""SELECT 'other ' || question_id AS item_id, image, text, array_to_string(options, ' / ') AS options,
        others[1 + (md5_number_lower(question_id) % len(others))::BIGINT] AS given, 'wrong' AS answer
    FROM (SELECT *, list_filter(options, lambda option: option <> answer) AS others FROM questions)""",
    golds=10,
    max_error=0.05,
    severity="warn",
)
"""Quick, by type; it tells people the answer, and they may be led by it. Gold items give another option
as the answer."""

DUELS = Audit(
    "duels",
    "Look at the picture and the question. Which answer is right? A tie if both are, or if it cannot be said.",
    "pair",
    "questions",
    """SELECT question_id AS item_id, "group" AS stratum, image, text,
        CASE WHEN given_first THEN given ELSE other END AS one, CASE WHEN given_first THEN other ELSE given END AS two,
        CASE WHEN given_first THEN 'first' ELSE 'second' END AS answer
    FROM (SELECT *, list_position(options, given) < list_position(options, other) AS given_first
        FROM (SELECT * RENAME (answer AS given),
                others[1 + (md5_number_lower(question_id) % len(others))::BIGINT] AS other
            FROM (SELECT *, list_filter(options, lambda option: option <> answer) AS others FROM questions)))""",
    shows=(Show("one", title="A"), Show("two", title="B"), Show("text", title="Question"), Show("image", "image")),
    planned_errors=1,
    max_error=0.05,
    severity="warn",
)
"""Blind: our answer against another option, drawn by the question's id. Who cannot see it is right half of the time,
so what people say is worth the more the further they are from a coin."""

AUDITS = (ANSWERS, DUELS)
