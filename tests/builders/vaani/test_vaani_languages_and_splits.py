"""One name for each language and place; splits that leak nothing and stay when data is added."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.vaani import languages
from builders.vaani.splits import Clip, assign, image_in_train


@pytest.mark.parametrize(
    ("label", "name", "code", "tag"),
    [
        ("Oriya", "Odia", "ori", "or"),
        ("Marwadi", "Marwari", "mwr", "mwr"),
        ("KhorthKhotta", "Khortha", None, "mis-x-khortha"),
        ("NissiDafla", "Nyishi", "njz", "njz"),
        ("Meitei", "Manipuri", "mni", "mni"),
        ("hin", "Hindi", "hin", "hi"),
        ("tulu", "Tulu", "tcy", "tcy"),
    ],
)
def test_labels_have_one_name_and_the_codes(label: str, name: str, code: str | None, tag: str) -> None:
    found = languages.language(label)
    assert (found.name, found.iso639_3, found.bcp47) == (name, code, tag)


def test_an_unknown_label_stays_and_a_collection_may_explain_it() -> None:
    assert languages.language(" Hindustanee ") == languages.Language("Hindustanee")
    assert languages.language("Hindustanee", {"Hindustanee": "Hindi"}).bcp47 == "hi"


@pytest.mark.real
def test_every_label_and_district_of_the_published_card_is_known(shared_file) -> None:
    with open(shared_file("real/vaani/vaani_card_hours.tsv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {row["language"] for row in rows if languages.language(row["language"]).bcp47 is None} == set()
    assert {row["district"] for row in rows if languages.state_of(row["district"]) is None} == set()
    assert len({languages.language(row["language"]).name for row in rows}) < len({row["language"] for row in rows})


def test_places_under_any_spelling() -> None:
    assert languages.state("KA") == "Karnataka"
    assert languages.state("UttarPradesh") == "Uttar Pradesh"
    assert languages.district("DakshinKannada") == "DakshinaKannada"
    assert languages.state_of("Chamrajnagar") == "Karnataka"
    assert languages.pin_fits(574201, "Karnataka") is True
    assert languages.pin_fits(221001, "Karnataka") is False
    assert languages.pin_fits(221001, "Elsewhere") is None


def test_scripts_of_a_text() -> None:
    assert languages.scripts("क्या blue") == {"Latin": 0.5, "Devanagari": 0.5}
    assert list(languages.scripts("ᱚᱞ")) == ["Ol_Chiki"]
    assert languages.scripts("123 ।\u200d") == {}


def test_the_detector_tells_families_and_holds_its_tongue_when_unsure() -> None:
    assert languages.detected_family("இந்த படத்தில் ஒரு பெரிய மரம் இருக்கிறது") == "Dravidian"
    assert languages.detected_family("The boys are playing near the river today") == "Germanic"
    assert languages.detected_family("हाँ") is None


def clips(count: int, prefix: str = "s", stratum: str = "x") -> list[Clip]:
    return [
        Clip(f"{prefix}{i}-{j}", f"{prefix}{i}", None, stratum, f"i{i % 7}") for i in range(count) for j in range(2)
    ]


def test_shares_come_out_and_adding_data_moves_nobody() -> None:
    first = clips(2000)
    before = assign(first)
    shares = Counter(before)
    assert shares["test"] / len(first) == pytest.approx(0.1, abs=0.02)
    assert shares["validation"] / len(first) == pytest.approx(0.1, abs=0.02)
    more = [*clips(500, "new"), *first]
    assert assign(more)[1000:] == before


def test_small_strata_get_their_share_and_an_earlier_release_holds_everybody() -> None:
    small = [clip for language in range(30) for clip in clips(6, f"l{language}-", f"l{language}")]
    splits = assign(small)
    for language in range(30):
        found = {split for clip, split in zip(small, splits, strict=True) if clip.stratum == f"l{language}"}
        assert found == {"train", "validation", "test"}
    earlier = {str(clip.speaker): split for clip, split in zip(small, splits, strict=True)}
    more = [*small, *(clip for language in range(30) for clip in clips(6, f"m{language}-", f"l{language}"))]
    assert assign(more, earlier=earlier)[: len(small)] == splits


def test_a_share_of_nothing_is_nothing() -> None:
    assert set(assign(clips(300), {"validation": 0.0, "test": 0.2})) == {"train", "test"}


def test_images_of_train_are_marked_elsewhere_only() -> None:
    shown = [Clip("a", "a", None, "", "i"), Clip("b", "b", None, "", "i"), Clip("c", "c", None, "", None)]
    assert image_in_train(shown, ["train", "test", "test"]) == [False, True, False]


SPEAKER = st.one_of(st.none(), st.sampled_from("abcdefgh"))
RECORDING = st.one_of(st.none(), st.integers(0, 12).map(str))


@settings(max_examples=200)
@given(st.lists(st.tuples(SPEAKER, RECORDING, st.sampled_from("xy")), max_size=40))
def test_no_speaker_and_no_recording_is_ever_in_two_splits(pairs) -> None:
    found = [Clip(str(i), speaker, recording, stratum, None) for i, (speaker, recording, stratum) in enumerate(pairs)]
    splits = assign(found, {"validation": 0.3, "test": 0.3})
    for part in ("speaker", "recording"):
        where: dict[str, set[str]] = {}
        for clip, split in zip(found, splits, strict=True):
            if getattr(clip, part) is not None:
                where.setdefault(getattr(clip, part), set()).add(split)
        assert all(len(there) == 1 for there in where.values())
    shuffled = assign(list(reversed(found)), {"validation": 0.3, "test": 0.3})
    assert list(reversed(shuffled)) == splits
