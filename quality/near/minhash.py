"""MinHash (Broder, 1997): of sets that share a part J of all their elements, a signature's numbers agree with
probability J.

In numpy: the library that is fastest in Rust gives its signatures as lists of Python numbers, which takes longer than
computing them here (0.26 against 0.10 s for 20,000 sets of 78).
"""

from __future__ import annotations

import numpy as np

from quality.near.shingles import mix

_BATCH = 40_000
"""Elements that are hashed together: they stay in the cache."""


def signatures(elements: np.ndarray, lengths: np.ndarray, count: int) -> np.ndarray:
    """The signatures of sets, uint32 of shape (count, sets).

    Args:
        elements: uint32, set behind set.
        lengths: of the sets, none of them 0.
        count: numbers in a signature.
    """
    seeds = mix(np.arange(2 * count, dtype=np.uint64)).astype(np.uint32)
    flips, factors = seeds[:count], seeds[count:] | np.uint32(1)
    found = np.empty((count, len(lengths)), np.uint32)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        start = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, start + _BATCH, "right")))
        part = elements[start : ends[last - 1]]
        begins = (ends[first:last] - lengths[first:last]) - start
        room = np.empty_like(part)
        for place in range(count):
            # One to one, and another order of all numbers each time.
            np.bitwise_xor(part, flips[place], out=room)
            np.multiply(room, factors[place], out=room)
            np.bitwise_xor(room, room >> np.uint32(16), out=room)
            np.minimum.reduceat(room, begins, out=found[place, first:last])
        first = last
    return found


def banded(signature: np.ndarray, bands: int) -> np.ndarray:
    """Bands of signatures as one number each, uint32 of shape (bands, sets): equal where all of a band agrees."""
    count, sets = signature.shape
    parts = signature.reshape(bands, count // bands, sets).astype(np.uint64)
    found = np.zeros((bands, sets), np.uint64)
    for place in range(parts.shape[1]):
        found = mix(found + parts[:, place])
    return (found >> np.uint64(32)).astype(np.uint32)


def jaccard(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray], pairs: int) -> np.ndarray:
    """The shared part of all elements of two sets, for many pairs at once: float64 of shape (pairs,).

    Args:
        one, other: elements (uint32, distinct within a set) and the number of the pair of each.
    """
    keys = [number.astype(np.uint64) << np.uint64(32) | elements for elements, number in (one, other)]
    both = np.concatenate(keys)
    both.sort()
    twice = both[1:][both[1:] == both[:-1]]
    shared = np.bincount((twice >> np.uint64(32)).astype(np.int64), minlength=pairs)
    total = np.bincount(one[1], minlength=pairs) + np.bincount(other[1], minlength=pairs)
    return shared / np.maximum(total - shared, 1)
