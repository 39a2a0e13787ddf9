"""Sets of ids that are compared without being kept: how many, and the sum and exclusive or of their hashes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Digest:
    """Equal for equal sets of ids, in whatever order they came; equal by chance for others once in 3e38."""

    count: int = 0
    total: int = 0
    mixed: int = 0

    def add(self, hashes: np.ndarray) -> None:
        """Take in 64-bit hashes; an id that comes twice counts twice."""
        values = hashes.view(np.uint64)
        self.count += len(values)
        self.total = (self.total + int(np.add.reduce(values))) % 2**64
        self.mixed ^= int(np.bitwise_xor.reduce(values))
