"""Finds fixes that name a CVE in a local clone, and writes them as entries of `commits.toml`.

    python -P -m builders.verivul.mine CLONE --repository NAME

It proposes, a person (or the certifier) decides: many such commits only document a CVE.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from builders.verivul.command import tool
from builders.verivul.commits import Fix
from builders.verivul.git import Repository

_CVE = re.compile(r"CVE-\d{4}-\d{4,7}", re.I)
_CWE = re.compile(r"\bCWE-(\d{1,4})\b", re.I)
_BESIDE = re.compile(r"(^|/)(tests?|testsuite|fuzz(ing)?|examples?|docs?)/")


def mine(clone: Path, repository: str) -> Iterator[Fix]:
    """The fixes of C files whose message names a CVE, newest first, each patch once; merges are left out."""
    seen = set()
    with Repository(clone) as repo:
        for sha in repo.grep(r"CVE-[0-9]{4}-[0-9]{4,7}"):
            commit = repo.commit(sha)
            if len(commit.parents) != 1:
                continue
            changed = repo.changed(commit.parents[0], sha)
            paths = [p for status, p in changed if status == "M" and p.endswith(".c") and not _BESIDE.search(p)]
            if not paths:
                continue
            patch = repo.patch_id(repo.diff(commit.parents[0], sha, paths))
            if patch in seen:
                continue
            seen.add(patch)
            cves = tuple(sorted({name.upper() for name in _CVE.findall(commit.message)}))
            cwes = tuple(sorted({int(number) for number in _CWE.findall(commit.message)}))
            yield Fix(repository, sha, cves, cwes, commit.message.splitlines()[0][:120], commit.date)


@tool
def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -P -m builders.verivul.mine", description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--repository", required=True, help="its name in sources.toml")
    chosen = parser.parse_args()
    for fix in mine(chosen.clone, chosen.repository):
        sys.stdout.write(fix.toml())


if __name__ == "__main__":
    main()
