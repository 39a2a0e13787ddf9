"""Pairs of 64-bit hashes that differ in at most 7 bits.

By pigeonholes: two such hashes have, of their four words of 16 bits, one that differs in at most one bit (multi-index
hashing, Norouzi, Punjani and Fleet 2014). Nothing is missed but in words that very many hashes share.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quality.near.store import ranges

RADIUS = 7
_CANDIDATES = 1 << 18
_CROWD = 4096
"""Of more hashes with one word than this, only these many are looked at."""


def near(queries: np.ndarray, hashes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places in `queries` and in `hashes` (int64) of hashes that differ in at most `RADIUS` bits. A pair may come
    several times.

    Args:
        queries, hashes: uint64 of shape (n,) and (m,).
    """
    flips = np.concatenate([np.zeros(1, np.int64), 1 << np.arange(16)])
    for shift in range(0, 64, 16):
        order, begins = _by_word(hashes, shift)
        sizes = np.minimum(np.diff(begins), _CROWD)
        sorted_hashes = hashes[order]
        words = _words(queries, shift)
        asked = np.argsort(words, kind="stable")  # neighbours read the same part of the hashes
        for flip in flips:
            for part in _parts(sizes[words[asked] ^ flip]):
                rows = asked[part]
                word = words[rows] ^ flip
                place = ranges(begins[word], sizes[word])
                row = np.repeat(rows, sizes[word])
                close = np.flatnonzero(np.bitwise_count(queries[row] ^ sorted_hashes[place]) <= RADIUS)
                if len(close):
                    yield row[close], order[place[close]]


def _words(hashes: np.ndarray, shift: int) -> np.ndarray:
    return (hashes >> np.uint64(shift) & np.uint64(0xFFFF)).astype(np.int64)


def _by_word(hashes: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the hashes in the order of a word, and where each of the 65,536 words begins."""
    words = (hashes >> np.uint64(shift)).astype(np.uint16)
    counts = np.bincount(words, minlength=1 << 16)
    return np.argsort(words, kind="stable"), np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _parts(sizes: np.ndarray) -> Iterator[slice]:
    """Slices of about `_CANDIDATES` candidates."""
    number = np.cumsum(sizes) // _CANDIDATES
    start = 0
    for end in [*np.flatnonzero(np.diff(number)) + 1, len(sizes)]:
        if end > start:
            yield slice(start, end)
        start = end
