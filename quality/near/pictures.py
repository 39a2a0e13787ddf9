"""Nearly alike pictures: perceptual hashes of the whole and of what a crop would leave, and a comparison of the pixels.

A picture is read once, as 72 x 72 grey dots. A hash has the signs of its 64 lowest frequencies (DCT). The transform
is integrated over any part of the picture, so two small matrix products give the hashes of 81 windows, which leave off
0, 5 or 10 % at each edge: a picture that was cropped by up to a tenth at each edge has, as a whole, nearly the hash of
one of the original's windows. (Of 300 such crops 7 bits find all with these windows, and .89 with fewer, 25.)
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from quality.near import hamming
from quality.near.store import Pairs, Seen, Wanted
from schemas import GoldsmithError

SIDE = 72
_KEPT = 32
_COMPARED = 16
WINDOWS = tuple(product((0.0, 0.05, 0.1), (1.0, 0.95, 0.9)))
_BLANK = 4.0
"""Spread of grey values (of 255) below which there is nothing to compare."""
_BATCH = 32
_SLAB = 4_000_000
"""Hashes of windows that are looked through at a time."""
_TOGETHER = 20_000

_FREQUENCIES = sorted(((u, v) for u, v in product(range(11), repeat=2) if u + v), key=lambda pair: (sum(pair), pair))
_U, _V = np.array(_FREQUENCIES[:64]).T


def _waves(count: int, low: float, high: float) -> np.ndarray:
    """The lowest `count` cosines on a part of an axis, integrated over its dots: float32 of shape (count, SIDE)."""
    edges = np.clip(np.arange(SIDE + 1) / SIDE, low, high)
    turn = np.pi * np.arange(1, count)[:, None]
    place = (edges - low) / (high - low)
    rest = np.diff(np.sin(turn * place) / turn, axis=1)
    return np.concatenate([np.diff(place)[None], rest]).astype(np.float32)


def _means(count: int, low: float, high: float, side: int) -> np.ndarray:
    """Means over `count` equal pieces of a part of an axis of `side` dots: float32 of shape (count, side)."""
    edges = np.linspace(low, high, count + 1)
    dots = np.arange(side + 1) / side
    inside = np.minimum(edges[1:, None], dots[None, 1:]) - np.maximum(edges[:-1, None], dots[None, :-1])
    return (np.clip(inside, 0, None) / np.diff(edges)[:, None]).astype(np.float32)


_WAVES = np.stack([_waves(11, *window) for window in WINDOWS])
_SHRINK = _means(_KEPT, 0, 1, SIDE)
_VIEWS = np.stack([_means(_COMPARED, *window, _KEPT) for window in WINDOWS])
_PLACES = tuple(product(range(len(WINDOWS)), repeat=2))


def hashes(grey: np.ndarray, windows: int = len(WINDOWS)) -> np.ndarray:
    """Hashes of pictures, uint64 of shape (windows ** 2, pictures), the whole first.

    Args:
        grey: float32 of shape (pictures, SIDE, SIDE).
        windows: how many of `WINDOWS` along each axis.
    """
    waves = _WAVES[:windows].reshape(-1, SIDE)
    spectrum = (waves @ grey @ waves.T).reshape(len(grey), windows, 11, windows, 11)
    found = np.empty((windows**2, len(grey)), np.uint64)
    for number, (down, across) in enumerate(product(range(windows), repeat=2)):
        bits = spectrum[:, down, _U, across, _V] > 0
        found[number] = np.ascontiguousarray(np.packbits(bits, axis=1)).view(">u8")[:, 0]
    return found


def read(data: bytes | None) -> np.ndarray | None:
    """A picture as grey dots, uint8 of shape (SIDE, SIDE); None where it is missing or cannot be read."""
    import PIL.Image
    import PIL.ImageOps

    if not data:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with PIL.Image.open(io.BytesIO(data)) as image:
                image.draft("L", (SIDE, SIDE))
                shown = PIL.ImageOps.exif_transpose(image)
                if shown.mode in ("RGBA", "LA", "PA") or "transparency" in shown.info:
                    shown = shown.convert("RGBA")
                    shown = PIL.Image.alpha_composite(PIL.Image.new("RGBA", shown.size, "white"), shown)
                small = shown.convert("L").resize((SIDE, SIDE), PIL.Image.Resampling.BOX, reducing_gap=2.0)
                return np.asarray(small)
    except Exception:  # Pillow's decoders raise whatever they like on bytes that are no picture
        return None


def _measured(values: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which pictures can be read, and of these: which are blank, their hashes, and small copies."""
    found = [read(data) for data in values.to_pylist()]
    grey = np.array([picture for picture in found if picture is not None], np.float32).reshape(-1, SIDE, SIDE)
    small = np.rint(_SHRINK @ grey @ _SHRINK.T).astype(np.uint8)
    there = np.array([picture is not None for picture in found], bool)
    return there, grey.std(axis=(1, 2)) < _BLANK, hashes(grey), small


class Pictures:
    """A searcher of `image`; see `store.Searcher`.

    Memory: a byte a row, 4 million hashes (16 bytes each) at a time, and the encoded pictures of a batch; hashes (648
    bytes a row) and small copies (1 KB) lie in files.
    """

    reasons: tuple[str, ...] = ("", "missing, or it cannot be read", "blank")

    def __init__(self, kind: str, rows: int, folder: Path, least: float) -> None:
        try:
            import PIL.Image  # noqa: F401
        except ImportError:
            raise GoldsmithError("[check > pictures] Pillow is not there: pip install 'goldsmith[near]'") from None
        self._least, self._rows = least, rows
        self.skipped = np.ones(rows, np.uint8)
        shape = (len(_PLACES), max(rows, 1))
        self._hashes = np.lib.format.open_memmap(folder / "hashes", "w+", np.uint64, shape)
        self._small = np.lib.format.open_memmap(folder / "small", "w+", np.uint8, (max(rows, 1), _KEPT, _KEPT))

    def add(self, rows: np.ndarray, values: pa.Array) -> None:
        """Take in encoded pictures."""
        starts = range(0, len(rows), _BATCH)
        threads = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        # Products this small are slower on several threads of BLAS than on one each.
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
            measured = pool.map(lambda start: _measured(values.slice(start, _BATCH)), starts)
            for start, (there, blank, found, small) in zip(starts, measured, strict=True):
                some = rows[start : start + _BATCH][there]
                self.skipped[some] = np.where(blank, 2, 0)
                self._hashes[:, some] = found
                self._small[some] = small

    def pairs(self, wanted: Wanted) -> Iterator[Pairs]:
        """Pairs of which one, whole, has nearly the hash of a window of the other; compared in that window."""
        members = np.flatnonzero(self.skipped == 0)
        queries = self._hashes[0][members]
        together = max(1, _SLAB // max(1, len(members)))
        seen = Seen(self._rows * len(_PLACES))
        for first in range(0, len(_PLACES), together):
            slab = np.concatenate(
                [self._hashes[at][members] for at in range(first, min(len(_PLACES), first + together))]
            )
            for query, place in hamming.near(queries, slab):
                whole, window = members[query], members[place % len(members)]
                kept = (whole != window) & wanted(np.minimum(whole, window), np.maximum(whole, window))
                number = (first + place // len(members))[kept]
                fresh = seen.fresh(whole[kept], window[kept] * len(_PLACES) + number)
                yield from self._alike(fresh[0], fresh[1] // len(_PLACES), fresh[1] % len(_PLACES))

    def _alike(self, whole: np.ndarray, window: np.ndarray, number: np.ndarray) -> Iterator[Pairs]:
        """Correlation of the dots of one picture with those of a window of the other."""
        for start in range(0, len(whole), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            one, other = self._dots(whole[part], np.zeros_like(number[part])), self._dots(window[part], number[part])
            like = np.einsum("ij,ij->i", one, other)
            kept = like >= self._least
            a, b = whole[part][kept], window[part][kept]
            yield np.minimum(a, b), np.maximum(a, b), np.minimum(like[kept], 1.0)

    def _dots(self, rows: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Dots of a window without their mean, of length 1: float64 of shape (rows, dots)."""
        found = np.empty((len(rows), _COMPARED**2))
        for place in np.unique(number):
            chosen = np.flatnonzero(number == place)
            down, across = _PLACES[place]
            small = self._small[rows[chosen]].astype(np.float32)
            found[chosen] = (_VIEWS[down] @ small @ _VIEWS[across].T).reshape(len(chosen), -1)
        found -= found.mean(axis=1, keepdims=True)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
