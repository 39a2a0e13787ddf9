"""A small dataset, its sources, and builds of it in this process or in one that can be killed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.build import BuildResult, build
from builders.sources import Sources

DATASETS = Path(__file__).parent / "datasets"
sys.path.insert(0, str(DATASETS))

HEADER = "station,day,value\n"


def csv_lines(name: str, rows: int, start: int = 0) -> str:
    """`rows` readings: every fifth has no value, the second is repeated at the end."""
    values = [f"{name}{i},2020-01-{1 + i % 28:02d},{i if i % 5 else ''}\n" for i in range(start, start + rows)]
    return HEADER + "".join(values) + values[1]


class Tiny:
    """A folder with bundled sources for the dataset `tinyset`, and ways to build it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)

    def write(self, **texts: str | bytes) -> Tiny:
        """Bundle these sources, and no others."""
        lines = []
        for name, text in texts.items():
            content = text.encode() if isinstance(text, str) else text
            (self.folder / f"{name}.csv").write_bytes(content)
            lines.append(f'[{name}]\npath = "{name}.csv"\nlicence = "CC0-1.0"\n')
        (self.folder / "sources.toml").write_text("\n".join(lines))
        return self

    def sources(self, **options) -> Sources:
        return Sources.load(self.folder, **options)

    def build(self, out: Path, **options) -> BuildResult:
        from tinyset.builder import BUILDER

        return build(BUILDER, self.sources(), out, progress=False, **options)

    def process(self, out: Path, options: str = "", **environment: str) -> subprocess.Popen[str]:
        """A build of its own process; `options` are those of `build`, as Python text."""
        code = f"""
import sys
from pathlib import Path
from builders.build import build
from builders.sources import Sources
from schemas import GoldsmithError
from tinyset.builder import BUILDER

if __name__ == "__main__":
    try:
        build(BUILDER, Sources.load(Path({str(self.folder)!r})), Path({str(out)!r}), {options})
    except GoldsmithError as error:
        sys.exit(f"ERROR {{error}}")
"""
        script = self.folder / f"build-{time.monotonic_ns()}.py"
        script.write_text(code)
        root = Path(__file__).resolve().parents[2]
        path = os.pathsep.join([str(DATASETS), str(root)])
        return subprocess.Popen(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONPATH": path, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(autouse=True)
def no_cache_but_our_own(tmp_path_factory, monkeypatch) -> None:
    """No test reads or fills the user's cache."""
    monkeypatch.setenv("GOLDSMITH_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("GOLDSMITH_MIRRORS", raising=False)


@pytest.fixture
def tiny(tmp_path) -> Tiny:
    """Three bundled sources; `c_test` goes to the test split."""
    return Tiny(tmp_path / "sources").write(**{name: csv_lines(name, 12) for name in ("a", "b", "c_test")})


@pytest.fixture
def lines_of() -> Callable[..., str]:
    """The text of a source."""
    return csv_lines


@pytest.fixture
def digests() -> Callable[[Path], dict[str, str]]:
    """The sha256 of every file of a dataset folder, by its name in it."""

    def of(folder: Path) -> dict[str, str]:
        paths = [path for path in folder.rglob("*") if path.is_file() and ".build" not in path.parts]
        sums = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        return dict(sorted(sums.items()))

    return of


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    """Wait until something is so; fails after a minute."""

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        raise AssertionError("it did not happen")

    return wait
