"""VAANI's tables: utterances, images, speakers, coverage, and the settings and claims they are held against."""

from __future__ import annotations

from builders.vaani.splits import SPLITS
from schemas import Audio, Bool, Column, Dataset, Float, Image, Int, Json, List, Struct, Table, Text

_DBFS = "dB re full scale"

_EVENT = Struct({"tag": Text(), "paired": Bool(), "start": Int(32), "end": Int(32)})
_GLOSS = Struct({"word": Text(), "english": Text(), "start": Int(32), "end": Int(32)})
_DISFLUENCY = Struct({"kind": Text(), "text": Text(), "start": Int(32)})

_WHO_AND_WHERE = (
    Column(
        "utterance_id",
        Text(),
        "Names the clip for ever; a keyed pseudonym where file names hold personal data.",
        minimum=1,
    ),
    Column(
        "audio", Audio(), "The clip as it was recorded or published, never re-encoded; its path says its true format."
    ),
    Column("speaker_id", Text(), "The speaker, a pseudonym.", nullable=True),
    Column("recording_id", Text(), "The recording that the clip was cut from.", nullable=True),
    Column("start_s", Float(), "Where the clip starts in its recording.", "s", nullable=True, minimum=0),
    Column("end_s", Float(), "Where the clip ends in its recording.", "s", nullable=True, minimum=0),
    Column("claimed_duration_s", Float(), "The length by the file name or the metadata.", "s", nullable=True),
    Column("state", Text(), "State or union territory, one spelling each.", nullable=True),
    Column("district", Text(), "District, one spelling each.", nullable=True),
    Column("state_given", Text(), "The state as it was given.", nullable=True),
    Column("district_given", Text(), "The district as it was given.", nullable=True),
    Column(
        "district_fits",
        Bool(),
        "Whether that district lies in that state; missing where it is in no table.",
        nullable=True,
    ),
    Column("pincode", Text(), "Postal index number of the speaker's place, as given.", nullable=True),
    Column(
        "pincode_fits", Bool(), "Whether it is one of that state's; missing where either is unknown.", nullable=True
    ),
    Column("stay_years", Text(), "How long the speaker has lived there, as given.", "years", nullable=True),
    Column("gender", Text(), "As given, in lower case.", nullable=True),
    Column("language", Text(), "The language, one name each.", nullable=True),
    Column("language_given", Text(), "The language as it was given.", nullable=True),
    Column(
        "iso639_3",
        Text(),
        "ISO 639-3 code; none where the standard lists no such language.",
        nullable=True,
        pattern="[a-z]{3}",
    ),
    Column("bcp47", Text(), "BCP-47 tag, private use (mis-x-...) where ISO 639-3 has no code.", nullable=True),
    Column("languages_known", List(Text()), "The languages that the speaker knows, one name each."),
    Column("image_id", Text(), "The image that was described, as `images.image_id` has it.", nullable=True),
    Column("image_in_train", Bool(), "Whether the clip is outside the training split while its image is shown there."),
)

_TEXT = (
    Column("transcript", Text(), "What the transcriber wrote, character by character.", nullable=True),
    Column("transcribed_given", Bool(), "Whether the collection says that there is a transcript.", nullable=True),
    Column(
        "text_clean",
        Text(),
        "The words alone: NFC, mark-up and punctuation gone, marks and joiners kept.",
        nullable=True,
    ),
    Column("text_key", Text(), "A digest of the folded text; equal for texts that differ in form only.", nullable=True),
    Column("events", List(_EVENT), "Tags in the transcript, with their span in characters."),
    Column("glosses", List(_GLOSS), "English in braces, with the words that it explains."),
    Column("disfluencies", List(_DISFLUENCY), "Words that were cut off, and stutters."),
    Column("unintelligible", Int(32), "How many stretches nobody understood.", minimum=0),
    Column("transcript_issues", List(Text()), "What is wrong with the mark-up: codes, some with a detail."),
    Column("script", Text(), "The script of most letters of the clean text.", nullable=True),
    Column(
        "script_share",
        Float(),
        "Share of its letters in a script of the language.",
        nullable=True,
        minimum=0,
        maximum=1,
    ),
    Column("other_letters", Text(), "Its letters in scripts that are not the language's, each once.", nullable=True),
    Column(
        "detected_family",
        Text(),
        "Language family that lid.176 is sure of; good for catching a wrong one only.",
        nullable=True,
    ),
    Column("language_family", Text(), "Family of the language, where it is known.", nullable=True),
    Column("letters", Int(32), "Letters, marks and digits of the clean text.", "code points", minimum=0),
    Column("transcript_pii", List(Text()), "Kinds of personal data found in the transcript."),
    Column("name_pii", List(Text()), "Kinds of personal data found in the released name of the clip."),
    Column("tag_pii", List(Text()), "Kinds of personal data found in what the tags inside the file say."),
    Column("transcriber_id", Text(), "Who transcribed it, a pseudonym.", nullable=True),
    Column("votes", Int(32), "Reviewers' votes for the clip less those against it.", nullable=True),
    Column("asr_text", Text(), "What a recogniser heard, if it was asked.", nullable=True),
    Column("asr_wer", Float(), "Word error rate of that against the clean text.", nullable=True, minimum=0),
    Column("asr_cer", Float(), "The same, of grapheme clusters.", nullable=True, minimum=0),
)

_SOUND = (
    Column("container", Text(), "Container by the file's first bytes."),
    Column("codec", Text(), "Codec inside it."),
    Column("extension_given", Text(), "The file name's extension.", nullable=True),
    Column("extension_fits", Bool(), "Whether that is an extension of the container."),
    Column("sampling_rate", Int(32), "Samples a second.", "Hz", minimum=1),
    Column("channels", Int(32), "Channels.", minimum=1),
    Column("bytes", Int(64), "Size of the encoded clip.", "bytes", minimum=1),
    Column("tags", List(Text()), "Names of the tags inside the file (artist, comment), but for those of its writer."),
    Column("duration_s", Float(), "Decoded length.", "s", minimum=0),
    Column("missing_s", Float(), "How much longer its header says it is.", "s", minimum=0),
    Column("level_dbfs", Float(), "Root mean square, offset removed.", _DBFS),
    Column("peak_dbfs", Float(), "Largest sample.", _DBFS),
    Column("clip_share", Float(), "Share of samples at .999 of full scale or above.", minimum=0, maximum=1),
    Column("flat_top_samples", Int(32), "Samples in runs of 3 or more at the clip's own peak.", "samples", minimum=0),
    Column("dc_offset", Float(), "Mean of the samples, full scale 1."),
    Column("active_s", Float(), "Speech by frame energy.", "s", minimum=0),
    Column("silence_share", Float(), "Share of 20 ms frames that are not speech.", minimum=0, maximum=1),
    Column("lead_s", Float(), "Silence before the speech.", "s", minimum=0),
    Column("trail_s", Float(), "Silence after the speech.", "s", minimum=0),
    Column(
        "vad_active_s", Float(), "Speech by webrtcvad, asked only where frame energy finds little.", "s", nullable=True
    ),
    Column("snr_percentile_db", Float(), "95th less 10th percentile of frame energy.", "dB", nullable=True),
    Column("snr_wada_db", Float(), "WADA-SNR of the speech part.", "dB", nullable=True),
    Column("snr_doubts", List(Text()), "Why these two may be wrong; empty: nothing says so."),
    Column("bandwidth_hz", Float(), "Highest frequency within 60 dB of the speech band's peak.", "Hz", nullable=True),
    Column("high_band_db", Float(), "4.2 to 7.6 kHz relative to 0.3 to 3.4 kHz.", "dB", nullable=True),
    Column("zero_share", Float(), "Share of samples that are exactly zero.", minimum=0, maximum=1),
    Column("zero_runs", Int(32), "Runs of exact zeros of 10 ms or more inside the clip.", minimum=0),
    Column("zero_run_max_ms", Float(), "The longest of them.", "ms", minimum=0),
    Column("pcm_digest", Text(), "Digest of the 16-bit samples: equal for the same sound in WAV and FLAC."),
    Column(
        "fingerprint", List(Int(32)), "16 bits every 64 ms that survive codecs and noise; empty for clips under 1 s."
    ),
    Column("split", Text(), "The split it is in.", allowed=SPLITS),
    Column("licence", Text(), "Licence of the collection."),
    Column("extra", Json(), "Further columns that the collection keeps, as given.", nullable=True),
)

# Whole microseconds are added, so that no sum depends on the order of the clips.
_MICROSECONDS = "sum(round(duration_s * 1000000)::HUGEINT)"
_HOURS = (
    f"{_MICROSECONDS}::DOUBLE / 3600000000 AS hours, "
    f"coalesce({_MICROSECONDS} FILTER (transcript IS NOT NULL), 0)::DOUBLE / 3600000000 AS transcribed_hours"
)

UTTERANCES = Table(
    "utterances",
    "A clip of speech with all that is known and measured of it.",
    _WHO_AND_WHERE + _TEXT + _SOUND,
    ("utterance_id",),
    SPLITS,
)

IMAGES = Table(
    "images",
    "The pictures that people were shown.",
    (
        Column("image_id", Text(), "Names the image; a keyed pseudonym where names hold personal data.", minimum=1),
        Column("image", Image(), "The picture as it was given."),
        Column("width", Int(32), "Width.", "pixels", minimum=1),
        Column("height", Int(32), "Height.", "pixels", minimum=1),
        Column("format", Text(), "Format by its content."),
        Column("sha256", Text(), "sha256 of its bytes.", pattern="[0-9a-f]{64}"),
        Column("phash", Text(), "64-bit perceptual hash (DCT), hexadecimal.", pattern="[0-9a-f]{16}"),
        Column("has_location", Bool(), "Whether it carries the place it was taken at."),
        Column("tags", List(Text()), "Names of the words inside the file (EXIF, XMP, PNG): artist, comment."),
        Column("theme", Text(), "Its theme, as given.", nullable=True),
    ),
    ("image_id",),
)

SPEAKERS = Table(
    "speakers",
    "What each speaker gave, and nothing personal; made from `utterances`.",
    (
        Column("speaker_id", Text(), "The speaker, a pseudonym."),
        Column("split", Text(), "The split that all the speaker's clips are in.", allowed=SPLITS),
        Column("districts", List(Text()), "Districts of the clips."),
        Column("languages", List(Text()), "Languages of the clips."),
        Column("utterances", Int(64), "Clips.", minimum=1),
        Column("recordings", Int(64), "Recordings.", minimum=0),
        Column("images", Int(64), "Images described.", minimum=0),
        Column("hours", Float(), "Audio.", "h", minimum=0),
        Column("transcribed_hours", Float(), "Audio with a transcript.", "h", minimum=0),
    ),
    ("speaker_id",),
    derived=f"""
        SELECT speaker_id, min(split) AS split,
            coalesce(list_sort(list_distinct(list(district) FILTER (district IS NOT NULL))), []) AS districts,
            coalesce(list_sort(list_distinct(list(language) FILTER (language IS NOT NULL))), []) AS languages,
            count(*) AS utterances, count(DISTINCT recording_id) AS recordings, count(DISTINCT image_id) AS images,
            {_HOURS}
        FROM utterances WHERE speaker_id IS NOT NULL GROUP BY speaker_id""",
)

COVERAGE = Table(
    "coverage",
    "How much there is of each language in each district; made from `utterances`.",
    (
        Column("district", Text(), "District; `unknown` where it was not given."),
        Column("language", Text(), "Language; `unknown` where it was not given."),
        Column("state", Text(), "State of the district.", nullable=True),
        Column("utterances", Int(64), "Clips.", minimum=1),
        Column("speakers", Int(64), "Speakers.", minimum=0),
        Column("hours", Float(), "Audio.", "h", minimum=0),
        Column("transcribed_hours", Float(), "Audio with a transcript.", "h", minimum=0),
    ),
    ("district", "language"),
    derived=f"""
        SELECT coalesce(district, 'unknown') AS district, coalesce(language, 'unknown') AS language,
            mode(state) AS state, count(*) AS utterances, count(DISTINCT speaker_id) AS speakers,
            {_HOURS}
        FROM utterances GROUP BY 1, 2""",
)

SETTINGS = Table(
    "settings",
    "What the collection says of itself, the thresholds that the checks use, and the versions of what decoded.",
    (
        Column("name", Text(), "Name of the setting."),
        Column("value", Float(), "Its value, for a threshold.", nullable=True),
        Column("text", Text(), "Its value, for words.", nullable=True),
        Column("unit", Text(), "Unit of the value.", nullable=True),
        Column("meaning", Text(), "What it decides."),
        Column("default", Float(), "Value where a collection does not change it.", nullable=True),
    ),
    ("name",),
    describes_build=True,
)

CLAIMS = Table(
    "claims",
    "Figures that prose about the collection gives, to be held against the data.",
    (
        Column("claim", Text(), "Names the claim: figure and place."),
        Column(
            "figure",
            Text(),
            "What is claimed: hours, transcribed_hours, utterances, speakers, languages, districts, states or images.",
        ),
        Column("text", Text(), "The number as it is written."),
        Column("value", Float(), "The number."),
        Column("tolerance", Float(), "Half a unit of its last digit.", minimum=0),
        Column("place", Text(), "Where it is written."),
    ),
    ("claim",),
)

VAANI = Dataset(
    name="vaani",
    title="VAANI: speech about pictures",
    summary=(
        "Clips of recorded speech in the form of Project VAANI, where people in India describe a picture from their "
        "region in their own words. Each clip comes with measurements of its sound and, as far as the collection gives "
        "them, its transcript (as written, and parsed), speaker, district, language and image, in splits that share no "
        "speaker and no recording."
    ),
    tables=(UTTERANCES, IMAGES, SPEAKERS, COVERAGE, SETTINGS, CLAIMS),
    tasks=("automatic-speech-recognition", "audio-classification"),
    tags=("speech", "india"),
)
