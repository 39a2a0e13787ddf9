"""Rows that `drop` checks named leave the data, are kept as rejects, and the accounts still add up."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from release_folders import ASSAYS, VARIANTS, check, rows, write_dataset, write_documents, write_ready, write_report

from releases import Waiver, apply_drops, digest_dataset, gate, read_lock, read_manifest, release
from schemas import Column, Dataset, DatasetFolder, Float, GoldsmithError, Int, Table, Text


def finding(row_id: str, name: str = "noisy", table: str = "variants", severity: str = "drop") -> dict[str, Any]:
    return {"check": name, "severity": severity, "table": table, "id": row_id, "message": "too noisy", "value": None}


def noisy(path: Path, findings: list[dict[str, Any]], **arguments: Any) -> DatasetFolder:
    """A folder in which the checks `noisy` and `odd` failed for these rows."""
    folder = write_dataset(path, **arguments)
    names = ("noisy", "odd")
    checks = [check(n, "failed", "drop", failures=1) for n in names if any(f["check"] == n for f in findings)]
    write_report(folder, [check("key_unique"), *checks], findings)
    return folder


def ids(folder: DatasetFolder) -> list[str]:
    table = folder.schema.table("variants")
    return [i for path in folder.all_shards("variants") for i in table.row_ids(pq.read_table(path)).to_pylist()]


def test_rows_leave_and_are_kept_as_rejects(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2"), finding("H3/7")])
    counts = apply_drops(folder, tmp_path / "dropped")
    assert counts == {"noisy": {"variants": 2}}
    after = DatasetFolder(tmp_path / "dropped")
    assert ids(after) == ["H3/1", "H3/3", "H3/4", "H3/5", "H3/6", "H3/8"]
    assert [path.name for path in after.all_shards("variants")] == [p.name for p in folder.all_shards("variants")]
    lineage = pq.read_table(after.lineage("variants")).column("id").to_pylist()
    assert lineage == ids(after)
    rejects = pq.read_table(after.rejects("variants")).to_pylist()
    assert [(r["reason"], r["source"], r["place"], r["message"]) for r in rejects] == [
        ("noisy", "lab", "line 2", "too noisy"),
        ("noisy", "lab", "line 7", "too noisy"),
    ]
    assert '"score": 1.0' in rejects[0]["record"]


def test_the_result_is_what_a_build_without_these_rows_would_be(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2")], shards=2)
    apply_drops(folder, tmp_path / "dropped")
    data = rows()
    del data["variants"]["train"][1]
    assert digest_dataset(DatasetFolder(tmp_path / "dropped")) == digest_dataset(
        write_dataset(tmp_path / "clean", data)
    )


def test_accounts_add_up(tmp_path: Path) -> None:
    merged = {"H3/2": "line 90", "H3/3": "line 91"}
    folder = noisy(tmp_path / "d", [finding("H3/2")], merged=merged)
    apply_drops(folder, tmp_path / "dropped")
    after = DatasetFolder(tmp_path / "dropped")
    account = after.build["accounting"][0]
    assert account == {
        "source": "lab",
        "table": "variants",
        "records": 10,
        "rows": 7,
        "merged": 1,
        "rejects": {"noisy": 2},
    }
    assert after.build["accounting"][1] == folder.build["accounting"][1]
    assert pq.read_table(after.rejects("variants")).column("place").to_pylist() == ["line 2", "line 90"]
    for entry in after.build["files"]:
        path = after.path / entry["path"]
        assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert (entry["bytes"], entry["rows"]) == (path.stat().st_size, pq.read_metadata(path).num_rows)


def test_untouched_files_are_the_same_bytes(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2")])
    apply_drops(folder, tmp_path / "dropped")
    test = "data/variants/test-00000-of-00001.parquet"
    assert (tmp_path / "dropped" / test).read_bytes() == (folder.path / test).read_bytes()


def test_a_row_that_failed_twice_is_counted_once(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2", "odd"), finding("H3/2"), finding("H3/3", "odd")])
    assert apply_drops(folder, tmp_path / "dropped") == {"noisy": {"variants": 1}, "odd": {"variants": 1}}


def test_nothing_to_drop_makes_nothing(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2", severity="warn", name="other")])
    assert apply_drops(folder, tmp_path / "dropped") == {}
    assert not (tmp_path / "dropped").exists()


def test_rows_of_a_waived_check_stay(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2"), finding("H3/3", "odd")])
    waived = [Waiver("odd", "r", "b", "2027-01-01")]
    assert apply_drops(folder, tmp_path / "dropped", waived=waived) == {"noisy": {"variants": 1}}
    assert "H3/3" in ids(DatasetFolder(tmp_path / "dropped"))


def test_all_rows_of_a_split_leave_an_empty_shard(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/7"), finding("H3/8")])
    apply_drops(folder, tmp_path / "dropped")
    shard = DatasetFolder(tmp_path / "dropped").shards("variants")["test"][0]
    assert pq.read_table(shard).num_rows == 0
    assert pq.read_schema(shard).equals(folder.schema.table("variants").arrow)


def test_stale_findings_drop_nothing(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2")])
    folder.rejects("assays").write_bytes(b"")
    with pytest.raises(GoldsmithError, match=r"rejects/assays\.parquet is not the file that was checked"):
        apply_drops(folder, tmp_path / "dropped")
    assert not (tmp_path / "dropped").exists()


def test_a_finding_about_no_row_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/99")])
    with pytest.raises(GoldsmithError, match=r"variants > H3/99\] is in the findings but no row"):
        apply_drops(folder, tmp_path / "dropped")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


MEANS = Table(
    "means",
    "Scores of an assay.",
    (
        Column("assay", Text(), "The assay.", references="assays.assay"),
        Column("variants", Int(), "How many it has."),
        Column("score", Float(), "Their mean.", nullable=True),
    ),
    key=("assay",),
    derived="SELECT assay, count(*) AS variants, avg(score) AS score FROM variants GROUP BY assay",
)


def with_means(path: Path, found: dict[str, Any], means: Table = MEANS) -> DatasetFolder:
    """A folder with a derived table, in which `noisy` failed for one row."""
    data = {**rows(), "means": {"train": [{"assay": "H3", "variants": 8, "score": 1.75}]}}
    folder = write_dataset(path, data, Dataset("scans", "Scans", "Scans.", (VARIANTS, ASSAYS, means)))
    write_report(folder, [check("noisy", "failed", "drop", found["table"], failures=1)], [found])
    return folder


def test_a_derived_table_follows_the_rows_that_stay(tmp_path: Path) -> None:
    folder = with_means(tmp_path / "d", finding("H3/6"))
    assert apply_drops(folder, tmp_path / "dropped") == {"noisy": {"variants": 1}}
    after = DatasetFolder(tmp_path / "dropped")
    assert pq.read_table(after.all_shards("means")[0]).to_pylist() == [{"assay": "H3", "variants": 7, "score": 1.5}]


def test_sql_of_a_stranger_s_folder_writes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "pwned"
    evil = f"SELECT 1 AS a); COPY (SELECT 'pwned') TO '{place}'; SELECT * FROM (SELECT * FROM read_text('/etc/passwd')"
    folder = with_means(tmp_path / "d", finding("H3/6"), replace(MEANS, derived=evil))
    with pytest.raises(GoldsmithError, match=r"^\[scans > means\] its SQL does not run [^\n]*mend `derived`$"):
        apply_drops(folder, tmp_path / "dropped")
    assert not place.exists()


def test_a_check_cannot_drop_rows_of_a_derived_table(tmp_path: Path) -> None:
    folder = with_means(tmp_path / "d", finding("H3", table="means"))
    with pytest.raises(GoldsmithError) as raised:
        apply_drops(folder, tmp_path / "dropped")
    assert str(raised.value) == (
        f"[{folder.path} > means > H3] noisy drops it, but it is computed from variants and would come back: "
        "let noisy name the rows of variants that are at fault, make it warn or block, or waive it"
    )
    assert not (tmp_path / "dropped").exists()
    assert apply_drops(folder, tmp_path / "dropped", waived=[Waiver("noisy", "r", "b", "2027-01-01")]) == {}


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, ready: DatasetFolder) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2")])
    with pytest.raises(GoldsmithError, match="is there already"):
        apply_drops(folder, ready.path)


def test_after_the_drop_and_a_new_check_it_is_released_with_the_counts(tmp_path: Path) -> None:
    folder = noisy(tmp_path / "d", [finding("H3/2")])
    write_documents(folder)
    assert "must leave the release first" in gate(folder, "1.0.0").refusals[0]
    apply_drops(folder, tmp_path / "dropped")
    after = DatasetFolder(tmp_path / "dropped")
    write_report(after)
    write_documents(after)
    release(after, "1.0.0", tmp_path / "out")
    assert read_manifest(tmp_path / "out").dropped == {"noisy": {"variants": 1}}
    assert read_lock(tmp_path / "out").drops is True


def test_without_drops_the_lock_says_so(tmp_path: Path) -> None:
    release(write_ready(tmp_path / "d"), "1.0.0", tmp_path / "out")
    assert read_lock(tmp_path / "out").drops is False
