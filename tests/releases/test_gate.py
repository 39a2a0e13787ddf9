"""The gate: each rule with a defect that is refused, and the clean folder that is not."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_folders import (
    check,
    rows,
    source,
    variant,
    waivers_file,
    write_dataset,
    write_documents,
    write_ready,
    write_report,
)

from releases import Verdict, Waiver, gate, read_waivers, release
from schemas import DatasetFolder, GoldsmithError
from schemas.files import sha256_file

DAY = datetime.date(2026, 6, 1)


def refusals(folder: DatasetFolder, version: str = "1.0.0", **arguments: Any) -> tuple[str, ...]:
    return gate(DatasetFolder(folder.path), version, today=DAY, **arguments).refusals


def test_a_clean_folder_passes(ready: DatasetFolder) -> None:
    verdict = gate(ready, "auto", today=DAY)
    assert verdict == Verdict((), (), (), "1.0.0", verdict.bump)
    assert verdict.bump.least == "first"


def shard(folder: DatasetFolder) -> Path:
    return folder.all_shards("variants")[0]


def swap_shards(folder: DatasetFolder) -> None:
    one, two = folder.all_shards("variants")
    a, b = one.read_bytes(), two.read_bytes()
    one.write_bytes(b)
    two.write_bytes(a)


def without(name: str) -> Callable[[DatasetFolder], object]:
    return lambda folder: (folder.path / name).unlink()


BYTES = [
    (
        lambda f: shard(f).write_bytes(shard(f).read_bytes() + b"x"),
        "train-00000-of-00001.parquet is not the file that was",
    ),
    (swap_shards, "test-00000-of-00001.parquet is not the file that was checked: run `goldsmith check`"),
    (lambda f: shard(f).unlink(), "data/variants/train-00000-of-00001.parquet is gone: build and check again"),
    (lambda f: f.rejects("assays").write_bytes(b""), "rejects/assays.parquet is not the file that was checked"),
    (lambda f: f.lineage("assays").write_bytes(f.lineage("variants").read_bytes()), "lineage/assays.parquet is not"),
    (lambda f: (f.data("variants") / "test-00001-of-00002.parquet").write_bytes(b""), "was never checked"),
    (lambda f: f.build_json.write_text(f.build_json.read_text() + " "), "build.json is not the file that was checked"),
]


@pytest.mark.parametrize(("harm", "line"), BYTES, ids=[str(i) for i in range(len(BYTES))])
def test_findings_about_other_bytes(ready: DatasetFolder, harm: Callable[[DatasetFolder], object], line: str) -> None:
    harm(ready)
    assert any(line in refusal for refusal in refusals(ready))


def test_checked_but_not_built(ready: DatasetFolder) -> None:
    swap_shards(ready)
    write_report(ready)
    assert any("is not the file that was built (build.json)" in line for line in refusals(ready))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("README.md", "README.md is missing: run `goldsmith card`"),
        ("croissant.json", "croissant.json is missing: run `goldsmith card`"),
        ("quality/report.html", "quality/report.html is missing: run `goldsmith check`"),
        ("quality/findings.parquet", "quality/findings.parquet is missing: run `goldsmith check`"),
    ],
)
def test_a_missing_document(ready: DatasetFolder, name: str, line: str) -> None:
    (ready.path / name).unlink()
    assert refusals(ready) == (line,)


def test_an_empty_document_is_none(ready: DatasetFolder) -> None:
    (ready.path / "README.md").write_text("")
    assert refusals(ready) == ("README.md is missing: run `goldsmith card`",)


def test_a_folder_that_was_never_checked(tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="has not been checked"):
        gate(write_dataset(tmp_path / "d"), "1.0.0")


def test_a_report_without_checks(ready: DatasetFolder) -> None:
    report = json.loads(ready.report_json.read_text())
    ready.report_json.write_text(json.dumps({**report, "checks": []}))
    assert refusals(ready) == ("quality/report.json names no check: run `goldsmith check`",)


@pytest.mark.parametrize(
    ("status", "severity", "expected"),
    [
        ("failed", "block", ("check near_duplicates of variants failed (3): mend the data or waive it",)),
        ("failed", "drop", ("check near_duplicates of variants failed (3): its rows must leave the release first",)),
        ("failed", "warn", ()),
        ("failed", "info", ()),
        ("passed", "block", ()),
        ("not_applicable", "block", ()),
    ],
)
def test_failed_checks(ready: DatasetFolder, status: str, severity: str, expected: tuple[str, ...]) -> None:
    write_report(ready, [check("near_duplicates", status, severity, failures=3 if status == "failed" else 0)])
    assert refusals(ready) == expected


def test_the_report_is_not_believed_about_passed(ready: DatasetFolder) -> None:
    write_report(ready, [check("key_unique", "failed", failures=1)])
    report = json.loads(ready.report_json.read_text())
    ready.report_json.write_text(json.dumps({**report, "passed": True}))
    assert len(refusals(ready)) == 1


def edited(folder: DatasetFolder, change: Callable[[dict[str, Any]], object]) -> tuple[str, ...]:
    """The gate's refusals once somebody has edited the report of a failed check."""
    write_report(folder, [check("key_unique", "failed", failures=2), check("near_duplicates")])
    report = json.loads(folder.report_json.read_text())
    change(report)
    folder.report_json.write_text(json.dumps(report))
    return tuple(line for line in refusals(folder) if line.startswith("quality/report.json does not agree"))


EDITS = [
    (lambda r: None, ""),
    (lambda r: r["checks"][0].update(status="passed"), "key_unique of variants is passed with 2 failures"),
    (lambda r: r["checks"][0].update(status="passed", failures=0), "has 2 failures, the report says 0"),
    (
        lambda r: r["checks"][0].update(severity="warn"),
        "key_unique of variants (block) has 2 failures, the report says 0",
    ),
    (lambda r: r["checks"][0].update(failures=1), "has 2 failures, the report says 1"),
    (lambda r: r["checks"].pop(0), "has 2 failures, the report says 0"),
    (lambda r: r["findings"].update(sha256="0" * 64), "it is about other findings"),
    (lambda r: r.pop("findings"), "it is about other findings"),
]


@pytest.mark.parametrize(("change", "why"), EDITS, ids=[str(i) for i in range(len(EDITS))])
def test_an_edited_report_is_not_believed(
    ready: DatasetFolder, change: Callable[[dict[str, Any]], object], why: str
) -> None:
    lines = edited(ready, change)
    assert bool(lines) == bool(why)
    assert why in "".join(lines)
    assert all(line.endswith("run `goldsmith check`") for line in lines)


def test_damaged_findings_are_named(ready: DatasetFolder) -> None:
    ready.findings.write_bytes(b"PAR1")
    assert "quality/report.json does not agree" in refusals(ready)[0]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"checks": []}'])
def test_what_is_no_report(ready: DatasetFolder, text: str) -> None:
    ready.report_json.write_text(text)
    with pytest.raises(
        GoldsmithError, match=r"report\.json\] is (not JSON|no report of checks).*run `goldsmith check`"
    ):
        gate(DatasetFolder(ready.path), "1.0.0", today=DAY)


@pytest.mark.parametrize("harm", [lambda b: b[:40], lambda b: bytes([b[0] ^ 1]) + b[1:], lambda b: b""])
@pytest.mark.parametrize("part", ["data", "lineage", "rejects"])
def test_a_damaged_file_is_not_the_one_that_was_checked(
    ready: DatasetFolder, previous: DatasetFolder, harm: Callable[[bytes], bytes], part: str
) -> None:
    path = next((ready.path / part).rglob("*.parquet"))
    path.write_bytes(harm(path.read_bytes()))
    for version in ("auto", "2.0.0"):
        (line,) = refusals(ready, version, previous=previous)
        assert line.endswith("is not the file that was checked: run `goldsmith check`")


@pytest.mark.parametrize("sources", [[source(), source("own", override=True)]])
def test_a_file_in_place_of_a_pinned_one(tmp_path: Path, sources: list[dict[str, Any]]) -> None:
    folder = write_ready(tmp_path / "d", sources=sources)
    (line,) = refusals(folder)
    assert line == (
        "source own is your own file in place of the pinned one: pin it in sources.toml, or waive own_source"
    )
    for more in ({}, {"table": "own"}):
        waivers = read_waivers(waivers_file(tmp_path / "w.toml", "own_source", **more))
        assert refusals(folder, waivers=waivers) == ()
    other = read_waivers(waivers_file(tmp_path / "w.toml", "own_source", table="lab"))
    assert refusals(folder, waivers=other) == (line,)


def test_a_source_that_was_never_pinned_is_no_override(tmp_path: Path) -> None:
    assert refusals(write_ready(tmp_path / "d", sources=[source("recordings", url=None)])) == ()


def test_documents_may_come_later(ready: DatasetFolder) -> None:
    without("README.md")(ready)
    assert refusals(ready, documents=False) == ()


def test_a_waiver_covers_its_check_only(ready: DatasetFolder, tmp_path: Path) -> None:
    write_report(ready, [check("near_duplicates", "failed", failures=3), check("key_unique", "failed", failures=1)])
    waivers = read_waivers(waivers_file(tmp_path / "w.toml"))
    verdict = gate(ready, "1.0.0", waivers=waivers, today=DAY)
    assert verdict.refusals == ("check key_unique of variants failed (1): mend the data or waive it",)
    assert verdict.waived == waivers


def test_an_expired_waiver_does_not_count_and_is_named(ready: DatasetFolder, tmp_path: Path) -> None:
    write_report(ready, [check("near_duplicates", "failed", failures=3)])
    waivers = read_waivers(waivers_file(tmp_path / "w.toml", until="2026-05-31"))
    verdict = gate(ready, "1.0.0", waivers=waivers, today=DAY)
    failed = "check near_duplicates of variants failed (3): mend the data or waive it"
    assert verdict.refusals == (f"{failed}; the waiver by data team expired on 2026-05-31",)
    assert verdict.notes == ("waiver of near_duplicates by data team expired on 2026-05-31: it does not count",)
    assert verdict.waived == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"check": "near_duplicate"}, r"mine\.toml > near_duplicate\] is no check of scans"),
        (
            {"check": "key_unique", "table": "assays"},
            r"mine\.toml > key_unique > assays\] is a check of table variants",
        ),
        ({"check": "own_source", "table": "field"}, r"own_source > field\] is a check of source lab"),
    ],
)
def test_a_waiver_of_an_unknown_check_is_an_error(
    ready: DatasetFolder, tmp_path: Path, fields: dict[str, str], message: str
) -> None:
    file = waivers_file(tmp_path / "mine.toml", **fields)
    with pytest.raises(GoldsmithError, match=message):
        gate(ready, "1.0.0", waivers=read_waivers(file), waivers_file=file, today=DAY)


def test_sources_that_may_not_be_given_on(tmp_path: Path) -> None:
    sources = [source(), source("gated", redistribute=False), source("unsaid", redistribute=None)]
    folder = write_ready(tmp_path / "d", sources=sources)
    assert refusals(folder) == ("sources gated, unsaid may not be given on: build with `--redistributable`",)


@pytest.mark.parametrize("licence", ["", None, "unknown", "NOASSERTION"])
def test_a_source_without_a_licence(tmp_path: Path, licence: str | None) -> None:
    folder = write_ready(tmp_path / "d", sources=[source(licence=licence)])
    assert refusals(folder) == ("sources lab have no licence: say it in sources.toml and build again",)


def test_rows_without_a_licence_are_of_a_source_without_one_or_of_another_build(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "d")
    for table in ("variants", "assays"):
        lines = pq.read_table(folder.lineage(table))
        bare = pa.array(["Unknown"] * len(lines))
        pq.write_table(lines.set_column(4, "licence", bare), folder.lineage(table))
    record_built(folder)
    assert refusals(folder) == (
        "9 rows of variants, assays have no licence in lineage/, but their sources do: build again",
    )
    record_built(folder, sources=[source(licence="unknown")])
    assert refusals(folder) == ("sources lab have no licence: say it in sources.toml and build again",)


def record_built(folder: DatasetFolder, **fields: Any) -> None:
    """Let build.json, the report and the documents be about the files as they are now."""
    files = [{**f, "sha256": sha256_file(folder.path / f["path"])} for f in folder.build["files"]]
    folder.build_json.write_text(json.dumps({**folder.build, "files": files, **fields}))
    write_report(DatasetFolder(folder.path))
    write_documents(folder)


@pytest.fixture
def previous(tmp_path: Path) -> DatasetFolder:
    """Release 1.2.0 of the clean dataset."""
    release(write_ready(tmp_path / "before"), "1.2.0", tmp_path / "released", today=DAY)
    return DatasetFolder(tmp_path / "released")


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], object], **fields: Any) -> DatasetFolder:
    data = rows()
    change(data["variants"])
    return write_ready(tmp_path / "after", data, **fields)


BUMPS = [
    ("major", lambda v: v["train"].pop(0), "2.0.0", "1.3.0"),
    ("minor", lambda v: v["train"].append(variant(30)), "1.3.0", "1.2.1"),
]


@pytest.mark.parametrize(("level", "change", "least", "less"), BUMPS, ids=[b[0] for b in BUMPS])
def test_the_smallest_honest_version(
    tmp_path: Path, previous: DatasetFolder, level: str, change: Callable[[Any], object], least: str, less: str
) -> None:
    folder = changed(tmp_path, change)
    verdict = gate(folder, "auto", previous=previous, today=DAY)
    assert (verdict.refusals, verdict.version, verdict.bump.least) == ((), least, level)
    assert refusals(folder, least, previous=previous) == ()
    assert refusals(folder, "3.0.0", previous=previous) == ()
    (line,) = refusals(folder, less, previous=previous)
    assert line.startswith(f"version {less} is below {least}, the smallest honest step after 1.2.0: ")


def test_nothing_changed(tmp_path: Path, previous: DatasetFolder) -> None:
    again = changed(tmp_path, lambda v: v["train"].reverse())
    (line,) = refusals(again, "auto", previous=previous)
    assert line.startswith("nothing changed since 1.2.0: there is nothing to release")
    assert refusals(again, "1.2.1", previous=previous) == (), "other documents, by name"


@pytest.mark.parametrize("fields", [{"sources": [source(citation="Two papers.")]}, {"code": "beef" * 16}])
def test_another_source_or_builder_takes_a_patch(
    tmp_path: Path, previous: DatasetFolder, fields: dict[str, Any]
) -> None:
    folder = changed(tmp_path, lambda v: None, **fields)
    verdict = gate(folder, "auto", previous=previous, today=DAY)
    assert (verdict.refusals, verdict.version, verdict.bump.least) == ((), "1.2.1", "patch")
    (line,) = refusals(folder, "1.2.0", previous=previous)
    assert line.startswith("version 1.2.0 is below 1.2.1, the smallest honest step after 1.2.0: ")


@pytest.mark.parametrize("version", ["1", "v1.0.0", "latest"])
def test_what_is_no_version(ready: DatasetFolder, version: str) -> None:
    with pytest.raises(GoldsmithError, match=r"is no MAJOR\.MINOR\.PATCH"):
        gate(ready, version)


def test_rows_that_moved_from_train_to_test(tmp_path: Path, previous: DatasetFolder) -> None:
    folder = changed(tmp_path, lambda v: v["test"].append(v["train"].pop(0)))
    (line,) = refusals(folder, "2.0.0", previous=previous)
    assert line == "1 row of variants moved from train to test (H3/1): put them back or waive train_to_test"
    waivers = read_waivers(waivers_file(tmp_path / "w.toml", "train_to_test", table="variants"))
    assert refusals(folder, "2.0.0", previous=previous, waivers=waivers) == ()
    late = (Waiver("train_to_test", "r", "b", "2026-01-01"),)
    assert "expired on 2026-01-01" in refusals(folder, "2.0.0", previous=previous, waivers=late)[0]


def test_rows_that_moved_from_test_to_train_take_a_major_but_pass(tmp_path: Path, previous: DatasetFolder) -> None:
    folder = changed(tmp_path, lambda v: v["train"].append(v["test"].pop(0)))
    assert refusals(folder, "2.0.0", previous=previous) == ()


def test_a_damaged_previous_release(tmp_path: Path, previous: DatasetFolder, ready: DatasetFolder) -> None:
    (previous.path / "README.md").write_text("other")
    with pytest.raises(GoldsmithError, match="is damaged"):
        gate(ready, "2.0.0", previous=previous)


def test_each_refusal_is_one_line_and_all_are_given(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "d", sources=[source(redistribute=False, licence="")])
    write_report(folder, [check("key_unique", "failed", failures=1)])
    write_documents(folder)
    without("README.md")(folder)
    lines = refusals(folder)
    assert len(lines) == 4
    assert not any("\n" in line for line in lines)
