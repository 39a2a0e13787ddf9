"""Programs of the builders that users start as modules: in any folder, whatever it holds, and as texts name them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BUILDERS = Path(__file__).resolve().parents[2] / "builders"
TEXTS = [path for suffix in ("py", "md", "toml") for path in BUILDERS.rglob(f"*.{suffix}")]
COMMAND = re.compile(r"python (?:-P )?-m (builders(?:\.\w+)+)")
NAMED = {(path, match[0], match[1]) for path in TEXTS for match in COMMAND.finditer(path.read_text(encoding="utf-8"))}
MAKERS = {"make_sample", "colour"}
"""They take no arguments and write into the repository at once."""
PROGRAMS = sorted({module for _, _, module in NAMED if module.rpartition(".")[2] not in MAKERS})


def test_every_text_names_the_form_that_leaves_the_working_folder_out():
    assert len(PROGRAMS) >= 9
    assert [(path.name, said) for path, said, _ in NAMED if " -P " not in said] == []


@pytest.mark.parametrize("module", PROGRAMS)
def test_a_file_of_the_working_folder_is_not_taken_for_a_part_of_goldsmith(module, tmp_path):
    for name in ("schemas", "builders", "json", "click"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')", encoding="utf-8")
    command = [sys.executable, "-P", "-m", module, "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"usage: python -P -m {module} " in done.stdout.replace("Usage", "usage")
