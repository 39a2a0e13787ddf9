"""A builder's code as a checksum: what its rows depend on besides sources and parameters.

It covers the builder's module and everything first-party that it imports, transitively, as syntax: comments, docstrings
and layout do not count, an edit of a helper does. Modules that make no rows do not count: those named `checks`,
`audits` and `plots` (or `checks_...` and so on), and those that `import_module` loads, such as scorers. What a shard's
code needs must be imported plainly, and files that it reads must be sources (`path = ...` in `sources.toml`).
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from builders.api import Builder
from schemas import GoldsmithError

_SHARED = ("builders", "schemas")
_WRITER = "builders.shard"
"""The machinery that turns a builder's batches into bytes; it counts as part of every builder."""


_CARRIERS = {"fsspec"}
"""They bring sources and make no bytes: what comes is compared with its pin, or its checksum is in the key."""


def code_key(builder: Builder) -> str:
    """The sha256 (hex) over the syntax of the builder's code. It depends on the Python version's grammar alone.

    Raises:
        GoldsmithError: the builder's class is not defined in its own folder.
    """
    module = type(builder).__module__
    file = getattr(sys.modules[module], "__file__", None)
    if file is None or not Path(file).resolve().is_relative_to(builder.folder.resolve()):
        raise GoldsmithError(
            f"[{builder.schema.name}] its class is defined in {module}, outside its folder: define it in "
            "builder.py there"
        )
    form = json.dumps(closure(module), sort_keys=True)
    return hashlib.sha256(form.encode()).hexdigest()


def closure(module: str) -> dict[str, str]:
    """The sha256 of each first-party module that `module` and the writer need, by module name."""
    return {name: digest for name, (_, digest) in _closure(module).items()}


def libraries(module: str) -> dict[str, str]:
    """The versions of the packages of others that these modules import, by the packages' names, sorted.

    Those that are absent, and those that only these import in turn, are not among them.
    """
    imports = {name.partition(".")[0] for names, _ in _closure(module).values() for name in names}
    homes = _homes(tuple(sys.path))
    packages = {package for name in imports - _ours(module) - _CARRIERS for package in homes.get(name, ())}
    return {package: importlib.metadata.version(package) for package in sorted(packages)}


@lru_cache(maxsize=4)
def _homes(_path: tuple[str, ...]) -> Mapping[str, list[str]]:
    """The packages that bring a module, by its first name; looked for once, it takes half a second."""
    return importlib.metadata.packages_distributions()


def _ours(module: str) -> set[str]:
    return {module.partition(".")[0], *_SHARED}


def _closure(module: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """What each first-party module imports, and its sha256."""
    ours = _ours(module)
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    waiting = [module, _WRITER]
    while waiting:
        name = waiting.pop()
        if name in found or name.partition(".")[0] not in ours or _makes_no_rows(name):
            continue
        file = _file(name)
        if file is None:
            continue
        stat = file.stat()
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        found[name] = _read(file, package, stat.st_mtime_ns, stat.st_size)
        waiting += [package, *found[name][0]]
    return found


def _makes_no_rows(name: str) -> bool:
    return re.fullmatch(r"(audits|checks|plots)(_\w+)?", name.rpartition(".")[2]) is not None


def _file(name: str) -> Path | None:
    """The source file of a module; None for what is no module (an imported name) and for modules without source."""
    try:
        spec = importlib.util.find_spec(name) if name else None
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@lru_cache(maxsize=1024)
def _read(file: Path, package: str, _changed: int, _size: int) -> tuple[tuple[str, ...], str]:
    """What a module imports, and the sha256 of its syntax; kept until the file changes."""
    tree = ast.parse(file.read_bytes())
    imports = tuple(_imports(tree, package))
    plain = ast.unparse(_without_docstrings(tree))
    return imports, hashlib.sha256(plain.encode()).hexdigest()


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            # A string as a statement does nothing: a docstring, or the description of a constant.
            node.body = [child for child in node.body if not _is_text(child)] or [ast.Pass()]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = importlib.util.resolve_name("." * node.level + base, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
