"""Checks A02 to A16: the sound of a clip, and clips that are the same sound.

A01 (a file that is missing, empty, no sound or broken) is no check: such records are rejects of the build.
"""

from __future__ import annotations

from builders.vaani.sqltext import clips, said, setting, tagged
from schemas import Alike, Check, Figure, Strange

LISTEN = "Listen to some; if they are good, change the threshold in collection.toml, else leave them out."
RECORD = "Tell the recorder's makers; ask for the clip again."

FLAT_SHARE = "flat_top_samples / (duration_s * sampling_rate)"
_FLAT = f"peak_dbfs > -40 AND {FLAT_SHARE} > {setting('max_flat_top_share')}"
CLIPPED = f"(clip_share > {setting('max_clip_share')} OR ({_FLAT}))"
_RULES = {
    "A05": f"active_s < {setting('min_active_s')}",
    "A06": f"silence_share > {setting('max_silence_share')}",
    "A07": f"level_dbfs < {setting('min_level_dbfs')}",
    "A08": CLIPPED,
    "A11": f"snr_percentile_db < {setting('min_snr_db')}",
    "T5": f"letters > 0 AND active_s > 0 AND "
    f"(letters / active_s < {setting('min_rate')} OR letters / active_s > {setting('max_rate')})",
}
RULES = _RULES
"""The rules whose agreement with people's votes is measured (`R1.*`): condition by short name."""

SOUND = (
    clips(
        "A02.extension",
        "A file's name says what is in it",
        "warn",
        "NOT extension_fits",
        "format('named .{}, holds {} ({})', extension_given, container, codec)",
        "Nothing: the released name is right. Tell the recorder's makers.",
    ),
    clips(
        "A03.claimed_duration",
        "A clip is as long as its name or metadata say",
        "drop",
        f"abs(duration_s - claimed_duration_s) > {setting('duration_tolerance_s')}",
        said("lasts {} s, is said to last {} s", "duration_s", "claimed_duration_s"),
        "The wrong file stands under this name, or it was cut: get the right one.",
    ),
    clips(
        "A03.truncated",
        "A clip is as long as its own header says",
        "drop",
        f"missing_s > {setting('duration_tolerance_s')}",
        said("{} s are missing at the end", "missing_s"),
        "The copy is incomplete: get the file again.",
    ),
    clips(
        "A04.duration",
        "A clip is neither a scrap nor a whole session",
        "drop",
        f"duration_s < {setting('min_duration_s')} OR duration_s > {setting('max_duration_s')}",
        said("lasts {} s", "duration_s"),
        "Cut long clips at pauses; leave scraps out.",
    ),
    clips(
        "A05.little_speech",
        "There is speech in a clip",
        "drop",
        _RULES["A05"],
        "format('{} s of speech by energy, {} s by webrtcvad', round(active_s, 2), round(vad_active_s, 2))",
        LISTEN,
    ),
    clips(
        "A05.detectors_disagree",
        "webrtcvad hears speech where frame energy does not",
        "info",
        f"{_RULES['A05']} AND vad_active_s >= {setting('min_active_s')}",
        said("{} s of speech by energy, {} s by webrtcvad", "active_s", "vad_active_s"),
        "Listen: soft speech in noise looks like this, and so does noise alone.",
    ),
    clips(
        "A06.silence",
        "A clip is not mostly silence",
        "drop",
        _RULES["A06"],
        said("{} of it is silence", "silence_share"),
        "Cut the silence, or leave the clip out.",
    ),
    clips("A07.level", "A clip is loud enough", "drop", _RULES["A07"], said("level {} dBFS", "level_dbfs"), LISTEN),
    clips(
        "A07.peak",
        "The loudest sample is loud enough",
        "warn",
        f"peak_dbfs < {setting('min_peak_dbfs')}",
        said("peak {} dBFS", "peak_dbfs"),
        LISTEN,
    ),
    clips(
        "A08.clipping",
        "A clip is not clipped, nor was before it was turned down",
        "drop",
        CLIPPED,
        f"format('{{}} of samples at full scale, {{}} in flat tops', round(clip_share, 5), round({FLAT_SHARE}, 5))",
        RECORD,
    ),
    clips(
        "A08.some_clipping",
        "Hardly a sample is clipped",
        "warn",
        f"clip_share > {setting('warn_clip_share')} AND NOT {CLIPPED}",
        "format('{} of samples at full scale', round(clip_share, 5))",
        LISTEN,
    ),
    clips(
        "A09.offset",
        "The samples swing about zero",
        "drop",
        f"abs(dc_offset) > {setting('max_dc_offset')}",
        said("offset {}", "dc_offset"),
        "A broken input: ask for the clip again, or filter it and say so.",
    ),
    clips(
        "A09.some_offset",
        "The samples swing about zero, nearly",
        "warn",
        f"abs(dc_offset) > {setting('warn_dc_offset')} AND abs(dc_offset) <= {setting('max_dc_offset')}",
        said("offset {}", "dc_offset"),
        "A high-pass filter takes it out; the measures here have it taken out already.",
    ),
    clips(
        "A10.dropouts",
        "No stretch of exact zeros inside a clip",
        "warn",
        f"zero_runs > {setting('max_zero_runs')}",
        said("{} runs of zeros, the longest {} ms", "zero_runs", "zero_run_max_ms"),
        "Noise gates of browsers make them, too: listen before blaming the line.",
    ),
    clips(
        "A11.noise",
        "Speech stands out from the noise",
        "warn",
        _RULES["A11"],
        said("{} dB", "snr_percentile_db"),
        LISTEN,
    ),
    clips(
        "A12.narrow_band",
        "A clip has the bandwidth that its sampling rate promises",
        "warn",
        f"sampling_rate >= 16000 AND bandwidth_hz < {setting('min_bandwidth_hz')}",
        said("{} Hz at a sampling rate of {} Hz", "bandwidth_hz", "sampling_rate"),
        "Telephone sound that was upsampled: keep it apart, or say so.",
    ),
    tagged("A15.tags", "A sound file holds no words beside its sound", "utterances", "utterance_id", personal=False),
)

EXACT = Check(
    "A13.same_sound",
    "No two clips are the same sound",
    "drop",
    "utterances",
    """SELECT utterance_id AS id, 'same samples as ' || first AS message FROM (
    SELECT utterance_id, first_value(utterance_id) OVER same AS first, row_number() OVER same AS place FROM utterances
    WINDOW same AS (PARTITION BY pcm_digest ORDER BY split, utterance_id)
) WHERE place > 1""",
    advice="One of them stays (test before train); see whether their transcripts agree.",
)

NEAR = Alike(
    "A14.nearly_same_sound",
    "No two clips are the same recording in another form",
    "utterances",
    "fingerprint",
    "audio",
    apart="pcm_digest",  # the same samples are A13's
    least=setting("near_sound"),
    needs=("settings",),
    advice="Listen to both: a copy in another codec, with noise or reverberation. Keep one, or keep them in one split.",
)

REJECTED = Figure(
    "A01.rejected",
    "Records that could not be used, by reason: share of all records",
    "info",
    "utterances",
    """SELECT reason AS subject, count(*) / ((SELECT count(*) FROM utterances) + (SELECT count(*) FROM rejects
    WHERE table_name = 'utterances')) AS value FROM rejects WHERE table_name = 'utterances' GROUP BY reason""",
    unit="share",
    needs=("rejects",),
)

STRANGE = Strange(
    "A16.strange",
    "The clips that sound least like the others, by all measures together",
    "utterances",
    (
        "duration_s",
        "level_dbfs",
        "peak_dbfs",
        "silence_share",
        "lead_s",
        "trail_s",
        "snr_percentile_db",
        "bandwidth_hz",
        "high_band_db",
        "zero_share",
        "dc_offset",
    ),
    advice="Listen: no single threshold is crossed, but the combination is rare.",
)

AUDIO_CHECKS = (REJECTED, *SOUND, EXACT, NEAR, STRANGE)
