"""Agreement on scores and on stretches of text: each attribute of a rubric with its evidence, and gamma of spans."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import duckdb
import pyarrow as pa

from quality.annotation import gamma, spans
from quality.annotation.agreement import agreement
from quality.annotation.gamma import Marked
from quality.annotation.judgements import Judgement
from quality.annotation.spans import Span
from quality.annotation.work import Plan
from schemas import Attribute

_VOTES = pa.schema(
    [("item", pa.string()), ("annotator", pa.string()), ("label", pa.string()), ("position", pa.int32())]
)


def attributes(plan: Plan, judgements: Sequence[Judgement]) -> dict[str, dict[str, float]]:
    """Of a rubric: alpha of each attribute on its own scale, and how far the evidence goes together."""
    return {
        attribute.name: _attribute(plan, attribute, _of_sample(plan, judgements)) for attribute in plan.audit.rubric
    }


def spans_gamma(plan: Plan, judgements: Sequence[Judgement]) -> float | None:
    """Gamma of the spans; None for other kinds, and without its library."""
    if plan.audit.kind != "spans" or not gamma.installed():
        return None
    return gamma.gamma(
        _marked(plan, _of_sample(plan, judgements), lambda one: [Span(*span) for span in one.answer["spans"]])
    )


def _of_sample(plan: Plan, judgements: Sequence[Judgement]) -> list[Judgement]:
    sample = {item.key for item in plan.items if item.role == "sample"}
    return [one for one in judgements if one.key in sample]


def _attribute(plan: Plan, attribute: Attribute, judgements: Sequence[Judgement]) -> dict[str, float]:
    values = [(one, one.answer["scores"][attribute.name]) for one in judgements]
    rows = [
        {"item": one.key, "annotator": one.person, "label": value, "position": attribute.values.index(value)}
        for one, value in values
    ]
    with duckdb.connect() as con:
        con.register("votes", pa.Table.from_pylist(rows, _VOTES))
        found = agreement(con, attribute.scale, len(attribute.values))
    figures = {"alpha": found.alpha, "low": found.low, "high": found.high, "ac1": found.ac1, "raw": found.raw}
    if attribute.evidence:
        marked = _marked(plan, judgements, lambda one: _evidence(one, attribute.name))
        figures["evidence_f1"] = _mean_of_pairs(marked, spans.f1)
        figures["evidence_overlap_f1"] = _mean_of_pairs(marked, spans.token_f1)
        if gamma.installed():
            figures["evidence_gamma"] = gamma.gamma(marked)
    return figures


def _evidence(one: Judgement, attribute: str) -> list[Span]:
    return [Span(*span) for span in one.answer["evidence"] if span[2] == attribute]


def _marked(plan: Plan, judgements: Sequence[Judgement], spans_of: Callable[[Judgement], list[Span]]) -> list[Marked]:
    """What people marked in each text that somebody judged, in the order of the keys."""
    by_item: dict[str, dict[str, list[Span]]] = defaultdict(dict)
    for one in judgements:
        by_item[one.key][one.person] = spans_of(one)
    items: Mapping[str, str] = {item.key: item.text or "" for item in plan.items}
    return [Marked(len(items[key]), said) for key, said in sorted(by_item.items())]


def _mean_of_pairs(marked: Sequence[Marked], alike: Callable[[list[Span], list[Span]], float]) -> float:
    """Over all pairs of people and texts."""
    scores = []
    for one in marked:
        said = [list(found) for _, found in sorted(one.spans.items())]
        scores += [alike(a, b) for i, a in enumerate(said) for b in said[i + 1 :]]
    return sum(scores) / len(scores) if scores else math.nan
