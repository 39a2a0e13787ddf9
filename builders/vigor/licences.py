"""Whose pixels may be passed on. The annotations' licence is the source's (sources.toml); pictures have their own.

What is not known to allow it does not: then a release holds the reference and the hash.
"""

from __future__ import annotations

from typing import Final

COCO: Final = {
    1: "CC-BY-NC-SA-2.0",
    2: "CC-BY-NC-2.0",
    3: "CC-BY-NC-ND-2.0",
    4: "CC-BY-2.0",
    5: "CC-BY-SA-2.0",
    6: "CC-BY-ND-2.0",
    7: "LicenseRef-no-known-copyright",
    8: "LicenseRef-US-Government-work",
}
"""The eight licences of COCO and of all that is built on it, by `images[].license`."""

RELEASABLE: Final = frozenset(
    {
        COCO[4],
        COCO[5],
        COCO[7],
        COCO[8],
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC-BY-3.0",
        "CC-BY-4.0",
        "CC-BY-SA-3.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "MIT",
        "PDDL-1.0",
    }
)
"""Licences under which a picture may be shown, cropped and passed on by anybody. No-derivatives is not among them: a
release holds masks, crops and overlays."""

UNKNOWN: Final = "LicenseRef-unknown"


def of_coco(number: object) -> str:
    """The licence behind COCO's number; unknown where there is none."""
    return COCO.get(number, UNKNOWN) if isinstance(number, int) else UNKNOWN


def releasable(licence: str) -> bool:
    """Whether pixels under this licence may be in a release."""
    return licence in RELEASABLE
