"""Regions: a merge tree over small segments, and the region of it that fits a box best.

Without a learned segmenter half of all objects have no usable mask (recall .35 and .60 at IoU .5 on two pictures
of COCO, with three trees), so a region is a candidate and most will be abstained from. GrabCut in a true box was worse
than the box itself and is not used.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from builders.vigor.masks import Box, from_array
from builders.vigor.proposals import Proposal, Scene

LEAST_FIT = 0.6
"""IoU of a region's own box with the given one, below which the region is not proposed."""


@dataclass(frozen=True)
class Tree:
    """A merge tree.

    Attributes:
        labels: (height, width) of segment numbers from 0.
        members: for each region, the segments it is made of; single segments first.
    """

    labels: np.ndarray
    members: tuple[tuple[int, ...], ...]

    def areas(self) -> np.ndarray:
        """Pixels of each segment."""
        return np.bincount(self.labels.ravel(), minlength=int(self.labels.max()) + 1)

    def mask(self, region: int) -> np.ndarray:
        """uint8 (height, width)."""
        inside = np.zeros(int(self.labels.max()) + 1, np.uint8)
        inside[list(self.members[region])] = 1
        return inside[self.labels]

    def boxes(self) -> np.ndarray:
        """(regions, 4) of left, top, right, bottom; right and bottom are outside."""
        from scipy import ndimage

        spots = ndimage.find_objects(self.labels + 1)
        edges = np.array([(s[1].start, s[0].start, s[1].stop, s[0].stop) if s else (1e9, 1e9, -1, -1) for s in spots])
        low = [edges[list(each), :2].min(0) for each in self.members]
        high = [edges[list(each), 2:].max(0) for each in self.members]
        return np.concatenate([np.array(low), np.array(high)], 1)


def trees(pixels: np.ndarray) -> Iterator[Tree]:
    """The three trees: Felzenszwalb fine and coarse, and SLIC."""
    from skimage.color import rgb2lab
    from skimage.segmentation import felzenszwalb, slic

    lab = rgb2lab(pixels)
    for scale in (50, 150):
        yield merge_tree(felzenszwalb(pixels, scale=scale, sigma=0.8, min_size=20), lab)
    yield merge_tree(slic(pixels, 400, compactness=10, start_label=0), lab)


def merge_tree(labels: np.ndarray, lab: np.ndarray) -> Tree:
    """Merge two neighbours, again and again: like colours first, small ones first, and those with a long common border.

    Args:
        labels: (height, width) of segment numbers from 0.
        lab: (height, width, 3) in CIELAB.
    """
    count = int(labels.max()) + 1
    size = list(np.bincount(labels.ravel(), minlength=count).astype(float))
    sums = [np.bincount(labels.ravel(), lab[..., channel].ravel(), count) for channel in range(3)]
    mean = [np.array(each) for each in zip(*(s / np.maximum(size, 1) for s in sums), strict=True)]
    near = _neighbours(labels, count)
    members: list[tuple[int, ...]] = [(index,) for index in range(count)]
    alive = {index for index in range(count) if size[index]}

    def cost(one: int, other: int) -> float:
        apart = float(np.sqrt(((mean[one] - mean[other]) ** 2).sum()))
        return (apart + 5) * float(np.sqrt(min(size[one], size[other]) / near[one][other]))

    heap = [(cost(one, other), one, other) for one in range(count) for other in near[one] if one < other]
    heapq.heapify(heap)
    while heap:
        _, one, other = heapq.heappop(heap)
        if one not in alive or other not in alive:
            continue
        alive -= {one, other}
        joined = len(members)
        members.append(members[one] + members[other])
        size.append(size[one] + size[other])
        mean.append((mean[one] * size[one] + mean[other] * size[other]) / size[joined])
        touch: dict[int, float] = {}
        for old in (one, other):
            for third, length in near[old].items():
                if third in alive:
                    touch[third] = touch.get(third, 0.0) + length
        near.append(touch)
        alive.add(joined)
        for third, length in touch.items():
            near[third][joined] = length
            heapq.heappush(heap, (cost(third, joined), third, joined))
    return Tree(labels, tuple(members))


class Regions:
    """Proposes a mask for each object that has only a box: the region whose own box fits best."""

    method = "regions-merge-trees/1"

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        boxed = [
            claim
            for claim in scene.claims
            if claim.mask is None
            and claim.box is not None
            and claim.truth == "present"
            and claim.concept.level == "object"
        ]
        if not boxed:
            return []
        grown = list(trees(scene.pixels))
        found = []
        for claim in boxed:
            if claim.box is None:
                continue
            mask, fit = best_for_box(grown, claim.box)
            if fit >= LEAST_FIT:
                facts = {"fit": round(fit, 4)}
                found.append(Proposal(claim.concept, from_array(mask), fit, self.method, claim.key, facts))
        return found


def best_for_box(grown: Sequence[Tree], box: Box) -> tuple[np.ndarray, float]:
    """The region whose box has the greatest IoU with `box`: its mask and that IoU."""
    x, y, width, height = box
    best: tuple[float, Tree, int] | None = None
    for tree in grown:
        edges = tree.boxes()
        wide = np.minimum(edges[:, 2], x + width) - np.maximum(edges[:, 0], x)
        high = np.minimum(edges[:, 3], y + height) - np.maximum(edges[:, 1], y)
        shared = np.maximum(wide, 0) * np.maximum(high, 0)
        own = (edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])
        fit = shared / (own + width * height - shared)
        region = int(np.argmax(fit))
        if best is None or fit[region] > best[0]:
            best = (float(fit[region]), tree, region)
    if best is None:
        raise ValueError("best_for_box needs a tree")
    return best[1].mask(best[2]), best[0]


def _neighbours(labels: np.ndarray, count: int) -> list[dict[int, float]]:
    """For each segment its neighbours and how many pixels long they touch."""
    pairs = []
    for one, other in ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])):
        apart = one != other
        pairs.append(np.stack([np.minimum(one[apart], other[apart]), np.maximum(one[apart], other[apart])], 1))
    unique, lengths = np.unique(np.concatenate(pairs), axis=0, return_counts=True)
    near: list[dict[int, float]] = [{} for _ in range(count)]
    for (one, other), length in zip(unique.tolist(), lengths.tolist(), strict=True):
        near[one][other] = near[other][one] = float(length)
    return near
