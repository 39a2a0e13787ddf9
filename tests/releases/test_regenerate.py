"""What a rebuild is given, and how it is compared with the release."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from release_folders import check, rows, source, waivers_file, write_dataset, write_ready, write_report

from releases import compare, missing_sources, release, verify_files, wants
from schemas import DatasetFolder, GoldsmithError


@pytest.fixture
def out(tmp_path: Path, ready: DatasetFolder) -> Path:
    release(ready, "1.0.0", tmp_path / "out")
    return tmp_path / "out"


def test_wants(out: Path) -> None:
    wanted = wants(out)
    assert (wanted.dataset, wanted.version, wanted.sample, wanted.drops) == ("scans", "1.0.0", True, False)
    assert wanted.sources == {"lab": source()["sha256"]}
    assert wanted.code == "c0de" * 16


def test_waivers_in_force_then_hold_for_the_rebuild(tmp_path: Path, ready: DatasetFolder) -> None:
    write_report(ready, [check("near_duplicates", "failed", "drop", failures=1)])
    release(ready, "1.0.0", tmp_path / "out", waivers=waivers_file(tmp_path / "w.toml", until="2999-01-01"))
    assert [waiver.check for waiver in wants(tmp_path / "out").waived] == ["near_duplicates"]


def test_an_equal_rebuild(tmp_path: Path, out: Path) -> None:
    comparison = compare(out, write_dataset(tmp_path / "again"))
    assert comparison.equal
    digests = json.loads((out / "goldsmith.lock").read_text())["digests"]
    assert comparison.lines == (
        f"equal: assays {digests['assays']}",
        f"equal: variants {digests['variants']}",
        "3 of 3 data files are equal byte for byte",
    )


def test_other_tools_may_write_other_bytes(tmp_path: Path, out: Path) -> None:
    rebuilt = write_dataset(tmp_path / "again", tools={"python": "3.11.7", "pyarrow": "21.0.0"})
    shard = rebuilt.all_shards("variants")[0]
    pq.write_table(pq.read_table(shard), shard, compression="snappy")
    comparison = compare(out, rebuilt)
    assert comparison.equal
    assert comparison.lines[0] == "tool differs: pyarrow was 26.0.1, is 21.0.0"
    assert comparison.lines[-2:] == (
        "2 of 3 data files are equal byte for byte",
        "same rows, other bytes: data/variants/train-00000-of-00001.parquet (written by another pyarrow)",
    )


def test_another_row_is_a_difference(tmp_path: Path, out: Path) -> None:
    data = rows()
    data["variants"]["train"][0]["score"] = 7.0
    comparison = compare(out, write_dataset(tmp_path / "again", data))
    assert not comparison.equal
    assert comparison.lines[1].startswith("different: variants was ")
    assert comparison.lines[-1] == "other bytes: data/variants/train-00000-of-00001.parquet"


def test_other_code_sources_or_parameters_are_named(tmp_path: Path, out: Path) -> None:
    sources = [source(sha256="f" * 64), source("more")]
    rebuilt = write_dataset(tmp_path / "again", code="beef" * 16, version="2", sources=sources, sample=False)
    comparison = compare(out, rebuilt)
    assert comparison.lines[:4] == (
        "builder code differs: was 1 (c0dec0dec0de), is 2 (beefbeefbeef)",
        "parameter differs: sample was True, is False",
        f"source differs: lab was {source()['sha256']}, is {'f' * 64}",
        f"source differs: more was absent, is {source('more')['sha256']}",
    )


def test_a_damaged_release_proves_nothing(tmp_path: Path, out: Path) -> None:
    (out / "goldsmith.lock").write_text("{}")
    assert verify_files(out)
    with pytest.raises(GoldsmithError, match=r"is damaged \(goldsmith\.lock: changed"):
        compare(out, write_ready(tmp_path / "again"))


def test_sources_that_must_be_given(out: Path) -> None:
    sha256 = source()["sha256"]
    assert missing_sources(wants(out), {"lab": sha256, "more": "0"}) == []
    give = f"give the one with sha256 {sha256} with --source lab=PATH"
    assert missing_sources(wants(out), {}) == [f"[lab] is not given: {give}"]
    (line,) = missing_sources(wants(out), {"lab": "f" * 64})
    assert line == f"[lab] is another file now (sha256 {'f' * 64}): {give}"
