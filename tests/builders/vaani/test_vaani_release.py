"""From a collection to a release that `load_dataset` reads: gate, drops, sums made anew, lint, the same again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from builders.vaani.builder import BUILDER
from goldsmith import main
from schemas import DatasetFolder, parquet
from schemas.hub import read_card


def goldsmith(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample without what stops a release (an Aadhaar number, words in files, a copy in another split)."""
    room = tmp_path_factory.mktemp("street")
    shutil.copytree(BUILDER.folder / "sample", room / "sample", ignore=shutil.ignore_patterns("__pycache__"))
    for name, planted in (("clips.tsv", ("२३४१", "_1306_", "_1202_")), ("images.tsv", ("IMG07",))):
        table = room / "sample/recordings" / name
        lines = table.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not any(word in line for word in planted)]
        table.write_text("\n".join(kept) + "\n", encoding="utf-8")
    goldsmith("build", "vaani", *_sources(room), "-o", room / "built")
    goldsmith("check", room / "built")
    goldsmith("release", room / "built", "--version", "1.0.0", "-o", room / "release")
    return room


def _sources(room: Path) -> list[str]:
    return [f"--source=recordings={room}/sample/recordings", f"--source=salt={room}/sample/salt.txt"]


def test_the_sample_with_its_personal_data_is_refused(sample, tmp_path) -> None:
    text = goldsmith("release", sample.path, "--version", "1.0.0", "-o", tmp_path / "release", code=1)
    assert "T7.personal_data" in text


def test_dropped_clips_are_gone_from_the_data_and_from_the_sums(street) -> None:
    before, after = DatasetFolder(street / "built"), DatasetFolder(street / "release")
    dropped = json.loads((street / "release/manifest.json").read_text(encoding="utf-8"))["dropped"]
    assert set(dropped) >= {"A03.claimed_duration", "A08.clipping", "A13.same_sound", "T2.script", "T6.no_words"}

    def facts(folder: DatasetFolder) -> tuple[int, float, float, int]:
        files = {table: str(folder.data(table) / "*.parquet") for table in ("utterances", "coverage", "speakers")}
        queries = (
            f"SELECT count(*) FROM '{files['utterances']}'",
            f"SELECT round(sum(duration_s), 3) FROM '{files['utterances']}'",
            f"SELECT round(sum(hours) * 3600, 3) FROM '{files['coverage']}'",
            f"SELECT sum(utterances)::INT FROM '{files['speakers']}'",
        )
        return tuple(duckdb.sql(query).fetchall()[0][0] for query in queries)  # pyright: ignore[reportReturnType]

    clips, seconds, covered, counted = facts(after)
    assert clips == facts(before)[0] - sum(count["utterances"] for count in dropped.values())
    assert covered == pytest.approx(seconds, abs=0.01)
    assert counted == clips


def test_lint_and_documents_agree_with_the_release(street) -> None:
    assert "clean" in goldsmith("lint", street / "release")
    goldsmith("card", street / "release", "--check")
    readme = (street / "release/README.md").read_text(encoding="utf-8")
    assert "min_snr_db" in (street / "release/DATASHEET.md").read_text(encoding="utf-8").replace("\\", "")
    assert "Images are shared" in (street / "release/DATASHEET.md").read_text(encoding="utf-8")
    names = [line.split(": ")[1] for line in readme.splitlines() if "config_name: " in line]
    assert names[:2] == ["utterances", "images"]
    assert not any("/" in name for name in names)


def test_load_dataset_gives_audio_and_image(street, tmp_path) -> None:
    from datasets import Audio, Image, load_dataset

    release = str(street / "release")
    clips = load_dataset(release, "utterances", cache_dir=str(tmp_path / "cache"))
    assert set(clips) == {"train", "validation", "test"}
    assert isinstance(clips["train"].features["audio"], Audio)
    images = load_dataset(release, "images", split="train", cache_dir=str(tmp_path / "cache"))
    assert isinstance(images.features["image"], Image)
    assert images[0]["image"].size == (320, 240)
    for name in ("speakers", "coverage", "settings"):
        load_dataset(release, name, split="train", cache_dir=str(tmp_path / "cache"))
    with pytest.raises(ValueError, match="claims"):  # Nothing is claimed: a table without rows has no config.
        load_dataset(release, "claims", cache_dir=str(tmp_path / "cache"))


WITHOUT_TORCH = """
import io, sys
import soundfile
from datasets import Audio, load_dataset
clips = load_dataset(sys.argv[1], "utterances", split="train", cache_dir=sys.argv[2])
row = clips.cast_column("audio", Audio(decode=False))[0]
samples, rate = soundfile.read(io.BytesIO(row["audio"]["bytes"]))
assert abs(len(samples) / rate - row["duration_s"]) < 0.001
assert not {"torch", "torchcodec"} & set(sys.modules)
print("read without torch", row["audio"]["path"])
"""


def test_undecoded_audio_needs_no_torch(street, tmp_path) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, str(street / "release"), str(tmp_path / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "USE_TORCH": "0"})
    assert "read without torch utt_" in done.stdout, done.stderr


def test_row_groups_of_sound_are_cut_by_bytes(street, tmp_path, monkeypatch) -> None:
    """With groups of 100 kB, of which the sample fills many; a group ends with the clip that fills it."""
    limit = 100_000
    monkeypatch.setattr(parquet, "MEDIA_GROUP_BYTES", limit)
    goldsmith("build", "vaani", *_sources(street), "-o", tmp_path / "built")
    groups = 0
    for path in DatasetFolder(tmp_path / "built").all_shards("utterances"):
        file = pq.ParquetFile(path)
        for index in range(file.num_row_groups):
            clips = file.read_row_group(index, columns=["audio"]).column(0).to_pylist()
            assert sum(len(clip["bytes"]) for clip in clips[:-1]) < limit
            groups += 1
    assert groups > 10


def test_the_release_can_be_made_again(street, tmp_path) -> None:
    text = goldsmith("regenerate", street / "release", *_sources(street), "-o", tmp_path / "again")
    assert "equal: utterances" in text
    assert "equal: speakers" in text


def test_a_clip_is_walked_back_to_its_line(street) -> None:
    clip = pq.read_table(DatasetFolder(street / "built").all_shards("utterances")[0], columns=["utterance_id"])
    text = goldsmith("explain", street / "built", clip.column(0)[0].as_py(), *_sources(street))
    assert "clips.tsv line" in text
    assert "IISc_VaaniProject" in text


def _documents(room: Path, recordings: Path, *more: object) -> tuple[dict, str, str]:
    """(YAML of the README, DATASHEET.md, CITATION.cff) of a build of `recordings`, which agree with the data."""
    goldsmith("build", "vaani", f"--source=recordings={recordings}", *more, "-o", room / "built")
    goldsmith("card", room / "built")
    goldsmith("card", room / "built", "--check")
    head, _ = read_card((room / "built/README.md").read_text(encoding="utf-8"))
    sheet, cited = ((room / "built" / name).read_text(encoding="utf-8") for name in ("DATASHEET.md", "CITATION.cff"))
    return dict(head), sheet, cited


def test_the_documents_say_of_another_collection_what_is_known_and_no_more(collection_folder, tmp_path) -> None:
    name = next((BUILDER.folder / "sample/recordings/audio").glob("*_1001_*.flac")).name
    recordings = collection_folder([{"path": "audio/plain.flac", "language": "Tulu"}])
    (recordings / "audio" / name).rename(recordings / "audio/plain.flac")  # its name gives speaker, district and image
    head, sheet, cited = _documents(tmp_path, recordings)
    assert (head["pretty_name"], head["license"], head["language"]) == ("x", "cc0-1.0", ["tcy"])
    readme = (tmp_path / "built/README.md").read_text(encoding="utf-8")
    assert "picture" not in readme.split("## Tables")[0] + cited, "nobody said that people described any"
    assert "in which people spoke freely" in cited
    assert "how speech varies" not in readme
    assert "Images are shared" not in sheet
    assert "\n| CC0-1.0 | 1 |\n" in sheet.partition("under the licences that the column `licence` has")[2]
    assert head["multilinguality"] == ["monolingual"]
    assert not {"license_name", "license_link", "annotations_creators", "source_datasets"} & set(head)
    assert sheet.count("Not known: the description of the collection") == 2
    assert "The contributors of x" in cited
    assert "ARTPARK" not in sheet + cited + (tmp_path / "built/README.md").read_text(encoding="utf-8")


def test_the_documents_of_the_published_form_say_who_made_it(collection_folder, tmp_path) -> None:
    clip = next((BUILDER.folder / "sample/recordings/audio").glob("*_1001_*.flac"))
    recordings, salt = tmp_path / "hub", tmp_path / "salt"
    recordings.mkdir()
    salt.write_bytes(b"0123456789abcdef")
    columns = {"audio": [{"bytes": clip.read_bytes(), "path": clip.name}], "language": ["Hindi"]}
    pq.write_table(pa.table(columns), recordings / "train-00000-of-00001.parquet")
    head, sheet, cited = _documents(tmp_path, recordings, f"--source=salt={salt}")
    assert (head["license"], head["language"]) == ("cc-by-4.0", ["hi"])
    assert "People in India describe a picture from their region" in cited
    assert "Project VAANI of ARTPARK" in sheet
    assert "Project VAANI of ARTPARK" in cited
    assert "Not known" not in sheet
    readme = (tmp_path / "built/README.md").read_text(encoding="utf-8")
    assert "how speech varies by district and speaker" in readme
    assert "| `recordings` |" in readme
    assert "| `salt` |" not in readme, "no row is made from it, and no release holds it"
