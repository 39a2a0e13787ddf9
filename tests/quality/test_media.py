"""Sounds and images in the report: the right rows' bytes, within the budget, under a type that browsers play."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pyarrow as pa
import pytest

from quality import media
from schemas import Audio, Column, Dataset, DatasetFolder, GoldsmithError, Image, Plot, Table, Text
from schemas.parquet import write_parquet

CLIPS = Table(
    "clips",
    "Clips.",
    (
        Column("id", Text(), "Id."),
        Column("sound", Audio(), "Sound."),
        Column("picture", Image(), "Picture.", nullable=True),
    ),
    ("id",),
    ("train", "test"),
)


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    for split, names in (("train", "abc"), ("test", "de")):
        rows = [
            {"id": name, "sound": {"bytes": name.encode() * 10, "path": f"{name}.opus"}, "picture": None}
            for name in names
        ]
        path = tmp_path / "data" / "clips" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(path, CLIPS.arrow, [pa.RecordBatch.from_pylist(rows, CLIPS.arrow)])
    build = {"format": 1, "dataset": "speech", "version": "1", "files": [], "sources": [], "accounting": []}
    build["schema"] = Dataset("speech", "Speech", "Speech.", (CLIPS,)).to_json()
    (tmp_path / "build.json").write_text(json.dumps(build), encoding="utf-8")
    return DatasetFolder(tmp_path)


def plot(column: str = "clips.sound", **more) -> Plot:
    return Plot("heard", "Heard", "", "media", "", media=column, **more)


def rows(*ids: str) -> list[dict[str, str]]:
    return [{"id": name, "caption": f"clip {name}", "facet": "x"} for name in ids]


def test_each_row_has_its_own_bytes_in_the_order_asked_for(folder) -> None:
    shown = media.items(folder, plot(picture=lambda data: b"PNG" + data[:1]), rows("d", "a"))["x"]["shown"]
    assert [(item["id"], item["caption"], item["kind"]) for item in shown] == [
        ("d", "clip d", "audio"),
        ("a", "clip a", "audio"),
    ]
    kind, _, data = shown[0]["source"].partition(";base64,")
    assert (kind, base64.b64decode(data)) == ("data:audio/ogg", b"d" * 10)
    assert shown[1]["picture"] == "data:image/png;base64," + base64.b64encode(b"PNGa").decode()


def test_what_is_over_the_budget_is_named_only(folder, monkeypatch) -> None:
    monkeypatch.setattr(media, "BUDGET_BYTES", 25)
    shown = media.items(folder, plot(picture=lambda _: None), rows("a", "b", "c"))["x"]["shown"]
    assert [bool(item["source"]) for item in shown] == [True, True, False]
    assert [item["picture"] for item in shown] == ["", "", ""]


def test_a_missing_medium_and_a_missing_row_are_named_only(folder) -> None:
    assert [item["kind"] for item in media.items(folder, plot("clips.picture"), rows("a"))["x"]["shown"]] == [""]
    assert [item["kind"] for item in media.items(folder, plot(), rows("z"))["x"]["shown"]] == [""]


@pytest.mark.parametrize("column", ["", "clips", "clips.nothing", "nothing.sound"])
def test_a_plot_names_its_column(folder, column: str) -> None:
    with pytest.raises(GoldsmithError, match=r"name table\.column in `media`"):
        media.items(folder, plot(column), rows("a"))
