"""Writing that survives a power cut: a file is whole under its name, or not there."""

from __future__ import annotations

import json
import os
from pathlib import Path


def write_json(path: Path, record: object) -> None:
    """Write JSON with sorted keys, synced; never half a file under its name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
