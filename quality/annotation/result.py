"""What an audit found, in memory and as report.json: bounds by stratum, agreement, people, rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from quality.annotation.agreement import Agreement
from quality.annotation.flags import Flag, misread
from quality.annotation.people import Person
from quality.annotation.work import Item, Plan

FORMAT = 1


@dataclass(frozen=True)
class Found:
    """What people say of one sampled row."""

    item: Item
    judges: int
    state: str
    label: str | None
    confidence: float | None
    agreement: float | None


@dataclass(frozen=True)
class Bound:
    """What the sample of a stratum shows.

    Attributes:
        against: rows that count as wrong: wrong, unsure and unjudged ones.
        most_wrong: wrong rows the lot can have at most, with the audit's confidence.
        upper: the same as a share of the lot, None where nothing can be wrong.
        low, high: Clopper-Pearson, two-sided, of the judged rows: for rows like these at large.
    """

    stratum: str
    lot: int
    sample: int
    judged: int
    wrong: int
    unsure: int
    against: int
    most_wrong: int
    upper: float
    target: float
    low: float
    high: float

    @property
    def shown(self) -> bool:
        """Whether the target is shown."""
        return self.upper <= self.target


@dataclass(frozen=True)
class AuditReport:
    """All that is counted.

    Attributes:
        similarity: how alike the answers to an item are, mean.
        attributes: of a rubric: the figures of each attribute.
        gamma: of spans; None for other kinds, and where its library is not installed.
        problems: how many of which code, and by whom.
    """

    plan: Plan
    found: Sequence[Found]
    bounds: Sequence[Bound]
    agreement: Agreement
    similarity: float
    by_stratum: Mapping[str, Agreement]
    attributes: Mapping[str, Mapping[str, float]]
    gamma: float | None
    people: Sequence[Person]
    flags: Sequence[Flag]
    pairs: Sequence[Mapping[str, Any]]
    against_dataset: Mapping[tuple[str, str], int]
    makers: Sequence[Mapping[str, Any]]
    problems: Mapping[str, Mapping[str, int]]

    @property
    def passed(self) -> bool:
        """Whether every stratum shows its target, people agree enough, and what they say can be rested on."""
        return all(bound.shown for bound in self.bounds) and self.agrees and not self.misread

    def lines(self) -> list[str]:
        """What was found, for a terminal."""
        lines = [
            f"{one.stratum}: {one.wrong} wrong and {one.against - one.wrong} unsure or unjudged of {one.sample}; "
            f"at most {one.upper:.1%} of {one.lot:,} rows are wrong, target {one.target:.1%}: "
            f"{'shown' if one.shown else 'NOT shown'}"
            for one in self.bounds
        ]
        one = self.agreement
        figures = (("raw", one.raw), ("alpha", one.alpha), ("kappa", one.kappa), ("AC1", one.ac1))
        said = (f"{name} {'not defined' if math.isnan(value) else f'{value:.2f}'}" for name, value in figures)
        lines.append(f"agreement: {', '.join(said)}")
        if self.misread:
            lines.append(f"NOT to be rested on: {self.misread}")
        if self.gamma is not None:
            lines.append(f"gamma of spans: {self.gamma:.2f}")
        return lines + [f"look at {flag.person}: {flag.code}, {flag.message}" for flag in self.flags]

    @property
    def agrees(self) -> bool:
        """Whether people agree as much as the audit asks; not where nothing was judged by two."""
        least = self.plan.audit.min_agreement
        return least is None or self.agreement.alpha >= least

    @property
    def misread(self) -> str:
        """Why nothing can be rested on what people say, "" where it can."""
        return misread(self.plan.audit, [(person.gold, person.gold_right) for person in self.people])


def to_json(made: AuditReport) -> dict[str, Any]:
    """The plain form, without names."""
    return plain(
        {
            "format": FORMAT,
            "dataset": made.plan.dataset,
            "audit": made.plan.audit.name,
            "table": made.plan.audit.table,
            "question": made.plan.audit.question,
            "kind": made.plan.audit.kind,
            "confidence": made.plan.audit.confidence,
            "severity": made.plan.audit.severity,
            "wrong": made.plan.audit.wrong,
            "min_agreement": made.plan.audit.min_agreement,
            "passed": made.passed,
            "files": dict(sorted(made.plan.files.items())),
            "strata": [{**asdict(bound), "shown": bound.shown} for bound in made.bounds],
            "agreement": {**asdict(made.agreement), "similarity": made.similarity},
            "agreement_by_stratum": {name: asdict(one) for name, one in made.by_stratum.items()},
            "attributes": made.attributes,
            "gamma": made.gamma,
            "pairs": list(made.pairs),
            "annotators": [_person(person) for person in made.people],
            "flags": [asdict(flag) for flag in made.flags],
            "made_by": list(made.makers),
            "problems": made.problems,
        }
    )


def _person(person: Person) -> dict[str, Any]:
    cells = [{"says": said, "others": other, "answers": n} for (said, other), n in person.confusion.items()]
    return {**asdict(dataclasses.replace(person, confusion={})), "confusion": cells}


def plain(form: Any) -> Any:
    """JSON has no NaN: nothing to say is null."""
    if isinstance(form, float):
        return round(form, 12) if math.isfinite(form) else None
    if isinstance(form, Mapping):
        return {key: plain(value) for key, value in form.items()}
    if isinstance(form, list | tuple):
        return [plain(value) for value in form]
    return form
