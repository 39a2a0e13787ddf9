"""Runs all checks over a dataset folder and writes quality/findings.parquet and quality/report.json.

What SQL can read is said in `quality.connect`; what a check is, in `schemas.checks`. This module knows only the order.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import duckdb
import pyarrow as pa

from quality import drift, files, profile
from quality.annotation.findings import check_audits
from quality.connect import add_views, opened
from quality.ledger import Ledger, beside
from quality.links import check_accounting, check_lineage, check_references, check_rows
from quality.near.rows import Other, refuse_repeated
from quality.own import OwnChecks, add_own_views
from quality.results import Report
from quality.scan import check_constraints
from quality.unique import check_duplicates, check_keys, content_columns
from schemas import CheckSet, DatasetFolder, GoldsmithError, Table, Unique
from schemas.files import replace_text
from schemas.parquet import Written

GROUPS = (
    "files",
    "constraints",
    "keys",
    "references",
    "duplicates",
    "lineage",
    "profile",
    "drift",
    "own",
)
"""The groups of checks in the order they run. `own` are the dataset's."""


def check(
    folder: DatasetFolder,
    checks: CheckSet,
    *,
    previous: DatasetFolder | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    groups: Collection[str] = GROUPS,
    against: Sequence[Other] = (),
) -> Report:
    """Check a dataset folder, and write what was found into its `quality/`.

    Args:
        previous: an earlier release to compare with.
        memory_limit: as in `quality.connect.opened`.
        threads: of DuckDB; all cores if not given.
        groups: some of `GROUPS`. A partial run vouches for no file, so that no release can rest on it.
        against: other datasets and evaluation sets in which the rows of each `Alike` are looked for.

    Raises:
        GoldsmithError: the folder is no dataset, `previous` is of another, two of `against` have one name, or SQL of a
            check does not run. Data that fails raises nothing.
    """
    unknown = sorted(set(groups) - set(GROUPS))
    if unknown:
        raise GoldsmithError(f"[check > groups] there is no {', '.join(unknown)}: choose from {', '.join(GROUPS)}")
    refuse_repeated(against)
    if previous is not None:
        folder.refuse_other(previous)
    found = files.examine(folder, hashes="files" in groups)
    with opened(folder, previous, memory_limit=memory_limit, threads=threads) as session:
        add_views(session, found.unreadable)
        ledger = Ledger(session)
        _files(ledger, found, "files" in groups)
        _constraints(ledger, groups, checks)
        measured = _side_by_side(ledger, groups, checks, against) if "own" in groups else _shared(ledger, groups)
        written = _write_findings(folder, ledger)
    build = folder.build
    report = Report(
        dataset=folder.schema.name,
        title=folder.schema.title,
        version=build["version"],
        groups=tuple(group for group in GROUPS if group in groups),
        results=tuple(ledger.results),
        files=found.hashes if set(groups) == set(GROUPS) else {},
        findings={"rows": written.rows, "sha256": written.sha256},
        profile={name: table.to_json() for name, table in measured.items()},
        accounting=list(build["accounting"]),
        sources=list(build["sources"]),
        tools={"python": platform.python_version(), "duckdb": duckdb.__version__, "pyarrow": pa.__version__},
    )
    text = json.dumps(report.to_json(), ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    replace_text(folder.report_json, text + "\n")
    return report


def _files(ledger: Ledger, found: files.Files, hashed: bool) -> None:
    ledger.listed(files.PRESENT, found.absent)
    ledger.listed(files.READABLE, found.broken)
    if hashed:
        ledger.listed(files.UNCHANGED, found.changed)


def _constraints(ledger: Ledger, groups: Collection[str], own: CheckSet) -> None:
    """Run the constraints of all tables, which later groups profit from: see `_hashed`."""
    if "constraints" in groups:
        check_rows(ledger, ledger.session.dataset.tables[0])
        for table in ledger.session.dataset.tables:
            ids = "lineage" in groups and not table.derived
            check_constraints(ledger, table, _hashed(table, groups, own), ids=ids)


def _side_by_side(
    ledger: Ledger, groups: Collection[str], checks: CheckSet, against: Sequence[Other]
) -> dict[str, profile.TableProfile]:
    """Run the dataset's own checks beside the shared ones, for most queries are small and leave a core idle; where the
    shared ones end first, this thread helps with what is left."""
    viewed = Event()
    left = OwnChecks(checks, against)
    with beside(ledger, "own") as own, ThreadPoolExecutor(1) as lane:
        done = lane.submit(_own, own, checks, left, viewed)
        try:
            measured = _shared(ledger, groups)
            viewed.wait()
            with beside(own, "more") as more:
                also = left.run(more)
                ledger.append((own, done.result()), (more, also))
        except BaseException:
            left.forget()
            own.session.con.interrupt()  # else its query would be waited for
            raise
    left.refuse_unmatched()
    check_audits(ledger, checks.audits)
    return measured


def _own(ledger: Ledger, checks: CheckSet, left: OwnChecks, viewed: Event) -> list[int]:
    """Make the dataset's views, and run its checks; see `OwnChecks.run`."""
    try:
        add_own_views(ledger.session, checks.views)
    finally:
        viewed.set()
    return left.run(ledger)


def _shared(ledger: Ledger, groups: Collection[str]) -> dict[str, profile.TableProfile]:
    """Run the checks that every dataset has, but for constraints, table by table within a group."""
    session = ledger.session
    by_table = {
        "keys": check_keys,
        "references": check_references,
        "duplicates": check_duplicates,
        "lineage": check_lineage,
    }
    for group, run in by_table.items():
        if group in groups:
            for table in session.dataset.tables:
                if not (table.derived and group in ("duplicates", "lineage")):  # Sums repeat, and come from no record.
                    run(ledger, table)
    if "lineage" in groups:
        check_accounting(ledger)
    measured: dict[str, profile.TableProfile] = {}
    if "profile" in groups:
        for table in session.dataset.tables:
            measured[table.name] = profile.check_profile(ledger, table)
    if "drift" in groups and session.previous is None:
        drift.skip_drift(ledger)
    elif "drift" in groups:
        for table in session.dataset.tables:
            drift.check_drift(ledger, table)
    return measured


def _hashed(table: Table, groups: Collection[str], own: CheckSet) -> list[tuple[str, ...]]:
    """The columns that later groups look for repeats in, the dearest to read first."""
    hashed: list[tuple[str, ...]] = []
    if "duplicates" in groups and not table.derived:
        hashed += [columns] if (columns := content_columns(table)) else []
    if "own" in groups:
        hashed += [check.columns for check in own.checks if isinstance(check, Unique) and check.table == table.name]
    if "keys" in groups:
        hashed.append(table.key)
    return hashed


def _write_findings(folder: DatasetFolder, ledger: Ledger) -> Written:
    """Write the findings. Earlier reports go first: a report on disk always belongs to the findings beside it."""
    folder.findings.parent.mkdir(exist_ok=True)
    for stale in (folder.report_json, folder.report_html):
        stale.unlink(missing_ok=True)
    return ledger.write(folder.findings)
