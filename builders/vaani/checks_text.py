"""Checks T1 to T9 and X1: transcripts, by their mark-up, script, language, rate, and by what should not be in them."""

from __future__ import annotations

from builders.vaani.checks_audio import LISTEN, RULES
from builders.vaani.sqltext import STRIP, clips, said, setting, tagged
from schemas import Alike, Check, Figure

REWRITE = "Send it back to the transcriber with the rule that it breaks."
_ISSUES = "array_to_string(transcript_issues, ', ')"


def _issue(*codes: str) -> str:
    """The condition that one of some issues is among a transcript's."""
    listed = " OR ".join(f"starts_with(issue, '{code}')" for code in codes)
    return f"len(list_filter(transcript_issues, lambda issue: {listed})) > 0"


_PRIVATE = "list_filter(transcript_pii, lambda kind: kind <> 'aadhaar_like')"

TEXT_CHECKS = (
    clips(
        "T1.broken_markup",
        "Brackets and closing tags of a transcript have their partners",
        "drop",
        _issue("unbalanced_bracket", "close_without_open"),
        _ISSUES,
        REWRITE,
    ),
    clips(
        "T1.doubtful_markup",
        "A transcript keeps to the grammar",
        "warn",
        _issue(
            "mismatched_bracket",
            "unclosed_tag",
            "unknown_tag",
            "unknown_note",
            "gloss_without_word",
            "gloss_not_latin",
            "empty_gloss",
            "tag_around_everything",
        ),
        _ISSUES,
        REWRITE,
    ),
    clips(
        "T1.style",
        "Tags are in lower case, sentences end with a mark, no blank stands before one",
        "info",
        _issue("tag_case", "pipe_as_danda", "blank_before_punctuation", "no_final_mark"),
        _ISSUES,
        "Nothing: the clean text has them mended.",
    ),
    clips(
        "T2.script",
        "A transcript is in a script of its language",
        "drop",
        f"script_share < {setting('min_script_share')}",
        "format('{} of the letters are in a script of {}, most are {}', round(script_share, 2), language, script)",
        "Wrong script or wrong language label: correct the one that is wrong.",
    ),
    clips(
        "T2.mixed_script",
        "Nearly all of a transcript is in a script of its language",
        "warn",
        f"script_share < {setting('warn_script_share')} AND script_share >= {setting('min_script_share')}",
        "format('{} of the letters are in a script of {}', round(script_share, 2), language)",
        "English belongs in braces, after the word in the language's own script.",
    ),
    clips(
        "T3.letters",
        "No letter of another script, no invisible character",
        "warn",
        f"other_letters IS NOT NULL OR {_issue('invisible_character')}",
        f"concat_ws('; ', 'other letters ' || other_letters, {_ISSUES})",
        "Look-alikes from another keyboard break every dictionary: replace them.",
    ),
    clips(
        "T4.language_family",
        "A transcript is in a language of its label's family",
        "warn",
        "detected_family <> language_family AND (language_family IN ('Indo-Aryan', 'Germanic') OR "
        "detected_family = 'Germanic' OR script IN ('Tamil', 'Telugu', 'Kannada', 'Malayalam'))",
        "format('lid.176 sees {}, {} is {}', detected_family, language, language_family)",
        "Read it: the detector knows few of these languages and only a wrong family means something.",
    ),
    clips(
        "T5.rate",
        "A transcript has as many letters as its speech has room for",
        "drop",
        RULES["T5"],
        said("{} letters in {} s of speech", "letters", "active_s"),
        "Often the transcript of another clip: listen, and compare with its neighbours.",
    ),
    clips(
        "T6.no_words",
        "A transcript has words",
        "drop",
        "transcript IS NOT NULL AND text_clean = ''",
        "'only mark-up: ' || left(transcript, 40)",
        "Keep the clip without a transcript, or leave it out.",
    ),
    clips(
        "T7.personal_data",
        "No transcript holds a phone, Aadhaar or PAN number, an e-mail or UPI address",
        "block",
        f"len({_PRIVATE}) > 0",
        f"'holds ' || array_to_string({_PRIVATE}, ', ')",
        "Take it out of transcript and sound in the collection itself: a row that is left out stays among the rejects.",
    ),
    clips(
        "T7.twelve_digits",
        "No transcript holds twelve digits grouped like an Aadhaar number",
        "warn",
        "list_contains(transcript_pii, 'aadhaar_like')",
        "'twelve digits, wrong check digit'",
        "Misheard or mistyped numbers look like this: read it.",
    ),
    clips(
        "T7.personal_name",
        "No clip's name holds personal data",
        "block",
        "len(name_pii) > 0",
        "'its name holds ' || array_to_string(name_pii, ', ')",
        "Say personal_names = true in collection.toml and give a salt: names become pseudonyms.",
    ),
    clips(
        "T7.tag_data",
        "No tag inside a sound file holds a phone, Aadhaar or PAN number, an e-mail or UPI address",
        "block",
        "len(tag_pii) > 0",
        "format('{} in the tags {}', array_to_string(tag_pii, ', '), array_to_string(tags, ', '))",
        STRIP,
    ),
    tagged(
        "T7.tags", "Where names are personal, a sound file holds no words", "utterances", "utterance_id", personal=True
    ),
    tagged("T7.image_tags", "Where names are personal, a picture holds no words", "images", "image_id", personal=True),
    Alike(
        "T9.nearly_same_text",
        "No two clips have nearly the same words",
        "utterances",
        "text_clean",
        "text",
        severity="info",
        leak="warn",
        least=setting("near_text"),
        needs=("settings",),
        advice="Free speech hardly repeats itself over eight words: one was copied, or both were read.",
    ),
    Check(
        "T8.repeated_text",
        "A speaker does not say the same of one image again and again",
        "warn",
        "utterances",
        f"""SELECT utterance_id AS id, format('{{}} clips of this speaker and image have this text', n) AS message
FROM (
    SELECT utterance_id, count(*) OVER (PARTITION BY speaker_id, image_id, text_key) AS n FROM utterances
    WHERE text_key IS NOT NULL AND speaker_id IS NOT NULL AND image_id IS NOT NULL
) WHERE n > {setting("max_repeats")}""",
        ("settings",),
        LISTEN,
    ),
    clips(
        "X1.recogniser",
        "A recogniser hears about what was transcribed",
        "warn",
        f"asr_wer > {setting('max_asr_wer')}",
        said("word error rate {}, of graphemes {}", "asr_wer", "asr_cer"),
        "Listen: the recogniser or the transcriber is wrong; sort by the grapheme rate.",
    ),
    Figure(
        "X1.word_error_rate",
        "Mean word error rate of the recogniser, by language",
        "info",
        "utterances",
        "SELECT coalesce(language, 'unknown') AS subject, avg(asr_wer) AS value FROM utterances GROUP BY 1",
    ),
    Figure(
        "X1.grapheme_error_rate",
        "Mean grapheme error rate of the recogniser, by language",
        "info",
        "utterances",
        "SELECT coalesce(language, 'unknown') AS subject, avg(asr_cer) AS value FROM utterances GROUP BY 1",
    ),
)
