"""The versions of what makes the bytes of a dataset."""

from __future__ import annotations

import importlib.metadata
import platform

_NAMES = ("duckdb", "goldsmith", "numpy", "polars", "pyarrow")


def tools() -> dict[str, str]:
    """The versions by name, of this process."""
    found = {"python": platform.python_version()}
    for name in _NAMES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
