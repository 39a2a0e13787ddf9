"""Readers: one module a family of formats, each giving `builders.sketch.forms`. `open_source` picks one by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from builders.sketch.forms import Reader
from builders.sketch.readers.creative import Creative
from builders.sketch.readers.fscoco import FsCoco
from builders.sketch.readers.ndjson import QuickDraw, Spg
from builders.sketch.readers.omniglot import Omniglot
from builders.sketch.readers.scenes import Scenes
from builders.sketch.readers.sketchyscene import SketchyScene

READERS: Final[Mapping[str, Callable[[Path], Reader]]] = {
    "spg": Spg,
    "quickdraw": QuickDraw,
    "quickdraw_simplified": QuickDraw,
    "friss": partial(Scenes, source="friss"),
    "cbsc": partial(Scenes, source="cbsc"),
    "creative": Creative,
    "omniglot": Omniglot,
    "fscoco": FsCoco,
    "sketchyscene": SketchyScene,
}
"""Sources by their name in sources.toml."""


@lru_cache(maxsize=4)
def open_source(name: str, folder: Path) -> Reader:
    """The reader of a source's folder; the last ones are kept, for many shards read one source."""
    return READERS[name](folder)
