"""The gate: every reason why a dataset folder may not be released, one line each. It changes nothing.

What it holds to be true of a release: its findings are about its very bytes, nothing that stops a release failed unless
a waiver in force covers it, rows that `drop` checks named are gone, its documents are there, all of it may be given on,
and its version is honest about what changed.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from releases.diff import diff
from releases.difference import Difference
from releases.manifest import Bump, Waiver, read_manifest, sha256_file, verify_files, walk
from releases.rows import rows_text
from releases.version import FIRST, Version
from releases.waivers import FILE, TRAIN_TO_TEST, Waivers
from schemas import DatasetFolder, GoldsmithError

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
        version: the version asked for, or, for `auto`, the least honest one.
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
) -> Verdict:
    """Whether `folder` may be released as `version` (or `auto`) after the release `previous`.

    Raises:
        GoldsmithError: the folder is not built or not checked, a waiver names a check that there is not, or the
            previous release is damaged or of another dataset.
    """
    _refuse_unknown(folder, waivers)
    desk = Waivers(waivers, today or datetime.date.today())
    refusals = [*stale(folder), *_checks(folder, desk), *_documents(folder), *_licences(folder)]
    least, bump, difference = FIRST, Bump("first", ("the first release",)), None
    if previous:
        difference = _difference(previous, folder)
        refusals += _moves(difference, desk)
        least = Version.parse(read_manifest(previous.path).version).step(difference.least_bump)
        bump = Bump(difference.least_bump, difference.reasons)
    wanted = least if version == "auto" else Version.parse(version)
    if difference and wanted < least:
        reasons = "; ".join(bump.reasons[:3]) + (f" and {len(bump.reasons) - 3} more" if len(bump.reasons) > 3 else "")
        refusals.append(f"version {wanted} is below {least}, the least honest step after {difference.old}: {reasons}")
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


def _refuse_unknown(folder: DatasetFolder, waivers: Sequence[Waiver]) -> None:
    known = {(check["name"], check["table"]) for check in folder.report["checks"]}
    known |= {(TRAIN_TO_TEST, table.name) for table in folder.schema.tables}
    for waiver in waivers:
        if not any(waiver.covers(*check) for check in known):
            place = f"{FILE} > {waiver.check}" + (f" > {waiver.table}" if waiver.table else "")
            raise GoldsmithError(f"[{place}] is no check of {folder.schema.name}: correct the name or take it out")


def _checks(folder: DatasetFolder, desk: Waivers) -> Iterator[str]:
    if not folder.findings.is_file():
        yield "quality/findings.parquet is missing: run `goldsmith check`"
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
    for table in folder.schema.tables:
        path = folder.lineage(table.name)
        if path.is_file() and (rows := _rows_without_licence(str(path))):
            yield f"{rows_text(rows)} of {table.name} without licence in lineage/{table.name}.parquet: build again"


def _rows_without_licence(path: str) -> int:
    unknown = sorted(UNKNOWN_LICENCES)
    query = "SELECT count(*) FROM read_parquet(?) WHERE licence IS NULL OR lower(trim(licence)) IN (SELECT unnest(?))"
    with duckdb.connect() as connection:
        row = connection.execute(query, [path, unknown]).fetchone()
    return row[0] if row else 0


def _difference(previous: DatasetFolder, folder: DatasetFolder) -> Difference:
    if problems := verify_files(previous.path):
        raise GoldsmithError(f"[{previous.path}] is damaged ({problems[0]}): get the previous release again")
    return diff(previous, folder)


def _moves(difference: Difference, desk: Waivers) -> Iterator[str]:
    for change in difference.of("train to test"):
        table = change.table or ""
        if not desk.cover(TRAIN_TO_TEST, table):
            ids = ", ".join(sample.id for sample in change.samples)
            text = f"{rows_text(change.rows or 0)} of {table} moved from train to test ({ids}): put them back or waive"
            yield f"{text} {TRAIN_TO_TEST}{desk.late(TRAIN_TO_TEST, table)}"
