"""Versions of a release, MAJOR.MINOR.PATCH, and the steps between them.

A pre-release or build suffix is refused: a dataset that is frozen is either released or not. Versions below 1.0.0 get
no indulgence, because people cite them all the same.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from schemas import GoldsmithError

Level = Literal["patch", "minor", "major"]
LEVELS: tuple[Level, ...] = ("patch", "minor", "major")

_NUMBER = r"(0|[1-9][0-9]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}")


class Version(NamedTuple):
    """A version; compares as SemVer does."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return ".".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `1.2.3`.

        Raises:
            GoldsmithError: it is anything else.
        """
        match = _VERSION.fullmatch(text)
        if match is None:
            raise GoldsmithError(f"[version > {text}] is no MAJOR.MINOR.PATCH: give one such as 1.0.0, or `auto`")
        return cls(*map(int, match.groups()))

    def step(self, level: Level) -> Version:
        """The next version by a step of `level`."""
        match level:
            case "major":
                return Version(self.major + 1, 0, 0)
            case "minor":
                return Version(self.major, self.minor + 1, 0)
            case "patch":
                return Version(self.major, self.minor, self.patch + 1)


FIRST = Version(1, 0, 0)
"""The first release: it is one that people may build on."""
