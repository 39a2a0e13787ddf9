"""VeriVul: from CVE-fixing commits to certified pairs.

The way of a fix: `commits` names it; `fixes` reads both sides with git plumbing (`git`), indexes them (`index`), slices
the changed functions (`slicer`, `criterion`) and closes each on both sides into one C file under one harness
(`closer`); `certify` asks ESBMC (`esbmc`) and gcc's sanitizers (`replay`), and `rows` writes down what came of it.
A shard is a fix.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from builders.api import Batch, Read, Reject, Shard
from builders.verivul import baseline, commits, esbmc, expand, fixes, python_programs, rename, rows
from builders.verivul.checks import CHECKS
from builders.verivul.commits import Fix
from builders.verivul.git import Repository
from builders.verivul.outcome import Attempt
from builders.verivul.python_programs import PythonPair
from builders.verivul.python_subset import NotAllowedError
from builders.verivul.schema import ATTEMPTS, PAIRS, PROGRAMS, REFERENCE, SCHEMA

if TYPE_CHECKING:
    from builders.sources import Sources
    from schemas import DatasetFolder, Table

_SPLIT = "test"
_CALLS = "calls"
_PYTHON = "python"
_NOT_ALLOWED = "python_not_allowed"
"""Reason of a reject: a Python program with what is not run."""


class VeriVul:
    """Builds VeriVul."""

    schema = SCHEMA
    version = "1.0.0"
    folder = Path(__file__).parent
    checks = CHECKS
    expected_rejects = frozenset({_NOT_ALLOWED})
    reject_budget = 0.0

    def score(self, folder: DatasetFolder, predictions: Path) -> Any:
        """Score predictions: see `score`."""
        return import_module("builders.verivul.score").score(folder, predictions)

    def plan(self, sources: Sources) -> Iterable[Shard]:
        """A shard for the baseline, one for each Python program and one for each fix."""
        version = esbmc.version()
        yield Shard("baseline", ("commits",), {})
        for pair in python_programs.read(sources.text(_PYTHON)) if _PYTHON in sources.names else ():
            yield Shard(f"python.{pair.name}", (_PYTHON,), {"pair": asdict(pair), "esbmc": version})
        recorded = (_CALLS,) if _CALLS in sources.names else ()
        seed = commits.rename_seed(sources.text("commits"))
        renamed = {} if seed is None else {"rename": seed}
        for fix in commits.read(sources.text("commits")):
            if fix.repository not in sources.names:
                sources.spec(fix.repository)  # says which repositories there are
            if not sources.allows(fix.repository):
                continue
            given = sources.given(fix.repository)
            parameters = {"fix": _form(fix), "esbmc": version, "licence": sources.spec(fix.repository).licence,
                          **renamed}  # fmt: skip
            inputs = (fix.repository, *recorded) if given else ("commits",)
            yield Shard(f"fix.{fix.name}", inputs, {**parameters, "given": given})

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The rows of a fix."""
        if shard.name == "baseline":
            found = rows.baseline_rows(list(baseline.programs()))
            yield _batch(REFERENCE, found, "commits", "builders/verivul/baseline.py")
            return
        if shard.name.startswith("python."):
            yield from _python(PythonPair(**shard.parameters["pair"]), sources.spec(_PYTHON).licence)
            return
        fix = _fix(shard.parameters["fix"])
        if not shard.parameters["given"]:
            absent = Attempt(
                fix.commit[:12], "", 0, 0, "", "", "", "repository_absent", "no clone was given to --source"
            )
            yield _batch(ATTEMPTS, [rows.attempt_row(fix, 0, absent, "closer")], "commits", fix.commit)
            yield Read("commits", "attempts", 1)
            return
        recorded = sources.text(_CALLS) if _CALLS in shard.inputs else ""
        with Repository(sources.path(fix.repository)) as repository:
            result = fixes.certify(repository, fix, cache=_cache())
            expanded = expand.replayed(repository, fix, recorded, cache=_cache()) if recorded else []
        yield from _rows(fix, result, expanded, shard.parameters["licence"], shard.parameters.get("rename"))


def _rows(
    fix: Fix, result: fixes.Result, expanded: list[fixes.Result], licence: str, seed: int | None
) -> Iterator[Batch | Reject | Read]:
    programs, pairs, attempts = [], [], []
    originals = {change.before.name: change.before for change in result.changes}
    for expander, one in [("closer", result), *(("model", each) for each in expanded)]:
        attempts += [rows.attempt_row(fix, n, attempt, expander) for n, attempt in enumerate(one.attempts)]
        for certified in one.pairs:
            renamed = None if seed is None else rename.again(certified, seed, cache=_cache())
            pair, before = renamed or certified, originals[certified.function]
            two, row = rows.pair_rows(
                fix,
                pair,
                before.text,
                path=before.path,
                date=result.date,
                licence=licence,
                expander=expander,
                renamed=renamed is not None,
            )
            programs += two
            pairs.append(row)
    place = fix.commit
    yield _batch(ATTEMPTS, attempts, fix.repository, place)
    yield Read(fix.repository, "attempts", len(attempts))
    if pairs:
        yield _batch(PAIRS, pairs, fix.repository, place)
        yield _batch(PROGRAMS, programs, fix.repository, place)
    if result.changes:
        yield _batch(REFERENCE, [rows.real_row(fix, change) for change in result.changes], fix.repository, place)


def _python(pair: PythonPair, licence: str) -> Iterator[Batch | Reject | Read]:
    place = f"pair {pair.name}"
    yield Read(_PYTHON, "attempts", 1)
    try:
        checked = python_programs.check(pair)
    except NotAllowedError as error:
        yield Reject("attempts", _NOT_ALLOWED, str(error), _PYTHON, place, json.dumps(asdict(pair)))
        return
    after = checked.after.verdict if checked.after else ""
    attempt = Attempt(pair.name, "whole", 0, 0, "python", checked.before.verdict, after, checked.outcome)
    fix = Fix("python", "", (), (pair.cwe,))
    row = {**rows.attempt_row(fix, 0, attempt, "python"), "attempt_id": f"python-{pair.name}"}
    yield _batch(ATTEMPTS, [row], _PYTHON, place)
    if checked.outcome == "certified":
        programs, found = rows.python_rows(checked, licence)
        yield _batch(PAIRS, [found], _PYTHON, place)
        yield _batch(PROGRAMS, programs, _PYTHON, place)


def _batch(table: Table, found: list[dict[str, Any]], source: str, place: str) -> Batch:
    content = pa.Table.from_pylist([_plain(table, row) for row in found], table.arrow).combine_chunks()
    return Batch(table.name, _SPLIT, content.to_batches()[0], source, [place] * len(found))


def _plain(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    names = {column.name for column in table.columns if type(column.type).__name__ == "Json"}
    return {name: json.dumps(row[name], sort_keys=True) if name in names else row[name] for name in table.names}


def _form(fix: Fix) -> dict[str, Any]:
    return {"repository": fix.repository, "commit": fix.commit, "cve": list(fix.cve), "cwe": list(fix.cwe),
            "subject": fix.subject, "date": fix.date}  # fmt: skip


def _fix(form: Mapping[str, Any]) -> Fix:
    return Fix(**{**form, "cve": tuple(form["cve"]), "cwe": tuple(form["cwe"])})


def _cache() -> Path | None:
    """`GOLDSMITH_ESBMC_CACHE`, for those who work on the builder; every build runs ESBMC otherwise."""
    named = os.environ.get("GOLDSMITH_ESBMC_CACHE")
    return Path(named) if named else None


BUILDER = VeriVul()
