"""Normals, shape, heights: against NumPy and against surfaces that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from gapcut import _core
from gapcut.scenes.groups import voxel_sample
from gapcut.scenes.labelling.surroundings import ground_heights
from gapcut.scenes.points import (
    local_shape,
    nearest,
    point_spacing,
)


def noise(seed: int, n: int = 300) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)) * [3, 2, 1]


@pytest.mark.parametrize("seed", range(3))
def test_shape_is_the_eigensystem_of_the_covariance(seed: int) -> None:
    points = noise(seed) + np.array([1e5, -2e6, 50])
    ids = nearest(points, 12)
    by_ids, by_radius = local_shape(points, neighbours=ids), local_shape(points, radius=0.9)
    balls = cKDTree(points).query_ball_point(points, 0.9)
    for shape, hoods in ((by_ids, ids), (by_radius, balls)):
        for i, hood in enumerate(hoods):
            near = points[np.asarray(hood)]
            if len(near) < 3:
                assert np.isnan(shape.normals[i]).all()
                continue
            values, vectors = np.linalg.eigh(np.cov(near.T, bias=True))
            assert np.allclose(shape.variances[i], values[::-1], atol=1e-5 * max(values[2], 1e-9))
            if len(near) > 4:
                assert abs(shape.normals[i] @ vectors[:, 0]) == pytest.approx(1, abs=1e-4)
                assert abs(shape.axes[i] @ vectors[:, 2]) == pytest.approx(1, abs=1e-4)
    assert np.array_equal(
        by_radius.normals, local_shape(points, radius=0.9, n_threads=3).normals, equal_nan=True
    )


def cloud_of_many_kinds(seed: int) -> np.ndarray:
    """A grid with ties and twins, a crowd in one place, and stray points."""
    rng = np.random.default_rng(seed)
    grid = rng.integers(0, 6, size=(300, 3)) * [0.5, 0.5, 0.0]
    crowd = rng.normal(scale=1e-4, size=(700, 3))
    stray = rng.normal(scale=1e3, size=(10, 3))
    return np.array([500_000.0, -6e6, 0.0]) + rng.permutation(np.concatenate([grid, crowd, stray]))


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_are_those_of_a_full_search_and_ties_go_to_the_lower_number(seed: int) -> None:
    points = cloud_of_many_kinds(seed)
    far = ((points[:, None] - points) ** 2)[..., [0, 1, 2]].sum(axis=2)
    wanted = np.argsort(far, axis=1, kind="stable")
    for k in (1, 7, 40):
        assert np.array_equal(nearest(points, k), wanted[:, :k])
        assert np.array_equal(nearest(points, k, n_threads=3), wanted[:, :k])
    some = nearest(points[:5], 8)
    assert (some[:, 5:] == -1).all()
    assert np.array_equal(np.sort(some[:, :5], axis=1), np.tile(np.arange(5), (5, 1)))
    for size in (1e-5, 0.3, 100.0):
        grid = _core.NearGrid(points, size, 1.0)
        ids, squared = grid.nearest(np.ascontiguousarray(points[::7] + 0.2), 3, 1)
        away = ((points[::7, None] + 0.2 - points) ** 2).sum(axis=2)
        order = np.argsort(away, axis=1, kind="stable")[:, :3]
        assert np.array_equal(ids, order)
        assert np.array_equal(squared, np.take_along_axis(away, order, axis=1))


def test_what_cannot_be_searched_is_named() -> None:
    with pytest.raises(ValueError, match="point 1 has a coordinate that is not finite"):
        nearest(np.array([[0.0, 0, 0], [0, np.nan, 0]]))
    grid = _core.NearGrid(np.zeros((2, 3)), 0.0, 1.0)
    with pytest.raises(ValueError, match="place 0 has a coordinate that is not finite"):
        grid.nearest(np.array([[np.inf, 0, 0]]), 1, 1)
    with pytest.raises(ValueError, match="k must be from 1"):
        grid.nearest(None, 3, 1)


def test_features_of_known_shapes() -> None:
    rng = np.random.default_rng(0)
    line = np.outer(np.linspace(0, 1, 50), [1.0, 1, 0])
    floor = np.column_stack([rng.uniform(size=(400, 2)), np.zeros(400)]) + np.array([5, 0, 0])
    wall = floor[:, [2, 0, 1]] + np.array([0, 0, 20])
    values = local_shape(np.concatenate([line, floor, wall])).features()
    assert np.allclose(values[:, :3].sum(axis=1), 1, atol=1e-6)
    assert (values[:50, 0] > 0.999).all()
    assert np.abs(values[50:450, 2:]).max() < 1e-5  # flat and level
    assert (values[450:, 3] > 0.999).all()
    assert ((values >= 0) & (values <= 1 + 1e-6)).all()


def test_twins_and_few_points_are_undefined() -> None:
    for points in (np.zeros((1, 3)), np.zeros((5, 3)), np.array([[0.0, 0, 0], [1, 0, 0]])):
        shape = local_shape(points)
        assert np.isnan(shape.normals).all()
        assert not shape.features().any()
    assert local_shape(np.empty((0, 3))).normals.shape == (0, 3)
    with pytest.raises(ValueError, match="no spacing"):
        point_spacing(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="not both"):
        local_shape(np.zeros((5, 3)), radius=1.0, neighbours=np.zeros((5, 1), dtype=np.int32))


def test_normals_turn_to_the_scanner() -> None:
    rng = np.random.default_rng(1)
    ball = rng.normal(size=(2000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    inwards = local_shape(ball).towards(ball, [0.0, 0, 0])
    outwards = local_shape(ball).towards(ball, 3 * ball)
    assert (np.einsum("ij,ij->i", inwards.normals, ball) < -0.8).all()
    assert np.array_equal(inwards.normals, -outwards.normals)


def test_spacing_of_a_grid() -> None:
    grid = 0.3 * np.stack(np.meshgrid(*[np.arange(12.0)] * 3), axis=-1).reshape(-1, 3)
    assert point_spacing(np.concatenate([grid, grid])) == pytest.approx(0.3)
    assert (nearest(grid[:3], 5) == -1).sum() == 6


def test_height_above_sloping_ground_ignores_what_stands_on_it() -> None:
    rng = np.random.default_rng(2)
    xy = rng.uniform(0, 60, size=(20_000, 2))
    ground = np.column_stack([xy, 0.2 * xy[:, 0] - 4])
    tower = np.column_stack([rng.uniform(30, 34, size=(2000, 2)), rng.uniform(6, 20, 2000)])
    height = ground_heights(np.concatenate([ground, tower]), 1.0, 15.0)
    assert np.abs(height[:20_000]).max() < 0.9  # a cell of 1 m and a slope of 0.2 either way, and the rim
    assert np.abs(height[20_000:] - (tower[:, 2] - (0.2 * tower[:, 0] - 4))).max() < 0.9


def test_voxel_sample_takes_one_point_a_voxel() -> None:
    points = noise(4, 3000)
    rows = voxel_sample(points, 0.5, 7)
    cells = np.floor(points / 0.5)
    assert len(np.unique(cells[rows], axis=0)) == len(rows) == len(np.unique(cells, axis=0))
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, voxel_sample(points, 0.5, 7))
    assert not np.array_equal(rows, voxel_sample(points, 0.5, 8))
    assert len(voxel_sample(np.empty((0, 3)), 1.0, 0)) == 0
    with pytest.raises(ValueError, match="point 1 is not finite"):
        voxel_sample(np.array([[0.0, 0, 0], [np.nan, 0, 0]]), 1.0, 0)
    with pytest.raises(ValueError, match="offset"):
        voxel_sample(np.array([[6e6, 0.0, 0]]), 0.01, 0)
