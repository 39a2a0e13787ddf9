"""Annotation files with wrong types and nonsense: a record becomes a claim or a problem, a file is refused."""

from __future__ import annotations

import copy
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")

from builders.build import build
from builders.sources import Sources
from builders.vigor import tables
from builders.vigor.builder import BUILDER
from builders.vigor.forms import Problem, settle
from builders.vigor.pictures import image_rows
from builders.vigor.pixels import jpeg
from builders.vigor.readers import READERS
from builders.vigor.schema import CONCEPTS, GROUNDINGS, IMAGES
from schemas import DatasetFolder, GoldsmithError

SAMPLE = BUILDER.folder / "sample"
FORMATS = [name for name in READERS if name not in ("stills", "davis")]
WRONG: list[Any] = [
    *(None, True, False, 0, -1, 7, 10**30, 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", " ", "x", "7", "\ud800", "\0", "../../x", "()", "_"),
    *([], [7], ["x"], [[]], [None] * 4, [1, 2, 3, 4], {}, {"id": 7}, {"size": 5, "counts": 5}),
]


def everything(folder: Path, name: str) -> tuple[list, list[Problem]]:
    """All claims and problems of a folder, through settling and into Arrow; the accounting is asserted."""
    reader = READERS[name](folder)
    pictures, problems, claims = reader.pictures(), list(reader.strays()), []
    known = {concept.id for concept, _ in reader.concepts()}
    frames = {}
    for picture in pictures:
        frames.setdefault(picture.clip, {})[picture.frame] = tables.image_id(name, picture.key)
    tables.batch(IMAGES, [tables.image_row(name, picture) for picture in pictures])
    tables.batch(CONCEPTS, [tables.concept_row([(name, concept)]) for concept, _ in reader.concepts()])
    for picture in pictures:
        kept, wrong = settle(reader.claims(picture))
        assert reader.records(picture) == len(kept) + sum(len(claim.merged) for claim in kept) + len(wrong)
        assert all(each.table == "groundings" for each in wrong)
        assert {claim.concept.id for claim in kept} <= known
        rows = [tables.claim_row(name, picture, claim, frames[picture.clip]) for claim in kept]
        tables.batch(GROUNDINGS, rows)
        claims += kept
        problems += wrong
    for each in problems:
        assert each.reason
        assert all(value.encode() is not None for value in vars(each).values())
    return claims, problems


def refused(folder: Path, name: str) -> str:
    """The one line in which a folder is refused; empty where it is not."""
    try:
        everything(folder, name)
    except GoldsmithError as error:
        return str(error)
    return ""


def places(content: Any, path: tuple = ()) -> list[tuple]:
    """The path of every value in a JSON file, of lists only the first and last few."""
    found = [path] if path else []
    if isinstance(content, dict):
        for key, value in content.items():
            found += places(value, (*path, key))
    elif isinstance(content, list):
        for index in dict.fromkeys([*range(min(3, len(content))), *range(max(0, len(content) - 3), len(content))]):
            found += places(content[index], (*path, index))
    return found


_FILES: dict[str, list[tuple[Path, Any, list[tuple]]]] = {}


def files(name: str) -> list[tuple[Path, Any, list[tuple]]]:
    """The JSON files of a sample, with the places in them."""
    if name not in _FILES:
        paths = sorted((SAMPLE / name).rglob("*.json"))
        _FILES[name] = [(path, content := json.loads(path.read_bytes()), places(content)) for path in paths]
    return _FILES[name]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample's annotations and PNG files, whose JSON files are overwritten at will."""
    room = tmp_path_factory.mktemp("hostile")
    for name in FORMATS:
        shutil.copytree(SAMPLE / name, room / name, ignore=shutil.ignore_patterns("*.jpg"))
    return room


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("name", FORMATS)
def test_wrong_values_become_problems_or_one_line(room: Path, name: str, data: st.DataObject) -> None:
    path, content, known = files(name)[data.draw(st.integers(0, len(files(name)) - 1))]
    spoilt = copy.deepcopy(content)
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = known[data.draw(st.integers(0, len(known) - 1))]
        value = data.draw(st.sampled_from([*WRONG, "REMOVE"]))
        try:
            holder = spoilt
            for step in above:
                holder = holder[step]
            if value == "REMOVE":
                del holder[last]
            else:
                holder[last] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # An earlier change took this place away.
    target = room / name / path.relative_to(SAMPLE / name)
    target.write_text(json.dumps(spoilt), encoding="utf-8")
    try:
        assert "\n" not in refused(room / name, name)
    finally:
        target.write_bytes(path.read_bytes())


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_none(room: Path, name: str) -> None:
    for path, _, _ in files(name):
        target = room / name / path.relative_to(SAMPLE / name)
        for content in (b"", b"\xff\xfe[", b"[" * 100_000, b"{}", b"[]", b"7", b'{"images": 5, "annotations": 5}'):
            target.write_bytes(content)
            assert "\n" not in refused(room / name, name)
        target.write_bytes(path.read_bytes())


def test_the_clean_twins_have_the_problems_that_are_planted_and_no_others() -> None:
    found = {name: Counter(problem.reason for problem in everything(SAMPLE / name, name)[1]) for name in FORMATS}
    assert {name: reasons for name, reasons in found.items() if reasons} == {
        "coco": {
            "bad_counts": 1, "bad_size": 1, "bad_polygon": 1, "empty_mask": 1, "unknown_category": 1, "unknown_image": 1
        },
        "gqa": {"no_carrier": 2},
        "visual_genome": {"self_relation": 2},
    }  # fmt: skip


SQUARE = [2.0, 2, 12, 2, 12, 12, 2, 12]


def coco(folder: Path, *annotations: dict[str, Any], **images: Any) -> Path:
    content = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 20, "height": 20, "license": 4, **images}],
        "annotations": [
            {"id": number, "image_id": 1, "category_id": 1, "segmentation": [SQUARE], "bbox": [2, 2, 10, 10], **each}
            for number, each in enumerate(annotations)
        ],
        "categories": [{"id": 1, "name": "dog"}],
    }
    (folder / "a.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"bbox": [float("nan"), 2, 10, 10]}, "bad_box"),
        ({"bbox": [2, 2, -10, 10]}, "bad_box"),
        ({"bbox": [2, 2, 10, 0]}, "bad_box"),
        ({"bbox": [20, 2, 10, 10]}, "bad_box"),
        ({"bbox": [-10, 2, 10, 10]}, "bad_box"),
        ({"bbox": [2, 2, 1e308, 10]}, "bad_box"),
        ({"bbox": [2, 2, 10]}, "bad_box"),
        ({"bbox": "2 2 10 10"}, "bad_box"),
        ({"bbox": ["2", "2", "10", "10"]}, "bad_box"),
        ({"area": "100"}, "wrong_type"),
        ({"area": float("inf")}, "wrong_type"),
        ({"iscrowd": "0"}, "wrong_type"),
        ({"category_id": [1]}, "wrong_type"),
        ({"image_id": {"id": 1}}, "wrong_type"),
        ({"id": None}, "wrong_type"),
        ({"id": 0}, "duplicate_id"),
        ({"segmentation": {"size": 5, "counts": [400]}}, "bad_size"),
        ({"segmentation": [["0", "0", "9", "0", "9", "9"]]}, "bad_polygon"),
        ({"segmentation": [[[0, 0], [9, 0], [9, 9], [0, 9], [1, 1], [2, 2]]]}, "bad_polygon"),
    ],
)
def test_a_nonsensical_annotation_is_a_problem_and_its_clean_twin_a_claim(tmp_path, wrong, reason) -> None:
    claims, problems = everything(coco(tmp_path, {}, wrong), "coco")
    assert [claim.key for claim in claims] == ["annotation:1:0"]
    assert [problem.reason for problem in problems] == [reason]


def test_boxes_that_reach_over_the_edge_are_kept(tmp_path) -> None:
    claims, problems = everything(coco(tmp_path, {"bbox": [-1, 2, 25.5, 10]}, {"bbox": None}), "coco")
    assert [claim.box for claim in claims] == [(-1.0, 2.0, 25.5, 10.0), None]
    assert problems == []


@pytest.mark.parametrize("wrong", [{"width": 0}, {"width": "20"}, {"height": 10**6, "width": 10**6}, {"id": [1]}])
def test_a_nonsensical_picture_is_a_reject_of_images_and_takes_its_annotations_along(tmp_path, wrong) -> None:
    claims, problems = everything(coco(tmp_path, {}, **wrong), "coco")
    assert claims == []
    assert [problem.table for problem in problems] == ["images", "groundings"]
    assert problems[1].reason == "unknown_image"


def test_a_relation_of_psg_does_not_count_from_the_end(room: Path) -> None:
    path = room / "psg" / "psg.json"
    content = json.loads(path.read_bytes())
    content["data"][0]["relations"] = [[0, -1, 0], [0, 1, -1], [0, 1, 0]]
    path.write_text(json.dumps(content))
    claims, problems = everything(room / "psg", "psg")
    path.write_bytes((SAMPLE / "psg" / "psg.json").read_bytes())
    assert [problem.reason for problem in problems] == ["wrong_type"] * 2
    assert len([claim for claim in claims if claim.key.startswith(f"relation:{content['data'][0]['image_id']}")]) == 1


def cut(folder: Path, name: str, pattern: str) -> Path:
    """The first file of that pattern in a copy of a source of the sample, cut off behind its header."""
    shutil.copytree(SAMPLE / name, folder / name)
    victim = sorted((folder / name).glob(pattern))[0]
    victim.write_bytes(victim.read_bytes()[:60])
    return victim


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("panoptic", "masks/*.png"), ("psg", "**/*.png"), ("ade20k", "**/*.png"), ("davis", "An*/*/*/*.png")],
)
def test_a_mask_file_that_was_cut_off_rejects_what_it_shows_and_nothing_else(tmp_path, name, pattern) -> None:
    before, _ = everything(SAMPLE / name, name)
    victim = cut(tmp_path, name, pattern)
    claims, problems = everything(tmp_path / name, name)
    found = [problem for problem in problems if problem.reason == "unreadable_picture"]
    assert found
    assert all(problem.message.startswith(f"{victim.name} is no picture that can be read") for problem in found)
    kept, clips = {claim.key for claim in claims}, {claim.key.split(":")[1] for claim in claims}
    gone = {claim.key for claim in before} - kept
    assert gone
    assert kept < {claim.key for claim in before}
    if name == "davis":
        assert victim.parent.name not in clips
        assert Counter(problem.table for problem in found)["images"] == len(list(victim.parent.iterdir()))


def built(folder: Path, out: Path, **given: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of the tables, and of the rejects under `rejects/TABLE`, of a build from a folder of the sample."""
    texts = [f'[{name}]\npath = "{path.relative_to(folder)}"\nlicence = "CC0-1.0"\n' for name, path in given.items()]
    (folder / "sources.toml").write_text("\n".join(texts))
    build(BUILDER, Sources.load(folder), out, progress=False)
    tables = {name: f"data/{name}/*.parquet" for name in ("images", "groundings", "rationales")}
    tables |= {f"rejects/{name}": f"rejects/{name}.parquet" for name in tables}
    return {
        name: [row for path in sorted(out.glob(pattern)) for row in pq.read_table(path).to_pylist()]
        for name, pattern in tables.items()
    }


def test_a_picture_that_cannot_be_read_is_a_reject_and_takes_along_what_is_said_of_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(type(BUILDER), "reject_budget", 1.0)
    (tmp_path / "coco").mkdir()
    path = coco(tmp_path / "coco", {}, {"image_id": 2}, {"image_id": 2, "category_id": 9}) / "a.json"
    content = json.loads(path.read_bytes())
    content["images"].append({**content["images"][0], "id": 2, "file_name": "b.jpg"})
    path.write_text(json.dumps(content))
    whole = jpeg(np.full((20, 20, 3), 90, np.uint8))
    (path.parent / "a.jpg").write_bytes(whole)
    (path.parent / "b.jpg").write_bytes(whole[: len(whole) // 2])
    (path.parent / "c.jpg").mkdir()  # A folder is no picture, whatever its name.
    said = tmp_path / "rationales.jsonl"
    texts = [{"rationale_id": str(image), "image_id": f"coco:{image}", "text": "a dog"} for image in (1, 2, 3)]
    said.write_text("".join(json.dumps(each) + "\n" for each in texts))
    tables = built(tmp_path, tmp_path / "out", coco=path.parent, rationales=said)

    assert [row["image_id"] for row in tables["images"]] == ["coco:1"]
    assert {row["image_id"] for row in tables["groundings"]} == {"coco:1"}
    assert [row["rationale_id"] for row in tables["rationales"]] == ["1"]
    assert [row["reason"] for row in tables["rejects/images"]] == ["unreadable_picture"]
    assert Counter(row["reason"] for row in tables["rejects/groundings"]) == {"unknown_image": 1, "unknown_category": 1}
    assert [row["reason"] for row in tables["rejects/rationales"]] == ["unknown_image"] * 2


def test_a_clip_goes_whole_where_a_frame_cannot_be_read(tmp_path) -> None:
    victim = cut(tmp_path, "davis", "JPEGImages/*/*/*2.jpg")
    pictures = READERS["davis"](tmp_path / "davis").pictures()
    rows, lost = image_rows("davis", pictures)
    assert rows == []
    assert lost.keys() == {picture.key for picture in pictures}
    assert all(str(error).startswith(victim.name) for error in lost.values())
    assert len(image_rows("davis", READERS["davis"](SAMPLE / "davis").pictures())[0]) == len(pictures)


def test_a_still_without_a_header_is_a_reject(tmp_path) -> None:
    shutil.copytree(SAMPLE / "stills", tmp_path / "stills")
    (tmp_path / "stills" / "a.png").write_bytes(b"")
    _, problems = everything(tmp_path / "stills", "stills")
    assert [(each.table, each.reason, each.place) for each in problems] == [("images", "unreadable_picture", "a.png")]


@pytest.mark.parametrize("readable", [True, False])
def test_a_surface_that_cannot_be_read_is_a_reject_and_the_others_are_named(tmp_path, readable) -> None:
    surfaces = tmp_path / "surfaces"
    surfaces.mkdir()
    (surfaces / "brick.png").write_bytes(b"no picture")
    Image.new("RGB", (40, 90)).save(surfaces / "dot.png")
    if readable:
        noise = np.random.default_rng(1).integers(0, 256, (128, 128, 3), np.uint8)
        Image.fromarray(noise).save(surfaces / "gravel.png")
    sources = {"stills": SAMPLE / "stills", "textures": surfaces}
    build(BUILDER, Sources.load(BUILDER.folder, overrides=sources), tmp_path / "out", progress=False)
    folder = DatasetFolder(tmp_path / "out")
    rejects = pq.read_table(folder.rejects("concepts")).to_pylist()
    assert {(row["source"], row["place"], row["reason"]) for row in rejects} == {
        ("textures", "brick.png", "unreadable_surface"),
        ("textures", "dot.png", "small_surface"),
    }
    lemmas = pq.read_table(folder.all_shards("concepts")[0], columns=["lemma"])["lemma"].to_pylist()
    assert ("gravel" in lemmas) == readable
    assert not {"brick", "dot"} & set(lemmas)
