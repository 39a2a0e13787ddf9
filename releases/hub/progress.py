"""The progress bar: bytes, rate and time left, on stderr."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bars


class Progress:
    """One bar for one phase after the other; silent where `shown` is False. Use it as a context."""

    def __init__(self, shown: bool) -> None:
        columns = (TextColumn("{task.description:>9}"), BarColumn(), DownloadColumn())
        rates = (TransferSpeedColumn(), TimeRemainingColumn())
        self._bars = Bars(*columns, *rates, console=Console(stderr=True), disable=not shown)
        self._task = None

    def start(self, phase: str, total: int) -> None:
        """Begin a phase of `total` bytes. One of no bytes is not shown."""
        self._task = self._bars.add_task(phase, total=total) if total else None

    def advance(self, count: int) -> None:
        """`count` more bytes are done."""
        if self._task is not None:
            self._bars.advance(self._task, count)

    def reach(self, done: int) -> None:
        """`done` bytes are done in this phase; never goes back."""
        if self._task is not None:
            self._bars.update(self._task, completed=max(done, self._bars.tasks[self._task].completed))

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()
