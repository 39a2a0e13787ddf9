"""Temporary folders that do not pile up: they go with their block, at a signal, too, and a process that was killed
outright leaves its folders to the next one that needs such a folder."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

from schemas.stop import deferred

_OLD = 3600
"""Seconds: younger folders of absent processes may belong to another container that shares the folder."""


class Room(tempfile.TemporaryDirectory[str]):
    """A folder of this process; the first one of a kind clears away those of processes that are gone.

    Args:
        kind: letters that name it: it is called `goldsmith-KIND-PROCESS-...`.
        beside: the folder that it is made in, hidden, as `.KIND-PROCESS-...`; if not given, the system's for such.

    Raises:
        OSError: there is no room for it, or no right.
    """

    def __init__(self, kind: str, beside: Path | None = None) -> None:
        prefix = f"goldsmith-{kind}-" if beside is None else f".{kind}-"
        _sweep(Path(tempfile.gettempdir()) if beside is None else beside, prefix)
        with deferred():
            super().__init__(prefix=f"{prefix}{os.getpid()}-", dir=beside)

    def cleanup(self) -> None:
        """Remove it, wholly."""
        with deferred():
            super().cleanup()


@cache
def _sweep(root: Path, prefix: str) -> None:
    name = re.compile(re.escape(prefix) + r"(\d+)-\w+")
    for path in root.glob(f"{prefix}*"):
        match = name.fullmatch(path.name)
        if match and not _alive(int(match[1])) and path.stat().st_mtime < time.time() - _OLD:
            shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
