"""Likeness of texts, spans, masks and boxes: against libraries, definitions and real exports; symmetries and bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jiwer
import numpy as np
import pytest
from audit_people import CODE
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as coco
from rapidfuzz.distance import Levenshtein

from quality.annotation import kinds, shapes, spans, text
from quality.annotation.kinds import BadAnswerError
from quality.annotation.spans import BadSpanError, Span
from schemas import Audit, Show

WATER = Audit("water", "?", "mask", "t", "SELECT 1", (Show("image", "image"),), labels=("river",))
words = st.lists(st.sampled_from(["ka", "kha", "ga", "a"]), max_size=12).map(" ".join)
masks = arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))


@settings(max_examples=60, deadline=None)
@given(st.text("abc \u09be\u0985", max_size=80), st.text("abc \u09be\u0985", max_size=80))
def test_edits_are_rapidfuzz_s(a: str, b: str) -> None:
    assert text.edits(a, b) == text.edits(b, a) == Levenshtein.distance(a, b)


@settings(max_examples=60, deadline=None)
@given(words.filter(bool), words.filter(bool))
def test_error_rates_are_jiwer_s_and_symmetric(a: str, b: str) -> None:
    by_mean = (len(a.split()) + len(b.split())) / 2, (len(a) + len(b)) / 2
    assert text.error_rate(a, b) == pytest.approx(jiwer.wer(a, b) * len(a.split()) / by_mean[0])
    assert text.error_rate(a, b, "character") == pytest.approx(jiwer.cer(a, b) * len(a) / by_mean[1])
    for unit in ("word", "character"):
        assert text.error_rate(a, b, unit) == text.error_rate(b, a, unit)
        assert 0 <= text.error_rate(a, b, unit) <= 2
        assert text.error_rate(a, a, unit) == 0


def test_the_rate_is_by_the_mean_of_both_lengths() -> None:
    assert text.error_rate("a b", "a") == text.error_rate("a", "a b") == pytest.approx(1 / 1.5)
    assert (text.error_rate("", ""), text.error_rate("", "x")) == (0, 2)


def test_one_letter_written_two_ways_is_one_letter_and_marks_count() -> None:
    assert text.error_rate("\u09dc", "\u09a1\u09bc", "character") == 0
    assert text.error_rate("\u0995\u09be", "\u0995\u09bf", "character") == 1  # another vowel sign: another letter
    assert text.graphemes("\u0995\u09be\u0996") == ["\u0995\u09be", "\u0996"]
    assert text.error_rate("\u0995\u200d", "\u0995", "character") == 1


@settings(max_examples=60, deadline=None)
@given(st.text("a\U0001f600\u0995\u09be ", min_size=1, max_size=20), st.data())
def test_spans_are_placed_in_either_way_of_counting(shown: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(shown) - 1))
    end = data.draw(st.integers(start + 1, len(shown)))
    said = shown[start:end]
    assert spans.placed(shown, start, end, said) == (start, end, False)
    first, last = (len(shown[:place].encode("utf-16-le")) // 2 for place in (start, end))
    placed_start, placed_end, _ = spans.placed(shown, first, last, said)
    assert shown[placed_start:placed_end] == said


def test_an_emoji_before_a_span_is_seen_and_undone() -> None:
    start = CODE.index("a - b")
    assert spans.placed(CODE, start + 1, start + 6, "a - b") == (start, start + 5, True)
    for wrong in ((start + 2, start + 7, "a - b"), (5, 5, ""), (-1, 3, None), (0, 10**6, None), (0, 3, "abc")):
        with pytest.raises(BadSpanError, match="the text has"):
            spans.placed(CODE, *wrong)


spans_of = st.sets(st.tuples(st.integers(0, 6), st.integers(7, 12), st.sampled_from("xy")), max_size=5).map(
    lambda found: [Span(*one) for one in found]
)


@pytest.mark.parametrize("alike", [spans.f1, spans.token_f1])
@settings(max_examples=60, deadline=None)
@given(spans_of, spans_of)
def test_f1_of_spans(alike: Callable[[list[Span], list[Span]], float], a: list[Span], b: list[Span]) -> None:
    assert alike(a, b) == alike(b, a)
    assert 0 <= alike(a, b) <= 1
    assert alike(a, a) == 1
    if a and b:
        hits = len(set(a) & set(b))
        precision, recall = hits / len(b), hits / len(a)
        harmonic = 2 * precision * recall / (precision + recall) if hits else 0
        assert spans.f1(a, b) == pytest.approx(harmonic)


@settings(max_examples=60, deadline=None)
@given(masks)
def test_brush_code_and_run_lengths_come_back(mask: np.ndarray) -> None:
    height, width = mask.shape
    assert np.array_equal(shapes.decode_rle(shapes.encode_rle(mask), height, width), mask)
    answer = kinds.mask_answer({"x": mask})
    assert np.array_equal(kinds.masks_of(answer).get("x", np.zeros_like(mask)), mask)


@settings(max_examples=60, deadline=None)
@given(masks)
def test_coco_s_run_lengths_are_read_as_pycocotools_writes_them(mask: np.ndarray) -> None:
    rle = coco.encode(np.asfortranarray(mask).view(np.uint8))
    coded = {"height": mask.shape[0], "width": mask.shape[1], "masks": {"river": rle["counts"].decode()}}
    assert kinds.checked(WATER, coded) == kinds.mask_answer({"river": mask})


@pytest.mark.parametrize(("counts", "message"), [("5", "not of 2 x 2"), ("4P", "cut short"), ("4}", "no character"),
                                                 ("o" * 99, "no character"), ("4N", "not of 2 x 2")])  # fmt: skip
def test_broken_run_lengths_of_coco_are_refused(counts: str, message: str) -> None:
    with pytest.raises(BadAnswerError, match=message):
        kinds.checked(WATER, {"height": 2, "width": 2, "masks": {"river": counts}})


@settings(max_examples=60, deadline=None)
@given(masks, st.randoms(use_true_random=False))
def test_overlap_of_masks(mask: np.ndarray, random: object) -> None:
    other = np.roll(mask, 1, axis=1)
    for alike in (shapes.iou, shapes.dice):
        assert alike(mask, mask) == 1
        assert alike(mask, other) == alike(other, mask)
        assert 0 <= alike(mask, other) <= 1
    iou = shapes.iou(mask, other)
    assert shapes.dice(mask, other) == pytest.approx(2 * iou / (1 + iou))


def test_empty_masks_agree_and_one_empty_does_not() -> None:
    empty, full = np.zeros((3, 3), bool), np.ones((3, 3), bool)
    assert (shapes.iou(empty, empty), shapes.dice(empty, empty)) == (1, 1)
    assert (shapes.iou(empty, full), shapes.dice(empty, full)) == (0, 0)


def test_the_real_brush_code_is_read(shared_file: Callable[[str], Path]) -> None:
    """What the server exported: discs drawn by its own SDK, one pixel further right for each annotator."""
    tasks = json.loads(shared_file("real/labelstudio/seg.json").read_text())
    rows, columns = np.mgrid[0:48, 0:64]
    for task in tasks:
        for person, annotation in enumerate(task["annotations"]):
            drawn = shapes.decode_rle(annotation["result"][0]["value"]["rle"], 48, 64)
            assert np.array_equal(drawn, (columns - 30 - person) ** 2 + (rows - 20) ** 2 <= 100)
            again = shapes.decode_rle(shapes.encode_rle(drawn), 48, 64)
            assert np.array_equal(again, drawn)


@pytest.mark.parametrize("code", [[], [0] * 9, [0, 0, 48, 0, 57], [256], shapes.encode_rle(np.ones((2, 2), bool))])
def test_broken_brush_code_is_refused(code: list[int]) -> None:
    with pytest.raises(shapes.BadMaskError):
        shapes.decode_rle(code, 48, 64)


def test_a_polygon_covers_its_pixels() -> None:
    square = shapes.polygon([[25, 25], [75, 25], [75, 75], [25, 75]], 8, 8)
    assert square.sum() == 16
    assert square[2:6, 2:6].all()
    triangle = shapes.polygon([[0, 0], [100, 0], [0, 100]], 40, 40)
    assert triangle.sum() == pytest.approx(800, rel=0.06)


boxes = st.lists(
    st.tuples(*[st.integers(0, 50)] * 2, *[st.integers(1, 50)] * 2, st.sampled_from("xy")), max_size=4
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(boxes, boxes)
def test_overlap_of_boxes_is_that_of_their_pixels(a: list[shapes.Box], b: list[shapes.Box]) -> None:
    assert shapes.box_f1(a, b) == shapes.box_f1(b, a)
    assert 0 <= shapes.box_f1(a, b) <= 1
    assert shapes.box_f1(a, a) == 1
    for one, other in zip(a, b, strict=False):
        drawn = [np.zeros((100, 100), bool) for _ in range(2)]
        for mask, (x, y, width, height, _) in zip(drawn, (one, other), strict=True):
            mask[int(y) : int(y + height), int(x) : int(x + width)] = True
        assert shapes.box_iou(one, other) == pytest.approx(shapes.iou(*drawn))
