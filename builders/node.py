"""What must hold on a machine before it builds shards for another: it sees the same files and has the same code.

A cluster's nodes share the dataset's folder, the cache and the mirrors (a network file system); each shard is written
there by the node that builds it. A node that differs would leave other bytes under a shard's key: it refuses.
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from builders.api import Builder
from builders.code import code_key
from builders.shard import Job, Progress, ShardWork
from builders.tools import tools
from schemas import GoldsmithError

SIGN = "sign-"


@dataclass(frozen=True)
class NodeWork:
    """The work of `builders.shard.ShardWork`, done where another machine's driver wants it.

    Attributes:
        sign: a file that the driver has laid into the dataset's folder.
    """

    work: ShardWork
    sign: Path

    def __call__(self, job: Job, report: Callable[[Progress], None]) -> dict[str, Any]:
        here = socket.gethostname()
        if not self.sign.is_file():
            raise GoldsmithError(
                f"[{self.sign.parent}] is not seen on the node {here}: put the dataset's folder, the cache and the "
                "mirrors where all nodes see them under the same path"
            )
        for name in job.shard.inputs:
            path = self.work.sources.resolve(name).path
            if not path.exists():
                raise GoldsmithError(
                    f"[{name}] {path} is not seen on the node {here}: put the cache (--cache) and the mirrors where "
                    "all nodes see them under the same path"
                )
        self._refuse_other_code(job, here)
        return self.work(job, report)

    def _refuse_other_code(self, job: Job, here: str) -> None:
        ours = _tools(self.work.builder)
        for name, version in job.facts["tools"].items():
            if ours.get(name) != version:
                raise GoldsmithError(
                    f"[{name}] is {ours.get(name, 'absent')} on the node {here} and {version} where the build was "
                    "started: install the same versions everywhere, the bytes depend on them"
                )
        if _code(self.work.builder) != job.facts["code"]:
            raise GoldsmithError(
                f"[{self.work.builder.schema.name}] the builder's code on the node {here} is not that of the machine "
                "that started the build: install the same goldsmith everywhere"
            )


@contextmanager
def shared(work: ShardWork, room: Path) -> Iterator[NodeWork]:
    """The work as it is sent to nodes; as long as the context lasts, `room` has a sign in it that they look for."""
    sign = room.resolve() / f"{SIGN}{uuid.uuid4().hex}"
    sign.touch()
    try:
        far = ShardWork(work.builder, work.sources, work.folder.resolve())
        yield NodeWork(far, sign)
    finally:
        sign.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def _code(builder: Builder) -> str:
    """Computed once: what a process has loaded stays as it was, whatever becomes of the files."""
    return code_key(builder)


@lru_cache(maxsize=1)
def _tools(builder: Builder) -> Mapping[str, str]:
    return tools(builder)
