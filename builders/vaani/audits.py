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
    show_answer=True,
    tolerance=0.9,
    max_error=0.1,
    severity="warn",
)
"""A transcript is right where at most one word in ten differs from what people hear."""

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
    max_error=0.1,
    severity="warn",
)

AUDITS = (TRANSCRIPTS, CLIPS)
