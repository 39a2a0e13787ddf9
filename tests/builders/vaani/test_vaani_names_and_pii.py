"""File names and what is personal in them and in transcripts."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.vaani import pii
from builders.vaani.builder import BUILDER
from builders.vaani.file_names import parse_name, pseudonym, read_salt
from builders.vaani.naming import Naming, main
from builders.vaani.records import Record
from schemas import GoldsmithError

NAME = "IISc_VaaniProject_M_KA_DakshinKannada_xxxx99609_0821160000_KTCMMAO_136341_589_4854.wav"
SALT = b"sixteen bytes or so"


def test_a_recorder_name_says_who_where_what_and_when() -> None:
    name = parse_name(f"audio/{NAME}")
    assert name is not None
    assert (name.vendor, name.state, name.district, name.speaker) == ("M", "KA", "DakshinKannada", "xxxx99609")
    assert (name.session, name.image, name.record) == ("0821160000", "KTCMMAO", "136341")
    assert name.end_ms - name.start_ms == 4265
    assert name.personal
    other = parse_name(NAME.replace("_589_4854", "_5000_9000"))
    assert other is not None
    assert other.recording == name.recording


@pytest.mark.real
def test_the_real_names_parse(shared_file) -> None:
    lines = shared_file("real/vaani/vaani_transcripts.tsv").read_text(encoding="utf-8").splitlines()[1:]
    paths = [path for line in lines if (path := line.split("\t")[1])]
    names = [parse_name(path) for path in paths]
    assert len(names) == 4
    assert all(names)
    assert [name.personal for name in names if name] == [True, False, False, True]


@pytest.mark.parametrize("path", ["clip_0001.wav", "a/b.flac", "IISc_VaaniProject_M_KA.wav", ""])
def test_other_names_are_none(path: str) -> None:
    assert parse_name(path) is None


def test_a_pseudonym_needs_the_salt_and_is_no_number() -> None:
    first = pseudonym("spk", "xxxx99609", SALT)
    assert first == pseudonym("spk", "xxxx99609", SALT)
    assert (
        len({first, pseudonym("rec", "xxxx99609", SALT), pseudonym("spk", "xxxx99609", b"another salt, longer")}) == 3
    )
    assert not any(character.isdigit() for character in first)


def test_a_short_salt_is_refused() -> None:
    with pytest.raises(GoldsmithError, match="at least 16"):
        read_salt(b"  short \n")


def test_personal_names_need_a_salt_or_a_promise_that_is_kept() -> None:
    with pytest.raises(GoldsmithError, match="--source salt=FILE"):
        Naming(True, None)
    promised = Naming(False, None)
    with pytest.raises(GoldsmithError, match="a person's"):
        promised.identify({"path": NAME})
    plain = promised.identify({"path": NAME.replace("xxxx99609", "128325")})
    assert plain.speaker == "M_KA_DakshinKannada_128325"


def test_no_name_of_a_record_is_shown_where_names_are_personal() -> None:
    fields = {
        "path": f"audio/{NAME}",
        "image": "Images/Ravi_shop.jpg",
        "speaker": "Ravi",
        "transcriber": "Asha",
        "gender": "male",
    }
    record = Record("clips.tsv line 2", fields, {}, "the line as it stands")
    naming = Naming(True, SALT)
    found = naming.identify(fields)
    shown = naming.shown(record)
    assert all(
        word not in f"{shown}{vars(found) | {'name': None}}" for word in ("Ravi", "Asha", "xxxx", "99609", "KTCMMAO")
    )
    assert found.image == naming.image("Images/Ravi_shop.jpg") == pseudonym("img", "Images/Ravi_shop.jpg", SALT)
    assert '"gender": "male"' in shown
    assert naming.stand_in(f"audio/{NAME}") == f"{found.utterance}.wav"
    assert naming.stand_in("a/x.Ravi Kumar") == pseudonym("utt", "a/x", SALT)  # No extension, but a name.
    plain = Naming(False, None)
    assert plain.shown(record) == "the line as it stands"
    assert plain.stand_in(f"audio/{NAME}") == f"audio/{NAME}"
    assert plain.image("Images/Ravi_shop.jpg") == "Images/Ravi_shop.jpg"


def test_the_owner_finds_every_name_again(sample, capsys) -> None:
    folder = BUILDER.folder / "sample"
    main([str(folder / "recordings"), str(folder / "salt.txt")])
    names = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    clips = [row for path in sample.all_shards("utterances") for row in pq.read_table(path).to_pylist()]
    for row in clips:
        assert names[row["utterance_id"]].startswith("audio/IISc_VaaniProject_")
        assert names[row["image_id"]].startswith("IMG")
        assert {row["speaker_id"], row["recording_id"], row["transcriber_id"]} <= set(names)
    with pytest.raises(SystemExit, match="2"):
        main([str(folder), str(folder / "salt.txt")])


AADHAAR = "234123412346"
PERSONAL = [
    ("मेरा नंबर ९८७६५ ४३२१० है", ["phone"]),
    ("call +91 9876543210 now", ["phone"]),
    ("আধার ২৩৪১ ২৩৪১ ২৩৪৬", ["aadhaar"]),
    ("ஆதார் ௨௩௪௧ ௨௩௪௧ ௨௩௪௬", ["aadhaar"]),
    (f"id {AADHAAR}", ["aadhaar"]),
    ("2341 2341 2347", ["aadhaar_like"]),
    ("pan ABCPE1234F", ["pan"]),
    ("लिखो a.b@x.in पर", ["email"]),
    ("pay asha@okaxis", ["upi"]),
]


@pytest.mark.parametrize(("text", "kinds"), PERSONAL)
def test_personal_data_in_any_digits(text: str, kinds: list[str]) -> None:
    assert pii.kinds(text) == kinds
    for _, start, end in pii.find(text):
        assert text[start:end].strip() == text[start:end]


@pytest.mark.parametrize("text", ["साल 2009 में", "1234 5678", "घर नंबर १२", "", "5876543210", "98765432101", "a@b"])
def test_other_numbers_are_left_alone(text: str) -> None:
    assert pii.kinds(text) == []


@given(st.text("0123456789", min_size=11, max_size=11), st.integers(0, 10))
def test_verhoeff_finds_every_wrong_digit(number: str, place: int) -> None:
    right = next(number + digit for digit in "0123456789" if pii.verhoeff(number + digit))
    wrong = right[:place] + str((int(right[place]) + 1) % 10) + right[place + 1 :]
    assert not pii.verhoeff(wrong)


def test_digits_of_every_script_are_folded_in_place() -> None:
    text = "०۱২੩૪୫௬౭೮൯"
    assert pii.ascii_digits(text) == "0123456789"
    assert pii.ascii_digits("क" + text) == "क0123456789"
