"""Withdrawal: the rows are gone, their tombstones stay, the card says which versions are blocked."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from driver import Client, lay, published
from loophub import Loophub
from tiny import GAUGES, make_release, write_card, write_manifest, write_shards

from releases.hub.withdraw import Tombstone, apply_tombstones, read_tombstones, withdraw
from releases.hub.withdrawable import refuse_others
from releases.lint import lint
from releases.manifest import read_manifest
from schemas import Column, Dataset, DatasetFolder, GoldsmithError, Int, Table, Text
from schemas.folder import LINEAGE_SCHEMA
from schemas.parquet import write_parquet

DAY = datetime.date(2026, 3, 1)
REASON = "the owner of the gauge asked"


def next_release(release: Path, into: Path, version: str, rows: dict[str, list[str]]) -> Path:
    """Withdraw, and do what the command line does then."""
    withdraw(release, into, rows, reason=REASON, date=DAY)
    write_card(into, GAUGES)
    write_manifest(into, GAUGES, version)
    return into


def ids(folder: Path, table: str) -> list[str]:
    return [i for path in DatasetFolder(folder).all_shards(table) for i in pq.read_table(path)["id"].to_pylist()]


def batch(lines: list[dict[str, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(lines, LINEAGE_SCHEMA)


def test_rows_leave_and_tombstones_stay(release_1: Path, tmp_path: Path) -> None:
    new = next_release(release_1, tmp_path / "new", "2.0.0", {"readings": ["r0000003", "r1000001"], "pictures": ["p1"]})
    assert set(ids(release_1, "readings")) - set(ids(new, "readings")) == {"r0000003", "r1000001"}
    assert ids(new, "pictures") == ["p0", "p2"]
    assert read_tombstones(new) == (
        Tombstone("pictures", "p1", REASON, DAY, "1.0.0"),
        Tombstone("readings", "r0000003", REASON, DAY, "1.0.0"),
        Tombstone("readings", "r1000001", REASON, DAY, "1.0.0"),
    )
    folder = DatasetFolder(new)
    assert pq.read_table(folder.lineage("readings"))["id"].to_pylist().count("r0000003") == 0
    rejects = pq.read_table(folder.rejects("readings")).to_pylist()
    assert [(line["reason"], line["record"]) for line in rejects] == [("withdrawn", "")] * 2
    account = next(entry for entry in folder.build["accounting"] if entry["table"] == "readings")
    assert (account["records"], account["rows"], account["rejects"]) == (50, 48, {"withdrawn": 2})
    assert folder.build["dropped"] == {"withdrawn": {"pictures": 1, "readings": 2}}
    assert "tombstones.parquet" in [file.path for file in read_manifest(new).files]
    assert lint(new) == []
    held = b"".join(path.read_bytes() for path in new.rglob("*") if path.is_file())
    assert b"p1.png" not in held, "nothing of what the row held is left"
    assert b"p2.png" in held


def test_withdrawals_add_up(release_1: Path, tmp_path: Path) -> None:
    second = next_release(release_1, tmp_path / "2", "2.0.0", {"pictures": ["p1"]})
    third = next_release(second, tmp_path / "3", "3.0.0", {"readings": ["r0000003", "r0000004"]})
    assert DatasetFolder(third).build["dropped"] == {"withdrawn": {"pictures": 1, "readings": 2}}
    said = {(stone.table, stone.id, stone.last_version) for stone in read_tombstones(third)}
    assert said == {
        ("pictures", "p1", "1.0.0"),
        ("readings", "r0000003", "2.0.0"),
        ("readings", "r0000004", "2.0.0"),
    }


def test_rows_made_of_the_same_record_leave_too(release_1: Path, tmp_path: Path) -> None:
    folder = DatasetFolder(shutil.copytree(release_1, tmp_path / "1"))
    twins = pq.read_table(folder.lineage("readings"))
    line = twins.filter(pc.field("id") == "r0000003").to_pylist()[0]
    pictures = pq.read_table(folder.lineage("pictures")).to_pylist()
    for picture in pictures:
        if picture["id"] == "p1":
            picture.update(source=line["source"], place=line["place"])
        elif picture["id"] == "p2":  # this one has a record of its own, beside the shared one
            shared = {**picture, "source": line["source"], "place": line["place"]}
    write_parquet(folder.lineage("pictures"), LINEAGE_SCHEMA, [batch([*pictures, shared])])
    write_manifest(folder.path, GAUGES, "1.0.0")
    new = next_release(folder.path, tmp_path / "new", "2.0.0", {"readings": ["r0000003"]})
    assert ids(new, "pictures") == ["p0", "p2"]
    assert ("pictures", "p1") in {(stone.table, stone.id) for stone in read_tombstones(new)}


def test_mistakes(release_1: Path, tmp_path: Path) -> None:
    cases = [
        ({"readings": ["r9"]}, "asked", "> readings > r9] is no row"),
        ({"levels": ["r9"]}, "asked", "name one of readings, pictures"),
        ({"readings": []}, "asked", "no row is named"),
        ({"readings": ["r0000003"]}, " ", "no reason is given"),
    ]
    for rows, reason, words in cases:
        with pytest.raises(GoldsmithError, match=words.replace("]", r"\]")):
            withdraw(release_1, tmp_path / "no", rows, reason=reason)
    assert not (tmp_path / "no").exists()


LEVELS = Table(
    "levels",
    "Readings of a site.",
    (Column("site", Text(), "The site."), Column("readings", Int(64), "How many.")),
    ("site",),
    derived="SELECT site, count(*) AS readings FROM readings GROUP BY site",
)
SITES = Table(
    "readings",
    "Levels.",
    (Column("reading_id", Text(), "The reading."), Column("site", Text(), "The site.")),
    ("reading_id",),
)
SETTINGS = Table("settings", "How it was made.", (Column("name", Text(), "Name."),), ("name",), describes_build=True)


@pytest.mark.parametrize(
    ("table", "row_id", "said"),
    [
        ("settings", "limit", "no source record holds it, and so it cannot be withdrawn: name rows of readings, or"),
        (
            "levels",
            "Ole's",
            r"withdraw those \(such as --row readings:r2; all 2: SELECT .* WHERE \"site\"::VARCHAR = 'Ole''s'\)",
        ),
        ("levels", "gone", "is computed from readings, and leaves with its rows there: withdraw those$"),
    ],
)
def test_rows_that_no_record_holds_are_refused(table: str, row_id: str, said: str, tmp_path: Path) -> None:
    dataset = Dataset("sites", "Sites", "Sites.", (SITES, LEVELS, SETTINGS))
    rows = [{"reading_id": f"r{number}", "site": site} for number, site in enumerate(["a", "b", "Ole's", "Ole's"])]
    write_shards(tmp_path, SITES, "train", rows)
    build = {
        "format": 1,
        "dataset": "sites",
        "version": "1",
        "schema": dataset.to_json(),
        "files": [],
        "sources": [],
        "accounting": [],
    }
    (tmp_path / "build.json").write_text(json.dumps(build))
    folder = DatasetFolder(tmp_path)
    with pytest.raises(GoldsmithError, match=said):
        refuse_others(folder, folder.schema.table(table), row_id)
    refuse_others(folder, folder.schema.table("readings"), "r0")


def test_the_name_of_a_column_is_no_sql(tmp_path: Path) -> None:
    """A folder may be anybody's, and so may the names in its schema."""
    place = tmp_path / "pwned"
    key = f"id\" IS NULL; COPY (SELECT 1) TO '{place}'; SELECT \"id"
    main = Table("readings", "Readings.", (Column(key, Text(), "The reading."),), (key,))
    column = '"{}"'.format(key.replace('"', '""'))
    made = Table("made", "Made.", main.columns, main.key, derived=f"SELECT DISTINCT {column} FROM readings")
    write_shards(tmp_path, main, "train", [{key: "r1"}])
    build = {
        "format": 1,
        "dataset": "odd",
        "version": "1",
        "schema": Dataset("odd", "Odd", "Odd.", (main, made)).to_json(),
        "files": [],
        "sources": [],
        "accounting": [],
    }
    (tmp_path / "build.json").write_text(json.dumps(build))
    folder = DatasetFolder(tmp_path)
    with pytest.raises(GoldsmithError, match="withdraw those \\(such as --row"):
        refuse_others(folder, folder.schema.table("made"), "r1")
    assert not place.exists()


def test_a_rebuild_does_without_them(release_1: Path, tmp_path: Path) -> None:
    new = next_release(release_1, tmp_path / "new", "2.0.0", {"readings": ["r0000003"]})
    rebuilt = make_release(tmp_path / "rebuilt", count=60)
    apply_tombstones(DatasetFolder(rebuilt), tmp_path / "kept", read_tombstones(new))
    assert "r0000003" in ids(rebuilt, "readings")
    assert "r0000003" not in ids(tmp_path / "kept", "readings")
    assert read_tombstones(tmp_path / "kept") == read_tombstones(new)


def test_published_withdrawal(hub: Loophub, client: Client, release_1: Path, tmp_path: Path) -> None:
    repo = "acme/gauges"
    lay(hub, repo, release_1, "v1.0.0")
    new = next_release(release_1, tmp_path / "new", "2.0.0", {"readings": ["r0000003"]})
    assert client.publish(hub, new, repo).get()["status"] == "published"
    assert published(hub, repo, new, "v2.0.0")
    assert client.verify(hub, repo, "2.0.0")["problems"] == []
    found = client.start("load", repo=repo, revision=None, configs=["readings"]).get()["found"]
    assert len(found["readings"]["train"]) == 39
    assert "r0000003" not in found["readings"]["train"] + found["readings streamed"]["train"]
    forgetful = make_release(tmp_path / "forgetful", "3.0.0")
    error = client.publish(hub, forgetful, repo).get()["error"]
    assert "does not know that readings > r0000003 was withdrawn" in error
    (forgetful / "tombstones.parquet").write_bytes((new / "tombstones.parquet").read_bytes())
    write_manifest(forgetful, GAUGES, "3.0.0")
    assert lint(forgetful) == ["[readings > r0000003] was withdrawn and is back (1 such rows): apply the tombstones"]
