"""The page of an audit: what it shows of the data, how far people agree, who and which rows to look at.

There are two of it: the one in the dataset folder is released and tells no name and nothing that people wrote; the one
in the folder of the audit shows both, for those who settle the disagreements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from quality.annotation import gamma, kinds
from quality.annotation.judgements import Judgement
from quality.annotation.work import Work

if TYPE_CHECKING:
    from quality.annotation.result import AuditReport, Found

_HERE = Path(__file__).parent
_STYLE = _HERE / "templates" / "audit.css"
_ROWS = 50
"""Disagreements that are listed; all are in labels.parquet."""

_CODES = {
    "answered_twice": "answered an item twice: the newest answer counts",
    "bad_mask": "brush code that cannot be read",
    "bad_span": "a span whose offsets do not fit its text: not counted",
    "deleted": "an answer that had been fetched is gone from the server",
    "edited": "an answer was changed after it had been fetched",
    "malformed": "not an answer of this kind: not counted",
    "no_answer": "an empty answer: not counted",
    "no_score": "an attribute without a score: not counted",
    "odd_seconds": "a time that is no number of seconds: the answer counts without",
    "other_author": "answered on another person's sheet: not counted",
    "other_editor": "changed by another person: not counted",
    "outside": "a box outside the picture: not counted",
    "rotated": "a rotated box: not counted",
    "several_answers": "more than one answer where one is asked: not counted",
    "skipped": "skipped",
    "task_changed": "what was shown is not what was sent: not counted",
    "task_missing": "a task is gone from the sheet",
    "task_twice": "the same task twice on a sheet: the first counts",
    "unknown_control": "an answer to something the page does not ask: not counted",
    "unknown_label": "a label that does not exist: not counted",
    "unknown_person": "somebody who is not in the plan: not counted",
    "unknown_task": "a task that is not in the plan: not counted",
    "utf16_offsets": "span offsets in UTF-16 units (an emoji before them), put right",
    "wrong_size": "a mask of another size than the picture: not counted",
    "wrong_type": "an answer of the wrong type: not counted",
}


def write(made: AuditReport, work: Work, path: Path, *, private: bool = False) -> None:
    """Write the page; `private`: with people's names and what they wrote."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"share": _share, "figure": _figure}
    page = environment.get_template("audit.html.j2").render(
        report=made,
        plan=made.plan,
        audit=made.plan.audit,
        names=dict(made.plan.people) if private else {},
        private=private,
        against=_matrix(made.against_dataset),
        confusions={person.name: _matrix(person.confusion) for person in made.people},
        problems=[
            (code, _CODES.get(code, code), sum(by.values()), by, code not in ("skipped", "utf16_offsets"))
            for code, by in made.problems.items()
        ],
        disagreements=_disagreements(made, work, private),
        shown_rows=_ROWS,
        gamma_installed=gamma.installed(),
        spark=_spark,
        style=Markup(_STYLE.read_text(encoding="utf-8")),  # noqa: S704 (our own file)
    )
    path.write_text(page, encoding="utf-8")


def _share(value: float | None) -> str:
    """A share in percent; 0 and 100 only where exact."""
    if value is None or value != value:
        return "–"
    text = f"{100 * value:.1f}"
    if text == "0.0" and value > 0:
        return "<0.1 %"
    return f"{'99.9' if text == '100.0' and value < 1 else text} %"


def _figure(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def _matrix(cells: Mapping[tuple[str, str], int]) -> dict[str, Any] | None:
    """Rows, columns, counts, and the shade (0 to 1, of the row) of each cell."""
    if not cells:
        return None
    rows, columns = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
    labels = sorted({*rows, *columns})
    sums = {row: sum(cells.get((row, column), 0) for column in labels) for row in rows}
    lines = [
        (row, [(column, n := cells.get((row, column), 0), n / sums[row] if sums[row] else 0) for column in labels])
        for row in rows
    ]
    return {"labels": labels, "lines": lines}


def _spark(windows: Sequence[float | None]) -> Markup:
    """A small line of a person's score over their answers."""
    points = [(8 + 10 * index, 26 - 22 * score) for index, score in enumerate(windows) if score is not None]
    if len(points) < 2:
        return Markup("–")
    path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
    text = "score by tenths: " + ", ".join("–" if score is None else f"{score:.0%}" for score in windows)
    return Markup(
        '<svg width="106" height="30" role="img" aria-label="{}"><title>{}</title>'
        '<line x1="4" x2="104" y1="4" y2="4" stroke="var(--line)"/><line x1="4" x2="104" y1="26" y2="26" '
        'stroke="var(--line)"/><polyline points="{}" fill="none" stroke="var(--fill)" stroke-width="2"/></svg>'
    ).format(text, text, path)


def _disagreements(made: AuditReport, work: Work, private: bool) -> list[dict[str, Any]]:
    """The rows to look at: wrong, then unsure, then judged differently; of each the least alike first."""
    answers: dict[str, list[Judgement]] = defaultdict(list)
    for line in work.lines("judgements.jsonl"):
        answers[line["key"]].append(Judgement(**line))
    chosen = [one for one in made.found if one.state in ("wrong", "unsure") or (one.agreement or 1) < 1]
    order = {"wrong": 0, "unsure": 1}
    chosen.sort(
        key=lambda one: (order.get(one.state, 2), 1 if one.agreement is None else one.agreement, one.item.item_id)
    )
    return [_line(made, one, answers[one.item.key], private) for one in chosen]


def _line(made: AuditReport, one: Found, answers: Sequence[Judgement], private: bool) -> dict[str, Any]:
    audit = made.plan.audit
    closed = bool(audit.votes) or private
    said = [
        (
            answer.person,
            kinds.shown_briefly(audit, answer.answer, one.item.text) if closed else _verdict(made, one, answer),
        )
        for answer in answers
    ]
    return {
        "found": one,
        "dataset": kinds.shown_briefly(audit, one.item.answer, one.item.text) if closed else "",
        "said": said,
        "shown": " | ".join(one.item.shown)[:300] if private else "",
    }


def _verdict(made: AuditReport, one: Found, answer: Judgement) -> str:
    if one.item.answer is None:
        return "answered"
    return f"{kinds.similarity(made.plan.audit, answer.answer, one.item.answer):.0%} like the dataset's"
