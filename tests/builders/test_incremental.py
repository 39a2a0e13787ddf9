"""What is built again after a change, as `goldsmith plan` tells it before the build: in a copy of the code to edit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class House:
    """A copy of the code and its samples, with a dataset built by it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        for room in ("builders", "schemas"):
            shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "goldsmith.py", folder)
        self.run("build")

    def run(self, step: str) -> str:
        command = [sys.executable, "-m", "goldsmith", step, self.name, "--sample", "-o", "out"]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def plan(self) -> dict[str, str]:
        """Why each shard that would be built again would be; nothing for those that are kept."""
        lines = [line.split(maxsplit=2) for line in self.run("plan").splitlines() if re.match("build|keep", line)]
        assert lines
        return {shard: why for verdict, shard, why in lines if verdict == "build"}

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        file = self.folder / "builders" / self.name / path
        before = file.read_text(encoding="utf-8")
        after = change(before)
        assert after != before
        file.write_text(after, encoding="utf-8")

    def comment(self, *paths: str) -> None:
        for path in paths:
            self.edit(path, lambda text: f"{text}\n# A remark.\n")

    def extend(self, *paths: str) -> None:
        for path in paths:
            self.edit(path, lambda text: f"{text}\n\ndef more() -> int:\n    return 1\n")


@pytest.fixture
def house(tmp_path) -> Callable[[str], House]:
    return lambda name: House(tmp_path / name, name)


def test_virogym(house):
    virogym = house("virogym")
    virogym.comment("builder.py", "resolve.py", "readers/mavedb.py")
    virogym.extend("checks.py", "plots.py", "scoring/score.py")
    assert virogym.plan() == {}
    virogym.edit("sample/capsid_indels.csv", lambda text: text + text.splitlines()[-1] + "\n")
    virogym.edit("sample/assays.toml", _other_unit("SAMPLE_binding_S"))
    assert virogym.plan() == {
        "assay.SAMPLE_binding_S": "parameters changed",
        "assay.SAMPLE_viral_growth_C_indels": "sources changed: capsid_indels",
    }
    virogym.run("build")
    assert virogym.plan() == {}
    virogym.extend("resolve.py")
    assert set(virogym.plan().values()) == {"code changed"}


def test_vaani(house):
    vaani = house("vaani")
    vaani.comment("builder.py", "utterance.py", "audio.py")
    vaani.extend("checks.py", "checks_audio.py", "audits.py", "plots.py")
    assert vaani.plan() == {}
    vaani.edit("sample/claims.toml", lambda text: f"{text}\n# The words of a source are its bytes.\n")
    assert vaani.plan() == {"claims": "sources changed: claims"}
    vaani.edit("sample/hypotheses.tsv", lambda text: text.replace("\t", "\tand ", 1))
    found = vaani.plan()
    assert found.pop("claims")
    assert set(found.values()) == {"sources changed: hypotheses"}
    assert not {"images-recordings", "settings"} & set(found)
    vaani.extend("audio.py")
    assert "code changed" in vaani.plan()["settings"]


def _other_unit(assay: str) -> Callable[[str], str]:
    """Change one entry of assays.toml."""

    def change(text: str) -> str:
        before, entry, after = text.partition(f"[assays.{assay}]")
        return before + entry + after.replace('unit = "log10"', 'unit = "ln"', 1)

    return change
