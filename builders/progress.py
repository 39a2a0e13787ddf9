"""What a person sees while a dataset is built: one line on stderr."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from builders.shard import Progress as News


class Bar:
    """The progress bar on stderr: shards, rows, rows a second, rejects."""

    def __init__(self, shown: bool, shards: int) -> None:
        self._console = Console(stderr=True, file=sys.stderr)
        self._progress = Progress(
            TextColumn("shards"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[rows]:,} rows  {task.fields[rate]:,.0f}/s  {task.fields[rejects]:,} rejects"),
            TextColumn("{task.description}"),
            console=self._console,
            disable=not shown,
        )
        self._task = self._progress.add_task("", total=shards, rows=0, rejects=0, rate=0.0)
        self._rows = self._rejects = self._bytes = 0
        self._said = ""

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """What is being done now."""
        self._said, self._bytes = text, 0
        self._progress.update(self._task, description=text)

    def came(self, size: int) -> None:
        """More bytes of the source that was named last."""
        self._bytes += size
        self._progress.update(self._task, description=f"{self._said} {self._bytes / 1e6:,.1f} MB")

    def tell(self, text: str) -> None:
        """Something to be kept above the bar."""
        self._console.print(text, markup=False, highlight=False)

    def news(self, news: News) -> None:
        """More rows and rejects."""
        self._rows += news.rows
        self._rejects += news.rejects
        elapsed = self._progress.tasks[0].elapsed or 0
        rate = self._rows / elapsed if elapsed else 0.0
        self._progress.update(self._task, rows=self._rows, rejects=self._rejects, rate=rate)

    def done(self) -> None:
        """One more shard."""
        self._progress.advance(self._task)
