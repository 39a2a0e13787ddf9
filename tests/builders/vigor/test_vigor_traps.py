"""The eleven traps of mask formats, each with the right value; pycocotools is the oracle where it is right itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")
oracle = pytest.importorskip("pycocotools.mask", reason="pycocotools is the oracle")

from builders.vigor import masks, pixels  # noqa: E402
from builders.vigor.masks import BadMaskError, Mask  # noqa: E402


def test_1_runs_go_down_columns_and_begin_with_zeros():
    assert masks.from_array(np.ones((2, 2))).counts == "04"
    one = np.zeros((3, 2))
    one[2, 0] = 1
    assert masks.uncompressed(masks.from_array(one).counts) == [2, 1, 3]


def test_2_counts_must_fill_the_picture():
    for counts in ([4, 3, 12], [4, 30, 1]):
        with pytest.raises(BadMaskError, match="sum to") as caught:
            masks.from_rle({"size": [4, 5], "counts": counts}, 4, 5)
        assert caught.value.reason == "bad_counts"
    good = masks.from_rle({"size": [4, 5], "counts": [4, 3, 13]}, 4, 5)
    assert good.area == 3
    assert good.decode().sum() == 3


def test_3_a_swapped_size_is_refused():
    form = Mask(4, 6, masks.compressed([5, 3, 16])).rle
    with pytest.raises(BadMaskError, match="swapped") as caught:
        masks.from_rle({**form, "size": [6, 4]}, 4, 6)
    assert caught.value.reason == "bad_size"
    assert masks.from_rle(form, 4, 6).area == 3


def test_4_a_polygon_of_four_numbers_is_no_box():
    with pytest.raises(BadMaskError, match="three points"):
        masks.from_polygons([[5.0, 5.0, 10.0, 10.0]], 20, 20)


def test_5_a_ring_in_a_ring_is_no_hole():
    outer, inner = [0.0, 0, 20, 0, 20, 20, 0, 20], [5.0, 5, 15, 5, 15, 15, 5, 15]
    assert masks.from_polygons([outer, inner], 20, 20).area == 400


def test_6_bow_ties_and_what_lies_outside():
    assert masks.from_polygons([[0.0, 0, 10, 10, 10, 0, 0, 10]], 20, 20).area == 50
    assert masks.from_polygons([[-5.0, -5, 30, -5, 30, 30, -5, 30]], 20, 20).area == 400


def test_7_small_polygons_vanish():
    assert masks.from_polygons([[5.2, 5.2, 5.6, 5.2, 5.6, 5.6]], 20, 20).area == 0


def test_8_one_rasteriser():
    assert masks.from_polygons([[2.0, 2.0, 17.0, 3.0, 9.0, 16.0]], 20, 20).area == 101


def test_9_a_crowd_is_kept_as_one(tmp_path):
    from builders.vigor.readers.coco import Coco

    square = [0.0, 0, 10, 0, 10, 10, 0, 10]
    annotations = [
        {"id": 1, "image_id": 1, "category_id": 1, "iscrowd": value, "segmentation": [square]}
        for value in (0, 1, False, True)
    ]
    for number, each in enumerate(annotations):
        each["id"] = number
    _coco(tmp_path, annotations)
    reader = Coco(tmp_path)
    claims = list(reader.claims(reader.pictures()[0]))
    assert [claim.crowd for claim in claims] == [False, True, False, True]


def test_10_boxes_of_a_turned_copy():
    box, turned = (10.0, 20.0, 30.0, 5.0), (75.0, 10.0, 5.0, 30.0)
    assert masks.box_iou(box, box) == 1
    assert masks.box_iou(box, turned) == 0


def test_11_a_tilted_camera_is_righted_once(tmp_path):
    lying = Image.fromarray(np.arange(24, dtype=np.uint8).reshape(4, 6))
    exif = Image.Exif()
    exif[0x0112] = 6
    lying.save(tmp_path / "a.png", exif=exif)
    data, width, height, turned = pixels.upright(tmp_path / "a.png")
    assert (width, height, turned) == (4, 6, True)
    (tmp_path / "b.png").write_bytes(data)
    again, width, height, turned = pixels.upright(tmp_path / "b.png")
    assert (width, height, turned) == (4, 6, False)
    assert again == data
    assert pixels.load_rgb(tmp_path / "a.png").shape == (6, 4, 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_any_mask_equals_pycocotools(height, width, data):
    bits = data.draw(st.lists(st.integers(0, 1), min_size=height * width, max_size=height * width))
    array = np.array(bits, np.uint8).reshape(height, width)
    made = masks.from_array(array)
    expected = oracle.encode(np.asfortranarray(array))
    assert made.counts == expected["counts"].decode()
    assert (made.decode() == array).all()
    assert masks.compressed(masks.uncompressed(made.counts)) == made.counts
    assert (made.area, list(made.box)) == (oracle.area(expected), list(oracle.toBbox(expected)))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=12))
def test_any_text_for_counts_is_read_or_refused(text):
    try:
        found = masks.from_rle({"size": [3, 3], "counts": text}, 3, 3)
    except BadMaskError:
        return
    assert sum(masks.uncompressed(found.counts)) == 9
    assert found.decode().sum() == found.area


def test_lvis_masks_equal_pycocotools_bit_for_bit(shared_file):
    content = json.loads(shared_file("real/vigor/lvis/lvis_val_100.json").read_bytes())
    sizes = {image["id"]: (image["height"], image["width"]) for image in content["images"]}
    equal = 0
    for each in content["annotations"]:
        height, width = sizes[each["image_id"]]
        expected = oracle.merge(oracle.frPyObjects(each["segmentation"], height, width))
        equal += masks.from_coco(each["segmentation"], height, width).counts == expected["counts"].decode()
    assert equal == len(content["annotations"]) == 977


def test_panoptic_masks_equal_the_same_segments_as_run_lengths(shared_file):
    from builders.vigor.readers.panoptic import Panoptic

    folder = shared_file("real/vigor/coco_panoptic_sample")
    given_form = json.loads((folder / "panoptic_coco_detection_format.json").read_bytes())
    expected = sorted((each["image_id"], each["segmentation"]["counts"]) for each in given_form["annotations"])
    reader = Panoptic(folder)
    claims = [(int(picture.key), claim) for picture in reader.pictures() for claim in reader.claims(picture)]
    assert sorted((image, claim.mask.counts) for image, claim in claims) == expected
    assert len(claims) == 50
    # The source's own area is the number of pixels, of crowds as well.
    assert all(claim.source_area == claim.mask.area for _, claim in claims)
    assert sum(claim.crowd for _, claim in claims) == 3
    void = [
        int((masks.union([c.mask for i, c in claims if i == image]).decode() == 0).sum()) for image in (142238, 439180)
    ]
    assert void == [2712, 7189]


def _coco(folder, annotations):
    content = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 20, "height": 20, "license": 4}],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "dog"}],
    }
    (folder / "a.json").write_text(json.dumps(content))


@pytest.mark.parametrize("ring", [[1e300, 1, 2, 1e300, 5, 6], [1e7, 1, 2, 3, 5, 6], ["x", 1, 2, 3, 5, 6]])
def test_a_polygon_that_is_none_of_a_picture_is_refused(ring: list) -> None:
    with pytest.raises(masks.BadMaskError) as error:
        masks.from_polygons([ring], 10, 10)
    assert error.value.reason == "bad_polygon"
