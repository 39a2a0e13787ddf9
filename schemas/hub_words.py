"""The vocabularies of the Hugging Face Hub that a dataset card may use, as data.

Licences: hub-docs `repositories-licenses.md` and the Hub's own list of July 2026. Tasks: `@huggingface/tasks` 0.21.
Languages come from the installed `datasets` package, found without importing it (the import takes seconds).
"""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LICENCES = _words(
    """afl-3.0 agpl-3.0 apache-2.0 apple-amlr apple-ascl artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0
    bigscience-openrail-m bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5
    cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
    cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0
    cdla-permissive-2.0 cdla-sharing-1.0 creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0 etalab-2.0
    eupl-1.1 eupl-1.2 gemma gfdl gpl gpl-2.0 gpl-3.0 isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 lppl-1.3c mit mpl-2.0
    ms-pl ncsa odbl odc-by ofl-1.1 openmdw-1.0 openmdw-1.1 openrail openrail++ osl-3.0 other pddl postgresql unknown
    unlicense wtfpl zlib"""
)
"""Values of `license`. They are SPDX ids in lower case where SPDX has one."""

SPDX_ALIASES = {
    "agpl-3.0-only": "agpl-3.0",
    "agpl-3.0-or-later": "agpl-3.0",
    "gpl-2.0-only": "gpl-2.0",
    "gpl-2.0-or-later": "gpl-2.0",
    "gpl-3.0-only": "gpl-3.0",
    "gpl-3.0-or-later": "gpl-3.0",
    "lgpl-2.1-only": "lgpl-2.1",
    "lgpl-2.1-or-later": "lgpl-2.1",
    "lgpl-3.0-only": "lgpl-3.0",
    "lgpl-3.0-or-later": "lgpl-3.0",
    "odbl-1.0": "odbl",
    "odc-by-1.0": "odc-by",
    "pddl-1.0": "pddl",
}
"""SPDX ids, in lower case, that the Hub knows under another name."""

TASKS = _words(
    """any-to-any audio-classification audio-text-to-text audio-to-audio automatic-speech-recognition depth-estimation
    document-question-answering feature-extraction fill-mask graph-ml image-classification image-feature-extraction
    image-segmentation image-text-to-image image-text-to-text image-text-to-video image-to-3d image-to-image
    image-to-text image-to-video keypoint-detection mask-generation multiple-choice object-detection other
    question-answering reinforcement-learning robotics sentence-similarity summarization table-question-answering
    table-to-text tabular-classification tabular-regression tabular-to-text text-classification text-generation
    text-ranking text-retrieval text-to-3d text-to-audio text-to-image text-to-speech text-to-video
    time-series-forecasting token-classification translation unconditional-image-generation video-classification
    video-text-to-text video-to-video visual-document-retrieval visual-question-answering voice-activity-detection
    zero-shot-classification zero-shot-image-classification zero-shot-object-detection"""
)
"""Values of `task_categories`."""

CREATORS = _words("crowdsourced expert-generated found machine-generated no-annotation other")
"""Values of `annotations_creators` (and, without `no-annotation`, of `language_creators`)."""

MULTILINGUALITY = _words("monolingual multilingual translation other")
"""Values of `multilinguality`."""

_SIZES = {
    10**3: "n<1K",
    10**4: "1K<n<10K",
    10**5: "10K<n<100K",
    10**6: "100K<n<1M",
    10**7: "1M<n<10M",
    10**8: "10M<n<100M",
    10**9: "100M<n<1B",
    10**10: "1B<n<10B",
    10**11: "10B<n<100B",
    10**12: "100B<n<1T",
}
_LARGEST = "n>1T"
SIZES = (*_SIZES.values(), _LARGEST)
"""Values of `size_categories`."""


def size_category(rows: int) -> str:
    """The size category of a dataset with `rows` rows."""
    return next((name for limit, name in _SIZES.items() if rows < limit), _LARGEST)


def hub_licence(licence: str) -> str | None:
    """The Hub's id for an SPDX id (or for a Hub id), in any case; None where the Hub has none."""
    name = licence.strip().lower()
    name = SPDX_ALIASES.get(name, name)
    return name if name in LICENCES - {"other", "unknown"} else None


@cache
def languages() -> frozenset[str]:
    """The language codes the Hub knows: two letters where there are two (`as`, not `asm`), else three."""
    spec = importlib.util.find_spec("datasets")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("`datasets` is not installed: its language list is needed to check a card")
    names = Path(spec.origin).parent / "utils" / "resources" / "languages.json"
    return frozenset(json.loads(names.read_text(encoding="utf-8"))) | {"code", "multilingual"}
