"""Lay the folder of a new dataset, out of this tree: a package that works as it is and is then filled.

What is laid is in `templates/new/`; each file's name there ends in `.txt`.
"""

from __future__ import annotations

import builtins
import keyword
import re
import shutil
import string
import sys
from pathlib import Path

from builders.registry import names
from schemas import GoldsmithError

_TEMPLATES = Path(__file__).parent / "templates" / "new"
_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")


def new(name: str, into: Path) -> list[Path]:
    """Lay the package of the dataset `name` in the folder `into/name` and return its files.

    Raises:
        GoldsmithError: the name cannot be used, or the folder exists.
    """
    _check(name)
    folder = into / name
    if folder.exists():
        raise GoldsmithError(f"[{folder}] exists already: choose another name, or move it away")
    temporary = into / f".{name}.new"
    shutil.rmtree(temporary, ignore_errors=True)
    made = []
    try:
        for template in sorted(_TEMPLATES.rglob("*.txt")):
            relative = template.relative_to(_TEMPLATES).with_suffix("").as_posix()
            relative = re.sub(r"^package/", f"goldsmith_{name}/", relative)
            path = temporary / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            text = string.Template(template.read_text(encoding="utf-8")).substitute(name=name)
            path.write_text(text, encoding="utf-8")
            made.append(folder / relative)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return made


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise GoldsmithError(f"[{name}] is no name for a dataset: use 2 to 40 of a-z, 0-9 and `_`, a letter first")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or hasattr(builtins, name):
        raise GoldsmithError(f"[{name}] is a word of Python: choose another name")
    if name in sys.stdlib_module_names:
        raise GoldsmithError(f"[{name}] is a module of Python: choose another name")
    if name in names():
        raise GoldsmithError(f"[{name}] is a dataset already known here: choose another name")
