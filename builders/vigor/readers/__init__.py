"""Readers: one module a family of formats, each giving `builders.vigor.forms`. `open_source` picks one by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from builders.vigor.forms import Reader
from builders.vigor.readers.ade20k import Ade20k
from builders.vigor.readers.coco import Coco
from builders.vigor.readers.gqa import Gqa
from builders.vigor.readers.panoptic import Panoptic
from builders.vigor.readers.psg import Psg
from builders.vigor.readers.stills import Stills
from builders.vigor.readers.video import Davis, YoutubeVis
from builders.vigor.readers.visual_genome import VisualGenome

READERS: Final[Mapping[str, Callable[[Path], Reader]]] = {
    "coco": Coco,
    "panoptic": Panoptic,
    "lvis": Coco,
    "paco": Coco,
    "partimagenet": partial(Coco, parts=True),
    "ade20k": Ade20k,
    "visual_genome": VisualGenome,
    "gqa": Gqa,
    "psg": Psg,
    "davis": Davis,
    "youtube_vis": YoutubeVis,
    "stills": Stills,
}
"""Sources by their name in sources.toml."""


@lru_cache(maxsize=2)
def open_source(name: str, folder: Path) -> Reader:
    """The reader of a source's folder; the last two are kept, for many shards read one source."""
    return READERS[name](folder)
