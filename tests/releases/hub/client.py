"""A process that publishes, verifies and reads with the real clients, as it is told on stdin.

The clients read their settings from the environment when they are imported, so they need a process of their own. A
command is a JSON line {"id", "do", ...}; the answer is a JSON line {"id", ...}. Commands run side by side: as threads,
or with the argument `fork` as forked processes, each the head of its own process group, so that it can be killed.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

ANSWERS = os.dup(1)
os.dup2(2, 1)


def answer(command: dict[str, Any], **values: Any) -> None:
    """One line; short enough to be written at once."""
    os.write(ANSWERS, (json.dumps({"id": command["id"], **values}) + "\n").encode())


def run(command: dict[str, Any]) -> None:
    """Do a command and answer."""
    from schemas import GoldsmithError

    try:
        answer(command, **DO[command.pop("do")](**{k: v for k, v in command.items() if k != "id"}))
    except GoldsmithError as error:
        answer(command, error=str(error))
    except BaseException:
        answer(command, crash=traceback.format_exc()[-3000:])


def do_publish(release: str, repo: str, **options: Any) -> dict[str, Any]:
    from releases.hub.publish import publish
    from releases.hub.wire import Patience

    patience = Patience(**options.pop("patience", {}))
    outcome = publish(Path(release), repo, patience=patience, **options)
    values = {"status": outcome.status, "commit": outcome.commit, "read": outcome.read}
    return {**values, "plan": outcome.plan.text() if options.get("dry_run") else ""}


def do_verify(repo: str, version: str, **options: Any) -> dict[str, Any]:
    from releases.hub.verify import verify

    found = verify(repo, version, **options)
    return {"commit": found.commit, "read": found.read, "files": found.files, "problems": found.problems}


def do_load(repo: str, revision: str | None, configs: list[str]) -> dict[str, Any]:
    """The ids of each config and split, read whole and as a stream."""
    import datasets

    datasets.disable_progress_bars()
    found: dict[str, Any] = {}
    for config in configs:
        whole = datasets.load_dataset(repo, config, revision=revision)
        found[config] = {split: rows["id"] if hasattr(rows, "num_rows") else None for split, rows in whole.items()}
        found[config] = {split: list(ids) for split, ids in found[config].items()}
        stream = datasets.load_dataset(repo, config, revision=revision, streaming=True)
        found[f"{config} streamed"] = {split: [row["id"] for row in rows] for split, rows in stream.items()}
    return {"found": found}


DO = {"publish": do_publish, "verify": do_verify, "load": do_load}


def fork(command: dict[str, Any]) -> None:
    """Run a command in a process of its own; tell its id first, and then if it was killed."""
    child = os.fork()
    if child == 0:
        os.setsid()
        answer(command, pid=os.getpid())
        run(command)
        os._exit(0)

    def wait() -> None:
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            answer(command, killed=os.WTERMSIG(status))

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Serve until stdin ends."""
    import releases.hub.publish
    import releases.hub.verify  # noqa: F401 (before the first fork)

    forking = sys.argv[1:] == ["fork"]
    for line in sys.stdin:
        command = json.loads(line)
        if forking:
            fork(command)
        else:
            threading.Thread(target=run, args=(command,), daemon=True).start()


if __name__ == "__main__":
    main()
