"""Names of colours and shapes: the clear ones, and none for what people would call differently."""

from __future__ import annotations

import pytest

from builders.webspatial.space.names import colour_name, rgb, shape_name


@pytest.mark.parametrize(
    ("colour", "name"),
    [("#e01010", "red"), ("#2045d0", "blue"), ("#107010", "green"), ("#7a7a7a", "grey"), ("#ff8a00", "orange"),
     ("#c09060", None)],
)  # fmt: skip
def test_colours(colour, name):
    assert colour_name(rgb(colour)) == name


def node(kind, **parameters):
    return {"type": "Mesh", "geometry": {"type": kind, "parameters": parameters}}


@pytest.mark.parametrize(
    ("shape", "scale", "name"),
    [
        (node("BoxGeometry", width=1, height=1, depth=1), (1, 1, 1), "cube"),
        (node("CubeGeometry", width=1, height=1, depth=1), (1, 1, 1), "cube"),
        (node("BoxBufferGeometry", width=1, height=2, depth=1), (1, 1, 1), "box"),
        (node("BoxGeometry", width=1, height=2, depth=1), (1, 0.5, 1), "cube"),
        (node("BoxGeometry", width=1, height=1.15, depth=1), (1, 1, 1), None),
        (node("SphereGeometry", radius=1), (1, 1, 1), "sphere"),
        (node("SphereGeometry", radius=1), (1, 2, 1), None),
        (node("SphereGeometry", radius=1, widthSegments=4), (1, 1, 1), None),
        (node("SphereGeometry", radius=1, phiLength=3.1), (1, 1, 1), None),
        (node("CylinderGeometry", radiusTop=1, radiusBottom=1), (1, 1, 1), "cylinder"),
        (node("CylinderGeometry", radiusTop=0, radiusBottom=1), (1, 1, 1), "cone"),
        (node("CylinderGeometry", radiusTop=0.5, radiusBottom=1), (1, 1, 1), None),
        (node("CylinderGeometry", radiusTop=1, radiusBottom=1, radialSegments=4), (1, 1, 1), None),
        (node("ConeGeometry", radius=1), (1, 1, 1), "cone"),
        (node("TorusGeometry", radius=1, arc=3), (1, 1, 1), None),
        ({**node("SphereGeometry", radius=1), "deformed": True}, (1, 1, 1), None),
    ],
)
def test_shapes(shape, scale, name):
    assert shape_name(shape, scale) == name
