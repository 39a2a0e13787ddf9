"""Checks M1: labels of clips, and the images that they are about."""

from __future__ import annotations

from builders.vaani.sqltext import clips, setting, tagged
from schemas import Alike, Check

_LABEL = "Correct the label, or add its spelling under [aliases] in collection.toml."

LABELS = (
    clips(
        "M1.language",
        "A clip has a language that the tables know",
        "warn",
        "language IS NULL OR bcp47 IS NULL",
        "coalesce(language_given, 'none') || ' is in no table of languages'",
        _LABEL,
    ),
    clips(
        "M1.gender",
        "Gender is female, male or other",
        "warn",
        "gender NOT IN ('female', 'male', 'other')",
        "gender",
        _LABEL,
    ),
    clips(
        "M1.district",
        "A district lies in its state",
        "warn",
        "NOT district_fits",
        "district || ' is not in ' || state",
        _LABEL,
    ),
    clips(
        "M1.pincode",
        "A PIN code has six digits, the first not 0, and is one of its state's",
        "warn",
        "NOT regexp_full_match(pincode, '[1-9][0-9]{5}') OR NOT pincode_fits",
        "concat_ws(' ', pincode, 'in', state)",
        _LABEL,
    ),
    clips(
        "M1.speaker",
        "A clip has a speaker",
        "warn",
        "speaker_id IS NULL",
        "'no speaker in the table or the name'",
        _LABEL,
    ),
    clips(
        "M1.transcribed",
        "The collection says that there is a transcript exactly where there is one",
        "warn",
        "transcribed_given <> (transcript IS NOT NULL)",
        "CASE WHEN transcribed_given THEN 'said to be transcribed, is not' ELSE 'transcribed, said not to be' END",
        "The flag or the transcript is missing: ask for it.",
    ),
    clips(
        "M1.image",
        "A clip's image is among the images",
        "warn",
        "image_id IS NOT NULL AND (SELECT count(*) FROM images) > 0 AND image_id NOT IN (SELECT image_id FROM images)",
        "image_id || ' is not in images'",
        "Give the images with --source images=DIR, or correct the path.",
    ),
    Alike(
        "M1.same_image",
        "No image is there twice, as it is or cropped or encoded again",
        "images",
        "image",
        "image",
        least=setting("near_image"),
        needs=("settings",),
        advice="One picture under two names leaks between splits unseen: give both one name.",
    ),
    Check(
        "M1.image_place",
        "No image says where it was taken",
        "warn",
        "images",
        "SELECT image_id AS id, 'carries GPS coordinates' AS message FROM images WHERE has_location",
        (),
        "Take the metadata out of the picture: the place may be somebody's home.",
    ),
    tagged("M1.image_tags", "A picture holds no words beside its pixels", "images", "image_id", personal=False),
)
