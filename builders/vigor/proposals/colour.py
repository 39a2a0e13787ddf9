"""Colour: the basic terms of English, named in CIELAB by the neighbours of a colour among those people have named.

The prototypes (xkcd.tsv, CC0) are the names of the xkcd colour survey whose last word falls under one of the eleven
basic terms. White and black are named there twice each, so what has hardly any chroma is named by its lightness alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from builders.vigor.forms import Concept
from builders.vigor.pixels import sha256
from builders.vigor.proposals import Proposal, Scene
from builders.vigor.words import COLOURS
from schemas import GoldsmithError

NEIGHBOURS = 7
ACHROMATIC = 8.0
"""C* below which a colour is black, white or grey by its lightness."""
_BLACK, _WHITE = 20.0, 90.0
_FILES = {
    "terms.bin": "8ba1e97589e0456a222c4ad48ceaf6a8fcd01d2be60efb7ba5f0d31460779384",
    "xkcd.tsv": "758852191632e7e89059237d8177ff6d950d2b5d9bb889b46c1d0a81cd91cda8",
}
"""Their checksums stand here because a build's key is made of code: a changed file has to change the code."""
_STEP = 8
"""Pixels are named on a lattice of 32 levels a channel: 32,768 colours, named once."""


class Colour:
    """Proposes a colour for each object and part whose mask is known."""

    method = "colour-xkcd-ciede2000/1"

    def __init__(self, least_share: float = 0.5) -> None:
        """`least_share`: of the mask's pixels that must have the colour to propose it."""
        self._least = least_share

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        found = []
        terms = None
        for claim in scene.claims:
            usable = claim.mask is not None and claim.truth == "present" and claim.concept.level in ("object", "part")
            if claim.mask is None or not usable or claim.crowd:
                continue
            terms = term_of_pixels(scene.pixels) if terms is None else terms
            shares = shares_of(terms, claim.mask.decode() > 0)
            best = int(np.argmax(shares))
            if shares[best] < self._least:
                continue
            facts = {"shares": {COLOURS[i]: round(float(shares[i]), 4) for i in np.argsort(-shares)[:3]}}
            concept = colour_concept(COLOURS[best])
            found.append(Proposal(concept, claim.mask, float(shares[best]), self.method, claim.key, facts))
        return found


def colour_concept(term: str) -> Concept:
    """The concept of a basic term."""
    synonyms = ("gray",) if term == "grey" else ()
    return Concept("low", term, synonyms=synonyms, family="colour")


def lab_of(rgb: np.ndarray) -> np.ndarray:
    """CIELAB (D65) of sRGB values 0..255, last axis of 3."""
    from skimage.color import rgb2lab

    return rgb2lab(np.asarray(rgb, float) / 255.0)


def name_colour(rgb: Sequence[float] | np.ndarray) -> tuple[str, float]:
    """The basic term of one sRGB colour (0..255) and the share of the neighbours' weight it has."""
    term, share = _name(lab_of(np.asarray(rgb, float).reshape(1, 1, 3)).reshape(1, 3))
    return COLOURS[int(term[0])], float(share[0])


def term_of_pixels(pixels: np.ndarray) -> np.ndarray:
    """uint8 (height, width): the place in `COLOURS` of each pixel's name; 255 where the neighbours disagree."""
    table = _table()
    cells = (pixels // _STEP).astype(np.int64)
    per_side = 256 // _STEP
    return table[(cells[..., 0] * per_side + cells[..., 1]) * per_side + cells[..., 2]]


def shares_of(terms: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The share of the pixels inside that has each colour; unsure pixels count against all."""
    counts = np.bincount(terms[inside], minlength=256)[: len(COLOURS)]
    return counts / max(1, int(inside.sum()))


@lru_cache(maxsize=1)
def _prototypes() -> tuple[np.ndarray, np.ndarray]:
    lines = _file("xkcd.tsv").decode().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    rgb = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for _, code, _ in rows], float)
    return lab_of(rgb[None])[0], np.array([COLOURS.index(term) for _, _, term in rows])


@lru_cache(maxsize=1)
def _table() -> np.ndarray:
    """The name of each cell of the lattice, as `python -P -m builders.vigor.proposals.colour` writes it."""
    return np.frombuffer(_file("terms.bin"), np.uint8)


def _file(name: str) -> bytes:
    data = (Path(__file__).parent / name).read_bytes()
    if sha256(data) != _FILES[name]:
        raise GoldsmithError(
            f"[{name}] is not the file that colour.py was written for: restore it, or enter its checksum"
        )
    return data


def make_table() -> np.ndarray:
    """uint8 (32768,): names the middle of each cell. CIEDE2000 ranks only the nearest by plain distance."""
    levels = np.arange(256 // _STEP) * _STEP + _STEP / 2
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(-1, 3)
    names = np.empty(len(grid), np.uint8)
    for start in range(0, len(grid), 4096):
        term, share = _name(lab_of(grid[None, start : start + 4096])[0], nearest=40)
        names[start : start + 4096] = np.where(share >= 0.5, term, 255)
    return names


def _name(lab: np.ndarray, nearest: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Term and weight share of Lab colours (n, 3); `nearest` limits the prototypes that CIEDE2000 compares."""
    from skimage.color import deltaE_ciede2000

    prototypes, terms = _prototypes()
    among = prototypes[None].repeat(len(lab), 0)
    labels = terms[None].repeat(len(lab), 0)
    if nearest is not None:
        plain = ((lab[:, None] - prototypes[None]) ** 2).sum(-1)
        chosen = np.argpartition(plain, nearest, axis=1)[:, :nearest]
        among, labels = prototypes[chosen], terms[chosen]
    distance = deltaE_ciede2000(np.broadcast_to(lab[:, None], among.shape), among)
    order = np.argsort(distance, axis=1, kind="stable")[:, :NEIGHBOURS]
    weight = 1.0 / (1.0 + np.take_along_axis(distance, order, 1))
    names = np.take_along_axis(labels, order, 1)
    votes = np.stack([(weight * (names == index)).sum(1) for index in range(len(COLOURS))], 1)
    term, share = votes.argmax(1), votes.max(1) / votes.sum(1)
    plain_grey = np.hypot(lab[:, 1], lab[:, 2]) < ACHROMATIC
    lightness = lab[:, 0]
    grey = np.where(lightness < _BLACK, COLOURS.index("black"), COLOURS.index("grey"))
    grey = np.where(lightness > _WHITE, COLOURS.index("white"), grey)
    return np.where(plain_grey, grey, term), np.where(plain_grey, 1.0, share)


if __name__ == "__main__":
    (Path(__file__).parent / "terms.bin").write_bytes(make_table().tobytes())
