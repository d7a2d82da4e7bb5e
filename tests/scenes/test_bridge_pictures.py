"""Cameras and pictures of points."""

from __future__ import annotations

import numpy as np
import pytest

from built_bridges import built_bridge
from gapcut.report.picture import paint_points
from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.bridges.colours import COLOURS
from gapcut.scenes.bridges.picture import Camera


def _camera(size: tuple[int, int] = (60, 40)) -> Camera:
    return Camera.at(built_bridge("girder", 1), size)


def test_a_point_on_the_ray_of_a_pixel_is_seen_in_that_pixel():
    camera = _camera()
    width, height = camera.size
    at, depth = camera.project(camera.position + 30.0 * camera.rays())
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    np.testing.assert_allclose(at, np.column_stack([x.ravel(), y.ravel()]), atol=1e-9)
    assert (depth > 0).all()
    assert depth.max() <= 30.0 + 1e-9


@pytest.mark.slow
def test_the_structure_fills_the_frame_and_is_in_its_middle():
    bridge = built_bridge("cable-stayed", 2)
    camera = Camera.at(bridge, (400, 400))
    at, _ = camera.project(bridge.mesh.vertices)
    low, high = at.min(axis=0), at.max(axis=0)
    assert max(high - low) > 0.9 * 400
    assert (low > -4).all()
    assert (high < 404).all()
    np.testing.assert_allclose((low + high) / 2, 200, atol=12)


def test_the_nearer_point_hides_the_farther_one_in_any_order():
    camera = _camera()
    ray = camera.rays()[20 * 60 + 30]
    points = camera.position + np.outer([40.0, 20.0], ray)
    red, blue = np.array([200.0, 0.0, 0.0]), np.array([0.0, 0.0, 200.0])
    for order in ([0, 1], [1, 0]):
        at, depth = camera.project(points[order])
        image = paint_points(at, depth, np.array([red, blue])[order], camera.size, 1.0).astype(int)
        assert image[20, 30, 2] > image[20, 30, 0]
    nothing = paint_points(np.empty((0, 2)), np.empty(0), np.empty((0, 3)), camera.size, 1.0)
    assert (nothing == nothing[0, 0]).all()


def test_no_two_classes_share_a_colour():
    assert len({COLOURS[name] for name in CLASSES}) == len(CLASSES)
