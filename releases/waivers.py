"""Waivers: failed checks that a person answers for, until a day. They are released with the data.

    [[waiver]]
    check = "duplicate_sequences"     # the check's name; or `train_to_test`: rows may move from train to test; or
                                      # `own_source`: a file given by --source stands in place of the pinned one
    table = "variants"                # optional; without it, in every table; of `own_source`, the source's name
    reason = "upstream's own replicates, see the card"
    by = "data team"
    until = 2027-06-30

Whether a check failed is the business of `quality`; what follows from it, of `releases.gate`.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from releases.manifest import Waiver
from schemas import GoldsmithError

FILE = "waivers.toml"
TRAIN_TO_TEST = "train_to_test"
OWN_SOURCE = "own_source"

_NEEDED = ("check", "reason", "by", "until")


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers in a TOML file, in its order.

    Raises:
        GoldsmithError: the file is not there or not TOML, or a waiver lacks a field, has an unknown one, or has no day.
    """
    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is not there: give the path of a waivers file") from None
    except OSError as error:
        raise GoldsmithError(f"[{path}] cannot be read ({error.strerror}): give the path of a waivers file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[{path}] is not TOML ({error}): mend it") from None
    entries = form.get("waiver")
    if set(form) - {"waiver"} or not isinstance(entries, list):
        raise GoldsmithError(f"[{path}] holds something else than [[waiver]] entries: mend it")
    return tuple(_waiver(entry, f"{path} > waiver {number}") for number, entry in enumerate(entries, 1))


def _waiver(entry: Mapping[str, Any], place: str) -> Waiver:
    unknown = sorted(set(entry) - {*_NEEDED, "table"})
    if unknown:
        raise GoldsmithError(f"[{place}] has the unknown field {unknown[0]}: use {', '.join(_NEEDED)} and table")
    texts = {name: str(value).strip() for name, value in entry.items()}
    for name in _NEEDED:
        if not texts.get(name):
            raise GoldsmithError(f"[{place}] has no {name}: a waiver says {', '.join(_NEEDED)}")
    try:
        datetime.date.fromisoformat(texts["until"])
    except ValueError:
        raise GoldsmithError(f"[{place} > until] {texts['until']} is no day: write it as 2027-06-30") from None
    return Waiver(**texts)


class Waivers:
    """Waivers on a day: which are in force (their last day included), and which of them turn out to be needed."""

    def __init__(self, waivers: Iterable[Waiver], today: datetime.date) -> None:
        self.in_force: list[Waiver] = []
        self.expired: list[Waiver] = []
        self.used: list[Waiver] = []
        for waiver in waivers:
            late = datetime.date.fromisoformat(waiver.until) < today
            (self.expired if late else self.in_force).append(waiver)

    def cover(self, check: str, table: str) -> bool:
        """Whether one in force covers this failed check of this table; it is then needed."""
        covering = [waiver for waiver in self.in_force if waiver.covers(check, table)]
        self.used += [waiver for waiver in covering if waiver not in self.used]
        return bool(covering)

    def late(self, check: str, table: str) -> str:
        """The end of a refusal that names the expired waivers which would have covered it."""
        return "".join(f"; the waiver by {w.by} expired on {w.until}" for w in self.expired if w.covers(check, table))

    def notes(self) -> list[str]:
        """A line for each waiver that does nothing."""
        lines = [f"waiver of {w.check} by {w.by} expired on {w.until}: it does not count" for w in self.expired]
        idle = [waiver for waiver in self.in_force if waiver not in self.used]
        return lines + [f"waiver of {w.check} by {w.by} covers nothing: take it out" for w in idle]
