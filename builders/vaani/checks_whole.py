"""Checks S1 to S3, R1 and R2: leakage between splits, claims, and rates by who and where."""

from __future__ import annotations

from builders.vaani.checks_audio import RULES
from builders.vaani.claims import FIGURES
from builders.vaani.sqltext import setting
from schemas import Check, Figure, Severity, View

_REASONS = ", ".join(f"CASE WHEN {condition} THEN '{name}' END" for name, condition in RULES.items())
JUDGED = View(
    "judged",
    f"""SELECT utterance_id, speaker_id, district, language, transcriber_id, votes, duration_s,
    list_filter([{_REASONS}], lambda reason: reason IS NOT NULL) AS reasons FROM utterances""",
    materialise=True,
    needs=("settings",),
)
"""Each clip with the rules (`checks_audio.RULES`) that it breaks."""

FACTS = View(
    "computed_figures",
    f"""SELECT unnest([{", ".join(f"'{figure}'" for figure in FIGURES)}]) AS figure, unnest([
        sum(duration_s) / 3600, sum(duration_s) FILTER (transcript IS NOT NULL) / 3600, count(*),
        count(DISTINCT speaker_id), count(DISTINCT language), count(DISTINCT district), count(DISTINCT state),
        CASE WHEN (SELECT count(*) FROM images) > 0 THEN (SELECT count(*) FROM images) ELSE count(DISTINCT image_id) END
    ]::DOUBLE[]) AS value FROM utterances""",
    needs=("images",),
)
"""The figures that prose claims, computed."""


def _leak(name: str, what: str, column: str, severity: Severity, where: str = "true", advice: str = "") -> Check:
    """A check that no value of a column is in two splits; it names the clips that are not in the value's first one."""
    return Check(
        f"S1.{name}",
        f"No {what} is in two splits",
        severity,
        "utterances",
        f"""WITH leaks AS (
    SELECT {column} AS leaked, min(_split) AS first FROM utterances WHERE {column} IS NOT NULL AND {where}
    GROUP BY {column} HAVING count(DISTINCT _split) > 1
)
SELECT utterance_id AS id, format('{{}} is in {{}} and {{}}', leaked, first, _split) AS message
FROM utterances JOIN leaks ON {column} = leaked WHERE _split <> first AND {where}""",
        ("settings",),
        advice or "Build again: the splits were not made by this builder.",
    )


_SPONTANEOUS = "(SELECT text FROM settings WHERE name = 'speech') = 'spontaneous'"
_LONG = f"letters >= {setting('leak_letters')}"
_COPIES = "Copies are told apart by A13 and A14; give both clips one speaker or leave one out."

LEAKS = (
    _leak("speaker", "speaker", "speaker_id", "block"),
    _leak("recording", "recording", "recording_id", "block"),
    _leak("sound", "sound", "pcm_digest", "block", advice=_COPIES),
    _leak("text", "text of free speech", "text_key", "block", f"{_SPONTANEOUS} AND {_LONG}", _COPIES),
    Figure(
        "S1.prompts",
        "Share of validation and test clips whose text the training split has, too (read speech shares prompts)",
        "info",
        "utterances",
        f"""WITH trained AS (SELECT text_key FROM utterances WHERE _split = 'train' AND {_LONG})
SELECT _split AS subject, avg((text_key IN (FROM trained))::INT) AS value FROM utterances
WHERE _split <> 'train' AND {_LONG} GROUP BY _split""",
        unit="share",
        needs=("settings",),
    ),
    Figure(
        "S1.images",
        "Share of validation and test clips whose image the training split shows, too",
        "info",
        "utterances",
        """SELECT _split AS subject, avg(image_in_train::INT) AS value FROM utterances
    WHERE _split <> 'train' AND image_id IS NOT NULL GROUP BY _split""",
        unit="share",
    ),
    Check(
        "S1.image_mark",
        "A clip outside train whose image is shown in train is marked so (a mark too many harms nobody)",
        "block",
        "utterances",
        """SELECT utterance_id AS id, image_id || ' is shown in train' AS message FROM utterances
    WHERE _split <> 'train' AND NOT image_in_train
        AND image_id IN (SELECT image_id FROM utterances WHERE _split = 'train' AND image_id IS NOT NULL)""",
        (),
        "Build again: the splits were not made by this builder.",
    ),
)

CLAIMS_AND_SPLITS = (
    Figure(
        "S2.claims",
        "What the card and the papers claim is what the data give, rounded",
        "block",
        "claims",
        """SELECT claim AS subject, computed.value AS value,
    claims.value - tolerance AS low, claims.value + tolerance AS high,
    format('{} claims {}', place, claims.text) AS message
FROM claims JOIN computed_figures computed USING (figure)""",
        needs=("computed_figures",),
        advice="Correct the prose, or say in the claim's place what it counts.",
    ),
    Figure(
        "S2.figures",
        "The figures that prose is held against",
        "info",
        "utterances",
        "SELECT figure AS subject, value FROM computed_figures",
        needs=("computed_figures",),
    ),
    Figure(
        "S3.shares",
        "Validation and test have their aimed share of speakers (from 100 speakers on)",
        "warn",
        "utterances",
        f"""WITH aims AS (SELECT replace(name, 'share_', '') AS split, value FROM settings WHERE name LIKE 'share_%'),
found AS (SELECT split, count(DISTINCT speaker_id) AS n FROM utterances GROUP BY split),
total AS (SELECT count(DISTINCT speaker_id) AS n FROM utterances)
SELECT aims.split AS subject, CASE WHEN total.n >= 100 THEN coalesce(found.n, 0) / total.n END AS value,
    aims.value - {setting("split_tolerance")} AS low, aims.value + {setting("split_tolerance")} AS high
FROM aims LEFT JOIN found USING (split) CROSS JOIN total""",
        unit="share",
        needs=("settings",),
        advice="Few speakers give uneven shares: pin some with --source earlier=FILE, or change [splits].",
    ),
    Figure(
        "S3.strata",
        "Share of each language's clips that are in test",
        "info",
        "utterances",
        """SELECT coalesce(language, 'unknown') AS subject, avg((_split = 'test')::INT) AS value FROM utterances
GROUP BY 1""",
        unit="share",
    ),
    Figure(
        "S2.untranscribed_districts",
        "Districts without a transcribed hour, of all districts",
        "info",
        "utterances",
        """SELECT 'districts' AS subject, avg((hours = 0)::INT) AS value FROM
    (SELECT district, count(transcript) AS hours FROM utterances WHERE district IS NOT NULL GROUP BY district)""",
        unit="share",
    ),
)


def _rates(who: str, column: str, severity: Severity) -> Figure:
    """The share of clips that break a rule, for each value of a column, within three standard errors of the whole."""
    return Figure(
        f"R2.{who}",
        f"Share of clips that break a rule (A05 to A08, A11, T5), by {who}: above the whole by no more than chance",
        severity,
        "utterances",
        f"""WITH whole AS (SELECT avg((len(reasons) > 0)::INT) AS p FROM judged)
SELECT {column} AS subject, avg((len(reasons) > 0)::INT) AS value,
    least(1, p + 3 * sqrt(p * (1 - p) / count(*))) AS high
FROM judged CROSS JOIN whole WHERE {column} IS NOT NULL GROUP BY {column}, p""",
        unit="share",
        needs=("judged",),
        advice="Hear more of this one's clips: a bad device or careless work shows here; a whole batch may go back.",
    )


_VOTED = "FROM judged WHERE votes IS NOT NULL AND votes <> 0"


def _votes(name: str, meaning: str, value: str) -> Figure:
    return Figure(
        f"R1.{name}",
        meaning,
        "info",
        "utterances",
        f"SELECT 'automatic rules against votes' AS subject, {value} AS value {_VOTED}",
        unit="share",
        needs=("judged",),
    )


RATES = (
    _votes(
        "votes_precision",
        "Of the clips that break a rule, the share that people rejected, too",
        "avg((votes < 0)::INT) FILTER (len(reasons) > 0)",
    ),
    _votes(
        "votes_recall",
        "Of the clips that people rejected, the share that breaks a rule",
        "avg((len(reasons) > 0)::INT) FILTER (votes < 0)",
    ),
    Figure(
        "R1.votes_by_rule",
        "Of the clips that break this rule, the share that people rejected, too",
        "info",
        "utterances",
        f"""SELECT reason AS subject, avg((votes < 0)::INT) AS value
FROM (SELECT unnest(reasons) AS reason, votes {_VOTED}) GROUP BY reason""",
        unit="share",
        needs=("judged",),
    ),
    Figure(
        "R1.accepted_by_speaker",
        "Share of a speaker's clips that people accepted (speakers with 5 voted clips or more)",
        "info",
        "utterances",
        f"""SELECT speaker_id AS subject, avg((votes > 0)::INT) AS value {_VOTED}
GROUP BY speaker_id HAVING count(*) >= 5""",
        unit="share",
        needs=("judged",),
    ),
    _rates("speaker", "speaker_id", "info"),
    _rates("district", "district", "warn"),
    _rates("transcriber", "transcriber_id", "warn"),
)

WHOLE_CHECKS = (*LEAKS, *CLAIMS_AND_SPLITS, *RATES)
WHOLE_VIEWS = (JUDGED, FACTS)
