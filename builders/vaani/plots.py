"""The pictures of the report: how the measures are spread, who speaks what where, and what the rules agree with."""

from __future__ import annotations

from collections.abc import Sequence

from builders.vaani.spectrogram import spectrogram
from schemas import Alike, Check, Figure, Plot, Strange

_SPREAD = {
    "duration_s": ("Length", "s"),
    "level_dbfs": ("Level", "dBFS"),
    "snr_percentile_db": ("Speech above noise (percentiles)", "dB"),
    "snr_wada_db": ("WADA-SNR", "dB"),
    "bandwidth_hz": ("Bandwidth", "Hz"),
    "silence_share": ("Silence", "share"),
}

PLOTS = (
    Plot(
        "coverage",
        "Hours by district and language",
        "Audio in hours. Districts and languages under the names of the tables.",
        "heatmap",
        "SELECT language AS x, district AS y, hours AS value FROM coverage ORDER BY y, x",
        "language",
        "district",
        "h",
        needs=("coverage",),
    ),
    Plot(
        "coverage_table",
        "District by language",
        "Hours, transcribed hours and speakers.",
        "table",
        """SELECT district, state, language, round(hours, 3) AS hours, round(transcribed_hours, 3) AS transcribed_hours,
    speakers, utterances FROM coverage ORDER BY 1, 3""",
        needs=("coverage",),
    ),
    Plot(
        "spread",
        "How the measures are spread",
        "All clips, by measure.",
        "histogram",
        " UNION ALL ".join(
            f"SELECT '{title} ({unit})' AS facet, {name} AS value FROM utterances WHERE {name} IS NOT NULL"
            for name, (title, unit) in _SPREAD.items()
        ),
        y_title="clips",
    ),
    Plot(
        "rate",
        "Letters per second of speech",
        "Transcripts that belong to another clip stand far out.",
        "histogram",
        "SELECT letters / active_s AS value FROM utterances WHERE letters > 0 AND active_s > 0",
        "letters and marks per second",
        "clips",
    ),
    Plot(
        "votes",
        "Automatic rules and people's votes",
        "Clips by what people decided, and how many of them break a rule. Rules are a cheap gate, not a review.",
        "table",
        """SELECT CASE WHEN votes > 0 THEN 'accepted' ELSE 'rejected' END AS people, count(*) AS clips,
    count(*) FILTER (len(reasons) > 0) AS break_a_rule,
    count(*) FILTER (list_contains(reasons, 'A05')) AS A05_little_speech,
    count(*) FILTER (list_contains(reasons, 'A06')) AS A06_silence,
    count(*) FILTER (list_contains(reasons, 'A07')) AS A07_level,
    count(*) FILTER (list_contains(reasons, 'A08')) AS A08_clipping,
    count(*) FILTER (list_contains(reasons, 'A11')) AS A11_noise,
    count(*) FILTER (list_contains(reasons, 'T5')) AS T5_rate
FROM judged WHERE votes IS NOT NULL AND votes <> 0 GROUP BY 1 ORDER BY 1""",
        needs=("judged",),
    ),
    Plot(
        "settings",
        "Thresholds",
        "What the checks use; a collection changes them in collection.toml.",
        "table",
        """SELECT name, coalesce(value::VARCHAR, text) AS value, unit, "default", meaning FROM settings
    ORDER BY name""",
        needs=("settings",),
    ),
)


_CAPTION = "concat_ws(' · ', language, district, round(duration_s, 1) || ' s', left(transcript, 80))"


def heard(checks: Sequence[Check | Figure | Strange | Alike]) -> tuple[Plot, ...]:
    """Clips to listen to: some of each language, some of each kind of finding, and the images that have findings."""
    samples = f"""SELECT facet, id, caption FROM (
    SELECT coalesce(language, 'unknown') AS facet, utterance_id AS id, {_CAPTION} AS caption,
        row_number() OVER (PARTITION BY language ORDER BY hash(utterance_id)) AS place FROM utterances
) WHERE place <= 2 ORDER BY facet, place LIMIT 40"""
    return (
        Plot("samples", "Clips by language", "Two of each language, by chance.", "media", samples,
             media="utterances.audio", picture=spectrogram),
        Plot("findings", "Clips with findings", "Up to two for each check that named clips.", "media",
             _examples(checks, "utterances"), needs=("findings",),
             media="utterances.audio", picture=spectrogram),
        Plot("image_findings", "Images with findings", "Up to two for each check that named images.", "media",
             _examples(checks, "images"), needs=("findings",), media="images.image"),
    )  # fmt: skip


def _examples(checks: Sequence[Check | Figure | Strange | Alike], table: str) -> str:
    """SQL for two findings of each of VAANI's own checks of a table."""
    names = ", ".join(f"'{check.name}'" for check in checks if not isinstance(check, Figure) and check.table == table)
    return f"""SELECT facet, id, caption FROM (
    SELECT "check" AS facet, id, regexp_replace(message, '^\\[[^]]*\\] ', '') AS caption,
        row_number() OVER (PARTITION BY "check" ORDER BY id) AS place FROM findings WHERE "check" IN ({names})
) WHERE place <= 2 ORDER BY facet, id"""
