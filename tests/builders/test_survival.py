"""Killed, crowded or out of room: nothing is lost or half-written, and going on gives the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import builders.assemble
from schemas import DatasetFolder, GoldsmithError


def left_overs(out: Path) -> list[str]:
    """Temporary files and folders anywhere in a dataset folder."""
    return [str(path) for path in out.rglob(".*") if path.name != ".build"]


@pytest.mark.parametrize("options", ["", "workers=2"])
def test_kill_9_in_the_middle_of_a_shard(tiny, tmp_path, digests, wait_for, options):
    out, mark = tmp_path / "out", tmp_path / "reached"
    process = tiny.process(out, options, TINY_FAULT=f"b=wait:{mark}")
    wait_for(lambda: mark.exists() and any(out.glob(".build/shards/*/shard.json")))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (out / "build.json").exists()
    assert options or left_overs(out)  # Workers outlive the driver for a moment, and clean up.
    result = tiny.build(out)
    assert result.kept >= 1
    assert result.built + result.kept == 3
    tiny.build(tmp_path / "unkilled")
    assert digests(out) == digests(tmp_path / "unkilled")
    assert left_overs(out) == []


@pytest.mark.parametrize("step", range(8))
def test_killed_at_any_step_of_the_move(tiny, tmp_path, digests, lines_of, monkeypatch, step):
    """The old dataset or a folder that says it is unfinished; the next build completes it."""
    out = tmp_path / "out"
    tiny.build(out)
    tiny.write(a=lines_of("a", 20))
    steps = iter(range(100))
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        if (".build/next" in str(self) or ".build/old" in str(target)) and next(steps) == step:
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        try:
            tiny.build(out)
        except KeyboardInterrupt:
            with pytest.raises(GoldsmithError, match="no finished dataset"):
                DatasetFolder(out).build  # noqa: B018
    tiny.build(out)
    tiny.build(tmp_path / "whole")
    assert digests(out) == digests(tmp_path / "whole")
    assert left_overs(out) == []


def test_killed_before_the_move_the_old_dataset_is_whole(tiny, tmp_path, digests, lines_of, monkeypatch):
    out = tmp_path / "out"
    tiny.build(out)
    before = digests(out)
    tiny.write(a=lines_of("a", 20))
    with monkeypatch.context() as patch:
        patch.setattr(builders.assemble, "_swap", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tiny.build(out)
    assert digests(out) == before
    assert tiny.build(out).built == 0
    assert digests(out) != before


def test_a_killed_worker_costs_one_attempt(tiny, tmp_path, digests, monkeypatch):
    monkeypatch.setenv("TINY_FAULT", f"b=die-once:{tmp_path / 'died'}")
    assert tiny.build(tmp_path / "out", workers=2).built == 3
    assert (tmp_path / "died").exists()
    monkeypatch.delenv("TINY_FAULT")
    tiny.build(tmp_path / "quiet")
    assert digests(tmp_path / "out") == digests(tmp_path / "quiet")


def test_a_shard_that_kills_its_workers_is_given_up_and_the_rest_kept(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("TINY_FAULT", "b=die")
    with pytest.raises(
        GoldsmithError, match=r"\[b\] its worker died 3 times, at last by signal 9 .*1 of 3 shards failed"
    ):
        tiny.build(tmp_path / "out", workers=2)
    monkeypatch.delenv("TINY_FAULT")
    result = tiny.build(tmp_path / "out")
    assert (result.built, result.kept) == (1, 2)
    assert left_overs(tmp_path / "out") == []


def test_two_builds_in_one_folder(tiny, tmp_path, wait_for):
    out, mark = tmp_path / "out", tmp_path / "reached"
    first = tiny.process(out, TINY_FAULT=f"b=wait:{mark}")
    wait_for(mark.exists)
    second = tiny.process(out)
    _, error = second.communicate()
    assert second.returncode == 1
    assert error == f"ERROR [{out}] another build is at work here: wait for it, or give another folder to -o\n"
    part = tiny.process(out, "part=(1, 2)")
    assert "another build is at work" in part.communicate()[1]
    first.kill()
    first.communicate()
    assert tiny.build(out).rows["readings"] == 27


def test_two_parts_in_one_folder_work_side_by_side(tiny, tmp_path, wait_for, digests):
    out, mark = tmp_path / "out", tmp_path / "reached"
    first = tiny.process(out, "part=(2, 2)", TINY_FAULT=f"b=wait:{mark}")
    wait_for(mark.exists)
    assert tiny.build(out, part=(1, 2)).built == 2
    with pytest.raises(GoldsmithError, match="another build is at work here"):
        tiny.build(out)
    first.kill()
    first.communicate()
    assert tiny.build(out).built == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_in_a_shard(tiny, tmp_path, small_disk, lines_of, monkeypatch, workers):
    monkeypatch.setenv("TINY_BATCH", "100000")
    tiny.write(a=lines_of("a", 12), b=lines_of("b", 60_000), c_test=lines_of("c", 12))
    disk = small_disk(400_000)
    with pytest.raises(GoldsmithError, match="No space left on device: make room and run it again") as caught:
        tiny.build(disk / "out", workers=workers)
    assert "\n" not in str(caught.value)
    assert not (disk / "out" / "build.json").exists()
    assert left_overs(disk / "out") == []
    for path in (disk / "out").rglob("*.parquet"):
        pq.read_table(path)
    subprocess.run(["mount", "-o", "remount,size=100M", str(disk)], check=True)
    assert tiny.build(disk / "out").rows["readings"] == 48_018


def test_a_full_disk_while_it_is_put_together_leaves_the_old_data(tiny, tmp_path, small_disk, digests, lines_of):
    disk = small_disk(150_000)
    tiny.build(disk / "out")
    before = digests(disk / "out")
    tiny.write(a=lines_of("a", 13))
    filler = disk / "filler"
    with open(filler, "wb") as file:  # Room for the new shard, none for the lineage of all.
        room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        file.write(b"x" * (room - 24_000))
    with pytest.raises(GoldsmithError, match="No space left on device: make room and build again"):
        tiny.build(disk / "out")
    assert digests(disk / "out") == before
    filler.unlink()
    assert tiny.build(disk / "out").rows["readings"] == 10


@pytest.mark.parametrize(
    ("number", "workers", "code"),
    [(signal.SIGINT, 1, -signal.SIGINT), (signal.SIGTERM, 1, 143), (signal.SIGTERM, 2, 0)],
)
def test_a_shard_that_was_told_to_stop_is_built_again(tiny, tmp_path, digests, number, workers, code):
    """With two workers, a worker that is told so dies, and another one does its shard."""
    tiny.build(tmp_path / "whole")
    out, mark = tmp_path / "out", tmp_path / "mark"
    fault = {"TINY_FAULT": f"b=lose:{number.value}:{mark}"}
    process = tiny.process(out, f"workers={workers}, progress=False", **fault)
    _, error = process.communicate()
    assert mark.exists()
    assert "ignored" in error, "the exception was not lost"
    assert process.returncode == code, error
    if code:
        shards = out / ".build" / "shards"
        assert [path.name[0] != "." for path in shards.iterdir()] == [True], "shard a alone is there"
        assert tiny.build(out).built == 2
    assert digests(out) == digests(tmp_path / "whole")
