"""What audits found, as results of `goldsmith check`: the gate, waivers and cards then treat them as any other check.

An audit speaks for rows, not for files. Its population file has a fingerprint of each row as people saw it, and here
the audit's SQL runs again on the data as they are: rows that changed or are new since are not covered, and a stratum
that has any fails. Rows that have left since (a `drop` check) do not spoil the bound: of the wrong rows that the whole
lot can have, only those that were found and are gone are taken off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quality.annotation.flags import misread
from quality.annotation.population import population
from quality.annotation.released import read_report
from quality.ledger import Ledger
from quality.own import missing
from schemas import Audit, Check, Figure, GoldsmithError, sql

FOLDER = "audit"


def check_audits(ledger: Ledger, audits: Sequence[Audit]) -> None:
    """Add the results of every audit that the dataset declares.

    Raises:
        GoldsmithError: an audit's files cannot be read, or its SQL does not run.
    """
    session = ledger.session
    there = {path.name for path in (session.folder.path / FOLDER).glob("*") if path.is_dir()}
    if stray := sorted(there - {audit.name for audit in audits}):
        raise GoldsmithError(f"[{FOLDER}/{stray[0]}] is no audit that the dataset declares: take it out of the folder")
    for audit in audits:
        if absent := missing(session, (audit.table, *audit.needs)):
            ledger.skip(_bound_figure(audit), f"the dataset has no {', '.join(absent)}")
        elif audit.name in there:
            _check_audit(ledger, audit, session.folder.path / FOLDER / audit.name)
        elif audit.required and not session.folder.build["sample"]:
            ledger.listed(_bound_figure_as_check(audit), [(audit.table, "was never audited")])
        else:
            ledger.skip(_bound_figure(audit), "people have not audited it")


def _check_audit(ledger: Ledger, audit: Audit, folder: Path) -> None:
    report = read_report(audit, folder)
    _compare(ledger, audit, folder)
    con = ledger.session.con
    measured = []
    failing = []
    for stratum in report["strata"]:
        name, target = stratum["stratum"], audit.target(stratum["stratum"])
        rows, uncovered, gone_wrong = con.execute(
            """SELECT count(*) FILTER (now_id IS NOT NULL), count(*) FILTER (now_id IS NOT NULL AND NOT covered),
            count(*) FILTER (now_id IS NULL AND state = 'wrong') FROM _audit WHERE stratum = ?""",
            [name],
        ).fetchall()[0]
        if not rows:
            continue
        upper = 1.0 if uncovered else min(1.0, max(0, stratum["most_wrong"] - gone_wrong) / rows)
        said = f"{uncovered:,} rows are new or changed since the audit" if uncovered else _said(stratum, audit)
        measured.append((name, upper, said, None, target))
        if upper > target:
            failing.append(name)
    new = con.execute(
        "SELECT DISTINCT stratum FROM _audit WHERE stratum NOT IN (SELECT unnest(?)) AND now_id IS NOT NULL ORDER BY 1",
        [[stratum["stratum"] for stratum in report["strata"]]],
    ).fetchall()
    if report["strata"]:  # an audit of agreement alone has none
        measured += [(name, 1.0, "a stratum that was not audited", None, audit.target(name)) for (name,) in new]
        failing += [name for (name,) in new]
        ledger.measured(_bound_figure(audit), measured)
    if audit.severity == "drop":
        names = sql.literals(failing) if failing else "NULL"
        ledger.check(
            _strata_check(audit),
            f"SELECT now_id AS id, 'stratum ' || stratum || ' does not show its target' AS message FROM _audit "
            f"WHERE now_id IS NOT NULL AND stratum IN ({names})",
        )
    ledger.check(
        _wrong_check(audit),
        "SELECT now_id AS id, CASE WHEN label IS NULL THEN 'people found it wrong' ELSE 'people say ' || label END || "
        "format(' ({:.0f} % sure)', 100 * confidence) AS message FROM _audit WHERE state = 'wrong' AND covered",
    )
    if audit.min_agreement is not None:
        alpha = report["agreement"]["alpha"]
        ledger.measured(_agreement_figure(audit), [("all", -1.0 if alpha is None else alpha, None, None, None)])
    if audit.gold_sql and not audit.votes:
        why = misread(audit, [(one["gold"], one["gold_right"]) for one in report["annotators"]])
        ledger.listed(_gold_check(audit), [(audit.table, why)] if why else [])
    ledger.listed(
        _people_check(audit), [(flag["person"], f"{flag['code']}: {flag['message']}") for flag in report["flags"]]
    )
    con.execute("DROP TABLE _audit")


def _compare(ledger: Ledger, audit: Audit, folder: Path) -> None:
    """Table `_audit`: every row that the audit spoke for or that is there now.

    `now_id` is null where the row is gone; `covered` where people's sample speaks for it as it is.
    """
    con = ledger.session.con
    con.register("_now", population(ledger.session, audit))
    then, labels = (sql.scan([folder / f"{name}.parquet"]) for name in ("population", "labels"))
    con.execute(f"""
        CREATE OR REPLACE TABLE _audit AS
        SELECT n.item_id AS now_id, coalesce(n.stratum, t.stratum) AS stratum,
            coalesce(n.fingerprint = t.fingerprint AND n.stratum = t.stratum, false) AS covered,
            l.state, l.label, l.confidence
        FROM _now n FULL JOIN {then} t USING (item_id)
        LEFT JOIN {labels} l ON l.item_id = coalesce(n.item_id, t.item_id)
    """)
    con.unregister("_now")


def _said(stratum: Mapping[str, Any], audit: Audit) -> str:
    wrong = stratum["against"]
    return (
        f"{wrong} of {stratum['sample']} sampled rows count as wrong, so up to {stratum['most_wrong']:,} of "
        f"{stratum['lot']:,} may be ({audit.confidence:.0%} confidence)"
    )


def _bound_figure(audit: Audit) -> Figure:
    return Figure(
        f"audit.{audit.name}",
        f"People looked at a sample of {audit.table}: the share of wrong rows that a stratum can have at most",
        "warn" if audit.severity == "drop" else audit.severity,
        audit.table,
        f"-- not SQL: audit/{audit.name}/report.json, for the rows of\n{audit.sql.strip()}",
        high=audit.max_error,
        unit="share",
        advice="Mend the rows of the stratum and audit it again, or judge a larger sample.",
    )


def _bound_figure_as_check(audit: Audit) -> Check:
    figure = _bound_figure(audit)
    return Check(figure.name, figure.meaning, "block", audit.table, figure.sql, advice="Run `goldsmith audit plan`.")


def _strata_check(audit: Audit) -> Check:
    return Check(
        f"audit.{audit.name}.strata",
        "Rows of strata for which people's sample does not show the target",
        "drop",
        audit.table,
        f"-- not SQL: the strata of audit/{audit.name}/report.json above their target",
    )


def _wrong_check(audit: Audit) -> Check:
    return Check(
        f"audit.{audit.name}.wrong",
        f"Rows that people found wrong: {audit.question}",
        audit.wrong,
        audit.table,
        f"-- not SQL: audit/{audit.name}/labels.parquet, state 'wrong'",
        advice="Mend them; a bound for the other rows does not follow from that.",
    )


def _agreement_figure(audit: Audit) -> Figure:
    return Figure(
        f"audit.{audit.name}.agreement",
        "Krippendorff's alpha between the people who judged",
        "block" if audit.severity == "block" else "warn",
        audit.table,
        f"-- not SQL: audit/{audit.name}/report.json",
        low=audit.min_agreement,
        advice="Sharpen the question and the guidelines; people who guess are named on the audit's page.",
    )


def _gold_check(audit: Audit) -> Check:
    return Check(
        f"audit.{audit.name}.gold",
        "Somebody passes the gold items, so that what people say of the rows can be rested on",
        "block" if audit.severity == "block" else "warn",
        audit.table,
        f"-- not SQL: audit/{audit.name}/report.json, annotators",
        advice="Look at the answers to the gold items: mend them, the question or the tolerance, and audit it again.",
    )


def _people_check(audit: Audit) -> Check:
    return Check(
        f"audit.{audit.name}.annotators",
        "People whose answers should be looked at (under pseudonyms)",
        "warn",
        audit.table,
        f"-- not SQL: audit/{audit.name}/report.json, flags",
        advice="Look at their answers before resting on them.",
    )
