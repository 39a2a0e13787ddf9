"""The command line: the whole street on ViroGym's sample, and that every mistake ends in one line and exit code 2."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from goldsmith import main
from schemas import DatasetFolder


def goldsmith(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `built` (checked, documented) and its release `1.0.0`."""
    room = tmp_path_factory.mktemp("street")
    goldsmith("build", "virogym", "--sample", "-o", room / "built")
    goldsmith("check", room / "built")
    goldsmith("card", room / "built")
    said = goldsmith("release", room / "built", "-o", room / "1.0.0")
    assert "holds the new release: virogym 1.0.0" in said
    return room


def row_of(release: Path, table: str) -> str:
    return pq.read_table(DatasetFolder(release).lineage(table))["id"][0].as_py()


def test_every_command_shows_an_example() -> None:
    def commands(group: click.Group, path: str) -> None:
        for name, command in group.commands.items():
            if isinstance(command, click.Group):
                commands(command, f"{path} {name}")
            else:
                assert f"Example: {path} {name}" in goldsmith(*path.split()[1:], name, "--help"), name

    commands(main, "goldsmith")


def test_a_release_leaves_the_dataset_folder_as_it_was(street: Path) -> None:
    assert goldsmith("card", street / "built", "--check") == ""
    assert goldsmith("card", street / "1.0.0", "--check") == ""
    assert goldsmith("lint", street / "1.0.0") == "lint clean\n"
    assert "is this release already: virogym 1.0.0" in goldsmith("release", street / "built", "-o", street / "1.0.0")
    assert not list(street.glob(".*")), "no folder of the work is left"


def test_a_release_is_made_again(street: Path, tmp_path: Path) -> None:
    said = goldsmith("regenerate", street / "1.0.0", "--workers", "2", "--cache", tmp_path / "empty")
    assert said.endswith("virogym 1.0.0: the same rows\n")


def test_a_row_is_walked_back(street: Path) -> None:
    row = row_of(street / "built", "variants")
    found = json.loads(goldsmith("explain", street / "built", row, "--table", "variants", "--json"))
    assert found["id"] == row
    assert found["origins"][0]["excerpts"]


def test_withdrawn_rows_stay_out_of_the_next_release(street: Path) -> None:
    row = row_of(street / "1.0.0", "proteingym")
    again = ("--row", f"variants:{row}", "--reason", "asked", "-o", street / "2.0.0")
    goldsmith("withdraw", street / "1.0.0", *again)
    assert goldsmith("regenerate", street / "2.0.0").endswith("the same rows\n")
    said = goldsmith("release", street / "built", "-o", street / "next", "--previous", street / "2.0.0", code=1)
    assert "nothing" in said, "the next release would be the one before, for the row stays out"
    report = (street / "2.0.0" / "README.md").read_text(encoding="utf-8")
    assert "## Withdrawn rows" in report
    assert row not in pq.read_table(DatasetFolder(street / "2.0.0").lineage("variants"))["id"].to_pylist()


def test_a_release_is_never_written_to(street: Path) -> None:
    for command in ("check", "card"):
        assert "is a release and is never written to" in goldsmith(command, street / "1.0.0", code=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build", "nothing"], "is no dataset known here"),
        (["build", "virogym", "--sample", "--source", "x"], "write it as NAME=PATH"),
        (["build", "virogym", "--sample", "--source", "x=y"], "is no source of this dataset"),
        (["build", "virogym", "--sample", "--shard", "3/2"], "write I/N"),
        (["build", "virogym", "--sample", "-o", "/dev/null/x"], "choose another path"),
        (["check", "{room}"], "is no finished dataset"),
        (["check", "{room}/" + 300 * "x"], "choose another path"),
        (["release", "{room}", "-o", "{room}/out"], "is no finished dataset"),
        (["diff", "{room}", "{room}"], "is no finished dataset"),
        (["regenerate", "{room}"], "is no release"),
        (["lint", "{room}"], "is no release"),
        (["verify", "nowhere"], "write it as ORG/NAME@VERSION"),
        (["withdraw", "{room}", "--row", "x", "--reason", "y", "-o", "{room}/z"], "write it as TABLE:ID"),
        (["new", "virogym"], "virogym"),
        (["score", "virogym", "predictions.csv"], ""),
        (["score", "virogym", "p.csv", "--items", "{room}/items.csv"], "give a name that ends in .parquet"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    output = goldsmith(*(argument.replace("{room}", str(tmp_path)) for argument in arguments), code=2)
    lines = output.strip().splitlines()
    assert said in lines[-1]


WITHOUT_A_PACKAGE = """
import sys
sys.modules["Bio"] = None  # As if it were not installed.
from goldsmith import main
main(["build", "virogym", "--sample", "-o", sys.argv[1]])
"""


def test_a_package_that_is_not_installed_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_A_PACKAGE, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    said = done.stderr.splitlines()[-1]
    assert "Bio" in said
    assert "pip install 'goldsmith[all]'" in said


def test_a_reader_who_leaves_is_no_mistake() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as nobody:
        done = subprocess.run([sys.executable, "-m", "goldsmith", "list"], stdout=nobody, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_id_may_be_a_number_below_zero(street: Path) -> None:
    said = goldsmith("explain", street / "built", "-160", "--table", "variants", code=2)
    assert "[-160] is no row" in said
    assert "No such option" in goldsmith("explain", street / "built", "x", "--tabel", "variants", code=2)


def test_predictions_are_scored_against_their_own_dataset(street: Path) -> None:
    said = goldsmith("score", "webspatial", "answers.jsonl", "-d", street / "built", code=2)
    assert "built] is of virogym: score it by that name" in said


def test_a_release_inside_its_dataset_is_refused(street: Path) -> None:
    assert "lies in the dataset folder" in goldsmith("release", street / "built", "-o", street / "built/x", code=2)


def test_a_rebuild_needs_the_same_sources(street: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("site\n", encoding="utf-8")
    said = goldsmith("regenerate", street / "1.0.0", "--source", f"glycoprotein_entry={own}", code=2)
    assert "is another file now" in said


def test_data_that_fails_end_in_1(street: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(street / "built", tmp_path / "copy")
    shard = next(DatasetFolder(folder).data("variants").iterdir())
    shard.write_bytes(shard.read_bytes()[:-100])
    assert "FAILED" in goldsmith("check", folder, code=1)
    said = goldsmith("release", folder, "-o", tmp_path / "release", code=1)
    assert "refused:" in said
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("command", ["check", "release"])
def test_the_release_before_is_of_the_same_dataset(street: Path, tmp_path: Path, command: str) -> None:
    other = DatasetFolder(shutil.copytree(street / "built", tmp_path / "other"))
    record = {**other.build, "dataset": "barley"}
    other.build_json.write_text(json.dumps(record))
    out = ["-o", tmp_path / "out"] if command == "release" else []
    said = goldsmith(command, street / "built", "--previous", other.path, *out, code=2)
    assert f"[{other.path}] is of barley, not of virogym" in " ".join(said.split())


def test_a_fault_of_the_program_is_no_data_that_failed(street: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("an oversight")

    monkeypatch.setattr("cards.problems", broken)
    result = CliRunner().invoke(main, ["card", str(street / "built"), "--check"])
    assert result.exit_code == 3
    assert "KeyError: 'an oversight'" in result.output
    assert "this is a fault of the program: report it" in result.output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_and_its_folders_go(street: Path, tmp_path: Path, number: int, code: int) -> None:
    """DuckDB makes an error of its own of the exception, which is no fault of the program."""
    copy = shutil.copytree(street / "built", tmp_path / "built")
    script = (
        "import os, signal, threading, duckdb, quality.run, goldsmith\n"
        "def endless(folder, *_, **__):\n"
        f"    threading.Timer(0.5, os.kill, (os.getpid(), {number})).start()\n"
        "    from quality.connect import opened\n"
        "    with opened(folder, None) as session:\n"
        "        while True:\n"
        "            session.one('SELECT sum(hash(range)) FROM range(10000000)')\n"
        "quality.run.check = endless\n"
        "goldsmith.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script, "check", str(copy)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in copy.rglob(".check-*")] == []


def test_a_release_that_was_changed_is_not_scored(street: Path, tmp_path: Path) -> None:
    release = Path(shutil.copytree(street / "1.0.0", tmp_path / "changed"))
    shard = next(release.glob("data/variants/*.parquet"))
    rows = pq.read_table(shard)
    pq.write_table(rows.set_column(rows.schema.get_field_index("score"), "score", rows["score"][::-1]), shard)
    said = goldsmith("score", "virogym", tmp_path / "none.csv", "-d", release, code=2)
    assert "is not as it was released (data/variants/" in " ".join(said.split())


@pytest.mark.parametrize("damage", [{}, {"tables": [{"name": "t", "key": None}]}, {"tables": -1}])
def test_a_damaged_schema_is_named(street: Path, tmp_path: Path, damage: object) -> None:
    copy = DatasetFolder(shutil.copytree(street / "built", tmp_path / "built"))
    copy.build_json.write_text(json.dumps({**copy.build, "schema": damage}))
    assert "schema] is damaged: build the dataset again" in " ".join(
        goldsmith("diff", *[copy.path] * 2, code=2).split()
    )


def test_a_full_disk_ends_in_a_line(street: Path, small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(1 << 20)
    said = goldsmith("release", street / "built", "-o", disk / "1.0.0", code=2)
    assert "No space left on device" in said
    assert "make room and run it again" in " ".join(said.split())
    assert len(said) < 500
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize("name", ["a[1]*", "a?"])
def test_a_folder_that_is_called_like_a_pattern_is_itself(street: Path, tmp_path: Path, name: str) -> None:
    """Beside it is `a1`, which the name matches as a pattern, with files that are no Parquet."""
    (tmp_path / name).mkdir()
    here, beside = tmp_path / name, tmp_path / "a1"
    for table in ("data/variants", "lineage", "quality"):
        (beside / "built" / table).mkdir(parents=True)
    for path in DatasetFolder(street / "built").all_shards("variants"):
        (beside / "built" / "data/variants" / path.name).write_bytes(b"other")
    for path in ("lineage/variants.parquet", "quality/findings.parquet"):
        (beside / "built" / path).write_bytes(b"other")
    shutil.copytree(street / "built", here / "built", ignore=shutil.ignore_patterns("work"))
    goldsmith("check", here / "built")
    goldsmith("card", here / "built")
    row = row_of(here / "built", "variants")
    assert json.loads(goldsmith("explain", here / "built", row, "--table", "variants", "--json"))["id"] == row
    assert "the nearest are" in goldsmith("explain", here / "built", row[:-1], "--table", "variants", code=2)
    goldsmith("release", here / "built", "-o", here / "1.0.0")
    assert goldsmith("regenerate", here / "1.0.0").endswith("the same rows\n")
    goldsmith("withdraw", here / "1.0.0", "--row", f"variants:{row}", "--reason", "asked", "-o", here / "2.0.0")
    said = goldsmith("diff", here / "1.0.0", here / "2.0.0")
    assert "variants" in said
