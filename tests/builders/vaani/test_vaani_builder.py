"""Whole builds: the real crowd corpus with its real defects, the bundled sample, the published form, and bad input."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.build import build, plan
from builders.sources import Sources
from builders.vaani.builder import BUILDER
from builders.vaani.file_names import pseudonym
from quality import run
from schemas import DatasetFolder, GoldsmithError

SALT = b"0123456789abcdef0123456789abcdef"


def built(out: Path, **overrides: Path) -> DatasetFolder:
    build(BUILDER, Sources.load(BUILDER.folder, overrides=overrides), out, progress=False)
    return DatasetFolder(out)


def rows(folder: DatasetFolder, table: str = "utterances") -> list[dict]:
    return [row for path in folder.all_shards(table) for row in pq.read_table(path).to_pylist()]


@pytest.fixture(scope="module")
def crowd(shared_file, tmp_path_factory: pytest.TempPathFactory) -> DatasetFolder:
    """The real Malayalam clips, built and checked."""
    folder = built(tmp_path_factory.mktemp("crowd") / "out", recordings=shared_file("real/vaani/msc_ml"))
    run.check(folder, BUILDER.checks)
    return folder


@pytest.fixture(scope="module")
def upstream(shared_file) -> dict[str, dict[str, str]]:
    with open(shared_file("real/vaani/msc_ml/clips.tsv"), encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["clip_id"]: row for row in table}


@pytest.mark.real
def test_every_defect_of_the_real_collection_has_its_reason_and_nothing_else_is_lost(crowd, upstream) -> None:
    states = {name: {key for key, row in upstream.items() if row["upstream_state"] == name} for name in
              ("missing_file", "empty_file", "ogg_named_webm", "ok")}  # fmt: skip
    rejects = pq.read_table(crowd.rejects("utterances")).to_pylist()
    by_reason = {
        reason: {row["record"].split("\t")[0] for row in rejects if row["reason"] == reason}
        for reason in {row["reason"] for row in rejects}
    }
    assert by_reason == {"missing_file": states["missing_file"], "empty_file": states["empty_file"]}
    found = {row["utterance_id"]: row for row in rows(crowd)}
    assert set(found) == states["ok"] | states["ogg_named_webm"]
    findings = pq.read_table(crowd.findings).to_pylist()
    assert {row["id"] for row in findings if row["check"] == "A02.extension"} == states["ogg_named_webm"]
    assert all(found[key]["audio"]["path"].endswith(".opus") for key in states["ogg_named_webm"])
    for key, row in found.items():
        assert row["transcript"] == upstream[key]["text"]
        assert row["votes"] == (int(upstream[key]["net_votes"]) if upstream[key]["net_votes"] else None)
        assert row["speaker_id"] == upstream[key]["speaker"]


@pytest.mark.real
def test_the_rule_of_the_notes_is_reproduced_and_printed(crowd) -> None:
    figures = {check["name"]: check["figures"] for check in crowd.report["checks"]}
    assert figures["R1.votes_precision"][0]["value"] == pytest.approx(0.95, abs=0.03)
    assert figures["R1.votes_recall"][0]["value"] == pytest.approx(0.18, abs=0.04)
    assert {figure["subject"] for figure in figures["R1.votes_by_rule"]} >= {"A05", "A06", "A07", "T5"}


@pytest.mark.real
def test_real_prompts_keep_their_joiners(crowd, upstream) -> None:
    joined = [row for row in rows(crowd) if "\u200d" in row["transcript"] or "\u200c" in row["transcript"]]
    assert joined
    assert all(row["text_clean"].count("\u200d") == row["transcript"].count("\u200d") for row in joined)


def test_rejects_of_the_sample_have_their_reasons_and_show_no_name(sample) -> None:
    rejects = pq.read_table(sample.rejects("utterances")).to_pylist()
    assert Counter(row["reason"] for row in rejects) == {
        "missing_file": 1, "empty_file": 1, "not_audio": 1, "ragged_row": 1, "duplicate_id": 1, "not_in_table": 2,
    }  # fmt: skip
    assert [row["reason"] for row in pq.read_table(sample.rejects("images")).to_pylist()] == ["undecodable"]


def test_no_name_of_the_sample_is_in_what_was_built(sample) -> None:
    for path in sorted(sample.path.glob("[!.]*/**/*.parquet")):
        for column in pq.read_table(path).to_pydict().values():
            text = repr([value for value in column if not isinstance(value, dict)])
            assert "IISc_VaaniProject" not in text, path.name
            assert "abcd1" not in text, path.name
    assert "this salt is public" not in sample.build_json.read_text(encoding="utf-8")


def test_speakers_and_coverage_are_the_sums_of_the_utterances(sample) -> None:
    clips, speakers, coverage = rows(sample), rows(sample, "speakers"), rows(sample, "coverage")
    assert sum(row["utterances"] for row in speakers) == sum(row["utterances"] for row in coverage) == len(clips)
    hours = sum(row["duration_s"] for row in clips) / 3600
    assert sum(row["hours"] for row in speakers) == pytest.approx(hours)
    assert sum(row["hours"] for row in coverage) == pytest.approx(hours)
    kannada = next(row for row in coverage if row["language"] == "Kannada")
    assert (kannada["district"], kannada["state"], kannada["speakers"]) == ("DakshinaKannada", "Karnataka", 2)


def test_only_what_is_planted_stops_the_sample(sample) -> None:
    failed = [check["name"] for check in sample.report["checks"]
              if check["status"] == "failed" and check["severity"] == "block"]  # fmt: skip
    planted = ["T7.personal_data", "T7.tag_data", "T7.tags", "T7.image_tags", "S2.claims"]
    assert failed == ["A14.nearly_same_sound.leakage", *planted]


def test_the_same_bytes_again(sample, tmp_path) -> None:
    build(BUILDER, Sources.load(BUILDER.folder, sample=True), tmp_path / "again", progress=False)
    again = DatasetFolder(tmp_path / "again")
    assert again.build["files"] == sample.build["files"]


def good_clip(**more: str) -> dict[str, str]:
    path = next((BUILDER.folder / "sample/recordings/audio").glob("*_1001_*.flac"))
    return {"path": f"audio/{path.name}", "utterance": "u1", "speaker": "s1", **more}


def test_a_collection_of_ones_own(collection_folder, tmp_path) -> None:
    clips = [
        good_clip(),
        good_clip(utterance="u2", path="../../etc/passwd"),
        good_clip(utterance="u3", path=""),
        good_clip(utterance="u1"),
    ]
    toml = (
        '[columns]\npath = "path"\nutterance = "utterance"\nspeaker = "speaker"\n[constants]\nlanguage = "Marwadi"\n'
        "[thresholds]\nmin_snr_db = 7\n[splits]\ntest = 0.0\nvalidation = 0.0\n"
    )
    sources = Sources.load(BUILDER.folder, overrides={"recordings": collection_folder(clips, toml=toml)})
    with pytest.raises(
        GoldsmithError, match=r"3 of 4 records were rejected .*1 duplicate_id, 1 no_file, 1 unreadable_file"
    ):
        build(BUILDER, sources, tmp_path / "out", progress=False)
    few = Sources.load(BUILDER.folder, overrides={"recordings": collection_folder(clips[:1], toml=toml)})
    build(BUILDER, few, tmp_path / "few", progress=False)
    (row,) = rows(DatasetFolder(tmp_path / "few"))
    assert (row["language"], row["language_given"], row["iso639_3"]) == ("Marwari", "Marwadi", "mwr")
    settings = {row["name"]: row["value"] for row in rows(DatasetFolder(tmp_path / "few"), "settings")}
    assert (settings["min_snr_db"], settings["share_test"]) == (7, 0)


def test_jsonl_and_csv_tables(collection_folder, tmp_path) -> None:
    folder = collection_folder([good_clip()])
    clip = good_clip()["path"]
    (folder / "a.jsonl").write_text(
        f'{{"file": "{clip}", "n": 1, "text": "एक"}}\nnot json\n\n{{"file": "{clip}", "n": 2}}\n', encoding="utf-8"
    )
    (folder / "b.csv").write_bytes(f'\ufefffile,n,text\n{clip},3,"दो, ""तीन"""\n{clip},4,'.encode() + b"\xff\n")
    (folder / "collection.toml").write_text(
        '[collection]\nname = "x"\nlicence = "CC0-1.0"\npersonal_names = false\ntables = ["*.jsonl", "b.csv"]\n'
        '[columns]\npath = "file"\nutterance = "n"\ntranscript = "text"\n',
        encoding="utf-8",
    )
    with pytest.raises(GoldsmithError, match="1 bad_json, 1 not_utf8"):
        built(tmp_path / "out", recordings=folder)
    (folder / "b.csv").write_bytes(f'\ufefffile,n,text\n{clip},3,"दो, ""तीन"""\n'.encode())
    (folder / "a.jsonl").write_text(f'{{"file": "{clip}", "n": 1, "text": "एक"}}\n', encoding="utf-8")
    found = {row["utterance_id"]: row["transcript"] for row in rows(built(tmp_path / "good", recordings=folder))}
    assert found == {"1": "एक", "3": 'दो, "तीन"'}


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[columns]\nfile = 'path'\n", r"collection.toml > columns > file\] is unknown"),
        ("[columns]\npath = 'nothing'\n", r"clips.tsv > nothing\] is no column"),
        ("[thresholds]\nmin_snr = 3\n", "did you mean min_snr_db"),
        ("[thresholds]\nmin_snr_db = 'x'\n", "but must be a number"),
        ("[thresholds]\nmin_snr_db = nan\n", "but must be a number"),
        ("[columns]\ntranscript = ['a']\n", "but must be text"),
        ("[constants]\nlanguage = 5\n", "but must be text"),
        ("[aliases]\nlanguage = 'x'\n", "but must be a table of texts"),
        ("[images]\ncolumns = { id = 'x' }\n", r"images > columns > id\] is unknown"),
        ("[splits]\ntest = true\n", "but must be a number"),
        ("[splits]\ntest = 0.9\n", "shares from 0 to 0.5"),
        ("[oops]\n", r"collection.toml > oops\] is unknown"),
        ("[images]\ntable = 'no.tsv'\n", r"images > table\] no.tsv is not in the folder"),
        ("[images]\nfolder = 'no'\n", r"images > folder\] no is not in the folder"),
        ("[images]\ncolumns = { path = 'x' }\n", "no table and no folder"),
        ("[images]\nfolder = '../elsewhere'\n", "leads out of the folder"),
        ("[images]\ntable = '/etc/passwd'\n", "leads out of the folder"),
    ],
)
def test_a_wrong_description_is_one_line(collection_folder, tmp_path, toml: str, said: str) -> None:
    folder = collection_folder([good_clip()], toml=toml)
    with pytest.raises(GoldsmithError, match=said) as caught:
        built(tmp_path / "out", recordings=folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ('tables = "clips.tsv"', r"tables\] is 'clips.tsv', but must be a list of texts"),
        ("tables = [1]", "but must be a list of texts"),
        ("tables = []", r"tables\] is missing"),
        ('tables = ["clips.tsv"]\npersonal_names = "no"', "but must be a switch: write true or false"),
        ('tables = ["clips.tsv"]\naudio = ["/etc"]', "leads out of the folder"),
        ('tables = ["clips.tsv"]\npersonal_names = false\nkeep = ["nothing"]', r"nothing\] is no column"),
        ('tables = ["clips.tsv"]\npersonal_names = false', r"\[clips.tsv\] is not UTF-8"),
    ],
)
def test_a_wrong_collection_is_one_line(collection_folder, tmp_path, about: str, said: str) -> None:
    folder = collection_folder([good_clip()])
    text = f'[collection]\nname = "x"\nlicence = "CC0-1.0"\n{about}\n[columns]\npath = "path"\n'
    (folder / "collection.toml").write_text(text, encoding="utf-8")
    if "UTF-8" in said:
        (folder / "clips.tsv").write_text("path\naudio/a.flac\n", encoding="utf-16")
    with pytest.raises(GoldsmithError, match=said) as caught:
        built(tmp_path / "out", recordings=folder)
    assert "\n" not in str(caught.value)


def test_a_file_that_no_table_names_keeps_its_extension(collection_folder, tmp_path) -> None:
    folder = collection_folder([good_clip()])
    about = '[collection]\nname = "x"\nlicence = "CC0-1.0"\ntables = ["clips.tsv"]\naudio = ["audio"]\n'
    (folder / "collection.toml").write_text(f'{about}[columns]\npath = "path"\n', encoding="utf-8")
    (tmp_path / "salt").write_bytes(SALT)
    found = built(tmp_path / "out", recordings=folder, salt=tmp_path / "salt")
    strays = pq.read_table(found.rejects("utterances")).to_pylist()
    files = [path for path in (folder / "audio").iterdir() if f"audio/{path.name}" != good_clip()["path"]]
    assert Counter(row["place"].rpartition(".")[2] for row in strays) == Counter(path.suffix[1:] for path in files)
    assert {row["reason"] for row in strays} == {"not_in_table"}


def test_a_table_without_a_line_is_one_clear_failure(collection_folder, tmp_path) -> None:
    folder = collection_folder([good_clip()])
    (folder / "clips.tsv").write_text("path\tutterance\tspeaker\n", encoding="utf-8")
    found = built(tmp_path / "out", recordings=folder)
    report = run.check(found, BUILDER.checks)
    assert [result.name for result in report.results if result.status == "failed" and result.severity == "block"] == [
        "utterances.rows"
    ]


def test_a_folder_that_nobody_knows(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(GoldsmithError, match=r"no collection\.toml"):
        built(tmp_path / "out", recordings=tmp_path / "empty")


def picture() -> bytes:
    file = io.BytesIO()
    PIL.Image.new("RGB", (16, 16), (200, 10, 10)).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def published(tmp_path) -> Path:
    """The published form: districts as Parquet, one of them without some columns, and the images config."""
    folder = tmp_path / "hub"
    clips = sorted((BUILDER.folder / "sample/recordings/audio").glob("*_10??_*.flac"))[:6]
    media = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    for district, part in (("Karnataka/DakshinaKannada", clips[:3]), ("Rajasthan/Nagaur", clips[3:])):
        there = folder / "audio" / district
        there.mkdir(parents=True)
        audio = [{"bytes": path.read_bytes(), "path": path.name} for path in part]
        columns = {
            "audio": pa.array(audio, media),
            "language": pa.array(["Hindi"] * 3),
            "gender": pa.array(["Female"] * 3),
            "isTranscriptionAvailable": pa.array(["Yes", "Yes", "No"]),
            "transcript": pa.array(["एक <noise> दो </noise>।", "तीन {three} चार।", None]),
            "referenceImage": pa.array(["Images/IMG_1.jpg"] * 3),
        }
        if "Karnataka" in district:
            columns |= {"languagesKnown": pa.array(["Hindi, Tulu"] * 3), "pincode": pa.array([574201] * 3)}
        pq.write_table(pa.table(columns), there / "train-00000-of-00001.parquet", row_group_size=2)
    (folder / "images").mkdir()
    shown = pa.array([{"bytes": picture(), "path": "Images/IMG_1.jpg"}], media)
    pq.write_table(pa.table({"image": shown}), folder / "images" / "train-00000-of-00001.parquet")
    return folder


def test_the_published_form(published, tmp_path) -> None:
    with pytest.raises(GoldsmithError, match="--source salt=FILE"):
        built(tmp_path / "out", recordings=published)
    salt = tmp_path / "salt"
    salt.write_bytes(SALT)
    folder = built(tmp_path / "out", recordings=published, salt=salt)
    found = rows(folder)
    assert len(found) == 6
    assert sorted(str(row["pincode"]) for row in found) == ["574201"] * 3 + ["None"] * 3
    assert Counter(str(row["languages_known"]) for row in found) == {"['Hindi', 'Tulu']": 3, "[]": 3}
    (shown,) = rows(folder, "images")
    assert {row["image_id"] for row in found} == {shown["image_id"]} == {pseudonym("img", "Images/IMG_1.jpg", SALT)}
    assert shown["image"]["path"] == f"{shown['image_id']}.png"  # By its content.
    assert all("IMG_1" not in str(pq.read_table(path).to_pylist()) for path in folder.path.glob("[!.]*/**/*.parquet"))
    assert Counter(row["transcribed_given"] for row in found) == {True: 4, False: 2}
    original = {path.read_bytes() for path in (BUILDER.folder / "sample/recordings/audio").glob("*_10??_*.flac")}
    assert {row["audio"]["bytes"] for row in found} <= original
    assert folder.lineage("utterances").is_file()


def test_images_from_a_source_of_their_own_and_claims(published, tmp_path) -> None:
    salt, claims, pictures = tmp_path / "salt", tmp_path / "claims.toml", tmp_path / "pictures"
    salt.write_bytes(SALT)
    claims.write_text('[[claim]]\nfigure = "utterances"\nvalue = "6"\nplace = "card"\n', encoding="utf-8")
    pictures.mkdir()
    (pictures / "IMG_2.png").write_bytes(picture())
    (pictures / "broken.png").write_bytes(picture()[:40])
    (published / "images" / "train-00000-of-00001.parquet").unlink()
    with pytest.raises(GoldsmithError, match=r"\[images > images\] 1 of 2 records were rejected \(1 undecodable\)"):
        built(tmp_path / "out", recordings=published, salt=salt, claims=claims, images=pictures)
    (pictures / "broken.png").unlink()
    folder = built(tmp_path / "out", recordings=published, salt=salt, claims=claims, images=pictures)
    (shown,) = rows(folder, "images")
    assert (shown["image_id"], shown["image"]["path"]) == (name := pseudonym("img", "IMG_2.png", SALT), f"{name}.png")
    (traced,) = pq.read_table(folder.lineage("images")).to_pylist()
    assert traced["place"] == f"{name}.png"
    run.check(folder, BUILDER.checks)
    states = {check["name"]: check["status"] for check in folder.report["checks"]}
    assert states["S2.claims"] == "reported" or states["S2.claims"] == "passed"
    assert states["M1.image"] == "failed"


@pytest.mark.parametrize(
    ("thresholds", "failed"),
    [("", True), ("near_sound = 0.999\nnear_text = 0.999\n", False)],
)
def test_a_collection_says_how_alike_copies_are(collection_folder, tmp_path, thresholds, failed) -> None:
    audio = BUILDER.folder / "sample/recordings/audio"
    words = "one two three four five six seven eight nine"
    rows = [
        {"path": f"audio/{next(audio.glob(f'*_{clip}_*')).name}", "transcript": f"{words} {last}"}
        for clip, last in (("1001", "ten"), ("1203", "eleven"))
    ]
    mapped = '[columns]\npath = "path"\ntranscript = "transcript"\n'
    folder = built(tmp_path / "out", recordings=collection_folder(rows, toml=f"{mapped}[thresholds]\n{thresholds}"))
    run.check(folder, BUILDER.checks)
    states = {check["name"]: check["status"] for check in folder.report["checks"]}
    assert [states[name] == "failed" for name in ("A14.nearly_same_sound", "T9.nearly_same_text")] == [failed] * 2


def test_an_earlier_release_pins_its_speakers(collection_folder, tmp_path) -> None:
    folder = collection_folder([good_clip()])
    earlier = tmp_path / "speakers.parquet"
    for split in ("train", "validation", "test"):
        pq.write_table(pa.table({"speaker_id": ["s1"], "split": [split]}), earlier)
        (row,) = rows(built(tmp_path / split, recordings=folder, earlier=earlier))
        assert row["split"] == split


def test_a_big_table_is_cut_and_a_new_clip_builds_only_its_shard_name_anew(
    collection_folder, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("builders.vaani.builder.SHARD_BYTES", 100_000)
    clips = [good_clip(utterance=f"u{index}", speaker=f"s{index}") for index in range(5)]
    sources = Sources.load(BUILDER.folder, overrides={"recordings": collection_folder(clips)})
    shards = [shard for shard, _, _ in plan(BUILDER, sources, tmp_path / "out") if shard.name.startswith("utterances")]
    assert [len(shard.parameters["marks"]) for shard in shards] == [3, 2]
    build(BUILDER, sources, tmp_path / "out", progress=False)
    assert len(rows(DatasetFolder(tmp_path / "out"))) == 5
