"""Every check has a planted defect that fires it and a clean twin that does not: on rows, and in the built sample."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from builders.vaani.builder import BUILDER
from builders.vaani.checks import CHECKS
from schemas import Check, Figure

PLANTED: list[tuple[str, dict[str, Any]]] = [
    ("A02.extension", {"extension_fits": False}),
    ("A03.claimed_duration", {"claimed_duration_s": 3.06}),
    ("A03.truncated", {"missing_s": 0.2}),
    ("A04.duration", {"duration_s": 0.49}),
    ("A04.duration", {"duration_s": 30.1}),
    ("A05.little_speech", {"active_s": 0.59}),
    ("A05.detectors_disagree", {"active_s": 0.5, "vad_active_s": 1.2}),
    ("A06.silence", {"silence_share": 0.81}),
    ("A07.level", {"level_dbfs": -45.1}),
    ("A07.peak", {"peak_dbfs": -25.1}),
    ("A08.clipping", {"clip_share": 0.0011}),
    ("A08.clipping", {"flat_top_samples": 200, "peak_dbfs": -6.0}),
    ("A08.some_clipping", {"clip_share": 0.0005}),
    ("A09.offset", {"dc_offset": -0.051}),
    ("A09.some_offset", {"dc_offset": 0.02}),
    ("A10.dropouts", {"zero_runs": 1, "zero_run_max_ms": 12.0}),
    ("A11.noise", {"snr_percentile_db": 14.9}),
    ("A12.narrow_band", {"bandwidth_hz": 3900.0}),
    ("T1.broken_markup", {"transcript_issues": ["unbalanced_bracket"]}),
    ("T1.doubtful_markup", {"transcript_issues": ["unknown_tag:whirr"]}),
    ("T1.style", {"transcript_issues": ["no_final_mark"]}),
    ("T2.script", {"script_share": 0.4}),
    ("T2.mixed_script", {"script_share": 0.9}),
    ("T3.letters", {"other_letters": "ঁ"}),
    ("T3.letters", {"transcript_issues": ["invisible_character:U+200B"]}),
    ("T4.language_family", {"detected_family": "Dravidian"}),
    ("T5.rate", {"letters": 61}),
    ("T5.rate", {"letters": 11}),
    ("T6.no_words", {"transcript": "<noise>", "text_clean": "", "letters": 0}),
    ("T7.personal_data", {"transcript_pii": ["aadhaar"]}),
    ("T7.twelve_digits", {"transcript_pii": ["aadhaar_like"]}),
    ("T7.personal_name", {"name_pii": ["phone"]}),
    ("T7.tag_data", {"tags": ["comment"], "tag_pii": ["phone"]}),
    ("T7.tags", {"tags": ["artist"]}),
    ("X1.recogniser", {"asr_text": "x", "asr_wer": 0.7, "asr_cer": 0.5}),
    ("M1.language", {"language": "Hindustanee", "bcp47": None}),
    ("M1.gender", {"gender": "unknown"}),
    ("M1.district", {"district": "Pune", "state": "Kerala", "district_fits": False}),
    ("M1.pincode", {"pincode": "02210"}),
    ("M1.pincode", {"pincode": "221001", "pincode_fits": False}),
    ("M1.speaker", {"speaker_id": None}),
    ("M1.transcribed", {"transcribed_given": False}),
]
"""Check and what differs from a good row."""


@pytest.mark.parametrize(
    ("name", "different"), PLANTED, ids=[f"{name}-{index}" for index, (name, _) in enumerate(PLANTED)]
)
def test_a_planted_defect_fires_and_its_clean_twin_does_not(bench, name: str, different: dict[str, Any]) -> None:
    rows = [bench.row(utterance_id="bad", pcm_digest="p2", **different), bench.row(utterance_id="good")]
    assert bench.failing(name, *rows) == {"bad"}


def test_a_good_row_fails_nothing_at_all(bench) -> None:
    assert bench.everything(bench.row()) == set()


def test_a_threshold_that_a_collection_changes_is_used(bench) -> None:
    row = bench.row(snr_percentile_db=14.0)
    assert bench.failing("A11.noise", row)
    assert not bench.failing("A11.noise", row, thresholds={"min_snr_db": 12})


def test_the_same_sound_twice_keeps_the_one_in_test(bench) -> None:
    rows = [
        bench.row(utterance_id=name, split=split) for name, split in (("a", "train"), ("b", "test"), ("c", "train"))
    ]
    assert bench.failing("A13.same_sound", *rows) == {"a", "c"}
    assert not bench.failing("A13.same_sound", rows[0], bench.row(utterance_id="d", pcm_digest="other"))


def test_a_text_that_one_speaker_repeats_about_one_image(bench) -> None:
    rows = [bench.row(utterance_id=name, image_id=image) for name, image in (("a", "i"), ("b", "i"), ("c", "j"))]
    assert bench.failing("T8.repeated_text", *rows) == {"a", "b"}
    assert not bench.failing("T8.repeated_text", *rows, thresholds={"max_repeats": 2})


IMAGE = {
    "image": {"bytes": b"x", "path": "a.jpg"}, "width": 8, "height": 8, "format": "jpeg", "has_location": False,
    "theme": None, "tags": [],
}  # fmt: skip


def image(name: str, phash: str, sha256: str = "", **more: Any) -> dict[str, Any]:
    return {**IMAGE, "image_id": name, "phash": phash, "sha256": sha256 or name, **more}


def test_words_in_files_warn_where_no_name_is_personal(bench) -> None:
    rows = [bench.row(utterance_id="bad", tags=["artist"]), bench.row(utterance_id="good")]
    assert bench.failing("A15.tags", *rows, personal_names=False) == {"bad"}
    assert not bench.failing("T7.tags", *rows, personal_names=False)
    assert not bench.failing("A15.tags", *rows)
    images = [image("a", "0" * 16, tags=["artist"]), image("b", "f" * 16)]
    assert bench.failing("M1.image_tags", bench.row(), images=images, personal_names=False) == {"a"}
    assert not bench.failing("T7.image_tags", bench.row(), images=images, personal_names=False)
    assert bench.failing("T7.image_tags", bench.row(), images=images) == {"a"}
    assert not bench.failing("M1.image_tags", bench.row(), images=images)


def test_an_image_that_says_where_it_was_taken(bench) -> None:
    assert bench.failing("M1.image_place", bench.row(), images=[image("a", "0" * 16, has_location=True)]) == {"a"}


def test_an_image_that_is_not_there(bench) -> None:
    rows = [bench.row(utterance_id="bad", image_id="b"), bench.row(utterance_id="good", image_id="a")]
    assert bench.failing("M1.image", *rows, images=[image("a", "0" * 16)]) == {"bad"}
    assert not bench.failing("M1.image", *rows)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("S1.speaker", "speaker_id"),
        ("S1.recording", "recording_id"),
        ("S1.sound", "pcm_digest"),
        ("S1.text", "text_key"),
    ],
)
def test_a_leak_between_splits(bench, name: str, column: str) -> None:
    own = dict.fromkeys(("speaker_id", "recording_id", "pcm_digest", "text_key"), "other")
    clean = [bench.row(utterance_id="a"), bench.row(utterance_id="b", split="test", **own)]
    assert not bench.failing(name, *clean)
    leaking = [clean[0], {**clean[1], column: clean[0][column]}]
    assert bench.failing(name, *leaking) == {"a"}


def test_prompts_that_readers_share_are_counted_and_no_leak(bench) -> None:
    rows = [bench.row(utterance_id="a"), bench.row(utterance_id="b", split="test", speaker_id="s2")]
    assert not bench.failing("S1.text", *rows, speech="read")
    assert bench.values("S1.prompts", *rows, speech="read") == {"test": 1.0}
    short = [{**row, "letters": 19} for row in rows]
    assert not bench.failing("S1.text", *short)


def test_images_in_two_splits_are_marked_and_counted(bench) -> None:
    rows = [
        bench.row(utterance_id="a", image_id="i"),
        bench.row(utterance_id="b", image_id="i", split="test", image_in_train=True),
        bench.row(utterance_id="c", image_id="j", split="test"),
    ]
    assert not bench.failing("S1.image_mark", *rows)
    assert bench.values("S1.images", *rows) == {"test": 0.5}
    assert bench.failing("S1.image_mark", rows[0], {**rows[1], "image_in_train": False}) == {"b"}
    assert not bench.failing("S1.image_mark", *rows[1:])


def claim(figure: str, value: float, tolerance: float = 0.5) -> dict[str, Any]:
    return {"claim": figure, "figure": figure, "text": str(value), "value": value, "tolerance": tolerance, "place": "x"}


def test_claims_are_held_against_the_data(bench) -> None:
    rows = [bench.row(utterance_id=str(index), speaker_id=str(index // 2), duration_s=1800.0) for index in range(4)]
    right = [claim("hours", 2, 0.05), claim("speakers", 2), claim("languages", 1), claim("utterances", 4)]
    assert not bench.failing("S2.claims", *rows, claims=right)
    assert bench.failing("S2.claims", *rows, claims=[claim("hours", 2.1, 0.05), right[1]]) == {"hours"}


def test_shares_of_splits_from_a_hundred_speakers_on(bench) -> None:
    def rows(test: int, all_of_them: int = 100) -> list[dict[str, Any]]:
        splits = ["test"] * test + ["validation"] * 10 + ["train"] * (all_of_them - test - 10)
        return [bench.row(utterance_id=str(i), speaker_id=str(i), split=split) for i, split in enumerate(splits)]

    assert not bench.failing("S3.shares", *rows(12))
    assert bench.failing("S3.shares", *rows(30)) == {"test"}
    assert not bench.failing("S3.shares", *rows(30, 99))


def test_rates_by_transcriber_beyond_chance(bench) -> None:
    def rows(bad: int) -> list[dict[str, Any]]:
        good = [bench.row(utterance_id=str(i), transcriber_id=f"t{i % 10}", district="Pune") for i in range(300)]
        return [{**row, "letters": 200} if row["transcriber_id"] == "t3" and i < bad * 10 else row
                for i, row in enumerate(good)]  # fmt: skip

    assert not bench.failing("R2.transcriber", *rows(1))
    assert bench.failing("R2.transcriber", *rows(25)) == {"t3"}
    assert not bench.failing("R2.speaker", *rows(25))
    assert not bench.failing("R2.district", *rows(25))


def test_the_agreement_of_rules_and_votes_is_measured(bench) -> None:
    rows = [
        bench.row(utterance_id="a", votes=-3, active_s=0.3, letters=4),
        bench.row(utterance_id="b", votes=-3),
        bench.row(utterance_id="c", votes=4, snr_percentile_db=10.0),
        bench.row(utterance_id="d", votes=4),
        bench.row(utterance_id="e", active_s=0.3),
    ]
    assert bench.values("R1.votes_precision", *rows) == {"automatic rules against votes": 0.5}
    assert bench.values("R1.votes_recall", *rows) == {"automatic rules against votes": 0.5}
    assert bench.values("R1.votes_by_rule", *rows) == {"A05": 1.0, "A11": 0.0}
    assert bench.values("R1.accepted_by_speaker", *rows, {**rows[3], "utterance_id": "f"}) == {"s1": 0.6}


def test_rejects_are_counted_by_reason(bench) -> None:
    rejects = [{"reason": "empty_file", "table_name": "utterances"}, {"reason": "undecodable", "table_name": "images"}]
    assert bench.values("A01.rejected", bench.row(), rejects=rejects) == {"empty_file": 0.5}


def test_every_check_was_tried() -> None:
    """No check is without a test: each is planted here by name, above or in the sample below."""
    source = Path(__file__).read_text(encoding="utf-8")
    untried = [check.name for check in CHECKS.checks if isinstance(check, Check) and f'"{check.name}"' not in source]
    assert untried == []
    reported = {"S2.figures", "S3.strata", "S2.untranscribed_districts", "X1.word_error_rate", "X1.grapheme_error_rate"}
    figures = {check.name for check in CHECKS.checks if isinstance(check, Figure)}
    assert {name for name in figures - reported if f'"{name}"' not in source} == set()


def test_the_readme_gives_every_check_its_severity() -> None:
    lines = (BUILDER.folder / "README.md").read_text(encoding="utf-8").splitlines()
    said = {
        name: line.split("`")[1]
        for line in lines
        if line.startswith(("| `block`", "| `drop`", "| `warn`"))
        for name in re.findall(r"[A-Z]\d+\.\w+|all of M1", line)
    }
    groups = {"all of M1": "warn"}
    real = {check.name: check.severity for check in CHECKS.checks if check.severity != "info"}
    assert said == {name: kind for name, kind in real.items() if not name.startswith("M1.")} | groups
    assert {kind for name, kind in real.items() if name.startswith("M1.")} == {"warn"}


SAMPLE = {
    "A02.extension": {"1113"},
    "A03.claimed_duration": {"1112", "1114"},
    "A03.truncated": {"1114"},
    "A04.duration": {"1101"},
    "A05.little_speech": {"1101", "1102", "1104", "1408"},
    "A06.silence": {"1103", "1104"},
    "A07.level": {"1104"},
    "A07.peak": {"1104"},
    "A08.clipping": {"1105", "1106"},
    "A09.offset": {"1107"},
    "A09.some_offset": {"1108"},
    "A11.noise": {"1110"},
    "A12.narrow_band": {"1111"},
    "T1.broken_markup": {"1401"},
    "T1.doubtful_markup": {"1402", "1409"},
    "T2.script": {"1404"},
    "T2.mixed_script": {"1401", "1405", "1406"},
    "T3.letters": {"1406"},
    "T4.language_family": {"1407"},
    "T5.rate": {"1408"},
    "T6.no_words": {"1409"},
    "T7.personal_data": {"1410"},
    "T7.twelve_digits": {"1411"},
    "T7.tags": {"1306"},
    "T7.tag_data": {"1306"},
    "T7.image_tags": {"IMG07"},
    "T8.repeated_text": {"1412", "1413"},
    "X1.recogniser": {"1004"},
    "M1.language": {"1501"},
    "M1.gender": {"1502"},
    "M1.district": {"1503"},
    "M1.pincode": {"1504"},
    "M1.transcribed": {"1505"},
    "M1.image": {"1506"},
    "M1.same_image": {"IMG01"},  # One of the two, by their pseudonyms.
    "M1.image_place": {"IMG04"},
    "S2.claims": {"hours, a boastful abstract"},
}
"""Check -> the clips of the sample that it names, and no others."""


@pytest.mark.parametrize("name", SAMPLE)
def test_the_sample_holds_the_planted_defect_and_nothing_else_of_it(findings, name: str) -> None:
    assert findings[name] == SAMPLE[name]


def test_what_the_sample_does_not_plant_is_not_found(findings) -> None:
    own = {check.name for check in CHECKS.checks}
    others = {
        "A05.detectors_disagree",
        "A08.some_clipping",
        "A13.same_sound",
        "A10.dropouts",
        "A14.nearly_same_sound",
        "T1.style",
        "A16.strange",
    }
    assert {name for name in findings if name in own} - set(SAMPLE) - others == set()
    assert findings["A13.same_sound"] < {"1001", "1201"}
    assert findings["A08.some_clipping"] == {"1204"}  # Reverberation made it louder.
    assert "1109" in findings["A10.dropouts"]
    assert findings["A14.nearly_same_sound"] <= {"1001", "1201", "1202", "1203", "1204"}
    assert len(findings["A14.nearly_same_sound"]) == 4  # A copy of the first in other codecs, noise, and reverberation.
    assert {"1403", "1404"} <= findings["T1.style"]
    # Among the strangest clips is one with a planted fault of sound.
    assert findings["A16.strange"] & set.union(*(SAMPLE[name] for name in SAMPLE if name[0] == "A"))
