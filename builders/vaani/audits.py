"""What people are asked about VAANI's clips: the transcript, and the questions of VAANI's own review.

Strata are languages for the transcripts, and state and language for the clips; who transcribed is compared, under
pseudonyms. `goldsmith audit plan FOLDER transcripts` draws the sample.
"""

from schemas import Attribute, Audit, Show

_YES = ("yes", "no")

TRANSCRIPTS = Audit(
    "transcripts",
    "Hear the clip. Correct the transcript by its rules: write what is said, not what should have been said.",
    "transcription",
    "utterances",
    """SELECT utterance_id AS item_id, coalesce(language, 'unknown') AS stratum, transcriber_id AS made_by, audio,
        text_clean AS answer FROM utterances WHERE text_clean <> ''""",
    (Show("audio", "audio"),),
    gold_sql="""SELECT utterance_id AS item_id, audio, text_clean AS answer FROM utterances
        WHERE text_clean <> '' AND votes >= 3""",
    golds=10,
    show_answer=True,
    tolerance=0.9,
    max_error=0.1,
    severity="warn",
)
"""A transcript is right where at most one word in ten differs from what people hear. Known are those that three more
people accepted than rejected."""

CLIPS = Audit(
    "clips",
    "Hear the clip and answer.",
    "rubric",
    "utterances",
    """SELECT utterance_id AS item_id, concat_ws(', ', state, coalesce(language, 'unknown')) AS stratum,
        transcriber_id AS made_by, audio, concat_ws(', ', language, district) AS label, transcript,
        '{"audible": "yes", "one_speaker": "yes", "language": "yes", "complete": "yes", "personal": "no"}' AS answer
        FROM utterances""",
    (Show("audio", "audio"), Show("label", title="Language and district"), Show("transcript", title="Transcript")),
    rubric=(
        Attribute("audible", "Is the speaker audible and understandable?", _YES, "nominal", False),
        Attribute("one_speaker", "Is there one speaker only?", _YES, "nominal", False),
        Attribute("language", "Is it the language of the label?", (*_YES, "cannot tell"), "nominal", False),
        Attribute("complete", "Is the sentence complete?", _YES, "nominal", False),
        Attribute("personal", "Does it hold personal information?", _YES, "nominal", False),
    ),
    gold_sql="""SELECT utterance_id AS item_id, audio, concat_ws(', ', language, district) AS label, transcript,
        '{"audible": "no"}' AS answer FROM utterances WHERE active_s = 0 AND coalesce(vad_active_s, 0) = 0
    UNION ALL
    SELECT 'language ' || u.utterance_id, u.audio, min_by(o.language, md5(u.utterance_id || o.language)), u.transcript,
        '{"language": "no"}'
    FROM utterances u JOIN (SELECT DISTINCT language, language_family FROM utterances) o
        ON o.language_family <> u.language_family
    WHERE u.active_s >= 2 GROUP BY ALL""",
    golds=10,
    max_error=0.1,
    severity="warn",
)

"""Known are clips in which neither detector finds speech, and clips with a label of another language family."""

AUDITS = (TRANSCRIPTS, CLIPS)
