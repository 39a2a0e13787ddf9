"""Audits, as data: what people are asked about a dataset's rows, how the answers are compared, and what must hold.

A dataset declares its audits in `CheckSet.audits`; `quality.annotation` plans, sends, fetches and counts them, and
`quality` turns their result into findings. SQL sees what checks see (see `schemas.checks`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.errors import GoldsmithError

AuditKind = Literal["choice", "pair", "transcription", "spans", "mask", "parts", "rubric"]
"""What people give: one label of a set; the better of two (or a tie); a text; labelled stretches of a text; a mask per
label; labelled boxes; a score for each attribute of a rubric, with the stretches of text that support it."""

PAIR_LABELS = ("first", "second", "tie")


@dataclass(frozen=True)
class Show:
    """A column that people see. The first one shown is the one they judge; of a `pair`, the first two."""

    column: str
    medium: Literal["text", "image", "audio"] = "text"
    title: str = ""


@dataclass(frozen=True)
class Attribute:
    """A line of a rubric. `values` are in their order; `evidence` asks for the text that supports the score."""

    name: str
    meaning: str
    values: tuple[str, ...]
    scale: Literal["nominal", "ordinal", "interval"] = "ordinal"
    evidence: bool = True


@dataclass(frozen=True)
class Audit:
    """A question put to people about a sample of rows, and the bound on errors that their answers must show.

    Attributes:
        question: what people read above every item.
        table: whose rows are audited.
        sql: all rows that the audit speaks for. Columns: `item_id` (the row's id, `schemas.Table.row_id_sql`), the
            columns of `shows`, and where there are any `stratum` (text; each gets its own sample and bound), `made_by`
            (who made the row's annotation; strata are spread over them, and they are never named outside), `answer`
            (what the dataset says: a label; `first`, `second` or `tie`; a text; JSON [{start, end, label}]; a picture
            whose pixel value N is the N-th label, 0 none, or JSON {height, width, masks: {label: COCO's counts}}; JSON
            [{x, y, width, height, label}] in percent; JSON {attribute: value}). Without `answer` only agreement is
            measured, and nothing can be wrong.
        labels: of `choice`, `spans`, `mask` and `parts`, in their order.
        rubric: of `rubric`.
        gold_sql: items whose answer is known for sure, with the same columns; they are mixed in to test people. One
            that differs from the row it is made of needs an id of its own. Of a `rubric`, the answer may leave out
            attributes: these do not count.
        golds: how many gold items each person gets at most; fewer where the data have fewer outside the sample.
        show_answer: people start from the dataset's answer and correct it; quick, and it biases them towards it.
        tolerance: how alike an answer and the dataset's must be (0 to 1) for the row to count as right. Alike is: the
            same (choice, pair, rubric: share of scores), 1 - error rate of words or characters (`unit`), F1 of
            equal spans or, with `unit` character, of what they cover, intersection over union (mask), F1 of boxes that
            overlap by half (parts).
        max_error: share of wrong rows that a stratum may have at most, with `confidence`.
        targets: the same for single strata, where it differs: (stratum, share).
        planned_errors: wrong rows that the sample of a stratum may hold and still show `max_error`.
        judges: how many people judge an item that several judge; `overlap`: the share of such items.
        min_agreement: lowest Krippendorff alpha between people.
        min_gold: share of gold items a person must be able to reach; below it for sure, they are to be looked at.
        severity: of a stratum that does not show its target: `block`, `drop` (its rows leave the release) or `warn`.
        wrong: severity of the rows that people found wrong.
        required: without a finished audit, a full build (not a sample) may not be released.
    """

    name: str
    question: str
    kind: AuditKind
    table: str
    sql: str
    shows: tuple[Show, ...]
    labels: tuple[str, ...] = ()
    rubric: tuple[Attribute, ...] = ()
    gold_sql: str = ""
    golds: int = 0
    show_answer: bool = False
    tolerance: float = 1.0
    unit: Literal["word", "character"] = "word"
    max_error: float = 0.05
    targets: tuple[tuple[str, float], ...] = ()
    confidence: float = 0.95
    planned_errors: int = 0
    judges: int = 2
    overlap: float = 0.2
    min_agreement: float | None = None
    min_gold: float = 0.8
    severity: Literal["block", "drop", "warn"] = "block"
    wrong: Literal["block", "drop", "warn", "info"] = "warn"
    required: bool = False
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wants = {"choice": 2, "spans": 1, "mask": 1, "parts": 1}.get(self.kind, 0)
        if len(set(self.labels)) != len(self.labels) or len(self.labels) < wants:
            raise GoldsmithError(f"[audit {self.name} > labels] a {self.kind} needs {wants} or more, each once")
        if (self.kind == "rubric") != bool(self.rubric):
            raise GoldsmithError(f"[audit {self.name} > rubric] attributes belong to kind `rubric`, and it needs some")
        if len(self.shows) < (2 if self.kind == "pair" else 1):
            raise GoldsmithError(f"[audit {self.name} > shows] people must see what they judge: name its column")
        medium = {"transcription": "audio", "mask": "image", "parts": "image"}.get(self.kind)
        if self.kind == "spans" or any(attribute.evidence for attribute in self.rubric):
            medium = "text"
        if medium and self.shows[0].medium != medium:
            raise GoldsmithError(f"[audit {self.name} > shows] of a {self.kind} the first must be {medium}")
        shares = [self.max_error, self.confidence, *(share for _, share in self.targets)]
        if not all(0 < share < 1 for share in shares) or not 0 <= self.overlap <= 1 or not 0 <= self.tolerance <= 1:
            raise GoldsmithError(f"[audit {self.name}] max_error, targets and confidence lie between 0 and 1")

    def target(self, stratum: str) -> float:
        """The share of wrong rows that `stratum` may have at most."""
        return dict(self.targets).get(stratum, self.max_error)

    @property
    def votes(self) -> tuple[str, ...]:
        """The closed set of answers, empty for kinds that have none."""
        return {"choice": self.labels, "pair": PAIR_LABELS}.get(self.kind, ())
