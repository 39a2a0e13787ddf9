"""What a build has to do, and why: the builder's shards against those already built.

A shard is named by what it depends on (code, parameters, sources, tools), so a change rebuilds only what it touches and
can be told by its name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.api import Builder, Shard
from builders.assemble import WORK
from builders.code import code_key
from builders.shard import RECORD, Job
from builders.sources import Sources
from builders.tools import tools
from schemas import GoldsmithError

_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
_TABLE = re.compile(r"\w+")


@dataclass(frozen=True)
class Plan:
    """The builder's shards as jobs, for each `build` or `keep` and why, its code's checksum and its tools' versions."""

    jobs: tuple[Job, ...]
    verdicts: tuple[tuple[str, str], ...]
    code: str
    tools: Mapping[str, str]


def plan(builder: Builder, sources: Sources, out: Path) -> list[tuple[Shard, str, str]]:
    """What `build` would do: for each shard, in order, `build` or `keep`, and why. Writes nothing.

    Raises:
        GoldsmithError: the plan is wrong, or a source that it reads cannot be had.
    """
    made = make_plan(builder, sources, out)
    return [(job.shard, *verdict) for job, verdict in zip(made.jobs, made.verdicts, strict=True)]


def make_plan(builder: Builder, sources: Sources, out: Path) -> Plan:
    """Ask the builder for its shards and compare them with those that are built.

    Raises:
        GoldsmithError: the plan is wrong, or a source that it reads cannot be had.
    """
    shards = list(builder.plan(sources))
    names = Counter(shard.name for shard in shards)
    for shard in shards:
        if not _NAME.fullmatch(shard.name) or names[shard.name] > 1:
            raise GoldsmithError(
                f"[{shard.name}] is no name for a shard: make it unique, of letters, digits, `.`, `_`, `-`"
            )
        if not sources.allows(*shard.inputs):
            raise GoldsmithError(f"[{shard.name}] reads a source that may not be redistributed: skip it in the plan")
    for table in builder.schema.tables:
        if not _TABLE.fullmatch(table.name):
            raise GoldsmithError(f"[{table.name}] is no name for a table: use letters, digits and `_`")
    if not shards:
        raise GoldsmithError(f"[{builder.schema.name}] the plan has no shards: {_cure(builder, sources)}")
    code, versions = code_key(builder), tools(builder)
    earlier = _earlier(out)
    jobs, verdicts = [], []
    for shard in shards:
        job = _job(builder, sources, shard, code, versions)
        jobs.append(job)
        if shard_record(out, job.key):
            verdicts.append(("keep", "nothing it depends on has changed"))
        else:
            verdicts.append(("build", _why(job.facts, earlier.get(shard.name, []))))
    return Plan(tuple(jobs), tuple(verdicts), code, versions)


def _cure(builder: Builder, sources: Sources) -> str:
    """What to do where there is nothing to build."""
    absent = [name for name in sources.names if sources.allows(name) and not sources.given(name)]
    if not absent:
        return "nothing would be built"
    sample = not sources.sample and (builder.folder / "sample" / "sources.toml").is_file()
    return f"give one of its sources with --source NAME=PATH ({', '.join(absent)}){', or --sample' if sample else ''}"


def _job(builder: Builder, sources: Sources, shard: Shard, code: str, versions: Mapping[str, str]) -> Job:
    try:
        parameters = json.dumps(dict(shard.parameters), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise GoldsmithError(f"[{shard.name}] its parameters are no JSON ({error}): use plain values") from None
    facts = {
        "code": code,
        "version": builder.version,
        "schema": _sum(builder.schema.to_json()),
        "parameters": _sum(parameters),
        "inputs": {name: [sources.sha256(name), sources.spec(name).licence] for name in sorted(shard.inputs)},
        "tools": {name: version for name, version in versions.items() if name != "goldsmith"},  # That is `code`.
    }
    return Job(shard, _sum({"name": shard.name, **facts}), facts)


def _sum(value: object) -> str:
    form = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(form.encode()).hexdigest()


def _why(facts: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> str:
    """What tells a shard from the nearest one of the same name that was built earlier."""
    words = {
        "code": "code changed",
        "version": "builder version changed",
        "schema": "schema changed",
        "parameters": "parameters changed",
    }

    def difference(old: Mapping[str, Any]) -> list[str]:
        found = [text for name, text in words.items() if old.get(name) != facts[name]]
        for kind, text in (("inputs", "sources changed"), ("tools", "tools changed")):
            before, now = old.get(kind, {}), facts[kind]
            names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
            found += [f"{text}: {', '.join(names)}"] if names else []
        return found

    return "; ".join(min(map(difference, earlier), key=len)) if earlier else "new"


def _earlier(out: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((out / WORK / "shards").glob(f"*/{RECORD}")):
        record = shard_record(out, path.parent.name)
        if record:
            found.setdefault(record["name"], []).append(record)
    return found


def shard_record(out: Path, key: str) -> dict[str, Any] | None:
    """The record of a finished shard; None if there is none."""
    try:
        return json.loads((out / WORK / "shards" / key / RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
