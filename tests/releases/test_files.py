"""Work folders beside a place, and places that are refused."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from release_folders import check, write_report

from releases import apply_drops, release, work_folder
from releases.hub.withdraw import apply_tombstones, withdraw
from schemas import DatasetFolder, GoldsmithError

ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import os, signal, sys
from pathlib import Path
from releases.files import work_folder
with work_folder(Path(sys.argv[1])) as room:
    (room / "file").write_text("much")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_work_folder_is_gone_afterwards(tmp_path: Path) -> None:
    with work_folder(tmp_path / "a" / "out") as room:
        (room / "file").write_text("much")
        assert room.parent == tmp_path / "a"
    assert list((tmp_path / "a").iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    out = tmp_path / "out[1]"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(out)], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(list(tmp_path.iterdir())) == 1
    with work_folder(out) as one, work_folder(out) as two:
        assert sorted(tmp_path.iterdir()) == sorted([one, two])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "x", "data/x"])
def test_a_place_inside_the_dataset_is_refused(ready: DatasetFolder, tmp_path: Path, name: str) -> None:
    write_report(ready, [check("key_unique")])
    release(ready, "1.0.0", tmp_path / "out")
    inside = "lies in the dataset folder"
    with pytest.raises(GoldsmithError, match=inside):
        release(ready, "1.0.0", ready.path / name)
    with pytest.raises(GoldsmithError, match=inside):
        withdraw(tmp_path / "out", tmp_path / "out" / name, {"assays": ["H3"]}, reason="asked")
    with pytest.raises(GoldsmithError, match=inside):
        apply_tombstones(ready, ready.path / name, ())
    lines = [{"check": "noisy", "severity": "drop", "table": "variants", "id": "H3/2", "message": "m", "value": None}]
    write_report(ready, [check("noisy", "failed", "drop", failures=1)], lines)
    with pytest.raises(GoldsmithError, match=inside):
        apply_drops(DatasetFolder(ready.path), ready.path / name)
