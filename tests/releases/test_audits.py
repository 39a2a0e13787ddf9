"""What becomes of audits when rows leave: kept, or, where rows are to be forgotten, without any trace of them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_folders import write_dataset, write_ready

from releases import gate
from releases.audits import copy_audits
from schemas import DatasetFolder


def audit(folder: DatasetFolder, name: str, table: str) -> Path:
    """An audit's folder as `quality.annotation.report` writes it, as far as this room looks."""
    path = folder.path / "audit" / name
    path.mkdir(parents=True)
    (path / "design.json").write_text(json.dumps({"audit": {"table": table}}))
    (path / "report.json").write_text("{}")
    (path / "report.html").write_text("<td>r1</td>")
    for file in ("population", "labels", "judgements"):
        pq.write_table(pa.table({"item_id": ["r1", "r2", "r1"], "label": ["x", "y", "z"]}), path / f"{file}.parquet")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    made = write_dataset(tmp_path / "scans")
    audit(made, "first", "variants")
    audit(made, "second", "assays")
    return made


def test_all_is_kept_where_nothing_is_forgotten(folder: DatasetFolder, tmp_path: Path) -> None:
    copy_audits(folder, tmp_path / "copy", {})
    here = {path.relative_to(folder.path): path.read_bytes() for path in (folder.path / "audit").rglob("*.*")}
    there = {path.relative_to(tmp_path / "copy"): path.read_bytes() for path in (tmp_path / "copy").rglob("*.*")}
    assert here == there
    assert len(there) == 12


def test_no_trace_is_left_of_what_is_forgotten(folder: DatasetFolder, tmp_path: Path) -> None:
    copy_audits(folder, tmp_path / "copy", {"variants": {"r1": ("withdrawn", "by the donor")}})
    first, second = (tmp_path / "copy" / "audit" / name for name in ("first", "second"))
    assert sorted(path.name for path in first.iterdir()) == [
        "design.json",
        "judgements.parquet",
        "labels.parquet",
        "population.parquet",
        "report.json",
    ]
    for path in first.glob("*.parquet"):
        assert pq.read_table(path).to_pylist() == [{"item_id": "r2", "label": "y"}]
    assert (second / "report.html").is_file()
    assert pq.read_table(second / "labels.parquet").num_rows == 3


def test_the_gate_knows_which_audit_was_checked(tmp_path: Path) -> None:
    """An audit that came, went or changed after the check is refused: its findings are not those of the report."""
    ready = write_ready(tmp_path / "scans")
    assert gate(ready, "1.0.0").refusals == ()
    path = audit(ready, "first", "variants") / "report.json"
    refused = gate(DatasetFolder(ready.path), "1.0.0").refusals
    assert "audit/first/report.json was never checked: run `goldsmith check`" in refused
    report = json.loads(ready.report_json.read_text())
    report["files"].append({"path": "audit/gone/report.json", "sha256": "0" * 64})
    report["files"].append({"path": "audit/first/report.json", "sha256": "0" * 64})
    ready.report_json.write_text(json.dumps(report))
    refused = gate(DatasetFolder(ready.path), "1.0.0").refusals
    assert "audit/gone/report.json is gone: build and check again" in refused
    assert "audit/first/report.json is not the file that was checked: run `goldsmith check`" in refused
    assert path.is_file()
