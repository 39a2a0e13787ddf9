"""Writing SQL for DuckDB safely: names, literals and scans of files. What enters a query as text passes through here.

DuckDB takes a path for a pattern: where a folder is called `v[1]`, it would read the folder `v1` beside it. A scan of
this module reads the files that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

Reader = Literal["read_parquet", "read_json_auto", "read_csv"]


def name(text: str) -> str:
    """`text` as a quoted identifier."""
    return '"' + text.replace('"', '""') + '"'


def names(texts: Iterable[str]) -> str:
    """Identifiers with commas."""
    return ", ".join(name(text) for text in texts)


def literal(value: Any) -> str:
    """A string, number, boolean or None as a literal; anything else as the text of its ISO form."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"'{value!r}'::DOUBLE"
    return "'" + str(value).replace("'", "''") + "'"


def literals(values: Iterable[Any]) -> str:
    """Literals with commas."""
    return ", ".join(literal(value) for value in values)


def pattern(path: Path | str) -> str:
    """The absolute pattern that one path matches, and no other does."""
    return re.sub(r"[\[*?]", lambda found: f"[{found[0]}]", str(Path(path).resolve()))


def scan(paths: Iterable[Path | str], reader: Reader = "read_parquet") -> str:
    """A scan of files. Folders named `a=b` above them add no column."""
    files = literals(pattern(path) for path in paths)
    return f"{reader}([{files}], hive_partitioning = false)"


def allowed(paths: Iterable[Path]) -> str:
    """The list for DuckDB's `allowed_paths` and `allowed_directories`, so that scans of these paths run.

    DuckDB looks there for what a scan names, a pattern, and then for each file that it finds.
    """
    real = [path.resolve() for path in paths]
    return f"[{literals(dict.fromkeys([*map(str, real), *map(pattern, real)]))}]"
