"""The tables that all statistics of an audit read: one row for each answer, with what it can be compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from quality.annotation import kinds
from quality.annotation.consensus import Consensus, dawid_skene, first_best
from quality.annotation.judgements import Judgement
from quality.annotation.work import Item, Plan
from schemas import Audit

RIGHT, WRONG = "right", "wrong"

_JUDGED = pa.schema(
    [(name, pa.string()) for name in ("item", "item_id", "stratum", "annotator", "label", "other")]
    + [("position", pa.int32()), ("place", pa.int64()), ("seconds", pa.float64()), ("gold", pa.bool_())]
    + [("score", pa.float64()), ("side", pa.string()), ("similarity", pa.float64()), ("made_by", pa.string())]
)


@dataclass(frozen=True)
class Votes:
    """All answers in DuckDB: `judged` (see `quality.annotation.people`) and the view `votes` of the sample.

    Attributes:
        labels: what can be voted: the labels of the audit, or `right` and `wrong` (the dataset's answer is).
        said: what all people together say of an item: the label and how likely it is.
    """

    con: duckdb.DuckDBPyConnection
    labels: tuple[str, ...]
    said: Mapping[str, tuple[str, float]]


def labels_of(audit: Audit) -> tuple[str, ...]:
    """What one answer says, for counting."""
    return audit.votes or (RIGHT, WRONG)


def count(plan: Plan, judgements: Sequence[Judgement]) -> Votes:
    """Put the judgements into DuckDB. Answers of one kind of thing only: a label each."""
    audit, items = plan.audit, plan.by_key()
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    places: dict[tuple[str, str], int] = {}
    by_person: dict[str, list[Judgement]] = defaultdict(list)
    for one in judgements:
        by_item[one.key].append(one)
        by_person[one.person].append(one)
    for person, own in by_person.items():
        sheet = {item.key: number for number, item in enumerate(plan.sheet(person))}
        ordered = sorted(own, key=lambda one: (one.at, sheet[one.key]))
        places |= {(person, one.key): number for number, one in enumerate(ordered)}
    labels = labels_of(audit)
    rows = []
    for key, answers in sorted(by_item.items()):
        item = items[key]
        alike = kinds.similarities(audit, [one.answer for one in answers])
        for index, one in enumerate(answers):
            others = [alike[index][other] for other in range(len(answers)) if other != index]
            rows.append(_row(plan, item, one, others, labels, places[one.person, key]))
    voted = [row for row in rows if row["label"]]
    fitted = dawid_skene([(row["item"], row["annotator"], row["label"]) for row in voted], labels, known(plan))
    said = {key: fitted.label(index) for index, key in enumerate(fitted.items)}
    _compare(voted, fitted, known(plan))
    con = duckdb.connect(config={"threads": 2})
    con.register("_rows", pa.Table.from_pylist(rows, _JUDGED))
    con.execute("CREATE TABLE judged AS FROM _rows")
    con.execute(
        "CREATE VIEW votes AS SELECT item, annotator, label, position, stratum FROM judged "
        "WHERE NOT gold AND label <> ''"
    )
    return Votes(con, labels, said)


def _compare(voted: Sequence[dict[str, Any]], fitted: Consensus, truths: Mapping[str, str]) -> None:
    """What each answer is compared with: the known label of a gold item, else what all the others together say.

    The others count by how far they are to be trusted, so that one who errs does not spoil the score of the rest.
    """
    for number, row in enumerate(voted):
        if row["gold"]:
            row["other"] = truths[row["item"]]
        elif row["score"] is not None:  # others judged it, too
            others = fitted.others[number]
            row["other"] = fitted.labels[first_best(others)]
            row["score"] = float(others[row["position"]])


def _row(
    plan: Plan, item: Item, one: Judgement, others: Sequence[float], labels: Sequence[str], place: int
) -> dict[str, Any]:
    audit, gold = plan.audit, item.role == "gold"
    alike = kinds.similarity(audit, one.answer, item.answer) if item.answer is not None else None
    if audit.votes:
        label = one.answer["label"]
    else:  # without an answer of the dataset there is nothing to be right or wrong about
        label = "" if alike is None else RIGHT if alike >= audit.tolerance - 1e-9 else WRONG
    score = alike if gold else sum(others) / len(others) if others else None
    return {
        "item": item.key,
        "item_id": item.item_id,
        "stratum": item.stratum,
        "annotator": one.person,
        "label": label,
        "other": None,
        "position": labels.index(label) if label else -1,
        "place": place,
        "seconds": one.seconds,
        "gold": gold,
        "score": score,
        "side": _side(audit, one, item),
        "similarity": alike,
        "made_by": item.made_by,
    }


def _side(audit: Audit, one: Judgement, item: Item) -> str | None:
    if audit.kind != "pair" or one.answer["label"] == "tie":
        return None
    return "A" if (one.answer["label"] == "first") != item.swapped(one.person) else "B"


def known(plan: Plan) -> Mapping[str, str]:
    """The true label of gold items, by key."""
    if not plan.audit.votes:
        return {item.key: RIGHT for item in plan.items if item.role == "gold"}
    return {item.key: item.answer["label"] for item in plan.items if item.role == "gold" and item.answer}
