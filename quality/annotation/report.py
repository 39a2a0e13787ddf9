"""Counts an audit, and writes `audit/<name>/` in the dataset folder: what is published with a release, and what
`goldsmith check` makes its findings of.

    design.json          the question, how the sample was drawn, of which bytes, and how much people saw
    population.parquet   the rows it speaks for (`quality.annotation.population`)
    judgements.parquet   one line an answer, under pseudonyms
    labels.parquet       one line a sampled row: what people found
    report.json, report.html

No name, no address, no text that people wrote, no time of day and no sign of which items were gold leaves the folder of
the audit.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from quality.annotation import kinds, spans
from quality.annotation.agreement import Agreement, agreement, cohen
from quality.annotation.bounds import clopper_pearson, most_wrong
from quality.annotation.count import RIGHT, WRONG, Votes, count
from quality.annotation.judgements import Judgement
from quality.annotation.people import Flag, Person, flags, people
from quality.annotation.work import Item, Plan, Work
from schemas import DatasetFolder, GoldsmithError

FORMAT = 1
SURE = 0.8
"""A row whose label is less likely than this counts as wrong for the bound, and is to be looked at."""

LABELS = pa.schema(
    [
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("stratum", pa.string(), nullable=False),
        pa.field("judges", pa.int32(), nullable=False),
        pa.field("state", pa.string(), nullable=False),
        pa.field("label", pa.string()),
        pa.field("confidence", pa.float64()),
        pa.field("agreement", pa.float64()),
    ]
)
"""`state`: right, wrong, unsure or unjudged (the last two count as wrong in the bound); `judged` where the dataset has
no answer of its own. `label`: what people say, for kinds with labels. `agreement`: how alike the answers are."""

JUDGEMENTS = pa.schema(
    [
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("annotator", pa.string(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),
        pa.field("label", pa.string()),
        pa.field("similarity", pa.float64()),
        pa.field("seconds", pa.float64()),
    ]
)


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
    """All that is counted; `problems`: how many of which code, and by whom."""

    plan: Plan
    found: Sequence[Found]
    bounds: Sequence[Bound]
    agreement: Agreement
    similarity: float
    by_stratum: Mapping[str, Agreement]
    attributes: Mapping[str, Mapping[str, float]]
    people: Sequence[Person]
    flags: Sequence[Flag]
    pairs: Sequence[Mapping[str, Any]]
    against_dataset: Mapping[tuple[str, str], int]
    makers: Sequence[Mapping[str, Any]]
    problems: Mapping[str, Mapping[str, int]]

    @property
    def passed(self) -> bool:
        """Whether every stratum shows its target and people agree enough."""
        return all(bound.shown for bound in self.bounds) and self.agrees

    def lines(self) -> list[str]:
        """What was found, for a terminal."""
        lines = [
            f"{one.stratum}: {one.wrong} wrong and {one.against - one.wrong} unsure or unjudged of {one.sample}; "
            f"at most {one.upper:.1%} of {one.lot:,} rows are wrong, target {one.target:.1%}: "
            f"{'shown' if one.shown else 'NOT shown'}"
            for one in self.bounds
        ]
        one = self.agreement
        lines.append(f"agreement: raw {one.raw:.2f}, alpha {one.alpha:.2f}, kappa {one.kappa:.2f}, AC1 {one.ac1:.2f}")
        return lines + [f"look at {flag.person}: {flag.code}, {flag.message}" for flag in self.flags]

    @property
    def agrees(self) -> bool:
        """Whether people agree as much as the audit asks; not where nothing was judged by two."""
        least = self.plan.audit.min_agreement
        return least is None or self.agreement.alpha >= least


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
        attributes=_attributes(plan, judgements),
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


def _attributes(plan: Plan, judgements: Sequence[Judgement]) -> dict[str, dict[str, float]]:
    """Of a rubric: alpha of each attribute on its own scale, and how far the evidence goes together."""
    sample = {item.key for item in plan.items if item.role == "sample"}
    found = {}
    for attribute in plan.audit.rubric:
        rows, evidence = [], defaultdict(list)
        for one in judgements:
            if one.key in sample:
                value = one.answer["scores"][attribute.name]
                rows.append((one.key, one.person, value, attribute.values.index(value)))
                evidence[one.key].append(
                    [spans.Span(*span) for span in one.answer["evidence"] if span[2] == attribute.name]
                )
        with duckdb.connect() as con:
            columns = dict(
                zip(("item", "annotator", "label", "position"), map(list, zip(*rows, strict=True)), strict=True)
            )
            con.register("_rows", pa.table(columns))
            con.execute("CREATE TABLE votes AS FROM _rows")
            one = agreement(con, attribute.scale, len(attribute.values))
        figures = {"alpha": one.alpha, "low": one.low, "high": one.high, "ac1": one.ac1, "raw": one.raw}
        if attribute.evidence:
            figures["evidence_f1"] = _mean_pairs(list(evidence.values()), spans.f1)
            figures["evidence_overlap_f1"] = _mean_pairs(list(evidence.values()), spans.token_f1)
        found[attribute.name] = figures
    return found


def _mean_pairs(groups: Sequence[Sequence[Any]], alike: Any) -> float:
    scores = [alike(a, b) for group in groups for i, a in enumerate(group) for b in group[i + 1 :]]
    return sum(scores) / len(scores) if scores else math.nan


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


def write(folder: DatasetFolder, work: Work) -> AuditReport:
    """Count the audit and replace `audit/<name>/` in the dataset folder.

    Raises:
        GoldsmithError: the folder holds other bytes than the sample was drawn from, or nothing was fetched.
    """
    from quality.annotation import report_html

    made = report(work)
    plan = made.plan
    files = {file["path"]: file["sha256"] for file in folder.build["files"] if file["path"].startswith("data/")}
    if folder.schema.name != plan.dataset or files != plan.files:
        raise GoldsmithError(f"[{folder.path}] is not what this audit was drawn from: plan it again on these data")
    out = folder.path / "audit" / plan.audit.name
    partial = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        shutil.copy(work.population, partial / "population.parquet")
        pq.write_table(_labels(made), partial / "labels.parquet", compression="zstd")
        pq.write_table(_judgements(plan, work), partial / "judgements.parquet", compression="zstd")
        _json(partial / "design.json", _design(plan))
        _json(partial / "report.json", to_json(made))
        report_html.write(made, work, partial / "report.html")
        shutil.rmtree(out, ignore_errors=True)
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return made


def _labels(made: AuditReport) -> pa.Table:
    rows = [
        {
            "item_id": one.item.item_id,
            "stratum": one.item.stratum,
            "judges": one.judges,
            "state": one.state,
            "label": one.label,
            "confidence": one.confidence,
            "agreement": one.agreement,
        }
        for one in made.found
    ]
    return pa.Table.from_pylist(rows, LABELS)


def _judgements(plan: Plan, work: Work) -> pa.Table:
    """The answers to sampled rows. Gold items stay unknown, so that they can be used again."""
    votes = count(plan, [Judgement(**line) for line in work.lines("judgements.jsonl")])
    try:
        rows = votes.con.sql(
            "SELECT item_id, annotator, row_number() OVER (PARTITION BY annotator ORDER BY place) AS place, "
            "nullif(label, '') AS label, similarity, round(seconds, 1) AS seconds "
            "FROM judged WHERE NOT gold ORDER BY item_id, annotator"
        ).to_arrow_table()
    finally:
        votes.con.close()
    return rows.cast(JUDGEMENTS)


def _design(plan: Plan) -> dict[str, Any]:
    audit = asdict(plan.audit)
    del audit["gold_sql"]
    people_of = Counter(len(item.people) for item in plan.items if item.role == "sample")
    return {
        "format": FORMAT,
        "dataset": plan.dataset,
        "audit": audit,
        "seed": plan.seed,
        "files": dict(sorted(plan.files.items())),
        "strata": [asdict(stratum) for stratum in plan.strata],
        "annotators": sorted(plan.people),
        "items_by_judges": {str(n): items for n, items in sorted(people_of.items())},
        "gold_items": sum(item.role == "gold" for item in plan.items),
        "rules": {
            "sample": "simple random within each stratum, drawn after the data were closed, seeded by their bytes",
            "label": "Dawid-Skene over all answers, gold items known; ties go to the label declared first",
            "unsure": f"less likely than {SURE:g}: counts as wrong, as an unjudged row does",
            "bound": "hypergeometric, exact, one-sided, by stratum",
        },
    }


def to_json(made: AuditReport) -> dict[str, Any]:
    """The plain form, without names."""
    return _finite(
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


def _finite(form: Any) -> Any:
    """JSON has no NaN: nothing to say is null."""
    if isinstance(form, float):
        return round(form, 12) if math.isfinite(form) else None
    if isinstance(form, Mapping):
        return {key: _finite(value) for key, value in form.items()}
    if isinstance(form, list | tuple):
        return [_finite(value) for value in form]
    return form


def _json(path: Path, form: Any) -> None:
    text = json.dumps(form, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
