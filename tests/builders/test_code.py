"""The checksum of a builder's code: edits that can change rows change it, others do not."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from builders.code import closure, code_key, libraries
from schemas import GoldsmithError

FILES = {
    "__init__.py": "",
    "builder.py": '''"""Doc."""
from pathlib import Path
from schemas import Column, Dataset, Table, Text
from .helper import factor
from .checks import CHECKS
from . import other as renamed

TABLE = Table("t", "T.", (Column("a", Text(), "A."),), key=("a",))

class Mine:
    """Doc."""
    schema = Dataset("mine", "Mine", "Mine.", (TABLE,))
    folder = Path(__file__).parent
    checks = CHECKS

BUILDER = Mine()
''',
    "helper.py": "def factor():\n    return 1\n",
    "other.py": "from . import deep\n",
    "deep.py": "LEVEL = 3\n",
    "unused.py": "A = 1\n",
    "checks.py": "from schemas import CheckSet\nCHECKS = CheckSet()\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a builder, and its key after some files were replaced."""
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / name).mkdir()

    def key(**changed: str) -> str:
        for file, text in {**FILES, **{f"{stem}.py": text for stem, text in changed.items()}}.items():
            (tmp_path / name / file).write_text(text)
        for module in [module for module in sys.modules if module.startswith(name)]:
            del sys.modules[module]
        importlib.invalidate_caches()
        sys.dont_write_bytecode = True
        return code_key(importlib.import_module(f"{name}.builder").BUILDER)

    return key


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"helper": '"""Now with a docstring."""\n\n\ndef factor():  # and a comment\n    "doc"\n    return (1)\n'},
        {"unused": "A = 2\n"},
        {"checks": "from schemas import CheckSet\nCHECKS = CheckSet(checks=())\n"},
    ],
)
def test_what_changes_no_row_keeps_the_key(package, changed):
    assert package(**changed) == package()


@pytest.mark.parametrize(
    "changed",
    [
        {"helper": "def factor():\n    return 2\n"},
        {"deep": "LEVEL = 4\n"},
        {"builder": FILES["builder.py"].replace('"Mine."', '"Yours."')},
        {"__init__": "import os\n"},
    ],
)
def test_what_may_change_a_row_changes_the_key(package, changed):
    assert package(**changed) != package()


def test_the_closure_holds_the_shared_code_that_makes_bytes():
    import tinyset.builder

    found = closure("tinyset.builder")
    assert {
        "tinyset",
        "tinyset.builder",
        "tinyset.helper",
        "builders.shard",
        "schemas.parquet",
        "schemas.types",
    } <= set(found)
    assert not {"builders.engine", "builders.build", "schemas.checks", "pyarrow"} & set(found)
    assert Path(tinyset.builder.__file__).name == "builder.py"


def test_a_class_from_elsewhere_is_refused(tmp_path):
    from tinyset.builder import TinySet

    class Elsewhere(TinySet):
        folder = tmp_path

    with pytest.raises(GoldsmithError, match=r"\[tinyset\] its class is defined in .*outside its folder"):
        code_key(Elsewhere())


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package of others, or another version of it, that brings the module `soundness`."""
    home = tmp_path / "site"
    home.mkdir()
    (home / "soundness.py").write_text("")
    monkeypatch.syspath_prepend(str(home))

    def version(number: str) -> None:
        info = home / "sound_ness.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sound-ness\nVersion: {number}\n")
        (info / "top_level.txt").write_text("soundness\n")

    return version


def test_libraries_of_a_package_of_others(package, installed, tmp_path):
    installed("1.0")
    files = {
        "helper": "def factor():\n    import soundness\n    return 1\n",
        "checks": "import pytest\nCHECKS = None\n",
        "other": "def more():\n    import fsspec, not_installed_here\n",
    }
    before = package(**files)
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    first = libraries(f"{name}.builder")
    assert list(first) == sorted(first)
    assert first["sound-ness"] == "1.0"
    assert not {"fsspec", "goldsmith", "pytest", name} & set(first)
    installed("1.1")
    assert libraries(f"{name}.builder") == {**first, "sound-ness": "1.1"}
    assert package(**files) == before
