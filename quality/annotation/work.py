"""The folder of an audit under way. It holds what must not be released: names, e-mail addresses, which items are gold.

plan.json       the declaration, the seed, the salt of pseudonyms, people, strata, and the bytes the sample is of
items.jsonl     each item with its key, its answer and who judges it
population.parquet   every row the audit speaks for (`quality.annotation.population`)
media/          sounds and pictures, by key
projects.json   where the sheets are on a server
snapshots/N/    what the server said at the N-th pull, one file a person
judgements.jsonl, problems.jsonl    the newest judgements, and what could not be counted
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quality.annotation.kinds import Answer
from schemas import Attribute, Audit, GoldsmithError, Show
from schemas.files import replace_text

FORMAT = 1


@dataclass(frozen=True)
class Stratum:
    """A part of the population with its own sample: `lot` rows, `sample` of them drawn, `target` share of wrong."""

    name: str
    lot: int
    sample: int
    target: float


@dataclass(frozen=True)
class Item:
    """What people judge.

    Attributes:
        key: what a sheet calls it; says neither the row nor whether it is gold.
        role: `sample` (speaks for its stratum) or `gold`.
        answer: the dataset's, or of a gold item the true one.
        shown: what each `Show` shows: text, or the name of a file in media/.
        size: width and height of the picture.
        people: pseudonyms of those who judge it.
        made_by: pseudonym of who made the row's annotation.
    """

    key: str
    item_id: str
    stratum: str
    role: str
    answer: Answer | None
    shown: list[str]
    people: list[str]
    size: list[int] | None = None
    made_by: str | None = None

    def swapped(self, person: str) -> bool:
        """Whether this person sees the second of a pair as A; even odds, the same whenever asked."""
        return hashlib.sha256(f"{self.key}/{person}".encode()).digest()[0] % 2 == 1

    @property
    def text(self) -> str | None:
        """What spans are in."""
        return self.shown[0] if self.shown else None


@dataclass(frozen=True)
class Plan:
    """The design of an audit; `people`: name or e-mail address by pseudonym; `files`: sha256 of the data, by path."""

    dataset: str
    audit: Audit
    seed: str
    salt: str
    people: Mapping[str, str]
    files: Mapping[str, str]
    strata: list[Stratum]
    items: list[Item] = field(default_factory=list)

    @property
    def number(self) -> str:
        """What marks this plan on a server."""
        return hashlib.sha256(f"{self.salt}/{self.audit.name}/{self.seed}".encode()).hexdigest()[:16]

    def by_key(self) -> dict[str, Item]:
        """The items by key."""
        return {item.key: item for item in self.items}

    def sheet(self, person: str) -> list[Item]:
        """The items of a person, in an order of their own that tells nothing."""
        mine = [item for item in self.items if person in item.people]
        return sorted(mine, key=lambda item: hashlib.sha256(f"{self.salt}/{person}/{item.key}".encode()).digest())


def pseudonym(salt: str, name: str) -> str:
    """A name that nobody can undo without the salt, which stays in this folder."""
    return "p" + hmac.new(salt.encode(), name.strip().lower().encode(), hashlib.sha256).hexdigest()[:8]


class Work:
    """The folder, by its files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def media(self) -> Path:
        return self.path / "media"

    @property
    def population(self) -> Path:
        return self.path / "population.parquet"

    def save(self, plan: Plan) -> None:
        """Write plan.json last: without it the folder is no audit."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.write_lines("items.jsonl", (asdict(item) for item in plan.items))
        form = {**asdict(plan), "format": FORMAT}
        del form["items"]
        self.write("plan.json", form)

    def plan(self) -> Plan:
        """The plan.

        Raises:
            GoldsmithError: there is none.
        """
        form = self.read("plan.json")
        if form is None or form.pop("format", None) != FORMAT:
            raise GoldsmithError(f"[{self.path}] is no audit under way: run `goldsmith audit plan`")
        audit = form.pop("audit")
        lists = {name: tuple(audit[name]) for name in ("labels", "needs")}
        audit = Audit(
            **{
                **audit,
                **lists,
                "shows": tuple(Show(**show) for show in audit["shows"]),
                "rubric": tuple(Attribute(**{**line, "values": tuple(line["values"])}) for line in audit["rubric"]),
                "targets": tuple((name, share) for name, share in audit["targets"]),
            }
        )
        strata = [Stratum(**stratum) for stratum in form.pop("strata")]
        items = [Item(**item) for item in self.lines("items.jsonl")]
        return Plan(audit=audit, strata=strata, items=items, **form)

    def read(self, name: str) -> Any:
        """A JSON file, None where there is none."""
        path = self.path / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def write(self, name: str, form: Any) -> None:
        """A JSON file, whole or not at all."""
        self._replace(name, json.dumps(form, ensure_ascii=False, indent=1, sort_keys=True) + "\n")

    def lines(self, name: str) -> list[Any]:
        """A file of JSON lines, empty where there is none."""
        path = self.path / name
        return (
            [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
            if path.is_file()
            else []
        )

    def write_lines(self, name: str, forms: Iterable[Any]) -> None:
        """A file of JSON lines, whole or not at all."""
        self._replace(name, "".join(json.dumps(form, ensure_ascii=False, sort_keys=True) + "\n" for form in forms))

    def _replace(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
