"""Every reader: what it makes of a good file, and the reason for which it refuses each bad one."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_sketch import given

from builders.sketch.forms import BadDrawingError, Drawing, Entry, Problem
from builders.sketch.names import part_name, tidy
from builders.sketch.readers import READERS
from schemas import GoldsmithError


def read(source: str, path: Path) -> list[tuple[Entry, Drawing] | str]:
    """Everything a reader makes of a folder: drawings, and reasons of what it refuses."""
    reader = READERS[source](path)
    found: list[tuple[Entry, Drawing] | str] = []
    for item in reader.entries():
        if isinstance(item, Problem):
            assert item.message
            found.append(item.reason)
            continue
        try:
            found.append((item, reader.drawing(item)))
        except BadDrawingError as error:
            found.append(error.reason)
    return found


def one(source: str, path: Path) -> Drawing:
    """The only drawing of a folder."""
    (found,) = read(source, path)
    assert not isinstance(found, str), found
    return found[1]


def xs(drawing: Drawing) -> list[list[float]]:
    """The x of each stroke."""
    return [stroke.x.tolist() for stroke in drawing.strokes]


def groups(drawing: Drawing) -> list[str]:
    """The part of each stroke."""
    return [drawing.groups[stroke.group] if stroke.group >= 0 else "" for stroke in drawing.strokes]


# Quick, Draw!


def game(drawing: Any, **more: Any) -> dict[str, Any]:
    """A record of Quick, Draw!."""
    return {"word": "Ice_Cream", "key_id": "1", "countrycode": "DE", "recognized": True, "drawing": drawing, **more}


def write_lines(folder: Path, name: str, *records: Any) -> Path:
    """A file of JSON lines in a folder; text is written as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in records)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


RAW = [[[0, 10], [0, 5], [100, 130]], [[3.5], [4], [200]]]


def test_raw_game_keeps_times_country_and_whether_it_was_recognised(tmp_path: Path) -> None:
    ((entry, drawing),) = read("quickdraw", write_lines(tmp_path, "a.ndjson", game(RAW)))  # type: ignore[misc]
    assert (entry.category, entry.key, entry.drawer, entry.place) == ("ice cream", "1", None, "a.ndjson line 1")
    assert xs(drawing) == [[0, 10], [3.5]]
    assert [stroke.t.tolist() for stroke in drawing.strokes] == [[0, 30], [100]]
    assert (drawing.country, drawing.recognized, drawing.repairs) == ("DE", True, ())


def test_simplified_game_has_no_times(tmp_path: Path) -> None:
    drawing = one("quickdraw_simplified", write_lines(tmp_path, "a.ndjson", game([[[0, 10], [0, 5]]])))
    assert drawing.strokes[0].t is None


def test_times_that_run_backwards_are_dropped_and_said(tmp_path: Path) -> None:
    drawing = one("quickdraw", write_lines(tmp_path, "a.ndjson", game([[[0, 9], [0, 9], [50, 20]]])))
    assert drawing.strokes[0].t is None
    assert drawing.repairs == ("times_dropped",)


def test_a_stroke_without_points_is_dropped_and_said(tmp_path: Path) -> None:
    drawing = one("quickdraw", write_lines(tmp_path, "a.ndjson", game([[[], []], [[1, 2], [1, 2]]])))
    assert xs(drawing) == [[1, 2]]
    assert drawing.repairs == ("empty_stroke",)


BAD_GAMES = {
    "no_strokes": [[], None, [[[], []]], "x", {}],
    "bad_row": [[[[1, "2"], [1, 2]]], [[[1, [2]], [1, 2]]], [[1, 2]], [[[1, 2]]], [[{"a": 1}, [1]]], [[[True], [1]]],
                [[[1, 2], [1, 2], [1, 2], [1, 2]]], [[[1, 2], [1, 2]], [[1], [1], [1]]], [[[10**400, 1], [1, 2]]]],
    "uneven_rows": [[[[1, 2, 3], [1, 2]]], [[[1, 2], [1, 2], [1]]]],
    "not_finite": [[[[float("nan"), 2], [1, 2]]], [[[1, 2], [1, float("inf")]]]],
    "far_coordinate": [[[[1, 2e6], [1, 2]]], [[[-1e300, 1], [1, 2]]]],
    "no_extent": [[[[5], [5]]], [[[5, 5], [5, 5]], [[5], [5]]]],
    "too_long": [[[list(range(250_000)), [1] * 250_000]]],
}  # fmt: skip


@pytest.mark.parametrize(("reason", "drawing"), [(why, each) for why, group in BAD_GAMES.items() for each in group])
def test_games_that_are_refused(reason: str, drawing: Any, tmp_path: Path) -> None:
    good = game([[[1, 2], [1, 2]]], key_id="2")
    found = read("quickdraw", write_lines(tmp_path, "a.ndjson", game(drawing), good))
    assert found[0] == reason
    assert not isinstance(found[1], str)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"word": "cat", "key_id": "1", "dra', "bad_json"),
        ("[1, 2]", "bad_record"),
        ("nonsense", "bad_json"),
        ("[" * 100_000, "bad_json"),
        ('{"key_id": "1", "drawing": []}', "bad_record"),
        ('{"word": ["cat"], "key_id": "1"}', "bad_record"),
        ('{"word": "cat", "key_id": null}', "bad_record"),
        ("\x00\x01", "bad_json"),
    ],
)
def test_lines_that_are_refused(line: str, reason: str, tmp_path: Path) -> None:
    found = read("quickdraw", write_lines(tmp_path, "a.ndjson", line, "", game(RAW)))
    assert found[0] == reason
    assert not isinstance(found[1], str)


# SPG


def spg(folder: Path, *drawings: Any, names: str = "Base\nleaf \n", file: str = "apple_raw.ndjson") -> Path:
    """A folder of SPG with one file and its names."""
    records = [{"i": number, "key_id": str(number), "drawing": each} for number, each in enumerate(drawings)]
    write_lines(folder, file, *records)
    (folder / "apple.txt").write_text(names)
    return folder


def test_spg_strokes_have_parts(tmp_path: Path) -> None:
    ((entry, drawing),) = read("spg", spg(tmp_path, [[[0, 9], [0, 9], [1, 1]], [[5], [5], [0]]]))  # type: ignore[misc]
    assert (entry.category, entry.named, drawing.kind) == ("apple", True, "object")
    assert groups(drawing) == ["leaf", "base"]
    assert drawing.part_order == ["leaf", "base"]


def test_a_label_row_that_stands_twice_is_mended(tmp_path: Path) -> None:
    drawing = one("spg", spg(tmp_path, [[[0, 9], [0, 9], [1, 1], [1, 1]], [[5], [5], [0]]]))
    assert drawing.repairs == ("label_row_twice",)
    assert groups(drawing) == ["leaf", "base"]


def test_the_original_form_is_read_the_same(tmp_path: Path) -> None:
    offsets = [[3, 4, 0, 1], [2, 0, 1, 1], [1, 1, 0, 0], [5, 5, 1, 0]]
    (tmp_path / "apple.ndjson").write_text(json.dumps({"train_data": [offsets], "val_data": []}))
    (tmp_path / "apple.txt").write_text("base\nleaf\n")
    drawing = one("spg", tmp_path)
    assert xs(drawing) == [[3, 5], [6, 11]]
    assert groups(drawing) == ["leaf", "base"]


def test_misspelt_names_are_mended_and_said(tmp_path: Path) -> None:
    drawing = one("spg", spg(tmp_path, [[[0, 9], [0, 9], [0, 0]]], names="piont\n"))
    assert drawing.groups == ("pointer",)
    assert drawing.repairs == ("part_respelt",)
    assert part_name("eye,mouth") == ("eye or mouth", False)
    assert tidy(" Alarm_Clock ") == "alarm clock"


def test_two_labels_of_one_name_are_one_part(tmp_path: Path) -> None:
    drawing = one("spg", spg(tmp_path, [[[0, 9], [0, 9], [0, 0]], [[1], [1], [1]]], names="leaf\nLeaf\n"))
    assert drawing.groups == ("leaf",)


def test_a_file_without_names_keeps_its_strokes_and_is_not_asked_about(tmp_path: Path) -> None:
    folder = spg(tmp_path, [[[0, 9], [0, 9], [1, 1]]], file="unknown.ndjson")
    ((entry, drawing),) = read("spg", folder)  # type: ignore[misc]
    assert (entry.named, drawing.groups) == (False, ("part 1",))
    made = given(spg=folder)
    assert len(made.tables["parts"]) == 1
    assert [name for name in ("prompts", "orders", "gallery") if made.tables[name]] == []


BAD_SPG = {
    "bad_row": [[[[0, 9], [0, 9]]], [[[0, 9], [0, 9], [1, 1], [0, 0]]], [[[0, 9], [0, 9], ["1", "1"]]],
                [[[0, 9], [0, 9], [0.5, 0.5]]]],
    "uneven_rows": [[[[0, 9], [0, 9], [1, 1, 1]]], [[[0, 9], [0, 9], []]]],
    "mixed_labels": [[[[0, 9], [0, 9], [1, 0]]]],
    "unknown_label": [[[[0, 9], [0, 9], [2, 2]]], [[[0, 9], [0, 9], [-1, -1]]]],
}  # fmt: skip


@pytest.mark.parametrize(("reason", "drawing"), [(why, each) for why, group in BAD_SPG.items() for each in group])
def test_spg_drawings_that_are_refused(reason: str, drawing: Any, tmp_path: Path) -> None:
    found = read("spg", spg(tmp_path, drawing, [[[0, 9], [0, 9], [1, 1]]]))
    assert found[0] == reason
    assert not isinstance(found[1], str)


@pytest.mark.parametrize(
    ("value", "reason"),
    [([[1, 1, 0]], "bad_row"), ([[1, 1, 2, 0], [1, 1, 1, 0]], "bad_pen"), ([], "no_strokes"), ("x", "no_strokes"),
     ([[1, 1, 0, 0], [1, 1]], "bad_row"), ([[1, 1, 0, 0], [1, 1, 1, 1]], "mixed_labels")],
)  # fmt: skip
def test_original_drawings_that_are_refused(value: Any, reason: str, tmp_path: Path) -> None:
    (tmp_path / "apple.ndjson").write_text(json.dumps({"train_data": [value]}))
    (tmp_path / "apple.txt").write_text("base\nleaf\n")
    assert read("spg", tmp_path) == [reason]


def test_a_drawing_that_stands_twice_is_merged_and_another_of_its_key_refused(tmp_path: Path) -> None:
    good, other = [[[0, 9], [0, 9], [1, 1]]], [[[0, 8], [0, 9], [1, 1]]]
    records = [{"key_id": "7", "drawing": each} for each in (good, good, other)]
    write_lines(tmp_path, "apple_raw.ndjson", *records)
    write_lines(tmp_path, "a_rest.ndjson", records[0])  # Comes first by name, but has no names of parts.
    (tmp_path / "apple.txt").write_text("base\nleaf\n")
    made = given(spg=tmp_path)
    assert [row["sketch_id"] for row in made.tables["sketches"]] == ["spg/apple/7"]
    assert made.reasons("spg") == {"duplicate_key": 1}
    assert made.read["spg", "sketches"] == made.became["spg", "sketches"] == 4


# Scenes


def scene(folder: Path, name: str = "sceneid-3-userid-9", **changes: Any) -> Path:
    """A folder with a scene of an apple (two strokes) and a pear, and a file that is no scene."""
    record = {
        "img_id": name,
        "img_w": 100,
        "img_h": 80,
        "object_divisions": [0, 2, 3],
        "scene_strokes": [[5, 5, 0], [10, 0, 1], [-5, 5, 1], [40, 3, 0], [50, 9, 1]],
        "gt_class_names": ["Apple", "pear"],
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(record))
    (folder / "mapping.json").write_text("{}")
    return folder


def test_scenes_have_places_objects_and_drawers(tmp_path: Path) -> None:
    ((entry, drawing),) = read("friss", scene(tmp_path))  # type: ignore[misc]
    assert (entry.category, entry.drawer, entry.key) == ("friss scene 3", "friss 9", "sceneid-3-userid-9")
    assert xs(drawing) == [[5, 15], [10], [50, 100]]
    assert groups(drawing) == ["apple", "apple", "pear"]
    assert (drawing.width, drawing.height, drawing.kind) == (100, 80, "scene")


def test_two_objects_of_a_name_stay_two(tmp_path: Path) -> None:
    made = given(friss=scene(tmp_path, gt_class_names=["apple", "apple"]))
    assert [(row["part"], row["instance"]) for row in made.tables["parts"]] == [("apple", 0), ("apple", 1)]
    assert not [row for row in made.tables["prompts"] if row["kind"] == "spatial"]  # Which apple is not said.


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"object_divisions": [0, 2, 4]}, "bad_divisions"),
        ({"object_divisions": [0, 2]}, "bad_divisions"),
        ({"object_divisions": [0, 2, 2, 3]}, "bad_divisions"),
        ({"object_divisions": [0, "2", 3]}, "bad_divisions"),
        ({"object_divisions": None}, "bad_divisions"),
        ({"gt_class_names": []}, "bad_divisions"),
        ({"gt_class_names": ["apple", ""]}, "bad_names"),
        ({"gt_class_names": "apple"}, "bad_names"),
        ({"scene_strokes": [[1, 2, 3]]}, "bad_pen"),
        ({"scene_strokes": [[1, 2]]}, "bad_row"),
        ({"scene_strokes": []}, "no_strokes"),
        ({"scene_strokes": [[1, None, 1]]}, "bad_row"),
        ({"scene_strokes": [[1, float("nan"), 1]]}, "not_finite"),
        ({"scene_strokes": [[1e308, 1, 0], [1e308, 1, 1], [0, 0, 1], [0, 0, 1]]}, "not_finite"),
    ],
)
def test_scenes_that_are_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert read("friss", scene(tmp_path, **changes)) == [reason]


def test_scenes_that_are_no_json(tmp_path: Path) -> None:
    (tmp_path / "sceneid-1-userid-1.json").write_text('{"scene_strokes": [[1, ')
    (tmp_path / "sceneid-2-userid-1.json").write_text("{}")
    (tmp_path / "sceneid-3-userid-1.json").write_text("[" * 200_000)
    assert read("friss", tmp_path) == ["bad_json", "no_strokes", "bad_json"]


# Creative Birds and Creatures

LINES = [[[[0, 0, 5, 5]]], [[[20, 20, 22, 22]]], [[[0, 0, 50, 0], [50, 0, 50, 9]], []], [[[1, 1, 2, 9]]]]
BIRD = {"all_strokes": LINES, "partsUsed": ["Body", "none"]}


def birds(folder: Path, output: Any, worker: str = "W1") -> Path:
    """A folder of one bird, and a list of refused workers."""
    write_lines(folder, "doodle_birds_1.txt", {"assignment_id": "a", "worker_id": worker, "output": output})
    (folder / "reject_bird_workids.txt").write_text("BAD\n")
    return folder


def test_birds_have_parts_and_the_eye_is_no_evidence_of_order(tmp_path: Path) -> None:
    ((entry, drawing),) = read("creative", birds(tmp_path, BIRD))  # type: ignore[misc]
    assert groups(drawing) == ["", "eye", "body", ""]
    assert xs(drawing)[2] == [0, 50, 50]
    assert drawing.part_order == ["body"]
    assert entry.category == "bird"
    assert "W1" not in str(entry.drawer)
    assert drawing.repairs == ("empty_stroke",)


def test_refused_workers_are_refused_and_nobody_is_named(tmp_path: Path) -> None:
    made = given(creative=birds(tmp_path, BIRD, worker="BAD"))
    assert made.reasons("creative") == {"refused_worker": 1}
    assert all("BAD" not in each.record + each.message for each in made.rejects)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ({**BIRD, "all_strokes": []}, "no_strokes"),
        ({**BIRD, "all_strokes": None}, "no_strokes"),
        ({**BIRD, "partsUsed": []}, "bad_divisions"),
        ({**BIRD, "partsUsed": [1, 2]}, "bad_names"),
        ({**BIRD, "all_strokes": [[], "x", [], []]}, "bad_row"),
        ({**BIRD, "all_strokes": [[[[1, 2, 3]]], [], [], []]}, "bad_row"),
        ({**BIRD, "all_strokes": [[["x"]], [], [], []]}, "bad_row"),
        ("x", "bad_record"),
    ],
)
def test_birds_that_are_refused(output: Any, reason: str, tmp_path: Path) -> None:
    assert read("creative", birds(tmp_path, output)) == [reason]


# Omniglot

CHARACTER = "START\n10,-20,0\n30,-20,40\nBREAK\n10,-40,90\n10,-60,99\nBREAK\n"


def archive(folder: Path, **members: str | bytes) -> Path:
    """A zip file with these members; `__` in a name stands for a slash, `..` is written as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "strokes.zip", "w") as made:
        for name, content in members.items():
            made.writestr(name.replace("__", "/"), content)
    return folder / "strokes.zip"


GOOD_NAME = "set__Runes__character03__0103_07.txt"


@pytest.mark.parametrize("unpacked", [False, True])
def test_characters_are_turned_upright_with_times_and_drawer(unpacked: bool, tmp_path: Path) -> None:
    path = archive(tmp_path, **{GOOD_NAME: CHARACTER})
    if unpacked:
        with zipfile.ZipFile(path) as made:
            made.extractall(tmp_path / "open")
        path = tmp_path / "open"
    ((entry, drawing),) = read("omniglot", path)  # type: ignore[misc]
    assert (entry.category, entry.drawer, entry.key) == ("runes character 03", "runes 07", "Runes-0103-07")
    assert [stroke.y.tolist() for stroke in drawing.strokes] == [[20, 20], [40, 60]]
    assert [stroke.t.tolist() for stroke in drawing.strokes] == [[0, 40], [90, 99]]


def test_names_that_lead_out_of_an_archive_lead_nowhere(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "in",
        **{"..__..__evil__Runes__character01__0001_01.txt": CHARACTER, "__etc__passwd.txt": "x", "a.exe": "x"},
    )
    found = read("omniglot", path)
    assert sorted(each if isinstance(each, str) else each[0].category for each in found) == [
        "bad_name", "runes character 01",
    ]  # fmt: skip
    assert [each.name for each in tmp_path.iterdir()] == ["in"]
    assert [each.name for each in (tmp_path / "in").iterdir()] == ["strokes.zip"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_strokes"),
        ("START\nBREAK\n", "no_strokes"),
        ("START\n1,2\n", "bad_row"),
        ("START\n1,2,x\n", "bad_row"),
        ("START\n1,nan,0\n2,2,2\n", "not_finite"),
        ("START\n1,2,0\n1,2,3,4\n", "bad_row"),
        ("x" * (5 << 20), "too_long"),
        (b"\xff\xfe\x00", "bad_row"),
    ],
)
def test_characters_that_are_refused(text: str | bytes, reason: str, tmp_path: Path) -> None:
    assert read("omniglot", archive(tmp_path, **{GOOD_NAME: text})) == [reason]


def test_an_archive_that_is_damaged_inside(tmp_path: Path) -> None:
    path = archive(tmp_path, **{GOOD_NAME: CHARACTER})
    path.write_bytes(path.read_bytes().replace(b"10,-20,0", b"10,-20,7"))
    assert read("omniglot", path) == ["bad_archive"]


# FS-COCO


def coco_scene(folder: Path, rows: Any, classes: Any = None) -> Path:
    """A folder of one scene by drawer 5."""
    path = folder / "vector_sketches" / "5" / "000042.npy"
    path.parent.mkdir(parents=True)
    if isinstance(rows, bytes):
        path.write_bytes(rows)
    else:
        np.save(path, np.array(rows))
    if classes is not None:
        (folder / "seg" / "classes").mkdir(parents=True)
        (folder / "seg" / "classes" / "000042.json").write_text(
            classes if isinstance(classes, str) else json.dumps(classes)
        )
    return folder


ROWS = [[1.0, 2, 0], [30, 2, 1], [5, 5, 0], [9, 9, 1]]


def test_scenes_of_photos(tmp_path: Path) -> None:
    ((entry, drawing),) = read("fscoco", coco_scene(tmp_path, ROWS, ["Dog", "dog"]))  # type: ignore[misc]
    assert (entry.category, entry.drawer) == ("fscoco scene 000042", "fscoco 5")
    assert xs(drawing) == [[1, 30], [5, 9]]
    assert groups(drawing) == ["dog", "dog"]


def test_without_classes_a_scene_has_no_parts(tmp_path: Path) -> None:
    assert one("fscoco", coco_scene(tmp_path, ROWS)).groups == ()


class Trap:
    """What a pickle runs when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return (Path.touch, (Path("pickled_was_here"),))  # type: ignore[return-value]


def _pickled() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], object), allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("rows", "classes", "reason"),
    [
        (_pickled(), None, "bad_array"),
        (pickle.dumps([1]), None, "bad_array"),
        (b"", None, "bad_array"),
        (b"\x93NUMPY\x01", None, "bad_array"),
        ([1.0, 2.0], None, "bad_row"),
        ([[1.0, 2.0]], None, "bad_row"),
        ([[1.0, 2.0, 5.0]], None, "bad_pen"),
        ([[1.0, np.nan, 1.0]], None, "not_finite"),
        ([["a", "b", "c"]], None, "not_finite"),
        (ROWS, ["dog"], "bad_divisions"),
        (ROWS, ["dog", 1], "bad_names"),
        (ROWS, '["dog', "bad_json"),
        (ROWS, {"a": 1}, "bad_names"),
    ],
)
def test_scenes_of_photos_that_are_refused(rows: Any, classes: Any, reason: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read("fscoco", coco_scene(tmp_path, rows, classes)) == [reason]
    assert not (tmp_path / "pickled_was_here").exists()


# SketchyScene


def pixel_scene(folder: Path, **layers: Any) -> Path:
    """A folder of one scene, 40 pixels square: a tree (instance 1) and two bees (2, 3)."""
    from PIL import Image
    from scipy.io import savemat

    instances = np.zeros((40, 40), np.uint8)
    instances[5, 5:30], instances[15, 5:20], instances[25:30, 30] = 1, 2, 3
    classes = np.array([0, 2, 1, 1], np.uint8)[instances]
    names = np.empty((2, 1), object)
    names[:, 0] = ["Bee", "tree"]
    given = {"CLASS_GT": classes, "INSTANCE_GT": instances, **layers}
    for name, suffix in (("CLASS_GT", "class"), ("INSTANCE_GT", "instance")):
        (folder / "val" / name).mkdir(parents=True)
        path = folder / "val" / name / f"sample_3_{suffix}.mat"
        if isinstance(given[name], bytes):
            path.write_bytes(given[name])
        else:
            savemat(path, {name: given[name]})
    (folder / "val" / "DRAWING_GT").mkdir()
    picture = given.get("drawing", np.where(instances > 0, 0, 255).astype(np.uint8))
    path = folder / "val" / "DRAWING_GT" / "L0_sample3.png"
    path.write_bytes(picture) if isinstance(picture, bytes) else Image.fromarray(picture).save(path)
    savemat(folder / "colorMapC46.mat", {"colorMap": names})
    return folder


def test_scenes_of_pixels_have_objects_and_no_order(tmp_path: Path) -> None:
    made = given(sketchyscene=pixel_scene(tmp_path))
    (row,) = made.tables["sketches"]
    assert (row["category"], row["ordered"], row["n_strokes"]) == ("sketchyscene scene val-3", False, 0)
    assert [(part["part"], part["instance"]) for part in made.tables["parts"]] == [("tree", 0), ("bee", 0), ("bee", 1)]
    assert made.tables["steps"] == []
    asked = [(row["kind"], row["part"]) for row in made.tables["prompts"]]
    assert asked == [("spatial", "tree")]  # Neither bee is told by its name; an order is not known.


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        ({"CLASS_GT": np.zeros((40, 40), np.uint8)}, "unknown_label"),
        ({"CLASS_GT": np.full((40, 40), 9, np.uint8)}, "unknown_label"),
        ({"CLASS_GT": np.zeros((30, 40), np.uint8)}, "bad_size"),
        ({"CLASS_GT": b"no matlab"}, "bad_array"),
        ({"INSTANCE_GT": np.full((40, 40), -1)}, "bad_array"),
        ({"INSTANCE_GT": np.full((40, 40), np.nan)}, "bad_array"),
        ({"drawing": b"no picture"}, "bad_picture"),
        ({"drawing": np.full((40, 40), 255, np.uint8)}, "no_strokes"),
    ],
)
def test_scenes_of_pixels_that_are_refused(layers: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert read("sketchyscene", pixel_scene(tmp_path, **layers)) == [reason]


# All


@pytest.mark.parametrize("source", READERS)
def test_an_empty_folder_says_what_to_give(source: str, tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="give"):
        READERS[source](tmp_path)


def test_links_that_lead_out_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    outside = write_lines(tmp_path / "outside", "secret.ndjson", game(RAW))
    folder = write_lines(tmp_path / "in", "a.ndjson", game(RAW))
    (folder / "b.ndjson").symlink_to(outside / "secret.ndjson")
    assert len(read("quickdraw", folder)) == 1


def test_a_broken_zip_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(GoldsmithError, match="zip file"):
        READERS["omniglot"](tmp_path / "a.zip")
