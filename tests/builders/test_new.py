"""A dataset of a third party: laid by `new`, installed, found by its entry point, built; and broken ones beside it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders import registry
from builders.build import build
from builders.new import new
from builders.sources import Sources
from schemas import DatasetFolder, GoldsmithError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path where distributions can be installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def distribution(site: Path, name: str, entry: str, **modules: str) -> None:
    """A distribution that is already installed, as `pip` leaves it."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[goldsmith.builders]\n{entry}\n")
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)
    importlib.invalidate_caches()


def test_what_is_laid_passes_its_own_test_at_once(tmp_path):
    made = new("weather", tmp_path)
    assert all(path.is_file() for path in made)
    assert {path.relative_to(tmp_path / "weather").as_posix() for path in made} >= {
        "README.md", "pyproject.toml", "goldsmith_weather/builder.py", "goldsmith_weather/datasheet.toml",
        "goldsmith_weather/sample/sources.toml", "goldsmith_weather/sources.toml", "tests/test_builder.py",
    }  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "weather")])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "weather")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_an_installed_dataset_is_found_and_builds(tmp_path, site):
    new("weather", tmp_path)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command += [
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--target",
        str(site),
        str(tmp_path / "weather"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    importlib.invalidate_caches()
    assert "weather" in registry.known()
    builder = registry.get("weather")
    assert builder.folder.is_relative_to(site)
    for sample, workers in ((True, 1), (False, 1), (True, 2)):
        sources = Sources.load(builder.folder, sample=sample)
        result = build(builder, sources, tmp_path / f"out-{sample}-{workers}", workers=workers, progress=False)
        assert (result.rows, result.rejects) == ({"records": 7}, {"records": 1})
    assert DatasetFolder(tmp_path / "out-True-1").build["dataset"] == "weather"
    with pytest.raises(GoldsmithError, match=r"\[weather\] is a dataset already known here"):
        new("weather", tmp_path / "again")


@pytest.mark.parametrize(
    ("entry", "module", "message"),
    [
        ("gone = absent_module:BUILDER", "", "No module named 'absent_module': install what it needs"),
        ("gone = broken_module:BUILDER", "1 / 0", "ZeroDivisionError: division by zero"),
        ("gone = broken_module:BUILDER", "A = 1", "AttributeError: module 'broken_module' has no attribute 'BUILDER'"),
        ("gone = broken_module:BUILDER", "BUILDER = 1", "it is no builder, for it has no schema, version"),
        ("gone = tinyset.builder:BUILDER", "", "its schema is named tinyset: register it under that name"),
    ],
)
def test_a_broken_one_takes_no_other_down(site, monkeypatch, entry, module, message):
    monkeypatch.delitem(sys.modules, "broken_module", raising=False)
    distribution(site, "goldsmith_gone", entry, broken_module=module)
    distribution(site, "goldsmith_tinyset", "tinyset = tinyset.builder:BUILDER")
    assert "tinyset" in registry.known()
    assert message in registry.broken()["gone"]
    assert "\n" not in registry.broken()["gone"]
    assert registry.get("tinyset").schema.name == "tinyset"
    with pytest.raises(GoldsmithError, match=r"\[gone\] cannot be used: "):
        registry.get("gone")
    sys.modules.pop("broken_module", None)


def test_an_unknown_name_is_answered_with_a_near_one(site):
    distribution(site, "goldsmith_tinyset", "tinyset = tinyset.builder:BUILDER")
    with pytest.raises(
        GoldsmithError, match=r"\[tinyste\] is no dataset known here \(did you mean tinyset\?\): there are "
    ):
        registry.get("tinyste")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Weather", "is no name for a dataset"),
        ("my-data", "is no name for a dataset"),
        ("1st", "is no name for a dataset"),
        ("../x", "is no name for a dataset"),
        ("x", "is no name for a dataset"),
        ("", "is no name for a dataset"),
        ("class", "is a word of Python"),
        ("match", "is a word of Python"),
        ("list", "is a word of Python"),
        ("json", "is a module of Python"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(tmp_path, name, message):
    with pytest.raises(GoldsmithError, match=message):
        new(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_alone(tmp_path):
    (tmp_path / "weather").mkdir()
    with pytest.raises(GoldsmithError, match=r"weather\] exists already"):
        new("weather", tmp_path)
    assert list((tmp_path / "weather").iterdir()) == []
