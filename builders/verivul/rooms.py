"""Temporary folders that do not pile up: they go with their block, at an interrupt, too, and a process that was killed
outright leaves its folders to the next one that needs a folder."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

from schemas.stop import deferred

_NAME = re.compile(r"goldsmith-(?:esbmc|gcc|git|python|replay)-(\d+)-\w+")
_OLD = 3600
"""Seconds: younger folders of absent processes may belong to another container that shares the folder."""


class Room(tempfile.TemporaryDirectory[str]):
    """A folder of this process; the first one clears away those of processes that are gone."""

    def __init__(self, kind: str) -> None:
        _sweep(Path(tempfile.gettempdir()))
        with deferred():
            super().__init__(prefix=f"goldsmith-{kind}-{os.getpid()}-")

    def cleanup(self) -> None:
        """Remove it, wholly."""
        with deferred():
            super().cleanup()


@cache
def _sweep(root: Path) -> None:
    for path in root.glob("goldsmith-*"):
        match = _NAME.fullmatch(path.name)
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
