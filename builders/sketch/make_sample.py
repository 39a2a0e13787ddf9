"""Makes the bundled sample: `python -P -m builders.sketch.make_sample`. The same bytes on every machine.

Nobody drew these drawings: they come from `sample_model`, so that the right answers are known. What is real is the form
of the files, one for each format that the readers know, with their habits and a few records that are to be mended or
refused.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch.sample_model import THINGS, Line, Thing, lines

FOLDER = Path(__file__).parent / "sample"
DRAWINGS = 46
"""Of each of the labelled categories."""

RETURNS = 0.15
"""Of the drawings that have a part of several strokes."""

Labelled = list[tuple[Line, str]]
"""Strokes with the part of each."""


def draw(rng: random.Random, thing: Thing) -> Labelled:
    """A drawing by the model of its category; now and then the pen comes back to a part for its last stroke."""
    drawn = [(line, part) for part in thing.draw_order(rng) for line in lines(rng, thing.parts[part])]
    several = [index for index in range(1, len(drawn)) if drawn[index][1] == drawn[index - 1][1]]
    if several and rng.random() < RETURNS:
        drawn.append(drawn.pop(rng.choice(several)))
    return drawn


def spg_line(number: int, drawing: Labelled, names: Sequence[str]) -> dict[str, Any]:
    """A record of SPG as SketchGNN lays it out."""
    strokes = []
    for line, part in drawing:
        xs, ys = _rounded(line)
        strokes.append([xs, ys, [names.index(part)] * len(xs)])
    return {"i": number, "key_id": str(4_500_000_000_000_000 + number * 7919), "drawing": strokes}


def spg(rng: random.Random, folder: Path) -> None:
    """Five categories in SketchGNN's form, one in the original's; five records that cannot be used, three to mend."""
    start = 0
    for category, thing in THINGS.items():
        names = sorted(thing.parts)
        _write(folder / f"{category}.txt", "\n".join(names) + "\n")
        drawings = [draw(rng, thing) for _ in range(DRAWINGS)]
        if category == "clock":
            offsets = [_offsets(drawing, names) for drawing in drawings]
            _write(folder / "clock.ndjson", _json({"train_data": offsets[:30], "test_data": offsets[30:]}))
            continue
        records = [spg_line(start + number, drawing, names) for number, drawing in enumerate(drawings)]
        start += len(records)
        text = [_json(record) for record in records]
        if category == "house":
            text = _with_defects(records)
        _write(folder / f"{category}_raw.ndjson", "\n".join(text) + "\n")
    unnamed = [spg_line(start + number, draw(rng, THINGS["fish"]), sorted(THINGS["fish"].parts)) for number in range(2)]
    _write(folder / "extra.ndjson", "\n".join(_json(record) for record in unnamed) + "\n")


def _with_defects(records: list[dict[str, Any]]) -> list[str]:
    """The lines of a file: two strokes with the label row twice, a drawing that stands twice, and five broken ones."""
    for stroke in (records[3]["drawing"][0], records[8]["drawing"][-1]):
        stroke.append(list(stroke[2]))
    text = [_json(record) for record in records]
    text.insert(20, text[5])
    broken = [json.loads(_json(records[number])) for number in range(10, 14)]
    for number, record in enumerate(broken):
        record["key_id"] = f"99{number}"
    broken[0]["drawing"][0][2].append(0)
    broken[1]["drawing"][0][0][0] = float("nan")
    broken[2]["drawing"][0][2] = [7] * len(broken[2]["drawing"][0][0])
    broken[3]["key_id"] = records[0]["key_id"]
    return [*text, *(json.dumps(record, separators=(",", ":")) for record in broken), text[0][:200]]


def quickdraw(rng: random.Random, folder: Path, simplified: Path) -> None:
    """The game: drawings with times that stop when they are recognised, and simplified ones."""
    for category in ("fish", "house"):
        made = []
        for number in range(12):
            recognized = rng.random() < 0.8
            drawing = draw(rng, THINGS[category])
            if recognized:  # The game knew it before the last part.
                drawing = [stroke for stroke in drawing if stroke[1] != drawing[-1][1]] or drawing
            made.append(_game(category, number, drawing, rng, recognized, timed=True))
        _write(folder / f"{category}.ndjson", "\n".join(map(_json, made)) + "\n")
    made = [_game("car", number, draw(rng, THINGS["car"]), rng, True, timed=False) for number in range(8)]
    _write(simplified / "car.ndjson", "\n".join(map(_json, made)) + "\n")


def _game(
    word: str, number: int, drawing: Labelled, rng: random.Random, recognized: bool, *, timed: bool
) -> dict[str, Any]:
    strokes, now = [], 0
    for line, _ in drawing:
        xs, ys = _rounded(line)
        times = []
        for _ in xs:
            times.append(now)
            now += rng.randint(8, 40)
        now += rng.randint(150, 500)
        strokes.append([xs, ys, times] if timed else [xs, ys])
    return {
        "word": word,
        "countrycode": rng.choice(("DE", "IN", "US")),
        "timestamp": "2017-03-01 12:00:00.00000 UTC",
        "recognized": recognized,
        "key_id": str(6_000_000_000_000_000 + len(word) * 1000 + number),
        "drawing": strokes,
    }


def scenes(rng: random.Random, folder: Path, source: str, count: int, users: int) -> None:
    """Scenes of two to four things, some twice, one partly outside its canvas; and a mapping without strokes."""
    for number in range(count):
        chosen = [rng.choice(tuple(THINGS)) for _ in range(rng.randint(2, 4))]
        offsets, divisions = [], [0]
        at = (0.0, 0.0)
        for place, category in enumerate(chosen):
            size = rng.uniform(0.6, 1.1)
            left, top = 20 + place * 260 + rng.uniform(0, 40), rng.uniform(40, 430)
            shift = 200 if number == 1 and place == len(chosen) - 1 else 0
            drawing = draw(rng, THINGS[category])
            for line, _ in drawing:
                for index, (x, y) in enumerate(line):
                    to = (round(left + x * size + shift * 4, 1), round(top + y * size, 1))
                    offsets.append([round(to[0] - at[0], 1), round(to[1] - at[1], 1), float(index == len(line) - 1)])
                    at = to
            divisions.append(divisions[-1] + len(drawing))
        name = f"sceneid-{number // 2}-userid-{number % users}"
        record = {"img_id": name, "img_w": 1100, "img_h": 770, "object_divisions": divisions}
        _write(folder / f"{name}.json", _json({**record, "scene_strokes": offsets, "gt_class_names": chosen}))
    _write(folder / f"{source}_mapping.json", _json({f"{source}_to_qd": {"house": "house"}}))


def creative(rng: random.Random, folder: Path) -> None:
    """Birds drawn part by part; the page gave the first line, and the eye was prescribed."""
    shapes = {
        "eye": [("oval", (160.0, 150.0, 8.0, 8.0))],
        "body": [("oval", (260.0, 300.0, 110.0, 70.0))],
        "beak": [("path", (120.0, 160.0, 70.0, 175.0, 120.0, 190.0))],
        "head": [("oval", (165.0, 165.0, 50.0, 45.0))],
        "wings": [("arc", (280.0, 290.0, 70.0, 40.0, 0.0, 0.5))],
        "tail": [("path", (365.0, 300.0, 450.0, 260.0, 450.0, 330.0, 365.0, 320.0))],
    }
    bird = Thing({name: shape for name, shape in shapes.items() if name != "eye"}, ratio=4)
    text = []
    for number in range(46):
        order = bird.draw_order(rng)
        first = [("path", (200.0, 200.0, 230.0, 205.0))]
        steps = [lines(rng, first), lines(rng, shapes["eye"]), *(lines(rng, shapes[part]) for part in order), []]
        strokes = [[_segments(line) for line in step] for step in steps]
        output = {"all_strokes": strokes, "partsUsed": [*order, "none"], "prompts": [], "description": "a bird"}
        worker = "REFUSED" if number == 7 else f"W{number % 9}"
        text.append(_json({"assignment_id": f"a{number}", "worker_id": worker, "output": output}))
    _write(folder / "doodle_short_birds_1.txt", "\n".join(text) + "\n")
    _write(folder / "reject_bird_short_workids_all.txt", "REFUSED\n")


def omniglot(rng: random.Random, folder: Path) -> None:
    """Two alphabets of two characters by four drawers, in a zip file as it is published, resource forks and all."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "strokes_background.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for alphabet in ("Runes", "Hooks"):
            for character in (1, 2):
                corners = [rng.uniform(15, 90) for _ in range(6)]
                for drawer in range(1, 5):
                    name = f"strokes_background/{alphabet}/character{character:02d}/{character:04d}_{drawer:02d}.txt"
                    archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), _character(rng, corners))
        fork = zipfile.ZipInfo("__MACOSX/strokes_background/._a.txt", (2026, 1, 1, 0, 0, 0))
        archive.writestr(fork, b"\0\5\26\7")


def _character(rng: random.Random, corners: Sequence[float]) -> str:
    text, now = ["START"], 0
    for line in lines(rng, [("path", corners), ("oval", (50.0, 50.0, 20.0, 12.0))]):
        for x, y in line:
            text.append(f"{x:.6f},{-y:.6f},{now}")
            now += rng.randint(5, 40)
        text.append("BREAK")
    return "\n".join(text) + "\n"


def fscoco(rng: random.Random, folder: Path) -> None:
    """Four scenes by two drawers, of one of which the classes are not at hand."""
    for number in range(4):
        strokes, classes = [], []
        for place, category in enumerate(rng.sample(tuple(THINGS), 3)):
            drawing = draw(rng, THINGS[category])
            strokes += [[(x * 0.6 + place * 170, y * 0.6 + 90) for x, y in line] for line, _ in drawing]
            classes += [category] * len(drawing)
        rows = [(x, y, float(k == len(line) - 1)) for line in strokes for k, (x, y) in enumerate(line)]
        path = folder / "vector_sketches" / str(1 + number % 2) / f"{100 + number:012d}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.array(rows, np.float32))
        if number:
            _write(folder / "fscoco-seg" / "classes" / f"{path.stem}.json", _json(classes))


def sketchyscene(rng: random.Random, folder: Path) -> None:
    """Two scenes of pixels with their classes and instances."""
    from PIL import Image, ImageDraw
    from scipy.io import savemat

    names = np.empty((len(THINGS), 1), object)
    names[:, 0] = list(THINGS)

    def mat(path: Path, name: str, values: np.ndarray) -> None:
        stream = io.BytesIO()
        savemat(stream, {name: values}, do_compression=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(116) + stream.getvalue()[116:])  # The head has the date in it.

    mat(folder / "colorMapC46.mat", "colorMap", names)
    for number in (1, 2):
        layers = [Image.new("I", (375, 375), 0) for _ in range(2)]
        for place, category in enumerate(rng.sample(tuple(THINGS), 3), start=1):
            values = list(THINGS).index(category) + 1, place
            for line, _ in draw(rng, THINGS[category]):
                points = [(x * 0.7 + (place - 1) % 2 * 180, y * 0.7 + (place - 1) // 2 * 180) for x, y in line]
                for layer, value in zip(layers, values, strict=True):
                    ImageDraw.Draw(layer).line(points, fill=value, width=2)
        classes, instances = (np.array(layer).astype(np.uint8) for layer in layers)
        mat(folder / "train" / "CLASS_GT" / f"sample_{number}_class.mat", "CLASS_GT", classes)
        mat(folder / "train" / "INSTANCE_GT" / f"sample_{number}_instance.mat", "INSTANCE_GT", instances)
        path = folder / "train" / "DRAWING_GT" / f"L0_sample{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.where(instances > 0, 0, 255).astype(np.uint8)).save(path)


def make(folder: Path) -> None:
    """Write every source's folder."""
    rng = random.Random(9)  # noqa: S311 - nothing secret
    spg(rng, folder / "spg")
    quickdraw(rng, folder / "quickdraw", folder / "quickdraw_simplified")
    scenes(rng, folder / "friss", "friss", 24, 6)
    scenes(rng, folder / "cbsc", "cbsc", 3, 3)
    creative(rng, folder / "creative")
    omniglot(rng, folder / "omniglot")
    fscoco(rng, folder / "fscoco")
    sketchyscene(rng, folder / "sketchyscene")


def _rounded(line: Line) -> tuple[list[int], list[int]]:
    return [round(x) for x, _ in line], [round(y) for _, y in line]


def _offsets(drawing: Labelled, names: Sequence[str]) -> list[list[int]]:
    rows, at = [], (0, 0)
    for line, part in drawing:
        xs, ys = _rounded(line)
        for index, (x, y) in enumerate(zip(xs, ys, strict=True)):
            rows.append([x - at[0], y - at[1], int(index == len(xs) - 1), names.index(part)])
            at = (x, y)
    return rows


def _segments(line: Line) -> list[list[float]]:
    return [[round(v, 1) for v in (*one, *other)] for one, other in pairwise(line)]


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    make(FOLDER)
