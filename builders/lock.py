"""The lock of a folder in which a dataset is built."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from builders.assemble import WORK
from schemas import GoldsmithError


@contextmanager
def held(out: Path, *, shared: bool) -> Iterator[None]:
    """One build in a folder at a time; parts of one build share it. A killed process lets go of it.

    A build that was refused before it made anything leaves nothing behind.

    Raises:
        GoldsmithError: another build is at work there.
    """
    new, path = not out.exists(), out / WORK / "lock"
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w") as file:
            try:
                fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                text = f"[{out}] another build is at work here: wait for it, or give another folder to -o"
                raise GoldsmithError(text) from None
            if not _is_at(file, path):
                continue  # Who held it was refused, and took it away meanwhile.
            try:
                yield
            finally:
                _leave_nothing_empty(out, file, new=new)
            return


def _is_at(file: IO[str], path: Path) -> bool:
    return path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def _leave_nothing_empty(out: Path, file: IO[str], *, new: bool) -> None:
    """Remove a work folder that holds the lock alone, and with it a folder that was not there before."""
    with suppress(OSError):  # Another part is at work, or there is something in them.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if [path.name for path in (out / WORK).iterdir()] == ["lock"]:
            (out / WORK / "lock").unlink()
            (out / WORK).rmdir()
            if new:
                out.rmdir()
