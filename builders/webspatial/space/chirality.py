"""Whether an object differs from its mirror image under every rotation; and a maker of objects that do.

Surfaces are compared as points: the mirror image from 1,152 start rotations, each best one refined as a rigid motion.
Turning about one axis alone is not enough: a tilted tetrahedron would pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CHIRAL, ACHIRAL = 2.0, 1.25
"""Ratio of the mirror's distance to the object's own: chiral above the first, achiral below the second."""
STARTS = 1152


@dataclass(frozen=True)
class Chirality:
    """Mean distances (in units of the object's size) from the object's surface: of itself, of its mirror image."""

    own: float
    mirror: float

    @property
    def chiral(self) -> bool:
        """Surely different from its mirror image; what is neither chiral nor achiral is ambiguous and not used."""
        return self.mirror > CHIRAL * self.own


def measure(points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]]) -> Chirality | None:
    """The chirality of a mesh, None where it has no surface. Takes about a second."""
    from scipy.spatial.transform import Rotation

    a = _surface(points, faces, 2400, 1)
    b = _surface(points, faces, 900, 2)
    if a is None or b is None:
        return None
    centre = a.mean(0)
    size = np.sqrt(((a - centre) ** 2).sum(1).mean())
    a, b = (a - centre) / size, (b - centre) / size
    starts = Rotation.random(STARTS, rng=np.random.default_rng(0)).as_matrix()
    own = _nearest(a, b, np.eye(3)[None])
    mirror = _nearest(a, b * np.array([-1.0, 1.0, 1.0]), starts)
    return Chirality(round(own, 5), round(mirror, 5))


def _surface(points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]], n: int, seed: int) -> np.ndarray | None:
    p, f = np.asarray(points, float), np.asarray(faces, int)
    if len(f) < 4:
        return None
    a, b, c = p[f[:, 0]], p[f[:, 1]], p[f[:, 2]]
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    if not area.sum() > 0:
        return None
    rng = np.random.default_rng(seed)
    k = rng.choice(len(f), n, p=area / area.sum())
    u, v = rng.random(n), rng.random(n)
    over = u + v > 1
    u[over], v[over] = 1 - u[over], 1 - v[over]
    return a[k] + u[:, None] * (b[k] - a[k]) + v[:, None] * (c[k] - a[k])


def _nearest(a: np.ndarray, b: np.ndarray, starts: np.ndarray, refined: int = 12) -> float:
    """Least mean distance of rotated `b` from `a` over the starts; the best ones are refined."""
    from scipy.spatial import KDTree

    tree = KDTree(a)
    few = b[::6]
    coarse = [(float(tree.query(few @ q.T)[0].mean()), k) for k, q in enumerate(starts)]
    best = float("inf")
    for _, k in sorted(coarse)[:refined]:
        q = starts[k]
        for _ in range(20):
            moved = b @ q.T
            u, _, vt = np.linalg.svd(moved.T @ a[tree.query(moved)[1]])
            d = np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))])
            q = vt.T @ d @ u.T @ q
        best = min(best, float(tree.query(b @ q.T)[0].mean()))
    return best


def polycube(seed: int, cubes: int = 7) -> list[tuple[int, int, int]]:
    """A chiral chain of unit cubes, as in Shepard and Metzler's drawings: the same for the same seed.

    Cells are integer places. Chirality is exact here: no one of the 24 rotations takes it to its mirror image.
    """
    rng = np.random.default_rng(seed)
    while True:
        chain = _chain(rng, cubes)
        if chain and not _same(chain, [(-x, y, z) for x, y, z in chain]):
            return chain


def _chain(rng: np.random.Generator, cubes: int) -> list[tuple[int, int, int]]:
    """Straight arms of 2 or 3 cubes with right angles between them."""
    axes = np.vstack([np.eye(3, dtype=int), -np.eye(3, dtype=int)])
    place, direction = np.zeros(3, int), axes[rng.integers(6)]
    cells = [(0, 0, 0)]
    while len(cells) < cubes:
        for _ in range(int(rng.integers(1, 3))):
            place = place + direction
            cell = (int(place[0]), int(place[1]), int(place[2]))
            if cell in cells:
                return []
            cells.append(cell)
        square = [axis for axis in axes if not axis @ direction]
        direction = square[rng.integers(len(square))]
    return cells[:cubes]


def _same(a: Sequence[tuple[int, int, int]], b: Sequence[tuple[int, int, int]]) -> bool:
    form = _form(np.array(a))
    return any(_form(np.array(b) @ r.T) == form for r in rotations())


def _form(cells: np.ndarray) -> frozenset[tuple[int, ...]]:
    return frozenset(tuple(int(v) for v in cell) for cell in cells - cells.min(0))


def rotations() -> list[np.ndarray]:
    """The 24 rotations of a cube, as integer matrices."""
    out = []
    for perm in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        for signs in np.ndindex(2, 2, 2):
            m = np.zeros((3, 3), int)
            for row, column in enumerate(perm):
                m[row, column] = 1 - 2 * signs[row]
            if round(np.linalg.det(m)) == 1:
                out.append(m)
    return out
