"""Which split each clip is in: decided over the whole collection, by hashing.

Clips that share a speaker or a recording stay together (connected components of the two), so neither is ever in two
splits. A component's split is read off a hash of its name alone, so adding data moves nobody. Each stratum (language
and district) gets its share of validation and test in expectation; where hashing leaves a stratum of at least
`TOP_UP_COMPONENTS` components without one of them, the component with the lowest hash is moved there. Only such a
top-up could move when data is added; giving an earlier release's speakers table (`earlier`) holds everybody in place.

Images are shared by many speakers, so keeping them apart as well would leave one huge component. Instead
`image_in_train` marks the clips of validation and test whose image the training split shows too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SPLITS = ("train", "validation", "test")
SHARES = {"validation": 0.1, "test": 0.1}
TOP_UP_COMPONENTS = 5


@dataclass(frozen=True)
class Clip:
    """What a split depends on; `name` is the clip's own, for clips without a speaker and a recording."""

    name: str
    speaker: str | None
    recording: str | None
    stratum: str
    image: str | None


def assign(
    clips: Sequence[Clip], shares: Mapping[str, float] = SHARES, earlier: Mapping[str, str] | None = None
) -> list[str]:
    """The split of each clip.

    Args:
        shares: of validation and test; the rest is train.
        earlier: splits that speakers have had before and keep.
    """
    components = _components(clips)
    named: dict[int, tuple[str, str]] = {}
    for component, clip in zip(components, clips, strict=True):
        own = _label(clip), clip.stratum
        named[component] = min(named.get(component, own), own)
    names = {component: label for component, (label, _) in named.items()}
    strata = {component: stratum for component, (_, stratum) in named.items()}
    splits = {component: _by_hash(_unit(name), shares) for component, name in names.items()}
    pinned = _pinned(clips, components, earlier or {})
    splits.update(pinned)
    _top_up(splits, names, strata, shares, frozenset(pinned))
    return [splits[component] for component in components]


def image_in_train(clips: Sequence[Clip], splits: Sequence[str]) -> list[bool]:
    """Whether each clip is outside train while its image is shown in train."""
    trained = {clip.image for clip, split in zip(clips, splits, strict=True) if split == "train" and clip.image}
    return [split != "train" and clip.image in trained for clip, split in zip(clips, splits, strict=True)]


def _label(clip: Clip) -> str:
    if clip.speaker is not None:
        return f"0 {clip.speaker}"
    return f"1 {clip.recording}" if clip.recording is not None else f"2 {clip.name}"


def _components(clips: Sequence[Clip]) -> list[int]:
    """A number for each clip, the same for clips that are linked by speakers and recordings."""
    parent: dict[str, str] = {}

    def find(node: str) -> str:
        root = node
        while (up := parent.setdefault(root, root)) != root:
            root = up
        while parent[node] != root:
            parent[node], node = root, parent[node]
        return root

    for clip in clips:
        if clip.speaker is not None and clip.recording is not None:
            parent[find(f"1 {clip.recording}")] = find(f"0 {clip.speaker}")
    numbers: dict[str, int] = {}
    return [numbers.setdefault(find(_label(clip)), len(numbers)) for clip in clips]


def _unit(name: str) -> float:
    """A hash of `name` in [0, 1)."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8, person=b"vaani-split").digest()) / 2**64


def _by_hash(value: float, shares: Mapping[str, float]) -> str:
    if value < shares["test"]:
        return "test"
    return "validation" if value < shares["test"] + shares["validation"] else "train"


def _pinned(clips: Sequence[Clip], components: Sequence[int], earlier: Mapping[str, str]) -> dict[int, str]:
    """The splits of components that hold a speaker of an earlier release; test wins over validation, over train."""
    pinned: dict[int, str] = {}
    for component, clip in zip(components, clips, strict=True):
        before = earlier.get(clip.speaker or "")
        if before is not None and SPLITS.index(before) >= SPLITS.index(pinned.get(component, SPLITS[0])):
            pinned[component] = before
    return pinned


def _top_up(
    splits: dict[int, str],
    names: Mapping[int, str],
    strata: Mapping[int, str],
    shares: Mapping[str, float],
    pinned: frozenset[int],
) -> None:
    """Give each large enough stratum one component of validation and of test, where hashing gave it none."""
    members: dict[str, list[int]] = {}
    for component, stratum in strata.items():
        members.setdefault(stratum, []).append(component)
    for group in members.values():
        if len(group) < TOP_UP_COMPONENTS:
            continue
        for split in ("test", "validation"):
            free = [one for one in group if splits[one] == "train" and one not in pinned]
            if shares[split] > 0 and free and all(splits[one] != split for one in group):
                splits[min(free, key=lambda one: _unit(names[one]))] = split
