"""Counts an audit: what people say of every sampled row, the bound of every stratum, agreement, and who to look at."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import duckdb

from quality.annotation import kinds, rubric
from quality.annotation.agreement import Agreement, agreement, cohen
from quality.annotation.bounds import clopper_pearson, most_wrong
from quality.annotation.count import RIGHT, WRONG, Votes, count
from quality.annotation.flags import flags
from quality.annotation.judgements import Judgement
from quality.annotation.people import people
from quality.annotation.result import AuditReport, Bound, Found
from quality.annotation.work import Item, Plan, Work
from schemas import GoldsmithError

SURE = 0.8
"""A row whose label is less likely than this counts as wrong for the bound, and is to be looked at."""


def report(work: Work) -> AuditReport:
    """Count what was fetched.

    Raises:
        GoldsmithError: nothing was fetched.
    """
    plan = work.plan()
    judgements = [Judgement(**line) for line in work.lines("judgements.jsonl")]
    if not judgements:
        raise GoldsmithError(f"[{work.path}] holds no judgement: run `goldsmith audit pull`")
    votes = count(plan, judgements)
    try:
        return _report(plan, judgements, votes, work.lines("problems.jsonl"))
    finally:
        votes.con.close()


def _report(
    plan: Plan, judgements: Sequence[Judgement], votes: Votes, problems: Sequence[Mapping[str, Any]]
) -> AuditReport:
    audit, con = plan.audit, votes.con
    found = _found(plan, judgements, votes)
    overall = agreement(con, categories=len(votes.labels))
    persons = people(con, tolerance=audit.tolerance)
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for problem in problems:
        counted[problem["code"]][problem["person"] or "?"] += 1
    alike = [one.agreement for one in found if one.agreement is not None]
    return AuditReport(
        plan=plan,
        found=found,
        bounds=[] if all(one.item.answer is None for one in found) else _bounds(plan, found),
        agreement=overall,
        similarity=sum(alike) / len(alike) if alike else math.nan,
        by_stratum=_by_stratum(plan, con, len(votes.labels)),
        attributes=rubric.attributes(plan, judgements),
        gamma=rubric.spans_gamma(plan, judgements),
        people=persons,
        flags=flags(con, persons, min_gold=audit.min_gold),
        pairs=[asdict(pair) for pair in cohen(con)],
        against_dataset=_against_dataset(plan, found),
        makers=_makers(found),
        problems={code: dict(sorted(by.items())) for code, by in sorted(counted.items())},
    )


def _found(plan: Plan, judgements: Sequence[Judgement], votes: Votes) -> list[Found]:
    answers: dict[str, list[kinds.Answer]] = defaultdict(list)
    for one in sorted(judgements, key=lambda one: one.person):
        answers[one.key].append(one.answer)
    return [
        _of_item(plan, item, answers.get(item.key, []), votes.said.get(item.key))
        for item in sorted(plan.items, key=lambda item: item.item_id)
        if item.role == "sample"
    ]


def _of_item(plan: Plan, item: Item, answers: Sequence[kinds.Answer], said: tuple[str, float] | None) -> Found:
    alike = None
    if len(answers) > 1:
        table = kinds.similarities(plan.audit, answers)
        alike = (sum(map(sum, table)) - len(answers)) / (len(answers) * (len(answers) - 1))
    if not answers:
        return Found(item, 0, "unjudged", None, None, None)
    label, confidence = said or (None, None)
    closed = label if plan.audit.votes else None
    if item.answer is None or label is None or confidence is None:
        return Found(item, len(answers), "judged", closed, confidence, alike)
    right = label == (item.answer["label"] if plan.audit.votes else RIGHT)
    state = "unsure" if confidence < SURE else RIGHT if right else WRONG
    return Found(item, len(answers), state, closed, confidence, alike)


def _bounds(plan: Plan, found: Sequence[Found]) -> list[Bound]:
    by_stratum: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        by_stratum[one.item.stratum][one.state] += 1
    bounds = []
    for stratum in plan.strata:
        states = by_stratum[stratum.name]
        wrong, unsure, unjudged = states[WRONG], states["unsure"], states["unjudged"]
        against = wrong + unsure + unjudged
        most = most_wrong(against, stratum.sample, stratum.lot, plan.audit.confidence)
        judged = stratum.sample - unjudged
        low, high = clopper_pearson(wrong + unsure, judged, plan.audit.confidence)
        bounds.append(
            Bound(stratum.name, stratum.lot, stratum.sample, judged, wrong, unsure, against, most,
                  most / stratum.lot, stratum.target, low, high)
        )  # fmt: skip
    return bounds


def _by_stratum(plan: Plan, con: duckdb.DuckDBPyConnection, categories: int) -> dict[str, Agreement]:
    if len(plan.strata) < 2:
        return {}
    con.execute("CREATE TABLE _all AS FROM votes")
    con.execute("DROP VIEW votes")
    found = {}
    try:
        for stratum in plan.strata:
            con.execute("CREATE OR REPLACE TABLE votes AS SELECT * FROM _all WHERE stratum = ?", [stratum.name])
            found[stratum.name] = agreement(con, categories=categories)
    finally:
        con.execute("CREATE OR REPLACE TABLE votes AS FROM _all")
    return found


def _against_dataset(plan: Plan, found: Sequence[Found]) -> dict[tuple[str, str], int]:
    if not plan.audit.votes:
        return {}
    cells = Counter(
        (one.item.answer["label"], one.label) for one in found if one.item.answer is not None and one.label is not None
    )
    return dict(sorted(cells.items()))


def _makers(found: Sequence[Found]) -> list[dict[str, Any]]:
    """Wrong rows by who made them; these shares carry their own interval, for no bound was drawn for them."""
    by: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        if one.item.made_by and one.state in (RIGHT, WRONG, "unsure"):
            by[one.item.made_by][one.state] += 1
    lines = []
    for maker, states in sorted(by.items()):
        judged = sum(states.values())
        wrong = judged - states[RIGHT]
        low, high = clopper_pearson(wrong, judged)
        lines.append({"made_by": maker, "judged": judged, "wrong": wrong, "low": low, "high": high})
    return lines
