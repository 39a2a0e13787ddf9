"""Git repositories as sources: pinned by address and commit ids, not by the files of a clone."""

from __future__ import annotations

import pytest

from builders.sources import Sources
from schemas import GoldsmithError

TOML = """[repo]
url = "https://example.org/group/project"
git = true
licence = "MIT"
redistribute = true
accessed = "2026-11-30"
citation = "project"
"""


def _sources(folder, **options):
    (folder / "sources.toml").write_text(TOML)
    return Sources.load(folder, **options)


def test_a_clone_is_given_or_found_in_a_mirror_and_its_files_do_not_count(tmp_path):
    clone = tmp_path / "mirror" / "example.org" / "group" / "project.git"
    clone.mkdir(parents=True)
    absent = _sources(tmp_path)
    assert not absent.given("repo")
    with pytest.raises(GoldsmithError, match=r"git clone --mirror https://example\.org/group/project"):
        absent.path("repo")
    mirrored = _sources(tmp_path, mirrors=[str(tmp_path / "mirror")])
    other = _sources(tmp_path, overrides={"repo": clone})
    assert mirrored.given("repo")
    assert mirrored.path("repo") == other.path("repo") == clone
    first = mirrored.sha256("repo")
    (clone / "packed-refs").write_text("changed\n")
    assert first == other.sha256("repo") == absent.sha256("repo") == mirrored.resolve("repo").sha256
    assert not other.resolve("repo").override


def test_a_git_source_needs_its_address(tmp_path):
    (tmp_path / "sources.toml").write_text(TOML.replace('url = "https://example.org/group/project"\n', ""))
    with pytest.raises(GoldsmithError, match="url"):
        Sources.load(tmp_path)
