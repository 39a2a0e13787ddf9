"""Nearly the same sound, by fingerprints of 16 bits a frame (Haitsma and Kalker, 2002; see the dataset for its own).

Two forms of one recording differ in up to 30 % of all bits, but not evenly: some stretch is nearly whole. So words of
24 bits, 12 of each of two frames, are looked up; four choices of bits find different stretches. Where a word is
equal, 16 frames around it are compared, and where these are near, the whole overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from quality.near.store import CHUNK, Pairs, Ragged, Seen, Wanted, neighbours, ranges

LEAST_FRAMES = 12
"""Shorter fingerprints say nothing."""
_TABLES = 4
_APART = 2
"""Frames between the two of a word: neighbours share most of their sound, and say the same twice."""
_CROWD = 24
"""A word that more frames have is silence, or hum."""
_AROUND = 16
_NEAR = 0.36
"""Share of bits around an equal word that may differ."""
_OVERLAP = 0.8
"""Share of the shorter sound that the longer one must have."""
_FRAMES = 4_000_000
"""Frames whose words are sorted at a time."""


class Sounds:
    """A searcher of `audio`; see `store.Searcher`. Values are lists of numbers of 16 bits.

    Memory: 13 bytes a row, 4 million words at a time (some 80 bytes each while they are sorted and paired), and the
    chunk of pairs at hand; the frames lie in a file.
    """

    reasons: tuple[str, ...] = ("", "no fingerprint, or one too short to be compared")

    def __init__(self, kind: str, rows: int, folder: Path, least: float) -> None:
        self._least, self._rows = least, rows
        self.skipped = np.ones(rows, np.uint8)
        self._frames = Ragged(folder / "frames", np.uint16, rows)
        self._pad()
        draw = np.random.default_rng(24)
        self._choices = [(draw.permutation(16)[:12], draw.permutation(16)[:12]) for _ in range(_TABLES)]

    def add(self, rows: np.ndarray, values: pa.Array) -> None:
        """Take in lists of whole numbers."""
        values = values.cast(pa.list_(pa.int64()))
        lengths = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        flat = values.flatten().fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint16)
        self._frames.add(rows, flat, lengths)
        self.skipped[rows[lengths >= LEAST_FRAMES]] = 0

    def pairs(self, wanted: Wanted) -> Iterator[Pairs]:
        """Pairs that share a word and differ in few bits at that alignment."""
        self._pad()
        frames = self._frames.values()
        span = 2 * int(self._frames.length.max(initial=0)) + 1
        seen = Seen(self._rows * span)
        passes = len(frames) // _FRAMES + 1
        for choice in self._choices:
            for turn in range(passes):
                places = self._alike_words(frames, choice, turn, passes)
                for a, b, at_a, at_b in places:
                    for start in range(0, len(a), CHUNK):
                        part = slice(start, start + CHUNK)
                        found = self._near(frames, a[part], b[part], at_a[part], at_b[part], wanted)
                        a_new, key = seen.fresh(found[0], found[1] * span + found[2] + span // 2)
                        yield from self._overlaps(frames, a_new, key // span, key % span - span // 2)

    def _pad(self) -> None:
        """Frames of nobody at either end of the file, so that there are always some around a place."""
        nobody = np.zeros(0, np.int64)
        self._frames.add(nobody, np.zeros(_AROUND, np.uint16), nobody)

    def _alike_words(
        self, frames: np.ndarray, choice: tuple[np.ndarray, np.ndarray], turn: int, passes: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Rows a < b that have an equal word, and the places of the words in the file."""
        words, places = self._words(frames, choice, turn, passes)
        sort = np.argsort(words, kind="stable")
        words, places = _uncrowded(words[sort], places[sort])
        order = np.argsort(self._frames.start, kind="stable")
        order = order[self._frames.length[order] > 0]
        owners = order[np.searchsorted(self._frames.start[order], places, "right") - 1]
        for one, other in neighbours(words, np.arange(len(words)), _CROWD):
            swap = owners[one] > owners[other]
            a, b = np.where(swap, other, one), np.where(swap, one, other)
            yield owners[a], owners[b], places[a], places[b]

    def _words(
        self, frames: np.ndarray, choice: tuple[np.ndarray, np.ndarray], turn: int, passes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Words of 24 bits, uint32, and the places of their first frames; at a turn, those of one class."""
        first, second = (_pick(bits) for bits in choice)
        found, places = [], []
        for start in range(0, max(0, len(frames) - _APART), 1 << 22):
            end = min(len(frames) - _APART, start + (1 << 22))
            early, late = frames[start:end], frames[start + _APART : end + _APART]
            words = first[early].astype(np.uint32) << np.uint32(12) | second[late]
            kept = np.flatnonzero(words % np.uint32(passes) == turn)
            found.append(words[kept])
            places.append(kept + start)
        empty = [np.zeros(0, np.uint32)], [np.zeros(0, np.int64)]
        return np.concatenate(found or empty[0]), np.concatenate(places or empty[1])

    def _near(
        self,
        frames: np.ndarray,
        a: np.ndarray,
        b: np.ndarray,
        at_a: np.ndarray,
        at_b: np.ndarray,
        wanted: Wanted,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows that may be alike, and by how many frames the second begins later in the first."""
        length = self._frames.length
        kept = np.flatnonzero((a != b) & wanted(a, b) & (self.skipped[a] == 0) & (self.skipped[b] == 0))
        differ = np.zeros(len(kept), np.int64)
        for step in range(-(_AROUND // 2), _AROUND // 2):
            differ += np.bitwise_count(frames[at_a[kept] + step] ^ frames[at_b[kept] + step])
        short = np.minimum(length[a[kept]], length[b[kept]]) < 2 * _AROUND  # around it there may be another sound
        kept = kept[(differ <= _NEAR * 16 * _AROUND) | short]
        a, b = a[kept], b[kept]
        start = self._frames.start
        return a, b, (at_a[kept] - start[a]) - (at_b[kept] - start[b])

    def _overlaps(self, frames: np.ndarray, a: np.ndarray, b: np.ndarray, shift: np.ndarray) -> Iterator[Pairs]:
        """Compare all frames that two rows share at a shift."""
        length = self._frames.length.astype(np.int64)
        overlap = np.minimum(length[a] - np.maximum(shift, 0), length[b] - np.maximum(-shift, 0))
        long = overlap >= np.maximum(_OVERLAP * np.minimum(length[a], length[b]), LEAST_FRAMES)
        a, b, shift, overlap = a[long], b[long], shift[long], overlap[long]
        for start in range(0, len(a), 4096):
            part = slice(start, start + 4096)
            count = overlap[part]
            left = ranges(self._frames.start[a[part]] + np.maximum(shift[part], 0), count)
            right = ranges(self._frames.start[b[part]] + np.maximum(-shift[part], 0), count)
            one, other = frames[left], frames[right]
            owner = np.repeat(np.arange(len(count)), count)
            heard = np.bincount(owner, (one | other) != 0, len(count))  # exact silence, frames of 0, is like any other
            differ = np.bincount(owner, np.bitwise_count(one ^ other), len(count)) / (16 * np.maximum(heard, 1))
            # Few frames differ little by chance: different sounds have a mean of .47 and a spread that falls with them.
            like = 1 - differ
            kept = (like >= self._least) & (differ <= 0.46 - 1.2 / np.sqrt(np.maximum(heard, 1)))
            kept &= heard >= LEAST_FRAMES
            yield a[part][kept], b[part][kept], like[kept]


def _pick(bits: np.ndarray) -> np.ndarray:
    """For each number of 16 bits, the 12 chosen ones: uint16 of shape (65536,)."""
    numbers = np.arange(1 << 16)
    picked = np.zeros(1 << 16, np.uint16)
    for place, bit in enumerate(bits):
        picked |= ((numbers >> int(bit) & 1) << place).astype(np.uint16)
    return picked


def _uncrowded(words: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted words without those that too many frames have, or one alone."""
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(words)), bool), words[1:] != words[:-1]]))
    sizes = np.diff(np.append(begins, len(words)))
    kept = np.repeat((sizes > 1) & (sizes <= _CROWD), sizes)
    return words[kept], places[kept]
