"""Git plumbing: what is read, what is refused, and that ids vouch for bytes."""

from __future__ import annotations

import re
import subprocess
import zlib
from importlib import import_module

import pytest

from builders.verivul import commits, mine
from builders.verivul.git import MissingError, Repository
from schemas import GoldsmithError


def test_hunks_and_both_sides(repository, fixes_by_subject):
    fix = fixes_by_subject["record_sum"]
    commit = repository.commit(fix.commit)
    assert repository.changed(commit.parents[0], fix.commit) == [("M", "src/record.c")]
    hunks = repository.hunks(commit.parents[0], fix.commit, "src/record.c")
    assert (hunks.deleted, hunks.added, hunks.inserted) == ((10,), (10,), ())
    inserted = fixes_by_subject["mean_weight"]
    parent = repository.commit(inserted.commit).parents[0]
    assert repository.hunks(parent, inserted.commit, "src/weight.c").inserted == (9,)


def test_a_strange_name_is_one_path(repository, fixes_by_subject):
    fix = fixes_by_subject["a file with a strange name"]
    commit = repository.commit(fix.commit)
    assert repository.changed(commit.parents[0], fix.commit) == [("M", "src/two\nlines.c")]


def test_a_commit_that_is_not_there(repository):
    for name in ("0" * 39 + "1", "HEAD", "--help"):
        with pytest.raises(MissingError):
            repository.commit(name)


def test_no_repository(tmp_path):
    with pytest.raises(GoldsmithError, match="no git repository"):
        Repository(tmp_path)


def test_other_bytes_under_an_id_are_refused(tmp_path):
    folder = tmp_path / "repo"
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    folder.mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    (folder / "a.c").write_text("int a;\n")
    subprocess.run([*git, "add", "a.c"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    blob = subprocess.run([*git, "rev-parse", "HEAD:a.c"], capture_output=True, text=True, check=True).stdout.strip()
    repo = Repository(folder)
    assert repo.files(head, re.compile("a"))["a.c"][1] == b"int a;\n"
    place = folder / ".git" / "objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.write_bytes(zlib.compress(b"blob 7\0int b;\n"))
    with pytest.raises(MissingError):
        repo.files(head, re.compile("a"))


def test_hooks_and_configuration_of_the_clone_are_not_used(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    (folder / "a.c").write_text("int a;\n")
    (folder / ".gitattributes").write_text("*.c diff=evil filter=evil\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    (folder / "a.c").write_text("int b;\n")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    mark = tmp_path / "ran"
    for key in ("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "core.fsmonitor"):
        subprocess.run([*git, "config", key, f"touch {mark};"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    repo = Repository(folder)
    parent = repo.commit(head).parents[0]
    assert repo.hunks(parent, head, "a.c").deleted == (1,)
    assert "int b" in repo.diff(parent, head, ["a.c"])
    assert not mark.exists()


def test_mining_finds_each_patch_once_and_no_merge(sample):
    found = list(mine.mine(sample / "repository.stream", "parcel"))
    assert len({fix.commit for fix in found}) == len(found)
    assert not any("Merge" in fix.subject for fix in found)
    assert {fix.cwe for fix in found if fix.subject.startswith("record_sum")} == {(125,)}


def test_commits_toml_reads_back(sample):
    listed = commits.read((sample / "commits.toml").read_text(encoding="utf-8"))
    assert commits.read("".join(fix.toml() for fix in listed)) == listed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[fix]]\nrepository = 'a'\ncommit = 'abc'\n", "full id"),
        ("[[fix]]\nrepository = '../a'\ncommit = '" + "a" * 40 + "'\n", "name of a source"),
        ("[[fix]]\nrepository = 'a'\ncommit = '" + "a" * 40 + "'\nwhat = 1\n", "unknown"),
        ("[[fix]\n", "no TOML"),
        (("[[fix]]\nrepository = 'a'\ncommit = '" + "a" * 40 + "'\n") * 2, "twice"),
    ],
)
def test_commits_toml_with_faults(text, words):
    with pytest.raises(GoldsmithError, match=words):
        commits.read(text)


def test_the_sample_is_what_its_program_makes(sample):
    from builders.verivul import make_sample

    stream, _ = make_sample.make()
    assert (sample / "repository.stream").read_bytes() == stream


@pytest.mark.parametrize("tool", ["mine", "verify", "distances"])
def test_a_users_mistake_is_one_line(tool, tmp_path, monkeypatch, capsys):
    more = ["--repository", "x"] if tool == "mine" else []
    monkeypatch.setattr("sys.argv", [tool, str(tmp_path), *more])
    with pytest.raises(SystemExit) as left:
        import_module(f"builders.verivul.{tool}").main()
    assert left.value.code == 2
    assert re.fullmatch(r"goldsmith: \[[^\n]+\n", capsys.readouterr().err)
