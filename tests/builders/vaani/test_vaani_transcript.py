"""The parser loses nothing, names the defects of real transcripts, and leaves marks and joiners alone."""

from __future__ import annotations

import csv
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.vaani.transcript import Disfluency, Event, Gloss, clean, fold, parse

REAL = {
    "Bearybashe": (),
    "Malvani": (),
    "Jaipuri": (),
    "Kudukh": ("blank_before_punctuation", "mismatched_bracket:[hydrolic}"),
    "Halbi": (),
    "Angika": ("pipe_as_danda", "tag_around_everything:bird_sound", "tag_case:Bird_Sound"),
    "Konkani": (),
    "Hindi": ("no_final_mark",),
}


@pytest.fixture
def real(shared_file) -> dict[str, str]:
    with open(shared_file("real/vaani/vaani_transcripts.tsv"), encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["language_label"]: row["transcript"] for row in rows}


@pytest.mark.real
def test_real_transcripts_parse_without_loss_and_their_defects_are_named(real) -> None:
    assert set(real) == set(REAL)
    for language, transcript in real.items():
        parsed = parse(transcript)
        assert parsed.verbatim == transcript
        assert parsed.issues == REAL[language], language


@pytest.mark.real
def test_real_transcripts_are_taken_apart(real) -> None:
    kudukh = parse(real["Kudukh"])
    assert kudukh.unintelligible == 1
    assert [gloss.english for gloss in kudukh.glosses] == ["hydrolic", "machine", "hydrolic", "machine"]
    assert not any(letter.isascii() and letter.isalpha() for letter in kudukh.text)
    assert parse(real["Jaipuri"]).disfluencies == (Disfluency("stutter", "अन-अ-में", 10),)
    konkani = parse(real["Konkani"])
    assert [(gloss.word, gloss.english) for gloss in konkani.glosses] == [("ब्लू कलरचो शर्ट", "blue color shirt")]
    assert [(event.tag, event.paired) for event in konkani.events] == [("pause", True)]
    assert [found.text for found in konkani.disfluencies] == ["घा"]


def test_tags_in_any_case_paired_unclosed_and_closed_only() -> None:
    parsed = parse("<Noise> एक <PAUSE> दो </noise> तीन </horn>।")
    assert parsed.events == (Event("noise", True, 0, 30), Event("pause", False, 11, 18))
    assert parsed.issues == ("close_without_open:horn", "tag_case:Noise", "tag_case:PAUSE")
    assert parsed.text == "एक दो तीन"
    assert "unclosed_tag:noise" in parse("<noise> एक।").issues


def test_nested_and_overlapping_tags_find_their_partners() -> None:
    parsed = parse("अ <noise> <horn> एक </noise> दो </horn>।")
    assert [(event.tag, event.paired) for event in parsed.events] == [("noise", True), ("horn", True)]
    assert parsed.issues == ()


@pytest.mark.parametrize(
    ("transcript", "issue"),
    [
        ("एक {blue}।", None),
        ("{blue} एक।", "gloss_without_word"),
        ("blue {blue} एक।", "gloss_without_word"),
        ("एक {नीला}।", "gloss_not_latin:नीला"),
        ("एक {}।", "empty_gloss"),
        ("एक {car दो।", "unbalanced_bracket"),
        ("एक <दो>।", "unbalanced_bracket"),
        ("एक [noise]।", "unknown_note:noise"),
        ("एक <whirr> दो।", "unknown_tag:whirr"),
        ("एक\u200b दो।", "invisible_character:U+200B"),
    ],
)
def test_issues(transcript: str, issue: str | None) -> None:
    assert parse(transcript).issues == ((issue,) if issue else ())


def test_a_gloss_explains_as_many_words_as_it_has() -> None:
    parsed = parse("ಆಪಿಸ್{office} और नीली शर्ट {blue shirt}।")
    assert [(gloss.word, gloss.english) for gloss in parsed.glosses] == [("ಆಪಿಸ್", "office"), ("नीली शर्ट", "blue shirt")]
    assert parse("{one}").glosses == (Gloss("", "one", 0, 5),)


def test_cut_off_words_and_stutters_but_no_reduplication() -> None:
    assert [found.text for found in parse("वह घा-- घास क-कल जल्दी-जल्दी गया --").disfluencies] == ["घा", "क-कल", "गया"]


def test_joiners_marks_and_raw_forms_are_kept() -> None:
    chillu, zwnj = "അവന\u0d4d\u200d", "क्\u200cष"
    assert clean(chillu) == chillu
    assert clean(zwnj) == zwnj
    assert parse("\u0958लम।").verbatim.startswith("\u0958")
    assert clean("\u0958लम") == "\u0915\u093cलम"  # A composition exclusion: NFC decomposes it.
    assert clean("\u0928\u093c") == "\u0929"
    assert clean("\u0bc6\u0bbe".join("கக")) == "க\u0bcaக"


def test_folding_is_for_comparing_only() -> None:
    assert fold("അവന\u0d4d\u200d") == fold("അവൻ")
    assert fold("क्\u200cष") == fold("क्ष")
    assert fold("Shirt") == "shirt"


@given(st.text(max_size=200))
def test_any_text_comes_back(text: str) -> None:
    parsed = parse(text)
    assert parsed.verbatim == text
    assert unicodedata.is_normalized("NFC", parsed.text)


WORD = st.text("अआइकखगचजतदनपबमयरलवसह" + "ािीुूेैोौं्" + "\u200c\u200d", min_size=1, max_size=6)
PIECE = st.one_of(
    WORD,
    st.tuples(WORD, st.sampled_from(["blue", "big car", "office"])).map(lambda pair: f"{pair[0]} {{{pair[1]}}}"),
    st.sampled_from(
        ["<noise>", "</noise>", "<PAUSE>", "<Bird_Sound>", "</bird_sound>", "[unintelligible]", "--", "।", "|"]
    ),
)


@given(st.lists(PIECE, max_size=12), st.sampled_from([" ", "  ", "\n"]))
def test_generated_markup_comes_back_whole_and_leaves_no_markup_in_the_text(pieces: list[str], between: str) -> None:
    transcript = between.join(pieces)
    parsed = parse(transcript)
    assert parsed.verbatim == transcript
    assert not set(parsed.text) & set("<>{}[]|।-")
    assert parsed.unintelligible == pieces.count("[unintelligible]")
    assert len(parsed.glosses) == sum("{" in piece for piece in pieces)
    assert sum(event.paired for event in parsed.events if event.tag == "noise") <= pieces.count("</noise>")
    assert all(transcript[event.start : event.start + 1] == "<" for event in parsed.events)
    spoken = [piece.split(" {")[0] for piece in pieces if piece[0] not in "<[-।|"]
    assert parsed.text == clean(" ".join(spoken))


@given(st.permutations(["<noise>", "एक", "</noise>", "{big}", "दो"]))
def test_a_tag_spans_to_its_end_where_that_comes_after_it(pieces: list[str]) -> None:
    transcript = " ".join(pieces)
    start, close = transcript.index("<noise>"), transcript.index("</noise>")
    paired = start < close
    end = close + len("</noise>") if paired else start + len("<noise>")
    assert parse(transcript).events == (Event("noise", paired, start, end),)
