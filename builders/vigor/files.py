"""The files of a source's folder: JSON, and pictures, found by the end of their path."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from schemas import GoldsmithError


@lru_cache(maxsize=4)
def _load(path: Path, stamp: int) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise GoldsmithError(f"[{path.name}] is no JSON ({error}): fetch it again, whole") from None


def load_json(path: Path) -> Any:
    """The content of a small JSON file (`documents` reads large ones); the last few are kept, for they are asked for
    again."""
    return _load(path, path.stat().st_mtime_ns)


def json_files(folder: Path) -> list[Path]:
    """All JSON files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))


class Files:
    """The pictures below a folder, found by the end of their path (`car/00000.jpg`, or `00000.jpg` alone)."""

    def __init__(self, folder: Path) -> None:
        kinds = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}
        self._paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in kinds and path.is_file()]
        self._ends: dict[str, Path] = {}
        for path in self._paths:
            parts = path.relative_to(folder).parts
            for start in range(len(parts)):
                self._ends.setdefault("/".join(parts[start:]), path)

    def all(self) -> list[Path]:
        """Every picture."""
        return self._paths

    def find(self, *names: str, not_in: str = "") -> Path | None:
        """The first of `names` that there is. A name with a folder falls back to its last part (COCO's own layout)."""
        for name in names:
            found = self._ends.get(name) or self._ends.get(name.rpartition("/")[2])
            if found is not None and (not not_in or not_in not in found.parts):
                return found
        return None
