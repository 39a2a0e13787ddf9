"""Rendering: the same bytes again, in another process, too; whose a pixel is; masks as pycocotools reads them."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")
oracle = pytest.importorskip("pycocotools.mask", reason="pycocotools is the oracle")

from builders.sketch import gallery, masks  # noqa: E402
from builders.sketch.forms import NO_PART, Drawing, Raster, Stroke  # noqa: E402
from builders.sketch.render import CANVAS, PADDING, WIDTH, fit, render  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


def stroke(*points: tuple[float, float], group: int = NO_PART) -> Stroke:
    """A stroke through these points."""
    x, y = np.array(points, np.float32).T
    return Stroke(x, y, None, group)


def cross() -> Drawing:
    """Two parts that cross: a horizontal line, then a vertical one; in between a stroke of no part."""
    return Drawing(
        "object",
        (
            stroke((0, 50), (100, 50), group=0),
            stroke((10, 10), (20, 10)),
            stroke((50, 0), (50, 100), group=1),
        ),
        ("bar", "post"),
    )


def pixels(data: bytes) -> np.ndarray:
    """A PNG file's pixels."""
    return np.asarray(Image.open(io.BytesIO(data)))


def test_picture_is_grey_black_on_white() -> None:
    found = render(cross())
    picture = pixels(found.png)
    assert picture.shape == (CANVAS, CANVAS)
    assert picture.dtype == np.uint8
    assert set(np.unique(picture)) == {0, 255}
    assert found.ink_area == np.count_nonzero(picture == 0)


def test_the_box_fits_between_the_padding() -> None:
    places = fit(cross().strokes)
    assert places[0] == [(PADDING, CANVAS // 2), (CANVAS - PADDING, CANVAS // 2)]
    wide = fit([stroke((0, 0), (1000, 10))])
    assert wide[0][0] == (PADDING, 167)  # A tenth of a hundredth high: in the middle.
    assert wide[0][-1] == (CANVAS - PADDING, 169)


def test_a_pixel_of_two_strokes_belongs_to_the_later_one() -> None:
    bar, post = render(cross()).parts
    middle = slice(CANVAS // 2 - 1, CANVAS // 2 + 1)
    assert post.mask[middle, middle].all()
    assert not bar.mask[middle, middle].any()
    assert bar.ink[middle, middle].all()
    assert not (bar.mask & post.mask).any()
    assert (post.mask == post.ink).all()  # Nothing was drawn over it.
    assert bar.mask.sum() < bar.ink.sum()


def test_a_line_is_as_wide_as_it_says_with_round_caps() -> None:
    bar, _ = render(cross()).parts
    column = bar.ink[:, CANVAS // 3]
    assert column.sum() == WIDTH
    assert bar.ink[:, PADDING - WIDTH // 2].sum() in (1, 2)  # The cap: narrower, half a width outside.
    assert not bar.ink[:, PADDING - WIDTH // 2 - 1].any()


def test_a_point_alone_is_a_disc() -> None:
    found = render(Drawing("object", (stroke((0, 0), (100, 100)), stroke((100, 0), group=0)), ("dot",)))
    assert found.parts[0].ink.sum() == 12
    assert masks.box(found.parts[0].ink)[2:] == [4.0, 4.0]


def test_steps_grow_to_the_whole() -> None:
    found = render(cross())
    assert [step.n_strokes for step in found.steps] == [2, 3]  # The stroke of no part comes before the post begins.
    assert [step.group for step in found.steps] == [0, 1]
    early, late = (pixels(step.png) == 0 for step in found.steps)
    assert late[early].all()
    assert found.steps[-1].png == found.png
    assert (early == (pixels(found.png) == 0) & ~(late & ~early)).all()


def test_a_part_that_is_drawn_over_owns_nothing_and_keeps_its_ink() -> None:
    strokes = (stroke((0, 0), (50, 50), group=0), stroke((0, 0), (50, 50), group=1), stroke((0, 50), (9, 50)))
    under, over = render(Drawing("object", strokes, ("under", "over"))).parts
    assert under.mask.sum() == 0
    assert (under.ink == over.ink).all()


def test_the_same_again_and_in_another_process() -> None:
    code = (
        "import hashlib, sys; sys.path.insert(0, 'tests/builders/sketch')\n"
        "from test_sketch_render import digest; print(digest())"
    )
    other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest() == digest()


def digest() -> str:
    """Of everything that rendering makes of three hundred strokes."""
    rng = np.random.default_rng(4)
    strokes = tuple(
        stroke(*map(tuple, rng.uniform(-40, 300, (rng.integers(1, 30), 2))), group=int(rng.integers(-1, 6)))
        for _ in range(300)
    )
    drawing = Drawing("object", strokes, tuple("abcdef"))
    found = render(drawing)
    parts = [masks.encode(mask) for part in found.parts for mask in (part.mask, part.ink)]
    steps = [step.png for step in found.steps]
    content = b"".join([found.png, *steps, gallery.strip(drawing, found), "".join(parts).encode()])
    return hashlib.sha256(content).hexdigest()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.floats(0, 1))
def test_masks_are_cocos(seed: int, share: float) -> None:
    mask = np.random.default_rng(seed).random((CANVAS, 40)) < share
    counts = masks.encode(mask)
    form = {"size": [CANVAS, 40], "counts": counts.encode()}
    assert (oracle.decode(form).astype(bool) == mask).all()
    assert oracle.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"].decode() == counts
    assert (masks.decode(counts, CANVAS, 40) == mask).all()
    if mask.any():
        assert masks.box(mask) == oracle.toBbox(form).tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2, max_size=30))
def test_nothing_leaves_the_padding_whatever_the_scale(points: list[tuple[float, float]]) -> None:
    drawn = stroke(*points)
    if np.ptp(drawn.x) == 0 and np.ptp(drawn.y) == 0:
        return
    placed = np.array(fit([drawn])[0])
    assert placed.min() >= PADDING
    assert placed.max() <= CANVAS - PADDING
    ink = pixels(render(Drawing("object", (drawn,))).png) == 0
    assert ink.any()
    assert not ink[: PADDING - WIDTH].any()


def raster(side: int) -> Drawing:
    """Two squares of pixels, one pixel wide, in a picture of some side; the second overlaps the first's corner."""
    ink, group = np.zeros((side, side), bool), np.full((side, side), NO_PART, np.int16)
    for number, (low, high) in enumerate(((0.1, 0.5), (0.4, 0.9))):
        a, b = int(side * low), int(side * high)
        for rows, columns in ((a, slice(a, b)), (b, slice(a, b + 1)), (slice(a, b), a), (slice(a, b), b)):
            ink[rows, columns], group[rows, columns] = True, number
    return Drawing("scene", (), ("one", "two"), raster=Raster(ink, group))


@pytest.mark.parametrize("side", [10, 80, 300, 1500])
def test_pixels_are_carried_over_without_gaps(side: int) -> None:
    from scipy.ndimage import label

    found = render(raster(side))
    assert found.steps == ()
    assert len(found.parts) == 2
    assert label(found.parts[1].ink, np.ones((3, 3)))[1] == 1
    box = masks.box(pixels(found.png) == 0)
    assert max(box[2:]) == CANVAS - 2 * PADDING
    assert found.ink_area == sum(part.mask.sum() for part in found.parts)


def test_the_strip_has_a_cell_a_step_and_colours_what_is_new() -> None:
    drawing = cross()
    strip = np.asarray(Image.open(io.BytesIO(gallery.strip(drawing, render(drawing)))).convert("RGB")).astype(int)
    assert strip.shape == (gallery.SIDE, 2 * gallery.SIDE, 3)  # Two cells in a row.
    middle = gallery.SIDE // 2
    first, second = strip[middle, gallery.SIDE // 4], strip[middle, gallery.SIDE + gallery.SIDE // 4]
    assert np.abs(first - gallery.COLOURS[0]).max() < 12
    assert np.ptp(second) < 4  # Grey: it was there.
    assert gallery.caption(drawing, render(drawing)) == "1 bar, 2 post"
