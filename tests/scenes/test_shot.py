"""SHOT against the Point Cloud Library, against its definition, and its invariances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from shot_definition import descriptor, frame

from gapcut import _core
from gapcut.scenes.shot import SHOT_SIZE, shot

HERE = Path(__file__).parent


def cloud(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = rng.uniform(size=(n, 3)) * [1, 1, 0.15]
    normals = rng.normal(size=(n, 3))
    return points, normals / np.linalg.norm(normals, axis=1, keepdims=True)


def test_agrees_with_pcl() -> None:
    pcl = np.load(HERE / "shot_pcl.npz")
    points, normals = pcl["points"] / 8192, pcl["normals"] / 8192
    ours = shot(points, normals, float(pcl["radius"]), wrap_cosine=True, n_threads=2)
    assert np.array_equal(~ours.defined, pcl["undefined"])
    there = ours.defined
    frames = np.abs(ours.frames[:, [0, 2]].reshape(-1, 6) - pcl["frames"] / 32767)[there].max(axis=1)
    assert np.mean(frames < 1e-4) >= 0.999
    rows = pcl["described"]
    error = np.abs(ours.descriptors[rows] - pcl["descriptors"] / 1000)[there[rows]].max(axis=1)
    assert np.mean(error < 1e-2) >= 0.999
    assert np.median(error) < 1e-3
    plain = shot(points, normals, float(pcl["radius"]))
    error = np.abs(plain.descriptors[rows] - pcl["descriptors"] / 1000)[there[rows]].max(axis=1)
    assert 0.01 < np.mean(error > 1e-2) < 0.1  # the default puts right what that library leaks


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2, 3))])
def test_agrees_with_definition(seed: int, wrap: bool) -> None:
    points, normals = cloud(seed)
    points[7:9] = points[6]  # twins
    normals[20:40:3] = np.nan
    radius = 0.18
    ours = shot(points, normals, radius, wrap_cosine=wrap)
    tree = cKDTree(points)
    good = defined = 0
    for i in range(len(points)):
        near = np.array(tree.query_ball_point(points[i], radius))
        offsets = points[near] - points[i]
        distance = np.linalg.norm(offsets, axis=1)
        order = np.argsort(distance, kind="stable")[np.sum(distance == 0) :]
        near, offsets = near[order], offsets[order]
        axes = frame(offsets, radius)
        assert (axes is None) == (not ours.defined[i])
        if axes is None:
            assert np.isnan(ours.frames[i]).all()
            assert np.isnan(ours.descriptors[i]).all()
            continue
        assert np.allclose(ours.frames[i], axes, atol=2e-6)
        expected = descriptor(offsets, normals[near], axes, radius, wrap)
        defined += 1
        good += np.abs(ours.descriptors[i] - expected).max() < 1e-4
    assert defined > 300
    assert good >= defined - 1  # one vote may fall on the border of a cell


def test_radius_grid_finds_what_a_tree_finds() -> None:
    for seed, radius in [(0, 0.03), (1, 0.2), (2, 3.0)]:
        points = cloud(seed)[0]
        points[50:60] = points[49]
        points[60:200] = np.round(points[60:200], 1)
        grid, tree = _core.RadiusGrid(points, radius), cKDTree(points)
        for i in range(len(points)):
            assert sorted(grid.neighbours(i)) == sorted(tree.query_ball_point(points[i], radius))


def test_invariant_to_motion_and_order() -> None:
    points, normals = cloud(5)
    before = shot(points, normals, 0.2)
    turn = Rotation.from_rotvec([0.3, -1.0, 2.0]).as_matrix()
    after = shot(points @ turn.T + [500_000.0, 6_000_000.0, 90.0], normals @ turn.T, 0.2)
    moved = np.abs(before.descriptors - after.descriptors).max(axis=1)
    assert np.mean(moved < 1e-3) > 0.98
    assert np.allclose(np.linalg.norm(before.descriptors, axis=1), 1.0, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(points))
    shuffled = shot(points[order], normals[order], 0.2)
    assert np.allclose(shuffled.descriptors, before.descriptors[order], atol=1e-5)


def test_chosen_points_and_threads_give_the_same_rows() -> None:
    points, normals = cloud(6)
    every = shot(points, normals, 0.2)
    at = np.array([3, 3, 399, 0, 120])
    assert np.array_equal(shot(points, normals, 0.2, at, n_threads=3).descriptors, every.descriptors[at])
    assert np.array_equal(shot(points, normals, 0.2, n_threads=3).frames, every.frames)
    assert shot(points, normals, 0.2, np.array([], dtype=int)).descriptors.shape == (0, SHOT_SIZE)


def test_nothing_to_describe() -> None:
    points, normals = cloud(7, 5)
    assert not shot(points, normals, 1e-5).defined.any()
    assert np.isnan(shot(points, np.full_like(normals, np.nan), 9.0).descriptors).all()
    assert shot(np.tile(points[:1], (9, 1)), np.tile(normals[:1], (9, 1)), 1.0).defined.sum() == 0
    assert shot(np.empty((0, 3)), np.empty((0, 3)), 1.0).descriptors.shape == (0, SHOT_SIZE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": np.zeros((4, 2))}, "need \\(N, 3\\)"),
        ({"normals": np.zeros((3, 3))}, "one for each point"),
        ({"radius": 0.0}, "radius"),
        ({"radius": float("nan")}, "radius"),
        ({"points": np.array([[0, 0, 0], [0, 0, np.inf], [0, 0, 0], [0, 0, 0]])}, "point 1"),
        ({"points": np.diag([1e9, 1, 1, 1])[:, :3]}, "larger radius"),
        ({"at": np.array([4])}, "no point 4"),
        ({"at": np.array([0.5])}, "point numbers"),
    ],
)
def test_errors(change: dict, message: str) -> None:
    arguments = {"points": np.zeros((4, 3)), "normals": np.zeros((4, 3)), "radius": 0.1} | change
    with pytest.raises((ValueError, IndexError), match=message):
        shot(**arguments)
