"""The gate: every reason why a dataset folder may not be released, one line each. It changes nothing.

What it holds to be true of a release: its findings are about its very bytes, nothing that stops a release failed unless
a waiver in force covers it, rows that `drop` checks named are gone, withdrawn rows stay out and their tombstones in,
its sources are the pinned ones, its documents are there, all of it may be given on, and its version is honest about
what changed: `auto` refuses where nothing did. Documents are no part of that: new ones alone take a version by name.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from releases import tombstones
from releases.damage import readable
from releases.diff import diff
from releases.difference import Difference
from releases.manifest import Bump, Waiver, read_manifest, verify_files, walk
from releases.rows import rows_text
from releases.version import FIRST, Version
from releases.waivers import FILE, OWN_SOURCE, TRAIN_TO_TEST, Waivers
from schemas import DatasetFolder, GoldsmithError, sql
from schemas.files import sha256_file

DOCUMENTS = ("README.md", "DATASHEET.md", "croissant.json", "CITATION.cff")
UNKNOWN_LICENCES = frozenset({"", "unknown", "none", "noassertion", "other"})

_BUILT = ("data", "lineage", "rejects")
_CHECKED = (*_BUILT, "audit")


@dataclass(frozen=True)
class Verdict:
    """What the gate says.

    Attributes:
        refusals: why not, one line each; empty where the release may go ahead.
        notes: what a person should know, such as a waiver that covers nothing any more.
        waived: the waivers that were needed.
        version: the version asked for, or, for `auto`, the smallest honest one.
    """

    refusals: tuple[str, ...]
    notes: tuple[str, ...]
    waived: tuple[Waiver, ...]
    version: str
    bump: Bump


def gate(
    folder: DatasetFolder,
    version: str,
    *,
    previous: DatasetFolder | None = None,
    waivers: Sequence[Waiver] = (),
    today: datetime.date | None = None,
    waivers_file: Path | None = None,
    documents: bool = True,
) -> Verdict:
    """Whether `folder` may be released as `version` (or `auto`) after the release `previous`.

    Args:
        waivers_file: where the waivers were read, for messages.
        documents: whether the documents must be there; False before they are written for this version.

    Raises:
        GoldsmithError: the folder is not built or not checked, a waiver names a check that there is not, or the
            previous release is damaged or of another dataset.
    """
    _refuse_unknown(folder, waivers, waivers_file)
    desk = Waivers(waivers, today or datetime.date.today())
    damage = stale(folder)
    refusals = [*damage, *_report(folder), *_checks(folder, desk), *_sources(folder, desk)]
    refusals += _documents(folder) if documents else []
    least, bump, difference = FIRST, Bump("first", ("the first release",)), None
    if previous:
        _refuse_damaged(previous)
        least = Version.parse(read_manifest(previous.path).version).step("patch")
    if not damage:  # Else there is no sense in reading rows.
        refusals += [*_licences(folder), *tombstones.problems(folder.path, previous.path if previous else None)]
    if previous and not damage:
        difference = diff(previous, folder)
        refusals += _moves(difference, desk)
        least = Version.parse(difference.old).step(difference.least_bump)
        bump = Bump(difference.least_bump, difference.reasons)
        if version == "auto" and not difference.changes and _audits(previous) == _audits(folder):
            text = f"nothing changed since {difference.old}: there is nothing to release"
            refusals.append(f"{text} (for other documents alone, name the version)")
    wanted = least if version == "auto" else Version.parse(version)
    if difference and wanted < least:
        reasons = "; ".join(bump.reasons[:3]) + (f" and {len(bump.reasons) - 3} more" if len(bump.reasons) > 3 else "")
        refusals.append(
            f"version {wanted} is below {least}, the smallest honest step after {difference.old}: {reasons}"
        )
    return Verdict(tuple(refusals), tuple(desk.notes()), tuple(desk.used), str(wanted), bump)


def stale(folder: DatasetFolder) -> list[str]:
    """A line for each file whose bytes are not the ones that were checked, or not the ones that were built."""
    present = {path for path in walk(folder.path) if path.split("/")[0] in _CHECKED} | {"build.json"}
    now = {path: sha256_file(folder.path / path) for path in sorted(present)}
    checked = {file["path"]: file["sha256"] for file in folder.report["files"]}
    built = {file["path"]: file["sha256"] for file in folder.build["files"]}
    lines = []
    for path in sorted(now.keys() | checked.keys() | built.keys()):
        if path not in now:
            lines.append(f"{path} is gone: build and check again")
        elif path not in checked:
            lines.append(f"{path} was never checked: run `goldsmith check`")
        elif checked[path] != now[path]:
            lines.append(f"{path} is not the file that was checked: run `goldsmith check`")
        elif path.split("/")[0] in _BUILT and built.get(path) != now[path]:
            lines.append(f"{path} is not the file that was built (build.json): build again")
    return lines


def _refuse_unknown(folder: DatasetFolder, waivers: Sequence[Waiver], file: Path | None) -> None:
    known = {(check["name"], check["table"]) for check in folder.report["checks"]}
    known |= {(TRAIN_TO_TEST, table.name) for table in folder.schema.tables}
    known |= {(OWN_SOURCE, source["name"]) for source in folder.build["sources"]}
    for waiver in waivers:
        if any(waiver.covers(*check) for check in known):
            continue
        place = f"{file or FILE} > {waiver.check}" + (f" > {waiver.table}" if waiver.table else "")
        of = "source" if waiver.check == OWN_SOURCE else "table"
        tables = sorted(table for name, table in known if name == waiver.check)
        if tables:
            text = f"is a check of {of} {', '.join(tables)}, not of {waiver.table}: correct the table or take it out"
            raise GoldsmithError(f"[{place}] {text}")
        raise GoldsmithError(f"[{place}] is no check of {folder.schema.name}: correct the name or take it out")


def _report(folder: DatasetFolder) -> Iterator[str]:
    """Whether the report says what the findings say: it is text that anybody can edit."""
    if not folder.findings.is_file():
        yield "quality/findings.parquet is missing: run `goldsmith check`"
    elif why := disagreement(folder):
        yield f"quality/report.json does not agree with findings.parquet ({why}): run `goldsmith check`"


def disagreement(folder: DatasetFolder) -> str:
    """Where quality/report.json says something else than quality/findings.parquet, and nothing where it does not."""
    if sha256_file(folder.findings) != dict(folder.report.get("findings") or {}).get("sha256"):
        return "it is about other findings"
    told: Counter[tuple[str, str, str]] = Counter()
    for check in folder.report["checks"]:
        place, failures = f"{check['name']} of {check['table']}", check["failures"]
        if (check["status"] == "failed") != bool(failures) and check["status"] != "reported":
            return f"{place} is {check['status']} with {failures:,} failures"
        told[check["name"], check["table"], check["severity"]] += failures
    found = Counter(_failures(folder.findings))
    for key in sorted(told.keys() | found.keys()):
        if told[key] != found[key]:
            return f"{key[0]} of {key[1]} ({key[2]}) has {found[key]:,} failures, the report says {told[key]:,}"
    return ""


def _failures(findings: Path) -> dict[tuple[str, str, str], int]:
    """How many findings there are of each check, table and severity."""
    query = f'SELECT "check", "table", severity, count(*) FROM {sql.scan([findings])} GROUP BY ALL'
    with readable(findings, "run `goldsmith check`"), duckdb.connect() as connection:
        rows = connection.execute(query).fetchall()
    return {(check, table, severity): count for check, table, severity, count in rows}


def _checks(folder: DatasetFolder, desk: Waivers) -> Iterator[str]:
    if not folder.report["checks"]:
        yield "quality/report.json names no check: run `goldsmith check`"
    for check in stopping(folder.report):
        name, table = check["name"], check["table"]
        if not desk.cover(name, table):
            drop = check["severity"] == "drop"
            cure = "its rows must leave the release first" if drop else "mend the data or waive it"
            yield f"check {name} of {table} failed ({check['failures']:,}): {cure}{desk.late(name, table)}"


def stopping(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The checks of a report that failed and stop a release: `block`, and `drop` while its rows are still there."""
    return [c for c in report["checks"] if c["status"] == "failed" and c["severity"] in ("block", "drop")]


def _sources(folder: DatasetFolder, desk: Waivers) -> Iterator[str]:
    """Nobody else has a file that stands in place of a pinned one, so nobody else could make the release again."""
    for source in folder.build["sources"]:
        name = source["name"]
        if source.get("override") and not desk.cover(OWN_SOURCE, name):
            text = f"source {name} is your own file in place of the pinned one: pin it in sources.toml, or waive"
            yield f"{text} {OWN_SOURCE}{desk.late(OWN_SOURCE, name)}"


def _audits(folder: DatasetFolder) -> dict[str, str]:
    return {path: sha256_file(folder.path / path) for path in walk(folder.path) if path.startswith("audit/")}


def _documents(folder: DatasetFolder) -> Iterator[str]:
    for name in DOCUMENTS:
        path = folder.path / name
        if not path.is_file() or not path.stat().st_size:
            yield f"{name} is missing: run `goldsmith card`"
    if not folder.report_html.is_file():
        yield "quality/report.html is missing: run `goldsmith check`"


def _licences(folder: DatasetFolder) -> Iterator[str]:
    sources = folder.build["sources"]
    if kept := [s["name"] for s in sources if s.get("redistribute") is not True]:
        yield f"sources {', '.join(kept)} may not be given on: build with `--redistributable`"
    if bare := [s["name"] for s in sources if str(s.get("licence") or "").strip().lower() in UNKNOWN_LICENCES]:
        yield f"sources {', '.join(bare)} have no licence: say it in sources.toml and build again"
    lines = {table.name: folder.lineage(table.name) for table in folder.schema.tables}
    found = {
        name: rows for name, path in lines.items() if path.is_file() and (rows := _rows_without_licence(path, bare))
    }
    if found:
        text = (
            f"{rows_text(sum(found.values()))} of {', '.join(found)} have no licence in lineage/, but their sources do"
        )
        yield f"{text}: build again"


def _rows_without_licence(path: Path, bare: Sequence[str]) -> int:
    """The lines of a lineage file without a licence, but for those of the sources `bare`, which can give them none."""
    query = (
        f"SELECT count(*) FROM {sql.scan([path])} WHERE coalesce(lower(trim(licence)), '') IN (SELECT unnest($unknown))"
        " AND source NOT IN (SELECT unnest($bare::VARCHAR[]))"
    )
    with readable(path), duckdb.connect() as connection:
        values = {"unknown": sorted(UNKNOWN_LICENCES), "bare": list(bare)}
        row = connection.execute(query, values).fetchone()
    return row[0] if row else 0


def _refuse_damaged(previous: DatasetFolder) -> None:
    if problems := verify_files(previous.path):
        raise GoldsmithError(f"[{previous.path}] is damaged ({problems[0]}): get the previous release again")


def _moves(difference: Difference, desk: Waivers) -> Iterator[str]:
    for change in difference.of("train to test"):
        table = change.table or ""
        if not desk.cover(TRAIN_TO_TEST, table):
            ids = ", ".join(sample.id for sample in change.samples)
            text = f"{rows_text(change.rows or 0)} of {table} moved from train to test ({ids}): put them back or waive"
            yield f"{text} {TRAIN_TO_TEST}{desk.late(TRAIN_TO_TEST, table)}"
