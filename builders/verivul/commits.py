"""`commits.toml`: the fixes to certify, one `[[fix]]` each; before them `rename = SEED`, if pairs are to be renamed.

Renamed pairs have other names and another order of functions than their originals, against recall: see `rename`.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from schemas import GoldsmithError

_SHA = re.compile(r"[0-9a-f]{40}")
_KEYS = frozenset(("repository", "commit", "cve", "cwe", "subject", "date"))


@dataclass(frozen=True)
class Fix:
    """A fix.

    Attributes:
        repository: the name of its git source in `sources.toml`.
        commit: full id.
        cve: the CVEs it names.
        cwe: weakness ids that its makers or a database give, as numbers; often none.
        subject: first line of the message.
        date: ISO day.
    """

    repository: str
    commit: str
    cve: tuple[str, ...] = ()
    cwe: tuple[int, ...] = ()
    subject: str = ""
    date: str = ""

    @property
    def name(self) -> str:
        """Short and unique."""
        return f"{self.repository}-{self.commit[:12]}"

    def toml(self) -> str:
        """The entry, as `read` reads it."""
        quoted = {"repository": self.repository, "commit": self.commit, "cve": list(self.cve), "cwe": list(self.cwe),
                  "subject": self.subject, "date": self.date}  # fmt: skip
        lines = [f"{key} = {json.dumps(value, ensure_ascii=True)}" for key, value in quoted.items()]
        return "\n".join(["[[fix]]", *lines, "", ""])


def rename_seed(text: str) -> int | None:
    """The seed under which pairs are renamed and reordered; None where they keep their names.

    Raises:
        GoldsmithError: it is no whole number, or the text is no TOML.
    """
    seed = _toml(text).get("rename")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise GoldsmithError(f"[commits.toml > rename] is {seed!r}: give a whole number, or take it out")
    return seed


def _toml(text: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GoldsmithError(f"[commits.toml] is no TOML ({error}): correct it") from None
    if unknown := sorted(set(content) - {"fix", "rename"}):
        raise GoldsmithError(f"[commits.toml > {unknown[0]}] is unknown: there is `[[fix]]`, and `rename` before them")
    return content


def read(text: str) -> list[Fix]:
    """The fixes, in order.

    Raises:
        GoldsmithError: the text is no TOML, or an entry is wrong.
    """
    entries = _toml(text).get("fix", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise GoldsmithError("[commits.toml > fix] must be a list: write [[fix]] before each")
    fixes = []
    for number, entry in enumerate(entries, 1):
        where = f"commits.toml > fix {number}"
        unknown = sorted(set(entry) - _KEYS)
        if unknown:
            raise GoldsmithError(f"[{where} > {unknown[0]}] is unknown: the keys are {', '.join(sorted(_KEYS))}")
        if not _SHA.fullmatch(str(entry.get("commit", ""))):
            raise GoldsmithError(f"[{where} > commit] must be the full id of 40 lower-case hexadecimal digits")
        if not re.fullmatch(r"[A-Za-z0-9_.+-]+", str(entry.get("repository", ""))):
            raise GoldsmithError(f"[{where} > repository] must be the name of a source")
        lists = {"cve": tuple(entry.get("cve", ())), "cwe": tuple(entry.get("cwe", ()))}
        fix = Fix(**{**entry, **lists})
        if any(other.name == fix.name for other in fixes):
            raise GoldsmithError(f"[{where}] {fix.name} stands twice: take one out")
        fixes.append(fix)
    return fixes
