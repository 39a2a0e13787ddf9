"""A build: what is to be done and why, done, and put together.

The missing shards of the plan (`builders.planning`) are made, each whole or not at all, and then assembled. A build
that was killed goes on where it was and makes the same bytes.
"""

from __future__ import annotations

import errno
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders import engine
from builders.api import Builder
from builders.assemble import WORK, assemble, refuse_foreign
from builders.lock import held
from builders.node import SIGN, shared
from builders.planning import Plan, make_plan, plan, shard_record
from builders.progress import Bar
from builders.shard import Job, ShardWork
from builders.sources import Sources
from builders.sums import sum_file
from schemas import GoldsmithError

__all__ = ["BuildResult", "build", "plan"]


@dataclass(frozen=True)
class BuildResult:
    """What a build did.

    Attributes:
        built, kept: numbers of shards made now and taken from an earlier build.
        missing: names of shards that another part (`--shard`) has to make; the dataset is finished when there are none
            and `finished` says so.
        rows, rejects: by table, of the finished dataset.
    """

    folder: Path
    built: int
    kept: int
    missing: tuple[str, ...]
    finished: bool
    rows: Mapping[str, int]
    rejects: Mapping[str, int]

    def text(self) -> str:
        """The result for people, some lines."""
        done = f"{self.built} shards built, {self.kept} kept"
        if not self.finished:
            left = f"{len(self.missing)} are missing: build the other parts" if self.missing else "all are there"
            return f"{self.folder}: {done}; {left}, then run once without --shard"
        lines = [f"{name:24} {rows:>12,} rows {self.rejects[name]:>10,} rejects" for name, rows in self.rows.items()]
        return "\n".join([f"{self.folder}: {done}", *lines])


def build(
    builder: Builder,
    sources: Sources,
    out: Path,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    part: tuple[int, int] | None = None,
    progress: bool = True,
) -> BuildResult:
    """Build a dataset folder.

    Args:
        out: new, empty, or an earlier build of the same dataset, which is replaced when all is ready.
        workers: processes; 1, the default, works in this one. With `cluster`, tasks at a time at most.
        cluster: address of a Ray cluster that does the work in place of this machine (`local`: one started here); its
            nodes see `out` and the sources' files under the same paths.
        part: (i, n), 1 <= i <= n: make only every n-th shard from the i-th on and do not assemble; several parts may
            run at once in one folder, and a build without `part` then finishes it.
        progress: whether to show a bar on stderr.

    Raises:
        GoldsmithError: the folder is foreign or busy, a source cannot be had, shards failed (the others are kept and
            need not be built again), or the reject budget is exceeded.
    """
    refuse_foreign(out, builder.schema.name)
    with _room(out), held(out, shared=part is not None):
        if part is None:
            _sweep(out)
        made = make_plan(builder, sources, out)
        keep = {job.key for job, (verdict, _) in zip(made.jobs, made.verdicts, strict=True) if verdict == "keep"}
        mine = [job for index, job in enumerate(made.jobs) if part is None or index % part[1] == part[0] - 1]
        todo = [job for job in mine if job.key not in keep or not _intact(out, job.key)]
        with Bar(progress, len(todo)) as bar:
            _fetch(sources, todo, bar)
            try:
                _run(ShardWork(builder, sources, out / WORK / "shards"), todo, workers, cluster, bar)
            finally:
                if part is None:
                    _sweep(out)  # What workers that died have left.
        if part is not None:
            missing = tuple(job.shard.name for job in made.jobs if not shard_record(out, job.key))
            return BuildResult(out, len(todo), len(mine) - len(todo), missing, False, {}, {})
        return _finish(builder, sources, out, made, len(todo))


def _intact(out: Path, key: str) -> bool:
    """Whether a finished shard's files are still what they were: a dataset's files are links to them."""
    folder = out / WORK / "shards" / key
    record = shard_record(out, key)
    if record is not None:
        paths = [(folder / file["name"], file["sha256"]) for file in record["files"]]
        if all(path.is_file() and sum_file(path).sha256 == sha256 for path, sha256 in paths):
            return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


@contextmanager
def _room(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        text = f"[{out}] {error.strerror}: make room and build again; what is finished is kept"
        raise GoldsmithError(text) from None


def _sweep(out: Path) -> None:
    """Remove unfinished shards: nobody else is at work here."""
    for path in (out / WORK / "shards").glob(".*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in (out / WORK).glob(f"{SIGN}*"):
        path.unlink(missing_ok=True)


def _fetch(sources: Sources, jobs: Sequence[Job], bar: Bar) -> None:
    """Find and check every source here, once: workers then read without asking."""
    for name in sorted({name for job in jobs for name in job.shard.inputs}):
        bar.say(f"source {name}")
        sources.resolve(name, bar.came)


def _outcomes(
    work: ShardWork, jobs: Sequence[Job], workers: int | None, cluster: str | None, bar: Bar
) -> Iterator[engine.Outcome]:
    if cluster is None:
        yield from engine.run(work, jobs, workers=workers or 1, report=bar.news)
    else:
        from builders import engine_ray  # It needs an extra.

        with shared(work, work.folder.parent) as far:
            yield from engine_ray.run(far, jobs, address=cluster, workers=workers, report=bar.news)


def _run(work: ShardWork, jobs: Sequence[Job], workers: int | None, cluster: str | None, bar: Bar) -> None:
    failed: list[tuple[str, engine.Outcome]] = []
    bar.say("")
    for outcome in _outcomes(work, jobs, workers, cluster, bar):
        name = jobs[outcome.index].shard.name
        bar.done()
        if outcome.error is not None:
            failed.append((name, outcome))
            bar.say(f"{len(failed)} failed")
            if outcome.trace:
                bar.tell(f"[{name}] {outcome.trace}".rstrip())
            elif len(failed) > 1:  # The first is what the build ends with.
                bar.tell(_told(name, outcome))
            if outcome.stop:
                break
    if failed:
        kept = f" ({len(failed)} of {len(jobs)} shards failed; what is finished is kept)" if len(jobs) > 1 else ""
        raise GoldsmithError(_told(*failed[0]) + kept)


def _told(name: str, outcome: engine.Outcome) -> str:
    text = outcome.error or ""
    return text if text.startswith("[") else f"[{name}] {text}"


def _finish(builder: Builder, sources: Sources, out: Path, made: Plan, built: int) -> BuildResult:
    records = [record for job in made.jobs if (record := shard_record(out, job.key))]
    used = sources.used | {name for job in made.jobs for name in job.shard.inputs}
    facts = {
        "dataset": builder.schema.name,
        "version": builder.version,
        "sample": sources.sample,
        "redistributable_only": sources.redistributable_only,
        "schema": builder.schema.to_json(),
        "code": made.code,
        "tools": made.tools,
        "sources": [_source(sources, name) for name in sorted(used)],
        "left_out": sources.left_out,
    }
    content = assemble(out, builder, records, facts)
    current = {job.key for job in made.jobs}
    for path in (out / WORK / "shards").iterdir():
        if path.name not in current:
            shutil.rmtree(path, ignore_errors=True)
    rows, rejects = Counter(), Counter()
    for file in content["files"]:
        kind = file["path"].partition("/")[0]
        rows[file["table"]] += file["rows"] if kind == "data" else 0
        rejects[file["table"]] += file["rows"] if kind == "rejects" else 0
    return BuildResult(out, built, len(made.jobs) - built, (), True, dict(rows), dict(rejects))


def _source(sources: Sources, name: str) -> dict[str, Any]:
    spec, found = sources.spec(name), sources.resolve(name)
    entry = {
        "name": name,
        **({"path": spec.path} if spec.path is not None else {"url": spec.url}),
        "sha256": found.sha256,
        "size": found.size,
        "licence": spec.licence,
        "redistribute": spec.redistribute,
        "accessed": spec.accessed,
        "citation": spec.citation,
        "facts": {"bom": found.bom, "encoding": found.encoding, "gzip": found.gzip},
    }
    pinned = spec.path is not None or spec.sha256 is not None  # Others are a user's own by design: nothing is replaced.
    entry |= {"secret": True} if spec.secret else {}
    return entry | ({"override": True} if found.override and pinned and found.sha256 != spec.sha256 else {})
