"""Figures that a card, an abstract or a website claims, read from `claims.toml`.

    [[claim]]
    figure = "hours"            # hours, transcribed_hours, utterances, speakers, languages, districts, states, images
    value = "31,255"            # as it is written; "156 K" and "~31,270" are understood
    place = "paper, abstract"

A claim holds if the computed figure rounds to it: 156 K allows 155,500 to 156,500.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from schemas import GoldsmithError

FIGURES = ("hours", "transcribed_hours", "utterances", "speakers", "languages", "districts", "states", "images")
_NUMBER = re.compile(r"[~≈]?\s*(\d[\d,]*)(\.\d+)?\s*([KkMm]?)")
_TIMES = {"": 1.0, "k": 1e3, "m": 1e6}


def read(content: bytes) -> list[dict[str, Any]]:
    """The rows of the table `claims`.

    Raises:
        GoldsmithError: the file is no TOML, or a claim lacks a part or claims something unknown.
    """
    try:
        form = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[claims.toml] is no TOML ({error}): correct it") from None
    found: dict[str, dict[str, Any]] = {}
    for number, claim in enumerate(form.get("claim", []), start=1):
        where = f"claims.toml > claim {number}"
        if missing := [key for key in ("figure", "value", "place") if key not in claim]:
            raise GoldsmithError(f"[{where}] has no {missing[0]}: a claim has figure, value and place")
        if claim["figure"] not in FIGURES:
            raise GoldsmithError(f"[{where}] claims {claim['figure']!r}: the figures are {', '.join(FIGURES)}")
        value, tolerance = number_of(str(claim["value"]), where)
        name = f"{claim['figure']}, {claim['place']}"
        if name in found:
            raise GoldsmithError(f"[{where}] claims {name} twice: say each place once")
        row = {"claim": name, "figure": claim["figure"], "text": str(claim["value"]), "place": claim["place"]}
        found[name] = {**row, "value": value, "tolerance": tolerance}
    return list(found.values())


def number_of(text: str, where: str = "claim") -> tuple[float, float]:
    """A written number, and half a unit of its last digit.

    Raises:
        GoldsmithError: it is no number.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise GoldsmithError(f"[{where}] {text!r} is no number: write it as 31,255 or 156 K")
    whole, decimals, unit = match[1].replace(",", ""), match[2] or "", _TIMES[match[3].lower()]
    return float(whole + decimals) * unit, 0.5 * unit / 10 ** max(0, len(decimals) - 1)
