"""Offline proposals reach the figures that were measured for them, on the same pictures."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs goldsmith[vigor]")
pytest.importorskip("skimage", reason="needs goldsmith[vigor]")

from builders.vigor.pixels import load_labels, load_rgb
from builders.vigor.proposals import Scene, colour, lines, motion, regions, texture
from builders.vigor.words import COLOURS


def test_the_table_of_colours_is_what_the_program_writes():
    table = colour.term_of_pixels(np.array([[[250, 10, 10], [12, 12, 12], [252, 252, 252], [20, 60, 220]]], np.uint8))
    assert [COLOURS[index] for index in table[0]] == ["red", "black", "white", "blue"]
    sample = slice(0, 32768, 997)
    made = np.frombuffer(colour._file("terms.bin"), np.uint8)
    levels = np.arange(32) * 8 + 4.0
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(-1, 3)[sample]
    named = [colour.name_colour(rgb) for rgb in grid]
    unsure = [index for index, (_, share) in enumerate(named) if share < 0.5]
    agree = [
        COLOURS[made[sample][i]] == named[i][0] for i in range(len(named)) if i not in unsure and made[sample][i] < 255
    ]
    assert np.mean(agree) == 1


def test_names_of_css_colours_agree(capsys):
    css = pytest.importorskip("matplotlib.colors", reason="matplotlib has the CSS colours")
    agree = total = 0
    for name, code in css.CSS4_COLORS.items():
        term = next((each for each in (*COLOURS, "gray") if name.endswith(each)), None)
        if term is not None:
            rgb = [int(code[i : i + 2], 16) for i in (1, 3, 5)]
            total += 1
            agree += colour.name_colour(rgb)[0] == ("grey" if term == "gray" else term)
    with capsys.disabled():
        print(f"\ncolour names: {agree} of {total} CSS names agree")
    assert total == 77
    assert agree >= 62


def test_motion_on_davis(shared_file, capsys):
    folder = shared_file("real/vigor/davis_car_shadow")
    frames = sorted(folder.glob("JPEGImages/480p/car-shadow/*.jpg"))
    truths = sorted(folder.glob("Annotations/480p/car-shadow/*.png"))
    found = []
    for index in range(0, 39, 3):
        mask = motion.moving(load_rgb(frames[index]), load_rgb(frames[index + 1])).mask > 0
        truth = load_labels(truths[index]) > 0
        found.append((mask & truth).sum() / (mask | truth).sum())
    with capsys.disabled():
        print(f"\nmotion: mean IoU {np.mean(found):.3f} (least {min(found):.3f}) on {len(found)} pairs of DAVIS")
    assert np.mean(found) >= 0.66


@pytest.mark.real
def test_regions_on_coco(shared_file, capsys):
    from builders.vigor.readers.panoptic import Panoptic

    reader = Panoptic(shared_file("real/vigor/coco_panoptic_sample"))
    recalls = []
    for picture in reader.pictures():
        grown = list(regions.trees(load_rgb(picture.path)))
        truths = [claim.mask.decode() for claim in reader.claims(picture) if not claim.crowd]
        recalls.append(np.mean([_best(grown, truth) >= 0.5 for truth in truths]))
    with capsys.disabled():
        print(
            f"\nregions: recall at IoU .5 {recalls[0]:.2f} and {recalls[1]:.2f} (merge trees of the notes: .35 and .57)"
        )
    assert recalls[0] >= 0.35
    assert recalls[1] >= 0.56


def _best(grown, truth):
    best = 0.0
    for tree in grown:
        areas = tree.areas()
        shared = np.bincount(tree.labels.ravel(), truth.ravel(), len(areas))
        sums = [(shared[list(each)].sum(), areas[list(each)].sum()) for each in tree.members]
        best = max(best, max(i / (truth.sum() + a - i) for i, a in sums))
    return best


def test_textures_on_cc0_surfaces(shared_file):
    folder = shared_file("real/vigor/skimage_cc0")
    train, test = {}, []
    for name in ("brick", "grass", "gravel"):
        grey = load_rgb(folder / f"{name}.png")[..., 0]
        tiles = [(x, grey[y : y + 64, x : x + 64]) for y in range(0, 449, 64) for x in range(0, 449, 64)]
        train[name] = [tile for x, tile in tiles if x < 256]
        test += [(name, tile) for x, tile in tiles if x >= 256]
    known = texture.Textures.learned(train)
    named = [(name, known.name(tile)[0]) for name, tile in test]
    assert len(named) == 96
    assert sum(found in (name, None) for name, found in named) == 96
    assert sum(found == name for name, found in named) >= 85
    assert known.name(np.full((64, 64), 128, np.uint8))[0] is None


def test_a_drawn_edge_is_found_and_a_plain_picture_has_none():
    canvas = np.full((100, 120, 3), 40, np.uint8)
    canvas[:, 60:] = 220
    found = lines.Lines().propose(Scene(canvas))
    assert found
    assert all(abs(each.facts["segment"][0] - 60) < 3 for each in found)
    assert lines.Lines().propose(Scene(np.full((100, 120, 3), 40, np.uint8))) == []


def test_nothing_moves_between_equal_frames():
    rng = np.random.default_rng(0)
    frame = rng.integers(0, 255, (60, 80, 3), dtype=np.uint8)
    assert motion.Motion().propose(Scene(frame, frame)) == []
