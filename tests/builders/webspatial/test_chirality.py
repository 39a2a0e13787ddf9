"""Chirality over all rotations: polycubes pass, a tetrahedron is refused however it is tilted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from builders.webspatial.space.chirality import measure, polycube, rotations

TETRAHEDRON = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
FACES = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]


def mesh(cells):
    """The outer faces of unit cubes."""
    points, faces = [], []
    has = set(cells)
    for x, y, z in cells:
        for axis in range(3):
            for sign in (-1, 1):
                n = [0, 0, 0]
                n[axis] = sign
                if (x + n[0], y + n[1], z + n[2]) in has:
                    continue
                k = len(points)
                for a, b in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
                    p = np.array([x, y, z], float)
                    p[axis] += sign / 2
                    p[(axis + 1) % 3] += a
                    p[(axis + 2) % 3] += b
                    points.append(p)
                faces += [[k, k + 1, k + 2], [k, k + 2, k + 3]]
    return np.array(points), faces


@pytest.mark.parametrize("seed", [1, 2])
def test_polycubes_are_chiral(seed):
    found = measure(*mesh(polycube(seed)))
    assert found is not None
    assert found.chiral


@pytest.mark.parametrize("tilt", [None, (0.3, 0.8, 0.1)])
def test_a_tetrahedron_is_refused(tilt):
    points = np.array(TETRAHEDRON, float)
    if tilt:
        points = points @ Rotation.from_euler("xyz", tilt).as_matrix().T
    found = measure(points, FACES)
    assert found is not None
    assert not found.chiral


def test_a_straight_chain_is_refused():
    found = measure(*mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0)]))
    assert found is not None
    assert not found.chiral


def test_the_generator_is_exact_and_repeatable():
    assert len(rotations()) == 24
    for seed in range(8):
        cells = polycube(seed)
        assert cells == polycube(seed)
        assert len(set(cells)) == 7
        mirror = np.array(cells) * [-1, 1, 1]
        form = {tuple(c) for c in np.array(cells) - np.array(cells).min(0)}
        for r in rotations():
            turned = mirror @ r.T
            assert {tuple(c) for c in turned - turned.min(0)} != form


def test_no_surface():
    assert measure([[0, 0, 0]], []) is None
