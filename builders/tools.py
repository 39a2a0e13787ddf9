"""The versions of what makes the bytes of a dataset: Python, the toolkit and the libraries that the builder imports.

They are part of a shard's key and of `build.json`, so that another version builds again and a regeneration that makes
other bytes can say why.
"""

from __future__ import annotations

import importlib.metadata
import platform

from builders.api import Builder
from builders.code import libraries

_NAMES = ("duckdb", "goldsmith", "numpy", "polars", "pyarrow")


def tools(builder: Builder) -> dict[str, str]:
    """The versions by name, of this process; the names are sorted."""
    found = {"python": platform.python_version(), **libraries(type(builder).__module__)}
    for name in _NAMES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return dict(sorted(found.items()))
