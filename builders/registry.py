"""Which datasets there are: the folders of this package, and those that other distributions register.

A third party's package names its builder in the entry-point group `goldsmith.builders`. One that cannot be imported is
listed with its reason and takes no other down.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import builders
from builders.api import Builder
from schemas import GoldsmithError

GROUP = "goldsmith.builders"
_ATTRIBUTES = ("schema", "version", "folder", "checks", "expected_rejects", "reject_budget", "plan", "build")


def known() -> dict[str, Builder]:
    """All builders that can be used, by name, sorted."""
    return _load_all()[0]


def broken() -> dict[str, str]:
    """Why each of the others cannot be used, by name, one line each."""
    return _load_all()[1]


def names() -> list[str]:
    """The names of all builders, usable or not; imports none."""
    return sorted(_loaders())


def get(name: str) -> Builder:
    """The builder of a dataset; no other is imported.

    Raises:
        GoldsmithError: there is none of this name, or it cannot be used.
    """
    loaders = _loaders()
    if name not in loaders:
        near = difflib.get_close_matches(name, loaders, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise GoldsmithError(
            f"[{name}] is no dataset known here{hint}: there are {', '.join(sorted(loaders)) or 'none'}; "
            f"another one's package must be installed, and register it (entry point {GROUP})"
        )
    try:
        return loaders[name]()
    except Exception as error:
        raise GoldsmithError(f"[{name}] cannot be used: {_line(name, error)}") from error


def _load_all() -> tuple[dict[str, Builder], dict[str, str]]:
    good: dict[str, Builder] = {}
    bad: dict[str, str] = {}
    for name, load in sorted(_loaders().items()):
        try:
            good[name] = load()
        except Exception as error:
            bad[name] = _line(name, error)
    return good, bad


def _loaders() -> Mapping[str, Callable[[], Builder]]:
    loaders: dict[str, Callable[[], Builder]] = {}
    for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        loaders[point.name] = lambda point=point: _checked(point.name, point.load())
    for module in pkgutil.iter_modules(builders.__path__):  # Ours come last: nobody takes their names.
        folder = Path(builders.__path__[0]) / module.name
        if module.ispkg and (folder / "builder.py").is_file():
            loaders[module.name] = lambda name=module.name: _built_in(name)
    return loaders


def _built_in(name: str) -> Builder:
    return _checked(name, importlib.import_module(f"builders.{name}.builder").BUILDER)


def _checked(name: str, builder: object) -> Builder:
    missing = [attribute for attribute in _ATTRIBUTES if not hasattr(builder, attribute)]
    if missing:
        raise GoldsmithError(f"it is no builder, for it has no {', '.join(missing)}: see builders/api.py")
    found = cast(Builder, builder)
    if found.schema.name != name:
        raise GoldsmithError(f"its schema is named {found.schema.name}: register it under that name")
    return found


def _line(name: str, error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        return f"{text}: install what it needs, such as pip install 'goldsmith[{name}]' for one of ours"
    return text if isinstance(error, GoldsmithError) else f"{type(error).__name__}: {text}"
