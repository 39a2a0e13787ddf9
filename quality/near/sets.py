"""Nearly alike texts, programs and proteins: MinHash finds candidates, and each is compared.

Texts and programs are as alike as the part of all their pieces that both have (Jaccard); proteins as the part of the
longer one that is left when the least number of residues was changed, put in or left out (identity).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from quality.near import minhash
from quality.near.shingles import SHINGLES
from quality.near.store import CHUNK, Pairs, Ragged, Seen, Wanted, neighbours
from schemas import GoldsmithError

_BANDS = {"text": (32, 4), "code": (32, 4), "protein": (64, 2)}
"""Bands and the numbers in each. At a Jaccard of .7, four agree in one of 32 bands with probability .9998; proteins of
90 % identity share .4 of their pieces of five."""


class Sets:
    """A searcher of `text`, `code` or `protein`; see `store.Searcher`.

    Memory: 17 bytes a row, 16 more for the band at hand, and the chunk of pairs at hand; pieces, bands and sequences
    lie in files.
    """

    reasons: tuple[str, ...] = ("", "too short to be compared")

    def __init__(self, kind: str, rows: int, folder: Path, least: float) -> None:
        self._kind, self._least, self._rows = kind, least, rows
        self._shingle, remember, self._fewest = SHINGLES[kind]
        self._known = remember()
        self._bands, self._width = _BANDS[kind]
        self.skipped = np.ones(rows, np.uint8)
        self._pieces = Ragged(folder / "pieces", np.uint32, rows)
        self._letters = Ragged(folder / "letters", np.uint8, rows if kind == "protein" else 0)
        self._keys = np.lib.format.open_memmap(folder / "bands", "w+", np.uint32, (self._bands, max(rows, 1)))

    def add(self, rows: np.ndarray, values: pa.Array) -> None:
        """Take in strings."""
        strings = values.to_pylist()
        pieces, lengths = self._shingle(strings, self._known)
        long = lengths >= self._fewest
        self.skipped[rows[long]] = 0
        pieces, rows, lengths = pieces[np.repeat(long, lengths)], rows[long], lengths[long]
        if not len(rows):
            return
        self._pieces.add(rows, pieces, lengths)
        signature = minhash.signatures(pieces, lengths, self._bands * self._width)
        self._keys[:, rows] = minhash.banded(signature, self._bands)
        if self._kind == "protein":
            encoded = [
                string.upper().encode("latin-1", "replace") for string, keep in zip(strings, long, strict=True) if keep
            ]
            flat = np.frombuffer(b"".join(encoded), np.uint8)
            self._letters.add(rows, flat, np.array([len(one) for one in encoded]))

    def pairs(self, wanted: Wanted) -> Iterator[Pairs]:
        """Pairs in one bucket of any band, compared."""
        members = np.flatnonzero(self.skipped == 0)
        seen = Seen(self._rows)
        for band in range(self._bands):
            # In a bucket of boilerplate, those that agree in the next band as well stand beside each other.
            key, beside = (np.array(self._keys[at % self._bands])[members] for at in (band, band + 1))
            order = np.lexsort((beside, key))
            for a, b in neighbours(key[order], members[order]):
                for start in range(0, len(a), CHUNK):
                    one, other = a[start : start + CHUNK], b[start : start + CHUNK]
                    kept = wanted(one, other)
                    one, other = seen.fresh(one[kept], other[kept])
                    yield from self._alike(one, other)

    def _alike(self, a: np.ndarray, b: np.ndarray) -> Iterator[Pairs]:
        for one, other in self._slices(a, b):
            like = self._identity(one, other) if self._kind == "protein" else self._jaccard(one, other)
            kept = like >= self._least
            yield one[kept], other[kept], like[kept]

    def _slices(self, a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs in parts of about 4 million pieces, less those whose sizes alone say that they differ."""
        sizes = [self._pieces.length[rows].astype(np.int64) for rows in (a, b)]
        if self._kind != "protein":
            near = np.minimum(*sizes) >= self._least * np.maximum(*sizes)
            a, b, sizes = a[near], b[near], [size[near] for size in sizes]
        parts = np.cumsum(sizes[0] + sizes[1]) // 4_000_000
        ends = [*np.flatnonzero(np.diff(parts)) + 1, len(a)]
        start = 0
        for end in ends:
            if end > start:
                yield a[start:end], b[start:end]
            start = end

    def _jaccard(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return minhash.jaccard(self._pieces.gather(a), self._pieces.gather(b), len(a))

    def _identity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        try:
            from rapidfuzz import process
            from rapidfuzz.distance import Levenshtein
        except ImportError:
            raise GoldsmithError("[check > proteins] rapidfuzz is not there: pip install 'goldsmith[near]'") from None
        sequences = [[self._letters.row(row).tobytes() for row in rows] for rows in (a, b)]
        found = process.cpdist(
            *sequences, scorer=Levenshtein.normalized_similarity, score_cutoff=self._least, dtype=np.float64
        )
        return np.asarray(found)
