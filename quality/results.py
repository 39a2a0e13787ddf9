"""What a run of the checks returns, and its form in quality/report.json."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from schemas import Severity

FORMAT = 1
EXAMPLES = 10

Status = Literal["passed", "failed", "not_applicable", "reported"]


@dataclass(frozen=True)
class Measured:
    """A value of a figure. `message` is empty when it lies within its bounds."""

    subject: str
    value: float
    low: float | None
    high: float | None
    message: str


@dataclass(frozen=True)
class Result:
    """A check or figure that ran, or the reason why it did not (`why`).

    Attributes:
        failures: failing rows, or values outside their bounds.
        figures: the values of a figure, in the order of their subjects.
        examples: (id, message) of the first failures by id.
    """

    name: str
    meaning: str
    severity: Severity
    table: str
    kind: Literal["check", "figure"]
    status: Status
    failures: int = 0
    why: str = ""
    figures: tuple[Measured, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    advice: str = ""
    sql: str = ""

    def to_json(self) -> dict[str, Any]:
        """The plain form."""
        examples = [{"id": row, "message": message} for row, message in self.examples]
        figures = [{**asdict(value), "value": _plain(value.value)} for value in self.figures]
        return {**asdict(self), "figures": figures, "examples": examples}


def _plain(value: float) -> float | None:
    """JSON has no infinity; the message says what the value was."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Report:
    """What ran, on which bytes, with which result. Holds no time and no machine's path: same bytes, same report.

    Attributes:
        groups: the groups of checks that ran; see `quality.run.GROUPS`.
        files: path -> sha256 of every file of the dataset as hashed in this run; empty unless all groups ran, so that
            a partial run opens no gate.
        findings: rows and sha256 of quality/findings.parquet.
        profile: table -> rows, splits, columns; see `quality.profile`.
        accounting, sources: as in build.json.
    """

    dataset: str
    title: str
    version: str
    groups: tuple[str, ...]
    results: tuple[Result, ...]
    files: dict[str, str]
    findings: dict[str, Any] = field(default_factory=dict)
    profile: dict[str, Any] = field(default_factory=dict)
    accounting: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)
    tools: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether no blocking check failed."""
        return not any(result.status == "failed" and result.severity == "block" for result in self.results)

    def to_json(self) -> dict[str, Any]:
        """The plain form; see `schemas.folder` for who reads it."""
        return {
            "format": FORMAT,
            "dataset": self.dataset,
            "title": self.title,
            "version": self.version,
            "groups": list(self.groups),
            "files": [{"path": path, "sha256": digest} for path, digest in sorted(self.files.items())],
            "findings": self.findings,
            "passed": self.passed,
            "checks": [result.to_json() for result in self.results],
            "profile": self.profile,
            "accounting": self.accounting,
            "sources": self.sources,
            "tools": self.tools,
        }
